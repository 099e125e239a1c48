// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/aggregation.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>
#include <tuple>

#include "mesh/box.hpp"
#include "mesh/entities.hpp"
#include "mesh/mesh.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/node_diffusion.hpp"

namespace curlew {
namespace {

constexpr Real threshold = 0.04;
constexpr GlobalIndex run = 8;

/// Diffusion on a box with coefficients that vary, some couplings weak, some unknowns held.
std::vector<SymmetricMatrix> matrices() {
  std::vector<SymmetricMatrix> result;
  std::mt19937 generator(1);
  for (const CellType type :
       {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron, CellType::Hexahedron}) {
    const bool flat = type == CellType::Triangle || type == CellType::Quadrilateral;
    const Mesh mesh(make_box(type, flat ? std::array<Index, 3>{25, 20, 0} : std::array<Index, 3>{8, 7, 6}));
    std::vector<Real> coefficient;
    for (Index f = 0; f < mesh.topology().faces().size(); ++f)
      coefficient.push_back(generator() % 5 == 0 ? 1e-3 : 1 + static_cast<Real>(generator() % 100));
    result.push_back(CellLaplacian(Executor::serial(), mesh.topology(), coefficient).matrix());
    const std::vector<Real> conductivity(at(mesh.topology().cells().size()), 1);
    result.push_back(NodeDiffusion(Executor::serial(), mesh, conductivity).matrix());
    hold(result.back(), [](std::size_t i) { return i % 11 == 0; });
    const Mesh flat_cells(make_box(type,
                                   flat ? std::array<Index, 3>{25, 20, 0} : std::array<Index, 3>{8, 7, 6},
                                   flat ? Vector3{1, 0.1, 1} : Vector3{1, 1, 0.1}));
    result.push_back(NodeDiffusion(Executor::serial(), flat_cells, conductivity).matrix());
  }
  return result;
}

Eigen::MatrixXd dense(const SymmetricMatrix& matrix) {
  Eigen::MatrixXd result = Eigen::MatrixXd::Zero(matrix.rows(), matrix.rows());
  for (Index i = 0; i < matrix.rows(); ++i) {
    result(i, i) = matrix.diagonal[at(i)];
    for (Index k = matrix.off_diagonal.starts[at(i)]; k < matrix.off_diagonal.starts[at(i) + 1]; ++k)
      result(i, matrix.off_diagonal.columns[at(k)]) += matrix.off_diagonal.values[at(k)];
  }
  return result;
}

/// Strongly coupled neighbours of each unknown, found anew: positive a_ik are shared out by the negative
/// entries of row k to those of row i.
std::vector<std::set<Index>> neighbours(const SymmetricMatrix& matrix) {
  const Eigen::MatrixXd a = dense(matrix);
  const Eigen::MatrixXd held = a.cwiseMin(0);
  Eigen::MatrixXd left = a;
  for (Index i = 0; i < a.rows(); ++i) {
    const Eigen::RowVectorXd takes = (a.row(i).array() < 0).cast<Real>();
    for (Index k = 0; k < a.rows(); ++k) {
      if (k == i || a(i, k) <= threshold / 4 * a(i, i)) continue;
      const Eigen::RowVectorXd share = held.row(k).cwiseProduct(takes);
      if (share.sum() < 0) left.row(i) += a(i, k) / share.sum() * share;
    }
  }
  std::vector<std::set<Index>> result(at(matrix.rows()));
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index j = 0; j < a.rows(); ++j) {
      const bool is_strong = -left(i, j) > threshold * std::sqrt(a(i, i) * a(j, j));
      if (a(i, j) < 0 && is_strong && left(i, j) < a(i, j) / 2) result[at(i)].insert(j);
    }
  }
  return result;
}

/// Whether smoothing alone serves an unknown that has no neighbours.
bool is_ruled_by_diagonal(const SymmetricMatrix& matrix, Index i) {
  Real coupled = 0;
  for (Index k = matrix.off_diagonal.starts[at(i)]; k < matrix.off_diagonal.starts[at(i) + 1]; ++k)
    coupled += std::abs(matrix.off_diagonal.values[at(k)]);
  return coupled <= 0.9 * matrix.diagonal[at(i)];
}

struct Grouped {
  std::vector<Index> group;  ///< of each unknown
  std::vector<Index> root;   ///< of each group
};

Grouped grouped(const SymmetricMatrix& matrix) {
  const HaloParts<Unknown> unknowns = undivided_unknowns(matrix.rows());
  const StrongCouplings strong(*one_rank(), unknowns, matrix, threshold);
  const Aggregates groups = aggregate(*one_rank(), unknowns, strong, run);
  Grouped result{groups.number, {}};
  for (Index g = 0; g < groups.numbers.size(); ++g)
    result.root.push_back(static_cast<Index>(groups.numbers.unknown(g).name));
  return result;
}

/// Those from which an unknown is at most two couplings away.
std::set<Index> within_two(const std::vector<std::set<Index>>& near, Index i) {
  std::set<Index> result{i};
  for (const Index j : near[at(i)]) {
    result.insert(j);
    result.insert(near[at(j)].begin(), near[at(j)].end());
  }
  return result;
}

TEST(Aggregation, groups_hold_all_that_is_strongly_coupled_and_nothing_else) {
  for (const SymmetricMatrix& matrix : matrices()) {
    const auto near = neighbours(matrix);
    const auto [group, root] = grouped(matrix);
    ASSERT_EQ(group.size(), near.size());
    ASSERT_GT(root.size(), 10u);
    EXPECT_TRUE(std::ranges::is_sorted(root));
    for (std::size_t i = 0; i < near.size(); ++i) {
      EXPECT_EQ(group[i] == Aggregates::none,
                near[i].empty() && is_ruled_by_diagonal(matrix, static_cast<Index>(i)));
      if (group[i] == Aggregates::none) continue;
      EXPECT_TRUE(within_two(near, static_cast<Index>(i)).contains(root[at(group[i])]));
    }
    for (std::size_t g = 0; g < root.size(); ++g) EXPECT_EQ(group[at(root[g])], static_cast<Index>(g));
    const std::set<Index> is_root(root.begin(), root.end());
    for (std::size_t i = 0; i < near.size(); ++i) {
      if (std::ranges::none_of(near[i], [&](Index j) { return is_root.contains(j); })) continue;
      EXPECT_TRUE(near[i].contains(root[at(group[i])]) || is_root.contains(static_cast<Index>(i)));
    }
  }
}

/// Each is one that greedy choice in the order of turns comes to.
TEST(Aggregation, roots_are_the_first_independent_set_of_distance_two) {
  for (const SymmetricMatrix& matrix : matrices()) {
    const auto near = neighbours(matrix);
    const std::vector<Index> root = grouped(matrix).root;
    const std::set<Index> is_root(root.begin(), root.end());
    std::vector<Index> order(near.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [](Index i) { return std::pair(shuffled(i / run), i); });
    std::set<Index> chosen;
    for (const Index i : order) {
      const std::set<Index> around = within_two(near, i);
      const bool taken = std::ranges::any_of(around, [&](Index j) { return chosen.contains(j); });
      const bool alone = near[at(i)].empty() && is_ruled_by_diagonal(matrix, i);
      if (!taken && !alone) chosen.insert(i);
    }
    EXPECT_EQ(is_root, chosen);
  }
}

TEST(Aggregation, what_is_left_joins_its_strongest_neighbour) {
  for (const SymmetricMatrix& matrix : matrices()) {
    const auto near = neighbours(matrix);
    const auto [group, root] = grouped(matrix);
    const std::set<Index> is_root(root.begin(), root.end());
    const auto touches_root = [&](Index i) {
      return is_root.contains(i) ||
             std::ranges::any_of(near[at(i)], [&](Index j) { return is_root.contains(j); });
    };
    Index joined = 0;
    for (Index i = 0; i < matrix.rows(); ++i) {
      if (near[at(i)].empty() || touches_root(i)) continue;
      ++joined;
      Real strongest = 0;
      std::set<Index> of_strongest;
      for (Index k = matrix.off_diagonal.starts[at(i)]; k < matrix.off_diagonal.starts[at(i) + 1]; ++k) {
        const Index j = matrix.off_diagonal.columns[at(k)];
        const Real coupling = -matrix.off_diagonal.values[at(k)];
        if (!near[at(i)].contains(j) || !touches_root(j) || coupling < strongest) continue;
        if (coupling > strongest) of_strongest.clear();
        strongest = coupling;
        of_strongest.insert(group[at(j)]);
      }
      EXPECT_TRUE(of_strongest.contains(group[at(i)]));
    }
    EXPECT_GT(joined, 5);
  }
}

TEST(DividedUnknowns, shuffled_numbers_are_all_different_and_have_no_order) {
  std::set<std::uint64_t> seen;
  Index rising = 0;
  constexpr Index count = 10000;
  for (Index i = 0; i < count; ++i) {
    seen.insert(shuffled(i));
    if (shuffled(i) < shuffled(i + 1)) ++rising;
  }
  EXPECT_EQ(seen.size(), at(count));
  EXPECT_NEAR(rising, count / 2, 200);
}

}  // namespace
}  // namespace curlew
