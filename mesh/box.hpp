// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>

#include "mesh/import/raw_mesh.hpp"

namespace curlew {

/// A box [0, size] cut into blocks and every block into cells of one type: a rectangle of triangles (two a
/// block) or quadrilaterals where the type is planar, else hexahedra, prisms (two), pyramids (six, about the
/// block's centre) or tetrahedra (six, Kuhn's). Patches left, right (x), bottom, top (y), back, front (z),
/// one region "box". For tests, benchmarks and machines without Gmsh.
RawMesh make_box(CellType type, std::array<Index, 3> blocks, Vector3 size = {1, 1, 1});

}  // namespace curlew
