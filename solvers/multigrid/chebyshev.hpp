// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/platform.hpp"

namespace curlew {

/// One step of a Chebyshev iteration for A x = b with a diagonal D: d = momentum d + gain D⁻¹ (b - A x),
/// x = x + d.
struct ChebyshevCoefficients {
  float momentum, gain;
};

/// Steps of the polynomial that is smallest on the eigenvalues [largest / width, largest] of D⁻¹A: Saad,
/// Iterative Methods (2003), algorithm 12.1.
inline std::vector<ChebyshevCoefficients> chebyshev(Real largest, Real width, int degree) {
  const Real middle = largest * (1 + 1 / width) / 2, half = largest * (1 - 1 / width) / 2;
  const Real sigma = middle / half;
  std::vector<ChebyshevCoefficients> steps{{0, static_cast<float>(1 / middle)}};
  Real rho = 1 / sigma;
  for (int k = 1; k < degree; ++k) {
    const Real next = 1 / (2 * sigma - rho);
    steps.push_back({static_cast<float>(next * rho), static_cast<float>(2 * next / half)});
    rho = next;
  }
  return steps;
}

}  // namespace curlew
