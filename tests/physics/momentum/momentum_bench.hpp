// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <utility>
#include <vector>

#include "physics/momentum/momentum.hpp"
#include "tests/physics/flow/flow_setup.hpp"
#include "tests/physics/flow_matrices.hpp"

namespace curlew {

/// One mesh with given boundaries, momentum on it, and fields to work with.
struct MomentumBench {
  MomentumBench(const Mesh& on, FlowSettings with)
      : mesh(on),
        settings(std::move(with)),
        boundaries(Executor::serial(), mesh, settings),
        momentum(Executor::serial(), mesh, settings, boundaries, simplex_weight),
        free(mesh, boundaries),
        flux(Executor::serial(), mesh.topology().faces().size(), "flux", "m3/s"),
        velocity(Executor::serial(), flux.size(), "velocity", "m/s"),
        circulation(Executor::serial(), flux.size(), "circulation", "m2/s"),
        force(Executor::serial(), flux.size(), "force", "m4/s2") {
    boundaries.update(0);
  }
  /// Sets fluxes and velocities, whose normal parts become those of the fluxes.
  void set(const std::vector<Real>& fluxes, const std::vector<Vector3>& velocities) {
    flux.copy_from_host(fluxes);
    velocity.copy_from_host(velocities);
    boundaries.impose(flux, velocity);
    momentum.set_normal_part(flux, velocity);
  }
  /// Finds the condensed force of convection, and its circulation.
  void convect() {
    momentum.convection(flux, velocity, force);
    momentum.condense(flux, velocity, force, true);
    circulation.fill(0);
    momentum.add_normal_part(1, force, circulation);
  }
  const Mesh& mesh;
  FlowSettings settings;
  FlowBoundaries boundaries;
  Momentum momentum;
  FreeUnknowns free;
  PrimalCochain<Face> flux;
  FaceVelocity velocity;
  DualCochain<Face> circulation;
  FaceVelocity force;
};

}  // namespace curlew
