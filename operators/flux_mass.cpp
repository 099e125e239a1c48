// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/flux_mass.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/parallel.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/where.hpp"

namespace curlew {

namespace {

/// What the flux u through a face lacks of being that of the velocity v, times h/A: (Π u)_f h_f / A_f, for
/// outward u, area vector and arm r = x_f - x_c. With |S| = A, h/A = r.S / S.S.
Real weighted_deviation(Real flux, Vector3 area, Vector3 arm, Vector3 velocity) {
  return (flux - dot(area, velocity)) * (dot(arm, area) / dot(area, area));
}

std::vector<Real> weights(const Topology& topology, Real simplex_weight) {
  std::vector<Real> weight(at(topology.cells().size()));
  for (const Id<Cell> c : topology.cells())
    weight[at(c.value())] = is_simplex(topology.cell_type(c)) ? simplex_weight : 1;
  return weight;
}

}  // namespace

void require_star_shaped_cells(const Mesh& mesh) {
  const Geometry& geometry = mesh.geometry();
  const auto face_centroid = geometry.face_centroids_of_cells(MemorySpace::Host);
  for (const Id<Face> f : mesh.topology().faces()) {
    const Vector3 area = geometry.face_areas()[at(f.value())];
    for (const auto [c, sign] : mesh.topology().cells_of_face()[f]) {
      const Vector3 x = face_centroid(f, sign);
      if (sign * dot(x - geometry.cell_centroids()[at(c.value())], area) <= 0) {
        throw InputError(fmt::format(
            "the cell beside the face at {} does not see that face from its centroid; flow needs star-shaped "
            "cells, improve the mesh there",
            where(x)));
      }
    }
  }
}

FluxMass::FluxMass(const Executor& executor, const Mesh& mesh, FaceStencil stencil, Real simplex_weight)
    : executor_(executor),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      geometry_(mesh.geometry()),
      weight_(weights(mesh.topology(), simplex_weight)),
      matrix_(std::move(stencil), mesh.topology(),
              [&](Id<Cell> c, Index k, std::span<Real> entries) { set_row_of_cell(c, k, entries); }) {
  REQUIRE(simplex_weight > 0, "the weight of the stabilising part of the mass of fluxes must be positive");
  require_star_shaped_cells(mesh);
}

/// The columns of N and Π for unit fluxes through face k and each other face.
void FluxMass::set_row_of_cell(Id<Cell> c, Index k, std::span<Real> entries) const {
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  const auto faces = faces_of_cell_[c];
  const Vector3 centre = geometry_.cell_centroids()[at(c.value())];
  const Real volume = geometry_.cell_volumes()[at(c.value())], weight = weight_[at(c.value())];
  const auto arm = [&](Index j) { return face_centroid(faces[j].id, faces[j].sign) - centre; };
  const Vector3 own_arm = arm(k);
  for (Index j = 0; j < faces.size(); ++j) entries[at(j)] = dot(own_arm, arm(j)) / volume;
  for (Index m = 0; m < faces.size(); ++m) {
    const Vector3 area = faces[m].sign * geometry_.face_areas()[at(faces[m].id.value())];
    const Real factor = weight * weighted_deviation(m == k ? 1 : 0, area, arm(m), own_arm / volume);
    for (Index j = 0; j < faces.size(); ++j)
      entries[at(j)] += factor * ((m == j ? Real(1) : Real(0)) - dot(area, arm(j)) / volume);
  }
  for (Index j = 0; j < faces.size(); ++j) entries[at(j)] *= faces[k].sign * faces[j].sign;
}

void FluxMass::apply_on(Range<Face> faces, const PrimalCochain<Face>& flux,
                        DualCochain<Face>& circulation) const {
  const Index rows = matrix_.stencil().faces_of_face().rows();
  require_fits(flux, rows, executor_);
  require_fits(circulation, rows, executor_);
  matrix_.apply(executor_, faces, flux.view(), circulation.view());
}

Real FluxMass::energy_in_cell(Id<Cell> c, std::span<const Real> outward_flux) const {
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  const auto faces = faces_of_cell_[c];
  const Vector3 centre = geometry_.cell_centroids()[at(c.value())];
  const Real volume = geometry_.cell_volumes()[at(c.value())];
  Vector3 velocity{};
  for (Index k = 0; k < faces.size(); ++k)
    velocity += outward_flux[at(k)] * (face_centroid(faces[k].id, faces[k].sign) - centre);
  velocity = velocity / volume;
  Real energy = volume * dot(velocity, velocity);
  for (Index k = 0; k < faces.size(); ++k) {
    const Vector3 area = faces[k].sign * geometry_.face_areas()[at(faces[k].id.value())];
    const Real flux = outward_flux[at(k)];
    energy += weight_[at(c.value())] * (flux - dot(area, velocity)) *
              weighted_deviation(flux, area, face_centroid(faces[k].id, faces[k].sign) - centre, velocity);
  }
  return energy;
}

std::vector<Real> FluxMass::ratio_of_diagonal_star() const {
  std::vector<Real> ratio(at(faces_of_cell_.rows()));
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  parallel_for(ratio.size(), [&](std::size_t c) {
    const auto faces = faces_of_cell_[Id<Cell>(static_cast<Index>(c))];
    const Index count = faces.size();
    const Vector3 centre = geometry_.cell_centroids()[c];
    const Real volume = geometry_.cell_volumes()[c];
    // In fluxes scaled by the root of the star, whose matrix is then the identity.
    using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor>;
    Matrix arms(3, count), rest(count, count);
    for (Index k = 0; k < count; ++k) {
      const std::size_t f = at(faces[k].id.value());
      const Vector3 area = faces[k].sign * geometry_.face_areas()[f];
      const Vector3 arm = face_centroid(faces[k].id, faces[k].sign) - centre;
      const Real root = std::sqrt(dot(arm, area) / dot(area, area));
      arms.col(k) << arm.x / root, arm.y / root, arm.z / root;
      for (Index j = 0; j < count; ++j) {
        const Vector3 other = face_centroid(faces[j].id, faces[j].sign) - centre;
        rest(k, j) = -root * dot(area, other) / volume;
      }
    }
    for (Index j = 0; j < count; ++j) {
      const std::size_t f = at(faces[j].id.value());
      const Vector3 area = faces[j].sign * geometry_.face_areas()[f];
      const Vector3 arm = face_centroid(faces[j].id, faces[j].sign) - centre;
      const Real root = std::sqrt(dot(arm, area) / dot(area, area));
      rest.col(j) /= root;
      rest(j, j) += 1;
    }
    const Matrix mass = arms.transpose() * arms / volume + weight_[c] * rest.transpose() * rest;
    ratio[c] = 1 / Eigen::SelfAdjointEigenSolver<Matrix>(mass, Eigen::EigenvaluesOnly).eigenvalues()(0);
  });
  return ratio;
}

}  // namespace curlew
