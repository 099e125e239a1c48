// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/vector3.hpp"

namespace curlew {

/// Nine Cartesian components by rows: row i of a velocity gradient is the gradient of component i.
struct Tensor3 {
  Vector3 x, y, z;

  CURLEW_HOST_DEVICE Tensor3& operator+=(const Tensor3& b) {
    x += b.x;
    y += b.y;
    z += b.z;
    return *this;
  }
  friend CURLEW_HOST_DEVICE Tensor3 operator-(const Tensor3& a, const Tensor3& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z};
  }
  friend CURLEW_HOST_DEVICE Tensor3 operator*(Real s, const Tensor3& a) {
    return {s * a.x, s * a.y, s * a.z};
  }
  friend CURLEW_HOST_DEVICE Vector3 operator*(const Tensor3& a, Vector3 v) {
    return {dot(a.x, v), dot(a.y, v), dot(a.z, v)};
  }
};

/// The tensor a_i b_j.
CURLEW_HOST_DEVICE inline Tensor3 outer(Vector3 a, Vector3 b) {
  return {a.x * b, a.y * b, a.z * b};
}

}  // namespace curlew
