// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/mesh.hpp"

namespace curlew {

/// Lowest and highest corner of a box along the axes [m].
struct BoundingBox {
  Vector3 low, high;
};

/// Of the nodes that this rank has; low is above high where it has none.
BoundingBox bounding_box_of_rank(const Mesh& mesh);
/// Of the whole mesh, by all its ranks together.
BoundingBox bounding_box(const Mesh& mesh);

}  // namespace curlew
