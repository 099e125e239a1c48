// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/homology/harmonic_fluxes.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <chrono>
#include <iostream>

#include "tests/mesh/block_shapes.hpp"
#include "tests/mesh/homology/openings.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

using HarmonicFluxes = std::vector<std::vector<SignedId<Face>>>;

HarmonicFluxes harmonic_fluxes(const Topology& t, const std::vector<bool>& flux_is_given) {
  return curlew::harmonic_fluxes(t, DualTree(t, flux_is_given));
}
Index count(const Topology& t, const std::vector<bool>& flux_is_given) {
  return static_cast<Index>(harmonic_fluxes(t, flux_is_given).size());
}
std::vector<bool> closed(const Topology& t) {
  return given_but(t, [](Id<Face>) { return false; });
}
std::vector<bool> open(const Topology& t) {
  return given_but(t, [](Id<Face>) { return true; });
}

/// Open where a face lies in a plane x, y or z (direction 0, 1, 2) = a place.
std::vector<bool> open_at(const Mesh& mesh, int direction, std::initializer_list<Real> places) {
  const auto& centroids = mesh.geometry().face_centroids();
  return given_but(mesh.topology(), [&](Id<Face> f) {
    const Vector3 x = centroids[at(f.value())];
    const Real along = direction == 0 ? x.x : direction == 1 ? x.y : x.z;
    return std::any_of(places.begin(), places.end(),
                       [&](Real place) { return std::abs(along - place) < 1e-9; });
  });
}

Index rank(const Eigen::MatrixXd& matrix) {
  return matrix.size() == 0 ? 0 : static_cast<Index>(Eigen::FullPivLU<Eigen::MatrixXd>(matrix).rank());
}

/// By dense ranks: with curls, harmonic fluxes span all fluxes without divergence, and none is dispensable.
void expect_basis(const Topology& t, const std::vector<bool>& flux_is_given) {
  const HarmonicFluxes fluxes = harmonic_fluxes(t, flux_is_given);
  std::vector<bool> is_fixed(at(t.edges().size()), false);
  for (const Id<Face> f : t.faces()) {
    if (!flux_is_given[at(f.value())]) continue;
    for (const auto [e, sign] : t.edges_of_face()[f]) is_fixed[at(e.value())] = true;
  }
  Eigen::MatrixXd divergence = Eigen::MatrixXd::Zero(t.cells().size(), t.faces().size());
  for (const Id<Cell> c : t.cells()) {
    for (const auto [f, sign] : t.faces_of_cell()[c]) divergence(c.value(), f.value()) += sign;
  }
  Eigen::MatrixXd curl = Eigen::MatrixXd::Zero(t.faces().size(), t.edges().size());
  for (const Id<Face> f : t.faces()) {
    for (const auto [e, sign] : t.edges_of_face()[f]) {
      if (!is_fixed[at(e.value())]) curl(f.value(), e.value()) += sign;
    }
  }
  const Index curls = rank(curl);
  curl.conservativeResize(Eigen::NoChange, t.edges().size() + std::ssize(fluxes));
  curl.rightCols(std::ssize(fluxes)).setZero();
  for (std::size_t k = 0; k < fluxes.size(); ++k) {
    auto column = curl.col(t.edges().size() + static_cast<Index>(k));
    for (const auto [f, sign] : fluxes[k]) {
      EXPECT_FALSE(flux_is_given[at(f.value())]);
      EXPECT_EQ(column(f.value()), 0) << "a face twice";
      column(f.value()) = sign;
    }
  }
  EXPECT_TRUE((divergence * curl).isZero(0));
  Index free_faces = 0;
  for (const Id<Face> f : t.faces()) {
    if (flux_is_given[at(f.value())]) {
      divergence.col(f.value()).setZero();
    } else {
      ++free_faces;
    }
  }
  const Index without_divergence = free_faces - rank(divergence);
  EXPECT_EQ(curls + std::ssize(fluxes), without_divergence);
  EXPECT_EQ(rank(curl), without_divergence);
}

/// Duality of a domain and its boundary (Lefschetz): closed, one for each loop; open all round, the
/// cohomology of codimension one.
void expect_betti_numbers(const Topology& t) {
  const BettiNumbers betti = betti_numbers(t);
  EXPECT_EQ(count(t, closed(t)), betti.b1);
  EXPECT_EQ(count(t, open(t)), t.dimension() == 2 ? betti.b1 : betti.b2);
}

class HarmonicOnShelf : public testing::TestWithParam<ShelfMesh> {};

TEST_P(HarmonicOnShelf, they_complete_the_curls) {
  const Mesh mesh(GetParam().raw);
  for (const Opening& opening : openings(mesh.topology())) {
    SCOPED_TRACE(opening.name);
    expect_basis(mesh.topology(), opening.flux_is_given);
  }
  expect_betti_numbers(mesh.topology());
}

INSTANTIATE_TEST_SUITE_P(Shelf, HarmonicOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

class HarmonicOnPeriodicBox : public testing::TestWithParam<PeriodicBox> {};

TEST_P(HarmonicOnPeriodicBox, they_complete_the_curls) {
  const PeriodicMesh periodic = make_periodic(Mesh(GetParam().raw()), GetParam().pairs());
  const Topology& t = periodic.mesh.topology();
  expect_basis(t, closed(t));
  expect_basis(t, open(t));
  expect_betti_numbers(t);
  EXPECT_EQ(count(t, closed(t)), GetParam().directions);
}

INSTANTIATE_TEST_SUITE_P(PeriodicBoxes, HarmonicOnPeriodicBox, testing::ValuesIn(periodic_boxes()),
                         [](const auto& test) { return test.param.name; });

class HarmonicOnShape : public testing::TestWithParam<BlockShape> {};

TEST_P(HarmonicOnShape, they_are_as_many_as_loops_or_voids) {
  const BlockShape& shape = GetParam();
  // No flow goes through an edge at which a ring is closed.
  const Index loops = shape.name == "ring_closed_at_an_edge" ? 0 : shape.expected.b1;
  for (const CellType type : {CellType::Hexahedron, CellType::Tetrahedron, CellType::Prism}) {
    const Mesh mesh = blocks(type, shape.count, shape.is_kept);
    EXPECT_EQ(count(mesh.topology(), closed(mesh.topology())), loops) << name(type);
    EXPECT_EQ(count(mesh.topology(), open(mesh.topology())), shape.expected.b2) << name(type);
  }
  const Mesh mesh = blocks(CellType::Hexahedron, shape.count, shape.is_kept);
  for (const Opening& opening : openings(mesh.topology())) {
    SCOPED_TRACE(opening.name);
    expect_basis(mesh.topology(), opening.flux_is_given);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, HarmonicOnShape, testing::ValuesIn(block_shapes()),
                         [](const auto& test) { return test.param.name; });

TEST(HarmonicFluxes, add_one_for_each_opening_of_a_part_after_its_first) {
  const auto annulus = [](int x, int y, int) { return x != 1 || y != 1; };
  const auto whole = [](int, int, int) { return true; };
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron}) {
    const Mesh ring = blocks(type, {3, 3, 2}, annulus);
    EXPECT_EQ(count(ring.topology(), closed(ring.topology())), 1);
    EXPECT_EQ(count(ring.topology(), open_at(ring, 0, {0})), 1);
    EXPECT_EQ(count(ring.topology(), open_at(ring, 0, {0, 3})), 2);
    const Mesh box = blocks(type, {3, 3, 2}, whole);
    EXPECT_EQ(count(box.topology(), closed(box.topology())), 0);
    EXPECT_EQ(count(box.topology(), open_at(box, 0, {0})), 0);
    EXPECT_EQ(count(box.topology(), open_at(box, 0, {0, 3})), 1);
    // Two arms, and two outlets of one inlet.
    const Mesh fork = blocks(type, {3, 3, 2}, [](int x, int y, int) { return x == 0 || y != 1; });
    EXPECT_EQ(count(fork.topology(), open_at(fork, 0, {3})), 1);
    EXPECT_EQ(count(fork.topology(), open_at(fork, 0, {0, 3})), 2);
  }
  // The loop of a ring slides off through a side that is open all round.
  const Mesh ring = blocks(CellType::Tetrahedron, {3, 3, 2}, annulus);
  EXPECT_EQ(count(ring.topology(), open_at(ring, 2, {0})), 0);
  EXPECT_EQ(count(ring.topology(), open_at(ring, 2, {0, 2})), 1);
}

TEST(HarmonicFluxes, take_the_shortest_way) {
  const auto lengths = [](const HarmonicFluxes& fluxes) {
    std::vector<std::size_t> sizes;
    for (const auto& flux : fluxes) sizes.push_back(flux.size());
    return sizes;
  };
  const PeriodicBox box{"", CellType::Hexahedron, {7, 5, 3}, 3, false};
  const PeriodicMesh periodic = make_periodic(Mesh(box.raw()), box.pairs());
  const Topology& t = periodic.mesh.topology();
  EXPECT_EQ(lengths(harmonic_fluxes(t, closed(t))), (std::vector<std::size_t>{3, 5, 7}));
  const auto two_holes = [](int x, int y, int) { return y % 2 == 0 || (x != 1 && x != 3 && x != 4); };
  const Mesh holes = blocks(CellType::Quadrilateral, {6, 3, 0}, two_holes);
  EXPECT_EQ(lengths(harmonic_fluxes(holes.topology(), closed(holes.topology()))),
            (std::vector<std::size_t>{8, 10}));
  const Mesh channel =
      blocks(CellType::Quadrilateral, {6, 4, 0}, [](int x, int y, int) { return x < 4 || y < 3; });
  EXPECT_EQ(lengths(harmonic_fluxes(channel.topology(), open_at(channel, 1, {0, 4}))),
            (std::vector<std::size_t>{5}));
}

TEST(HarmonicFluxes, of_three_tunnels_and_a_void_in_many_tetrahedra) {
  const Mesh mesh = blocks(CellType::Tetrahedron, {33, 20, 14}, [](int x, int y, int z) {
    const bool in_tunnel = x % 8 >= 3 && x % 8 < 5 && x < 24 && y >= 8 && y < 11;
    return !in_tunnel && (x != 29 || y != 9 || z != 6);
  });
  const Topology& t = mesh.topology();
  const auto report = [&](const std::vector<bool>& flux_is_given, Index expected) {
    const auto start = std::chrono::steady_clock::now();
    const DualTree tree(t, flux_is_given);
    const auto middle = std::chrono::steady_clock::now();
    const HarmonicFluxes fluxes = curlew::harmonic_fluxes(t, tree);
    const std::chrono::duration<double> tree_time = middle - start,
                                        time = std::chrono::steady_clock::now() - middle;
    EXPECT_EQ(std::ssize(fluxes), expected);
    std::cout << t.cells().size() << " cells: tree " << tree_time.count() << " s, harmonic fluxes "
              << time.count() << " s, cycles of";
    for (const auto& flux : fluxes) std::cout << ' ' << flux.size();
    std::cout << " faces\n";
  };
  report(closed(t), betti_numbers(t).b1);
  report(open_at(mesh, 0, {0, 33}), 4);
  report(open(t), betti_numbers(t).b2);
}

}  // namespace
}  // namespace curlew
