// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// For sources that launch kernels on what NodeDiffusion gives.
#pragma once

#include "kernels/sliced_differences.hpp"
#include "operators/node_diffusion.hpp"

namespace curlew {

namespace detail {

/// sum_m k_nm (T_n - T_m), handed to `body`.
template <class Body>
struct OutflowOfNode {
  Incidence<Node, Node> neighbours_of;
  View<NodePair, const Real> conductance;  // [W/K]
  View<Node, const Real> temperature;      // [K]
  Body body;
  CURLEW_HOST_DEVICE auto operator()(Id<Node> n) const {
    const Real own = temperature[n];
    Id<NodePair> pair(neighbours_of.start(n));
    Real outflow = 0;
    for (const auto [m, sign] : neighbours_of[n]) {
      outflow += conductance[pair] * (own - temperature[m]);
      pair = neighbours_of.next(pair);
    }
    return body(n, outflow);
  }
};

struct NoOutflow {
  Real operator()(Id<Node>) const { return 0; }
};

}  // namespace detail

template <class Body>
void NodeDiffusion::visit_outflow(Range<Node> nodes, const PrimalCochain<Node>& temperature, const Body& body,
                                  SumInParts* sum) const {
  const MemorySpace space = executor_.space();
  const View<Node, const Real> values = temperature.view();
  const detail::OutflowOfNode<Body> by_table{
      graph_.neighbours_of_node().view(space),
      View<NodePair, const Real>(conductances_.data(space), static_cast<Index>(conductances_.size(space))),
      values, body};
  visit_differences(executor_, sliced_, nodes, values, detail::NoOutflow{}, body, by_table, sum);
}

}  // namespace curlew
