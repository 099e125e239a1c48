// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/where.hpp"

#include <fmt/format.h>

namespace curlew {

std::string where(Vector3 x) {
  return fmt::format("({:.6g}, {:.6g}, {:.6g})", x.x, x.y, x.z);
}

}  // namespace curlew
