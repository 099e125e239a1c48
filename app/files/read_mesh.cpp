// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/read_mesh.hpp"

#include <fmt/format.h>

#include <utility>

#include "app/files/mesh_file.hpp"
#include "kernels/error.hpp"
#include "mesh/import/gmsh_import.hpp"

namespace curlew {

RawMesh read_raw_mesh(const MeshSettings& settings) {
  if (settings.file.extension() != ".h5") {
    return import_mesh(settings.file, {.scale = settings.scale, .size = settings.size});
  }
  if (settings.size > 0)
    throw InputError(
        fmt::format("{}: size is for geometries, and this is a mesh; drop size", settings.file.string()));
  RawMesh raw = read_mesh_file(settings.file);
  for (Vector3& x : raw.nodes) x *= settings.scale;
  return raw;
}

Mesh read_mesh(const MeshSettings& settings) {
  RawMesh raw = read_raw_mesh(settings);
  try {
    return Mesh(std::move(raw), settings.order);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", settings.file.string(), error.what()));
  }
}

}  // namespace curlew
