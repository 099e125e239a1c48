// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/tied_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/error.hpp"
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

std::vector<Index> floating_parts(const NodeGraph& graph, const std::vector<std::uint8_t>& tied) {
  DisjointSets sets = connected_nodes(graph);
  std::vector<Index> part(tied.size(), 0);
  for (std::size_t n = 0; n < tied.size(); ++n) {
    if (tied[n]) part[at(sets.root(static_cast<Index>(n)))] = -1;
  }
  Index parts = 0;
  for (std::size_t n = 0; n < tied.size(); ++n) {
    const std::size_t lowest = at(sets.root(static_cast<Index>(n)));
    if (n > lowest)
      part[n] = part[lowest];
    else if (part[n] == 0)
      part[n] = parts++;
  }
  return part;
}

void require_balance(const Mesh& mesh, const std::vector<Index>& parts, const HeatLoad& load) {
  const std::vector<Real> load_of_node = load.at_nodes().to_host();
  const Index count = parts.empty() ? 0 : 1 + *std::ranges::max_element(parts);
  std::vector<Real> total(at(count), 0), size(at(count), 0);
  for (std::size_t n = 0; n < parts.size(); ++n) {
    if (parts[n] < 0) continue;
    total[at(parts[n])] += load_of_node[n];
    size[at(parts[n])] += std::abs(load_of_node[n]);
  }
  for (std::size_t part = 0; part < total.size(); ++part) {
    if (std::abs(total[part]) <= 1e-10 * size[part]) continue;
    throw InputError(
        fmt::format("there is no steady state: {:.6g} {} {} a part of the domain that has no patch of type "
                    "temperature or convection to balance it; add one, or run in time",
                    std::abs(total[part]), mesh.topology().dimension() == 2 ? "W/m" : "W",
                    total[part] > 0 ? "enter" : "leave"));
  }
}

bool all_are_tied(const Domain& domain, const NodeGraph& graph, const std::vector<std::uint8_t>& tied) {
  Field<Node, GlobalIndex> floats(Executor::serial(), domain.extent<Node>(), "floats", "1");
  for (const Id<Node> n : floats.owned()) floats.view()[n] = tied[at(n.value())] ? 0 : 1;
  spread_lowest(domain, connected_nodes(graph), floats);
  Real floating = 0;
  for (const Id<Node> n : floats.owned()) floating = std::max(floating, static_cast<Real>(floats.view()[n]));
  return domain.communicator().maximum(floating) == 0;
}

}  // namespace curlew
