// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/gradient_jumps.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "mesh/box.hpp"
#include "operators/viscous_form.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

using Vector = Eigen::Vector3d;
using Tensor = Eigen::Matrix3d;

Vector of(Vector3 v) {
  return {v.x, v.y, v.z};
}
Tensor of(const Tensor3& t) {
  Tensor result;
  result << of(t.x).transpose(), of(t.y).transpose(), of(t.z).transpose();
  return result;
}

/// Cells in blocks `aspect` times as long and as wide as high.
Mesh layers(CellType type, Real aspect) {
  return Mesh(is_planar(type) ? make_box(type, {4, 5, 0}, {4 * aspect, 5, 0})
                              : make_box(type, {3, 3, 4}, {3 * aspect, 3 * aspect, 4}));
}

Index ties(const Mesh& mesh) {
  const GradientJumps jumps(mesh);
  Index count = 0;
  for (const Id<Face> f : mesh.topology().faces()) count += jumps.is_tied(f) ? 1 : 0;
  EXPECT_EQ(jumps.empty(), count == 0);
  return count;
}

/// (v, K v) of a velocity at the centroids of the faces.
Real energy(const Mesh& mesh, const std::vector<Vector3>& velocity) {
  const Index faces = mesh.topology().faces().size();
  Field<Face, Vector3> v(Executor::serial(), faces, "v", "m/s"),
      force(Executor::serial(), faces, "force", "m4/s2");
  v.copy_from_host(velocity);
  ViscousForm(Executor::serial(), mesh).apply(v, force);
  const std::vector<Vector3> result = force.to_host();
  Real sum = 0;
  for (std::size_t f = 0; f < velocity.size(); ++f) sum += dot(velocity[f], result[f]);
  return sum;
}

TEST(GradientJumps, tie_flat_cells_through_faces_that_touch_all_others) {
  const auto interior = [](const Mesh& mesh) { return mesh.topology().interior_faces().size(); };
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron, CellType::Pyramid})
    EXPECT_EQ(ties(layers(type, 20)), interior(layers(type, 20))) << name(type);
  // Not the triangles between layers of prisms.
  EXPECT_EQ(ties(layers(CellType::Prism, 20)), interior(layers(CellType::Prism, 20)) - 3 * 3 * 2 * 3);
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron})
    EXPECT_EQ(ties(layers(type, 20)), 0) << name(type);
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron, CellType::Pyramid, CellType::Prism})
    EXPECT_EQ(ties(layers(type, 1)), 0) << name(type);
}

TEST(GradientJumps, leave_a_flat_cell_among_others_alone) {
  RawMesh raw = make_box(CellType::Triangle, {8, 8, 0});
  const Index middle = 4 * 9 + 4;  // one node, brought next to another one: two slivers
  raw.nodes[at(middle)] = raw.nodes[at(middle + 1)] + Vector3{-0.004, 0, 0};
  const Mesh mesh(raw);
  EXPECT_EQ(ties(mesh), 0);
}

/// The weight of a simplex from its nodes: sum w r rᵀ of the faces' centroids is 1/((d + 1) d²) of that of
/// nodes.
Tensor weight_of_simplex(const Mesh& mesh, Id<Cell> c) {
  const int d = mesh.topology().dimension();
  const Vector centre = of(mesh.geometry().cell_centroids()[at(c.value())]);
  Eigen::MatrixXd squares = Eigen::MatrixXd::Zero(d, d);
  for (const auto [n, sign] : mesh.topology().nodes_of_cell()[c]) {
    const Eigen::VectorXd r = (of(mesh.geometry().node_positions()[at(n.value())]) - centre).head(d);
    squares += r * r.transpose() / ((d + 1) * d * d);
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> principal(squares);
  Eigen::VectorXd excess = principal.eigenvalues() / principal.eigenvalues()(0);
  excess = (excess.array() - 9).cwiseMax(0).cwiseMin(20);
  Tensor weight = Tensor::Zero();
  weight.topLeftCorner(d, d) =
      principal.eigenvectors() * excess.asDiagonal() * principal.eigenvectors().transpose();
  return 0.3 * mesh.geometry().cell_volumes()[at(c.value())] / (d + 1) * weight;
}

TEST(GradientJumps, count_in_the_viscous_form_as_their_formula_says) {
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron}) {
    RawMesh raw =
        is_planar(type) ? make_box(type, {4, 5, 0}, {80, 5, 0}) : make_box(type, {3, 3, 4}, {60, 60, 4});
    distort(raw, 0.1);
    const Mesh mesh(raw);
    const Topology& t = mesh.topology();
    std::vector<Vector3> velocity;
    for (const Id<Face> f : t.faces()) {
      const Real x = f.value();
      velocity.push_back({std::sin(3 * x), std::cos(5 * x), is_planar(type) ? 0 : std::sin(7 * x)});
    }
    std::vector<Tensor> gradient;
    Real expected = 0;
    for (const Id<Cell> c : t.cells()) {
      Tensor g = Tensor::Zero();
      for (const auto [f, sign] : t.faces_of_cell()[c])
        g += sign * of(velocity[at(f.value())]) * of(mesh.geometry().face_areas()[at(f.value())]).transpose();
      gradient.push_back(g / mesh.geometry().cell_volumes()[at(c.value())]);
      expected += mesh.geometry().cell_volumes()[at(c.value())] * gradient.back().squaredNorm();
    }
    const Real without_jumps = expected;
    for (const Id<Face> f : t.interior_faces()) {
      const auto cells = t.cells_of_face()[f];
      const Tensor weight = weight_of_simplex(mesh, cells[0].id) + weight_of_simplex(mesh, cells[1].id);
      const Tensor jump = gradient[at(cells[0].id.value())] - gradient[at(cells[1].id.value())];
      EXPECT_LE((of(GradientJumps(mesh).weight(f)) - weight).norm(), 1e-10 * weight.norm());
      expected += (jump * weight).cwiseProduct(jump).sum();
    }
    EXPECT_GT(expected, 1.02 * without_jumps);
    EXPECT_NEAR(energy(mesh, velocity), expected, 1e-10 * expected);
  }
}

// What smooth velocities lose must not grow with the cells' flatness: Couette flow between cylinders, whose
// gradient turns with the wall by a tenth of a radian from cell to cell, and waves along the cells.
TEST(GradientJumps, leave_smooth_velocities_their_dissipation_however_flat_the_cells) {
  for (const Index across : {16, 32, 64}) {
    RawMesh raw = make_box(CellType::Triangle, {8, across, 0});
    for (Vector3& node : raw.nodes) {
      const Real radius = 1 + 0.1 * node.y, angle = 0.8 * node.x;
      node = {radius * std::cos(angle), radius * std::sin(angle), 0};
    }
    const Mesh mesh(std::move(raw));
    EXPECT_GT(ties(mesh), 0);
    // u = a r + b / r about the axis, which is 1 at r = 1 and 0 at r = 1.1
    const Real b = 1.21 / 0.21, a = 1 - b;
    std::vector<Vector3> velocity;
    for (const Vector3 x : mesh.geometry().face_centroids().host())
      velocity.push_back((a + b / dot(x, x)) * Vector3{-x.y, x.x, 0});
    Real exact = 0;
    for (const Id<Cell> c : mesh.topology().cells()) {
      const Vector3 x = mesh.geometry().cell_centroids()[at(c.value())];
      const Real about = a + b / dot(x, x), outwards = a - b / dot(x, x);  // u / r, du / dr
      exact += mesh.geometry().cell_volumes()[at(c.value())] * (about * about + outwards * outwards);
    }
    EXPECT_NEAR(energy(mesh, velocity), exact, 0.02 * exact) << across;
  }
  for (const Index across : {64, 128, 256}) {
    const Mesh mesh(make_box(CellType::Triangle, {16, across, 0}));
    EXPECT_GT(ties(mesh), 0);
    const Real k = 2 * std::numbers::pi;
    std::vector<Vector3> velocity;
    for (const Vector3 x : mesh.geometry().face_centroids().host())
      velocity.push_back({0, std::sin(k * x.x), 0});
    EXPECT_NEAR(energy(mesh, velocity), k * k / 2, 0.25 * k * k / 2) << across;
  }
}

TEST(GradientJumps, take_nothing_from_linear_velocities) {
  for (const CellType type :
       {CellType::Triangle, CellType::Tetrahedron, CellType::Pyramid, CellType::Prism}) {
    const Mesh mesh = layers(type, 20);
    std::vector<Vector3> velocity;
    for (const Vector3 x : mesh.geometry().face_centroids().host())
      velocity.push_back({x.x + 20 * x.y, x.x / 20 - x.y, is_planar(type) ? 0 : x.z});
    const Index faces = mesh.topology().faces().size();
    Field<Face, Vector3> v(Executor::serial(), faces, "v", "m/s"),
        force(Executor::serial(), faces, "f", "m4/s2");
    v.copy_from_host(velocity);
    const ViscousForm form(Executor::serial(), mesh);
    form.apply(v, force);
    const std::vector<Vector3> result = force.to_host();
    const std::vector<Real> diagonal = form.matrix().diagonal();
    for (const Id<Face> f : mesh.topology().interior_faces()) {
      const std::size_t i = at(f.value());
      EXPECT_LE(norm(result[i]), 1e-12 * diagonal[i] * 100) << name(type);
    }
  }
}

}  // namespace
}  // namespace curlew
