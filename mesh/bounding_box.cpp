// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/bounding_box.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace curlew {

BoundingBox bounding_box_of_rank(const Mesh& mesh) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  BoundingBox box{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  for (const Vector3 x : mesh.geometry().node_positions().host()) {
    box.low = {std::min(box.low.x, x.x), std::min(box.low.y, x.y), std::min(box.low.z, x.z)};
    box.high = {std::max(box.high.x, x.x), std::max(box.high.y, x.y), std::max(box.high.z, x.z)};
  }
  return box;
}

BoundingBox bounding_box(const Mesh& mesh) {
  const auto [low, high] = bounding_box_of_rank(mesh);
  std::array<Real, 6> ends{-low.x, -low.y, -low.z, high.x, high.y, high.z};
  mesh.domain().communicator().maxima(ends);
  return {{-ends[0], -ends[1], -ends[2]}, {ends[3], ends[4], ends[5]}};
}

}  // namespace curlew
