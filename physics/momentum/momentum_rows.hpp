// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <utility>

#include "kernels/vector4.hpp"
#include "mesh/parallel/exchange.hpp"
#include "physics/momentum/momentum_systems.hpp"

namespace curlew {

template <class T>
View<FacePair, const T> view(const ConstantArray<T>& entries, MemorySpace space) {
  return View<FacePair, const T>(entries.data(space), static_cast<Index>(entries.size(space)));
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
    pair = faces_of.next(pair);
  }
  return sum;
}

template <class V, class Lengths, class Gather, class Launch>
void MomentumMatrices::visit_stencil(const V& v, Lengths lengths, const Gather& gather,
                                     const Launch& launch) const {
  const MemorySpace space = executor_.space();
  const auto launch_rows = [&](Range<Face> faces) {
    mass_.stencil().visit_parts(
        space, faces, [&](Range<Face> range, auto rows) { launch(range, rows, space); }, lengths);
  };
  if (mass_.stencil().reaches_further()) {
    exchange_ghosts(mesh_.domain(), v);
    gather(v.range());
    launch_rows(v.owned());
    return;
  }
  Range<Face> arrived = v.owned();
  const auto launch_on = [&](Range<Face> faces) {
    gather(std::exchange(arrived, Range<Face>(v.owned().last(), v.size())));
    launch_rows(faces);
  };
  launch_with_ghosts(mesh_.domain(), v.owned(), launch_on, v);
}

}  // namespace curlew
