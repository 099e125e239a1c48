// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "mesh/import/raw_mesh.hpp"

namespace curlew {

/// Two meshes side by side that do not touch; the second one's patches get a prefix.
inline RawMesh side_by_side(RawMesh one, const RawMesh& other, Vector3 shift, const std::string& prefix) {
  const auto nodes = static_cast<Index>(one.nodes.size());
  const auto patches = static_cast<Index>(one.patch_names.size());
  const std::int64_t cell_start = one.cell_start.back(), boundary_start = one.boundary_start.back();
  for (const Vector3& x : other.nodes) one.nodes.push_back(x + shift);
  one.cell_types.insert(one.cell_types.end(), other.cell_types.begin(), other.cell_types.end());
  one.cell_region.insert(one.cell_region.end(), other.cell_region.begin(), other.cell_region.end());
  for (std::size_t k = 1; k < other.cell_start.size(); ++k)
    one.cell_start.push_back(cell_start + other.cell_start[k]);
  for (const Index n : other.cell_nodes) one.cell_nodes.push_back(n + nodes);
  for (std::size_t k = 1; k < other.boundary_start.size(); ++k)
    one.boundary_start.push_back(boundary_start + other.boundary_start[k]);
  for (const Index n : other.boundary_nodes) one.boundary_nodes.push_back(n + nodes);
  for (const Index p : other.boundary_patch) one.boundary_patch.push_back(p + patches);
  for (const std::string& name : other.patch_names) one.patch_names.push_back(prefix + name);
  return one;
}

}  // namespace curlew
