// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>

#include "mesh/mesh.hpp"
#include "mesh/node_graph.hpp"
#include "operators/operator.hpp"
#include "operators/symmetric_matrix.hpp"

namespace curlew {

/// Heat that leaves the dual volume of a node towards its neighbours [W], sum_m k_nm (T_n - T_m). For use
/// inside kernels.
struct OutflowOfNode {
  Incidence<Node, Node> neighbours_of;
  View<NodePair, const Real> conductance;  // [W/K]
  View<Node, const Real> temperature;      // [K]
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real own = temperature[n];
    Id<NodePair> pair(neighbours_of.start(n));
    Real outflow = 0;
    for (const auto [m, sign] : neighbours_of[n]) {
      outflow += conductance[pair] * (own - temperature[m]);
      ++pair;
    }
    return outflow;
  }
};

/// Diffusion between nodes through the faces of their median duals, K = Bᵀ diag(k) B: B the gradient along
/// the links of the node graph, k their conductances.
///
/// The conductances gather, cell by cell, the symmetric form
///   k_c [ V g.g + s sum_n (T_n - T_mean - g.(x_n - x_mean))² ],  g = sum_n w_n T_n
/// with the cell's gradient weights w_n (cell_gradient.hpp) and s = (4/3) V mean |w_n|². The first term alone
/// is the gradient flowing through the dual faces; on simplices it is the linear finite-element stiffness and
/// the second term vanishes. On other cells the second term removes the modes that the gradient does not see
/// (Flanagan & Belytschko, IJNME 17, 1981; Beirão da Veiga et al., M3AS 23, 2013); its weight gives bilinear
/// finite elements on rectangles. Symmetric, positive semidefinite with the constants alone in its null space
/// (for a connected mesh), exact for linear temperatures on any mesh, second order. Conductances may be
/// negative across obtuse angles, where the discrete maximum principle does not hold. On a periodic mesh
/// cells are those of the mesh that it was made of, where nodes have positions; nodes of a cell that have
/// become one exchange nothing.
class NodeDiffusion : public Operator<PrimalCochain<Node>, DualCochain<Node>> {
 public:
  /// `conductivity`: one per cell [W/(m K)].
  NodeDiffusion(const Executor& executor, const Mesh& mesh, std::span<const Real> conductivity);

  /// Net heat that leaves each dual volume [W].
  void apply(const PrimalCochain<Node>& temperature, DualCochain<Node>& outflow) const override;
  void apply_transpose(const PrimalCochain<Node>& temperature, DualCochain<Node>& outflow) const override {
    apply(temperature, outflow);
  }
  /// Diagonal entries [W/K].
  /// Spelled out.
  SymmetricMatrix matrix() const;

  const Executor& executor() const { return executor_; }
  const NodeGraph& graph() const { return graph_; }
  /// [W/K], one per pair; the same in both directions.
  const ConstantArray<Real>& conductances() const { return conductances_; }

  /// The kernel part that gives each node's outflow at the given temperatures, where they live.
  OutflowOfNode outflow_of(const PrimalCochain<Node>& temperature) const {
    const MemorySpace space = executor_.space();
    return {graph_.neighbours_of_node().view(space),
            View<NodePair, const Real>(conductances_.data(space), static_cast<Index>(conductances_.size())),
            temperature.view()};
  }

 private:
  Executor executor_;
  NodeGraph graph_;
  ConstantArray<Real> conductances_;
};

/// B, the diffusion between nodes by a conductivity of one, spelled out.
SymmetricMatrix diffusion_between_nodes(const Mesh& mesh);
/// V / ratio + B, V the nodes' volumes.
SymmetricMatrix inertia_and_diffusion_between_nodes(const Mesh& mesh, Real ratio);

}  // namespace curlew
