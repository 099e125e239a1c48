// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mesh/mesh.hpp"
#include "mesh/quality.hpp"
#include "physics/flow/flow_settings.hpp"
#include "tests/mesh/side_by_side.hpp"
#include "tests/physics/analytic_function.hpp"
#include "tests/physics/analytic_vector.hpp"

namespace curlew {

/// Settings with tight solves and the same boundary on every patch.
inline FlowSettings settings_with(const Mesh& mesh, const FlowBoundary& boundary) {
  FlowSettings settings;
  settings.boundaries.assign(mesh.topology().patches().size(), boundary);
  settings.momentum = {1e-10, 0, 20000};
  settings.pressure = {1e-11, 0, 20000};
  return settings;
}

/// The same with walls, symmetry and outlets in turn over the patches, the first of the kind number `first`.
inline FlowSettings walls_symmetry_and_outlets(const Mesh& mesh, int first = 0) {
  const FlowBoundary wall = Wall{};  // named, as GCC 12 warns of it otherwise
  FlowSettings settings = settings_with(mesh, wall);
  for (std::size_t p = 0; p < settings.boundaries.size(); ++p) {
    const std::size_t kind = (p + at(first)) % 3;
    if (kind == 1) settings.boundaries[p] = Symmetry{};
    if (kind == 2) settings.boundaries[p] = Outlet{};
  }
  return settings;
}

inline FlowBoundary& boundary_of(FlowSettings& settings, const Mesh& mesh, const std::string& patch) {
  const std::vector<Patch>& patches = mesh.topology().patches();
  for (std::size_t p = 0; p < patches.size(); ++p) {
    if (patches[p].name == patch) return settings.boundaries[p];
  }
  throw std::logic_error("no patch " + patch);
}

inline Range<Face> faces_of_patch(const Mesh& mesh, const std::string& patch) {
  for (const Patch& candidate : mesh.topology().patches()) {
    if (candidate.name == patch) return candidate.faces;
  }
  throw std::logic_error("no patch " + patch);
}

inline VectorFunctionPointer uniform_vector(Vector3 value) {
  return steady_vector([value](Vector3) { return value; });
}

/// What the classical method has, by short names.
inline const std::vector<std::pair<const char*, FlowScheme>>& classical_schemes() {
  static const std::vector<std::pair<const char*, FlowScheme>> all{
      {"sbdf2", FlowScheme::Sbdf2},   {"cnab2", FlowScheme::CrankNicolsonAb2},
      {"euler", FlowScheme::Euler},   {"ssprk2", FlowScheme::SspRk2},
      {"ssprk3", FlowScheme::SspRk3}, {"ssprk4", FlowScheme::SspRk4}};
  return all;
}

inline Real largest(const std::vector<Real>& values) {
  Real size = 0;
  for (const Real value : values) size = std::max(size, std::abs(value));
  return size;
}
inline std::vector<Real> difference(std::vector<Real> a, const std::vector<Real>& b) {
  for (std::size_t k = 0; k < a.size(); ++k) a[k] -= b[k];
  return a;
}

inline bool has_planar_faces(const Mesh& mesh) {
  return measure_quality(mesh).non_planarity.max < 1e-12;
}

/// Numbers in [-1, 1] that are the same in every run.
inline std::vector<Real> arbitrary(Index count, Real seed = 1) {
  std::vector<Real> values(at(count));
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Real x = 1e4 * std::sin(seed + 12.9898 * static_cast<Real>(k));
    values[k] = 2 * (x - std::floor(x)) - 1;
  }
  return values;
}

inline std::vector<Vector3> arbitrary_vectors(const Mesh& mesh, Index count, Real seed = 1) {
  const std::vector<Real> x = arbitrary(count, seed), y = arbitrary(count, seed + 1),
                          z = arbitrary(count, seed + 2);
  std::vector<Vector3> values(at(count));
  for (std::size_t k = 0; k < values.size(); ++k)
    values[k] = {x[k], y[k], mesh.topology().dimension() == 2 ? 0 : z[k]};
  return values;
}

}  // namespace curlew
