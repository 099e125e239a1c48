// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/vtkhdf_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "app/hdf5_file.hpp"
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

}  // namespace

VtkhdfWriter::VtkhdfWriter(MeshView mesh)
    : mesh_cells_(mesh.cell_types.size()),
      mesh_nodes_(mesh.nodes.size()),
      points_(mesh.nodes.begin(), mesh.nodes.end()) {
  REQUIRE(mesh.cell_start.size() == mesh_cells_ + 1,
          fmt::format("a mesh of {} cells needs {} cell offsets, got {}", mesh_cells_, mesh_cells_ + 1,
                      mesh.cell_start.size()));
  const bool has_polyhedra = std::ranges::count(mesh.cell_types, CellType::Polyhedron) > 0;
  offsets_.push_back(0);
  for (std::size_t c = 0; c < mesh_cells_; ++c) {
    const std::int64_t start = mesh.cell_start[c], end = mesh.cell_start[c + 1];
    REQUIRE(0 <= start && start <= end && end <= std::ssize(mesh.cell_nodes),
            fmt::format("the nodes of cell {} lie outside the mesh's list of cell nodes", c));
    const auto nodes =
        mesh.cell_nodes.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(end - start));
    if (mesh.cell_types[c] == CellType::Polyhedron) {
      add_polyhedron(nodes, c);
    } else {
      add_cell(mesh.cell_types[c], nodes, c);
    }
    if (has_polyhedra) cell_of_.resize(types_.size(), static_cast<Index>(c));
  }
}

void VtkhdfWriter::require_nodes(std::span<const Index> nodes, std::size_t cell) const {
  for (const Index n : nodes) {
    REQUIRE(n >= 0 && static_cast<std::size_t>(n) < mesh_nodes_,
            fmt::format("cell {} names node {} of a mesh of {} nodes", cell, n, mesh_nodes_));
  }
}

void VtkhdfWriter::add_cell(CellType type, std::span<const Index> nodes, std::size_t cell) {
  const VtkShape shape = vtk_shape(type);
  REQUIRE(shape.nodes == 0 ? nodes.size() >= 3 : nodes.size() == shape.nodes,
          fmt::format("cell {} of VTK type {} has {} nodes", cell, shape.type, nodes.size()));
  require_nodes(nodes, cell);
  if (type == CellType::Prism) {
    // VTK wants the first triangle's normal to point out of the prism, Gmsh's points into it.
    for (const std::size_t k : {0u, 2u, 1u, 3u, 5u, 4u}) connectivity_.push_back(nodes[k]);
  } else {
    connectivity_.insert(connectivity_.end(), nodes.begin(), nodes.end());
  }
  types_.push_back(shape.type);
  offsets_.push_back(std::ssize(connectivity_));
}

void VtkhdfWriter::add_polyhedron(std::span<const Index> faces, std::size_t cell) {
  std::vector<std::span<const Index>> face_nodes;
  std::vector<Index> cell_nodes;
  for (std::size_t at = 0; at < faces.size();) {
    const auto count = static_cast<std::size_t>(faces[at]);
    REQUIRE(
        faces[at] >= 3 && at + 1 + count <= faces.size(),
        fmt::format("polyhedron {} has a face of {} nodes in a list of {}", cell, faces[at], faces.size()));
    face_nodes.push_back(faces.subspan(at + 1, count));
    require_nodes(face_nodes.back(), cell);
    cell_nodes.insert(cell_nodes.end(), face_nodes.back().begin(), face_nodes.back().end());
    at += 1 + count;
  }
  std::ranges::sort(cell_nodes);
  cell_nodes.erase(std::unique(cell_nodes.begin(), cell_nodes.end()), cell_nodes.end());
  const std::int64_t centre = add_mean(cell_nodes);
  for (const auto face : face_nodes) {
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

void VtkhdfWriter::add_tetrahedron(std::array<std::int64_t, 4> nodes) {
  const auto at = [&](int k) {
    return points_[static_cast<std::size_t>(nodes[static_cast<std::size_t>(k)])];
  };
  const Vector3 base = cross(at(1) - at(0), at(2) - at(0));
  if (dot(base, at(3) - at(0)) < 0) std::swap(nodes[0], nodes[1]);
  connectivity_.insert(connectivity_.end(), nodes.begin(), nodes.end());
  types_.push_back(vtk_tetrahedron);
  offsets_.push_back(std::ssize(connectivity_));
}

std::int64_t VtkhdfWriter::add_mean(std::span<const Index> nodes) {
  Vector3 sum;
  for (const Index n : nodes) sum += points_[static_cast<std::size_t>(n)];
  points_.push_back(sum / static_cast<double>(nodes.size()));
  mean_nodes_.insert(mean_nodes_.end(), nodes.begin(), nodes.end());
  mean_start_.push_back(mean_nodes_.size());
  return std::ssize(points_) - 1;
}

void VtkhdfWriter::write(const std::filesystem::path& path, double time,
                         std::span<const FieldView> cell_fields,
                         std::span<const FieldView> node_fields) const {
  Hdf5Writer file(path);
  const std::string root = "/VTKHDF";
  file.create_group(root);
  file.write_attribute(root, "Version", std::array<std::int64_t, 2>{1, 0});
  file.write_attribute(root, "Type", "UnstructuredGrid");
  const auto write_integers = [&](const std::string& name, std::span<const std::int64_t> values) {
    file.write(root + "/" + name, values);
  };
  write_integers("NumberOfPoints", std::array{std::ssize(points_)});
  write_integers("NumberOfCells", std::array{std::ssize(types_)});
  write_integers("NumberOfConnectivityIds", std::array{std::ssize(connectivity_)});
  file.write(root + "/Points", FieldView("Points", points_).values, 3);
  write_integers("Connectivity", connectivity_);
  write_integers("Offsets", offsets_);
  file.write(root + "/Types", std::span<const std::uint8_t>(types_));

  const auto write_fields = [&](const std::string& group, std::span<const FieldView> fields,
                                std::size_t entities, const char* entity, auto expand) {
    file.create_group(root + group);
    for (const FieldView& field : fields) {
      REQUIRE(field.values.size() == entities * static_cast<std::size_t>(field.components),
              fmt::format("field '{}' has {} values of {} components, the mesh {} {}", field.name,
                          field.values.size() / static_cast<std::size_t>(field.components), field.components,
                          entities, entity));
      std::vector<double> expanded;
      file.write(root + group + "/" + field.name, (this->*expand)(field, expanded), field.components);
    }
  };
  write_fields("/CellData", cell_fields, mesh_cells_, "cells", &VtkhdfWriter::on_cells);
  write_fields("/PointData", node_fields, mesh_nodes_, "nodes", &VtkhdfWriter::on_nodes);
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

std::span<const double> VtkhdfWriter::on_nodes(const FieldView& field, std::vector<double>& store) const {
  if (mean_nodes_.empty()) return field.values;
  const auto width = static_cast<std::size_t>(field.components);
  store.reserve(width * points_.size());
  store.assign(field.values.begin(), field.values.end());
  for (std::size_t added = 0; added + 1 < mean_start_.size(); ++added) {
    const std::size_t start = mean_start_[added], end = mean_start_[added + 1];
    for (std::size_t component = 0; component < width; ++component) {
      double sum = 0;
      for (std::size_t k = start; k < end; ++k) {
        sum += field.values[static_cast<std::size_t>(mean_nodes_[k]) * width + component];
      }
      store.push_back(sum / static_cast<double>(end - start));
    }
  }
  return store;
}

}  // namespace curlew
