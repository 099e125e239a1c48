// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "mesh/mesh.hpp"

namespace curlew {

struct ShelfMesh {
  std::string name;
  RawMesh raw;
  friend void PrintTo(const ShelfMesh& mesh, std::ostream* out) { *out << mesh.name; }
};

/// Meshes of every cell type, whole and distorted, on which whatever holds "on any mesh" is tested.
const std::vector<ShelfMesh>& shelf();

/// Moves every interior node by up to `amount` in each direction, always in the same way.
void distort(RawMesh& raw, Real amount);

}  // namespace curlew
