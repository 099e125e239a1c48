// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// For sources that launch kernels on what NodeDiffusion gives.
#pragma once

#include <type_traits>

#include "kernels/reduction.hpp"
#include "kernels/sliced_matrix_sum.hpp"
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
      ++pair;
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
                                  detail::SumInParts* sum) const {
  const MemorySpace space = executor_.space();
  const View<Node, const Real> values = temperature.view();
  constexpr bool has_terms = !std::is_void_v<std::invoke_result_t<Body, Id<Node>, Real>>;
  if (space == MemorySpace::Host && sliced_.has_blocks_of(nodes)) {
    if constexpr (has_terms) {
      if (sum != nullptr)
        return add_differences(executor_, sliced_, nodes, values, detail::NoOutflow{}, body, *sum);
    }
    return sliced_.add_differences(executor_, nodes, values, detail::NoOutflow{}, body);
  }
  const detail::OutflowOfNode<Body> kernel{
      graph_.neighbours_of_node().view(space),
      View<NodePair, const Real>(conductances_.data(space), static_cast<Index>(conductances_.size())), values,
      body};
  if constexpr (has_terms) {
    detail::run_and_add(executor_, nodes, kernel, sum);
  } else {
    for_each(executor_, nodes, kernel);
  }
}

}  // namespace curlew
