// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/platform.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

namespace curlew {

/// Where power iterations start: a number in [-1/2, 1/2) that depends on the entity's name alone.
inline Real hashed_number(GlobalIndex name) {
  return std::ldexp(static_cast<Real>(shuffled(name)), -64) - 0.5;
}

/// Estimate, with a margin but at most `bound`, of the largest eigenvalue of a matrix with no negative ones
/// that is symmetric in the product which `length()`, the norm of the iterate, belongs to.
/// `multiply(factor)`: makes the iterate factor times the matrix times itself. Estimates of such a matrix
/// never fall, so that one as large as the bound ends the iterations.
template <class Length, class Multiply>
Real largest_eigenvalue_by_powers(const Length& length, const Multiply& multiply,
                                  Real bound = std::numeric_limits<Real>::infinity()) {
  constexpr int iterations = 12;
  constexpr Real margin = 1.1;
  Real eigenvalue = length();
  for (int iteration = 0; iteration < iterations && eigenvalue > 0; ++iteration) {
    multiply(1 / eigenvalue);
    eigenvalue = length();
    if (margin * eigenvalue >= bound) break;
  }
  return std::min(bound, margin * eigenvalue);
}

}  // namespace curlew
