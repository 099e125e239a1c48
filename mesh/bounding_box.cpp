// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/bounding_box.hpp"

#include <array>
#include <limits>

namespace curlew {

BoundingBox bounding_box(const Mesh& mesh) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  BoundingBox of_rank{{infinity, infinity, infinity}, {-infinity, -infinity, -infinity}};
  for (const Vector3 x : mesh.geometry().node_positions().host()) of_rank.include(x);
  const auto [low, high] = of_rank;
  std::array<Real, 6> ends{-low.x, -low.y, -low.z, high.x, high.y, high.z};
  mesh.domain().communicator().maxima(ends);
  return {{-ends[0], -ends[1], -ends[2]}, {ends[3], ends[4], ends[5]}};
}

}  // namespace curlew
