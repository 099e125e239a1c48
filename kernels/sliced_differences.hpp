// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// For sources that launch kernels.
#pragma once

#include <algorithm>
#include <type_traits>

#include "kernels/reduction.hpp"
#include "kernels/sliced_matrix.hpp"

namespace curlew {

/// Runs `body(i, first(i) + sum_k c_k (x_i - x_k))` for each of these rows: for blocks of the matrix that lie
/// among them as it has them, for the others by `by_table`, a kernel that does the same for one row. What
/// they return, if they do, is added to `sum`, null for nothing. Same bits either way.
template <class E, class Coefficient, class T, class First, class Body, class Kernel>
void visit_differences(const Executor& executor, const SlicedMatrix<E, E, Coefficient>& matrix, Range<E> rows,
                       View<E, const T> x, const First& first, const Body& body, const Kernel& by_table,
                       SumInParts* sum) {
  using detail::Chunk;
  constexpr bool has_terms = !std::is_void_v<std::invoke_result_t<Body, Id<E>, T>>;
  const auto launch = [&](Range<E> part) {
    if (part.empty()) return;
    if constexpr (has_terms) {
      run_and_add(executor, part, by_table, sum);
    } else {
      for_each(executor, part, by_table);
    }
  };
  const Range<E> whole = matrix.whole_blocks_in(rows);
  launch(Range<E>(rows.first(), whole.first()));
  if (!has_terms || sum == nullptr || whole.empty()) {
    matrix.add_differences(executor, whole, x, first, body);
  } else if constexpr (has_terms) {
    constexpr Index blocks_per_chunk = reduction_shape::chunk / sliced_matrix::rows_per_block;
    const Range<RowBlock> blocks = matrix.blocks_of(whole);
    sum->add_chunks(reduction_shape::chunks(blocks.size(), blocks_per_chunk),
                    [&](Range<Chunk> chunks, View<Chunk, BinnedSum> sums) {
                      for_each_on_host(executor, chunks, [&](Id<Chunk> c) {
                        const Index begin = blocks.first() + c.value() * blocks_per_chunk;
                        const Range<RowBlock> of_chunk(begin,
                                                       std::min(begin + blocks_per_chunk, blocks.last()));
                        sums[c] = matrix.sum_of_differences(of_chunk, x, first, body);
                      });
                    });
  }
  launch(Range<E>(whole.last(), rows.last()));
}

}  // namespace curlew
