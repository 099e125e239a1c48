// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "operators/symmetric_matrix.hpp"

namespace curlew {

/// One step of a multigrid hierarchy: a matrix and the way to the next coarser one.
struct AggregationLevel {
  SymmetricMatrix matrix;
  /// Coarse values to fine ones; no rows on the coarsest level. The row of an unknown that needs no coarse
  /// help is empty: it is held, or its diagonal outweighs its couplings.
  SparseRows prolongation;
  SparseRows restriction;  ///< its transpose
};

/// Algebraic multigrid by smoothed aggregation for symmetric positive semidefinite matrices whose smooth
/// vectors are locally constant: Vanek, Mandel & Brezina, Computing 56 (1996). Unknowns are grouped with
/// their strongly coupled neighbours, the piecewise constant prolongation is smoothed by a damped Jacobi step
/// of the matrix without its weak couplings, and the coarse matrix is the Galerkin product PᵀAP. Constants
/// are prolonged to constants. Depends on the matrix alone, not on the number of threads.
///
/// Coarsens until at most `coarsest` unknowns are left or no step shrinks the matrix any more.
std::vector<AggregationLevel> smoothed_aggregation(SymmetricMatrix matrix, Index coarsest);

}  // namespace curlew
