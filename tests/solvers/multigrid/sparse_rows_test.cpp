// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/sparse_rows.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <random>
#include <utility>
#include <vector>

namespace curlew {
namespace {

using Entry = std::pair<Index, Real>;
using Entries = std::vector<Entry>;

std::vector<Entries> entries_of(const SparseRows& rows) {
  std::vector<Entries> result(at(rows.rows()));
  for (std::size_t i = 0; i < result.size(); ++i) {
    for (Index k = rows.starts[i]; k < rows.starts[i + 1]; ++k)
      result[i].push_back({rows.columns[at(k)], rows.values[at(k)]});
  }
  return result;
}

/// Looks each entry's column up among those that the row has.
Entries gathered(const Entries& given) {
  Entries row;
  for (const auto& [column, value] : given) {
    const auto place = std::ranges::find(row, column, &Entry::first);
    if (place == row.end()) {
      row.push_back({column, value});
    } else {
      place->second += value;
    }
  }
  return row;
}

TEST(SparseRows, rows_are_gathered_in_the_order_of_first_sight) {
  constexpr Index columns = 40;
  constexpr std::size_t rows = 5000;
  std::mt19937 random(1);
  std::vector<Entries> given(rows), expected;
  for (std::size_t i = 0; i < rows; ++i) {
    // What is looked at beforehand lets expect short rows.
    const std::size_t length = i % 61 == 0 ? 1 : random() % 30;
    for (std::size_t k = 0; k < length; ++k)
      given[i].push_back({static_cast<Index>(random() % columns), std::ldexp(Real(random()), -32)});
    expected.push_back(gathered(given[i]));
  }
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    const SparseRows result =
        gather_rows(static_cast<Index>(rows), columns, [&](Index i, RowAccumulator& row) {
          for (const auto& [column, value] : given[at(i)]) row.add(column, value);
        });
    EXPECT_EQ(entries_of(result), expected) << threads << " threads";
  }
}

TEST(SparseRows, a_failure_on_any_thread_reaches_whoever_asked) {
  for (const int threads : {1, 3}) {
    omp_set_num_threads(threads);
    for (const Index bad : {1, 2500, 4999}) {
      EXPECT_THROW(gather_rows(5000, 10,
                               [&](Index i, RowAccumulator& row) {
                                 if (i == bad) throw std::bad_alloc();
                                 row.add(i % 10, 1);
                               }),
                   std::bad_alloc)
          << threads << " threads";
    }
  }
}

TEST(SparseRows, a_sparse_product_is_that_of_dense_matrices) {
  // Integers, whose sums are exact.
  const SparseRows a{{0, 2, 2, 3, 6}, {1, 0, 2, 0, 1, 2}, {2, -1, 3, 1, 1, 1}};
  const SparseRows b{{0, 2, 3, 6}, {3, 1, 1, 0, 1, 3}, {1, 4, -2, 5, 6, 7}};
  const auto rows_of_a = entries_of(a), rows_of_b = entries_of(b);
  Real dense[4][4] = {};
  for (std::size_t i = 0; i < 4; ++i) {
    for (const auto& [k, factor] : rows_of_a[i]) {
      for (const auto& [j, value] : rows_of_b[at(k)]) dense[i][j] += factor * value;
    }
  }
  const SparseRows product = gather_rows(4, 4, [&](Index i, RowAccumulator& row) {
    for (Index k = a.starts[at(i)]; k < a.starts[at(i) + 1]; ++k)
      row.add_row(b, a.columns[at(k)], a.values[at(k)]);
  });
  const auto rows_of_product = entries_of(product);
  Real result[4][4] = {};
  for (std::size_t i = 0; i < 4; ++i) {
    for (const auto& [j, value] : rows_of_product[i]) result[i][j] += value;
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(result[i][j], dense[i][j]) << i << ", " << j;
  }
  EXPECT_EQ(product.columns, (std::vector<Index>{1, 3, 0, 1, 3, 3, 1, 0}));
}

TEST(SparseRows, the_transpose_has_the_first_columns_with_rows_in_the_order_asked_for) {
  constexpr Index columns = 300, wanted = 250;
  constexpr std::size_t rows = 2000;
  std::mt19937 random(2);
  const auto less_than = [&](unsigned bound) { return static_cast<Index>(random() % bound); };
  SparseRows table;
  std::vector<Index> order;
  for (std::size_t i = 0; i < rows; ++i) {
    order.push_back(static_cast<Index>(i));
    for (Index column = less_than(50); column < columns; column += 1 + less_than(60)) {
      table.columns.push_back(column);
      table.values.push_back(static_cast<Real>(random()));
    }
    table.starts.push_back(static_cast<Index>(table.columns.size()));
  }
  std::ranges::shuffle(order, random);
  const auto given = entries_of(table);
  std::vector<Entries> expected(wanted);
  for (const Index i : order) {
    for (const auto& [column, value] : given[at(i)])
      if (column < wanted) expected[at(column)].push_back({i, value});
  }
  EXPECT_EQ(entries_of(transpose(table, wanted, order)), expected);
}

TEST(SparseRows, a_value_alone_keeps_its_bits) {
  const SparseRows rows =
      gather_rows(2, 1, [](Index i, RowAccumulator& row) { row.add(0, i == 0 ? 0.0 : -0.0); });
  EXPECT_FALSE(std::signbit(rows.values[0]));
  EXPECT_TRUE(std::signbit(rows.values[1]));
}

}  // namespace
}  // namespace curlew
