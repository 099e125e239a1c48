// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>

#include "mesh/box.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/node_diffusion.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/multigrid_hierarchy.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/mpi/parted.hpp"

namespace curlew {
namespace {

using Pressure = DualCochain<Cell>;
using Temperature = PrimalCochain<Node>;

constexpr Index none_whole = 0, usual = 1000, all_whole = std::numeric_limits<Index>::max();

/// A number in (0, 1) that belongs to an entity of the whole mesh, whoever has it.
template <class E>
Real value_of(const Mesh& mesh, Id<E> i) {
  auto bits = static_cast<std::uint64_t>(mesh.domain().halo<E>().global(i)) + 1;
  for (int k = 0; k < 3; ++k) bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u;
  return (static_cast<Real>(bits >> 12) + 1) / 4503599627370498.0;
}

/// Diffusion between cells, in some places through the boundary.
SymmetricMatrix pressure_matrix(const Mesh& mesh) {
  std::vector<Real> coefficient;
  for (const Id<Face> f : mesh.topology().faces()) {
    const bool inside = mesh.topology().cells_of_face()[f].size() == 2;
    const Real value = value_of(mesh, f);
    coefficient.push_back(inside ? 0.5 + value : value < 0.2 ? 1 : 0);
  }
  return CellLaplacian(Executor::serial(), mesh.topology(), coefficient).matrix();
}

/// Diffusion between nodes, some of which are held; which ones of the others a rank need not know.
SymmetricMatrix temperature_matrix(const Mesh& mesh) {
  std::vector<Real> conductivity;
  for (const Id<Cell> c : mesh.topology().cells()) conductivity.push_back(0.5 + value_of(mesh, c));
  SymmetricMatrix matrix = NodeDiffusion(Executor::serial(), mesh, conductivity).matrix();
  const Index owned = mesh.domain().halo<Node>().owned().size();
  hold(matrix, [&](std::size_t n) {
    const Id<Node> node(static_cast<Index>(n));
    return node.value() < owned && value_of(mesh, node) < 0.1;
  });
  return matrix;
}

/// z = B r, with not-a-number in the ghosts of r.
template <class X>
std::vector<Real> applied(const Executor& executor, const Mesh& mesh, const Multigrid<X>& multigrid) {
  using E = typename X::Entity;
  const Halo<E>& halo = mesh.domain().halo<E>();
  std::vector<Real> values(at(halo.all().size()), std::numeric_limits<Real>::quiet_NaN());
  for (const Id<E> i : halo.owned()) values[at(i.value())] = value_of(mesh, i) - 0.5;
  Paired<X> r(executor, mesh.domain().extent<E>(), "r", "1");
  r.copy_from_host(values);
  X z(executor, r.extent(), "z", "1");
  multigrid.apply(r, z);
  return z.to_host();
}

template <class X>
void expect_same(const Parted& mesh, SymmetricMatrix of_whole, SymmetricMatrix of_part, Index whole,
                 const Executor& executor = Executor::serial()) {
  using E = typename X::Entity;
  const Multigrid<X> serial(Executor::serial(), mesh.whole.domain(), std::move(of_whole));
  const Multigrid<X> ours(executor, mesh.domain(), std::move(of_part), whole);
  EXPECT_EQ(ours.levels(), serial.levels());
  EXPECT_EQ(ours.operator_complexity(), serial.operator_complexity());
  const std::vector<Real> expected = applied(Executor::serial(), mesh.whole, serial);
  for (int twice = 0; twice < 2; ++twice) {
    const std::vector<Real> z = applied(executor, mesh.part, ours);
    const Halo<E>& halo = mesh.domain().halo<E>();
    Index differing = 0;
    for (const Id<E> i : halo.owned()) {
      if (std::memcmp(&z[at(i.value())], &expected[at(halo.global(i))], sizeof(Real)) != 0) ++differing;
    }
    EXPECT_EQ(differing, 0) << "of " << halo.owned().size() << ", whole from " << whole;
  }
}

Vector3 direction_of(const Mesh& mesh, Id<Node> n) {
  const Real angle = 7 * value_of(mesh, n);
  return {std::cos(angle), 0.8 * std::sin(angle), 0.6 * std::sin(angle)};
}

/// Vectors at nodes, some of which are held across a direction; z = B r with not-a-number in the ghosts of r.
std::vector<Vector4<float>> applied_to_vectors(const Executor& executor, const Mesh& mesh, Index whole) {
  const Halo<Node>& halo = mesh.domain().halo<Node>();
  std::vector<Tensor3> stiffness(at(halo.owned().size()));
  constexpr float no_number = std::numeric_limits<float>::quiet_NaN();
  std::vector<Vector4<float>> values(at(halo.all().size()), {no_number, no_number, no_number, no_number});
  for (const Id<Node> n : halo.owned()) {
    const Vector3 d = direction_of(mesh, n);
    if (value_of(mesh, n) < 0.4)
      stiffness[at(n.value())] = {Vector3{1, 0, 0} - d.x * d, Vector3{0, 1, 0} - d.y * d,
                                  Vector3{0, 0, 1} - d.z * d};
    values[at(n.value())] = rounded<float>((value_of(mesh, n) - 0.5) * d + Vector3{0.1, 0.2, 0.3});
  }
  const std::vector<Real> one(at(mesh.topology().cells().size()), 1);
  const MultigridInSingle<Vector4<float>> multigrid(
      executor, mesh.domain(), NodeDiffusion(Executor::serial(), mesh, one).matrix(), stiffness, whole);
  Field<Node, Vector4<float>> r(executor, mesh.domain().extent<Node>(), "r", "1"), z = alike(r);
  r.copy_from_host(values);
  multigrid.apply(r, z);
  return z.to_host();
}

void expect_same_vectors(const Parted& mesh, Index whole, const Executor& executor = Executor::serial()) {
  const auto expected = applied_to_vectors(Executor::serial(), mesh.whole, usual);
  const auto z = applied_to_vectors(executor, mesh.part, whole);
  const Halo<Node>& halo = mesh.domain().halo<Node>();
  Index differing = 0;
  for (const Id<Node> n : halo.owned()) {
    const auto& other = expected[at(halo.global(n))];
    if (std::memcmp(&z[at(n.value())], &other, sizeof other) != 0) ++differing;
  }
  EXPECT_EQ(differing, 0) << "of " << halo.owned().size() << ", whole from " << whole;
}

void expect_same_bits(const Parted& mesh) {
  for (const Index whole : {none_whole, usual, all_whole}) {
    expect_same<Pressure>(mesh, pressure_matrix(mesh.whole), pressure_matrix(mesh.part), whole);
    expect_same<Temperature>(mesh, temperature_matrix(mesh.whole), temperature_matrix(mesh.part), whole);
    expect_same_vectors(mesh, whole);
  }
}

/// Numbers of the unknowns of a level of the whole hierarchy by their names.
std::map<GlobalIndex, Index> numbers_by_name(const HaloParts<Unknown>& unknowns) {
  std::map<GlobalIndex, Index> numbers;
  for (Index i = 0; i < unknowns.all; ++i) numbers[name_of(unknowns, i)] = i;
  return numbers;
}

/// How many rows differ in names, order or bits. `row_of`: of each row the one of the whole table;
/// `name_of_*`: names of columns.
template <class Ours, class Whole>
Index differing_rows(const SparseRows& ours, const SparseRows& whole, const std::vector<Index>& row_of,
                     const Ours& name_of_ours, const Whole& name_of_whole) {
  EXPECT_EQ(at(ours.rows()), row_of.size());
  Index differing = 0;
  for (std::size_t i = 0; i < row_of.size(); ++i) {
    const Index first = ours.starts[i], other = whole.starts[at(row_of[i])];
    const Index length = ours.starts[i + 1] - first;
    bool same = length == whole.starts[at(row_of[i]) + 1] - other;
    for (Index k = 0; same && k < length; ++k) {
      same = name_of_ours(ours.columns[at(first + k)]) == name_of_whole(whole.columns[at(other + k)]) &&
             std::memcmp(&ours.values[at(first + k)], &whole.values[at(other + k)], sizeof(Real)) == 0;
    }
    if (!same) ++differing;
  }
  return differing;
}

/// Every row of this rank's hierarchy, all of it divided but the coarsest level, is that of one rank's, entry
/// by entry, and all have as many rows as that. Returns the number of levels.
template <class E>
std::size_t expect_same_hierarchy(const Parted& mesh, SymmetricMatrix of_whole, SymmetricMatrix of_part) {
  const MultigridHierarchy whole =
      make_multigrid_hierarchy<E>(mesh.whole.domain(), std::move(of_whole), none_whole);
  const MultigridHierarchy ours = make_multigrid_hierarchy<E>(mesh.domain(), std::move(of_part), none_whole);
  EXPECT_EQ(ours.levels.size(), whole.levels.size());
  if (ours.levels.size() != whole.levels.size()) return 0;
  const auto numbers_of_own = [&](std::size_t l) {
    const auto numbers = numbers_by_name(whole.levels[l].unknowns);
    const HaloParts<Unknown>& unknowns = ours.levels[l].unknowns;
    std::vector<Index> result;
    for (Index i = 0; i < unknowns.owned; ++i) {
      const auto found = numbers.find(name_of(unknowns, i));
      EXPECT_NE(found, numbers.end());
      result.push_back(found == numbers.end() ? 0 : found->second);
    }
    return result;
  };
  for (std::size_t l = 0; l < ours.levels.size(); ++l) {
    const MultigridHierarchy::Level &mine = ours.levels[l], &all = whole.levels[l];
    const auto name_in = [](const HaloParts<Unknown>& unknowns) {
      return [&](Index i) { return name_of(unknowns, i); };
    };
    EXPECT_EQ(mine.unknowns.total, all.unknowns.all);
    EXPECT_EQ(mine.eigenvalue_bound, all.eigenvalue_bound);
    const std::vector<Index> own = numbers_of_own(l);
    EXPECT_EQ(differing_rows(mine.off_diagonal, all.off_diagonal, own, name_in(mine.unknowns),
                             name_in(all.unknowns)),
              0)
        << "matrix of level " << l;
    if (l < ours.divided) {
      EXPECT_EQ(total_over(mesh.domain().communicator(), mine.unknowns.owned), all.unknowns.all);
    }
    if (l + 1 == ours.levels.size()) break;
    const HaloParts<Unknown>& next = ours.levels[l + 1].unknowns;
    EXPECT_EQ(differing_rows(mine.prolongation, all.prolongation, own, name_in(next),
                             name_in(whole.levels[l + 1].unknowns)),
              0)
        << "prolongation of level " << l;
    EXPECT_EQ(
        differing_rows(
            mine.restriction, all.restriction,
            l + 1 == ours.divided && ours.divided < ours.levels.size() ? ours.places : numbers_of_own(l + 1),
            name_in(mine.unknowns), name_in(all.unknowns)),
        0)
        << "restriction of level " << l;
  }
  return ours.levels.size();
}

class MultigridOnRanks : public testing::TestWithParam<ShelfMesh> {};

TEST_P(MultigridOnRanks, has_the_bits_of_one_rank) {
  expect_same_bits(divided(GetParam().raw));
}

INSTANTIATE_TEST_SUITE_P(Shelf, MultigridOnRanks, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

TEST(MultigridOnRanks, has_the_bits_of_one_rank_with_many_levels) {
  for (const auto& [type, blocks] : {std::pair(CellType::Triangle, std::array<Index, 3>{60, 50, 0}),
                                     std::pair(CellType::Quadrilateral, std::array<Index, 3>{70, 60, 0}),
                                     std::pair(CellType::Tetrahedron, std::array<Index, 3>{12, 11, 10}),
                                     std::pair(CellType::Hexahedron, std::array<Index, 3>{17, 16, 15})}) {
    RawMesh raw = make_box(type, blocks);
    distort(raw, 0.005);
    const Parted mesh = divided(raw);
    expect_same_bits(mesh);
    EXPECT_GE(expect_same_hierarchy<Cell>(mesh, pressure_matrix(mesh.whole), pressure_matrix(mesh.part)), 3u);
    expect_same_hierarchy<Node>(mesh, temperature_matrix(mesh.whole), temperature_matrix(mesh.part));
  }
}

TEST(MultigridOnRanks, has_the_bits_of_one_rank_on_backends) {
  const Parted mesh = divided(make_box(CellType::Tetrahedron, {10, 9, 8}));
  for (const Executor& executor : {Executor::openmp(2), Executor::debug_device()}) {
    for (const Index whole : {none_whole, all_whole})
      expect_same<Pressure>(mesh, pressure_matrix(mesh.whole), pressure_matrix(mesh.part), whole, executor);
  }
}

/// Cells dealt out one by one: every rank is everyone's neighbour.
TEST(MultigridOnRanks, has_the_bits_of_one_rank_on_the_worst_partition) {
  const RawMesh raw = make_box(CellType::Tetrahedron, {8, 7, 7});
  const Index cells = Mesh(raw).topology().cells().size();
  Partition partition{all_ranks()->ranks(), {}};
  std::mt19937 generator(1);
  for (Index c = 0; c < cells; ++c)
    partition.part_of_cell.push_back(
        static_cast<Index>(generator() % static_cast<unsigned>(partition.parts)));
  expect_same_bits(divided(raw, partition));
}

TEST(MultigridOnRanks, has_the_bits_of_one_rank_where_some_have_nothing) {
  const RawMesh raw = make_box(CellType::Hexahedron, {13, 12, 10});
  const Index cells = Mesh(raw).topology().cells().size();
  Partition partition{all_ranks()->ranks(), {}};
  for (Index c = 0; c < cells; ++c)
    partition.part_of_cell.push_back(partition.parts > 2 && c > 1100 ? partition.parts - 2
                                                                     : partition.parts - 1);
  expect_same_bits(divided(raw, partition));
}

/// Where the diagonal rules nothing is left to coarser levels, and there is no inverse.
TEST(MultigridOnRanks, has_the_bits_of_one_rank_where_smoothing_is_all) {
  const Parted mesh = divided(make_box(CellType::Triangle, {40, 30, 0}));
  SymmetricMatrix of_whole = temperature_matrix(mesh.whole), of_part = temperature_matrix(mesh.part);
  for (SymmetricMatrix* matrix : {&of_whole, &of_part}) {
    for (Real& value : matrix->diagonal) value *= 1000;
  }
  EXPECT_EQ(Multigrid<Temperature>(Executor::serial(), mesh.whole.domain(), of_whole).levels(), 1);
  for (const Index whole : {none_whole, usual, all_whole})
    expect_same<Temperature>(mesh, of_whole, of_part, whole);
}

TEST(MultigridOnRanks, divides_levels_and_no_rank_has_much_more_than_its_share) {
  const Parted mesh = divided(make_box(CellType::Hexahedron, {24, 24, 24}));
  const int ranks = all_ranks()->ranks();
  const MultigridHierarchy part =
      make_multigrid_hierarchy<Cell>(mesh.domain(), pressure_matrix(mesh.part), usual);
  if (ranks == 1) {
    EXPECT_EQ(part.divided, part.levels.size());
    return;
  }
  ASSERT_LT(part.divided, part.levels.size());
  for (std::size_t l = 0; l < part.divided; ++l) {
    const HaloParts<Unknown>& unknowns = part.levels[l].unknowns;
    EXPECT_GT(unknowns.total, usual);
    EXPECT_LE(unknowns.owned, 2 * unknowns.total / ranks);
    const SparseRows& rows = part.levels[l].off_diagonal;
    EXPECT_EQ(rows.rows(), unknowns.owned);
    const auto entries = static_cast<Index>(rows.columns.size());
    EXPECT_LE(ranks * entries, 2 * total_over(mesh.domain().communicator(), entries));
  }
  EXPECT_EQ(part.levels[0].unknowns.owned, mesh.domain().halo<Cell>().owned().size());
  EXPECT_LE(part.levels[0].unknowns.all, 3 * part.levels[0].unknowns.owned);
  // Each unknown of the first whole level falls to one rank, and about as many to each.
  const Index next = part.levels[part.divided].off_diagonal.rows();
  EXPECT_LE(next, usual);
  EXPECT_LE(static_cast<Index>(part.places.size()), 2 * next / ranks);
  std::vector<Real> taken(at(next), 0);
  for (const Index i : part.places) taken[at(i)] = 1;
  Real all = 0;
  for (const Real one : taken)
    all += all_ranks()->sum(binned_sum(1, [&](Index) { return one; })).value() == 1 ? 1 : 0;
  EXPECT_EQ(all, next);
}

}  // namespace
}  // namespace curlew
