// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mesh/homology/dual_tree.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// The dual tree of a mesh that may be divided among ranks: of the whole mesh, so that it does not depend on
/// the division. The first rank has it, and the topology that it needs, for all; calls are made by all ranks
/// together. On a rank alone it is the DualTree of the mesh.
class GatheredDualTree {
 public:
  /// One flag for each face that this rank has; `mesh` must outlive the tree.
  GatheredDualTree(const Mesh& mesh, const std::vector<bool>& flux_is_given);

  /// harmonic_fluxes(), of each the faces that this rank has, ghosts included.
  std::vector<std::vector<SignedId<Face>>> harmonic_fluxes() const;
  /// DualTree::balance(), ghosts included. All fluxes go through the first rank.
  void balance(std::span<Real> flux) const;

 private:
  const Mesh& mesh_;
  std::optional<Topology> gathered_;
  std::optional<DualTree> tree_;  // on the first rank
};

}  // namespace curlew
