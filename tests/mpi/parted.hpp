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

/// Cells dealt out one by one: every rank is everyone's neighbour.
inline Partition dealt_out(const Mesh& mesh) {
  Partition partition{all_ranks()->ranks(), {}};
  for (Index c = 0; c < mesh.topology().cells().size(); ++c)
    partition.part_of_cell.push_back((c * 7 + c / 5) % partition.parts);
  return partition;
}

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
