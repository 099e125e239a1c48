// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>

#include "mesh/raw_mesh.hpp"

namespace curlew {

/// Curlew's own mesh file (.h5): a RawMesh as it is, in HDF5. Reading one needs no Gmsh.
void write_mesh_file(const std::filesystem::path& path, const RawMesh& raw);

/// Throws InputError naming the file where it is no whole mesh file.
RawMesh read_mesh_file(const std::filesystem::path& path);

}  // namespace curlew
