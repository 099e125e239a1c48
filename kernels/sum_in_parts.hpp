// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/executor.hpp"
#include "kernels/memory.hpp"
#include "kernels/reproducible_sum.hpp"
#include "kernels/view.hpp"

namespace curlew {

namespace detail {
struct Chunk;
}

/// A sum that several kernels add to, over ranges of their own, and with which one goes on, in the memory of
/// the executor. What each chunk of terms gives waits until all come together, in the launch that goes on
/// with the sum: the fewer small kernels, the less a device waits. Bits are those of `sum`. Where launches
/// are recorded, like ones have to have been made before, so that there is room.
/// kernels/reduction.hpp has the definitions, for sources that launch kernels.
class SumInParts {
 public:
  explicit SumInParts(const Executor& executor);

  /// Begins a sum.
  SumInParts& anew() {
    count_ = 0;
    return *this;
  }
  /// Adds `term(id)` over the range, as `sum` has it.
  template <class E, class Term>
  void add(Range<E> range, const Term& term);
  /// Adds the sums of so many chunks, which `set_sums(chunks, sums)` finds.
  template <class SetSums>
  void add_chunks(Index chunks, const SetSums& set_sums) {
    set_sums(Range<detail::Chunk>(0, chunks), places(chunks));
  }
  /// Calls `next(sum)` once, in a kernel, with what all ranks that the executor is among have added; the host
  /// waits only where there are several.
  template <class Next>
  void finish(const Next& next);
  /// Leaves the sum there, in the memory of the executor.
  void finish(BinnedSum* result);
  /// The sum, for the host, which waits.
  Real value();

 private:
  /// Where so many more chunks leave what they give, with room behind for what all come to.
  View<detail::Chunk, BinnedSum> places(Index chunks);

  Executor executor_;
  Buffer<BinnedSum> parts_;  // of chunks, then of what many of them come to
  Index count_ = 0;          // of chunks
  Buffer<BinnedSum> sum_;    // of all, where the host comes between
};

}  // namespace curlew
