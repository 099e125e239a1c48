// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <string>

namespace curlew {

/// "1 cell", "2 cells", for messages.
inline std::string counted(std::int64_t count, const std::string& noun, const std::string& ending = "s") {
  return std::to_string(count) + ' ' + noun + (count == 1 ? "" : ending);
}

}  // namespace curlew
