// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <span>
#include <utility>

#include "physics/harmonic_flows.hpp"
#include "physics/tangential_chebyshev.hpp"
#include "solvers/auxiliary_space.hpp"
#include "solvers/refined_conjugate_gradient.hpp"

namespace curlew {

/// The exact fractional step's: fields one by one, by their diagonals or, in place of that, by what iterates
/// in single precision whatever the precision of the vectors. Where there are harmonic flows, what they span
/// is solved exactly besides, and the diagonals of loops are not used (docs/multigrid.md).
class StreamPreconditioner : public RefinedPreconditioner<StreamVelocity> {
 public:
  /// `like` has the extents; `edges`, `tangential`: null for diagonals.
  StreamPreconditioner(const StreamVelocity& like, std::unique_ptr<AuxiliarySpace> edges,
                       std::unique_ptr<TangentialChebyshev> tangential);
  /// From the next set() on.
  void set_harmonic(std::unique_ptr<HarmonicFlows> harmonic) { harmonic_ = std::move(harmonic); }
  /// For a times the mass and b times the viscous form. A diagonal of 0 stands for a value that is held;
  /// those that are not used do not matter.
  void set(std::span<const Real> stream, std::span<const Real> loop, std::span<const Real> velocity, Real a,
           Real b);
  void apply(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z) const override;
  void apply(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z) const override;
  void apply_with_product(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z,
                          BinnedSum* product) const override;
  void apply_with_product(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z,
                          BinnedSum* product) const override;

 private:
  /// `sum` gets r . z, unless it is null.
  template <class T>
  void apply_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z, detail::SumInParts* sum) const;
  template <class T>
  void apply_with_product_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z,
                             BinnedSum* product) const;

  Field<Edge> stream_;
  Field<Loop> loop_;
  Field<Face> velocity_;
  std::unique_ptr<AuxiliarySpace> edges_;
  std::unique_ptr<TangentialChebyshev> tangential_;
  Real viscous_factor_ = 0;
  std::unique_ptr<HarmonicFlows> harmonic_;  // null where there are none
};

}  // namespace curlew
