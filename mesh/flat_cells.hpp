// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/mesh.hpp"

namespace curlew {

// Flat are cells that are more than four times as long as high, lengths being volumes over areas of faces.
// What is asked here is asked by all ranks together.

/// The largest 1/h² [1/m2] among the flat cells, simplices apart, h being the height; 0 where there are none.
Real inverse_square_of_flattest(const Mesh& mesh);

/// How many cells of all are flat.
Real share_of_flat_cells(const Mesh& mesh);

}  // namespace curlew
