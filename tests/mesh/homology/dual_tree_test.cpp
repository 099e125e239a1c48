// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/homology/dual_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "tests/mesh/block_shapes.hpp"
#include "tests/mesh/homology/openings.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

void expect_spanning(const Topology& t, const DualTree& tree) {
  // Each cell once, from the roots outwards, with the face between.
  std::vector<Index> depth(at(t.cells().size()), -1);
  for (const Id<Cell> root : tree.closed_roots()) depth[at(root.value())] = 0;
  std::vector<bool> in_tree(at(t.faces().size()), false);
  for (const auto& [c, face] : tree.steps()) {
    EXPECT_EQ(depth[at(c.value())], -1);
    Index before = 0;  // outside
    bool is_face_of_cell = false;
    for (const auto [cell, sign] : t.cells_of_face()[face.id]) {
      if (cell == c) {
        EXPECT_EQ(sign, face.sign);
        is_face_of_cell = true;
      } else {
        before = depth[at(cell.value())];
      }
    }
    EXPECT_TRUE(is_face_of_cell && tree.is_free(face.id));
    ASSERT_GE(before, 0);
    depth[at(c.value())] = before + 1;
    in_tree[at(face.id.value())] = true;
  }
  EXPECT_EQ(std::ssize(tree.steps()) + std::ssize(tree.closed_roots()), t.cells().size());
  // No free face leads to a shorter way, or from a closed part to the outside.
  for (const Id<Face> f : t.faces()) {
    EXPECT_EQ(tree.contains(f), in_tree[at(f.value())]);
    if (!tree.is_free(f)) continue;
    const auto cells = t.cells_of_face()[f];
    const Index first = depth[at(cells[0].id.value())];
    if (cells.size() == 1) {
      EXPECT_EQ(first, 1);
    } else {
      EXPECT_LE(std::abs(first - depth[at(cells[1].id.value())]), 1);
    }
  }
}

std::vector<Real> net_outflow(const Topology& t, const std::vector<Real>& flux) {
  std::vector<Real> net(at(t.cells().size()), 0);
  for (const Id<Cell> c : t.cells()) {
    for (const auto [f, sign] : t.faces_of_cell()[c]) net[at(c.value())] += sign * flux[at(f.value())];
  }
  return net;
}

void expect_balance(const Topology& t, const DualTree& tree) {
  std::mt19937_64 generator(3);
  std::uniform_int_distribution<int> multiple(-(1 << 20), 1 << 20);
  std::vector<Real> flux(at(t.faces().size()));
  for (Real& value : flux) value = std::ldexp(multiple(generator), -17);
  const std::vector<Real> before = flux;
  tree.balance(flux);
  for (const Id<Face> f : t.faces()) {
    if (!tree.contains(f)) {
      EXPECT_EQ(flux[at(f.value())], before[at(f.value())]);
    }
  }

  // What a closed part is given is left in its root, and nothing anywhere else.
  std::vector<Id<Cell>> root(at(t.cells().size()), Id<Cell>(-1));  // -1: the outside
  for (const Id<Cell> c : tree.closed_roots()) root[at(c.value())] = c;
  for (const auto& [c, face] : tree.steps()) {
    for (const auto [cell, sign] : t.cells_of_face()[face.id]) {
      if (cell != c) root[at(c.value())] = root[at(cell.value())];
    }
  }
  std::vector<Real> expected(at(t.cells().size()), 0);
  std::vector<Id<Face>> given_face(at(t.cells().size()), Id<Face>(-1));  // one for each root
  for (const Id<Face> f : t.boundary_faces()) {
    const Id<Cell> c = root[at(t.cells_of_face()[f][0].id.value())];
    if (c.value() < 0) continue;
    expected[at(c.value())] += flux[at(f.value())];
    given_face[at(c.value())] = f;
  }
  EXPECT_EQ(net_outflow(t, flux), expected);

  // Balanced given fluxes leave nothing at all.
  for (const Id<Cell> c : tree.closed_roots()) {
    const Id<Face> f = given_face[at(c.value())];
    if (f.value() >= 0) flux[at(f.value())] -= expected[at(c.value())];
  }
  tree.balance(flux);
  EXPECT_EQ(net_outflow(t, flux), std::vector<Real>(expected.size(), 0));
}

void expect_cycles(const Topology& t, const DualTree& tree) {
  for (const Id<Face> f : t.faces()) {
    if (!tree.is_free(f) || tree.contains(f)) continue;
    std::vector<Real> flux(at(t.faces().size()), 0);
    const std::vector<SignedId<Face>> cycle = tree.cycle(f);
    ASSERT_TRUE(cycle[0].id == f && cycle[0].sign == 1);
    for (std::size_t k = 0; k < cycle.size(); ++k) {
      const auto [face, sign] = cycle[k];
      EXPECT_EQ(tree.contains(face), k > 0);
      EXPECT_EQ(std::abs(sign), 1);
      EXPECT_EQ(flux[at(face.value())], 0) << "a face twice";
      flux[at(face.value())] = sign;
    }
    EXPECT_EQ(net_outflow(t, flux), std::vector<Real>(at(t.cells().size()), 0));
  }
}

void expect_sound(const Topology& t) {
  for (const Opening& opening : openings(t)) {
    SCOPED_TRACE(opening.name);
    const DualTree tree(t, opening.flux_is_given);
    expect_spanning(t, tree);
    expect_balance(t, tree);
    expect_cycles(t, tree);
  }
}

TEST(DualTree, spans_balances_and_closes_cycles_on_the_shelf) {
  for (const ShelfMesh& mesh : shelf()) {
    SCOPED_TRACE(mesh.name);
    expect_sound(Mesh(mesh.raw).topology());
  }
}

TEST(DualTree, spans_balances_and_closes_cycles_on_shapes) {
  for (const BlockShape& shape : block_shapes()) {
    SCOPED_TRACE(shape.name);
    expect_sound(blocks(CellType::Hexahedron, shape.count, shape.is_kept).topology());
  }
}

TEST(DualTree, spans_balances_and_closes_cycles_on_periodic_meshes) {
  for (const PeriodicBox& box : periodic_boxes()) {
    SCOPED_TRACE(box.name);
    expect_sound(make_periodic(Mesh(box.raw()), box.pairs()).mesh.topology());
  }
}

TEST(DualTree, has_a_root_in_each_closed_part) {
  const Mesh mesh = blocks(CellType::Tetrahedron, {5, 2, 2}, [](int x, int, int) { return x % 2 == 0; });
  const Topology& t = mesh.topology();
  EXPECT_EQ(DualTree(t, given_but(t, [](Id<Face>) { return false; })).closed_roots().size(), 3u);
  const auto& centroids = mesh.geometry().face_centroids();
  const auto is_left = [&](Id<Face> f) { return centroids[at(f.value())].x < 1e-12; };
  EXPECT_EQ(DualTree(t, given_but(t, is_left)).closed_roots().size(), 2u);
  EXPECT_EQ(DualTree(t, given_but(t, [](Id<Face>) { return true; })).closed_roots().size(), 0u);
}

TEST(DualTree, refuses_given_fluxes_inside) {
  const Mesh mesh(shelf().front().raw);
  EXPECT_THROW(DualTree(mesh.topology(), std::vector<bool>(at(mesh.topology().faces().size()), true)), Error);
  EXPECT_THROW(DualTree(mesh.topology(), {}), Error);
}

}  // namespace
}  // namespace curlew
