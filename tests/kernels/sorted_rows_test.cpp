// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/sorted_rows.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace curlew {
namespace {

struct Cell;
struct Face;

/// Rows of up to 11 entries, whose lengths follow no pattern, with signs.
std::vector<std::vector<Index>> random_rows(Index count) {
  std::mt19937 generator(7);
  std::uniform_int_distribution<Index> length(0, 11), entry(-999, 999);
  std::vector<std::vector<Index>> rows(static_cast<std::size_t>(count));
  for (auto& row : rows) {
    row.resize(static_cast<std::size_t>(length(generator)));
    for (Index& face : row) face = entry(generator);
  }
  return rows;
}

IncidenceTable<Cell, Face> table_of(const std::vector<std::vector<Index>>& rows) {
  std::vector<Index> starts{0}, entries;
  for (const auto& row : rows) {
    for (const Index face : row) entries.push_back(incidence_entry::make(std::abs(face), face < 0));
    starts.push_back(static_cast<Index>(entries.size()));
  }
  return IncidenceTable<Cell, Face>(starts, entries);
}

/// The rows of a slice in the order of a kernel's visit.
struct VisitedRow {
  Index id;
  std::vector<Index> entries;
};
struct Record {
  std::vector<VisitedRow>& visited;
  template <class Row>
  void operator()(Id<Cell> c, const Row& row) const {
    visited.push_back({c.value(), {}});
    for (const auto [face, sign] : row)
      visited.back().entries.push_back(sign < 0 ? -face.value() : face.value());
    EXPECT_EQ(row.size(), static_cast<Index>(visited.back().entries.size()));
  }
};

TEST(SortedRows, hold_each_row_of_their_range_once_with_its_entries) {
  const auto rows = random_rows(10'000);
  const auto table = table_of(rows);
  for (const auto& range : {Range<Cell>(0, 10'000), Range<Cell>(37, 9'000), Range<Cell>(5, 6)}) {
    const SortedRows<Cell, Face> sorted(table, range);
    EXPECT_EQ(sorted.range(), range);
    std::vector<int> seen(rows.size(), 0);
    for (const Id<RowSlice> s : sorted.slices()) {
      std::vector<VisitedRow> visited;
      sorted.view(MemorySpace::Host).visit(s, Record{visited});
      for (const VisitedRow& row : visited) {
        ASSERT_TRUE(range.contains(Id<Cell>(row.id)));
        ++seen[static_cast<std::size_t>(row.id)];
        EXPECT_EQ(row.entries, rows[static_cast<std::size_t>(row.id)]);
      }
    }
    for (Index c = 0; c < 10'000; ++c)
      EXPECT_EQ(seen[static_cast<std::size_t>(c)], range.contains(Id<Cell>(c)));
  }
}

/// Each block of 4,096 rows is gone through once for each of the twelve lengths, in the order of the table.
TEST(SortedRows, follow_each_other_by_length_within_blocks) {
  const auto rows = random_rows(10'000);
  const SortedRows<Cell, Face> sorted(table_of(rows), Range<Cell>(0, 10'000));
  std::vector<Index> order;
  for (const Id<RowSlice> s : sorted.slices()) {
    std::vector<VisitedRow> visited;
    sorted.view(MemorySpace::Host).visit(s, Record{visited});
    ASSERT_FALSE(visited.empty());
    EXPECT_LE(visited.size(), 256u);
    for (const VisitedRow& row : visited) {
      EXPECT_EQ(row.entries.size(), visited.front().entries.size());
      order.push_back(row.id);
    }
  }
  std::vector<Index> expected;
  for (Index first = 0; first < 10'000; first += 4096) {
    for (std::size_t length = 0; length <= 11; ++length) {
      for (Index c = first; c < std::min(first + 4096, Index{10'000}); ++c) {
        if (rows[static_cast<std::size_t>(c)].size() == length) expected.push_back(c);
      }
    }
  }
  EXPECT_EQ(order, expected);
  EXPECT_LE(sorted.slices().size(), 3 * 12 + 10'000 / 256 + 1);
}

TEST(SortedRows, may_be_none) {
  EXPECT_TRUE((SortedRows<Cell, Face>(table_of({{1}, {2, 3}}), Range<Cell>(1, 1)).slices().empty()));
}

}  // namespace
}  // namespace curlew
