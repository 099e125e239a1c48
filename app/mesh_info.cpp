// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <iostream>

#include "app/commands.hpp"
#include "app/files/mesh_file.hpp"
#include "app/files/read_mesh.hpp"
#include "app/mesh_report.hpp"

namespace curlew {

int mesh_info(const MeshInfoOptions& options) {
  const MeshSettings& settings = options.mesh;
  const Mesh mesh = read_mesh(settings);
  std::optional<PartitionQuality> partition;
  if (settings.file.extension() == ".h5") {
    if (const auto stored = read_partition(settings.file)) {
      const bool same_order = stored->order == settings.order;
      partition =
          assess(same_order ? mesh.topology() : Mesh(read_raw_mesh(settings), stored->order).topology(),
                 stored->partition);
    }
  }
  std::cout << mesh_report(mesh, settings.file.string(), options.json, partition);
  return 0;
}

}  // namespace curlew
