// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/factor.hpp"
#include "kernels/field.hpp"
#include "kernels/sum_in_parts.hpp"
#include "solvers/linear_solver.hpp"

namespace curlew {

/// Vectors that are constant on each of some disjoint sets of entities and zero elsewhere: what a diffusion
/// operator cannot see on parts of the domain whose boundary is all insulated.
template <class X>
class PiecewiseConstantNullSpace : public NullSpace<X> {
 public:
  using Entity = typename X::Entity;

  /// `part`: for each entity, ghosts included, the set it belongs to, numbered from 0 over all ranks, or -1.
  PiecewiseConstantNullSpace(const Executor& executor, Extent extent, const std::vector<Index>& part);

  /// Subtracts from each set its mean.
  void make_consistent(Paired<X>& b) const override;
  /// Adds a constant on each set so that its weighted mean becomes that of `wanted`.
  void match_means(const Field<Entity>& weight, const X& wanted, X& x) const;
  Index parts() const { return static_cast<Index>(sizes_.size()); }

 private:
  /// Adds `shift_` to what belongs to a set.
  void shift_part(Index p, Range<Entity> range, View<Entity, Real> values) const;

  Field<Entity, Index> part_;
  std::vector<Real> sizes_;  // of each set, over all ranks
  mutable SumInParts sum_;
  mutable Buffer<BinnedSum> difference_;  // of one set, in the making
  mutable Buffer<Real> shift_;            // of one set
};

}  // namespace curlew
