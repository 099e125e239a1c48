// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <vector>

#include "kernels/sliced_matrix.hpp"
#include "mesh/mesh.hpp"
#include "mesh/node_graph.hpp"
#include "operators/operator.hpp"
#include "operators/symmetric_matrix.hpp"

namespace curlew {

class SumInParts;

/// Diffusion between nodes through the faces of their median duals, K = Bᵀ diag(k) B: B the gradient along
/// the links of the node graph, k their conductances.
///
/// The conductances gather, cell by cell, the symmetric form
///   k_c V [ g.g + sum_e s_e (T_b - T_a - g.e)² / |e|² ],  g = sum_n w_n T_n,
///   s_e = max( 1/(6 (d - 1)), (d/E) (1 - 4/3 |e|²/l²) )
/// with the cell's gradient weights w_n (cell_gradient.hpp) and its E edges e from a to b, the longest of
/// length l, in d dimensions. The first term alone is the gradient flowing through the dual faces; on
/// simplices it is the linear finite-element stiffness and the second term vanishes. On other cells the
/// second term removes the modes that the gradient does not see (Flanagan & Belytschko, IJNME 17, 1981;
/// Beirão da Veiga et al., M3AS 23, 2013). It weighs each direction by its own length, which matters where
/// cells are flat; its factor gives bilinear finite elements on rectangles and, but for the mode that is
/// linear along all three axes, trilinear ones on boxes, unless these are flat: along their short edges it is
/// as much larger as keeps conductances from being negative (docs/heat-diffusion.md). Symmetric, positive
/// semidefinite with the constants alone in its null space (for a connected mesh), exact for linear
/// temperatures on any mesh, second order. Conductances may be negative across obtuse angles, where the
/// discrete maximum principle does not hold. On a periodic mesh cells are those of the mesh that it was made
/// of, where nodes have positions; nodes of a cell that have become one exchange nothing.
class NodeDiffusion : public Operator<PrimalCochain<Node>, DualCochain<Node>> {
 public:
  /// `conductivity`: one per cell [W/(m K)].
  NodeDiffusion(const Executor& executor, const Mesh& mesh, std::span<const Real> conductivity);

  /// Net heat that leaves each dual volume [W].
  void apply(const PrimalCochain<Node>& temperature, DualCochain<Node>& outflow) const override;
  void apply_transpose(const PrimalCochain<Node>& temperature, DualCochain<Node>& outflow) const override {
    apply(temperature, outflow);
  }
  /// Spelled out.
  SymmetricMatrix matrix() const;
  /// Of that [W/K].
  std::vector<Real> diagonal() const;

  const Executor& executor() const { return executor_; }
  const NodeGraph& graph() const { return graph_; }
  /// [W/K], one per pair; the same in both directions.
  const ConstantArray<Real>& conductances() const { return conductances_; }

  /// Runs `body(n, outflow)` for each of these nodes, a kernel that is given the net heat that leaves its
  /// dual volume [W]. What it returns, if it does, is added to `sum`, null for nothing. Defined in
  /// operators/node_diffusion_kernels.hpp.
  template <class Body>
  void visit_outflow(Range<Node> nodes, const PrimalCochain<Node>& temperature, const Body& body,
                     SumInParts* sum = nullptr) const;

 private:
  Executor executor_;
  NodeGraph graph_;
  ConstantArray<Real> conductances_;
  SlicedMatrix<Node, Node, Real> sliced_;  // the same, where a processor reads them
};

/// B, the diffusion between nodes by a conductivity of one, spelled out.
SymmetricMatrix diffusion_between_nodes(const Mesh& mesh);
/// By one conductivity per cell.
SymmetricMatrix diffusion_between_nodes(const Mesh& mesh, std::span<const Real> conductivity);
/// V / ratio + B, V the nodes' volumes.
SymmetricMatrix inertia_and_diffusion_between_nodes(const Mesh& mesh, Real ratio);

}  // namespace curlew
