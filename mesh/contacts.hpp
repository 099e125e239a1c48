// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "mesh/mesh.hpp"

namespace curlew {

/// The boundary faces behind which another cell with such faces lies: where bodies touch without having nodes
/// in common, a face of one lies against several of another, or they overlap by less than a cell. Nothing
/// passes there. Gaps that are narrower than 1e-4 of the height of the face's cell, or 4e-9 of the mesh's
/// extent, count as none. On a whole mesh whose nodes have positions; linear in the mesh.
std::vector<Id<Face>> faces_in_contact(const Mesh& mesh);

/// The cells with faces on the boundary whose centroids lie in cells of another body, which is not connected
/// to theirs through faces: where bodies overlap. As above.
std::vector<Id<Cell>> overlapping_cells(const Mesh& mesh);

}  // namespace curlew
