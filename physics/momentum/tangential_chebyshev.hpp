// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "physics/momentum/momentum_systems.hpp"
#include "solvers/multigrid/chebyshev.hpp"

namespace curlew {

class SumInParts;

/// Preconditioner for tangential velocities: some steps of a Chebyshev iteration for K_tt, in single
/// precision. Symmetric and positive on what is free. It costs products with the matrix where FaceJacobi
/// costs none, hence is for solves that do much more in an iteration than that.
class TangentialChebyshev {
 public:
  /// `matrices`: outlives it.
  explicit TangentialChebyshev(const MomentumMatrices& matrices);

  /// z = factor A B A r for a tangential r of order one, A the areas of faces: what multiplies velocities
  /// times areas is divided by areas. Ghosts of r are not read, those of z not written. z is 0 where
  /// tangential velocities are held. `sum` gets r . z, unless it is null.
  void apply(Real factor, const FaceVectors<float>& r, FaceVectors<float>& z, SumInParts* sum);
  void apply(Real factor, const FaceVectors<Real>& r, FaceVectors<Real>& z, SumInParts* sum);

 private:
  template <class T>
  void apply_to(Real factor, const FaceVectors<T>& r, FaceVectors<T>& z, SumInParts* sum);

  const MomentumMatrices& matrices_;
  Executor executor_;
  Field<Face, float> area_, inverse_diagonal_;  // the latter 0 where tangential velocities are held
  FaceVectors<float> x_, next_, step_;
  std::vector<ChebyshevCoefficients> steps_;
};

}  // namespace curlew
