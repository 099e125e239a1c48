// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "operators/symmetric_matrix.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

namespace curlew {

/// Which couplings of a matrix count: |a_ij| > threshold sqrt(a_ii a_jj), with a_ij of the sign that drives
/// neighbours together, and larger than what couplings of the wrong sign take back of i or of j. The latter:
/// on cells that are flat a node is coupled with those above and below it, and with those beside them, a
/// quarter as much; but the nodes beside it drive it apart by as much again, so that nothing smooth is held
/// together.
class StrongCouplings {
 public:
  /// `matrix`: rows of the unknowns that this rank owns, the diagonal of ghosts too. It must stay where it
  /// is. By all ranks together.
  StrongCouplings(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                  const SymmetricMatrix& matrix, Real threshold);

  bool operator[](Index entry) const { return strong_[at(entry)] != 0; }
  const SparseRows& rows() const { return rows_; }
  /// Whether `is_found(neighbour, coupling)` of any strongly coupled neighbour of an unknown; asks no
  /// further.
  template <class IsFound>
  bool any(Index i, const IsFound& is_found) const {
    for (Index k = rows_.starts[at(i)]; k < rows_.starts[at(i) + 1]; ++k) {
      if (strong_[at(k)] != 0 && is_found(rows_.columns[at(k)], rows_.values[at(k)])) return true;
    }
    return false;
  }

 private:
  const SparseRows& rows_;
  std::vector<char> strong_;
};

/// Groups of strongly coupled unknowns. A group belongs to the owner of the unknown that it has grown from,
/// its root, and has that one's name.
struct Aggregates {
  static constexpr Index none = -1;
  UnknownNumbers numbers;     ///< of groups
  std::vector<Index> number;  ///< of each unknown's group, ghosts included; none: it has no strong coupling
};

/// Unknowns have their turns in an order that depends on their names alone. One becomes a root unless one
/// before it has that it is coupled to directly or by way of a common neighbour: a maximal independent set of
/// distance two, the first in that order. A root's neighbours join it, and those that are left join the
/// neighbour that they are most strongly coupled to. Every division among ranks gives the same groups.
///
/// Unknowns that follow one another make neat groups: layers of cells, for one, are joined alike all over a
/// mesh. So turns follow the names, but for runs of `run` names, which are shuffled, so that no chain of
/// unknowns that wait for one another goes through the whole of a large mesh (Blelloch, Fineman & Shun,
/// Greedy sequential maximal independent set and matching are parallel on average, SPAA 2012).
///
/// By all ranks together.
Aggregates aggregate(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                     const StrongCouplings& strong, GlobalIndex run);

}  // namespace curlew
