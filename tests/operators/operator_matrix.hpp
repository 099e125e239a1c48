// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "operators/operator.hpp"

namespace curlew {

/// The dense matrix of an operator on host memory, column by column.
template <class X, class Y>
Eigen::MatrixXd matrix_of(const Operator<X, Y>& op, Index columns, Index rows) {
  Eigen::MatrixXd matrix(rows, columns);
  X x(Executor::serial(), columns, "x", "1");
  Y y(Executor::serial(), rows, "y", "1");
  std::vector<Real> unit(at(columns), 0);
  for (Index j = 0; j < columns; ++j) {
    unit[at(j)] = 1;
    x.copy_from_host(unit);
    unit[at(j)] = 0;
    op.apply(x, y);
    const std::vector<Real> column = y.to_host();
    for (Index i = 0; i < rows; ++i) matrix(i, j) = column[at(i)];
  }
  return matrix;
}

}  // namespace curlew
