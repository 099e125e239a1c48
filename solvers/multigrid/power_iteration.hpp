// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

namespace curlew {

/// Where power iterations start: a number in [-1/2, 1/2) that depends on the entity's name alone.
inline Real hashed_number(GlobalIndex name) {
  return std::ldexp(static_cast<Real>(shuffled(name)), -64) - 0.5;
}

/// Each value times its energy: what stands out comes forth.
template <class E, class T, class Energy>
struct SharpenedOnEntity {
  Energy energy;
  View<E, T> x;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { x[i] = static_cast<float>(energy(i)) * x[i]; }
};

/// Estimate, with a margin but at most `bound`, of the largest eigenvalue of a matrix with no negative ones
/// that is symmetric in a product of which `energy()` gives the kernel: what each entity adds to the square
/// of the norm of `x`, the iterate, in single precision. `multiply(factor)`: makes x factor times the matrix
/// times itself.
///
/// From noise alone an eigenvalue would be missed that few of many unknowns have, as about a flat cell: their
/// share of the noise does not grow fast enough. Half way their values stand out, and sharpening lets them
/// rule the rest (docs/multigrid.md, "Cycle").
template <class X, class Energy, class Multiply>
Real largest_eigenvalue_by_powers(const Executor& executor, X& x, const Energy& energy,
                                  const Multiply& multiply,
                                  Real bound = std::numeric_limits<Real>::infinity()) {
  using E = typename X::Entity;
  constexpr int iterations = 12;
  constexpr Real margin = 1.1;
  const auto length = [&] { return std::sqrt(sum(executor, x.owned(), energy())); };
  Real largest = 0, size = length();
  for (int iteration = 0; iteration < iterations && size > 0 && margin * largest < bound; ++iteration) {
    if (iteration == iterations / 2) {
      for_each(executor, x.owned(),
               SharpenedOnEntity<E, typename X::Value, decltype(energy())>{energy(), x.view()});
      size = length();
    }
    multiply(1 / size);
    size = length();
    largest = std::max(largest, size);
  }
  return std::min(bound, margin * largest);
}

}  // namespace curlew
