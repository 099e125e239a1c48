// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>

#include "mesh/mesh.hpp"

namespace curlew {

/// Whether a patch is bent anywhere but in sharp edges between its planes (of more than 37°). By all ranks
/// together.
bool is_curved(const Mesh& mesh, std::size_t patch);

}  // namespace curlew
