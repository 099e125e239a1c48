// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "physics/momentum_systems.hpp"
#include "solvers/chebyshev.hpp"
#include "solvers/multigrid_kernels.hpp"

namespace curlew {

/// Preconditioner for tangential velocities: some steps of a Chebyshev iteration for K_tt, in single
/// precision on residuals brought to order one. Symmetric and positive on what is free. It costs products
/// with the matrix where FaceJacobi costs none, hence is for solves that do much more in an iteration than
/// that.
class TangentialChebyshev {
 public:
  /// `matrices`: outlives it.
  explicit TangentialChebyshev(const MomentumMatrices& matrices);

  /// z = factor A B A r, A the areas of faces: what multiplies velocities times areas is divided by areas.
  /// Ghosts of r are not read, those of z not written. z is 0 where tangential velocities are held.
  void apply(Real factor, const FaceVelocity& r, FaceVelocity& z);

 private:
  /// Calls `launch(range, rows)` for parts of the rank's own faces once K x can be summed.
  template <class Launch>
  void visit_product(const Launch& launch);

  const MomentumMatrices& matrices_;
  Executor executor_;
  Buffer<multigrid::Scaling> scaling_;
  Field<Face, float> inverse_diagonal_;  // 0 where tangential velocities are held
  FaceVectors<float> right_hand_side_, x_, next_, step_;
  std::vector<ChebyshevCoefficients> steps_;
};

}  // namespace curlew
