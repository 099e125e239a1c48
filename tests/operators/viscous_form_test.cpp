// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/viscous_form.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mesh/box.hpp"
#include "mesh/quality.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/operators/dense_gradient_jumps.hpp"

namespace curlew {
namespace {

using std::numbers::pi;

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
  Eigen::MatrixXd total = dense_gradient_jumps(mesh);
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
    const Eigen::RowVectorXd mean = height.cwiseProduct(area).transpose() / (d * volume);
    // The gradient that is exact for linear velocities, of faces that are not planar too.
    const Eigen::MatrixXd exact = inverse(s * r.transpose()) * s;
    const Eigen::MatrixXd arms = r.colwise() - r * mean.transpose();
    Eigen::MatrixXd rest = Eigen::MatrixXd::Identity(n, n) - arms.transpose() * exact;
    rest.rowwise() -= mean;
    EXPECT_LT((rest * r.transpose()).norm(), 1e-12 * r.norm());
    Eigen::MatrixXd local = s.transpose() * s / volume;
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < i; ++j) {
        const Eigen::RowVectorXd apart = rest.row(i) - rest.row(j);
        local +=
            3 * (area(i) / height(i) * mean(j) + area(j) / height(j) * mean(i)) * apart.transpose() * apart;
      }
    }
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
  const Eigen::VectorXd values = eigenvalues(expected);
  EXPECT_NEAR(values(0), 0, 1e-10 * size);
  EXPECT_GT(values(1), 1e-7 * size);
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
  EXPECT_NEAR(dissipation, gradient_squared * volume, 1e-10 * gradient_squared * volume);
}

TEST(ViscousForm, waves_on_squares_lose_energy_and_carry_velocities_along_as_the_closed_form_says) {
  // u = sin(pi x) cos(pi y): `normal` times that on faces across x, `tangential` times that on faces along x.
  const auto force_on = [](Index n, Real normal, Real tangential) {
    const Mesh mesh(make_box(CellType::Quadrilateral, {n, n, 0}));
    std::vector<Vector3> velocity;
    for (Index f = 0; f < mesh.topology().faces().size(); ++f) {
      const Vector3 x = mesh.geometry().face_centroids()[at(f)], s = mesh.geometry().face_areas()[at(f)];
      const Real factor = std::abs(s.x) > 0 ? normal : tangential;
      velocity.push_back({factor * std::sin(pi * x.x) * std::cos(pi * x.y), 0, 0});
    }
    Field<Face, Vector3> v(Executor::serial(), mesh.topology().faces().size(), "v", "m/s"), force(alike(v));
    v.copy_from_host(velocity);
    ViscousForm(Executor::serial(), mesh).apply(v, force);
    const std::vector<Vector3> result = force.to_host();
    Real dissipation = 0, on_tangential = 0;
    for (std::size_t f = 0; f < velocity.size(); ++f) {
      dissipation += dot(velocity[f], result[f]);
      if (!(std::abs(mesh.geometry().face_areas()[f].x) > 0))
        on_tangential = std::max(on_tangential, std::abs(result[f].x));
    }
    return std::pair(dissipation, on_tangential);
  };
  constexpr Real weight = 6;
  for (const Index n : {4, 16}) {
    const Real angle = pi / static_cast<Real>(n), sine = std::pow(std::sin(angle / 2), 2), cosine = 1 - sine;
    // Velocities along faces are those that minimise the form.
    const Real tangential = weight * cosine / (2 * sine + weight * cosine);
    const auto [dissipation, on_tangential] = force_on(n, 1, tangential);
    EXPECT_LT(on_tangential, 1e-14);
    // h² times the rate at which such a wave loses energy, of a mass of h² a face.
    const Real rate = dissipation / (static_cast<Real>(n * n) / 4);
    EXPECT_NEAR(rate, 4 * sine + 4 * weight * cosine * sine / (2 * sine + weight * cosine), 1e-13);
    EXPECT_NEAR(rate, 2 * std::pow(angle, 2) - (1. / 6 + 1 / (2 * weight)) * std::pow(angle, 4),
                0.1 * std::pow(angle, 6));
    EXPECT_NEAR(tangential, 1 - std::pow(angle, 2) / (2 * weight), 0.1 * std::pow(angle, 4));
  }
}

TEST(ViscousForm, what_goes_through_a_flat_box_is_held_by_its_large_faces_whatever_those_beside_do) {
  // A box wide in x and y: velocities in x of 1 on faces across x, `beside` on those across y, 0 above and
  // below.
  constexpr Real height = 1e-3;
  const Mesh mesh(make_box(CellType::Hexahedron, {1, 1, 1}, {1, 1, height}));
  const ViscousForm form(Executor::serial(), mesh);
  const auto faces = mesh.topology().faces_of_cell()[Id<Cell>(0)];
  const auto energy = [&](Real beside) {
    std::vector<Vector3> velocity(at(faces.size()));
    for (Index k = 0; k < faces.size(); ++k) {
      const Vector3 area = mesh.geometry().face_areas()[at(faces[k].id.value())];
      velocity[at(k)].x = std::abs(area.x) > 0 ? 1 : std::abs(area.y) > 0 ? beside : 0;
    }
    return form.energy_in_cell(Id<Cell>(0), velocity);
  };
  // Of the box's volume times the square of the velocity over the height: 4, with nothing beside.
  EXPECT_NEAR(energy(0), 4 / height, 1e-4 / height);
  for (Real beside = -2; beside <= 2; beside += 0.25) EXPECT_GE(energy(beside), energy(0)) << beside;
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
