// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/flux_mass.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <cmath>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/for_each.hpp"
#include "kernels/parallel.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

/// What the flux u through a face lacks of being that of the velocity v, times h/A: (Π u)_f h_f / A_f, for
/// outward u, area vector and arm r = x_f - x_c. With |S| = A, h/A = r.S / S.S.
CURLEW_HOST_DEVICE Real weighted_deviation(Real flux, Vector3 area, Vector3 arm, Vector3 velocity) {
  return (flux - dot(area, velocity)) * (dot(arm, area) / dot(area, area));
}

/// v = N u and v - weight Sᵀ diag(h/A) Π u / V: what the faces of the cell need to know of it.
template <class Rows>
struct VelocitiesOnCell {
  Rows faces_of;
  View<Face, const Real> flux;
  View<Face, const Vector3> face_area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  View<Cell, const Real> volume, weight;
  View<Cell, Vector3> velocity, corrected;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Vector3 centre = cell_centroid[c];
    Vector3 v{};
    for (const auto [f, sign] : faces_of[c]) v += (sign * flux[f]) * (face_centroid(f, sign) - centre);
    v = v / volume[c];
    Vector3 deviation{};
    for (const auto [f, sign] : faces_of[c]) {
      const Vector3 area = sign * face_area[f];
      deviation += weighted_deviation(sign * flux[f], area, face_centroid(f, sign) - centre, v) * area;
    }
    velocity[c] = v;
    corrected[c] = v - (weight[c] / volume[c]) * deviation;
  }
};

/// (M U)_f = sum_c s_cf [ r_f . corrected_c + weight h_f/A_f (Π u)_f ].
template <class Rows>
struct CirculationOnFace {
  Rows cells_of;
  View<Face, const Real> flux;
  View<Face, const Vector3> face_area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  View<Cell, const Vector3> velocity, corrected;
  View<Cell, const Real> weight;
  View<Face, Real> circulation;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Real sum = 0;
    for (const auto [c, sign] : cells_of[f]) {
      const Vector3 arm = face_centroid(f, sign) - cell_centroid[c];
      sum += sign * (dot(arm, corrected[c]) +
                     weight[c] * weighted_deviation(sign * flux[f], sign * face_area[f], arm, velocity[c]));
    }
    circulation[f] = sum;
  }
};

}  // namespace

namespace {

std::vector<Real> weights(const Topology& topology, Real simplex_weight) {
  std::vector<Real> weight(at(topology.cells().size()));
  for (const Id<Cell> c : topology.cells())
    weight[at(c.value())] = is_simplex(topology.cell_type(c)) ? simplex_weight : 1;
  return weight;
}

}  // namespace

FluxMass::FluxMass(const Executor& executor, const Mesh& mesh, Real simplex_weight)
    : executor_(executor),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      geometry_(mesh.geometry()),
      weight_(weights(mesh.topology(), simplex_weight)),
      velocity_(executor, mesh.topology().cells().size(), "velocity", "m/s"),
      corrected_(executor, mesh.topology().cells().size(), "corrected velocity", "m/s") {
  REQUIRE(simplex_weight > 0, "the weight of the stabilising part of the mass of fluxes must be positive");
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  for (const Id<Face> f : mesh.topology().faces()) {
    const Vector3 area = geometry_.face_areas()[at(f.value())];
    for (const auto [c, sign] : cells_of_face_[f]) {
      const Vector3 x = face_centroid(f, sign);
      if (sign * dot(x - geometry_.cell_centroids()[at(c.value())], area) <= 0) {
        throw InputError(fmt::format(
            "the cell beside the face at ({:.6g}, {:.6g}, {:.6g}) does not see that face from its "
            "centroid; flow needs star-shaped cells, improve the mesh there",
            x.x, x.y, x.z));
      }
    }
  }
}

void FluxMass::apply(const PrimalCochain<Face>& flux, DualCochain<Face>& circulation) const {
  require_fits(flux, cells_of_face_.rows(), executor_);
  require_fits(circulation, cells_of_face_.rows(), executor_);
  const MemorySpace space = executor_.space();
  const View<Cell, const Real> weight(weight_.data(space), faces_of_cell_.rows());
  faces_of_cell_.visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(executor_, range,
             VelocitiesOnCell<decltype(rows)>{rows, flux.view(), geometry_.face_areas(space),
                                              geometry_.face_centroids_of_cells(space),
                                              geometry_.cell_centroids(space), geometry_.cell_volumes(space),
                                              weight, velocity_.view(), corrected_.view()});
  });
  cells_of_face_.visit_parts(space, [&](Range<Face> range, auto rows) {
    for_each(executor_, range,
             CirculationOnFace<decltype(rows)>{
                 rows, flux.view(), geometry_.face_areas(space), geometry_.face_centroids_of_cells(space),
                 geometry_.cell_centroids(space), std::as_const(velocity_).view(),
                 std::as_const(corrected_).view(), weight, circulation.view()});
  });
}

std::vector<Real> FluxMass::diagonal() const {
  std::vector<Real> diagonal(at(cells_of_face_.rows()));
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  parallel_for(diagonal.size(), [&](std::size_t i) {
    const Id<Face> f(static_cast<Index>(i));
    for (const auto [c, sign] : cells_of_face_[f]) {
      // The column of Π for a unit flux through f: what it is short of N's velocity, face by face.
      const Vector3 centre = geometry_.cell_centroids()[at(c.value())];
      const Vector3 arm = face_centroid(f, sign) - centre;
      const Vector3 velocity = (sign / geometry_.cell_volumes()[at(c.value())]) * arm;
      diagonal[i] += sign * dot(arm, velocity);
      for (const auto [k, outward] : faces_of_cell_[c]) {
        const Vector3 area = outward * geometry_.face_areas()[at(k.value())];
        const Real flux = k == f ? sign : Real(0);
        diagonal[i] += weight_[at(c.value())] * (flux - dot(area, velocity)) *
                       weighted_deviation(flux, area, face_centroid(k, outward) - centre, velocity);
      }
    }
  });
  return diagonal;
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
