// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/mesh/periodic_boxes.hpp"

#include <cmath>
#include <random>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

RawMesh PeriodicBox::raw(Index cut) const {
  const Vector3 size{1, 2, is_planar(type) ? 0 : 1.5};
  RawMesh raw = make_box(type, blocks, size);
  for (Vector3& x : raw.nodes) {
    if (!distorted) {
      x = {x.x + 0.3 * x.y + 0.2 * x.z, x.y - 0.1 * x.z, x.z};
      continue;
    }
    // Nodes lie on a grid of half the blocks' width.
    const auto place = [&](Real along, Real length, Index count) -> Index {
      return length > 0
                 ? (static_cast<Index>(std::lround(2 * count * along / length)) + 2 * cut) % (2 * count)
                 : 0;
    };
    const Index i = place(x.x, size.x, blocks[0]), j = place(x.y, size.y, blocks[1]),
                k = place(x.z, size.z, blocks[2]);
    std::mt19937_64 generator(static_cast<std::uint64_t>(i + 100 * (j + 100 * k)));
    generator.discard(10);
    std::uniform_real_distribution<Real> shift(-0.1, 0.1);
    const auto move = [&](Real length, Index count) {
      return length > 0 ? shift(generator) * length / count : Real(0);
    };
    x += Vector3{move(size.x, blocks[0]), move(size.y, blocks[1]), move(size.z, blocks[2])};
  }
  return raw;
}

std::vector<PeriodicPair> PeriodicBox::pairs() const {
  const std::vector<PeriodicPair> all{{"left", "right"}, {"bottom", "top"}, {"back", "front"}};
  return {all.begin(), all.begin() + directions};
}

bool PeriodicBox::has_planar_faces() const {
  return !distorted || is_planar(type) || type == CellType::Tetrahedron;
}

const std::vector<PeriodicBox>& periodic_boxes() {
  static const std::vector<PeriodicBox> boxes = [] {
    std::vector<PeriodicBox> list;
    for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron,
                                CellType::Hexahedron, CellType::Prism, CellType::Pyramid}) {
      const int dimension = is_planar(type) ? 2 : 3;
      const auto add = [&](const std::string& suffix, std::array<Index, 3> blocks, int directions,
                           bool distorted) {
        list.push_back({std::string(name(type)) + suffix, type, blocks, directions, distorted});
      };
      for (int directions = 1; directions <= dimension; ++directions) {
        const std::string suffix = "_in_" + std::to_string(directions);
        add("_sheared" + suffix, {4, 3, 3}, directions, false);
        add("_distorted" + suffix, {4, 3, 3}, directions, true);
        add("_two_wide" + suffix, {2, 2, 2}, directions, true);
      }
      // Blocks of several cells may be one wide: no cell is its own neighbour.
      if (type == CellType::Triangle || type == CellType::Tetrahedron || type == CellType::Pyramid) {
        add("_one_wide", {1, 1, 1}, dimension, false);
      }
    }
    list.push_back({"prism_one_wide", CellType::Prism, {1, 1, 2}, 3, false});
    return list;
  }();
  return boxes;
}

}  // namespace curlew
