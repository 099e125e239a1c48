// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <vector>

#include "mesh/mesh.hpp"
#include "solvers/multigrid.hpp"

namespace curlew {

/// The smooth part of a preconditioner for R M C on edges, Π K⁻¹ Πᵀ: Π interpolates a vector at nodes to its
/// integrals along edges, and K is the diffusion of each of its components between nodes, for which one cycle
/// of multigrid stands. Together with a diagonal, which sees the rest, it makes the number of iterations
/// hardly depend on the mesh: Hiptmair & Xu, SINUM 45 (2007). Gradients, which R M C does not see, need
/// nothing.
///
/// In two dimensions edges are nodes and Π is the identity.
class AuxiliarySpace {
 public:
  /// `edge_is_free`: 0 where the value on an edge is held; nodes of such edges are held as well. Throws Error
  /// on a periodic mesh.
  AuxiliarySpace(const Executor& executor, const Mesh& mesh, const std::vector<std::uint8_t>& edge_is_free);

  /// z += factor Π K⁻¹ Πᵀ r.
  void add(Real factor, const DualCochain<Edge>& r, PrimalCochain<Edge>& z);

 private:
  Executor executor_;
  const Mesh& mesh_;
  int first_component_;  // the others before it are zero: in two dimensions only the last is there
  IncidenceTable<Edge, Node> nodes_of_edge_;
  IncidenceTable<Node, Edge> edges_of_node_;
  ConstantArray<Vector3> share_;  // of an edge, to each of its nodes [m]; 0 where it is held
  DualCochain<Node> restricted_;
  PrimalCochain<Node> correction_;
  std::unique_ptr<Multigrid<PrimalCochain<Node>>> multigrid_;
};

}  // namespace curlew
