// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <iostream>

#include "app/commands.hpp"
#include "app/mesh_report.hpp"
#include "mesh/gmsh_import.hpp"

namespace curlew {

int mesh_info(const MeshInfoOptions& options) {
  const MeshSettings& settings = options.mesh;
  const Mesh mesh(import_mesh(settings.file, {settings.scale, settings.size}), settings.order);
  std::cout << mesh_report(mesh, settings.file.string(), options.json);
  return 0;
}

}  // namespace curlew
