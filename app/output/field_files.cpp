// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/field_files.hpp"

#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/parallel/slabs.hpp"

namespace curlew {

VtkhdfWriter make_writer(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  const Domain& domain = mesh.domain();
  const auto global = [&](Id<Node> n) { return static_cast<Index>(domain.halo<Node>().global(n)); };
  Lists nodes;
  nodes.starts.reserve(at(domain.halo<Cell>().owned().size()) + 1);
  nodes.entries.reserve(topology.nodes_of_cell().entries());  // more where there are polyhedra
  for (const Id<Cell> c : domain.halo<Cell>().owned()) {
    if (topology.cell_type(c) == CellType::Polyhedron) {
      for (const auto [f, sign] : topology.faces_of_cell()[c]) {
        const auto face = topology.nodes_of_face()[f];
        nodes.entries.push_back(face.size());
        for (const auto [n, unsigned_entry] : face) nodes.entries.push_back(global(n));
      }
    } else {
      for (const auto [n, sign] : topology.nodes_of_cell()[c]) nodes.entries.push_back(global(n));
    }
    nodes.starts.push_back(static_cast<std::int64_t>(nodes.entries.size()));
  }
  nodes = lists_in_slabs<Cell>(domain, std::move(nodes));
  const auto positions = in_slabs<Node>(domain, mesh.geometry().node_positions().host());
  const auto types = in_slabs<Cell>(domain, std::span(topology.cell_types()));
  return VtkhdfWriter({positions, types, nodes.starts, nodes.entries}, domain.communicator());
}

bool is_sound(const FieldDescription& field, Snapshot& snapshot, const Communicator& ranks) {
  bool sound = true;
  try {
    snapshot.field(field.name);
  } catch (const Error&) {
    sound = false;
  }
  return ranks.maximum(sound ? 0 : 1) == 0;
}

namespace {

/// What is to be written of a snapshot, in slabs.
class SharedFields {
 public:
  explicit SharedFields(const Mesh& mesh) : mesh_(mesh) {}

  void add(const FieldDescription& field, Snapshot& snapshot) {
    std::visit([&](const auto& values) { add(field.name, values); }, snapshot.field(field.name));
  }
  /// The number of each cell's region, where there are several.
  void add_regions() {
    if (mesh_.topology().region_names().size() < 2) return;
    const std::span<const Index> region = mesh_.topology().region_of_cell().host();
    std::vector<Real> numbers(region.begin(), region.end());
    cells_.emplace_back("region", kept(in_slabs<Cell>(mesh_.domain(), std::move(numbers))));
  }
  const std::vector<FieldView>& cells() const { return cells_; }
  const std::vector<FieldView>& nodes() const { return nodes_; }

 private:
  template <class E, class T>
  void add(const std::string& name, View<E, const T> values) {
    const Domain& domain = mesh_.domain();
    std::span<const T> mine(values.data(), at(domain.halo<E>().all().size()));
    if (domain.communicator().ranks() > 1) mine = kept(in_slabs<E>(domain, mine));
    (std::is_same_v<E, Node> ? nodes_ : cells_).emplace_back(name, mine);
  }

  std::span<const Real> kept(std::vector<Real> values) { return scalars_.emplace_back(std::move(values)); }
  std::span<const Vector3> kept(std::vector<Vector3> values) {
    return vectors_.emplace_back(std::move(values));
  }

  const Mesh& mesh_;
  std::vector<FieldView> cells_, nodes_;
  std::deque<std::vector<Real>> scalars_;
  std::deque<std::vector<Vector3>> vectors_;
};

}  // namespace

FieldFiles::FieldFiles(const std::filesystem::path& directory, const std::string& name, const Mesh& mesh,
                       std::optional<Real> restart_time)
    : name_(name), mesh_(mesh), series_(directory, name, make_writer(mesh), restart_time) {}

void FieldFiles::remove_replaced() {
  series_.remove_replaced();
  series_.remove_apart(name_of_diverged());
}

void FieldFiles::write(std::int64_t step, Real time, std::span<const FieldDescription> fields,
                       Snapshot& snapshot) {
  SharedFields shared(mesh_);
  for (const FieldDescription& field : fields) shared.add(field, snapshot);
  shared.add_regions();
  series_.write(step, time, shared.cells(), shared.nodes());
}

std::filesystem::path FieldFiles::write_diverged(Real time, std::span<const FieldDescription> fields,
                                                 Snapshot& snapshot) {
  SharedFields shared(mesh_);
  for (const FieldDescription& field : fields) {
    if (is_sound(field, snapshot, mesh_.domain().communicator())) shared.add(field, snapshot);
  }
  shared.add_regions();
  return series_.write_apart(name_of_diverged(), time, shared.cells(), shared.nodes());
}

}  // namespace curlew
