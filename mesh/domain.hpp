// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "kernels/field.hpp"
#include "mesh/parallel/communicator.hpp"
#include "mesh/parallel/halo.hpp"
#include "mesh/topology.hpp"

namespace curlew {

/// What part of a mesh this rank has, and the ranks that have the others (docs/parallel-runs.md). Immutable.
class Domain {
 public:
  /// Of a rank that has the whole mesh.
  explicit Domain(const Topology& topology)
      : communicator_(one_rank()),
        nodes_(topology.nodes().size()),
        edges_(topology.edges().size()),
        faces_(topology.faces().size()),
        cells_(topology.cells().size()) {}
  Domain(std::shared_ptr<const Communicator> communicator, Halo<Node> nodes, Halo<Edge> edges,
         Halo<Face> faces, Halo<Cell> cells)
      : communicator_(std::move(communicator)),
        nodes_(std::move(nodes)),
        edges_(std::move(edges)),
        faces_(std::move(faces)),
        cells_(std::move(cells)) {}

  const Communicator& communicator() const { return *communicator_; }
  std::shared_ptr<const Communicator> shared_communicator() const { return communicator_; }

  template <class E>
  const Halo<E>& halo() const {
    if constexpr (std::is_same_v<E, Node>) return nodes_;
    if constexpr (std::is_same_v<E, Edge>) return edges_;
    if constexpr (std::is_same_v<E, Face>) return faces_;
    if constexpr (std::is_same_v<E, Cell>) return cells_;
  }
  /// For fields on these entities.
  template <class E>
  Extent extent() const {
    return {halo<E>().all().size(), halo<E>().owned().size()};
  }

 private:
  std::shared_ptr<const Communicator> communicator_;
  Halo<Node> nodes_;
  Halo<Edge> edges_;
  Halo<Face> faces_;
  Halo<Cell> cells_;
};

}  // namespace curlew
