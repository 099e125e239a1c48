// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "mesh/mesh.hpp"
#include "operators/face_matrix.hpp"

namespace curlew {

class SumInParts;

/// Preconditioner for R (a M + b K) C on edges, K between the normal parts of face velocities: damped Jacobi
/// before and after the correction Π L⁻¹ Πᵀ in an auxiliary space, where Π interpolates a vector at nodes to
/// its integrals along edges, and L is the diffusion of each of its components between nodes, for which one
/// cycle of multigrid stands. The number of iterations then hardly depends on the mesh: Hiptmair & Xu, SINUM
/// 45 (2007). Gradients, which R M C does not see, need nothing.
///
/// Where edges are held, along walls, vectors may still point away from the wall: a held edge e stiffens L at
/// its ends by the energy m_ee e eᵀ / 2 that Π loses there, m the diagonal of R M C.
///
/// Where viscosity is felt within a step L diffuses the more: for what R b K C costs, each cell has the
/// conductivity a + b k_c, k_c being the mean of its faces' ratios of the diagonals of K and M.
///
/// What flows along narrow gaps that turn has a correction of its own beside that of vectors, where it is
/// needed (gap_streamfunction.hpp).
///
/// In two dimensions edges are nodes, Π is the identity, and nodes are held where edges are.
///
/// Where viscosity reaches far and the tangential velocities that belong to a streamfunction are corrected
/// with it, its energy is that of L = a B + b B V⁻¹ B, V the nodes' volumes and B the diffusion by a
/// conductivity of one: smoothing and the correction then stand side by side (docs/multigrid.md).
///
/// In single precision. Symmetric, positive where edges are free.
class AuxiliarySpace {
 public:
  /// `mass`, `viscous`: M and K on face velocities; with `mesh` they outlive this. `edge_is_free`: 0 where
  /// the value on an edge is held.
  AuxiliarySpace(const Executor& executor, const Mesh& mesh, const FaceMatrix& mass,
                 const FaceMatrix& viscous, const std::vector<std::uint8_t>& edge_is_free);
  ~AuxiliarySpace();

  /// For which system, a > 0, b >= 0. `coupled`: whether for set_coupled() and smooth(), instead of apply().
  void set(Real a, Real b, bool coupled = false);
  /// Whether what flows along gaps has a correction of its own.
  bool has_gaps() const;
  /// z = B r. Ghosts of r are not read, those of z not written. z is 0 where edges are held.
  void apply(const DualCochain<Edge>& r, PrimalCochain<Edge>& z) const;
  /// The same of a residual of order one; `sum` gets r . z, unless it is null.
  void apply(const Field<Edge, float, Cochain::Dual>& r, Field<Edge, float, Cochain::Primal>& z,
             SumInParts* sum) const;

  /// x = 0.4 Π L⁻¹ Πᵀ r by three cycles: what walls add to the energy L does not know of. Ghosts of r are
  /// brought up to date, those of x are right.
  void set_coupled(const Field<Edge, float>& r, Field<Edge, float>& x) const;
  /// z = x + ω D⁻¹ r. Ghosts are not read and not written; `sum` as above.
  template <class T>
  void smooth(const Field<Edge, T, Cochain::Dual>& r, const Field<Edge, float>& x,
              Field<Edge, T, Cochain::Primal>& z, SumInParts* sum) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace curlew
