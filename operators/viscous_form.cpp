// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/viscous_form.hpp"

#include <Eigen/Dense>
#include <utility>

#include "kernels/tensor3.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

/// The weight of A/h, on squares, rectangles and cubes. With 3 the form is that of the rotated bilinear
/// element of Rannacher & Turek (Numer. Methods Partial Differential Equations 8, 1992) on squares and cubes.
/// The larger the weight, the less do velocities along faces fall short of those across them and the better
/// are errors, but the more iterations does it take (docs/incompressible-flow.md).
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

/// What the square of each face's deviation d_f counts: 6 times the mean of k_f = A²/(r . S) and of w_f sum
/// k, with the weights w_f of the mean, `total` being sum r . S. As sum w d = 0, that is
///   3 sum_{f<e} (k_f w_e + k_e w_f) |d_f - d_e|²,
/// no two faces across different ways being tied more loosely than the shorter way asks for. 6 k_f for
/// each face by itself, which is the same on rectangles, ties in a flat cell its two large faces to the
/// mean of all, but leaves those around them free to move apart about that mean, as pressure and forces, that
/// act on fluxes, have them do.
template <class Arm, class Area>
std::vector<Real> weights_of_deviation(Index faces, const Arm& arm_of, const Area& area_of, Real total) {
  std::vector<Real> weights(at(faces));
  Real sum = 0;
  for (Index f = 0; f < faces; ++f) {
    weights[at(f)] = dot(area_of(f), area_of(f)) / dot(arm_of(f), area_of(f));
    sum += weights[at(f)];
  }
  for (Index f = 0; f < faces; ++f)
    weights[at(f)] = stabilisation / 2 * (weights[at(f)] + dot(arm_of(f), area_of(f)) / total * sum);
  return weights;
}

}  // namespace

ViscousForm::ViscousForm(const Executor& executor, const Mesh& mesh, FaceStencil stencil,
                         const GradientJumps& jumps)
    : executor_(executor),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      geometry_(mesh.geometry()),
      dimension_(mesh.topology().dimension()),
      cell_types_(mesh.topology().cell_types()),
      matrix_(
          std::move(stencil), mesh.topology(),
          [&](Id<Cell> c, Index k, std::span<Real> entries) { set_row_of_cell(c, k, entries); },
          jumps.empty() ? FaceMatrix::RowOfTies()
                        : [&](Id<Cell> c, Index k,
                              const FaceMatrix::Add& add) { set_row_of_jumps(jumps, c, k, add); }) {}

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
  const std::vector<Real> weight = weights_of_deviation(faces.size(), arm, area, dimension_ * volume);
  for (Index m = 0; m < faces.size(); ++m) {
    const Real factor = weight[at(m)] * deviation(m, k);
    for (Index j = 0; j < faces.size(); ++j) entries[at(j)] += factor * deviation(m, j);
  }
}

Vector3 ViscousForm::gradient_of_face(Id<Cell> c, Index k) const {
  const auto [f, sign] = faces_of_cell_[c][k];
  return (sign / geometry_.cell_volumes()[at(c.value())]) * geometry_.face_areas()[at(f.value())];
}

/// Of the row of the tied face, which belongs to both cells, what comes from this one.
void ViscousForm::set_row_of_jumps(const GradientJumps& jumps, Id<Cell> c, Index k,
                                   const FaceMatrix::Add& add) const {
  for (const auto [tie, outward] : faces_of_cell_[c]) {
    if (!jumps.is_tied(tie)) continue;
    const Vector3 weighted = jumps.weight(tie) * gradient_of_face(c, k);
    for (const auto [cell, side] : cells_of_face_[tie]) {
      const Real sign = cell == c ? 1 : -1;
      const auto faces = faces_of_cell_[cell];
      for (Index j = 0; j < faces.size(); ++j)
        add(faces[j].id, sign * dot(weighted, gradient_of_face(cell, j)));
    }
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
  const std::vector<Real> weight = weights_of_deviation(faces.size(), arm, area, dimension_ * volume);
  for (Index k = 0; k < faces.size(); ++k) {
    const Vector3 deviation = velocity[at(k)] - mean - gradient * place[at(k)];
    energy += weight[at(k)] * dot(deviation, deviation);
  }
  return energy;
}

}  // namespace curlew
