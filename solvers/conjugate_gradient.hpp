// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <concepts>
#include <string>
#include <utility>

#include "solvers/linear_solver.hpp"

namespace curlew {

/// What the norm of a residual is compared with.
struct ResidualScale {
  Real reference = 0;  ///< what the relative tolerance refers to
  Real rounding =
      0;  ///< below this a residual is noise: about machine precision times the norm of |A||x| + |b|
};

/// Preconditioned conjugate gradients for a symmetric positive (semi)definite operator from a space to its
/// dual; Hestenes & Stiefel (1952), in the form of Saad, Iterative Methods (2003), algorithm 9.1. Keeps its
/// vectors, so that a time loop allocates nothing.
///
/// Entries of x that the operator holds (its rows and those of b are zero there) stay as they are.
template <class X>
class ConjugateGradient {
 public:
  /// `unknown` names what is solved for in messages.
  ConjugateGradient(const Executor& executor, Extent extent, std::string unknown,
                    SolverControl control) requires
      std::constructible_from<X, const Executor&, Index, std::string, std::string>
      : ConjugateGradient(std::move(unknown), control, Paired<X>(executor, extent, "residual", "1"),
                          X(executor, extent, "search direction", "1")) {}
  /// The same for unknowns of several fields: vectors of the right sizes to work with.
  ConjugateGradient(std::string unknown, SolverControl control, Paired<X> residual, X direction)
      : unknown_(std::move(unknown)),
        control_(control),
        residual_(std::move(residual)),
        image_(alike(residual_)),
        direction_(std::move(direction)),
        correction_(alike(direction_)) {}

  /// Solves A x = b from the given x. Converged when the true residual's l2 norm is at most
  /// max(relative tolerance x reference, absolute tolerance, rounding); it is recomputed at the end and the
  /// iteration goes on from there where the recurrence has drifted away from it. Throws DivergedError, naming
  /// the unknown, at the iteration cap, when rounding stops all progress, or when the residual is not a
  /// number.
  SolveReport solve(const Operator<X, Paired<X>>& a, const Preconditioner<X>& preconditioner,
                    const Paired<X>& b, X& x, ResidualScale scale, const NullSpace<X>* null_space = nullptr);

 private:
  void compute_residual(const Operator<X, Paired<X>>& a, const Paired<X>& b, const X& x,
                        const NullSpace<X>* null_space);

  std::string unknown_;
  SolverControl control_;
  Paired<X> residual_, image_;  // r, A p
  X direction_, correction_;    // p, z
};

}  // namespace curlew
