// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/viscous_form.hpp"

#include <Eigen/Dense>
#include <utility>

#include "kernels/tensor3.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

/// With 3 the form is that of the rotated bilinear element of Rannacher & Turek (Numer. Methods Partial
/// Differential Equations 8, 1992) on squares and cubes. The larger the weight, the less do velocities along
/// faces fall short of those across them and the better are errors, but the more iterations does it take
/// (docs/incompressible-flow.md).
constexpr Real stabilisation = 6;

/// The arms of a cell's faces less their weighted mean, brought to where Gauss' gradient, which faces that
/// are not planar spoil, tells the difference of a linear velocity: X⁻¹ (r_f - sum w r), X = (1/V) sum_f r_f
/// S_fᵀ. `arm_of(f)`, `area_of(f)`: r_f, and S_f out of the cell. In the plane, where all faces are straight,
/// r_f.
template <class Arm, class Area>
std::vector<Vector3> arms_of_deviation(Index faces, const Arm& arm_of, const Area& area_of, Real volume,
                                       Real dimension) {
  std::vector<Vector3> arms(at(faces));
  for (Index f = 0; f < faces; ++f) arms[at(f)] = arm_of(f);
  if (dimension < 3) return arms;
  Eigen::Matrix3d x = Eigen::Matrix3d::Zero();
  Vector3 mean{};
  for (Index f = 0; f < faces; ++f) {
    const Vector3 r = arms[at(f)], s = area_of(f);
    x += Eigen::Vector3d(r.x, r.y, r.z) * Eigen::RowVector3d(s.x, s.y, s.z) / volume;
    mean += (dot(r, s) / (dimension * volume)) * r;
  }
  const Eigen::Matrix3d inverse = x.inverse();
  for (Vector3& arm : arms) {
    const Vector3 r = arm - mean;
    const Eigen::Vector3d brought = inverse * Eigen::Vector3d(r.x, r.y, r.z);
    arm = {brought(0), brought(1), brought(2)};
  }
  return arms;
}

}  // namespace

ViscousForm::ViscousForm(const Executor& executor, const Mesh& mesh, FaceStencil stencil)
    : executor_(executor),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      geometry_(mesh.geometry()),
      dimension_(mesh.topology().dimension()),
      cell_types_(mesh.topology().cell_types()),
      matrix_(std::move(stencil), mesh.topology(),
              [&](Id<Cell> c, Index k, std::span<Real> entries) { set_row_of_cell(c, k, entries); }) {}

/// The same for each component: g is S/V for a unit velocity on a face.
void ViscousForm::set_row_of_cell(Id<Cell> c, Index k, std::span<Real> entries) const {
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  const auto faces = faces_of_cell_[c];
  const Vector3 centre = geometry_.cell_centroids()[at(c.value())];
  const Real volume = geometry_.cell_volumes()[at(c.value())];
  const auto area = [&](Index j) { return faces[j].sign * geometry_.face_areas()[at(faces[j].id.value())]; };
  const auto arm = [&](Index j) { return face_centroid(faces[j].id, faces[j].sign) - centre; };
  for (Index j = 0; j < faces.size(); ++j) entries[at(j)] = dot(area(k), area(j)) / volume;
  if (is_simplex(cell_types_[at(c.value())])) return;
  const std::vector<Vector3> place = arms_of_deviation(faces.size(), arm, area, volume, dimension_);
  // What a unit velocity on face j lacks on face m of being linear.
  const auto deviation = [&](Index m, Index j) {
    const Real mean = dot(arm(j), area(j)) / (dimension_ * volume);
    return (m == j ? Real(1) : Real(0)) - mean - dot(area(j), place[at(m)]) / volume;
  };
  for (Index m = 0; m < faces.size(); ++m) {
    const Real factor = stabilisation * dot(area(m), area(m)) / dot(arm(m), area(m)) * deviation(m, k);
    for (Index j = 0; j < faces.size(); ++j) entries[at(j)] += factor * deviation(m, j);
  }
}

void ViscousForm::apply(const Field<Face, Vector3>& velocity, Field<Face, Vector3>& force) const {
  const Index faces = matrix_.stencil().faces_of_face().rows();
  require_fits(velocity, faces, executor_);
  require_fits(force, faces, executor_);
  matrix_.apply(executor_, velocity.range(), velocity.view(), force.view());
}

Real ViscousForm::energy_in_cell(Id<Cell> c, std::span<const Vector3> velocity) const {
  const auto face_centroid = geometry_.face_centroids_of_cells(MemorySpace::Host);
  const auto faces = faces_of_cell_[c];
  const Vector3 centre = geometry_.cell_centroids()[at(c.value())];
  const Real volume = geometry_.cell_volumes()[at(c.value())];
  const auto area = [&](Index j) { return faces[j].sign * geometry_.face_areas()[at(faces[j].id.value())]; };
  const auto arm = [&](Index j) { return face_centroid(faces[j].id, faces[j].sign) - centre; };
  Tensor3 gradient{};
  Vector3 mean{};
  for (Index k = 0; k < faces.size(); ++k) {
    gradient += outer(velocity[at(k)], (1 / volume) * area(k));
    mean += (dot(arm(k), area(k)) / (dimension_ * volume)) * velocity[at(k)];
  }
  Real energy =
      volume * (dot(gradient.x, gradient.x) + dot(gradient.y, gradient.y) + dot(gradient.z, gradient.z));
  if (is_simplex(cell_types_[at(c.value())])) return energy;
  const std::vector<Vector3> place = arms_of_deviation(faces.size(), arm, area, volume, dimension_);
  for (Index k = 0; k < faces.size(); ++k) {
    const Vector3 deviation = velocity[at(k)] - mean - gradient * place[at(k)];
    energy += stabilisation * dot(area(k), area(k)) / dot(arm(k), area(k)) * dot(deviation, deviation);
  }
  return energy;
}

}  // namespace curlew
