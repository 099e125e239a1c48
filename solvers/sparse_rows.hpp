// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "operators/symmetric_matrix.hpp"

namespace curlew {

/// Gathers the entries of one row; a column seen again is added to. Columns stay in the order of first sight.
class RowAccumulator {
 public:
  explicit RowAccumulator(Index columns) : place_(at(columns), -1) {}

  void add(Index column, Real value) {
    Index& place = place_[at(column)];
    if (place < 0) {
      place = static_cast<Index>(columns_.size());
      columns_.push_back(column);
      values_.push_back(value);
    } else {
      values_[at(place)] += value;
    }
  }
  /// Appends the row to `rows` and forgets it.
  void finish(SparseRows& rows) {
    rows.columns.insert(rows.columns.end(), columns_.begin(), columns_.end());
    rows.values.insert(rows.values.end(), values_.begin(), values_.end());
    rows.starts.push_back(static_cast<Index>(rows.columns.size()));
    for (const Index column : columns_) place_[at(column)] = -1;
    columns_.clear();
    values_.clear();
  }

 private:
  std::vector<Index> place_;  // of a column in the row, or -1
  std::vector<Index> columns_;
  std::vector<Real> values_;
};

/// `rows` rows, row i gathered by `work(i, accumulator)`; blocks of them side by side on all cores.
template <class Work>
SparseRows gather_rows(Index rows, Index columns, const Work& work) {
  constexpr Index block = 1024;
  const Index blocks = (rows + block - 1) / block;
  std::vector<SparseRows> part(at(blocks));
#pragma omp parallel if (blocks > 1)
  {
    RowAccumulator accumulator(columns);
#pragma omp for schedule(dynamic)
    for (Index b = 0; b < blocks; ++b) {
      for (Index i = b * block; i < std::min(rows, (b + 1) * block); ++i) {
        work(i, accumulator);
        accumulator.finish(part[at(b)]);
      }
    }
  }
  std::vector<std::size_t> first(at(blocks) + 1, 0);
  for (std::size_t b = 0; b < part.size(); ++b) first[b + 1] = first[b] + part[b].columns.size();
  SparseRows result;
  result.starts.resize(at(rows) + 1, 0);
  result.columns.resize(first.back());
  result.values.resize(first.back());
#pragma omp parallel for schedule(static) if (blocks > 1)
  for (Index b = 0; b < blocks; ++b) {
    SparseRows& own = part[at(b)];
    const auto shift = static_cast<std::ptrdiff_t>(first[at(b)]);
    std::copy(own.columns.begin(), own.columns.end(), result.columns.begin() + shift);
    std::copy(own.values.begin(), own.values.end(), result.values.begin() + shift);
    for (Index k = 0; k < own.rows(); ++k) {
      result.starts[at(b * block + k) + 1] = own.starts[at(k) + 1] + static_cast<Index>(shift);
    }
    own = {};
  }
  return result;
}

/// Adds a multiple of row i.
inline void add_row(const SparseRows& rows, Index i, Real factor, RowAccumulator& row) {
  for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k)
    row.add(rows.columns[at(k)], factor * rows.values[at(k)]);
}

/// Leaves the first rows alone.
void keep_rows(Index count, SparseRows& rows);

/// Gives columns other numbers.
void renumber(SparseRows& rows, const std::vector<Index>& number);

SparseRows rows_in_order(const SparseRows& rows, const std::vector<Index>& order);

/// Of a table the transpose of its first columns, whose rows take the table's in this order.
SparseRows transpose(const SparseRows& a, Index columns, const std::vector<Index>& order);

}  // namespace curlew
