// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/view.hpp"
#include "mesh/entities.hpp"

namespace curlew {

/// Sum over the row of entity i with the signs of an incidence, in the precision of x: a part of the curl, or
/// of the rotation, of what solvers keep in single precision.
template <class Rows, class From, class To, class T>
CURLEW_HOST_DEVICE T signed_sum(const Rows& rows, View<From, const T> x, Id<To> i) {
  T sum = 0;
  for (const auto [j, sign] : rows[i]) sum += static_cast<T>(sign) * x[j];
  return sum;
}

/// The curl of a circulation along edges.
template <class Rows, class T>
struct CurlOnFace {
  Rows edges_of;
  View<Edge, const T> circulation;
  View<Face, T> flux;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { flux[f] = signed_sum(edges_of, circulation, f); }
};

}  // namespace curlew
