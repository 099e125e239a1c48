// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "mesh/homology/homology.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

// Named in messages of failed tests.
inline void PrintTo(const BettiNumbers& betti, std::ostream* out) {
  *out << "b0 = " << betti.b0 << ", b1 = " << betti.b1 << ", b2 = " << betti.b2;
}

/// A box of unit blocks without those for which `is_kept` is false.
Mesh blocks(CellType type, std::array<Index, 3> count, const std::function<bool(int, int, int)>& is_kept);

struct BlockShape {
  std::string name;
  std::array<Index, 3> count;
  std::function<bool(int, int, int)> is_kept;
  BettiNumbers expected;
  friend void PrintTo(const BlockShape& shape, std::ostream* out) { *out << shape.name; }
};

/// Shapes in space with tunnels and voids, some of which touch themselves at edges and nodes.
const std::vector<BlockShape>& block_shapes();

}  // namespace curlew
