// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "mesh/parallel/communicator.hpp"
#include "solvers/multigrid/aggregation.hpp"
#include "solvers/multigrid/smoothed_aggregation.hpp"

namespace curlew {
namespace {

/// Unknowns coupled at random to some that follow soon and to a few far away, and who owns them. Names are
/// any numbers.
struct Graph {
  std::vector<GlobalIndex> names;  ///< rising
  std::vector<int> owners;
  SymmetricMatrix matrix;
};

enum class Division { blocks, at_random, one_has_all };

/// `both_ways`: else couplings are strong from one end alone, as the two sides of a coarse matrix may differ
/// by rounding.
Graph random_graph(unsigned seed, Division division, bool both_ways) {
  constexpr Index size = 900;
  const int ranks = all_ranks()->ranks();
  std::mt19937 generator(seed);
  Graph graph;
  GlobalIndex name = 0;
  for (Index i = 0; i < size; ++i) {
    name += 1 + static_cast<GlobalIndex>(generator() % 5);
    graph.names.push_back(name);
    graph.owners.push_back(division == Division::blocks      ? i * ranks / size
                           : division == Division::at_random ? static_cast<int>(generator() % at(ranks))
                                                             : ranks - 1);
  }
  std::vector<std::map<Index, Real>> rows(at(size));
  for (Index i = 0; i < size; ++i) {
    for (int k = 0; k < 3; ++k) {
      const Index distance =
          k < 2 ? 1 + static_cast<Index>(generator() % 9) : static_cast<Index>(generator() % at(size));
      const Index j = (i + distance) % size;
      if (i == j || i % 13 == 0 || j % 13 == 0) continue;
      const Real strength = 1 + static_cast<Real>(generator() % 1000) / 100;
      const Real value = both_ways && generator() % 8 == 0 ? strength : -strength;
      rows[at(i)][j] = value;
      rows[at(j)][i] = both_ways ? value : value / 1000;
    }
  }
  for (const auto& row : rows) {
    Real diagonal = 1;
    for (const auto& [j, value] : row) {
      graph.matrix.off_diagonal.columns.push_back(j);
      graph.matrix.off_diagonal.values.push_back(value);
      diagonal += std::abs(value);
    }
    graph.matrix.diagonal.push_back(diagonal);
    graph.matrix.off_diagonal.starts.push_back(static_cast<Index>(graph.matrix.off_diagonal.columns.size()));
  }
  return graph;
}

AggregationLevel whole_level(const Graph& graph) {
  AggregationLevel level{undivided_unknowns(graph.matrix.rows()), graph.matrix, {}, {}};
  level.unknowns.global = graph.names;
  return level;
}

/// What this rank has of it.
AggregationLevel part_of(const Graph& graph) {
  const int rank = all_ranks()->rank();
  AggregationLevel level;
  std::vector<GlobalIndex> names;
  std::vector<Index> own, number(graph.names.size(), -1);
  std::set<RemoteUnknown> ghosts;
  const SparseRows& rows = graph.matrix.off_diagonal;
  for (std::size_t i = 0; i < graph.names.size(); ++i) {
    if (graph.owners[i] != rank) continue;
    number[i] = static_cast<Index>(own.size());
    own.push_back(static_cast<Index>(i));
    names.push_back(graph.names[i]);
    for (Index k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
      const std::size_t j = at(rows.columns[at(k)]);
      if (graph.owners[j] != rank) ghosts.insert({graph.owners[j], graph.names[j]});
    }
  }
  for (const RemoteUnknown& ghost : ghosts) {
    const auto place = std::ranges::lower_bound(graph.names, ghost.name) - graph.names.begin();
    number[at(place)] = static_cast<Index>(own.size()) +
                        static_cast<Index>(std::distance(ghosts.begin(), ghosts.find(ghost)));
  }
  const std::vector<RemoteUnknown> in_order(ghosts.begin(), ghosts.end());
  level.unknowns = divided_unknowns(*all_ranks(), names, 0, graph.matrix.rows(), in_order);
  for (const Index i : own) {
    level.matrix.diagonal.push_back(graph.matrix.diagonal[at(i)]);
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      level.matrix.off_diagonal.columns.push_back(number[at(rows.columns[at(k)])]);
      level.matrix.off_diagonal.values.push_back(rows.values[at(k)]);
    }
    level.matrix.off_diagonal.starts.push_back(static_cast<Index>(level.matrix.off_diagonal.columns.size()));
  }
  find_ghost_diagonal(*all_ranks(), level);
  return level;
}

constexpr Division divisions[] = {Division::blocks, Division::at_random, Division::one_has_all};

/// Names of the groups of a rank's unknowns, ghosts included, by the names of these.
std::map<GlobalIndex, GlobalIndex> groups_of(const Communicator& ranks, const AggregationLevel& level,
                                             GlobalIndex run) {
  const StrongCouplings strong(ranks, level.unknowns, level.matrix, 0.04);
  const Aggregates groups = aggregate(ranks, level.unknowns, strong, run);
  std::map<GlobalIndex, GlobalIndex> result;
  for (Index i = 0; i < level.unknowns.all; ++i) {
    const Index number = groups.number[at(i)];
    result[name_of(level.unknowns, i)] =
        number == Aggregates::none ? -1 : groups.numbers.unknown(number).name;
  }
  return result;
}

TEST(AggregationOnRanks, makes_the_groups_of_one_rank) {
  for (const Division division : divisions) {
    for (const bool both_ways : {true, false}) {
      for (const GlobalIndex run : {1, 10, 100000}) {
        for (unsigned seed = 0; seed < 10; ++seed) {
          const Graph graph = random_graph(seed, division, both_ways);
          const auto expected = groups_of(*one_rank(), whole_level(graph), run);
          const auto ours = groups_of(*all_ranks(), part_of(graph), run);
          Index differing = 0;
          for (const auto& [name, group] : ours) differing += expected.at(name) == group ? 0 : 1;
          EXPECT_EQ(differing, 0) << "of " << ours.size() << ", run " << run << ", seed " << seed
                                  << (both_ways ? ", both ways" : ", one way");
        }
      }
    }
  }
}

/// Also where couplings are strong from one end alone.
TEST(AggregationOnRanks, makes_the_levels_of_one_rank) {
  for (const Division division : divisions) {
    for (const bool both_ways : {true, false}) {
      const Graph graph = random_graph(3, division, both_ways);
      const SmoothedAggregation whole = smoothed_aggregation(*one_rank(), whole_level(graph), 10, 0);
      const SmoothedAggregation ours = smoothed_aggregation(*all_ranks(), part_of(graph), 10, 0);
      SCOPED_TRACE(both_ways ? "both ways" : "one way");
      ASSERT_EQ(ours.levels.size(), whole.levels.size());
      ASSERT_GE(ours.levels.size(), 2u);
      for (std::size_t l = 0; l < ours.levels.size(); ++l) {
        const AggregationLevel &mine = ours.levels[l], &all = whole.levels[l];
        SCOPED_TRACE(l);
        std::map<GlobalIndex, Index> number;
        for (Index i = 0; i < all.unknowns.all; ++i) number[name_of(all.unknowns, i)] = i;
        const auto in_whole = [&](Index i) { return at(number.at(name_of(mine.unknowns, i))); };
        for (Index i = 0; i < mine.unknowns.all; ++i)
          EXPECT_EQ(mine.matrix.diagonal[at(i)], all.matrix.diagonal[in_whole(i)]);
        for (Index i = 0; i < mine.unknowns.owned; ++i) {
          const SparseRows &a = mine.matrix.off_diagonal, &b = all.matrix.off_diagonal;
          const Index first = a.starts[at(i)], other = b.starts[in_whole(i)];
          ASSERT_EQ(a.starts[at(i) + 1] - first, b.starts[in_whole(i) + 1] - other);
          for (Index k = 0; k < a.starts[at(i) + 1] - first; ++k) {
            EXPECT_EQ(in_whole(a.columns[at(first + k)]), at(b.columns[at(other + k)]));
            EXPECT_EQ(a.values[at(first + k)], b.values[at(other + k)]);
          }
        }
      }
    }
  }
}

TEST(Letters, arrive_where_they_are_sent_and_nowhere_else) {
  const auto ranks = all_ranks();
  const int mine = ranks->rank();
  // From each rank to those after it, of a length that tells the two; nothing to every third.
  const auto length = [](int from, int to) {
    return from < to && (from + to) % 3 != 0 ? 1000 * from + to : 0;
  };
  std::vector<Communicator::Letter> letters;
  for (int to = mine + 1; to < ranks->ranks(); ++to)
    letters.push_back({to, std::vector<std::byte>(at(length(mine, to)), std::byte(mine + 1))});
  const std::vector<Communicator::Letter> received = ranks->deliver(letters);
  std::size_t next = 0;
  for (int from = 0; from < ranks->ranks(); ++from) {
    if (length(from, mine) == 0) continue;
    ASSERT_LT(next, received.size());
    EXPECT_EQ(received[next].rank, from);
    EXPECT_EQ(received[next].bytes, std::vector<std::byte>(at(length(from, mine)), std::byte(from + 1)));
    ++next;
  }
  EXPECT_EQ(next, received.size());
}

}  // namespace
}  // namespace curlew
