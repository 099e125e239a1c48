// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/for_each.hpp"
#include "kernels/reproducible_sum.hpp"
#include "kernels/several_sums.hpp"
#include "kernels/sum_in_parts.hpp"
#include "kernels/view.hpp"

namespace curlew {

/// Reductions go over chunks of entities, and over what these gave in the same way until one is left.
namespace reduction_shape {
constexpr Index chunk = 2048;  ///< entities at most
constexpr Index lanes = 256;   ///< a device's threads that share a chunk
/// Terms that each of these threads takes: of more a device would work on too few chunks at a time, of fewer
/// it would do little but bring together what its threads have (docs/trials.md). Of terms that take a row of
/// neighbours each takes one: while threads bring together what they have, others should wait for memory.
CURLEW_HOST_DEVICE constexpr Index terms_a_lane(bool of_rows) {
  return of_rows ? 1 : 4;
}
/// Of up to so many terms each of these threads takes one, so that many chunks are worked on at a time.
constexpr Index few_terms = 1 << 15;
/// A device's threads that share a chunk of sums.
constexpr Index lanes_for_sums = 512;
constexpr Index chunks(Index terms, Index in_a_chunk = chunk) {
  return (terms + in_a_chunk - 1) / in_a_chunk;
}
/// How many of so many terms make a chunk in that memory; `of_rows`: each takes a row of neighbours.
constexpr Index in_a_chunk(MemorySpace space, Index terms, bool of_rows) {
  if (space == MemorySpace::Host) return chunk;
  return terms <= few_terms ? lanes : terms_a_lane(of_rows) * lanes;
}
/// How many of so many sums come together at a time: all in one launch, unless that would take longer than
/// two.
constexpr Index sums_in_a_chunk(Index sums) {
  return sums <= 8 * lanes_for_sums ? 8 * lanes_for_sums : lanes_for_sums;
}
}  // namespace reduction_shape

namespace detail {

struct Chunk;  // entity tag: one chunk of a sum

/// Whether a term takes a row of neighbours, as that of a kernel in two parts does unless it says otherwise.
template <class Term, class E>
inline constexpr bool takes_a_row = InTwoParts<Term, E>;
template <class Term, class E>
requires requires {
  Term::takes_a_row;
}
inline constexpr bool takes_a_row<Term, E> = Term::takes_a_row;

}  // namespace detail

template <>
inline constexpr Index work_per_entity<detail::Chunk> = reduction_shape::chunk;

namespace detail {

struct KeepSum {
  BinnedSum* place;
  CURLEW_HOST_DEVICE void operator()(const BinnedSum& sum) const { *place = sum; }
};

#if defined(__CUDACC__)
/// The value of another thread of the warp, whose number has other bits where `turned` has ones.
template <class T>
__device__ T value_across(T value, Index turned) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(unsigned) == 0);
  unsigned words[sizeof(T) / sizeof(unsigned)];
  memcpy(words, &value, sizeof value);
  for (unsigned& word : words) word = __shfl_xor_sync(0xffffffffu, word, turned);
  memcpy(&value, words, sizeof value);
  return value;
}

/// What `combine` makes of the values of all `lanes` threads of a block. For each type and way of combining
/// once a kernel.
template <Index lanes, class T, class Combine>
class BlockReduction {
 public:
  __device__ BlockReduction(Index lane, T value, Combine combine) : combine_(combine) {
    for (Index turned = threads_per_warp / 2; turned > 0; turned /= 2)
      combine(value, value_across(value, turned));
    alignas(T) __shared__ unsigned char memory[warps * sizeof(T)];
    of_warp_ = reinterpret_cast<T*>(memory);
    if (lane % threads_per_warp == 0) of_warp_[lane / threads_per_warp] = value;
    __syncthreads();
  }
  /// For whoever asks.
  __device__ T result() const {
    T value = of_warp_[0];
    for (Index k = 1; k < warps; ++k) combine_(value, of_warp_[k]);
    return value;
  }

 private:
  static constexpr Index warps = lanes / threads_per_warp;

  Combine combine_;
  T* of_warp_;
};
template <Index lanes, class T, class Combine>
__device__ BlockReduction<lanes, T, Combine> reduced_in_block(Index lane, T value, Combine combine) {
  return {lane, value, combine};
}

struct KeepLarger {
  template <class T>
  __device__ void operator()(T& largest, T value) const {
    if (value > largest) largest = value;
  }
};
struct AddSums {
  template <class T>
  __device__ void operator()(T& sum, const T& part) const {
    sum.add(part);
  }
};
/// What a slicer makes of some terms.
struct Slices {
  std::uint64_t first = 0, second = 0, third = 0;
  __device__ void add(const Slices& other) {
    first += other.first;
    second += other.second;
    third += other.third;
  }
};

/// The binned sum of `term(k)` for k in [0, count), at most a device's chunk: the work of a block of `lanes`
/// threads. `of_rows`: each term takes a row of neighbours.
template <bool of_rows, class Term>
__device__ void binned_sum_together(Index lane, Index count, const Term& term, BinnedSum& sum) {
  constexpr Index lanes = reduction_shape::lanes, rows = reduction_shape::terms_a_lane(of_rows);
  // The terms wait in registers until the largest of the chunk is known, to which all are cut.
  Real terms[rows];
  std::uint32_t largest = 0;  // the upper half of its magnitude, which has the exponent
#pragma unroll
  for (Index row = 0; row < rows; ++row) {
    const Index k = row * lanes + lane;
    terms[row] = k < count ? Real(term(k)) : Real(0);
    KeepLarger{}(largest, static_cast<std::uint32_t>(binning::magnitude_of(terms[row]) >> 32));
  }
  largest = reduced_in_block<lanes>(lane, largest, KeepLarger{}).result();
  const binning::Slicer slicer(static_cast<std::int64_t>(largest) << 32);
  Slices slices;
#pragma unroll
  for (Index row = 0; row < rows; ++row) slicer.add(terms[row], slices.first, slices.second, slices.third);
  const auto all = reduced_in_block<lanes>(lane, slices, AddSums{});
  if (lane != 0) return;
  slices = all.result();
  // Of all terms, zeros where there are fewer.
  sum = BinnedSum(slicer, rows * lanes, slices.first, slices.second, slices.third);
}

/// Calls `next` with the sum of parts [first, last): the work of a block of `lanes_for_sums` threads.
template <class Next>
__device__ void merged_sum_together(Index lane, View<Chunk, const BinnedSum> parts, Index first, Index last,
                                    const Next& next) {
  constexpr Index lanes = reduction_shape::lanes_for_sums;
  BinnedSum of_lane;
  for (Index k = first + lane; k < last; k += lanes) of_lane.add(parts[Id<Chunk>(k)]);
  const auto all = reduced_in_block<lanes>(lane, of_lane, AddSums{});
  if (lane == 0) next(all.result());
}
#endif

/// The sum of parts [first, last): one thread's work.
inline BinnedSum merged_sum(View<Chunk, const BinnedSum> parts, Index first, Index last) {
  BinnedSum sum;
  for (Index k = first; k < last; ++k) sum.add(parts[Id<Chunk>(k)]);
  return sum;
}

/// Sum of one chunk of terms.
template <class E, class Term>
struct SumOnChunk {
  Term term;
  Range<E> range;
  Index in_a_chunk;
  View<Chunk, BinnedSum> sums;

  static constexpr Index lanes = reduction_shape::lanes;

  void operator()(Id<Chunk> c) const {
    const Index first = range.first() + c.value() * in_a_chunk;
    const Index count = std::min(in_a_chunk, range.last() - first);
    if constexpr (InTwoParts<Term, E>) {
      static_assert(two_part_kernel::block == BlockwiseSum::block);
      BlockwiseSum sum;
      for (Index start = 0; start < count; start += BlockwiseSum::block) {
        const Index size = std::min(BlockwiseSum::block, count - start);
        Real terms[BlockwiseSum::block];
        two_part_kernel::run_on_block<E>(term, first + start, size, terms);
        sum.add(terms, size);
      }
      sums[c] = sum.sum();
    } else {
      sums[c] = binned_sum(count, [&](Index k) -> Real { return term(Id<E>(first + k)); });
    }
  }

#if defined(__CUDACC__)
  __device__ void together(Id<Chunk> c, Index lane) const {
    const Index first = range.first() + c.value() * in_a_chunk;
    const Index left = range.last() - first;
    const Index count = left < in_a_chunk ? left : in_a_chunk;
    binned_sum_together<takes_a_row<Term, E>>(
        lane, count, [&](Index k) -> Real { return run_on_entity(term, Id<E>(first + k)); }, sums[c]);
  }
#endif
};

/// Sum of one chunk of sums.
struct MergedSumOnChunk {
  View<Chunk, const BinnedSum> parts;
  Index count, in_a_chunk;
  View<Chunk, BinnedSum> sums;

  static constexpr Index lanes = reduction_shape::lanes_for_sums;

  void operator()(Id<Chunk> c) const {
    const Index first = c.value() * in_a_chunk;
    sums[c] = merged_sum(parts, first, std::min(first + in_a_chunk, count));
  }

#if defined(__CUDACC__)
  __device__ void together(Id<Chunk> c, Index lane) const {
    const Index first = c.value() * in_a_chunk;
    const Index last = first + in_a_chunk < count ? first + in_a_chunk : count;
    merged_sum_together(lane, parts, first, last, KeepSum{&sums[c]});
  }
#endif
};

/// Sum of one chunk of one of several sums.
template <class S, class E, class Terms>
struct SumsOnChunk {
  Terms terms;
  View<Chunk, const ChunkOfSum> chunks;
  View<Chunk, BinnedSum> sums;

  static constexpr Index lanes = reduction_shape::lanes;

  void operator()(Id<Chunk> c) const {
    const ChunkOfSum chunk = chunks[c];
    const auto term = terms(Id<S>(chunk.sum));
    sums[Id<Chunk>(chunk.place)] =
        binned_sum(chunk.last - chunk.first, [&](Index k) -> Real { return term(Id<E>(chunk.first + k)); });
  }

#if defined(__CUDACC__)
  __device__ void together(Id<Chunk> c, Index lane) const {
    const ChunkOfSum chunk = chunks[c];
    const auto term = terms(Id<S>(chunk.sum));
    binned_sum_together<false>(
        lane, chunk.last - chunk.first, [&](Index k) -> Real { return term(Id<E>(chunk.first + k)); },
        sums[Id<Chunk>(chunk.place)]);
  }
#endif
};

/// One of several sums, of what its chunks gave.
template <class S>
struct MergedSumOnSum {
  View<Chunk, const BinnedSum> parts;
  View<S, const Index> start;
  View<S, BinnedSum> sums;

  static constexpr Index lanes = reduction_shape::lanes_for_sums;

  void operator()(Id<S> s) const { sums[s] = merged_sum(parts, start[s], start[Id<S>(s.value() + 1)]); }

#if defined(__CUDACC__)
  __device__ void together(Id<S> s, Index lane) const {
    merged_sum_together(lane, parts, start[s], start[Id<S>(s.value() + 1)], KeepSum{&sums[s]});
  }
#endif
};

/// Largest of one chunk of terms.
template <class E, class Term>
struct MaximumOnChunk {
  Term term;
  Range<E> range;
  View<Chunk, Real> maxima;

  static constexpr Index lanes = reduction_shape::lanes;

  void operator()(Id<Chunk> c) const {
    const Index first = range.first() + c.value() * reduction_shape::chunk;
    const Index last = std::min(first + reduction_shape::chunk, range.last());
    Real largest = 0;
    for (Index i = first; i < last; ++i) {
      const Real value = term(Id<E>(i));
      if (value > largest) largest = value;
    }
    maxima[c] = largest;
  }

#if defined(__CUDACC__)
  __device__ void together(Id<Chunk> c, Index lane) const {
    const Index first = range.first() + c.value() * reduction_shape::chunk;
    const Index left = range.last() - first;
    const Index available = left < reduction_shape::chunk ? left : reduction_shape::chunk;
    Real largest = 0;
    for (Index row = lane; row < available; row += lanes)
      KeepLarger{}(largest, Real(term(Id<E>(first + row))));
    const auto all = reduced_in_block<lanes>(lane, largest, KeepLarger{});
    if (lane == 0) maxima[c] = all.result();
  }
#endif
};

template <class T>
struct ValueOfChunk {
  View<Chunk, const T> values;
  CURLEW_HOST_DEVICE T operator()(Id<Chunk> c) const { return values[c]; }
};

/// How many values the chunks of all levels but the last have, where the first level has so many.
/// `in_a_chunk(count)`: how many of so many values make a chunk.
template <class InAChunk>
Index chunks_below_the_last(Index chunks, const InAChunk& in_a_chunk) {
  Index total = 0;
  for (Index n = chunks; n > 1; n = reduction_shape::chunks(n, in_a_chunk(n))) total += n;
  return total;
}

/// What this rank has of a sum, in the memory of the executor, until the next reduction.
template <class E, class Term>
const BinnedSum* own_sum(const Executor& executor, Range<E> range, const Term& term) {
  static_assert(sizeof(BinnedSum) % sizeof(Real) == 0 && std::is_trivially_copyable_v<BinnedSum>);
  const Index in_a_chunk = reduction_shape::in_a_chunk(executor.space(), range.size(), takes_a_row<Term, E>);
  Index level = std::max(reduction_shape::chunks(range.size(), in_a_chunk), Index(1));
  const Index below = chunks_below_the_last(level, reduction_shape::sums_in_a_chunk);
  auto* scratch = reinterpret_cast<BinnedSum*>(
      executor.reduction_scratch((at(below) + 1) * (sizeof(BinnedSum) / sizeof(Real))));
  View<Chunk, BinnedSum> sums(scratch, level);
  for_each(executor, Range<Chunk>(0, level), SumOnChunk<E, Term>{term, range, in_a_chunk, sums});
  while (level > 1) {
    const Index count = level, at_once = reduction_shape::sums_in_a_chunk(count);
    scratch += count;
    level = reduction_shape::chunks(count, at_once);
    const View<Chunk, BinnedSum> merged(scratch, level);
    for_each(executor, Range<Chunk>(0, level), MergedSumOnChunk{sums, count, at_once, merged});
    sums = merged;
  }
  return scratch;
}

}  // namespace detail

/// Sum of `term(id)` over `range`, and over those of all ranks that the executor is among; the term may be
/// what a kernel in two parts returns (kernels/two_part_kernel.hpp). Its bits depend on the terms alone
/// (reproducible_sum.hpp): they are the same on every backend, at any number of threads and ranks and in any
/// order.
template <class E, class Term>
auto sum(const Executor& executor, Range<E> range, const Term& term) {
  using T = decltype(run_on_entity(term, Id<E>(0)));
  static_assert(std::is_floating_point_v<T> && sizeof(T) <= sizeof(Real));
  BinnedSum own;
  copy_bytes(&own, MemorySpace::Host, detail::own_sum(executor, range, term), executor.space(), sizeof own);
  return static_cast<T>((executor.ranks() ? executor.ranks()->sum(own) : own).value());
}

namespace detail {

/// Makes sums of what every rank has out of what this one has, in the memory of the executor.
inline void sum_over_ranks(const Executor& executor, BinnedSum* sums, std::size_t count = 1) {
  if (executor.is_alone()) return;
  constexpr std::size_t most_at_once = 16;
  BinnedSum values[most_at_once];
  for (std::size_t first = 0; first < count; first += most_at_once) {
    const std::size_t size = std::min(count - first, most_at_once);
    copy_bytes(values, MemorySpace::Host, sums + first, executor.space(), size * sizeof(BinnedSum));
    executor.ranks()->sums({values, size});
    copy_bytes(sums + first, executor.space(), values, MemorySpace::Host, size * sizeof(BinnedSum));
  }
}

}  // namespace detail

namespace detail {

/// Brings the parts of a sum together and hands it to what goes on with it.
template <class Next>
struct GoOnWithSum {
  View<Chunk, const BinnedSum> parts;
  Index count;
  Next next;

  static constexpr Index lanes = reduction_shape::lanes_for_sums;

  void operator()(Id<Chunk>) const { next(merged_sum(parts, 0, count)); }

#if defined(__CUDACC__)
  __device__ void together(Id<Chunk>, Index lane) const {
    merged_sum_together(lane, parts, 0, count, next);
  }
#endif
};

}  // namespace detail

template <class E, class Term>
void SumInParts::add(Range<E> range, const Term& term) {
  const Index in_a_chunk =
      reduction_shape::in_a_chunk(executor_.space(), range.size(), detail::takes_a_row<Term, E>);
  const Index chunks = reduction_shape::chunks(range.size(), in_a_chunk);
  for_each(executor_, Range<detail::Chunk>(0, chunks),
           detail::SumOnChunk<E, Term>{term, range, in_a_chunk, places(chunks)});
}

template <class Next>
void SumInParts::finish(const Next& next) {
  using detail::Chunk;
  BinnedSum* parts = parts_.data();
  Index count = count_;
  const auto view = [](const BinnedSum* sums, Index size) {
    return View<Chunk, const BinnedSum>(sums, size);
  };
  const auto go_on = [&](const auto& with_sum) {
    using Kernel = detail::GoOnWithSum<std::remove_cvref_t<decltype(with_sum)>>;
    for_each(executor_, Range<Chunk>(0, 1), Kernel{view(parts, count), count, with_sum});
  };
  for (Index at_once; (at_once = reduction_shape::sums_in_a_chunk(count)) < count;) {
    BinnedSum* const merged = parts + count;
    const Index merged_count = reduction_shape::chunks(count, at_once);
    for_each(executor_, Range<Chunk>(0, merged_count),
             detail::MergedSumOnChunk{view(parts, count), count, at_once,
                                      View<Chunk, BinnedSum>(merged, merged_count)});
    parts = merged;
    count = merged_count;
  }
  if (!executor_.is_alone()) {
    go_on(detail::KeepSum{sum_.data()});
    detail::sum_over_ranks(executor_, sum_.data());
    parts = sum_.data();
    count = 1;
  }
  go_on(next);
}

/// Runs a kernel whose values are terms of a sum; null where nobody asks for it.
template <class E, class Kernel>
void run_and_add(const Executor& executor, Range<E> range, const Kernel& kernel, SumInParts* sum) {
  if (sum != nullptr) {
    sum->add(range, kernel);
  } else {
    for_each(executor, range, kernel);
  }
}

template <class S, class E>
SeveralSums<S, E>::SeveralSums(const Executor& executor, std::span<const Range<E>> ranges)
    : executor_(executor), sums_(executor.space(), ranges.size()) {
  Index most = 0;
  for (const Range<E> range : ranges) most = std::max(most, range.size());
  const Index in_a_chunk = reduction_shape::in_a_chunk(executor.space(), most, false);
  std::vector<Index> starts{0};
  for (const Range<E> range : ranges)
    starts.push_back(starts.back() + std::max(reduction_shape::chunks(range.size(), in_a_chunk), Index(1)));
  // The first chunks of all sums, then the second ones: where sums go over the same entities, what they read
  // of these is close by.
  std::vector<detail::ChunkOfSum> chunks;
  for (Index c = 0; chunks.size() < at(starts.back()); ++c) {
    for (std::size_t s = 0; s < ranges.size(); ++s) {
      if (c >= starts[s + 1] - starts[s]) continue;
      const Index first = ranges[s].first() + c * in_a_chunk;
      const Index last = std::min(first + in_a_chunk, ranges[s].last());
      chunks.push_back({static_cast<Index>(s), first, last, starts[s] + c});
    }
  }
  chunks_ = ConstantArray<detail::ChunkOfSum>(std::move(chunks));
  starts_ = ConstantArray<Index>(std::move(starts));
}

template <class S, class E>
template <class Terms>
View<S, const BinnedSum> SeveralSums<S, E>::make(const Terms& terms) const {
  using detail::Chunk;
  const MemorySpace space = executor_.space();
  const Index chunks = static_cast<Index>(chunks_.size()), count = static_cast<Index>(sums_.size());
  const View<S, BinnedSum> sums(sums_.data(), count);
  // A sum of one chunk is what that gives.
  const bool merges = chunks > count;
  constexpr std::size_t size = sizeof(BinnedSum) / sizeof(Real);
  const View<Chunk, BinnedSum> parts(
      merges ? reinterpret_cast<BinnedSum*>(executor_.reduction_scratch(chunks_.size() * size))
             : sums_.data(),
      chunks);
  const View<Chunk, const detail::ChunkOfSum> table(chunks_.data(space), chunks);
  for_each(executor_, Range<Chunk>(0, chunks), detail::SumsOnChunk<S, E, Terms>{terms, table, parts});
  if (merges) {
    const View<S, const Index> starts(starts_.data(space), count + 1);
    for_each(executor_, Range<S>(0, count), detail::MergedSumOnSum<S>{parts, starts, sums});
  }
  detail::sum_over_ranks(executor_, sums_.data(), sums_.size());
  return sums;
}

/// Sum of terms on the host, of these ranks.
inline Real sum_of_terms(const Ranks& ranks, std::span<const Real> terms) {
  return ranks.sum(binned_sum(static_cast<Index>(terms.size()), [&](Index k) { return terms[at(k)]; }))
      .value();
}

namespace detail {

/// Leaves what this rank has of a maximum in `result`, as own_sum does.
template <class E, class Term>
Real* own_maximum(const Executor& executor, Range<E> range, const Term& term, Real* result = nullptr) {
  Index level = std::max(reduction_shape::chunks(range.size()), Index(1));
  const Index below = chunks_below_the_last(level, [](Index) { return reduction_shape::chunk; });
  Real* scratch = executor.reduction_scratch(at(below) + 1);
  if (result == nullptr) result = scratch + below;
  const auto place = [&] { return View<Chunk, Real>(level == 1 ? result : scratch, level); };
  View<Chunk, Real> maxima = place();
  for_each(executor, Range<Chunk>(0, level), MaximumOnChunk<E, Term>{term, range, maxima});
  while (level > 1) {
    using Previous = ValueOfChunk<Real>;
    const Range<Chunk> previous(0, level);
    scratch += level;
    level = reduction_shape::chunks(level);
    for_each(executor, Range<Chunk>(0, level),
             MaximumOnChunk<Chunk, Previous>{Previous{maxima}, previous, place()});
    maxima = place();
  }
  return result;
}

}  // namespace detail

/// Largest of `term(id)` over `range` and those of all ranks that the executor is among, at least 0; terms
/// that are not a number are passed over.
template <class E, class Term>
Real maximum(const Executor& executor, Range<E> range, const Term& term) {
  Real own;
  copy_bytes(&own, MemorySpace::Host, detail::own_maximum(executor, range, term), executor.space(),
             sizeof own);
  return executor.ranks() ? executor.ranks()->maximum(own) : own;
}

/// Leaves the same maximum in `result`, in the memory of the executor, for kernels that go on with it; the
/// host waits only where there are several ranks.
template <class E, class Term>
void maximum(const Executor& executor, Range<E> range, const Term& term, Real* result) {
  detail::own_maximum(executor, range, term, result);
  if (executor.is_alone()) return;
  Real value;
  copy_bytes(&value, MemorySpace::Host, result, executor.space(), sizeof value);
  value = executor.ranks()->maximum(value);
  copy_bytes(result, executor.space(), &value, MemorySpace::Host, sizeof value);
}

}  // namespace curlew
