// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <filesystem>
#include <string>

#include "app/diagnostics.hpp"
#include "kernels/platform.hpp"

namespace curlew {

/// In which order the cells are numbered, for locality.
enum class MeshOrder { rcm, hilbert, none };

/// As users write them, in the order of MeshOrder.
inline const std::array<std::string, 3> mesh_order_names = {"rcm", "hilbert", "none"};

/// Which mesh, and how it is read.
struct MeshSettings {
  std::filesystem::path file;  ///< ready to open
  Location location;           ///< where the user named it
  Real scale = 1;              ///< length multiplier
  Real size = 0;               ///< target size of cells where a geometry is meshed [m]; 0: its own
  MeshOrder order = MeshOrder::rcm;
};

}  // namespace curlew
