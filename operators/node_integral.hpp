// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/mesh.hpp"
#include "operators/operator.hpp"

namespace curlew {

struct CellCorner;  // entity tag: an entry of cells_of_node

/// The integral over each node's dual volume of a value that is constant in each cell, (S q)_n = sum_c V_cn
/// q_c, with the nodes' shares of cells V_cn [m3] that node volumes are made of (visit_corner_volumes). Not
/// for periodic meshes.
class NodeIntegral {
 public:
  NodeIntegral(const Executor& executor, const Mesh& mesh);

  /// What it is at ghosts has no meaning.
  void apply(const Field<Cell>& value, DualCochain<Node>& integral) const;

 private:
  Executor executor_;
  IncidenceTable<Node, Cell> cells_of_node_;
  ConstantArray<Real> volumes_;  // of a cell's corner at the node [m3]
};

}  // namespace curlew
