// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "kernels/executor.hpp"
#include "kernels/view.hpp"

namespace curlew {

/// Sums have one shape whatever the backend and the number of threads, so that their bits never change:
/// chunks of 8 rows x 256 lanes; each lane sums its rows in order, the lanes fold by halves (lane i takes
/// lane i + 128, 64, …), and the chunk sums are summed in the same way until one is left. The rounding error
/// grows with about 16 per factor of 2048 in length instead of with the length.
namespace reduction_shape {
constexpr Index lanes = 256;
constexpr Index rows = 8;
constexpr Index chunk = lanes * rows;
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

/// Sum of one chunk of terms, in the fixed shape.
template <class E, class Term, class T>
struct SumOnChunk {
  Term term;
  Range<E> range;
  View<Chunk, T> sums;

  void operator()(Id<Chunk> c) const {
    constexpr Index lanes = reduction_shape::lanes;
    const Index first = range.first() + c.value() * reduction_shape::chunk;
    const Index available = std::min(reduction_shape::chunk, range.last() - first);
    // Row by row, so that memory is read in order.
    T lane[lanes] = {};
    const auto add_row = [&](Index row, Index width) {
      for (Index k = 0; k < width; ++k) lane[k] += term(Id<E>(first + row + k));
    };
    Index row = 0;
    for (; row + lanes <= available; row += lanes) add_row(row, lanes);
    add_row(row, available - row);
    for (Index width = lanes / 2; width > 0; width /= 2) {
      for (Index k = 0; k < width; ++k) lane[k] += lane[k + width];
    }
    sums[c] = lane[0];
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

/// Sum of `term(id)` over `range`: the same bits on every backend and at any number of threads.
template <class E, class Term>
auto sum(const Executor& executor, Range<E> range, const Term& term) {
  using T = std::invoke_result_t<Term, Id<E>>;
  static_assert(std::is_floating_point_v<T> && sizeof(T) <= sizeof(Real));
  if (range.empty()) return T(0);
  Index terms = range.size(), level = reduction_shape::chunks(terms), total = 0;
  for (Index n = level; n > 1; n = reduction_shape::chunks(n)) total += n;
  T* scratch = reinterpret_cast<T*>(executor.reduction_scratch(static_cast<std::size_t>(total) + 1));
  for_each(executor, Range<detail::Chunk>(0, level),
           detail::SumOnChunk<E, Term, T>{term, range, View<detail::Chunk, T>(scratch, level)});
  while (level > 1) {
    using Previous = detail::ValueOfChunk<T>;
    const Previous previous{View<detail::Chunk, const T>(scratch, level)};
    const Index next = reduction_shape::chunks(level);
    for_each(executor, Range<detail::Chunk>(0, next),
             detail::SumOnChunk<detail::Chunk, Previous, T>{previous, Range<detail::Chunk>(0, level),
                                                            View<detail::Chunk, T>(scratch + level, next)});
    scratch += level;
    level = next;
  }
  T result;
  copy_bytes(&result, MemorySpace::Host, scratch, executor.space(), sizeof(T));
  return result;
}

/// Largest of `term(id)` over `range`, at least 0; terms that are not a number are passed over.
template <class E, class Term>
Real maximum(const Executor& executor, Range<E> range, const Term& term) {
  if (range.empty()) return 0;
  Index terms = range.size(), level = reduction_shape::chunks(terms), total = 0;
  for (Index n = level; n > 1; n = reduction_shape::chunks(n)) total += n;
  Real* scratch = executor.reduction_scratch(static_cast<std::size_t>(total) + 1);
  for_each(executor, Range<detail::Chunk>(0, level),
           detail::MaximumOnChunk<E, Term>{term, range, View<detail::Chunk, Real>(scratch, level)});
  while (level > 1) {
    using Previous = detail::ValueOfChunk<Real>;
    const Previous previous{View<detail::Chunk, const Real>(scratch, level)};
    const Index next = reduction_shape::chunks(level);
    for_each(executor, Range<detail::Chunk>(0, next),
             detail::MaximumOnChunk<detail::Chunk, Previous>{
                 previous, Range<detail::Chunk>(0, level), View<detail::Chunk, Real>(scratch + level, next)});
    scratch += level;
    level = next;
  }
  Real result;
  copy_bytes(&result, MemorySpace::Host, scratch, executor.space(), sizeof(Real));
  return result;
}

}  // namespace curlew
