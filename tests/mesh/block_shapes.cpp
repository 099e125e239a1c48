// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/mesh/block_shapes.hpp"

#include "mesh/box.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {

Mesh blocks(CellType type, std::array<Index, 3> count, const std::function<bool(int, int, int)>& is_kept) {
  const Vector3 size{static_cast<Real>(count[0]), static_cast<Real>(count[1]), static_cast<Real>(count[2])};
  RawMesh raw = without(make_box(type, count, size), [&](Vector3 x) {
    return !is_kept(static_cast<int>(x.x), static_cast<int>(x.y), static_cast<int>(x.z));
  });
  forget_patches(raw);
  return Mesh(std::move(raw));
}

const std::vector<BlockShape>& block_shapes() {
  static const std::vector<BlockShape> list{
      {"block", {3, 2, 2}, [](int, int, int) { return true; }, {1, 0, 0}},
      {"tunnel", {3, 3, 2}, [](int x, int y, int) { return x != 1 || y != 1; }, {1, 1, 0}},
      {"two_tunnels", {5, 3, 1}, [](int x, int y, int) { return x % 2 == 0 || y != 1; }, {1, 2, 0}},
      {"crossing_tunnels",
       {3, 3, 3},
       [](int x, int y, int z) { return (x != 1 || y != 1) && (x != 1 || z != 1); },
       {1, 3, 0}},
      {"void", {3, 3, 3}, [](int x, int y, int z) { return x != 1 || y != 1 || z != 1; }, {1, 0, 1}},
      {"two_voids", {5, 3, 3}, [](int x, int y, int z) { return x % 2 == 0 || y != 1 || z != 1; }, {1, 0, 2}},
      {"void_shaped_as_a_ring",
       {5, 5, 3},
       [](int x, int y, int z) {
         return z != 1 || x == 0 || x == 4 || y == 0 || y == 4 || (x == 2 && y == 2);
       },
       {1, 1, 1}},
      {"apart", {3, 2, 2}, [](int x, int, int) { return x != 1; }, {2, 0, 0}},
      {"ring_and_block",
       {5, 3, 1},
       [](int x, int y, int) { return x == 4 || (x < 3 && (x != 1 || y != 1)); },
       {2, 1, 0}},
      {"touching_at_an_edge", {2, 2, 1}, [](int x, int y, int) { return x == y; }, {1, 0, 0}},
      {"touching_at_a_node", {2, 2, 2}, [](int x, int y, int z) { return x == y && y == z; }, {1, 0, 0}},
      {"ring_closed_at_an_edge",
       {3, 3, 1},
       [](int x, int y, int) { return (x != 1 || y != 1) && (x != 2 || y != 2); },
       {1, 1, 0}},
      {"voids_that_share_a_node",
       {4, 4, 4},
       [](int x, int y, int z) { return !(x == y && y == z && (x == 1 || x == 2)); },
       {1, 0, 2}},
      {"voids_that_share_an_edge",
       {4, 4, 3},
       [](int x, int y, int z) { return !(z == 1 && x == y && (x == 1 || x == 2)); },
       {1, 0, 2}},
      {"void_touching_the_outside",
       {3, 3, 3},
       [](int x, int y, int z) { return !(x == 1 && y == 1 && z == 1) && !(x == 2 && y == 2 && z == 1); },
       {1, 0, 1}},
  };
  return list;
}

}  // namespace curlew
