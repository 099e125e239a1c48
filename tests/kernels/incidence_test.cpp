// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/incidence.hpp"

#include <gtest/gtest.h>

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

TEST(Incidence, rows_of_one_or_two_lengths_store_no_offsets) {
  EXPECT_EQ(table_of({{1, 2}, {3, 4}, {5, 6}}).bytes(), 6 * sizeof(Index));
  EXPECT_EQ(table_of({{1, 2}, {3, 4}, {5}}).bytes(), 5 * sizeof(Index));
  EXPECT_EQ(table_of({{1, 2}, {3}, {5, 6}}).bytes(), (5 + 4) * sizeof(Index));
}

TEST(Incidence, refuses_offsets_that_do_not_fit_the_entries) {
  EXPECT_THROW((IncidenceTable<Cell, Face>({0, 3}, {1, 2})), Error);
}

}  // namespace
}  // namespace curlew
