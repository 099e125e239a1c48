// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "operators/symmetric_matrix.hpp"

namespace curlew {

/// What one cycle of multigrid needs, on the host: the levels of smoothed_aggregation.hpp, each scaled
/// symmetrically to a diagonal of one, which is not stored.
struct MultigridHierarchy {
  struct Level {
    SparseRows off_diagonal;
    SparseRows prolongation, restriction;  ///< from and to the next level; no rows on the coarsest
    Real largest_eigenvalue = 0;           ///< an upper bound
  };
  std::vector<Real> scale;              ///< finest unknowns to scaled ones: 1 / sqrt(a_ii), 0 where held
  std::vector<Level> levels;            ///< finest first
  std::vector<float> coarsest_inverse;  ///< dense, row by row; empty where coarsening ended early
  Real operator_complexity = 1;         ///< entries of the matrices of all levels over those of the finest
};

MultigridHierarchy make_multigrid_hierarchy(SymmetricMatrix matrix);

}  // namespace curlew
