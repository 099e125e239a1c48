// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

constexpr std::array<LocalFace, 4> tetrahedron{
    {{3, {0, 2, 1, 0}}, {3, {0, 1, 3, 0}}, {3, {1, 2, 3, 0}}, {3, {0, 3, 2, 0}}}};
constexpr std::array<LocalFace, 6> hexahedron{{{4, {0, 3, 2, 1}},
                                               {4, {4, 5, 6, 7}},
                                               {4, {0, 1, 5, 4}},
                                               {4, {1, 2, 6, 5}},
                                               {4, {2, 3, 7, 6}},
                                               {4, {3, 0, 4, 7}}}};
constexpr std::array<LocalFace, 5> prism{
    {{3, {0, 2, 1, 0}}, {3, {3, 4, 5, 0}}, {4, {0, 1, 4, 3}}, {4, {1, 2, 5, 4}}, {4, {2, 0, 3, 5}}}};
constexpr std::array<LocalFace, 5> pyramid{
    {{4, {0, 3, 2, 1}}, {3, {0, 1, 4, 0}}, {3, {1, 2, 4, 0}}, {3, {2, 3, 4, 0}}, {3, {3, 0, 4, 0}}}};

}  // namespace

std::span<const LocalFace> local_faces(CellType type) {
  switch (type) {
    case CellType::Tetrahedron:
      return tetrahedron;
    case CellType::Hexahedron:
      return hexahedron;
    case CellType::Prism:
      return prism;
    case CellType::Pyramid:
      return pyramid;
    default:
      return {};
  }
}

const char* name(CellType type) {
  switch (type) {
    case CellType::Triangle:
      return "triangle";
    case CellType::Quadrilateral:
      return "quadrilateral";
    case CellType::Polygon:
      return "polygon";
    case CellType::Tetrahedron:
      return "tetrahedron";
    case CellType::Hexahedron:
      return "hexahedron";
    case CellType::Prism:
      return "prism";
    case CellType::Pyramid:
      return "pyramid";
    case CellType::Polyhedron:
      return "polyhedron";
  }
  return "cell";
}

int node_count(CellType type) {
  switch (type) {
    case CellType::Triangle:
      return 3;
    case CellType::Quadrilateral:
    case CellType::Tetrahedron:
      return 4;
    case CellType::Pyramid:
      return 5;
    case CellType::Prism:
      return 6;
    case CellType::Hexahedron:
      return 8;
    case CellType::Polygon:
    case CellType::Polyhedron:
      return 0;
  }
  return 0;
}

Vector3 middle_of(const RawMesh& raw, std::size_t cell) {
  Vector3 sum{};
  Index count = 0;
  visit_cell_faces(raw.cell_types[cell], raw.cell_nodes.data() + raw.cell_start[cell],
                   raw.cell_start[cell + 1] - raw.cell_start[cell], [&](int, const Index* nodes, int size) {
                     for (int k = 0; k < size; ++k) sum += raw.nodes[at(nodes[k])];
                     count += size;
                   });
  return sum / static_cast<Real>(count);
}

}  // namespace curlew
