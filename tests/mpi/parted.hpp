// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>
#include <utility>

#include "mesh/parallel/mesh_part.hpp"

namespace curlew {

struct Parted {
  Mesh whole;
  Mesh part;
  const Domain& domain() const { return part.domain(); }
};

/// The mesh whole on every rank, and divided among them by rank 0.
inline Parted divided(Mesh whole, std::optional<Partition> partition = std::nullopt) {
  const auto communicator = all_ranks();
  if (!partition) partition = make_partition(whole.topology(), communicator->ranks());
  const bool first = communicator->rank() == 0;
  MeshPart part = distribute(first ? &whole : nullptr, first ? &*partition : nullptr, *communicator);
  return {std::move(whole), make_mesh(std::move(part), communicator)};
}

inline Parted divided(const RawMesh& raw, std::optional<Partition> partition = std::nullopt) {
  return divided(Mesh(raw), std::move(partition));
}

}  // namespace curlew
