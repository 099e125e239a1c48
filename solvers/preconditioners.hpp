// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>

#include "mesh/domain.hpp"
#include "operators/symmetric_matrix.hpp"
#include "solvers/linear_solver.hpp"

namespace curlew {

/// No preconditioning: z = r.
template <class X>
class IdentityPreconditioner : public Preconditioner<X> {
 public:
  void apply(const Paired<X>& r, X& z) const override;
};

/// Jacobi: z_i = r_i / A_ii. A diagonal that is not positive stands for an unknown that is held; there z_i =
/// 0.
template <class X>
class JacobiPreconditioner : public Preconditioner<X> {
 public:
  JacobiPreconditioner(const Executor& executor, Index size)
      : inverse_diagonal_(executor, size, "inverse diagonal", "1") {}
  void set_diagonal(const Paired<X>& diagonal);
  void apply(const Paired<X>& r, X& z) const override;
  void apply_with_product(const Paired<X>& r, X& z, SumInParts& product) const override;

 private:
  X inverse_diagonal_;
};

/// The preconditioner of a system that is spelled out in `matrix`, as for Multigrid.
template <class X>
std::unique_ptr<Preconditioner<X>> make_preconditioner(Preconditioning preconditioning,
                                                       const Executor& executor, const Domain& domain,
                                                       SymmetricMatrix matrix);

}  // namespace curlew
