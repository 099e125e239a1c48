// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// For sources that launch kernels on SignedSums.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/reduction.hpp"
#include "operators/signed_sums.hpp"

namespace curlew {

/// Kernel's part: the sum over a row of an incidence table with its signs.
template <class Rows, class From, class To, class T>
CURLEW_HOST_DEVICE T signed_sum(const Rows& rows, View<From, const T> x, Id<To> i) {
  T sum = 0;
  for (const auto [j, sign] : rows[i]) sum += static_cast<T>(sign) * x[j];
  return sum;
}

template <class From, class To, class T>
CURLEW_HOST_DEVICE T signed_sum(const FilledIncidence<From, To>& rows, View<To, const T> x, Id<From> i) {
  return rows.sum(x, i);
}

namespace detail {

template <class Rows, class From, class To, class T, class Body>
struct SignedSumOnEntity {
  Rows rows;
  View<To, const T> x;
  Body body;
  CURLEW_HOST_DEVICE auto operator()(Id<From> i) const { return body(i, signed_sum(rows, x, i)); }

  /// A thread of a GPU that waits for the few neighbours of one entity alone leaves memory idle; rows of more
  /// than two do well (docs/trials.md).
  static constexpr Index entities_a_thread = std::is_same_v<Rows, UniformIncidence<From, To, 2>> ? 2 : 1;
  CURLEW_HOST_DEVICE T gathered(Id<From> i) const { return signed_sum(rows, x, i); }
  CURLEW_HOST_DEVICE auto finish_with(Id<From> i, T sum) const { return body(i, sum); }
};

}  // namespace detail

template <class From, class To>
template <class T, class Body>
void SignedSums<From, To>::visit(Range<From> wanted, View<To, const T> x, const Body& body,
                                 SumInParts* sum) const {
  using detail::Chunk;
  constexpr bool has_terms = !std::is_void_v<std::invoke_result_t<Body, Id<From>, T>>;
  table_.visit_parts(executor_.space(), wanted, [&]<class Rows>(Range<From> part, const Rows& rows) {
    const auto run = [&]<class Layout>(Range<From> range, const Layout& layout) {
      if (range.empty()) return;
      const detail::SignedSumOnEntity<Layout, From, To, T, Body> kernel{layout, x, body};
      if constexpr (has_terms) {
        run_and_add(executor_, range, kernel, sum);
      } else {
        for_each(executor_, range, kernel);
      }
    };
    if constexpr (of_several_lengths<Rows>) {
      for (const auto& filled : filled_) {
        if (!common(filled.range(), part).empty()) return run(part, filled.view(executor_.space()));
      }
    }
    const auto by_table = [&](Range<From> range) { run(range, rows); };
    const auto sliced = std::ranges::find_if(
        sliced_, [&](const auto& rows_of) { return !rows_of.whole_blocks_in(part).empty(); });
    if (sliced == sliced_.end()) return by_table(part);
    const Range<From> whole = sliced->whole_blocks_in(part);
    const Range<RowSlice> slices = sliced->slices_of(whole);
    by_table(Range<From>(part.first(), whole.first()));
    if (!has_terms || sum == nullptr) {
      for_each_on_host(executor_, slices, [&](Id<RowSlice> s) { sliced->visit(s, x, body); });
    } else if constexpr (has_terms) {
      constexpr Index slices_per_chunk = reduction_shape::chunk / sliced_incidence::rows_per_slice;
      const Index count = reduction_shape::chunks(slices.size(), slices_per_chunk);
      sum->add_chunks(count, [&](Range<Chunk> chunks, View<Chunk, BinnedSum> sums) {
        for_each_on_host(executor_, chunks, [&](Id<Chunk> c) {
          const Index first = slices.first() + c.value() * slices_per_chunk;
          const Range<RowSlice> of_chunk(first, std::min(first + slices_per_chunk, slices.last()));
          sums[c] = sliced->sum(of_chunk, x, body);
        });
      });
    }
    by_table(Range<From>(whole.last(), part.last()));
  });
}

}  // namespace curlew
