// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/memory.hpp"
#include "kernels/vector4.hpp"
#include "operators/face_matrix.hpp"

namespace curlew {

template <class T>
View<FacePair, const T> view(const ConstantArray<T>& entries, MemorySpace space) {
  return View<FacePair, const T>(entries.data(space), static_cast<Index>(entries.size()));
}

/// Kernel's part: K v at face f and, as the fourth number, M times the numbers beside v.
template <class T, class Rows>
CURLEW_HOST_DEVICE Vector4<T> rows_times(const Rows& faces_of, View<FacePair, const T> viscous,
                                         View<FacePair, const T> mass, View<Face, const Vector4<T>> v,
                                         Id<Face> f) {
  Vector4<T> sum{};
  Id<FacePair> pair(faces_of.start(f));
  for (const auto [g, sign] : faces_of[f]) {
    sum += v[g].times(viscous[pair], mass[pair]);
    ++pair;
  }
  return sum;
}

}  // namespace curlew
