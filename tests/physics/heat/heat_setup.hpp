// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "physics/heat/heat_diffusion.hpp"
#include "tests/physics/analytic_function.hpp"

namespace curlew {

inline HeatMaterial material(Real conductivity, Real capacity, FunctionPointer source = constant(0)) {
  return {conductivity, capacity, std::move(source)};
}

/// The same boundary condition on every patch.
inline HeatSettings settings_for(const Mesh& mesh, const HeatMaterial& stuff, const HeatBoundary& boundary) {
  HeatSettings settings;
  settings.materials.assign(mesh.topology().region_names().size(), stuff);
  settings.boundaries.assign(mesh.topology().patches().size(), boundary);
  settings.solver.relative_tolerance = 1e-12;
  return settings;
}

inline void set_boundary(HeatSettings& settings, const Mesh& mesh, const std::string& patch,
                         const HeatBoundary& boundary) {
  for (std::size_t p = 0; p < settings.boundaries.size(); ++p) {
    if (mesh.topology().patches()[p].name == patch) settings.boundaries[p] = boundary;
  }
}

/// L2 norm of the error of node values, by dual volumes.
inline Real error_of(const Mesh& mesh, const HeatDiffusion& heat, const std::function<Real(Vector3)>& exact) {
  const std::vector<Real> temperature = heat.temperature().to_host();
  Real squares = 0, volume = 0;
  for (std::size_t n = 0; n < temperature.size(); ++n) {
    const Real error = temperature[n] - exact(mesh.geometry().node_positions()[n]);
    squares += mesh.geometry().node_volumes()[n] * error * error;
    volume += mesh.geometry().node_volumes()[n];
  }
  return std::sqrt(squares / volume);
}

}  // namespace curlew
