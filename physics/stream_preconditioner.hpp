// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "physics/tangential_chebyshev.hpp"
#include "solvers/auxiliary_space.hpp"
#include "solvers/refined_conjugate_gradient.hpp"

namespace curlew {

/// A flow without vorticity. By inertia it has no energy in common with any curl, whereas a flux through the
/// faces of a loop alone is nearly a sum of curls.
struct HarmonicFlow {
  Field<Edge, float, Cochain::Primal> stream;
  PrimalCochain<Loop> loop;
};
/// One for each loop.
struct HarmonicFlows {
  std::vector<HarmonicFlow> flows;
  std::vector<Real> mass, viscous;  ///< products of flows i and j by either matrix, row by row
  template <class T>
  std::vector<Real> products_with(const Paired<StreamVectors<T>>& r) const;
};

/// The exact fractional step's: fields one by one, by their diagonals or, in place of that, by what iterates
/// in single precision whatever the precision of the vectors. Where there are harmonic flows, what they span
/// is solved exactly besides, and the diagonals of loops are not used (docs/multigrid.md).
class StreamPreconditioner : public RefinedPreconditioner<StreamVelocity> {
 public:
  /// `like` has the extents; `edges`, `tangential`: null for diagonals.
  StreamPreconditioner(const StreamVelocity& like, std::unique_ptr<AuxiliarySpace> edges,
                       std::unique_ptr<TangentialChebyshev> tangential);
  /// From the next set() on.
  void set_harmonic(HarmonicFlows harmonic) { harmonic_ = std::move(harmonic); }
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
  /// `sum` gets r . z but for what harmonic flows add; null where nobody asks for it.
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
  HarmonicFlows harmonic_;
  std::vector<Real> harmonic_energy_;
};

}  // namespace curlew
