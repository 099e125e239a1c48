// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>

#include "kernels/vector3.hpp"

namespace curlew {

/// A position as messages give it.
std::string where(Vector3 x);

}  // namespace curlew
