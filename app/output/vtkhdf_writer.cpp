// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/vtkhdf_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>

#include "app/files/hdf5_file.hpp"
#include "kernels/error.hpp"

namespace curlew {

namespace {

struct VtkShape {
  std::uint8_t type;
  std::size_t nodes;  // 0: any number
};

VtkShape vtk_shape(CellType type) {
  switch (type) {
    case CellType::Triangle:
      return {5, 3};
    case CellType::Quadrilateral:
      return {9, 4};
    case CellType::Polygon:
      return {7, 0};
    case CellType::Tetrahedron:
      return {10, 4};
    case CellType::Hexahedron:
      return {12, 8};
    case CellType::Prism:
      return {13, 6};
    case CellType::Pyramid:
      return {14, 5};
    case CellType::Polyhedron:
      break;
  }
  throw Error("a polyhedron has no cell type in VTKHDF 1.0");
}

constexpr std::uint8_t vtk_tetrahedron = 10;

std::span<const Index> nodes_of(const MeshView& mesh, std::size_t cell) {
  const std::int64_t start = mesh.cell_start[cell], end = mesh.cell_start[cell + 1];
  REQUIRE(0 <= start && start <= end && end <= std::ssize(mesh.cell_nodes),
          fmt::format("the nodes of cell {} lie outside the mesh's list of cell nodes", cell));
  return mesh.cell_nodes.subspan(at(start), at(end - start));
}

void require_nodes(std::span<const Index> nodes, std::size_t cell, std::int64_t mesh_nodes) {
  for (const Index n : nodes) {
    REQUIRE(n >= 0 && n < mesh_nodes,
            fmt::format("cell {} names node {} of a mesh of {} nodes", cell, n, mesh_nodes));
  }
}

/// Nodes of the faces of a polyhedron from its list in RawMesh.
std::vector<std::span<const Index>> faces_of(std::span<const Index> list, std::size_t cell) {
  std::vector<std::span<const Index>> faces;
  for (std::size_t at = 0; at < list.size();) {
    const auto count = static_cast<std::size_t>(list[at]);
    REQUIRE(list[at] >= 3 && at + 1 + count <= list.size(),
            fmt::format("polyhedron {} has a face of {} nodes in a list of {}", cell, list[at], list.size()));
    faces.push_back(list.subspan(at + 1, count));
    at += 1 + count;
  }
  return faces;
}

}  // namespace

/// Divides the polyhedra of a slab. What it adds is numbered behind the nodes of the whole mesh, from the
/// first that this rank adds on.
class VtkhdfWriter::Polyhedra {
 public:
  Polyhedra(VtkhdfWriter& writer, const MeshView& mesh) : writer_(writer) {
    for (std::size_t c = 0; c < mesh.cell_types.size(); ++c) {
      if (mesh.cell_types[c] != CellType::Polyhedron) continue;
      for (const auto face : faces_of(nodes_of(mesh, c), c)) {
        require_nodes(face, c, writer.node_slabs_.rows());
        writer.needed_.insert(writer.needed_.end(), face.begin(), face.end());
      }
    }
    std::ranges::sort(writer.needed_);
    writer.needed_.erase(std::unique(writer.needed_.begin(), writer.needed_.end()), writer.needed_.end());
    positions_ = rows_of_slabs(*writer.ranks_, writer.node_slabs_, mesh.nodes, writer.needed_, 1);
  }

  void add(std::span<const Index> list, std::size_t cell) {
    const auto faces = faces_of(list, cell);
    std::vector<Index> cell_nodes;
    for (const auto face : faces) cell_nodes.insert(cell_nodes.end(), face.begin(), face.end());
    std::ranges::sort(cell_nodes);
    cell_nodes.erase(std::unique(cell_nodes.begin(), cell_nodes.end()), cell_nodes.end());
    const std::int64_t centre = add_mean(cell_nodes);
    for (const auto face : faces) {
      if (face.size() == 3) {
        add_tetrahedron({face[0], face[1], face[2], centre});
        continue;
      }
      const std::int64_t middle = add_mean(face);
      for (std::size_t k = 0; k < face.size(); ++k) {
        add_tetrahedron({face[k], face[(k + 1) % face.size()], middle, centre});
      }
    }
  }

 private:
  std::size_t needed(std::int64_t node) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(writer_.needed_, node) -
                                    writer_.needed_.begin());
  }

  Vector3 position(std::int64_t node) const {
    const std::int64_t mesh_nodes = writer_.node_slabs_.rows();
    return node < mesh_nodes ? positions_[needed(node)] : writer_.added_[at(node - mesh_nodes)];
  }

  void add_tetrahedron(std::array<std::int64_t, 4> nodes) {
    const Vector3 origin = position(nodes[0]);
    const Vector3 base = cross(position(nodes[1]) - origin, position(nodes[2]) - origin);
    if (dot(base, position(nodes[3]) - origin) < 0) std::swap(nodes[0], nodes[1]);
    writer_.connectivity_.insert(writer_.connectivity_.end(), nodes.begin(), nodes.end());
    writer_.types_.push_back(vtk_tetrahedron);
    writer_.ends_.push_back(std::ssize(writer_.connectivity_));
  }

  std::int64_t add_mean(std::span<const Index> nodes) {
    Vector3 sum;
    for (const Index n : nodes) {
      sum += position(n);
      writer_.mean_nodes_.push_back(needed(n));
    }
    writer_.mean_start_.push_back(writer_.mean_nodes_.size());
    writer_.added_.push_back(sum / static_cast<double>(nodes.size()));
    return writer_.node_slabs_.rows() + std::ssize(writer_.added_) - 1;
  }

  VtkhdfWriter& writer_;
  std::vector<Vector3> positions_;  // of the nodes that are needed [m]
};

VtkhdfWriter::VtkhdfWriter(MeshView mesh, const Communicator& ranks)
    : ranks_(&ranks),
      node_slabs_(stretches_of(ranks, std::array{std::ssize(mesh.nodes)})[0].total, 1, ranks.ranks()),
      mesh_cells_(mesh.cell_types.size()),
      points_(mesh.nodes.begin(), mesh.nodes.end()) {
  REQUIRE(std::ssize(mesh.nodes) == node_slabs_.size(ranks.rank()),
          "these are not the slabs of a mesh's nodes");
  REQUIRE(mesh.cell_start.size() == mesh_cells_ + 1,
          fmt::format("a mesh of {} cells needs {} cell offsets, got {}", mesh_cells_, mesh_cells_ + 1,
                      mesh.cell_start.size()));
  const bool has_polyhedra = std::ranges::count(mesh.cell_types, CellType::Polyhedron) > 0;
  types_.reserve(mesh_cells_);  // more where there are polyhedra
  ends_.reserve(mesh_cells_);
  connectivity_.reserve(mesh.cell_nodes.size());
  Polyhedra polyhedra(*this, mesh);
  for (std::size_t c = 0; c < mesh_cells_; ++c) {
    if (mesh.cell_types[c] == CellType::Polyhedron) {
      polyhedra.add(nodes_of(mesh, c), c);
    } else {
      add_cell(mesh.cell_types[c], nodes_of(mesh, c), c);
    }
    if (has_polyhedra) cell_of_.resize(types_.size(), static_cast<Index>(c));
  }
  const auto stretches = stretches_of(ranks, std::array{std::ssize(added_), std::ssize(connectivity_)});
  any_added_ = stretches[0].total > 0;
  for (std::int64_t& node : connectivity_) {
    if (node >= node_slabs_.rows()) node += stretches[0].before;
  }
  for (std::int64_t& end : ends_) end += stretches[1].before;
}

void VtkhdfWriter::add_cell(CellType type, std::span<const Index> nodes, std::size_t cell) {
  const VtkShape shape = vtk_shape(type);
  REQUIRE(shape.nodes == 0 ? nodes.size() >= 3 : nodes.size() == shape.nodes,
          fmt::format("cell {} of VTK type {} has {} nodes", cell, shape.type, nodes.size()));
  require_nodes(nodes, cell, node_slabs_.rows());
  if (type == CellType::Prism) {
    // VTK wants the first triangle's normal to point out of the prism, Gmsh's points into it.
    for (const std::size_t k : {0u, 2u, 1u, 3u, 5u, 4u}) connectivity_.push_back(nodes[k]);
  } else {
    connectivity_.insert(connectivity_.end(), nodes.begin(), nodes.end());
  }
  types_.push_back(shape.type);
  ends_.push_back(std::ssize(connectivity_));
}

void VtkhdfWriter::write(const std::filesystem::path& path, double time,
                         std::span<const FieldView> cell_fields,
                         std::span<const FieldView> node_fields) const {
  const auto require_size = [](const FieldView& field, std::size_t entities, const char* entity) {
    REQUIRE(field.values.size() == entities * static_cast<std::size_t>(field.components),
            fmt::format("field '{}' has {} values of {} components, the mesh {} {}", field.name,
                        field.values.size() / static_cast<std::size_t>(field.components), field.components,
                        entities, entity));
  };
  Hdf5Writer file(path, 0, *ranks_);
  const std::string root = "/VTKHDF";
  file.create_group(root);
  file.write_attribute(root, "Version", std::array<std::int64_t, 2>{1, 0});
  file.write_attribute(root, "Type", "UnstructuredGrid");
  const auto stretches =
      stretches_of(*ranks_, std::array{std::ssize(added_), std::ssize(types_), std::ssize(connectivity_)});
  const auto write_integer = [&](const std::string& name, std::int64_t value) {
    file.write(root + "/" + name, std::span<const std::int64_t>(&value, 1));
  };
  write_integer("NumberOfPoints", node_slabs_.rows() + stretches[0].total);
  write_integer("NumberOfCells", stretches[1].total);
  write_integer("NumberOfConnectivityIds", stretches[2].total);
  const auto numbers = [](const std::vector<Vector3>& vectors) { return FieldView("", vectors).values; };
  file.write_shares<double>(root + "/Points", {numbers(points_), numbers(added_)}, 3);
  file.write_shares<std::int64_t>(root + "/Connectivity", {connectivity_});
  const std::vector<std::int64_t> begin(ranks_->rank() == 0 ? 1 : 0, 0);
  file.write_shares<std::int64_t>(root + "/Offsets", {begin, ends_});
  file.write_shares<std::uint8_t>(root + "/Types", {types_});

  std::deque<std::vector<double>> stores;  // until the file is written
  file.create_group(root + "/CellData");
  for (const FieldView& field : cell_fields) {
    require_size(field, mesh_cells_, "cells");
    file.write_shares<double>(root + "/CellData/" + field.name, {on_cells(field, stores.emplace_back())},
                              field.components);
  }
  file.create_group(root + "/PointData");
  for (const FieldView& field : node_fields) {
    require_size(field, points_.size(), "nodes");
    file.write_shares<double>(root + "/PointData/" + field.name,
                              {field.values, stores.emplace_back(on_added(field))}, field.components);
  }
  file.create_group(root + "/FieldData");
  file.write(root + "/FieldData/TimeValue", std::span<const double>(&time, 1));
  file.commit();
}

std::span<const double> VtkhdfWriter::on_cells(const FieldView& field, std::vector<double>& store) const {
  if (cell_of_.empty()) return field.values;
  const auto width = static_cast<std::size_t>(field.components);
  store.reserve(width * cell_of_.size());
  for (const Index c : cell_of_) {
    const auto row = field.values.subspan(static_cast<std::size_t>(c) * width, width);
    store.insert(store.end(), row.begin(), row.end());
  }
  return store;
}

std::vector<double> VtkhdfWriter::on_added(const FieldView& field) const {
  if (!any_added_) return {};
  const auto width = static_cast<std::size_t>(field.components);
  const std::vector<double> needed =
      rows_of_slabs(*ranks_, node_slabs_, field.values, needed_, field.components);
  std::vector<double> means;
  means.reserve(width * added_.size());
  for (std::size_t k = 0; k < added_.size(); ++k) {
    const std::size_t start = mean_start_[k], end = mean_start_[k + 1];
    for (std::size_t component = 0; component < width; ++component) {
      double sum = 0;
      for (std::size_t n = start; n < end; ++n) sum += needed[mean_nodes_[n] * width + component];
      means.push_back(sum / static_cast<double>(end - start));
    }
  }
  return means;
}

}  // namespace curlew
