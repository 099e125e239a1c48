// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/reproducible_sum.hpp"
#include "operators/operator.hpp"

namespace curlew {

struct Number;  // entity tag: one number of a vector, whatever it is the value of

/// A symmetric matrix as a sum of ones that stay the same from solve to solve, times factors that may change:
/// that of a step of any length.
template <class X>
using MatrixSum = std::vector<std::pair<Real, const Operator<X, Paired<X>>*>>;

/// How many solves are remembered. A guess from four smooth ones is good to fourth order in the step; more
/// gain little (docs/performance.md).
inline constexpr std::size_t solution_history_depth = 4;

/// What the last solves of a run changed about their first guesses, from which the next guess is improved:
/// by the combination sum c_i d_i that leaves the least energy of the error, (d_i . A d_j) c = (d_i . r).
/// Fischer, CMAME 163 (1998), with the products d_i . A_k d_j kept for each part A_k of the matrix, so that
/// the length of the step may change, and a window of the last solves instead of a basis that is given up
/// when it is full.
///
/// In single precision: what rounding does to a change is small against the error that is left. Same bits on
/// every backend and any number of ranks.
template <class X>
class SolutionHistory {
 public:
  /// `parts`: how many matrices the sum has; `make_free`: takes from a vector what solves never change (a
  /// normal part, which rounding would add), null where single values are free or not. Room for changes is
  /// made as they first come.
  SolutionHistory(const Executor& executor, std::size_t parts, std::function<void(X&)> make_free = nullptr);

  /// How many changes are kept now.
  std::size_t size() const { return kept_.size(); }
  /// Adds to x what the history has of A⁻¹ r, with A the sum of `matrix` and r = b - A x. What is in
  /// `scratch` is lost.
  void improve(const MatrixSum<X>& matrix, const Paired<X>& residual, X& x, X& scratch);
  /// Takes in a change, which it rounds; the oldest gives way. What is in `image` is lost.
  void append(const MatrixSum<X>& matrix, X& change, Paired<X>& image);
  /// Writes change number k, the oldest first. A history to which all are appended anew has the same bits.
  void read(std::size_t k, X& change) const;
  void clear() { kept_.clear(); }

 private:
  using Change = std::vector<Field<Number, float>>;  // one field for each that the vector is made of

  /// Of y with the changes kept, the oldest first.
  std::vector<Real> products_with(const Paired<X>& y);

  Executor executor_;
  std::function<void(X&)> make_free_;
  std::vector<Change> changes_;
  std::vector<std::size_t> kept_;        // which of changes_, the oldest first
  std::vector<std::vector<Real>> gram_;  // of each part: products of changes_ i and j, row by row
  Buffer<BinnedSum> sums_;
};

/// What a solve makes use of: the history of its kind, and A as the sum that the history goes by.
template <class X>
struct Recall {
  SolutionHistory<X>* history = nullptr;  ///< null: none
  MatrixSum<X> matrix = {};
};

}  // namespace curlew
