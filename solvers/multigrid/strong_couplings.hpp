// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "operators/symmetric_matrix.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

namespace curlew {

/// Which couplings of a matrix count: those with a_ij < 0, the sign that drives neighbours together, of which
/// couplings of the wrong sign leave more than half, and what they leave is more than threshold sqrt(a_ii
/// a_jj).
///
/// On flat hexahedra and prisms that lean a node is coupled to those above and below it and, a good part as
/// much, to those beside these; but the nodes beside it drive it apart by as much again, so that nothing
/// smooth is held together. Whatever is smooth in the direction in which things are held together has x_k =
/// sum_j a_kj x_j / sum_j a_kj, with the neighbours j that k is held to: a_ik > 0 is shared out by that to
/// those of them that are neighbours of i as well, as classical interpolation does with couplings that do not
/// count (Ruge & Stüben, Algebraic multigrid, 1987).
class StrongCouplings {
 public:
  /// `matrix`: rows of the unknowns that this rank owns, the diagonal of ghosts too. It must stay where it
  /// is. By all ranks together.
  StrongCouplings(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                  const SymmetricMatrix& matrix, Real threshold);

  bool operator[](Index entry) const { return strong_[at(entry)] != 0; }
  const SparseRows& rows() const { return rows_; }
  /// Whether an unknown has no strong couplings, and so large a diagonal beside what couplings it has that
  /// smoothing alone serves it: held, or ruled by its diagonal as in short time steps of heat.
  bool is_left_to_smoother(Index i) const { return left_to_smoother_[at(i)] != 0; }
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
  /// Says whether there are couplings of the wrong sign that matter. `left`: of each coupling.
  bool mark(const SymmetricMatrix& matrix, const std::vector<Real>& left, Real threshold);

  const SparseRows& rows_;
  std::vector<char> strong_, left_to_smoother_;
};

}  // namespace curlew
