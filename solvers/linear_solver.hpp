// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "operators/operator.hpp"

namespace curlew {

/// When an iterative solve ends.
struct SolverControl {
  Real relative_tolerance =
      1e-10;                    ///< on the l2 norm of the residual, relative to the reference of the solve
  Real absolute_tolerance = 0;  ///< on the l2 norm of the residual, in the right-hand side's unit
  int max_iterations = 10000;   ///< reaching it is an error that names the unknown
};

/// What speeds up an iterative solve.
enum class Preconditioning { Multigrid, Jacobi, None };

/// How an iterative solve ended.
struct SolveReport {
  int iterations = 0;
  /// l2 norm of the residual b - A x at the end, relative to the reference; by recurrence where a bound of
  /// its rounding allows (RefinedConjugateGradient).
  Real residual = 0;
};

/// z = M⁻¹ r with M a symmetric positive definite approximation of the system.
template <class X>
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  virtual void apply(const Paired<X>& r, X& z) const = 0;
  /// The same, and r . z is added to `product`.
  virtual void apply_with_product(const Paired<X>& r, X& z, SumInParts& product) const;
};

/// The vectors that a symmetric positive semidefinite operator maps to zero.
template <class X>
class NullSpace {
 public:
  virtual ~NullSpace() = default;
  /// Removes from a right-hand side or residual what no solution could produce.
  virtual void make_consistent(Paired<X>& b) const = 0;
};

}  // namespace curlew
