// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/convergence/mesh_families.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <span>
#include <stdexcept>

#include "mesh/box.hpp"
#include "mesh/import/gmsh_import.hpp"
#include "tests/app/output_directory.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew::test {

namespace {

constexpr const char* square = R"(
Point(1) = {0, 0, 0}; Point(2) = {1, 0, 0}; Point(3) = {1, 1, 0}; Point(4) = {0, 1, 0};
Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {3, 4}; Line(4) = {4, 1};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
)";
constexpr const char* square_patches = R"(
Physical Surface("box") = {1};
Physical Curve("bottom") = {1}; Physical Curve("right") = {2}; Physical Curve("top") = {3}; Physical Curve("left") = {4};
)";
constexpr const char* cube_patches = R"(
Physical Volume("box") = {e(1)};
Physical Surface("back") = {1}; Physical Surface("front") = {e(0)};
Physical Surface("bottom") = {e(2)}; Physical Surface("right") = {e(3)};
Physical Surface("top") = {e(4)}; Physical Surface("left") = {e(5)};
)";

/// A left half of quadrilaterals and a right half of triangles.
constexpr const char* halves = R"(
Point(1) = {0, 0, 0}; Point(2) = {.5, 0, 0}; Point(3) = {1, 0, 0};
Point(4) = {1, 1, 0}; Point(5) = {.5, 1, 0}; Point(6) = {0, 1, 0};
Line(1) = {1, 2}; Line(2) = {2, 5}; Line(3) = {5, 6}; Line(4) = {6, 1};
Line(5) = {2, 3}; Line(6) = {3, 4}; Line(7) = {4, 5};
Curve Loop(1) = {1, 2, 3, 4}; Plane Surface(1) = {1};
Curve Loop(2) = {5, 6, 7, -2}; Plane Surface(2) = {2};
Recombine Surface{1};
)";
constexpr const char* halves_patches = R"(
Physical Surface("box") = {1, 2};
Physical Curve("bottom") = {1, 5}; Physical Curve("right") = {6}; Physical Curve("top") = {3, 7}; Physical Curve("left") = {4};
)";

RawMesh meshed(const std::string& recipe, Real h) {
  const OutputDirectory directory;
  write_text(directory / "box.geo", fmt::format("h = {};\n", h) + recipe);
  return import_mesh(directory / "box.geo", {.size = h});
}

RawMesh recombined(Real h) {
  return meshed(std::string(square) + "Recombine Surface{1};" + square_patches, h);
}

RawMesh extruded(Real h) {
  return meshed(std::string(square) +
                    "e() = Extrude {0, 0, 1} { Surface{1}; Layers{Round(1 / h)}; Recombine; };" +
                    cube_patches,
                h);
}

RawMesh box(CellType type, Real h) {
  return make_box(type, {blocks(h), blocks(h), blocks(h)});
}

/// From left to right prisms, hexahedra, pyramids and tetrahedra, each a quarter of the cube. (Gmsh 4.8 joins
/// hexahedra and tetrahedra by pyramids only once in a process.)
RawMesh hybrid(Real h) {
  constexpr std::array<CellType, 4> quarters{CellType::Prism, CellType::Hexahedron, CellType::Pyramid,
                                             CellType::Tetrahedron};
  RawMesh raw;
  const auto add_cell = [&](CellType type, std::span<const Index> nodes) {
    raw.cell_types.push_back(type);
    raw.cell_region.push_back(0);
    raw.cell_nodes.insert(raw.cell_nodes.end(), nodes.begin(), nodes.end());
    raw.cell_start.push_back(static_cast<std::int64_t>(raw.cell_nodes.size()));
  };
  raw.cell_start = raw.boundary_start = {0};
  for (std::size_t quarter = 0; quarter < quarters.size(); ++quarter) {
    const CellType type = quarters[quarter];
    RawMesh part = box(type, h);
    raw.region_names = part.region_names;
    raw.patch_names = part.patch_names;
    const auto is_here = [&](std::span<const Index> nodes) {
      Real middle = 0;
      for (const Index n : nodes) middle += part.nodes[at(n)].x / static_cast<Real>(nodes.size());
      return std::min(static_cast<std::size_t>(4 * middle), quarters.size() - 1) == quarter;
    };
    // Boxes of every type number the corners of blocks alike, before any centres.
    if (raw.nodes.empty()) raw.nodes = part.nodes;
    std::map<Index, Index> centres;
    for (std::size_t c = 0; c < part.cell_types.size(); ++c) {
      const auto nodes =
          std::span(part.cell_nodes)
              .subspan(at(part.cell_start[c]), at(part.cell_start[c + 1] - part.cell_start[c]));
      if (!is_here(nodes)) continue;
      if (type == CellType::Pyramid) {
        const auto [centre, added] = centres.try_emplace(nodes[4], static_cast<Index>(raw.nodes.size()));
        if (added) raw.nodes.push_back(part.nodes[at(nodes[4])]);
        nodes[4] = centre->second;
        if (raw.nodes[at(nodes[0])].x == 0.75 && raw.nodes[at(nodes[2])].x == 0.75) {
          // Cut in two as the sides of the tetrahedra behind are.
          add_cell(CellType::Tetrahedron, std::array{nodes[0], nodes[1], nodes[2], nodes[4]});
          add_cell(CellType::Tetrahedron, std::array{nodes[0], nodes[2], nodes[3], nodes[4]});
          continue;
        }
      }
      add_cell(type, nodes);
    }
    for (std::size_t f = 0; f < part.boundary_patch.size(); ++f) {
      const auto nodes =
          std::span(part.boundary_nodes)
              .subspan(at(part.boundary_start[f]), at(part.boundary_start[f + 1] - part.boundary_start[f]));
      if (!is_here(nodes)) continue;
      raw.boundary_nodes.insert(raw.boundary_nodes.end(), nodes.begin(), nodes.end());
      raw.boundary_start.push_back(static_cast<std::int64_t>(raw.boundary_nodes.size()));
      raw.boundary_patch.push_back(part.boundary_patch[f]);
    }
  }
  return raw;
}

RawMesh distorted(RawMesh raw, Real amount) {
  distort(raw, amount);
  return raw;
}

}  // namespace

RawMesh gmsh_mesh(int dimension, Real h) {
  if (dimension == 2) return meshed(std::string(square) + square_patches, h);
  return meshed(std::string(square) + "e() = Extrude {0, 0, 1} { Surface{1}; };" + cube_patches, h);
}

Index blocks(Real h) {
  return static_cast<Index>(std::lround(1 / h));
}

const std::vector<MeshFamily>& mesh_families() {
  static const std::vector<MeshFamily> families{
      {"gmsh_triangles", 2, [](Real h) { return gmsh_mesh(2, h); }},
      {"gmsh_triangles_perturbed", 2, [](Real h) { return distorted(gmsh_mesh(2, h), 0.15 * h); }},
      {"gmsh_quadrilaterals", 2, recombined},
      {"quadrilaterals", 2, [](Real h) { return box(CellType::Quadrilateral, h); }},
      {"quadrilaterals_perturbed", 2,
       [](Real h) { return distorted(box(CellType::Quadrilateral, h), 0.2 * h); }},
      {"hybrid_plane", 2, [](Real h) { return meshed(std::string(halves) + halves_patches, h); }},
      {"gmsh_tetrahedra", 3, [](Real h) { return gmsh_mesh(3, h); }},
      {"gmsh_tetrahedra_perturbed", 3, [](Real h) { return distorted(gmsh_mesh(3, h), 0.05 * h); }},
      {"tetrahedra_perturbed", 3, [](Real h) { return distorted(box(CellType::Tetrahedron, h), 0.1 * h); }},
      {"hexahedra", 3, [](Real h) { return box(CellType::Hexahedron, h); }},
      {"hexahedra_perturbed", 3, [](Real h) { return distorted(box(CellType::Hexahedron, h), 0.1 * h); }},
      {"prisms", 3, [](Real h) { return box(CellType::Prism, h); }},
      {"gmsh_prisms", 3, extruded},
      {"pyramids", 3, [](Real h) { return box(CellType::Pyramid, h); }},
      {"triangles_skewed", 2, [](Real h) { return distorted(box(CellType::Triangle, h), 0.25 * h); }},
      {"tetrahedra_skewed", 3, [](Real h) { return distorted(box(CellType::Tetrahedron, h), 0.15 * h); }},
      {"hybrid", 3, hybrid},
      {"hybrid_perturbed", 3, [](Real h) { return distorted(hybrid(h), 0.1 * h); }},
  };
  return families;
}

const MeshFamily& mesh_family(const std::string& name) {
  for (const MeshFamily& family : mesh_families()) {
    if (family.name == name) return family;
  }
  throw std::out_of_range("no family of meshes is called " + name);
}

}  // namespace curlew::test
