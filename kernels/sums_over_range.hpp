// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/reduction.hpp"

namespace curlew::detail {

/// Sum of one chunk of one of several sums over the same entities. Those of a chunk come one after the other,
/// so that what they all read stays in a cache.
template <class E, class Terms>
struct SumOverRangeOnChunk {
  Terms terms;
  Range<E> range;
  Index count, in_a_chunk, chunks;
  View<Chunk, BinnedSum> sums;  // of all chunks of the first sum, then of the second one

  static constexpr Index lanes = reduction_shape::lanes;

  CURLEW_HOST_DEVICE auto chunks_of_sum(Id<Chunk> c) const {
    const Index sum = c.value() % count;
    const auto term = terms(sum);
    return SumOnChunk<E, std::remove_const_t<decltype(term)>>{
        term, range, in_a_chunk, View<Chunk, BinnedSum>(&sums[Id<Chunk>(sum * chunks)], chunks)};
  }
  void operator()(Id<Chunk> c) const { chunks_of_sum(c)(Id<Chunk>(c.value() / count)); }

#if defined(__CUDACC__)
  __device__ void together(Id<Chunk> c, Index lane) const {
    chunks_of_sum(c).together(Id<Chunk>(c.value() / count), lane);
  }
#endif
};

/// One of these sums, of what its chunks gave.
struct SumOfChunksOnSum {
  View<Chunk, const BinnedSum> parts;
  Index chunks;
  View<Chunk, BinnedSum> sums;

  static constexpr Index lanes = reduction_shape::lanes_for_sums;

  void operator()(Id<Chunk> sum) const {
    sums[sum] = merged_sum(parts, sum.value() * chunks, (sum.value() + 1) * chunks);
  }

#if defined(__CUDACC__)
  __device__ void together(Id<Chunk> sum, Index lane) const {
    merged_sum_together(lane, parts, sum.value() * chunks, (sum.value() + 1) * chunks, KeepSum{&sums[sum]});
  }
#endif
};

/// Leaves what this rank has of `count` sums over the same entities in `results`, in the memory of the
/// executor: sum k of the terms that `terms(k)`, a function of an entity, gives. In two launches, of which
/// the first reads once what the sums have in common. Bits are those of `sum`.
template <class E, class Terms>
void own_sums(const Executor& executor, Range<E> range, Index count, const Terms& terms, BinnedSum* results) {
  const Index in_a_chunk =
      reduction_shape::in_a_chunk(executor.space(), range.size(), takes_a_row<decltype(terms(Index(0))), E>);
  const Index chunks = std::max(reduction_shape::chunks(range.size(), in_a_chunk), Index(1));
  constexpr std::size_t size = sizeof(BinnedSum) / sizeof(Real);
  BinnedSum* const place =
      chunks == 1 ? results
                  : reinterpret_cast<BinnedSum*>(executor.reduction_scratch(at(count) * at(chunks) * size));
  const View<Chunk, BinnedSum> parts(place, count * chunks);
  for_each(executor, Range<Chunk>(0, count * chunks),
           SumOverRangeOnChunk<E, Terms>{terms, range, count, in_a_chunk, chunks, parts});
  if (chunks == 1) return;
  for_each(executor, Range<Chunk>(0, count),
           SumOfChunksOnSum{parts, chunks, View<Chunk, BinnedSum>(results, count)});
}

}  // namespace curlew::detail
