// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/disjoint_sets.hpp"
#include "mesh/domain.hpp"
#include "mesh/node_graph.hpp"
#include "physics/heat/heat_load.hpp"

namespace curlew {

/// Of each node whether one of the conditions that a load holds ties it to a temperature: a given one, or
/// convection.
std::vector<std::uint8_t> tied_nodes(const HeatLoad& load);

/// Connected parts of the domain without a tied node: their steady temperature is known but for a constant.
/// All calls but accessors are made by all ranks together.
class FloatingParts {
 public:
  FloatingParts(const Domain& domain, const NodeGraph& graph, const std::vector<std::uint8_t>& tied);

  /// Of all ranks.
  Index count() const { return parts_.count; }
  /// Numbered from 0: that of each node, ghosts included, -1 for nodes of the other parts.
  const std::vector<Index>& part_of_node() const { return parts_.number; }

  /// Throws InputError where what is supplied to one of them does not sum to zero: it has no steady
  /// temperature.
  void require_balance(const Mesh& mesh, const HeatLoad& load) const;

 private:
  NumberedSets parts_;
};

}  // namespace curlew
