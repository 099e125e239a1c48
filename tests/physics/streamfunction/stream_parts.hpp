// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mesh/parallel/gathered_dual_tree.hpp"
#include "physics/streamfunction/stream_preconditioner.hpp"
#include "physics/streamfunction/stream_system.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {

/// Walls, and where there are sides two outlets, with a way from one to the other, and a symmetry plane.
inline FlowSettings settings_on(const Mesh& mesh) {
  FlowSettings settings = settings_with(mesh, Wall{});
  for (std::size_t p = 0; p < settings.boundaries.size(); ++p) {
    const std::string& patch = mesh.topology().patches()[p].name;
    if (patch == "left" || patch == "right") settings.boundaries[p] = Outlet{};
    if (patch == "top") settings.boundaries[p] = Symmetry{};
  }
  return settings;
}

inline std::vector<bool> given_faces(const FlowBoundaries& boundaries) {
  std::vector<bool> given;
  for (const FaceHold hold : boundaries.hold_of_face()) given.push_back(hold != FaceHold::Free);
  return given;
}

/// The matrices on one backend.
struct OnBackend {
  OnBackend(const Executor& backend, const Mesh& mesh)
      : executor(backend),
        settings(settings_on(mesh)),
        boundaries(executor, mesh, settings),
        mass(executor, mesh, FaceStencil(mesh)),
        viscous_form(executor, mesh),
        loops(GatheredDualTree(mesh, given_faces(boundaries)).harmonic_fluxes()),
        curl(executor, mesh, loops),
        momentum(executor, mesh, boundaries, mass, viscous_form) {
    const Topology& t = mesh.topology();
    free.assign(at(t.edges().size()), 1);
    for (const Id<Face> f : t.faces()) {
      if (boundaries.hold_of_face()[at(f.value())] == FaceHold::Free) continue;
      for (const auto [e, sign] : t.edges_of_face()[f]) free[at(e.value())] = 0;
    }
    matrices.emplace(momentum, curl, free);
  }
  template <class V>
  V vectors(const Mesh& mesh) const {
    return {decltype(V::stream)(executor, mesh.topology().edges().size(), "s", "1"),
            decltype(V::loop)(executor, static_cast<Index>(loops.size()), "q", "1"),
            decltype(V::velocity)(executor, mesh.topology().faces().size(), "t", "1")};
  }
  /// By what iterates.
  StreamPreconditioner smooth_preconditioner(const Mesh& mesh) const {
    return {vectors<StreamVelocity>(mesh), momentum,
            std::make_unique<AuxiliarySpace>(executor, mesh, mass.matrix(), viscous_form.matrix(), free)};
  }
  Executor executor;
  FlowSettings settings;
  FlowBoundaries boundaries;
  FluxMass mass;
  ViscousForm viscous_form;
  std::vector<std::vector<SignedId<Face>>> loops;
  CurlWithLoops curl;
  MomentumMatrices momentum;
  std::vector<std::uint8_t> free;
  std::optional<StreamMatrices> matrices;
};

}  // namespace curlew
