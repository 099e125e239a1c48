// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/executor.hpp"
#include "kernels/reproducible_sum.hpp"
#include "kernels/view.hpp"

namespace curlew {

/// Reductions go over chunks of 2048 entities, and over what these gave in the same way until one is left.
namespace reduction_shape {
constexpr Index chunk = 2048;
constexpr Index chunks(Index terms) {
  return (terms + chunk - 1) / chunk;
}
}  // namespace reduction_shape

namespace detail {

struct Chunk;  // entity tag: one chunk of a sum

}  // namespace detail

template <>
inline constexpr Index work_per_entity<detail::Chunk> = reduction_shape::chunk;

namespace detail {

/// Sum of one chunk of terms.
template <class E, class Term>
struct SumOnChunk {
  Term term;
  Range<E> range;
  View<Chunk, BinnedSum> sums;

  void operator()(Id<Chunk> c) const {
    const Index first = range.first() + c.value() * reduction_shape::chunk;
    const Index count = std::min(reduction_shape::chunk, range.last() - first);
    sums[c] = binned_sum(count, [&](Index k) -> Real { return term(Id<E>(first + k)); });
  }
};

/// Sum of one chunk of sums.
struct MergedSumOnChunk {
  View<Chunk, const BinnedSum> parts;
  Index count;
  View<Chunk, BinnedSum> sums;

  void operator()(Id<Chunk> c) const {
    const Index first = c.value() * reduction_shape::chunk;
    const Index last = std::min(first + reduction_shape::chunk, count);
    BinnedSum sum;
    for (Index k = first; k < last; ++k) sum.add(parts[Id<Chunk>(k)]);
    sums[c] = sum;
  }
};

/// Largest of one chunk of terms.
template <class E, class Term>
struct MaximumOnChunk {
  Term term;
  Range<E> range;
  View<Chunk, Real> maxima;

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
};

template <class T>
struct ValueOfChunk {
  View<Chunk, const T> values;
  T operator()(Id<Chunk> c) const { return values[c]; }
};

}  // namespace detail

namespace detail {

/// What this rank has of a sum.
template <class E, class Term>
BinnedSum own_sum(const Executor& executor, Range<E> range, const Term& term) {
  BinnedSum result;
  if (range.empty()) return result;
  Index level = reduction_shape::chunks(range.size()), total = level;
  for (Index n = level; n > 1;) total += n = reduction_shape::chunks(n);
  static_assert(sizeof(BinnedSum) % sizeof(Real) == 0 && std::is_trivially_copyable_v<BinnedSum>);
  auto* scratch = reinterpret_cast<BinnedSum*>(
      executor.reduction_scratch(static_cast<std::size_t>(total) * (sizeof(BinnedSum) / sizeof(Real))));
  for_each(executor, Range<Chunk>(0, level),
           SumOnChunk<E, Term>{term, range, View<Chunk, BinnedSum>(scratch, level)});
  while (level > 1) {
    const Index next = reduction_shape::chunks(level);
    for_each(executor, Range<Chunk>(0, next),
             MergedSumOnChunk{View<Chunk, const BinnedSum>(scratch, level), level,
                              View<Chunk, BinnedSum>(scratch + level, next)});
    scratch += level;
    level = next;
  }
  copy_bytes(&result, MemorySpace::Host, scratch, executor.space(), sizeof result);
  return result;
}

}  // namespace detail

/// Sum of `term(id)` over `range`, and over those of all ranks that the executor is among. Its bits depend on
/// the terms alone (reproducible_sum.hpp): they are the same on every backend, at any number of threads and
/// ranks and in any order.
template <class E, class Term>
auto sum(const Executor& executor, Range<E> range, const Term& term) {
  using T = std::invoke_result_t<Term, Id<E>>;
  static_assert(std::is_floating_point_v<T> && sizeof(T) <= sizeof(Real));
  const BinnedSum own = detail::own_sum(executor, range, term);
  return static_cast<T>((executor.ranks() ? executor.ranks()->sum(own) : own).value());
}

namespace detail {

/// What this rank has of a maximum.
template <class E, class Term>
Real own_maximum(const Executor& executor, Range<E> range, const Term& term) {
  if (range.empty()) return 0;
  Index terms = range.size(), level = reduction_shape::chunks(terms), total = 0;
  for (Index n = level; n > 1; n = reduction_shape::chunks(n)) total += n;
  Real* scratch = executor.reduction_scratch(static_cast<std::size_t>(total) + 1);
  for_each(executor, Range<Chunk>(0, level),
           MaximumOnChunk<E, Term>{term, range, View<Chunk, Real>(scratch, level)});
  while (level > 1) {
    using Previous = ValueOfChunk<Real>;
    const Previous previous{View<Chunk, const Real>(scratch, level)};
    const Index next = reduction_shape::chunks(level);
    for_each(executor, Range<Chunk>(0, next),
             MaximumOnChunk<Chunk, Previous>{previous, Range<Chunk>(0, level),
                                             View<Chunk, Real>(scratch + level, next)});
    scratch += level;
    level = next;
  }
  Real result;
  copy_bytes(&result, MemorySpace::Host, scratch, executor.space(), sizeof(Real));
  return result;
}

}  // namespace detail

/// Largest of `term(id)` over `range` and those of all ranks that the executor is among, at least 0; terms
/// that are not a number are passed over.
template <class E, class Term>
Real maximum(const Executor& executor, Range<E> range, const Term& term) {
  const Real own = detail::own_maximum(executor, range, term);
  return executor.ranks() ? executor.ranks()->maximum(own) : own;
}

}  // namespace curlew
