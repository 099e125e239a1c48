// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/incidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

namespace curlew {
namespace {

struct Cell;
struct Face;

std::vector<std::vector<Index>> rows_of(const IncidenceTable<Cell, Face>& table) {
  std::vector<std::vector<Index>> rows;
  for (const Id<Cell> c : Range<Cell>(0, table.rows())) {
    std::vector<Index> row;
    for (const auto [face, sign] : table[c]) row.push_back(sign < 0 ? -face.value() : face.value());
    rows.push_back(row);
  }
  return rows;
}

IncidenceTable<Cell, Face> table_of(const std::vector<std::vector<Index>>& rows) {
  std::vector<Index> starts{0}, entries;
  for (const auto& row : rows) {
    for (const Index signed_face : row) {
      entries.push_back(incidence_entry::make(std::abs(signed_face), signed_face < 0));
    }
    starts.push_back(static_cast<Index>(entries.size()));
  }
  return IncidenceTable<Cell, Face>(starts, entries);
}

class IncidenceRows : public testing::TestWithParam<std::vector<std::vector<Index>>> {};

TEST_P(IncidenceRows, come_back_with_their_signs_whatever_the_layout) {
  EXPECT_EQ(rows_of(table_of(GetParam())), GetParam());
}

TEST_P(IncidenceRows, transposed_twice_are_the_same_up_to_order) {
  const auto table = table_of(GetParam());
  const auto back = transpose(transpose(table, 20), table.rows());
  auto expected = GetParam();
  for (auto& row : expected) {
    std::sort(row.begin(), row.end(), [](Index a, Index b) { return std::abs(a) < std::abs(b); });
  }
  EXPECT_EQ(rows_of(back), expected);
}

TEST_P(IncidenceRows, are_visited_once_in_any_range) {
  const auto table = table_of(GetParam());
  for (Index first = 0; first <= table.rows(); ++first) {
    for (Index last = first; last <= table.rows(); ++last) {
      std::vector<std::vector<Index>> visited;
      Index next = first;
      table.visit_parts(MemorySpace::Host, Range<Cell>(first, last), [&](Range<Cell> range, auto rows) {
        EXPECT_EQ(range.first(), next);
        next = range.last();
        for (const Id<Cell> c : range) {
          visited.emplace_back();
          for (const auto [face, sign] : rows[c])
            visited.back().push_back(sign < 0 ? -face.value() : face.value());
        }
      });
      EXPECT_EQ(next, last);
      EXPECT_EQ(visited, std::vector(GetParam().begin() + first, GetParam().begin() + last));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, IncidenceRows,
                         testing::Values(std::vector<std::vector<Index>>{},
                                         std::vector<std::vector<Index>>{{}},
                                         std::vector<std::vector<Index>>{{1, -2, 3}},
                                         std::vector<std::vector<Index>>{{1, -2}, {3, 4}, {-5, 6}},
                                         std::vector<std::vector<Index>>{{1, -2}, {3, 4}, {5}, {-6}},
                                         std::vector<std::vector<Index>>{{7}, {1, -2}, {3, 4}},
                                         std::vector<std::vector<Index>>{{1, -2}, {}, {3, 4, 9}, {1}},
                                         std::vector<std::vector<Index>>{{1}, {}, {}}));

/// As a rank's part of a mesh has them: inside, on patches, ghosts.
TEST(Incidence, long_runs_of_rows_of_one_length_are_visited_apart) {
  std::vector<std::vector<Index>> rows(2000, {1, 2, 3});
  rows.insert(rows.end(), 1500, {4, -5});
  for (Index k = 0; k < 700; ++k) rows.emplace_back(k % 3, k);
  rows.insert(rows.end(), 1100, {6});
  const auto table = table_of(rows);
  std::vector<Range<Cell>> uniform, mixed;
  table.visit_parts(MemorySpace::Host, [&]<class Rows>(Range<Cell> range, Rows view) {
    (std::is_same_v<Rows, Incidence<Cell, Face>> ? mixed : uniform).push_back(range);
    for (const Id<Cell> c : range) {
      std::vector<Index> row;
      for (const auto [face, sign] : view[c]) row.push_back(sign < 0 ? -face.value() : face.value());
      EXPECT_EQ(row, rows[static_cast<std::size_t>(c.value())]);
      EXPECT_EQ(view.start(c), table.view(MemorySpace::Host).start(c));
    }
  });
  const auto bounds = [](const std::vector<Range<Cell>>& ranges) {
    std::vector<std::pair<Index, Index>> pairs;
    for (const Range<Cell> range : ranges) pairs.emplace_back(range.first(), range.last());
    return pairs;
  };
  EXPECT_EQ(bounds(uniform), (std::vector<std::pair<Index, Index>>{{0, 2000}, {2000, 3500}, {4200, 5300}}));
  EXPECT_EQ(bounds(mixed), (std::vector<std::pair<Index, Index>>{{3500, 4200}}));
}

/// As the edges of a mesh that is numbered along a curve have them.
TEST(Incidence, runs_that_hold_little_of_all_rows_are_visited_together) {
  std::vector<std::vector<Index>> rows;
  for (Index run = 0; run < 100; ++run)
    rows.insert(rows.end(), 2000, run % 2 == 0 ? std::vector<Index>{1, 2, 3} : std::vector<Index>{4, -5});
  rows.insert(rows.end(), 20000, {6});
  std::vector<Index> ends;
  table_of(rows).visit_parts(MemorySpace::Host,
                             [&](Range<Cell> range, const auto&) { ends.push_back(range.last()); });
  EXPECT_EQ(ends, (std::vector<Index>{200000, 220000}));
}

TEST(Incidence, rows_of_one_or_two_lengths_store_no_offsets) {
  EXPECT_EQ(table_of({{1, 2}, {3, 4}, {5, 6}}).bytes(), 6 * sizeof(Index));
  EXPECT_EQ(table_of({{1, 2}, {3, 4}, {5}}).bytes(), 5 * sizeof(Index));
  EXPECT_EQ(table_of({{1, 2}, {3}, {5, 6}}).bytes(), (5 + 4) * sizeof(Index));
}

TEST(Incidence, refuses_offsets_that_do_not_fit_the_entries) {
  EXPECT_THROW((IncidenceTable<Cell, Face>({0, 3}, {1, 2})), Error);
}

TEST(Incidence, offsets_end_where_an_index_does) {
  constexpr Index most = std::numeric_limits<Index>::max();
  EXPECT_EQ(offsets_of({}), (std::vector<Index>{0}));
  EXPECT_EQ(offsets_of({2, 0, 3}), (std::vector<Index>{0, 2, 2, 5}));
  EXPECT_EQ(offsets_of({most - 1, 1}), (std::vector<Index>{0, most - 1, most}));
  EXPECT_THROW(offsets_of({most, 1}), InputError);
  EXPECT_THROW(offsets_of({most, most, most}), InputError);
  EXPECT_EQ(offset_in_table(most), most);
  EXPECT_THROW(offset_in_table(std::int64_t{most} + 1), InputError);
}

}  // namespace
}  // namespace curlew
