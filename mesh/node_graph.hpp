// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/topology.hpp"

namespace curlew {

/// The graph of nodes that share a cell, by rows: for each node its neighbours, ascending (NodeOrder). On
/// simplices neighbours are joined by the mesh's own edges (in two dimensions: sides); other cells add their
/// diagonals. An entry of the table is a NodePair, counted through all rows.
class NodeGraph {
 public:
  /// Throws InputError where the graph has more entries than an Index counts.
  explicit NodeGraph(const Topology& topology);

  const IncidenceTable<Node, Node>& neighbours_of_node() const { return neighbours_; }
  Range<NodePair> pairs() const { return Range<NodePair>(0, static_cast<Index>(neighbours_.entries())); }
  /// The entry of neighbour b in the row of node a.
  Id<NodePair> find(Id<Node> a, Id<Node> b) const;

 private:
  NodeOrder order_;
  IncidenceTable<Node, Node> neighbours_;
};

}  // namespace curlew
