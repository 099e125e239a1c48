// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/cell_laplacian.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>

#include "mesh/box.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/operators/operator_matrix.hpp"

namespace curlew {
namespace {

class CellLaplacianOnShelf : public testing::TestWithParam<ShelfMesh> {};

/// Coefficients that differ from face to face; `closed`: none on the boundary.
std::vector<Real> coefficients(const Topology& t, bool closed) {
  std::vector<Real> k;
  for (const Id<Face> f : t.faces()) {
    const bool boundary = f.value() >= t.interior_faces().last();
    k.push_back(boundary && (closed || f.value() % 2 == 0) ? 0
                                                           : 1.5 + std::sin(static_cast<Real>(f.value())));
  }
  return k;
}

TEST_P(CellLaplacianOnShelf, is_the_product_of_divergence_coefficients_and_its_transpose) {
  const Mesh mesh(GetParam().raw);
  const Topology& t = mesh.topology();
  const Index cells = t.cells().size(), faces = t.faces().size();
  for (const bool closed : {true, false}) {
    const std::vector<Real> k = coefficients(t, closed);
    Eigen::MatrixXd divergence = Eigen::MatrixXd::Zero(cells, faces);
    for (const Id<Cell> c : t.cells()) {
      for (const auto [f, sign] : t.faces_of_cell()[c]) divergence(c.value(), f.value()) = sign;
    }
    const Eigen::MatrixXd expected =
        divergence * Eigen::Map<const Eigen::VectorXd>(k.data(), faces).asDiagonal() * divergence.transpose();
    const CellLaplacian laplacian(Executor::serial(), t, k);
    const Eigen::MatrixXd matrix = matrix_of(laplacian, cells, cells);
    EXPECT_LE((matrix - expected).cwiseAbs().maxCoeff(), 1e-13 * expected.cwiseAbs().maxCoeff());
    const std::vector<Real> diagonal = laplacian.matrix().diagonal;
    for (Index c = 0; c < cells; ++c) EXPECT_NEAR(diagonal[at(c)], expected(c, c), 1e-13 * expected(c, c));
    if (closed) {
      EXPECT_LE((matrix * Eigen::VectorXd::Ones(cells)).cwiseAbs().maxCoeff(), 1e-13);
    }
  }
}

TEST_P(CellLaplacianOnShelf, has_the_same_bits_on_every_backend) {
  const Mesh mesh(GetParam().raw);
  const Topology& t = mesh.topology();
  const auto result = [&](const Executor& executor) {
    DualCochain<Cell> p(executor, t.cells().size(), "p", "m2/s2");
    PrimalCochain<Cell> outflow(executor, t.cells().size(), "outflow", "m3/s");
    std::vector<Real> values(at(t.cells().size()));
    for (std::size_t c = 0; c < values.size(); ++c) values[c] = std::cos(static_cast<Real>(c));
    p.copy_from_host(values);
    CellLaplacian(executor, t, coefficients(t, false)).apply(p, outflow);
    return outflow.to_host();
  };
  const std::vector<Real> expected = result(Executor::serial());
  for (const Executor& executor : backends_beside_serial())
    EXPECT_EQ(result(executor), expected) << executor.name();
}

/// 5,016 cells: several chunks of the sum, the last one and its last block not full.
TEST(CellLaplacian, forms_the_product_with_what_it_is_applied_to_in_the_same_pass) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {19, 11, 4}));
  const Topology& t = mesh.topology();
  const Index cells = t.cells().size();
  std::vector<Real> values(at(cells));
  for (std::size_t c = 0; c < values.size(); ++c) values[c] = std::cos(static_cast<Real>(c * c));
  for (const Executor& executor : all_backends()) {
    DualCochain<Cell> p(executor, cells, "p", "m2/s2");
    p.copy_from_host(values);
    PrimalCochain<Cell> outflow(executor, cells, "outflow", "m3/s"), fused = alike(outflow);
    const CellLaplacian laplacian(executor, t, coefficients(t, false));
    laplacian.apply(p, outflow);
    SumInParts product(executor);
    laplacian.apply_with_product(p, fused, product);
    EXPECT_EQ(fused.to_host(), outflow.to_host()) << executor.name();
    const std::vector<Real> image = outflow.to_host();
    const BinnedSum expected = binned_sum(cells, [&](Index c) { return values[at(c)] * image[at(c)]; });
    EXPECT_EQ(product.value(), expected.value()) << executor.name();
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, CellLaplacianOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew
