// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "physics/momentum/momentum_systems.hpp"

namespace curlew {

/// How far viscosity reaches within a step, for a M + b K on face velocities with the ratio b / a [m2].
class ViscousReach {
 public:
  /// `matrices`: outlives it.
  ViscousReach(const MomentumMatrices& matrices, Real ratio) : matrices_(matrices), ratio_(ratio) {}

  /// Whether b k > far a m at most faces that are not held, m and k being diagonals of M and K. By all ranks
  /// together.
  bool is_beyond(Real far) const;
  /// The largest k / m of all faces that are not held [1/m2]; 0 where all are. On flat simplices m, which is
  /// of their fluxes, is as much too large for their velocities as they are longer than high; so it is twice
  /// that of the diagonal star S at most. `inverse_star`: 1/S, 0 where there is none. By all ranks together.
  static Real largest(const MomentumMatrices& matrices, const Field<Face>& inverse_star);

 private:
  const MomentumMatrices& matrices_;
  Real ratio_;
};

}  // namespace curlew
