// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/node_graph.hpp"

#include <algorithm>
#include <utility>

#include "kernels/parallel.hpp"

namespace curlew {

NodeGraph::NodeGraph(const Topology& topology) : order_(topology.node_order()) {
  const std::size_t nodes = at(topology.nodes().size());
  const auto cells_of_node = topology.cells_of_node().view(MemorySpace::Host);
  const auto nodes_of_cell = topology.nodes_of_cell().view(MemorySpace::Host);
  const auto collect = [&](std::size_t n, std::vector<Index>& neighbours) {
    neighbours.clear();
    for (const auto [c, sign] : cells_of_node[Id<Node>(static_cast<Index>(n))]) {
      for (const auto [m, unsigned_entry] : nodes_of_cell[c]) {
        if (at(m.value()) != n) neighbours.push_back(m.value());
      }
    }
    std::sort(neighbours.begin(), neighbours.end(),
              [&](Index a, Index b) { return order_(Id<Node>(a), Id<Node>(b)); });
    neighbours.erase(std::unique(neighbours.begin(), neighbours.end()), neighbours.end());
  };
  std::vector<Index> lengths(nodes);
  parallel_for(nodes, [&](std::size_t n) {
    thread_local std::vector<Index> neighbours;
    collect(n, neighbours);
    lengths[n] = static_cast<Index>(neighbours.size());
  });
  std::vector<Index> starts = offsets_of(std::move(lengths));
  std::vector<Index> entries(at(starts.back()));
  parallel_for(nodes, [&](std::size_t n) {
    thread_local std::vector<Index> neighbours;
    collect(n, neighbours);
    std::copy(neighbours.begin(), neighbours.end(), entries.begin() + starts[n]);
  });
  neighbours_ = IncidenceTable<Node, Node>(std::move(starts), std::move(entries));
}

Id<NodePair> NodeGraph::find(Id<Node> a, Id<Node> b) const {
  const auto view = neighbours_.view(MemorySpace::Host);
  const auto row = view[a];
  Index first = 0, last = row.size();
  while (last - first > 1) {
    const Index middle = first + (last - first) / 2;
    (order_(b, row[middle].id) ? last : first) = middle;
  }
  return Id<NodePair>(view.start(a) + first);
}

}  // namespace curlew
