// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/topology.hpp"

namespace curlew {

/// The graph of nodes that share a cell. A link runs from its lower to its higher node; links are numbered by
/// their lower node, then their higher one. On simplices the links are the mesh's own edges (in two
/// dimensions: sides).
class NodeGraph {
 public:
  explicit NodeGraph(const Topology& topology);

  Range<Link> links() const { return Range<Link>(0, nodes_of_link_.rows()); }
  /// -1 at the link's start, +1 at its end.
  const IncidenceTable<Link, Node>& nodes_of_link() const { return nodes_of_link_; }
  const IncidenceTable<Node, Link>& links_of_node() const { return links_of_node_; }
  /// The link between two nodes that share a cell; in any order.
  Id<Link> find(Id<Node> a, Id<Node> b) const;

 private:
  std::vector<Index> first_link_;  // of each lower node
  IncidenceTable<Link, Node> nodes_of_link_;
  IncidenceTable<Node, Link> links_of_node_;
};

}  // namespace curlew
