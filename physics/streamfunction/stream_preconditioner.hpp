// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "physics/momentum/tangential_chebyshev.hpp"
#include "physics/momentum/tangential_reconstruction.hpp"
#include "physics/streamfunction/harmonic_flows.hpp"
#include "solvers/auxiliary_space/auxiliary_space.hpp"
#include "solvers/refined_conjugate_gradient.hpp"

namespace curlew {

/// The exact fractional step's: fields one by one, by their diagonals or, in place of that, by what iterates
/// in single precision whatever the precision of the vectors. Where there are harmonic flows, what they span
/// is solved exactly besides, and the diagonals of loops are not used (docs/multigrid.md).
///
/// Where viscosity reaches far within a step, streamfunction and tangential velocities are not smooth each
/// for itself: a smooth streamfunction s costs little only with the velocities A t = A T N C s that belong to
/// it. There, but not where many cells are flat or gaps are narrow, they have one correction, in the
/// auxiliary space of vectors at nodes,
///   z = (ω D_s⁻¹ r_s, B_t r_t) + 0.4 P L⁻¹ Pᵀ r,  P = [Π; A T N C Π],  L = a B + b B V⁻¹ B,
/// beside Jacobi on edges and the Chebyshev iteration B_t on faces.
class StreamPreconditioner : public RefinedPreconditioner<StreamVelocity> {
 public:
  /// By diagonals. `like` has the extents.
  explicit StreamPreconditioner(const StreamVelocity& like);
  /// By what iterates. `matrices`: outlives it.
  StreamPreconditioner(const StreamVelocity& like, const MomentumMatrices& matrices,
                       std::unique_ptr<AuxiliarySpace> edges);
  /// From the next set() on.
  void set_harmonic(std::unique_ptr<HarmonicFlows> harmonic) { harmonic_ = std::move(harmonic); }
  /// For a times the mass and b times the viscous form. A diagonal of 0 stands for a value that is held;
  /// those that are not used do not matter.
  void set(std::span<const Real> stream, std::span<const Real> loop, std::span<const Real> velocity, Real a,
           Real b);
  void apply(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z) const override;
  void apply(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z) const override;
  void apply_with_product(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z,
                          SumInParts& product) const override;
  void apply_with_product(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z,
                          SumInParts& product) const override;

 private:
  /// Of the correction that both fields have together.
  struct Coupling {
    Coupling(const Field<Edge>& like, const MomentumMatrices& matrices);
    TangentialReconstruction reconstruction;
    Field<Edge, float> rotation, stream;
  };

  /// Chooses, too, whether there is a coupling.
  void set_edges(Real a, Real b);
  template <class T>
  void apply_coupled(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z, SumInParts* sum) const;
  /// `sum` gets r . z, unless it is null.
  template <class T>
  void apply_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z, SumInParts* sum) const;
  template <class T>
  void apply_with_product_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z,
                             SumInParts& product) const;

  Field<Edge> stream_;
  Field<Loop> loop_;
  Field<Face> velocity_;
  const MomentumMatrices* matrices_ = nullptr;  // null for diagonals, as the next two
  std::unique_ptr<AuxiliarySpace> edges_;
  std::unique_ptr<TangentialChebyshev> tangential_;
  std::unique_ptr<Coupling> coupling_;  // null where viscosity does not reach far
  bool may_couple_ = false;
  Real viscous_factor_ = 0;
  std::unique_ptr<HarmonicFlows> harmonic_;  // null where there are none
};

}  // namespace curlew
