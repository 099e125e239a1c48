// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/homology.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "mesh/box.hpp"
#include "mesh/mesh.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {

// Named in messages of failed tests.
void PrintTo(const BettiNumbers& betti, std::ostream* stream) {
  *stream << "b0 = " << betti.b0 << ", b1 = " << betti.b1 << ", b2 = " << betti.b2;
}

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

/// A box of unit blocks without those for which `is_kept` is false.
Mesh blocks(CellType type, std::array<Index, 3> count, const std::function<bool(int, int, int)>& is_kept) {
  const RawMesh full = make_box(
      type, count, {static_cast<Real>(count[0]), static_cast<Real>(count[1]), static_cast<Real>(count[2])});
  RawMesh raw;
  raw.dimension = full.dimension;
  raw.nodes = full.nodes;
  raw.region_names = {"kept"};
  raw.cell_start = {0};
  raw.boundary_start = {0};
  for (std::size_t c = 0; c < full.cell_types.size(); ++c) {
    Vector3 middle{};
    const auto first = full.cell_nodes.begin() + full.cell_start[c];
    const auto last = full.cell_nodes.begin() + full.cell_start[c + 1];
    for (auto n = first; n < last; ++n) middle += full.nodes[at(*n)];
    middle = middle / static_cast<Real>(last - first);
    if (!is_kept(static_cast<int>(middle.x), static_cast<int>(middle.y), static_cast<int>(middle.z)))
      continue;
    raw.cell_types.push_back(full.cell_types[c]);
    raw.cell_nodes.insert(raw.cell_nodes.end(), first, last);
    raw.cell_start.push_back(static_cast<std::int64_t>(raw.cell_nodes.size()));
    raw.cell_region.push_back(0);
  }
  return Mesh(std::move(raw));
}

struct Shape {
  std::string name;
  std::array<Index, 3> count;
  std::function<bool(int, int, int)> is_kept;
  BettiNumbers expected;
};

void PrintTo(const Shape& shape, std::ostream* stream) {
  *stream << shape.name;
}

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> list{
      {"block", {3, 2, 2}, [](int, int, int) { return true; }, {1, 0, 0}},
      {"tunnel", {3, 3, 2}, [](int x, int y, int) { return x != 1 || y != 1; }, {1, 1, 0}},
      {"two_tunnels", {5, 3, 1}, [](int x, int y, int) { return x % 2 == 0 || y != 1; }, {1, 2, 0}},
      {"crossing_tunnels",
       {3, 3, 3},
       [](int x, int y, int z) { return (x != 1 || y != 1) && (x != 1 || z != 1); },
       {1, 3, 0}},
      {"void", {3, 3, 3}, [](int x, int y, int z) { return x != 1 || y != 1 || z != 1; }, {1, 0, 1}},
      {"two_voids", {5, 3, 3}, [](int x, int y, int z) { return x % 2 == 0 || y != 1 || z != 1; }, {1, 0, 2}},
      {"void_shaped_as_a_ring",
       {5, 5, 3},
       [](int x, int y, int z) {
         return z != 1 || x == 0 || x == 4 || y == 0 || y == 4 || (x == 2 && y == 2);
       },
       {1, 1, 1}},
      {"apart", {3, 2, 2}, [](int x, int, int) { return x != 1; }, {2, 0, 0}},
      {"ring_and_block",
       {5, 3, 1},
       [](int x, int y, int) { return x == 4 || (x < 3 && (x != 1 || y != 1)); },
       {2, 1, 0}},
      {"touching_at_an_edge", {2, 2, 1}, [](int x, int y, int) { return x == y; }, {1, 0, 0}},
      {"touching_at_a_node", {2, 2, 2}, [](int x, int y, int z) { return x == y && y == z; }, {1, 0, 0}},
      {"ring_closed_at_an_edge",
       {3, 3, 1},
       [](int x, int y, int) { return (x != 1 || y != 1) && (x != 2 || y != 2); },
       {1, 1, 0}},
      {"voids_that_share_a_node",
       {4, 4, 4},
       [](int x, int y, int z) { return !(x == y && y == z && (x == 1 || x == 2)); },
       {1, 0, 2}},
      {"voids_that_share_an_edge",
       {4, 4, 3},
       [](int x, int y, int z) { return !(z == 1 && x == y && (x == 1 || x == 2)); },
       {1, 0, 2}},
      {"void_touching_the_outside",
       {3, 3, 3},
       [](int x, int y, int z) { return !(x == 1 && y == 1 && z == 1) && !(x == 2 && y == 2 && z == 1); },
       {1, 0, 1}},
  };
  return list;
}

class OnShape : public testing::TestWithParam<Shape> {};

TEST_P(OnShape, betti_numbers_are_those_of_the_shape) {
  const Shape& shape = GetParam();
  for (const CellType type : {CellType::Hexahedron, CellType::Tetrahedron, CellType::Prism}) {
    const Mesh mesh = blocks(type, shape.count, shape.is_kept);
    EXPECT_EQ(betti_numbers(mesh.topology()), shape.expected) << name(type);
    EXPECT_EQ(betti_numbers_by_rank(mesh.topology()), shape.expected) << name(type);
  }
  const Mesh mesh = blocks(CellType::Hexahedron, shape.count, shape.is_kept);
  EXPECT_EQ(by_dense_ranks(mesh.topology()), shape.expected);
}

INSTANTIATE_TEST_SUITE_P(Homology, OnShape, testing::ValuesIn(shapes()),
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
