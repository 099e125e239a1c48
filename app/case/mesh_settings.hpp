// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "app/diagnostics.hpp"
#include "kernels/platform.hpp"
#include "mesh/renumber.hpp"

namespace curlew {

/// CellOrder as users write it, in the order of its values.
inline const std::array<std::string, 3> cell_order_names = {"rcm", "hilbert", "none"};

/// Which mesh, and how it is read.
struct MeshSettings {
  std::filesystem::path file;  ///< ready to open
  Location location;           ///< where the user named it
  Real scale = 1;              ///< length multiplier
  Real size = 0;               ///< target size of cells where a geometry is meshed [m]; 0: its own
  CellOrder order = CellOrder::ReverseCuthillMcKee;
};

}  // namespace curlew
