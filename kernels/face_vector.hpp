// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/vector3.hpp"

namespace curlew {

/// A vector of a face in precision T, with its part along the face's unit normal beside it, so that a kernel
/// which gathers velocities needs no normals: four numbers, one load. In forces `normal` is zero.
template <class T>
struct alignas(4 * sizeof(T)) FaceVector {
  T x = 0, y = 0, z = 0;
  T normal = 0;

  CURLEW_HOST_DEVICE FaceVector& operator+=(FaceVector b) {
    return *this = {x + b.x, y + b.y, z + b.z, normal + b.normal};
  }
  CURLEW_HOST_DEVICE FaceVector& operator-=(FaceVector b) {
    return *this = {x - b.x, y - b.y, z - b.z, normal - b.normal};
  }
  friend CURLEW_HOST_DEVICE FaceVector operator+(FaceVector a, FaceVector b) { return a += b; }
  friend CURLEW_HOST_DEVICE FaceVector operator-(FaceVector a, FaceVector b) { return a -= b; }
  /// s is rounded first.
  friend CURLEW_HOST_DEVICE FaceVector operator*(Real s, FaceVector a) {
    const T factor = static_cast<T>(s);
    return {factor * a.x, factor * a.y, factor * a.z, factor * a.normal};
  }
};

/// Of the three components.
template <class T>
CURLEW_HOST_DEVICE inline T own_dot(FaceVector<T> a, FaceVector<T> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
/// The same in double precision, where squares of small numbers do not underflow.
template <class T>
CURLEW_HOST_DEVICE inline Real dot(FaceVector<T> a, FaceVector<T> b) {
  return static_cast<Real>(a.x) * static_cast<Real>(b.x) + static_cast<Real>(a.y) * static_cast<Real>(b.y) +
         static_cast<Real>(a.z) * static_cast<Real>(b.z);
}
template <class T>
CURLEW_HOST_DEVICE inline Vector3 widened(FaceVector<T> a) {
  return {static_cast<Real>(a.x), static_cast<Real>(a.y), static_cast<Real>(a.z)};
}
template <class T>
CURLEW_HOST_DEVICE inline FaceVector<T> rounded(Vector3 a) {
  return {static_cast<T>(a.x), static_cast<T>(a.y), static_cast<T>(a.z), 0};
}

}  // namespace curlew
