// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/vector4.hpp"
#include "physics/flow/flow_boundary.hpp"

namespace curlew {

CURLEW_HOST_DEVICE inline Vector3 along(Vector3 v, Vector3 area) {
  return (dot(v, area) / dot(area, area)) * area;
}
/// The normal is of unit length.
template <class T>
CURLEW_HOST_DEVICE inline Vector4<T> along(Vector4<T> v, Vector4<T> normal) {
  return own_dot(v, normal) * normal;
}

/// The part of v that the boundary leaves free, on a face with a vector along its normal.
template <class V>
CURLEW_HOST_DEVICE inline V free_part(V v, FaceHold hold, V normal) {
  if (hold == FaceHold::All) return {};
  return hold == FaceHold::Normal ? v - along(v, normal) : v;
}

/// What of it is tangential.
template <class V>
CURLEW_HOST_DEVICE inline V free_tangential_part(V v, FaceHold hold, V normal) {
  return hold == FaceHold::All ? V{} : v - along(v, normal);
}

}  // namespace curlew
