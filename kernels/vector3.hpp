// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>

#include "kernels/platform.hpp"

namespace curlew {

/// Three Cartesian components; a point or a vector. Two-dimensional meshes keep z constant.
struct Vector3 {
  Real x = 0, y = 0, z = 0;

  CURLEW_HOST_DEVICE Vector3& operator+=(Vector3 b) { return *this = {x + b.x, y + b.y, z + b.z}; }
  CURLEW_HOST_DEVICE Vector3& operator-=(Vector3 b) { return *this = {x - b.x, y - b.y, z - b.z}; }
  CURLEW_HOST_DEVICE Vector3& operator*=(Real s) { return *this = {s * x, s * y, s * z}; }
  friend CURLEW_HOST_DEVICE Vector3 operator+(Vector3 a, Vector3 b) { return a += b; }
  friend CURLEW_HOST_DEVICE Vector3 operator-(Vector3 a, Vector3 b) { return a -= b; }
  friend CURLEW_HOST_DEVICE Vector3 operator-(Vector3 a) { return {-a.x, -a.y, -a.z}; }
  friend CURLEW_HOST_DEVICE Vector3 operator*(Real s, Vector3 a) { return a *= s; }
  friend CURLEW_HOST_DEVICE Vector3 operator/(Vector3 a, Real s) { return {a.x / s, a.y / s, a.z / s}; }
  friend CURLEW_HOST_DEVICE bool operator==(Vector3 a, Vector3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  }
};

CURLEW_HOST_DEVICE inline Real dot(Vector3 a, Vector3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
CURLEW_HOST_DEVICE inline Vector3 cross(Vector3 a, Vector3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
CURLEW_HOST_DEVICE inline Real norm(Vector3 a) {
  return std::sqrt(dot(a, a));
}

}  // namespace curlew
