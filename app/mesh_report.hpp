// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "mesh/mesh.hpp"
#include "mesh/parallel/partition.hpp"

namespace curlew {

/// What must hold on every mesh, checked on this one.
struct MeshIdentities {
  /// Entries of D C and of R G that are not zero, worked out as integers: 0. G is -Dᵀ, so that R G = 0 holds
  /// on edges of the boundary too.
  std::int64_t dc_nonzeros = 0, rg_nonzeros = 0;
  /// Largest |(A x, y) - (x, Aᵀ y)| / (|A x| |y|) on random vectors over the operators: gradient against
  /// divergence, curl against rotation, node gradient, interpolation and integration against their
  /// transposes and each other. Round-off.
  Real adjointness = 0;
  /// Of the fluxes of a constant vector u: largest net outflow of a cell relative to |u| times the area of
  /// the cell, and largest difference of the interpolated vector from u relative to |u|. Round-off where
  /// faces are planar.
  Real uniform_stream = 0;
  /// Largest difference of the gradient of a linear field, given at the nodes, from the true one, relative to
  /// it. Round-off.
  Real linear_field = 0;
};

MeshIdentities check_identities(const Mesh& mesh);

/// Counts, patches, regions, extent, quality, Betti numbers, memory and identities of a mesh: JSON, or text
/// with the same content. `title`: what the user called the mesh. `partition`: of a mesh that is divided.
std::string mesh_report(const Mesh& mesh, const std::string& title, bool json,
                        const std::optional<PartitionQuality>& partition = std::nullopt);

}  // namespace curlew
