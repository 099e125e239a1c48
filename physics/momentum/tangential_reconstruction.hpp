// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "physics/momentum/momentum_systems.hpp"

namespace curlew {

class SumInParts;

/// The tangential velocities that belong to a smooth streamfunction, times areas: A T N C s on faces where
/// they are free, C s being fluxes, N the interpolation to cells (operators/interpolation.hpp) and T the
/// tangential part of the mean of the two cells' velocities, or of the one cell's on the boundary. In single
/// precision.
class TangentialReconstruction {
 public:
  /// `matrices`: outlives it.
  explicit TangentialReconstruction(const MomentumMatrices& matrices);

  /// rotation = r + (A T N C)ᵀ force for a tangential force, whose ghosts are brought up to date; those of
  /// the others are neither read nor written.
  template <class T>
  void set_rotation(const Field<Edge, T, Cochain::Dual>& r, const FaceVectors<T>& force,
                    Field<Edge, float>& rotation);
  /// z += A T N C s. Ghosts of s are right, those of z are not written. `sum` gets r . z, unless it is null.
  template <class T>
  void add(const Field<Edge, float>& s, const FaceVectors<T>& r, FaceVectors<T>& z, SumInParts* sum);

 private:
  const MomentumMatrices& matrices_;
  Field<Face, float> share_;  // of a cell in A T: 0 where tangential velocities are held
  Field<Face, float> flux_;
  Field<Cell, Vector4<float>> velocity_;
};

}  // namespace curlew
