// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/field_files.hpp"

#include <vector>

#include "kernels/error.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

VtkhdfWriter make_writer(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  std::vector<std::int64_t> start{0};
  std::vector<Index> nodes;
  for (const Id<Cell> c : topology.cells()) {
    if (topology.cell_type(c) == CellType::Polyhedron) {
      for (const auto [f, sign] : topology.faces_of_cell()[c]) {
        const auto face = topology.nodes_of_face()[f];
        nodes.push_back(face.size());
        for (const auto [n, unsigned_entry] : face) nodes.push_back(n.value());
      }
    } else {
      for (const auto [n, sign] : topology.nodes_of_cell()[c]) nodes.push_back(n.value());
    }
    start.push_back(static_cast<std::int64_t>(nodes.size()));
  }
  return VtkhdfWriter({mesh.geometry().node_positions().host(), topology.cell_types(), start, nodes});
}

/// What is to be written of a snapshot.
struct FieldViews {
  const Mesh& mesh;
  std::vector<FieldView> cells{}, nodes{};

  void add(const FieldDescription& field, Snapshot& snapshot) {
    std::visit([&](const auto& values) { add(field.name, values); }, snapshot.field(field.name));
  }

  template <class E, class T>
  void add(const std::string& name, View<E, const T> values) {
    if constexpr (std::is_same_v<E, Node>) {
      nodes.emplace_back(name, std::span<const T>(values.data(), at(mesh.topology().nodes().size())));
    } else {
      cells.emplace_back(name, std::span<const T>(values.data(), at(mesh.topology().cells().size())));
    }
  }
  template <class Value, class Gradient>
  void add(const std::string& name, const LinearInCells<Value, Gradient>& field) {
    add(name, field.value);
  }
};

}  // namespace

FieldFiles::FieldFiles(const std::filesystem::path& directory, const std::string& name, const Mesh& mesh,
                       std::optional<Real> restart_time)
    : name_(name), mesh_(mesh), series_(directory, name, make_writer(mesh), restart_time) {}

void FieldFiles::write(std::int64_t step, Real time, std::span<const FieldDescription> fields,
                       Snapshot& snapshot) {
  FieldViews views{mesh_};
  for (const FieldDescription& field : fields) views.add(field, snapshot);
  series_.write(step, time, views.cells, views.nodes);
}

std::filesystem::path FieldFiles::write_diverged(Real time, std::span<const FieldDescription> fields,
                                                 Snapshot& snapshot) {
  FieldViews views{mesh_};
  for (const FieldDescription& field : fields) {
    try {
      views.add(field, snapshot);
    } catch (const Error&) {  // one that wants sound values
    }
  }
  return series_.write_apart(name_ + "_diverged", time, views.cells, views.nodes);
}

}  // namespace curlew
