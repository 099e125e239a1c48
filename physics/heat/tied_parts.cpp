// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/tied_parts.hpp"

#include <fmt/format.h>

#include <cmath>

#include "kernels/error.hpp"
#include "kernels/reduction.hpp"
#include "mesh/parallel/lowest_labels.hpp"

namespace curlew {

namespace {

DisjointSets connected_nodes(const NodeGraph& graph) {
  const auto neighbours_of = graph.neighbours_of_node().view(MemorySpace::Host);
  DisjointSets sets(at(graph.neighbours_of_node().rows()));
  for (const Id<Node> n : Range<Node>(0, graph.neighbours_of_node().rows())) {
    for (const auto [m, sign] : neighbours_of[n]) sets.join(n.value(), m.value());
  }
  return sets;
}

}  // namespace

std::vector<std::uint8_t> tied_nodes(const HeatLoad& load) {
  std::vector<std::uint8_t> tied = load.held_on_host();
  for (std::size_t n = 0; n < tied.size(); ++n) tied[n] = tied[n] || load.convection_on_host()[n] > 0;
  return tied;
}

FloatingParts::FloatingParts(const Domain& domain, const NodeGraph& graph,
                             const std::vector<std::uint8_t>& tied)
    : parts_(number_closed_sets<Node>(domain, connected_nodes(graph),
                                      [&](Id<Node> n) { return tied[at(n.value())] != 0; })) {}

void FloatingParts::require_balance(const Mesh& mesh, const HeatLoad& load) const {
  const Communicator& ranks = mesh.domain().communicator();
  const std::vector<Real> load_of_node = load.at_nodes().to_host();
  for (Index part = 0; part < parts_.count; ++part) {
    std::vector<Real> terms, sizes;
    for (const Id<Node> n : mesh.domain().halo<Node>().owned()) {
      if (parts_.number[at(n.value())] != part) continue;
      terms.push_back(load_of_node[at(n.value())]);
      sizes.push_back(std::abs(terms.back()));
    }
    const Real total = sum_of_terms(ranks, terms), size = sum_of_terms(ranks, sizes);
    if (std::abs(total) <= 1e-10 * size) continue;
    throw InputError(fmt::format(
        "there is no steady state: {:.6g} {} {} a part of the domain that has no patch of type "
        "temperature or convection to balance it; add one, or run in time",
        std::abs(total), mesh.topology().dimension() == 2 ? "W/m" : "W", total > 0 ? "enter" : "leave"));
  }
}

}  // namespace curlew
