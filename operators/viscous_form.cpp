// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/viscous_form.hpp"

#include <utility>

#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

/// Makes the form on squares and cubes that of the rotated bilinear element of Rannacher & Turek (Numer.
/// Methods Partial Differential Equations 8, 1992), which is exact for x² - y². With less the cells' own
/// velocity is tied too loosely to those around it: with 1 errors on squares and cubes were 1.5 to 6.7 times
/// as large (docs/incompressible-flow.md).
constexpr Real stabilisation = 3;

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
  // What a unit velocity on face j lacks on face m of being linear.
  const auto deviation = [&](Index m, Index j) {
    const Real mean = dot(arm(j), area(j)) / (dimension_ * volume);
    return (m == j ? Real(1) : Real(0)) - mean - dot(area(j), arm(m)) / volume;
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
  if (is_simplex(cell_types_[at(c.value())])) return energy;
  for (Index k = 0; k < faces.size(); ++k) {
    const Vector3 area = faces[k].sign * geometry_.face_areas()[at(faces[k].id.value())];
    const Vector3 arm = face_centroid(faces[k].id, faces[k].sign) - centre;
    const Vector3 deviation = velocity[at(k)] - mean - gradient * arm;
    energy += stabilisation * dot(area, area) / dot(arm, area) * dot(deviation, deviation);
  }
  return energy;
}

}  // namespace curlew
