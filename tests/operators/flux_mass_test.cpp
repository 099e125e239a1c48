// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/flux_mass.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/quality.hpp"
#include "operators/incidence_operator.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/operators/operator_matrix.hpp"

namespace curlew {
namespace {

/// The same matrix by the formula, cell by cell with dense matrices.
Eigen::MatrixXd mass_by_formula(const Mesh& mesh, Real simplex_weight) {
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  const Index faces = t.faces().size();
  Eigen::MatrixXd mass = Eigen::MatrixXd::Zero(faces, faces);
  const auto column = [](Vector3 v) { return Eigen::Vector3d(v.x, v.y, v.z); };
  for (const Id<Cell> c : t.cells()) {
    const auto row = t.faces_of_cell()[c];
    const Real weight = is_simplex(t.cell_type(c)) ? simplex_weight : 1;
    const Real volume = g.cell_volumes()[at(c.value())];
    Eigen::MatrixXd n(3, row.size()), s(row.size(), 3), scale = Eigen::MatrixXd::Zero(row.size(), row.size());
    for (Index k = 0; k < row.size(); ++k) {
      const std::size_t f = at(row[k].id.value());
      const Eigen::Vector3d arm = column(g.face_centroids()[f] - g.cell_centroids()[at(c.value())]);
      const Eigen::Vector3d area = row[k].sign * column(g.face_areas()[f]);
      n.col(k) = arm / volume;
      s.row(k) = area.transpose();
      scale(k, k) = arm.dot(area) / area.norm() / area.norm();
    }
    const Eigen::MatrixXd rest = Eigen::MatrixXd::Identity(row.size(), row.size()) - s * n;
    const Eigen::MatrixXd scaled = weight * scale * rest;
    Eigen::MatrixXd local = volume * n.transpose() * n;
    local += rest.transpose() * scaled;
    for (Index i = 0; i < row.size(); ++i) {
      for (Index j = 0; j < row.size(); ++j) {
        mass(row[i].id.value(), row[j].id.value()) += row[i].sign * row[j].sign * local(i, j);
      }
    }
  }
  return mass;
}

class OnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Index faces_ = mesh_.topology().faces().size();
};

TEST_P(OnShelf, mass_of_fluxes_is_the_matrix_of_its_formula_symmetric_and_positive_definite) {
  for (const Real weight : {1.0, 2.0}) {
    const FluxMass flux_mass(Executor::serial(), mesh_, weight);
    const Eigen::MatrixXd mass = matrix_of(flux_mass, faces_, faces_);
    const Real size = mass.cwiseAbs().maxCoeff();
    EXPECT_LE((mass - mass_by_formula(mesh_, weight)).cwiseAbs().maxCoeff(), 1e-12 * size);
    EXPECT_LE((mass - mass.transpose()).cwiseAbs().maxCoeff(), 1e-12 * size);
    EXPECT_GT(eigenvalues(mass)(0), 0);
    const std::vector<Real> diagonal = flux_mass.matrix().diagonal();
    for (Index f = 0; f < faces_; ++f) EXPECT_NEAR(diagonal[at(f)], mass(f, f), 1e-12 * size);
  }
}

TEST_P(OnShelf, energy_of_a_uniform_stream_is_exact_where_faces_are_planar) {
  const bool planar = measure_quality(mesh_).non_planarity.max < 1e-12;
  const Vector3 stream{1, -2, mesh_.topology().dimension() == 2 ? 0. : 3.};
  PrimalCochain<Face> flux(Executor::serial(), faces_, "flux", "m3/s");
  std::vector<Real> values(at(faces_));
  for (std::size_t f = 0; f < values.size(); ++f) values[f] = dot(stream, mesh_.geometry().face_areas()[f]);
  flux.copy_from_host(values);
  DualCochain<Face> circulation(Executor::serial(), faces_, "circulation", "m2/s");
  FluxMass(Executor::serial(), mesh_).apply(flux, circulation);
  const std::vector<Real> result = circulation.to_host();
  Real energy = 0, volume = 0;
  for (std::size_t f = 0; f < values.size(); ++f) energy += values[f] * result[f] / 2;
  for (const Real v : mesh_.geometry().cell_volumes().host()) volume += v;
  const Real exact = volume * dot(stream, stream) / 2;
  EXPECT_NEAR(energy, exact, (planar ? 1e-11 : 0.01) * exact);
}

TEST_P(OnShelf, mass_of_fluxes_has_the_same_bits_on_every_backend) {
  const auto result = [&](const Executor& executor) {
    PrimalCochain<Face> flux(executor, faces_, "flux", "m3/s");
    DualCochain<Face> circulation(executor, faces_, "circulation", "m2/s");
    std::vector<Real> values(at(faces_));
    for (std::size_t f = 0; f < values.size(); ++f) values[f] = std::sin(static_cast<Real>(f));
    flux.copy_from_host(values);
    FluxMass(executor, mesh_, 2).apply(flux, circulation);
    return circulation.to_host();
  };
  const std::vector<Real> expected = result(Executor::serial());
  for (const Executor& executor : backends_beside_serial()) {
    EXPECT_EQ(result(executor), expected) << executor.name();
  }
}

TEST_P(OnShelf, the_weight_leaves_divergence_free_fluxes_of_simplices_alone) {
  const Topology& t = mesh_.topology();
  for (const CellType type : t.cell_types()) {
    if (!is_simplex(type)) return;
  }
  PrimalCochain<Edge> streamfunction(Executor::serial(), t.edges().size(), "streamfunction", "m2/s");
  std::vector<Real> values(at(t.edges().size()));
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = std::sin(static_cast<Real>(e));
  streamfunction.copy_from_host(values);
  PrimalCochain<Face> flux(Executor::serial(), faces_, "flux", "m3/s");
  Curl(Executor::serial(), t).apply(streamfunction, flux);
  DualCochain<Face> once(Executor::serial(), faces_, "circulation", "m2/s"),
      more(Executor::serial(), faces_, "circulation", "m2/s");
  FluxMass(Executor::serial(), mesh_, 1).apply(flux, once);
  FluxMass(Executor::serial(), mesh_, 4).apply(flux, more);
  const std::vector<Real> a = once.to_host(), b = more.to_host();
  Real size = 0;
  for (const Real value : a) size = std::max(size, std::abs(value));
  for (std::size_t f = 0; f < a.size(); ++f) EXPECT_NEAR(a[f], b[f], 1e-11 * size);
}

INSTANTIATE_TEST_SUITE_P(Shelf, OnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(FluxMass, is_the_diagonal_star_on_rectangles_and_orthogonal_hexahedra) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    const Mesh mesh(make_box(type, {3, 2, 2}, {1, 2, 3}));
    const Index faces = mesh.topology().faces().size();
    const Eigen::MatrixXd mass = matrix_of(FluxMass(Executor::serial(), mesh), faces, faces);
    for (const Id<Face> f : mesh.topology().faces()) {
      const Real star = norm(mesh.geometry().dual_edge(mesh.topology(), f)) /
                        norm(mesh.geometry().face_areas()[at(f.value())]);
      EXPECT_NEAR(mass(f.value(), f.value()), star, 1e-13 * star);
    }
    const Eigen::MatrixXd diagonal = mass.diagonal().asDiagonal();
    EXPECT_LE((mass - diagonal).cwiseAbs().maxCoeff(), 1e-13 * mass.cwiseAbs().maxCoeff());
  }
}

TEST(FluxMass, refuses_a_cell_that_does_not_see_its_faces) {
  RawMesh raw = make_box(CellType::Quadrilateral, {1, 1, 0});
  for (std::size_t n = 0; n < raw.nodes.size(); ++n) {
    if (raw.nodes[n].x == 1 && raw.nodes[n].y == 1) raw.nodes[n] = {0.2, 0.2, 0};
  }
  EXPECT_THROW(FluxMass(Executor::serial(), Mesh(raw)), InputError);
}

}  // namespace
}  // namespace curlew
