// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "mesh/import/periodic.hpp"

namespace curlew {

/// A box whose opposite sides have the same mesh, joined in the first `directions` directions.
struct PeriodicBox {
  std::string name;
  CellType type;
  std::array<Index, 3> blocks;
  int directions;
  bool distorted;
  friend void PrintTo(const PeriodicBox& box, std::ostream* out) { *out << box.name; }

  /// A box of 1 x 2 x 1.5 sheared, or with every node moved, boundary included and periodically in all
  /// directions. `cut`: how many blocks further the periodic structure is cut open in each direction, which
  /// leaves another box but the same periodic mesh.
  RawMesh raw(Index cut = 0) const;
  std::vector<PeriodicPair> pairs() const;
  /// Faces are sides, triangles, or parallelograms.
  bool has_planar_faces() const;
};

/// Boxes of every cell type, joined in one, two and three directions, down to two cells or one block wide.
const std::vector<PeriodicBox>& periodic_boxes();

}  // namespace curlew
