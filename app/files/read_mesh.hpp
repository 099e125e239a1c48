// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "app/case/mesh_settings.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// What the file holds: Curlew's own mesh file (.h5), or anything Gmsh reads or meshes. Throws InputError
/// that names the file.
RawMesh read_raw_mesh(const MeshSettings& settings);

/// A cell complex of what a file holds. Throws as above.
Mesh make_mesh(RawMesh raw, CellOrder order, const std::filesystem::path& file);

/// Both.
Mesh read_mesh(const MeshSettings& settings);

}  // namespace curlew
