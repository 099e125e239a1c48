// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>
#include <vector>

#include "kernels/tensor3.hpp"
#include "kernels/vector4.hpp"
#include "mesh/domain.hpp"
#include "operators/symmetric_matrix.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

namespace curlew {

/// What one cycle of multigrid needs on one rank, on the host: the levels of smoothed_aggregation.hpp, each
/// scaled symmetrically to a diagonal of one, which is not stored. The finer ones are divided: the rank has
/// the rows of the unknowns that it owns. The coarser ones are whole on every rank.
struct MultigridHierarchy {
  struct Level {
    HaloParts<Unknown> unknowns;
    /// Rows that name no ghosts come first. Rounded as BFloat16 holds them, but on a coarsest level that is
    /// solved by its inverse.
    SparseRows off_diagonal;
    /// What rounding takes from a row for an x that is constant before scaling, per x_i.
    std::vector<float> rounding;
    SparseRows prolongation, restriction;  ///< from and to the next level; no rows on the coarsest
    Real eigenvalue_bound = 0;             ///< no eigenvalue is larger
    /// Of vectors: rows of the unknowns that the rank has a right-hand side of, see DiagonalOfVectors.
    std::vector<Vector4<float>> inverse_diagonal;
  };
  std::vector<Real> scale;    ///< finest unknowns to scaled ones: 1 / sqrt(a_ii), 0 where held
  std::vector<Level> levels;  ///< finest first
  std::size_t divided = 0;    ///< so many of them
  std::vector<Index> places;  ///< SmoothedAggregation::places
  /// Dense, row by row, of vectors with three rows and columns an unknown; empty where coarsening ended
  /// early.
  std::vector<Real> coarsest_inverse;
  Real operator_complexity = 1;  ///< entries of the matrices of all levels over those of the finest
};

/// The hierarchy of the system of all entities of a kind in a mesh, of which no rank has more than its part
/// but for the whole levels. Of a rank alone all levels are divided into one. By all ranks together.
///
/// `matrix`: a row for each entity that this rank has; those of ghosts do not matter. `whole`: levels of at
/// most so many unknowns are whole on every rank, and so is one that is solved by its inverse.
///
/// `stiffness`: none, or for each of the rank's own entities a symmetric tensor b_i >= 0. Unknowns are then
/// vectors, each component coupled as `matrix` says, and b_i stands on the diagonal besides. Of its Galerkin
/// product coarse levels get the diagonal, sum_i w_iJ² b_i with the prolongation's weights.
template <class E>
MultigridHierarchy make_multigrid_hierarchy(const Domain& domain, SymmetricMatrix matrix, Index whole,
                                            std::optional<std::vector<Tensor3>> stiffness = {});

}  // namespace curlew
