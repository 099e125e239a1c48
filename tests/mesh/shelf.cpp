// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/mesh/shelf.hpp"

#include <map>
#include <random>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

void distort(RawMesh& raw, Real amount) {
  std::vector<bool> fixed(raw.nodes.size(), false);
  for (const Index n : raw.boundary_nodes) fixed[at(n)] = true;
  std::mt19937_64 generator(1);
  std::uniform_real_distribution<Real> shift(-amount, amount);
  for (std::size_t n = 0; n < raw.nodes.size(); ++n) {
    if (fixed[n]) continue;
    raw.nodes[n].x += shift(generator);
    raw.nodes[n].y += shift(generator);
    if (raw.dimension == 3) raw.nodes[n].z += shift(generator);
  }
}

namespace {

/// The same cells as polygons or polyhedra, listed by their faces.
RawMesh as_general_cells(const RawMesh& standard) {
  RawMesh raw = standard;
  raw.cell_nodes.clear();
  for (std::size_t c = 0; c < standard.cell_types.size(); ++c) {
    const Index* nodes = standard.cell_nodes.data() + standard.cell_start[c];
    const std::int64_t count = standard.cell_start[c + 1] - standard.cell_start[c];
    if (standard.dimension == 2) {
      raw.cell_types[c] = CellType::Polygon;
      raw.cell_nodes.insert(raw.cell_nodes.end(), nodes, nodes + count);
    } else {
      raw.cell_types[c] = CellType::Polyhedron;
      visit_cell_faces(standard.cell_types[c], nodes, count, [&](int slot, const Index* face, int size) {
        raw.cell_nodes.push_back(size);
        // Every other face is listed clockwise: a polyhedron's faces may come in any orientation.
        for (int k = 0; k < size; ++k) raw.cell_nodes.push_back(face[slot % 2 == 0 ? k : size - 1 - k]);
      });
    }
    raw.cell_start[c + 1] = static_cast<std::int64_t>(raw.cell_nodes.size());
  }
  return raw;
}

/// Gives a mesh of standard cells or polygons its cells, and no tagged faces.
void add_cells(RawMesh& raw, const std::vector<std::vector<Index>>& cells) {
  raw.cell_start = {0};
  for (const auto& cell : cells) {
    raw.cell_nodes.insert(raw.cell_nodes.end(), cell.begin(), cell.end());
    raw.cell_start.push_back(static_cast<std::int64_t>(raw.cell_nodes.size()));
    raw.cell_region.push_back(0);
  }
  raw.boundary_start = {0};
}

/// One layer of hexahedra, pyramids on it and tetrahedra in between would need a recipe of its own; a
/// hexahedron with a prism, a pyramid and a tetrahedron glued to its faces has all four kinds of neighbours.
RawMesh hybrid() {
  RawMesh raw;
  raw.dimension = 3;
  raw.nodes = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0},   {0, 1, 0},  {0, 0, 1},  {1, 0, 1},
               {1, 1, 1}, {0, 1, 1}, {.5, .5, 2}, {2, 0, .2}, {2, 1, .2}, {1.6, .5, 1.6}};
  raw.cell_types = {CellType::Hexahedron, CellType::Pyramid, CellType::Prism, CellType::Tetrahedron,
                    CellType::Pyramid};
  const std::vector<std::vector<Index>> cells{
      {0, 1, 2, 3, 4, 5, 6, 7}, {4, 5, 6, 7, 8}, {1, 9, 5, 2, 10, 6}, {5, 6, 8, 11}, {5, 9, 10, 6, 11}};
  add_cells(raw, cells);
  raw.region_names = {"hybrid"};
  return raw;
}

RawMesh mixed_plane() {
  RawMesh raw;
  raw.dimension = 2;
  raw.nodes = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2.2, 1, 0}, {1, 1.1, 0}, {0, 1, 0}, {.4, 2, 0}, {1.7, 2, 0}};
  raw.cell_types = {CellType::Quadrilateral, CellType::Triangle, CellType::Triangle, CellType::Polygon};
  const std::vector<std::vector<Index>> cells{{0, 1, 4, 5}, {1, 2, 4}, {2, 3, 4}, {5, 4, 3, 7, 6}};
  add_cells(raw, cells);
  raw.region_names = {"plane"};
  return raw;
}

/// A square ring, or a block with a tunnel along z; nothing of the boundary has a name.
RawMesh without_middle(CellType type, Index blocks) {
  const Real low = static_cast<Real>(blocks / 3) / blocks, high = 1 - low;
  RawMesh raw = without(make_box(type, {blocks, blocks, 2}), [low, high](Vector3 x) {
    return x.x > low && x.x < high && x.y > low && x.y < high;
  });
  forget_patches(raw);
  return raw;
}

std::vector<ShelfMesh> make_shelf() {
  std::vector<ShelfMesh> meshes;
  const std::map<std::string, CellType> types{
      {"triangles", CellType::Triangle},     {"quadrilaterals", CellType::Quadrilateral},
      {"tetrahedra", CellType::Tetrahedron}, {"hexahedra", CellType::Hexahedron},
      {"prisms", CellType::Prism},           {"pyramids", CellType::Pyramid}};
  for (const auto& [name, type] : types) {
    const bool planar = is_planar(type);
    RawMesh raw = make_box(type, {4, 3, 3}, {1, 1, 1});
    meshes.push_back({name, raw});
    // A hexahedron whose nodes move keeps no face plane; "planar" recipes below stretch and shear instead.
    RawMesh moved = raw;
    distort(moved, 0.05);
    meshes.push_back({name + "_distorted", moved});
    for (Vector3& x : raw.nodes) x = {x.x + 0.9 * x.y, 0.05 * x.y, planar ? 0 : x.z + 0.5 * x.x};
    meshes.push_back({name + "_sliver", raw});
    meshes.push_back({name + "_one_block", make_box(type, {1, 1, 1})});
    meshes.push_back({name + "_ring", without_middle(type, 4)});
  }
  RawMesh polygons = as_general_cells(make_box(CellType::Quadrilateral, {4, 3, 0}));
  distort(polygons, 0.05);
  meshes.push_back({"polygons", polygons});
  RawMesh polyhedra = as_general_cells(make_box(CellType::Hexahedron, {3, 3, 2}));
  meshes.push_back({"polyhedra", polyhedra});
  distort(polyhedra, 0.05);
  meshes.push_back({"polyhedra_distorted", polyhedra});
  meshes.push_back({"hybrid", hybrid()});
  meshes.push_back({"mixed_plane", mixed_plane()});
  return meshes;
}

}  // namespace

const std::vector<ShelfMesh>& shelf() {
  static const std::vector<ShelfMesh> meshes = make_shelf();
  return meshes;
}

RawMesh without(const RawMesh& raw, const std::function<bool(Vector3)>& is_inside) {
  RawMesh kept = raw;
  kept.cell_types.clear();
  kept.cell_region.clear();
  kept.cell_nodes.clear();
  kept.cell_start = {0};
  for (std::size_t c = 0; c < raw.cell_types.size(); ++c) {
    const auto first = raw.cell_nodes.begin() + raw.cell_start[c];
    const auto last = raw.cell_nodes.begin() + raw.cell_start[c + 1];
    Vector3 centre{};
    for (auto n = first; n < last; ++n) centre += raw.nodes[at(*n)] / static_cast<Real>(last - first);
    if (is_inside(centre)) continue;
    kept.cell_types.push_back(raw.cell_types[c]);
    kept.cell_region.push_back(raw.cell_region[c]);
    kept.cell_nodes.insert(kept.cell_nodes.end(), first, last);
    kept.cell_start.push_back(static_cast<std::int64_t>(kept.cell_nodes.size()));
  }
  return kept;
}

void forget_patches(RawMesh& raw) {
  raw.boundary_start = {0};
  raw.boundary_nodes.clear();
  raw.boundary_patch.clear();
  raw.patch_names.clear();
}

RawMesh narrow_gaps(Index blocks, Index apart) {
  const Real gap = static_cast<Real>(apart) / blocks;
  const auto is_inside = [gap](Real x) { return x > gap && x < 1 - gap; };
  return without(make_box(CellType::Tetrahedron, {blocks, blocks, blocks}),
                 [&](Vector3 x) { return is_inside(x.x) && is_inside(x.y) && is_inside(x.z); });
}

}  // namespace curlew
