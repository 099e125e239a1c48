// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <span>

#include "mesh/box.hpp"
#include "mesh/import/periodic.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {

/// n x n squares, each two triangles with moved nodes.
inline RawMesh distorted_triangles(Index n, Vector3 size = {1, 1, 0}) {
  RawMesh raw = make_box(CellType::Triangle, {n, n, 0}, size);
  distort(raw, 0.2 * std::min(size.x, size.y) / n);
  return raw;
}

/// The unit square of them, periodic from left to right.
inline Mesh periodic_channel(Index n) {
  const Mesh mesh(distorted_triangles(n));
  const PeriodicPair pair{"left", "right"};
  return make_periodic(mesh, std::span(&pair, 1)).mesh;
}

}  // namespace curlew
