// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/viscous_form.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "mesh/box.hpp"
#include "mesh/quality.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

/// Components that a mesh of this dimension has.
int components(const Mesh& mesh) {
  return mesh.topology().dimension();
}
Real& component(Vector3& v, int i) {
  return i == 0 ? v.x : i == 1 ? v.y : v.z;
}

/// K as a matrix; unknown k f + i is component i at face f.
Eigen::MatrixXd matrix_of(const ViscousForm& form, const Mesh& mesh) {
  const int k = components(mesh);
  const Index faces = mesh.topology().faces().size();
  Eigen::MatrixXd matrix(k * faces, k * faces);
  Field<Face, Vector3> v(Executor::serial(), faces, "v", "m/s"),
      force(Executor::serial(), faces, "force", "m3/s2");
  for (Index j = 0; j < k * faces; ++j) {
    std::vector<Vector3> unit(at(faces));
    component(unit[at(j / k)], j % k) = 1;
    v.copy_from_host(unit);
    form.apply(v, force);
    std::vector<Vector3> column = force.to_host();
    for (Index i = 0; i < k * faces; ++i) matrix(i, j) = component(column[at(i / k)], i % k);
  }
  return matrix;
}

/// The form by its definition, for one component, as sums of squares of rows of dense matrices.
Eigen::MatrixXd form_of_one_component(const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  const int d = t.dimension();
  const Index faces = t.faces().size();
  Eigen::MatrixXd total = Eigen::MatrixXd::Zero(faces, faces);
  for (const Id<Cell> c : t.cells()) {
    const auto row = t.faces_of_cell()[c];
    const Index n = row.size();
    const Real volume = g.cell_volumes()[at(c.value())];
    Eigen::MatrixXd s(d, n), r(d, n);
    Eigen::VectorXd height(n), area(n);
    for (Index k = 0; k < n; ++k) {
      const Vector3 outward = row[k].sign * g.face_areas()[at(row[k].id.value())];
      const Vector3 arm = g.face_centroids()[at(row[k].id.value())] - g.cell_centroids()[at(c.value())];
      const Real sk[] = {outward.x, outward.y, outward.z}, rk[] = {arm.x, arm.y, arm.z};
      for (int i = 0; i < d; ++i) {
        s(i, k) = sk[i];
        r(i, k) = rk[i];
      }
      area(k) = s.col(k).norm();
      height(k) = r.col(k).dot(s.col(k)) / area(k);
    }
    const Eigen::MatrixXd gradient = s / volume;
    const Eigen::RowVectorXd mean = height.cwiseProduct(area).transpose() / (d * volume);
    const Eigen::MatrixXd rest =
        Eigen::MatrixXd::Identity(n, n) - Eigen::VectorXd::Ones(n) * mean - r.transpose() * gradient;
    const Eigen::MatrixXd local = volume * gradient.transpose() * gradient +
                                  3 * rest.transpose() * area.cwiseQuotient(height).asDiagonal() * rest;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < n; ++j) total(row[i].id.value(), row[j].id.value()) += local(i, j);
    }
  }
  return total;
}

class ViscousFormOnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Index faces_ = mesh_.topology().faces().size();
};

TEST_P(ViscousFormOnShelf, is_the_matrix_of_its_formula_and_sees_all_but_uniform_streams) {
  const ViscousForm form(Executor::serial(), mesh_);
  const Eigen::MatrixXd k = matrix_of(form, mesh_), expected = form_of_one_component(mesh_);
  const int d = components(mesh_);
  const Real size = k.cwiseAbs().maxCoeff();
  for (Index i = 0; i < faces_; ++i) {
    for (Index j = 0; j < faces_; ++j) {
      for (int a = 0; a < d; ++a) {
        for (int b = 0; b < d; ++b) {
          EXPECT_NEAR(k(d * i + a, d * j + b), a == b ? expected(i, j) : 0, 1e-11 * size);
        }
      }
    }
  }
  EXPECT_LE((k - k.transpose()).cwiseAbs().maxCoeff(), 1e-11 * size);
  const std::vector<Real> diagonal = form.matrix().diagonal();
  for (Index f = 0; f < faces_; ++f) EXPECT_NEAR(diagonal[at(f)], expected(f, f), 1e-11 * size);
  const Eigen::VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(expected).eigenvalues();
  EXPECT_NEAR(eigenvalues(0), 0, 1e-10 * size);
  EXPECT_GT(eigenvalues(1), 1e-7 * size);
}

TEST_P(ViscousFormOnShelf, dissipation_of_a_linear_velocity_is_exact_where_faces_are_planar) {
  if (measure_quality(mesh_).non_planarity.max > 1e-12) return;
  std::vector<Vector3> linear;
  for (const Vector3& x : mesh_.geometry().face_centroids().host()) {
    linear.push_back(components(mesh_) == 2 ? Vector3{x.x + 2 * x.y, 3 * x.x - x.y, 0}
                                            : Vector3{x.x + 2 * x.y, 3 * x.x - x.y + x.z, 2 * x.z - x.y});
  }
  const Real gradient_squared = components(mesh_) == 2 ? 1 + 4 + 9 + 1 : 1 + 4 + 9 + 1 + 1 + 4 + 1;
  Field<Face, Vector3> v(Executor::serial(), faces_, "v", "m/s"),
      force(Executor::serial(), faces_, "f", "m3/s2");
  v.copy_from_host(linear);
  ViscousForm(Executor::serial(), mesh_).apply(v, force);
  const std::vector<Vector3> result = force.to_host();
  Real dissipation = 0, volume = 0;
  for (std::size_t f = 0; f < linear.size(); ++f) dissipation += dot(linear[f], result[f]);
  for (const Real share : mesh_.geometry().cell_volumes().host()) volume += share;
  EXPECT_NEAR(dissipation, gradient_squared * volume, 1e-11 * gradient_squared * volume);
}

TEST(ViscousForm, dissipation_of_the_rotated_bilinear_velocity_is_exact_on_squares_and_cubes) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    const bool plane = type == CellType::Quadrilateral;
    constexpr Index n = 3;
    const Mesh mesh(make_box(type, {n, n, plane ? 0 : n}));
    const Index faces = mesh.topology().faces().size();
    // u = x² - y² as means over faces: that of s² over a side of length h is s² + h²/12.
    constexpr Real spread = 1. / (12 * n * n);
    std::vector<Vector3> velocity;
    for (Index f = 0; f < faces; ++f) {
      const Vector3 x = mesh.geometry().face_centroids()[at(f)], s = mesh.geometry().face_areas()[at(f)];
      const Real along_x = std::abs(s.x) > 0 ? 0 : spread, along_y = std::abs(s.y) > 0 ? 0 : spread;
      velocity.push_back({x.x * x.x + along_x - x.y * x.y - along_y, 0, 0});
    }
    Field<Face, Vector3> v(Executor::serial(), faces, "v", "m/s"), force(alike(v));
    v.copy_from_host(velocity);
    ViscousForm(Executor::serial(), mesh).apply(v, force);
    const std::vector<Vector3> result = force.to_host();
    Real dissipation = 0;
    for (std::size_t f = 0; f < velocity.size(); ++f) dissipation += dot(velocity[f], result[f]);
    EXPECT_NEAR(dissipation, 8. / 3, 1e-12);  // the integral of 4 x² + 4 y²
  }
}

TEST_P(ViscousFormOnShelf, has_the_same_bits_on_every_backend) {
  const auto result = [&](const Executor& executor) {
    Field<Face, Vector3> v(executor, faces_, "v", "m/s"), force(executor, faces_, "f", "m3/s2");
    std::vector<Vector3> values(at(faces_));
    for (std::size_t f = 0; f < values.size(); ++f) {
      const Real x = static_cast<Real>(f);
      values[f] = {std::sin(x), std::cos(x), components(mesh_) == 2 ? 0 : std::sin(2 * x)};
    }
    v.copy_from_host(values);
    ViscousForm(executor, mesh_).apply(v, force);
    return force.to_host();
  };
  const std::vector<Vector3> expected = result(Executor::serial());
  for (const Executor& executor : backends_beside_serial()) {
    EXPECT_TRUE(result(executor) == expected) << executor.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, ViscousFormOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew
