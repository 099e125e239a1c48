// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "operators/symmetric_matrix.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

namespace curlew {

/// One step of a multigrid hierarchy: what one rank has of a matrix and of the way to the next coarser one.
struct AggregationLevel {
  HaloParts<Unknown> unknowns;  ///< ghosts: all others that the rows below name
  SymmetricMatrix matrix;       ///< rows of unknowns that the rank owns, the diagonal of its ghosts too
  /// Coarse values to fine ones; no rows on the coarsest level. The row of an unknown that needs no coarse
  /// help is empty: it is held, or its diagonal outweighs its couplings.
  SparseRows prolongation;
  SparseRows restriction;  ///< its transpose: rows of the coarse unknowns that the rank owns
};

/// Brings the diagonal of a level's ghosts from their owners. By all ranks together.
void find_ghost_diagonal(const Communicator& ranks, AggregationLevel& level);

struct SmoothedAggregation {
  std::vector<AggregationLevel> levels;
  std::size_t divided;  ///< so many of them; those after them are whole on every rank
  /// Numbers on the first whole level of the unknowns that fall to this rank: those whose restriction it has,
  /// or, where the finest is whole already, its own of these.
  std::vector<Index> places;
};

/// Algebraic multigrid by smoothed aggregation for symmetric positive semidefinite matrices whose smooth
/// vectors are locally constant: Vanek, Mandel & Brezina, Computing 56 (1996). Unknowns are grouped with
/// their strongly coupled neighbours (aggregation.hpp), the piecewise constant prolongation is smoothed by a
/// damped Jacobi step of the matrix without its weak couplings, and the coarse matrix is the Galerkin product
/// PᵀAP. Constants are prolonged to constants. A coarse unknown has the owner and the name of its group's
/// root.
///
/// Depends on the matrix and the names alone, not on threads nor on the division among ranks: a row has its
/// entries in an order that no division changes, and what is gathered over it is summed in that order.
///
/// Coarsens until at most `coarsest` unknowns are left or no step shrinks the matrix any more. On several
/// ranks levels of at most `whole` unknowns, and one of at most `coarsest`, are brought together on each. By
/// all ranks together.
SmoothedAggregation smoothed_aggregation(const Communicator& ranks, AggregationLevel finest, Index coarsest,
                                         Index whole);

}  // namespace curlew
