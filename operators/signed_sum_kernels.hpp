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

namespace detail {

template <class Rows, class From, class To, class T, class Body>
struct SignedSumOnEntity {
  Rows rows;
  View<To, const T> x;
  Body body;
  CURLEW_HOST_DEVICE auto operator()(Id<From> i) const { return body(i, signed_sum(rows, x, i)); }
};

}  // namespace detail

template <class From, class To>
template <class T, class Body>
void SignedSums<From, To>::visit(Range<From> wanted, View<To, const T> x, const Body& body,
                                 detail::SumInParts* sum) const {
  table_.visit_parts(executor_.space(), wanted, [&]<class Rows>(Range<From> part, const Rows& rows) {
    const auto sliced = std::ranges::find(sliced_, part, &SlicedIncidence<From, To>::range);
    if (sliced == sliced_.end()) {
      const detail::SignedSumOnEntity<Rows, From, To, T, Body> kernel{rows, x, body};
      if constexpr (std::is_void_v<std::invoke_result_t<Body, Id<From>, T>>) {
        for_each(executor_, part, kernel);
      } else {
        detail::run_and_add(executor_, part, kernel, sum);
      }
    } else if (sum == nullptr) {
      for_each_on_host(executor_, sliced->slices(), [&](Id<RowSlice> s) { sliced->visit(s, x, body); });
    } else if constexpr (!std::is_void_v<std::invoke_result_t<Body, Id<From>, T>>) {
      using detail::Chunk;
      constexpr Index slices_per_chunk = reduction_shape::chunk / sliced_incidence::rows_per_slice;
      const Index slices = sliced->slices().size();
      sum->add_chunks(slices * sliced_incidence::rows_per_slice, [&](Range<Chunk> chunks,
                                                                     View<Chunk, BinnedSum> sums) {
        for_each_on_host(executor_, chunks, [&](Id<Chunk> c) {
          const Index first = c.value() * slices_per_chunk;
          sums[c] = sliced->sum(Range<RowSlice>(first, std::min(first + slices_per_chunk, slices)), x, body);
        });
      });
    }
  });
}

}  // namespace curlew
