// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/conjugate_gradient.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "mesh/entities.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

template <class X>
void ConjugateGradient<X>::compute_residual(const Operator<X, Paired<X>>& a, const Paired<X>& b, const X& x,
                                            const NullSpace<X>* null_space) {
  a.apply(x, residual_);
  subtract_from(b, residual_);
  if (null_space != nullptr) null_space->make_consistent(residual_);
}

template <class X>
SolveReport ConjugateGradient<X>::solve(const Operator<X, Paired<X>>& a,
                                        const Preconditioner<X>& preconditioner, const Paired<X>& b, X& x,
                                        ResidualScale scale, const NullSpace<X>* null_space) {
  // Inner products of what is smaller underflow; a fluid at rest gets there.
  constexpr Real smallest = 1e-140;
  const Real target = std::max(
      {control_.relative_tolerance * scale.reference, control_.absolute_tolerance, scale.rounding, smallest});
  const auto relative = [&](Real residual) {
    return scale.reference > 0 ? residual / scale.reference : residual;
  };
  const auto fail = [&](const std::string& what, int iterations, Real residual) {
    throw DivergedError(
        fmt::format("the solve for {} {} after {} iterations: its residual is {:.3g} of the reference, "
                    "asked for was {:.3g}",
                    unknown_, what, iterations, relative(residual), control_.relative_tolerance));
  };

  SolveReport report;
  if (!std::isfinite(target)) fail("met a reference that is not a number or infinite", 0, target);
  compute_residual(a, b, x, null_space);
  Real true_residual = std::sqrt(inner_product(residual_, residual_));
  while (!(true_residual <= target)) {
    if (!std::isfinite(true_residual))
      fail("met a value that is not a number", report.iterations, true_residual);
    preconditioner.apply(residual_, direction_);
    Real rz = inner_product(residual_, direction_);
    Real residual = true_residual;
    while (residual > target) {
      if (report.iterations >= control_.max_iterations) {
        fail("did not converge", report.iterations, residual);
      }
      a.apply(direction_, image_);
      const Real curvature = inner_product(image_, direction_);
      if (!(curvature > 0)) {
        fail("met a direction without positive curvature (an operator that is not positive definite)",
             report.iterations, residual);
      }
      const Real alpha = rz / curvature;
      conjugate_gradient_step(alpha, direction_, image_, x, residual_);
      ++report.iterations;
      residual = std::sqrt(inner_product(residual_, residual_));
      if (!std::isfinite(residual)) fail("met a value that is not a number", report.iterations, residual);
      preconditioner.apply(residual_, correction_);
      const Real rz_next = inner_product(residual_, correction_);
      linear_combination(1, correction_, rz_next / rz, direction_);
      rz = rz_next;
    }
    const Real before = true_residual;
    compute_residual(a, b, x, null_space);
    true_residual = std::sqrt(inner_product(residual_, residual_));
    if (true_residual > target && true_residual > before / 2) {
      fail("cannot come closer to the tolerance, which is below what rounding allows,", report.iterations,
           true_residual);
    }
  }
  report.residual = relative(true_residual);
  return report;
}

template class ConjugateGradient<PrimalCochain<Node>>;
template class ConjugateGradient<Field<Face, Vector3>>;
template class ConjugateGradient<DualCochain<Cell>>;
template class ConjugateGradient<StreamVelocity>;

}  // namespace curlew
