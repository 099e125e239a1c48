// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/viscous_form.hpp"

#include <algorithm>
#include <utility>

#include "kernels/for_each.hpp"
#include "kernels/parallel.hpp"
#include "mesh/cell_shapes.hpp"
#include "operators/cell_velocity.hpp"

namespace curlew {

namespace {

/// Mean velocity, and the sums over the faces that the second term needs.
template <class Rows>
struct VelocityDeviationOnCell {
  Rows faces_of;
  Real dimension;
  View<Face, const Vector3> velocity, area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  View<Cell, const Real> volume;
  View<Cell, const Tensor3> gradient;
  View<Cell, Tensor3> stress;
  View<Cell, Vector3> mean, deviation;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Vector3 centre = cell_centroid[c];
    Vector3 v{};
    for (const auto [f, sign] : faces_of[c]) {
      v += (sign * dot(face_centroid(f, sign) - centre, area[f])) * velocity[f];
    }
    v = v / (dimension * volume[c]);
    Tensor3 moment{};
    Vector3 sum{};
    for (const auto [f, sign] : faces_of[c]) {
      const Vector3 arm = face_centroid(f, sign) - centre;
      const Real stiffness = dot(area[f], area[f]) / (sign * dot(arm, area[f]));  // A/h
      const Vector3 weighted = stiffness * (velocity[f] - v - gradient[c] * arm);
      sum += weighted;
      moment += outer(weighted, arm);
    }
    stress[c] = gradient[c] - (1 / volume[c]) * moment;
    mean[c] = v;
    deviation[c] = sum;
  }
};

/// K v on simplices: sum_c g_c S_f.
template <class Rows>
struct GradientForceOnFace {
  Rows cells_of;
  View<Face, const Vector3> area;
  View<Cell, const Tensor3> gradient;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Vector3 sum{};
    for (const auto [c, sign] : cells_of[f]) sum += sign * (gradient[c] * area[f]);
    force[f] = sum;
  }
};

/// K v on any cells: sum_c [ stress_c S_f + (A/h) (v_f - v_c - g_c r_f) - w_f deviation_c ].
template <class Rows>
struct ViscousForceOnFace {
  Rows cells_of;
  Real dimension;
  View<Face, const Vector3> velocity, area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  View<Cell, const Real> volume;
  View<Cell, const Tensor3> gradient, stress;
  View<Cell, const Vector3> mean, deviation;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Vector3 sum{};
    for (const auto [c, sign] : cells_of[f]) {
      const Vector3 arm = face_centroid(f, sign) - cell_centroid[c];
      const Real height_area = sign * dot(arm, area[f]);  // h A
      const Vector3 own = velocity[f] - mean[c] - gradient[c] * arm;
      sum += sign * (stress[c] * area[f]) + (dot(area[f], area[f]) / height_area) * own -
             (height_area / (dimension * volume[c])) * deviation[c];
    }
    force[f] = sum;
  }
};

}  // namespace

ViscousForm::ViscousForm(const Executor& executor, const Mesh& mesh)
    : executor_(executor),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      geometry_(mesh.geometry()),
      dimension_(mesh.topology().dimension()),
      simplices_(
          std::all_of(mesh.topology().cell_types().begin(), mesh.topology().cell_types().end(), is_simplex)),
      gradient_(executor, faces_of_cell_.rows(), "velocity gradient", "1/s"),
      stress_(executor, simplices_ ? 0 : faces_of_cell_.rows(), "stabilised velocity gradient", "1/s"),
      mean_(executor, stress_.size(), "mean velocity", "m/s"),
      deviation_(executor, stress_.size(), "velocity deviation", "m2/s") {}

void ViscousForm::apply(const Field<Face, Vector3>& velocity, Field<Face, Vector3>& force) const {
  require_fits(velocity, cells_of_face_.rows(), executor_);
  require_fits(force, cells_of_face_.rows(), executor_);
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto face_centroid = geometry_.face_centroids_of_cells(space);
  const auto cell_centroid = geometry_.cell_centroids(space);
  const auto volume = geometry_.cell_volumes(space);
  const auto gradient = std::as_const(gradient_).view();
  faces_of_cell_.visit_parts(space, [&](Range<Cell> range, auto rows) {
    using Rows = decltype(rows);
    for_each(executor_, range,
             VelocityGradientOnCell<Rows>{rows, velocity.view(), area, volume, gradient_.view()});
    if (simplices_) return;
    for_each(
        executor_, range,
        VelocityDeviationOnCell<Rows>{rows, dimension_, velocity.view(), area, face_centroid, cell_centroid,
                                      volume, gradient, stress_.view(), mean_.view(), deviation_.view()});
  });
  cells_of_face_.visit_parts(space, [&](Range<Face> range, auto rows) {
    using Rows = decltype(rows);
    if (simplices_) {
      for_each(executor_, range, GradientForceOnFace<Rows>{rows, area, gradient, force.view()});
    } else {
      for_each(executor_, range,
               ViscousForceOnFace<Rows>{rows, dimension_, velocity.view(), area, face_centroid, cell_centroid,
                                        volume, gradient, std::as_const(stress_).view(),
                                        std::as_const(mean_).view(), std::as_const(deviation_).view(),
                                        force.view()});
    }
  });
}

Real ViscousForm::energy_in_cell(Id<Cell> c, std::span<const Vector3> velocity) const {
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  const auto faces = faces_of_cell_[c];
  const Vector3 centre = geometry_.cell_centroids()[at(c.value())];
  const Real volume = geometry_.cell_volumes()[at(c.value())];
  Tensor3 gradient{};
  Vector3 mean{};
  for (Index k = 0; k < faces.size(); ++k) {
    const Vector3 area = faces[k].sign * geometry_.face_areas()[at(faces[k].id.value())];
    const Vector3 arm = face_centroid(faces[k].id, faces[k].sign) - centre;
    gradient += outer(velocity[at(k)], (1 / volume) * area);
    mean += (dot(arm, area) / (dimension_ * volume)) * velocity[at(k)];
  }
  Real energy =
      volume * (dot(gradient.x, gradient.x) + dot(gradient.y, gradient.y) + dot(gradient.z, gradient.z));
  if (simplices_) return energy;
  for (Index k = 0; k < faces.size(); ++k) {
    const Vector3 area = faces[k].sign * geometry_.face_areas()[at(faces[k].id.value())];
    const Vector3 arm = face_centroid(faces[k].id, faces[k].sign) - centre;
    const Vector3 deviation = velocity[at(k)] - mean - gradient * arm;
    energy += dot(area, area) / dot(arm, area) * dot(deviation, deviation);
  }
  return energy;
}

std::vector<Real> ViscousForm::diagonal() const {
  std::vector<Real> diagonal(at(cells_of_face_.rows()));
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  parallel_for(diagonal.size(), [&](std::size_t i) {
    const Id<Face> f(static_cast<Index>(i));
    for (const auto [c, sign] : cells_of_face_[f]) {
      // A unit velocity component on f: its gradient, mean, and what each face deviates from them.
      const Vector3 centre = geometry_.cell_centroids()[at(c.value())];
      const Real volume = geometry_.cell_volumes()[at(c.value())];
      const Vector3 own_area = sign * geometry_.face_areas()[i];
      const Vector3 gradient = own_area / volume;
      diagonal[i] += volume * dot(gradient, gradient);
      if (simplices_) continue;
      const Real mean = dot(face_centroid(f, sign) - centre, own_area) / (dimension_ * volume);
      for (const auto [k, outward] : faces_of_cell_[c]) {
        const Vector3 area = outward * geometry_.face_areas()[at(k.value())];
        const Vector3 arm = face_centroid(k, outward) - centre;
        const Real deviation = (k == f ? Real(1) : Real(0)) - mean - dot(gradient, arm);
        diagonal[i] += dot(area, area) / dot(arm, area) * deviation * deviation;
      }
    }
  });
  return diagonal;
}

}  // namespace curlew
