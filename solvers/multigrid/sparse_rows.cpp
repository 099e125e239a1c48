// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/sparse_rows.hpp"

#include <utility>

#include "kernels/parallel.hpp"

namespace curlew {

void keep_rows(Index count, SparseRows& rows) {
  rows.starts.resize(at(count) + 1);
  rows.columns.resize(at(rows.starts.back()));
  rows.values.resize(rows.columns.size());
}

void renumber(SparseRows& rows, const std::vector<Index>& number) {
  parallel_for(rows.columns.size(), [&](std::size_t k) { rows.columns[k] = number[at(rows.columns[k])]; });
}

SparseRows rows_in_order(const SparseRows& rows, const std::vector<Index>& order) {
  SparseRows result;
  result.columns.reserve(rows.columns.size());
  result.values.reserve(rows.values.size());
  for (const Index i : order) {
    const auto first = rows.starts[at(i)], last = rows.starts[at(i) + 1];
    result.columns.insert(result.columns.end(), rows.columns.begin() + first, rows.columns.begin() + last);
    result.values.insert(result.values.end(), rows.values.begin() + first, rows.values.begin() + last);
    result.starts.push_back(static_cast<Index>(result.columns.size()));
  }
  return result;
}

SparseRows transpose(const SparseRows& a, Index columns, const std::vector<Index>& order) {
  SparseRows result;
  result.starts.assign(at(columns) + 1, 0);
  for (const Index c : a.columns) {
    if (c < columns) ++result.starts[at(c) + 1];
  }
  for (std::size_t c = 0; c < at(columns); ++c) result.starts[c + 1] += result.starts[c];
  result.columns.resize(at(result.starts.back()));
  result.values.resize(result.columns.size());
  std::vector<Index> next(result.starts.begin(), result.starts.end() - 1);
  for (const Index i : order) {
    for (Index k = a.starts[at(i)]; k < a.starts[at(i) + 1]; ++k) {
      if (a.columns[at(k)] >= columns) continue;
      const Index place = next[at(a.columns[at(k)])]++;
      result.columns[at(place)] = i;
      result.values[at(place)] = a.values[at(k)];
    }
  }
  return result;
}

SymmetricMatrix split(SparseRows rows) {
  SymmetricMatrix result;
  Index kept = 0, last = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    Real diagonal = 0;
    for (Index k = std::exchange(last, rows.starts[at(i) + 1]); k < last; ++k) {
      if (rows.columns[at(k)] == i) {
        diagonal = rows.values[at(k)];
      } else {
        rows.columns[at(kept)] = rows.columns[at(k)];
        rows.values[at(kept++)] = rows.values[at(k)];
      }
    }
    result.diagonal.push_back(diagonal);
    rows.starts[at(i) + 1] = kept;
  }
  keep_rows(rows.rows(), rows);
  result.off_diagonal = std::move(rows);
  return result;
}

}  // namespace curlew
