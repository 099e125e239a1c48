// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "kernels/platform.hpp"

namespace curlew {

/// A sparse matrix on the host, row by row: row i holds entries starts[i] to starts[i + 1] - 1.
struct SparseRows {
  std::vector<Index> starts{0};
  std::vector<Index> columns;
  std::vector<Real> values;

  Index rows() const { return static_cast<Index>(starts.size()) - 1; }
};

/// A symmetric operator spelled out, for the set-up of preconditioners; operators themselves are applied
/// without it. An entry off the diagonal may name its own row, with the value 0, to give all rows one length.
/// A diagonal that is not positive stands for an unknown that is held.
struct SymmetricMatrix {
  SparseRows off_diagonal;
  std::vector<Real> diagonal;

  Index rows() const { return off_diagonal.rows(); }
};

/// Holds the unknowns for which `is_held(number)`: nothing is left of their rows and columns.
template <class IsHeld>
void hold(SymmetricMatrix& matrix, const IsHeld& is_held) {
  for (std::size_t i = 0; i < matrix.diagonal.size(); ++i) {
    if (is_held(i)) matrix.diagonal[i] = 0;
    for (Index k = matrix.off_diagonal.starts[i]; k < matrix.off_diagonal.starts[i + 1]; ++k) {
      if (is_held(i) || is_held(at(matrix.off_diagonal.columns[at(k)])))
        matrix.off_diagonal.values[at(k)] = 0;
    }
  }
}

/// D A D of an A, D the square roots of these factors.
inline void scale(SymmetricMatrix& matrix, std::span<const Real> factor) {
  for (std::size_t i = 0; i < matrix.diagonal.size(); ++i) {
    matrix.diagonal[i] *= factor[i];
    for (Index k = matrix.off_diagonal.starts[i]; k < matrix.off_diagonal.starts[i + 1]; ++k)
      matrix.off_diagonal.values[at(k)] *=
          std::sqrt(factor[i] * factor[at(matrix.off_diagonal.columns[at(k)])]);
  }
}

}  // namespace curlew
