// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/box.hpp"

#include <initializer_list>

#include "kernels/error.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

RawMesh make_box(CellType type, std::array<Index, 3> blocks, Vector3 size) {
  const bool planar = is_planar(type);
  REQUIRE(type != CellType::Polygon && type != CellType::Polyhedron, "a box is made of standard cells");
  if (planar) blocks[2] = 0;
  REQUIRE(blocks[0] > 0 && blocks[1] > 0 && (planar || blocks[2] > 0),
          "a box needs a block in every direction");
  RawMesh raw;
  raw.dimension = planar ? 2 : 3;
  raw.region_names = {"box"};
  raw.patch_names = {"left", "right", "bottom", "top"};
  if (!planar) raw.patch_names.insert(raw.patch_names.end(), {"back", "front"});
  raw.cell_start = {0};
  raw.boundary_start = {0};

  const auto [nx, ny, nz] = blocks;
  const auto node = [&](Index i, Index j, Index k) { return i + (nx + 1) * (j + (ny + 1) * k); };
  for (Index k = 0; k <= nz; ++k) {
    for (Index j = 0; j <= ny; ++j) {
      for (Index i = 0; i <= nx; ++i) {
        const auto fraction = [](Index a, Index n) { return n > 0 ? static_cast<Real>(a) / n : Real(0); };
        raw.nodes.push_back({size.x * fraction(i, nx), size.y * fraction(j, ny), size.z * fraction(k, nz)});
      }
    }
  }
  const auto add_cell = [&](std::initializer_list<Index> nodes) {
    raw.cell_types.push_back(type);
    raw.cell_nodes.insert(raw.cell_nodes.end(), nodes.begin(), nodes.end());
    raw.cell_start.push_back(static_cast<std::int64_t>(raw.cell_nodes.size()));
    raw.cell_region.push_back(0);
  };
  const auto add_boundary = [&](std::initializer_list<Index> nodes, Index patch) {
    raw.boundary_nodes.insert(raw.boundary_nodes.end(), nodes.begin(), nodes.end());
    raw.boundary_start.push_back(static_cast<std::int64_t>(raw.boundary_nodes.size()));
    raw.boundary_patch.push_back(patch);
  };
  // How the four corners of a block's side are cut into faces follows from how the block is cut into cells.
  enum class Cut { None, FromFirst };
  const auto add_side = [&](Index a, Index b, Index c, Index d, Index patch, Cut cut) {
    if (cut == Cut::None) {
      add_boundary({a, b, c, d}, patch);
    } else {
      add_boundary({a, b, c}, patch);
      add_boundary({a, c, d}, patch);
    }
  };

  for (Index k = 0; k < (planar ? 1 : nz); ++k) {
    for (Index j = 0; j < ny; ++j) {
      for (Index i = 0; i < nx; ++i) {
        const Index a = node(i, j, k), b = node(i + 1, j, k), c = node(i + 1, j + 1, k),
                    d = node(i, j + 1, k);
        if (planar) {
          if (type == CellType::Quadrilateral) {
            add_cell({a, b, c, d});
          } else {
            add_cell({a, b, c});
            add_cell({a, c, d});
          }
          if (i == 0) add_boundary({d, a}, 0);
          if (i == nx - 1) add_boundary({b, c}, 1);
          if (j == 0) add_boundary({a, b}, 2);
          if (j == ny - 1) add_boundary({c, d}, 3);
          continue;
        }
        const Index e = node(i, j, k + 1), f = node(i + 1, j, k + 1), g = node(i + 1, j + 1, k + 1),
                    h = node(i, j + 1, k + 1);
        Cut across = Cut::None, along = Cut::None;  // sides normal to z; sides along z
        switch (type) {
          case CellType::Hexahedron:
            add_cell({a, b, c, d, e, f, g, h});
            break;
          case CellType::Prism:
            add_cell({a, b, c, e, f, g});
            add_cell({a, c, d, e, g, h});
            across = Cut::FromFirst;
            break;
          case CellType::Pyramid: {
            const auto centre = static_cast<Index>(raw.nodes.size());
            raw.nodes.push_back(Real(0.5) * (raw.nodes[at(a)] + raw.nodes[at(g)]));
            add_cell({a, b, c, d, centre});
            add_cell({e, h, g, f, centre});
            add_cell({a, e, f, b, centre});
            add_cell({b, f, g, c, centre});
            add_cell({c, g, h, d, centre});
            add_cell({d, h, e, a, centre});
            break;
          }
          default:  // tetrahedra about the diagonal from a to g (Kuhn, 1960)
            add_cell({a, b, c, g});
            add_cell({a, c, d, g});
            add_cell({a, d, h, g});
            add_cell({a, h, e, g});
            add_cell({a, e, f, g});
            add_cell({a, f, b, g});
            across = along = Cut::FromFirst;
        }
        if (i == 0) add_side(a, d, h, e, 0, along);
        if (i == nx - 1) add_side(b, c, g, f, 1, along);
        if (j == 0) add_side(a, b, f, e, 2, along);
        if (j == ny - 1) add_side(d, c, g, h, 3, along);
        if (k == 0) add_side(a, b, c, d, 4, across);
        if (k == nz - 1) add_side(e, f, g, h, 5, across);
      }
    }
  }
  return raw;
}

}  // namespace curlew
