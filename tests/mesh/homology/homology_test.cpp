// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/homology/homology.hpp"

#include <gtest/gtest.h>

#include "tests/mesh/block_shapes.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

/// Rank over the integers modulo a prime, by Gauss's elimination of the dense matrix with its signs.
template <class From, class To>
Index dense_rank(const IncidenceTable<From, To>& table, Index columns) {
  constexpr std::int64_t prime = 32003;
  std::vector<std::vector<std::int64_t>> matrix(at(table.rows()), std::vector<std::int64_t>(at(columns), 0));
  for (const Id<From> i : Range<From>(0, table.rows())) {
    for (const auto [to, sign] : table[i]) matrix[at(i.value())][at(to.value())] = sign < 0 ? prime - 1 : 1;
  }
  std::size_t rank = 0;
  for (std::size_t column = 0; column < at(columns) && rank < matrix.size(); ++column) {
    std::size_t pivot = rank;
    while (pivot < matrix.size() && matrix[pivot][column] == 0) ++pivot;
    if (pivot == matrix.size()) continue;
    std::swap(matrix[pivot], matrix[rank]);
    for (std::size_t row = rank + 1; row < matrix.size(); ++row) {
      // Cross-multiplied, which saves the inverse of the pivot.
      const std::int64_t factor = matrix[row][column], scale = matrix[rank][column];
      if (factor == 0) continue;
      for (std::size_t k = column; k < at(columns); ++k) {
        matrix[row][k] = (matrix[row][k] * scale + (prime - factor) * matrix[rank][k]) % prime;
      }
    }
    ++rank;
  }
  return static_cast<Index>(rank);
}

/// From the dense ranks of all the boundary matrices.
BettiNumbers by_dense_ranks(const Topology& t) {
  const Index nodes = t.nodes().size(), edges = t.edges().size(), faces = t.faces().size();
  const Index divergence = dense_rank(t.faces_of_cell(), faces), curl = dense_rank(t.edges_of_face(), edges);
  if (t.dimension() == 2) return {nodes - curl, faces - curl - divergence, t.cells().size() - divergence};
  const Index node_gradient = dense_rank(t.nodes_of_edge(), nodes);
  EXPECT_EQ(divergence, t.cells().size());
  return {nodes - node_gradient, edges - node_gradient - curl, faces - curl - divergence};
}

class OnShape : public testing::TestWithParam<BlockShape> {};

TEST_P(OnShape, betti_numbers_are_those_of_the_shape) {
  const BlockShape& shape = GetParam();
  for (const CellType type : {CellType::Hexahedron, CellType::Tetrahedron, CellType::Prism}) {
    const Mesh mesh = blocks(type, shape.count, shape.is_kept);
    EXPECT_EQ(betti_numbers(mesh.topology()), shape.expected) << name(type);
    EXPECT_EQ(betti_numbers_by_rank(mesh.topology()), shape.expected) << name(type);
  }
  const Mesh mesh = blocks(CellType::Hexahedron, shape.count, shape.is_kept);
  EXPECT_EQ(by_dense_ranks(mesh.topology()), shape.expected);
}

INSTANTIATE_TEST_SUITE_P(Homology, OnShape, testing::ValuesIn(block_shapes()),
                         [](const auto& test) { return test.param.name; });

class HomologyOnShelf : public testing::TestWithParam<ShelfMesh> {};

TEST_P(HomologyOnShelf, counting_collapsing_and_dense_ranks_agree) {
  const Mesh mesh(GetParam().raw);
  const BettiNumbers expected = by_dense_ranks(mesh.topology());
  EXPECT_EQ(betti_numbers(mesh.topology()), expected);
  if (mesh.topology().dimension() == 3) {
    EXPECT_EQ(betti_numbers_by_rank(mesh.topology()), expected);
  }
  const bool ring = GetParam().name.find("_ring") != std::string::npos;
  EXPECT_EQ(expected, (BettiNumbers{1, ring ? 1 : 0, 0}));
}

INSTANTIATE_TEST_SUITE_P(Shelf, HomologyOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(Homology, of_plane_domains_counts_parts_and_holes) {
  const auto betti = [](std::array<Index, 3> count, const std::function<bool(int, int, int)>& is_kept) {
    const Mesh mesh = blocks(CellType::Triangle, count, is_kept);
    EXPECT_EQ(betti_numbers(mesh.topology()), by_dense_ranks(mesh.topology()));
    return betti_numbers(mesh.topology());
  };
  const auto annulus = [](int x, int y, int) { return x != 1 || y != 1; };
  const auto two_holes = [](int x, int y, int) { return x % 2 == 0 || y != 1; };
  const auto touching = [](int x, int y, int) { return x == y; };
  const auto apart = [](int x, int, int) { return x != 1; };
  EXPECT_EQ(betti({3, 3, 0}, annulus), (BettiNumbers{1, 1, 0}));
  EXPECT_EQ(betti({5, 3, 0}, two_holes), (BettiNumbers{1, 2, 0}));
  EXPECT_EQ(betti({2, 2, 0}, touching), (BettiNumbers{1, 0, 0}));
  EXPECT_EQ(betti({3, 1, 0}, apart), (BettiNumbers{2, 0, 0}));
}

}  // namespace
}  // namespace curlew
