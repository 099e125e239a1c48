// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <Eigen/Sparse>
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "kernels/incidence.hpp"

namespace curlew {

using IntegerMatrix = Eigen::SparseMatrix<int>;

/// An incidence table as a matrix; entries of one entity held twice add up.
template <class From, class To>
IntegerMatrix matrix_of(const IncidenceTable<From, To>& table, Index columns) {
  std::vector<Eigen::Triplet<int>> entries;
  for (const Id<From> i : Range<From>(0, table.rows())) {
    for (const auto [to, sign] : table[i]) entries.emplace_back(i.value(), to.value(), sign < 0 ? -1 : 1);
  }
  IntegerMatrix matrix(table.rows(), columns);
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

inline int largest_entry(const IntegerMatrix& matrix) {
  int largest = 0;
  for (int k = 0; k < matrix.outerSize(); ++k) {
    for (IntegerMatrix::InnerIterator it(matrix, k); it; ++it)
      largest = std::max(largest, std::abs(it.value()));
  }
  return largest;
}

}  // namespace curlew
