// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "kernels/region_failure.hpp"
#include "operators/symmetric_matrix.hpp"

namespace curlew {

/// Gathers rows one after the other, entry by entry; a column seen again in a row is added to. Columns of a
/// row stay in the order of first sight.
class RowAccumulator {
 public:
  explicit RowAccumulator(Index columns) : place_(at(columns), -1) {}

  void add(Index column, Real value) { add(&column, &value, 1, 1); }
  /// Adds a multiple of row i.
  void add_row(const SparseRows& rows, Index i, Real factor) {
    const Index first = rows.starts[at(i)], last = rows.starts[at(i) + 1];
    add(rows.columns.data() + first, rows.values.data() + first, last - first, factor);
  }
  void finish_row() {
    row_ = end_;
    ends_.push_back(end_);
  }
  Index entries() const { return end_; }
  /// Appends the rows to `rows` and forgets them.
  void move_to(SparseRows& rows) {
    const auto shift = static_cast<Index>(rows.columns.size());
    rows.columns.insert(rows.columns.end(), columns_.begin(), columns_.begin() + end_);
    rows.values.insert(rows.values.end(), values_.begin(), values_.begin() + end_);
    for (const Index end : ends_) rows.starts.push_back(end + shift);
    for (Index k = 0; k < end_; ++k) place_[at(columns_[at(k)])] = -1;
    std::fill(values_.begin(), values_.begin() + end_, nothing);
    ends_.clear();
    row_ = end_ = 0;
  }

 private:
  static constexpr Real nothing = -0.0;  // a number added to it stays what it is, 0 and -0 too

  // Which columns are new follows no pattern: a branch would be guessed wrong too often, hence the bit masks.
  void add(const Index* column, const Real* value, Index count, Real factor) {
    const std::size_t needed = at(end_) + at(count);
    if (needed > columns_.size()) {
      columns_.resize(2 * needed);
      values_.resize(2 * needed, nothing);
    }
    Index *const places = place_.data(), *const columns = columns_.data();
    Real* const values = values_.data();
    const Index row = row_;
    Index end = end_;
    for (Index k = 0; k < count; ++k) {
      const Index known = places[column[k]], is_new = known < row ? 1 : 0;
      const Index place = known ^ ((known ^ end) & -is_new);
      places[column[k]] = place;
      columns[place] = column[k];
      values[place] += factor * value[k];
      end += is_new;
    }
    end_ = end;
  }

  std::vector<Index> place_;  // where a column was met last; -1: nowhere
  Index row_ = 0, end_ = 0;   // of the row that is gathered
  // Of all rows; values after the last entry are nothing.
  std::vector<Index> columns_, ends_;
  std::vector<Real> values_;
};

/// `rows` rows, row i gathered by `work(i, accumulator)`, which may be called twice; blocks of them side by
/// side on all cores.
template <class Work>
SparseRows gather_rows(Index rows, Index columns, const Work& work) {
  constexpr Index block = 1024;
  const Index blocks = (rows + block - 1) / block;
  SparseRows result;
  result.starts.reserve(at(rows) + 1);
  if (blocks > 1) {
    // Room for what some rows let expect and a little more, so that few arrays grow by copying.
    constexpr Index stride = 61;
    RowAccumulator some(columns);
    for (Index i = 0; i < rows; i += stride) {
      work(i, some);
      some.finish_row();
    }
    const std::size_t expected = at(stride) * at(some.entries());
    result.columns.reserve(expected + expected / 16);
    result.values.reserve(expected + expected / 16);
  }
  RegionFailure failure;  // memory may run short
#pragma omp parallel if (blocks > 1)
  {
    std::optional<RowAccumulator> accumulator;
    failure.unless_failed([&] { accumulator.emplace(columns); });
#pragma omp for ordered schedule(dynamic)
    for (Index b = 0; b < blocks; ++b) {
      failure.unless_failed([&] {
        for (Index i = b * block; i < std::min(rows, (b + 1) * block); ++i) {
          work(i, *accumulator);
          accumulator->finish_row();
        }
      });
#pragma omp ordered
      failure.unless_failed([&] { accumulator->move_to(result); });
    }
  }
  failure.rethrow();
  return result;
}

/// Leaves the first rows alone.
void keep_rows(Index count, SparseRows& rows);

/// Gives columns other numbers.
void renumber(SparseRows& rows, const std::vector<Index>& number);

SparseRows rows_in_order(const SparseRows& rows, const std::vector<Index>& order);

/// Of a table the transpose of its first columns, whose rows take the table's in this order.
SparseRows transpose(const SparseRows& a, Index columns, const std::vector<Index>& order);

/// A matrix of rows that have the diagonal among the other entries.
SymmetricMatrix split(SparseRows rows);

}  // namespace curlew
