// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <iostream>

#include "app/commands.hpp"
#include "app/mesh_report.hpp"
#include "app/read_mesh.hpp"

namespace curlew {

int mesh_info(const MeshInfoOptions& options) {
  const MeshSettings& settings = options.mesh;
  const Mesh mesh = read_mesh(settings);
  std::cout << mesh_report(mesh, settings.file.string(), options.json);
  return 0;
}

}  // namespace curlew
