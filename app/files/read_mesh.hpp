// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "app/case/mesh_settings.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// What the file holds: Curlew's own mesh file (.h5), or anything Gmsh reads or meshes. Throws InputError
/// that names the file.
RawMesh read_raw_mesh(const MeshSettings& settings);

/// The same as a cell complex.
Mesh read_mesh(const MeshSettings& settings);

}  // namespace curlew
