// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid_hierarchy.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/parallel.hpp"
#include "solvers/smoothed_aggregation.hpp"

namespace curlew {

namespace {

/// 1 / sqrt(a_ii), 0 for an unknown that is held.
std::vector<Real> scale_to_unit_diagonal(const SymmetricMatrix& matrix) {
  std::vector<Real> scale(matrix.diagonal.size());
  for (std::size_t i = 0; i < scale.size(); ++i) {
    scale[i] = matrix.diagonal[i] > 0 ? 1 / std::sqrt(matrix.diagonal[i]) : 0;
  }
  return scale;
}

/// diag(left) rows diag(right).
void scale_rows(const std::vector<Real>& left, const std::vector<Real>& right, SparseRows& rows) {
  parallel_for(left.size(), [&](std::size_t i) {
    for (Index k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
      rows.values[at(k)] *= left[i] * right[at(rows.columns[at(k)])];
    }
  });
}

/// An upper bound of the eigenvalues of a matrix of unit diagonal: the smaller of the largest row sum of
/// magnitudes (Gershgorin) and, where that is far from 2, the estimate of some power iterations with a
/// margin.
Real largest_eigenvalue(const SparseRows& off_diagonal) {
  const std::size_t rows = at(off_diagonal.rows());
  Real bound = 1;
  for (std::size_t i = 0; i < rows; ++i) {
    Real sum = 1;
    for (Index k = off_diagonal.starts[i]; k < off_diagonal.starts[i + 1]; ++k) {
      sum += std::abs(off_diagonal.values[at(k)]);
    }
    bound = std::max(bound, sum);
  }
  constexpr int iterations = 12;
  constexpr Real margin = 1.1;
  std::vector<Real> x(rows), image(rows);
  std::uint32_t state = 1;  // a fixed sequence without pattern (Numerical Recipes' linear congruence)
  for (Real& value : x) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<Real>(state) / 4294967296.0 - 0.5;
  }
  Real eigenvalue = 0;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    parallel_for(rows, [&](std::size_t i) {
      Real sum = x[i];
      for (Index k = off_diagonal.starts[i]; k < off_diagonal.starts[i + 1]; ++k) {
        sum += off_diagonal.values[at(k)] * x[at(off_diagonal.columns[at(k)])];
      }
      image[i] = sum;
    });
    Real xx = 0, xy = 0, yy = 0;
    for (std::size_t i = 0; i < rows; ++i) {
      xx += x[i] * x[i];
      xy += x[i] * image[i];
      yy += image[i] * image[i];
    }
    if (!(yy > 0)) break;
    eigenvalue = std::sqrt(yy / xx);
    for (std::size_t i = 0; i < rows; ++i) x[i] = image[i] / std::sqrt(yy);
  }
  return std::min(bound, margin * eigenvalue);
}

/// The pseudo-inverse, row by row.
std::vector<float> dense_pseudo_inverse(const SparseRows& off_diagonal, const std::vector<Real>& scale) {
  const Eigen::Index size = off_diagonal.rows();
  if (size == 0) return {};
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(size, size);
  for (Index i = 0; i < off_diagonal.rows(); ++i) {
    dense(i, i) = scale[at(i)] > 0 ? 1 : 0;
    for (Index k = off_diagonal.starts[at(i)]; k < off_diagonal.starts[at(i) + 1]; ++k) {
      dense(i, off_diagonal.columns[at(k)]) += off_diagonal.values[at(k)];
    }
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(dense);
  // What rounding leaves of an eigenvalue that is zero; jumps of 1e6 in the coefficients stay far above it.
  constexpr Real smallest = 1e-12;
  const Eigen::VectorXd inverse =
      modes.eigenvalues().unaryExpr([&](Real value) { return value > smallest ? 1 / value : 0; });
  const Eigen::MatrixXd result =
      modes.eigenvectors() * inverse.asDiagonal() * modes.eigenvectors().transpose();
  std::vector<float> rows(at(size * size));
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) rows[at(i * size + j)] = static_cast<float>(result(i, j));
  }
  return rows;
}

}  // namespace

MultigridHierarchy make_multigrid_hierarchy(SymmetricMatrix matrix) {
  constexpr Index coarsest_size = 128;
  std::vector<AggregationLevel> levels = smoothed_aggregation(std::move(matrix), coarsest_size);
  std::vector<Real> scale = scale_to_unit_diagonal(levels[0].matrix);
  MultigridHierarchy hierarchy;
  hierarchy.scale = scale;
  std::size_t entries = 0;
  const std::size_t finest = levels[0].matrix.off_diagonal.columns.size() + scale.size();
  for (std::size_t l = 0; l < levels.size(); ++l) {
    AggregationLevel& level = levels[l];
    MultigridHierarchy::Level& scaled = hierarchy.levels.emplace_back();
    scaled.off_diagonal = std::move(level.matrix.off_diagonal);
    entries += scaled.off_diagonal.columns.size() + scale.size();
    scale_rows(scale, scale, scaled.off_diagonal);
    scaled.largest_eigenvalue = largest_eigenvalue(scaled.off_diagonal);
    if (l + 1 == levels.size()) {
      if (scaled.off_diagonal.rows() <= coarsest_size) {
        hierarchy.coarsest_inverse = dense_pseudo_inverse(scaled.off_diagonal, scale);
      }
      break;
    }
    const std::vector<Real> coarse_scale = scale_to_unit_diagonal(levels[l + 1].matrix);
    std::vector<Real> unscale(scale.size());
    for (std::size_t i = 0; i < scale.size(); ++i) unscale[i] = scale[i] > 0 ? 1 / scale[i] : 0;
    scaled.prolongation = std::move(level.prolongation);
    scaled.restriction = std::move(level.restriction);
    scale_rows(unscale, coarse_scale, scaled.prolongation);
    scale_rows(coarse_scale, unscale, scaled.restriction);
    scale = coarse_scale;
  }
  hierarchy.operator_complexity = static_cast<Real>(entries) / static_cast<Real>(finest);
  return hierarchy;
}

}  // namespace curlew
