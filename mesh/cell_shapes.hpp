// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <span>

#include "mesh/import/raw_mesh.hpp"

namespace curlew {

/// A face of a standard cell by local node numbers, counter-clockwise seen from outside.
struct LocalFace {
  int size = 0;
  std::array<int, 4> nodes{};
};

/// Faces of a three-dimensional standard cell (empty for polygons and polyhedra).
std::span<const LocalFace> local_faces(CellType type);

/// Name for messages and reports: "triangle", "hexahedron", …
const char* name(CellType type);

/// Whether each face lies opposite another one.
constexpr bool is_box(CellType type) {
  return type == CellType::Quadrilateral || type == CellType::Hexahedron;
}

/// True for triangles and tetrahedra.
constexpr bool is_simplex(CellType type) {
  return type == CellType::Triangle || type == CellType::Tetrahedron;
}
/// True for triangles, quadrilaterals and polygons.
constexpr bool is_planar(CellType type) {
  return type == CellType::Triangle || type == CellType::Quadrilateral || type == CellType::Polygon;
}
/// Number of nodes of a standard cell; 0 for polygons and polyhedra, whose number varies.
int node_count(CellType type);

/// Calls `visit(slot, nodes, size)` for every face of a cell, counter-clockwise seen from outside (sides of a
/// polygon: in the order of its nodes). `nodes`, `count`: the cell's entry in RawMesh::cell_nodes.
template <class Visit>
void visit_cell_faces(CellType type, const Index* nodes, std::int64_t count, const Visit& visit) {
  if (is_planar(type)) {
    for (std::int64_t k = 0; k < count; ++k) {
      const std::array<Index, 2> side{nodes[k], nodes[k + 1 < count ? k + 1 : 0]};
      visit(static_cast<int>(k), side.data(), 2);
    }
  } else if (type == CellType::Polyhedron) {
    int slot = 0;
    for (std::int64_t k = 0; k < count; k += 1 + nodes[k])
      visit(slot++, nodes + k + 1, static_cast<int>(nodes[k]));
  } else {
    int slot = 0;
    for (const LocalFace& face : local_faces(type)) {
      std::array<Index, 4> face_nodes{};
      for (int k = 0; k < face.size; ++k) {
        face_nodes[static_cast<std::size_t>(k)] = nodes[face.nodes[static_cast<std::size_t>(k)]];
      }
      visit(slot++, face_nodes.data(), face.size);
    }
  }
}

/// Mean of a cell's nodes as often as faces hold them: a point inside any reasonable cell [m].
Vector3 middle_of(const RawMesh& raw, std::size_t cell);

}  // namespace curlew
