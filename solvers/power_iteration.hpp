// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>

#include "kernels/platform.hpp"
#include "solvers/divided_unknowns.hpp"

namespace curlew {

/// Where power iterations start: a number in [-1/2, 1/2) that depends on the entity's name alone.
inline Real hashed_number(GlobalIndex name) {
  return std::ldexp(static_cast<Real>(shuffled(name)), -64) - 0.5;
}

/// Estimate, with a margin, of the largest eigenvalue of a matrix with no negative ones. `length()`: of the
/// iterate; `multiply(factor)`: makes it factor times the matrix times itself.
template <class Length, class Multiply>
Real largest_eigenvalue_by_powers(const Length& length, const Multiply& multiply) {
  constexpr int iterations = 12;
  constexpr Real margin = 1.1;
  Real eigenvalue = length();
  for (int iteration = 0; iteration < iterations && eigenvalue > 0; ++iteration) {
    multiply(1 / eigenvalue);
    eigenvalue = length();
  }
  return margin * eigenvalue;
}

}  // namespace curlew
