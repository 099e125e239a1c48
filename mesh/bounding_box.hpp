// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>

#include "mesh/mesh.hpp"

namespace curlew {

/// Lowest and highest corner of a box along the axes [m].
struct BoundingBox {
  Vector3 low, high;

  void include(Vector3 x) {
    low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
    high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
  }
  /// False where x is not a number.
  bool contains(Vector3 x) const {
    return low.x <= x.x && x.x <= high.x && low.y <= x.y && x.y <= high.y && low.z <= x.z && x.z <= high.z;
  }
};

/// Of the whole mesh, by all its ranks together.
BoundingBox bounding_box(const Mesh& mesh);

}  // namespace curlew
