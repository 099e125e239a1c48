// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>

#include "kernels/executor.hpp"
#include "kernels/memory.hpp"
#include "kernels/reproducible_sum.hpp"
#include "kernels/view.hpp"

namespace curlew {

namespace detail {

/// A chunk of one of several sums: which sum, over what entities, and the place of what comes out.
struct ChunkOfSum {
  Index sum, first, last, place;
};

}  // namespace detail

/// Sums that are made together, in no more launches than one takes: for each entity S a sum over entities E.
/// Bits are those of `sum`. kernels/reduction.hpp has the definitions, for sources that launch kernels.
template <class S, class E>
class SeveralSums {
 public:
  /// `ranges`: of each sum what it goes over.
  SeveralSums(const Executor& executor, std::span<const Range<E>> ranges);

  /// Makes sum s that of the numbers which `terms(s)`, a function of an entity, gives: over the entities that
  /// all ranks have, in the memory of the executor, until they are made again. The host waits only where
  /// there are several ranks.
  template <class Terms>
  View<S, const BinnedSum> make(const Terms& terms) const;

 private:
  Executor executor_;
  ConstantArray<detail::ChunkOfSum> chunks_;
  ConstantArray<Index> starts_;  // of each sum, where its chunks' sums are
  mutable Buffer<BinnedSum> sums_;
};

}  // namespace curlew
