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

Mesh make_mesh(RawMesh raw, CellOrder order, const std::filesystem::path& file) {
  try {
    return Mesh(std::move(raw), order);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

Mesh read_mesh(const MeshSettings& settings) {
  return make_mesh(read_raw_mesh(settings), settings.order, settings.file);
}

}  // namespace curlew
