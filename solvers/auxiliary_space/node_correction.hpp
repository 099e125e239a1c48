// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/tensor3.hpp"
#include "mesh/mesh.hpp"
#include "operators/symmetric_matrix.hpp"
#include "solvers/auxiliary_space/gap_streamfunction.hpp"

namespace curlew {

/// Between nodes: a matrix, and as MultigridInSingle has it a stiffness.
struct NodeSystem {
  SymmetricMatrix matrix;
  std::optional<std::vector<Tensor3>> stiffness;
};

/// A matrix between nodes held where edges are: in the plane at nodes, which are edges; in space in the
/// directions of held edges, by what nodes lose there. `diagonal`: of R M C, of all edges of the rank's own
/// nodes.
NodeSystem held_between_nodes(const Mesh& mesh, const std::vector<std::uint8_t>& edge_is_free,
                              const std::vector<float>& diagonal, SymmetricMatrix matrix);

/// What of a streamfunction on edges is smooth, gradients apart, from its residual: by Π from nodes to edges,
/// which interpolates vectors in space and numbers in the plane, and cycles of multigrid between nodes in
/// single precision (docs/multigrid.md; Hiptmair & Xu, SINUM 45, 2007). Symmetric and positive. B is the
/// diffusion between nodes, V are their volumes.
class NodeCorrection {
 public:
  virtual ~NodeCorrection() = default;
  /// x += Π B⁻¹ Πᵀ r.
  virtual void add(const Field<Edge, float>& r, Field<Edge, float>& x) = 0;
  /// What set_coupled() needs: V / ratio + B.
  virtual void couple(Real ratio, NodeSystem inertia_and_diffusion) = 0;
  virtual void uncouple() = 0;
  /// x = factor Π L⁻¹ Πᵀ r, L = B / ratio + B V⁻¹ B; on all edges that the rank has.
  virtual void set_coupled(float factor, const Field<Edge, float>& r, Field<Edge, float>& x) = 0;
};

/// `diffusion`: B, held.
std::unique_ptr<NodeCorrection> make_node_correction(const Executor& executor, const Mesh& mesh,
                                                     const std::vector<std::uint8_t>& edge_is_free,
                                                     NodeSystem diffusion);
/// The same of what flows along gaps.
std::unique_ptr<NodeCorrection> make_node_correction(const Executor& executor, const Mesh& mesh,
                                                     GapStreamfunction gaps);

}  // namespace curlew
