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
  /// The largest k / m of all faces that are not held [1/m2]; 0 where all are. By all ranks together.
  static Real largest(const MomentumMatrices& matrices);

 private:
  const MomentumMatrices& matrices_;
  Real ratio_;
};

}  // namespace curlew
