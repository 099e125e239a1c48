// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/several_sums.hpp"
#include "operators/operator.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

class SumInParts;

/// Entity tag: a flow without vorticity. By inertia it has no energy in common with any curl, whereas a flux
/// through the faces of a loop alone is nearly a sum of curls.
struct HarmonicFlow;

/// One such flow for each loop, and the exact inverse in what they span: Y (Yᵀ (a M + b K) Y)⁻¹ Yᵀ.
class HarmonicFlows {
 public:
  using System = Operator<StreamVectors<float>, Paired<StreamVectors<float>>>;

  /// `like` has the extents.
  explicit HarmonicFlows(const StreamVelocity& like);
  Range<HarmonicFlow> range() const { return Range<HarmonicFlow>(0, loops_); }
  /// What flow k is: a streamfunction, kept in single precision, and fluxes through loops.
  void set(Id<HarmonicFlow> k, const StreamVelocity& flow);
  /// To be called once all flows are set: finds their energies by M and K, as systems of the streamfunction.
  /// `flow`, with velocities of zero, and `image`: to work with.
  void set_energies(const System& mass, const System& viscous, StreamVectors<float>& flow,
                    Paired<StreamVectors<float>>& image);
  /// The factors a and b from here on.
  void set(Real a, Real b);
  /// Of z it adds to the streamfunction and sets the loops. `sum` gets r . z of both, unless it is null.
  template <class T>
  void add(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z, SumInParts* sum) const;

 private:
  /// Leaves Yᵀ r in `products_`.
  template <class T>
  void set_products(const Paired<StreamVectors<T>>& r) const;

  Executor executor_;
  Index loops_, edges_;  // all loops, as many as flows; the rank's own edges
  // Flow by flow.
  Buffer<float> stream_;
  Buffer<Real> through_;
  std::vector<Real> mass_, viscous_;  // products of flows i and j by either matrix, row by row
  Buffer<Real> inverse_;              // of a times the one plus b times the other, row by row
  SeveralSums<HarmonicFlow, Edge> sums_;
  mutable Buffer<Real> products_, factors_;
};

}  // namespace curlew
