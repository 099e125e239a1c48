// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <iostream>
#include <string>
#include <vector>

#include "app/commands.hpp"
#include "app/files/mesh_file.hpp"
#include "app/files/read_mesh.hpp"
#include "app/output/field_files.hpp"
#include "kernels/counted.hpp"
#include "kernels/error.hpp"

namespace curlew {

namespace {

void tell(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) std::cout << "note: " << note << '\n';
}

}  // namespace

int mesh_convert(const MeshConvertOptions& options) {
  const std::string extension = options.output.extension().string();
  if (extension != ".h5" && extension != ".hdf") {
    throw InputError(
        fmt::format("{}: a mesh is written as .h5 (Curlew's mesh file) or .hdf (VTKHDF, for ParaView), not "
                    "as '{}'",
                    options.output.string(), extension));
  }
  const RawMesh raw = read_raw_mesh(options.mesh);
  if (options.parts) {
    if (extension != ".h5") {
      throw InputError(
          fmt::format("{}: only a mesh file (.h5) can be divided into parts", options.output.string()));
    }
    if (static_cast<std::size_t>(*options.parts) > raw.cell_types.size()) {
      throw InputError(fmt::format("{}: --partition is {}, and the mesh has {}; ask for fewer parts",
                                   options.mesh.file.string(), *options.parts,
                                   counted(std::ssize(raw.cell_types), "cell")));
    }
    const Mesh mesh = make_mesh(raw, options.mesh.order, options.mesh.file);
    tell(mesh.notes());
    const StoredPartition stored{make_partition(mesh.topology(), static_cast<Index>(*options.parts)),
                                 options.mesh.order};
    write_mesh_file(options.output, raw, mesh, stored);
    std::cout << description(assess(mesh.topology(), stored.partition)) << '\n';
  } else if (extension == ".h5") {
    tell(raw.notes);
    write_mesh_file(options.output, raw);
  } else {
    const Mesh mesh = make_mesh(raw, CellOrder::AsRead, options.mesh.file);  // its cells are oriented
    tell(mesh.notes());
    const std::span<const Index> regions = mesh.topology().region_of_cell().host();
    const std::vector<double> region(regions.begin(), regions.end());
    const std::vector<FieldView> cell_fields{{"region", std::span<const double>(region)}};
    make_writer(mesh).write(options.output, 0, cell_fields, {});
  }
  std::cout << fmt::format("{}: {} nodes, {} cells\n", options.output.string(), raw.nodes.size(),
                           raw.cell_types.size());
  return 0;
}

}  // namespace curlew
