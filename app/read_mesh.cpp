// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/read_mesh.hpp"

#include "app/mesh_file.hpp"
#include "mesh/gmsh_import.hpp"

namespace curlew {

RawMesh read_raw_mesh(const MeshSettings& settings) {
  if (settings.file.extension() != ".h5") {
    return import_mesh(settings.file, {.scale = settings.scale, .size = settings.size});
  }
  RawMesh raw = read_mesh_file(settings.file);
  for (Vector3& x : raw.nodes) x *= settings.scale;
  return raw;
}

Mesh read_mesh(const MeshSettings& settings) {
  return Mesh(read_raw_mesh(settings), settings.order);
}

}  // namespace curlew
