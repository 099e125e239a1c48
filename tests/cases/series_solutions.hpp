// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>
#include <numbers>

/// Separation of variables: a body of half width (radius) and diffusivity 1 starts at 1, its surface held at
/// 0. Time is the Fourier number; 50 terms leave nothing at the times of the tests (0.05 and later).
namespace curlew::test {

inline double plane_wall_centre(double time) {
  double sum = 0;
  for (int n = 0; n < 50; ++n) {
    const double root = (n + 0.5) * std::numbers::pi;
    sum += (n % 2 == 0 ? 2 : -2) / root * std::exp(-root * root * time);
  }
  return sum;
}

/// The product of three plane walls.
inline double cube_centre(double time) {
  return std::pow(plane_wall_centre(time), 3);
}

inline double sphere_centre(double time) {
  double sum = 0;
  for (int n = 1; n <= 50; ++n) {
    const double root = n * std::numbers::pi;
    sum += (n % 2 == 1 ? 2 : -2) * std::exp(-root * root * time);
  }
  return sum;
}

}  // namespace curlew::test
