// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/mesh.hpp"

namespace curlew {

/// The largest 1/h² [1/m2] among the cells, no simplices, that are more than four times as long as high, h
/// being the height; 0 where there are none. Lengths are volumes over areas of faces. By all ranks together.
Real inverse_square_of_flattest(const Mesh& mesh);

}  // namespace curlew
