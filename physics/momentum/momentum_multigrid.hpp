// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>

#include "physics/momentum/face_jacobi.hpp"

namespace curlew {

/// Preconditioner for a M + b K on face velocities: Jacobi and, where viscosity reaches across cells within a
/// step, the correction Π L⁻¹ Πᵀ besides, in an auxiliary space of velocities at nodes. Π takes the mean over
/// the nodes of a face, L = a V + b B is inertia and diffusion of each component between nodes, for which one
/// cycle of multigrid stands. On simplices K is the Crouzeix–Raviart form and Πᵀ K Π the linear
/// finite-element stiffness B: Xu, Computing 56 (1996). The number of iterations then hardly depends on the
/// mesh.
///
/// What Π loses at faces that are held, Π v being zero there, stiffens L at their nodes: a face with the
/// diagonal k in K by k / n at each of its n nodes.
///
/// L is made for the power of four nearest to b / a, and again when that changes: preconditioners depend on
/// nothing of the past.
class MomentumMultigrid : public FaceJacobi {
 public:
  explicit MomentumMultigrid(const MomentumMatrices& matrices);
  ~MomentumMultigrid() override;

  /// The factor of the mass is positive.
  void set(Real mass_factor, Real viscous_factor) override;
  void apply(const FaceVectors<float>& r, FaceVectors<float>& z) const override;
  void apply(const FaceVectors<Real>& r, FaceVectors<Real>& z) const override;
  void apply_with_product(const FaceVectors<float>& r, FaceVectors<float>& z,
                          SumInParts& product) const override;
  void apply_with_product(const FaceVectors<Real>& r, FaceVectors<Real>& z,
                          SumInParts& product) const override;

 private:
  class NodeCorrection;

  template <class T>
  void apply_in(const FaceVectors<T>& r, FaceVectors<T>& z) const;
  template <class T>
  void apply_with_product_in(const FaceVectors<T>& r, FaceVectors<T>& z, SumInParts& product) const;

  float scale_ = 0;                             // 1 / b
  Real ratio_ = 0;                              // of the correction: the power of four nearest to b / a
  std::unique_ptr<NodeCorrection> correction_;  // null where diffusion does not reach across cells
};

}  // namespace curlew
