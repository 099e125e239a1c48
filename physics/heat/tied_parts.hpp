// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/domain.hpp"
#include "mesh/node_graph.hpp"
#include "physics/heat/heat_load.hpp"

namespace curlew {

// What of the domain has a steady temperature of its own: `tied` says of each node whether something ties it
// to a temperature.

/// Of the conditions that a load holds: given temperatures, and convection.
std::vector<std::uint8_t> tied_nodes(const HeatLoad& load);

/// Connected parts of the domain without a tied node, numbered from 0: that of each node, -1 for nodes of the
/// others. On one rank.
std::vector<Index> floating_parts(const NodeGraph& graph, const std::vector<std::uint8_t>& tied);

/// Throws InputError where what is supplied to one of these parts does not sum to zero: it has no steady
/// temperature.
void require_balance(const Mesh& mesh, const std::vector<Index>& parts, const HeatLoad& load);

/// Whether every part of the domain has a tied node; together with all ranks.
bool all_are_tied(const Domain& domain, const NodeGraph& graph, const std::vector<std::uint8_t>& tied);

}  // namespace curlew
