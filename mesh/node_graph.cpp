// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/node_graph.hpp"

#include <algorithm>

#include "kernels/parallel.hpp"

namespace curlew {

NodeGraph::NodeGraph(const Topology& topology) {
  const std::size_t nodes = at(topology.nodes().size());
  const auto cells_of_node = topology.cells_of_node().view(MemorySpace::Host);
  const auto nodes_of_cell = topology.nodes_of_cell().view(MemorySpace::Host);
  /// Higher neighbours of node n, ascending, each once.
  const auto collect = [&](std::size_t n, std::vector<Index>& higher) {
    higher.clear();
    for (const auto [c, sign] : cells_of_node[Id<Node>(static_cast<Index>(n))]) {
      for (const auto [m, unsigned_entry] : nodes_of_cell[c]) {
        if (at(m.value()) > n) higher.push_back(m.value());
      }
    }
    std::sort(higher.begin(), higher.end());
    higher.erase(std::unique(higher.begin(), higher.end()), higher.end());
  };
  first_link_.assign(nodes + 1, 0);
  parallel_for(nodes, [&](std::size_t n) {
    thread_local std::vector<Index> higher;
    collect(n, higher);
    first_link_[n + 1] = static_cast<Index>(higher.size());
  });
  for (std::size_t n = 0; n < nodes; ++n) first_link_[n + 1] += first_link_[n];

  const Index links = first_link_.back();
  std::vector<Index> starts(at(links) + 1), entries(2 * at(links));
  for (Index l = 0; l <= links; ++l) starts[at(l)] = 2 * l;
  parallel_for(nodes, [&](std::size_t n) {
    thread_local std::vector<Index> higher;
    collect(n, higher);
    for (std::size_t k = 0; k < higher.size(); ++k) {
      const std::size_t link = at(first_link_[n]) + k;
      entries[2 * link] = incidence_entry::make(static_cast<Index>(n), true);
      entries[2 * link + 1] = higher[k];
    }
  });
  nodes_of_link_ = IncidenceTable<Link, Node>(std::move(starts), std::move(entries));
  links_of_node_ = transpose(nodes_of_link_, static_cast<Index>(nodes));
}

Id<Link> NodeGraph::find(Id<Node> a, Id<Node> b) const {
  const Index low = std::min(a.value(), b.value()), high = std::max(a.value(), b.value());
  Index first = first_link_[at(low)], last = first_link_[at(low) + 1];
  while (last - first > 1) {
    const Index middle = first + (last - first) / 2;
    (nodes_of_link_[Id<Link>(middle)][1].id.value() <= high ? first : last) = middle;
  }
  return Id<Link>(first);
}

}  // namespace curlew
