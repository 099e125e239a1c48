// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/cell_gradient.hpp"

#include <gtest/gtest.h>

#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

class CellGradient : public ::testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Topology& t_ = mesh_.topology();
  const Geometry& g_ = mesh_.geometry();

  /// What an error in one node value of size 1 does to the gradient, at most [1/m].
  Real sensitivity(Id<Cell> c) const {
    Real area = 0;
    for (const auto [f, sign] : t_.faces_of_cell()[c]) area += norm(g_.face_areas()[at(f.value())]);
    return area / g_.cell_volumes()[at(c.value())];
  }
};

TEST_P(CellGradient, is_exact_for_linear_fields) {
  const Vector3 slope{1.5, -2, t_.dimension() == 2 ? 0 : 0.7};
  std::vector<Real> values;
  for (const Vector3 x : g_.node_positions().host()) values.push_back(3 + dot(slope, x));
  const std::vector<Vector3> gradients = cell_gradients(mesh_, values);
  ASSERT_EQ(gradients.size(), at(t_.cells().size()));
  for (const Id<Cell> c : t_.cells())
    EXPECT_LE(norm(gradients[at(c.value())] - slope), 1e-14 * sensitivity(c)) << "cell " << c.value();
}

TEST_P(CellGradient, weights_of_a_cell_sum_to_zero) {
  for (const Id<Cell> c : t_.cells()) {
    std::vector<Vector3> weights(at(t_.nodes_of_cell()[c].size()), Vector3{7, 7, 7});
    gradient_weights(mesh_, c, weights);
    Vector3 sum{};
    for (const Vector3 a : weights) sum += a;
    EXPECT_LE(norm(sum), 1e-15 * sensitivity(c)) << "cell " << c.value();
  }
}

TEST_P(CellGradient, on_simplices_is_that_of_the_finite_element) {
  for (const Id<Cell> c : t_.cells()) {
    if (!is_simplex(t_.cell_type(c))) continue;
    const auto nodes = t_.nodes_of_cell()[c];
    std::vector<Vector3> weights(at(nodes.size()));
    gradient_weights(mesh_, c, weights);
    // The gradient of a node's hat function: its slope along every edge from the node is -1 per edge.
    for (Index k = 0; k < nodes.size(); ++k) {
      for (Index l = 0; l < nodes.size(); ++l) {
        const Vector3 edge =
            g_.node_positions()[at(nodes[l].id.value())] - g_.node_positions()[at(nodes[k].id.value())];
        EXPECT_NEAR(dot(weights[at(k)], edge), k == l ? 0 : -1, 1e-11);
      }
    }
  }
}

TEST_P(CellGradient, refuses_another_number_of_values) {
  const std::vector<Real> values(at(t_.nodes().size()) - 1);
  EXPECT_THROW(cell_gradients(mesh_, values), Error);
}

INSTANTIATE_TEST_SUITE_P(Shelf, CellGradient, ::testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew
