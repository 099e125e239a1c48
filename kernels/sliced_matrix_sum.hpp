// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// For sources that launch kernels.
#pragma once

#include <algorithm>

#include "kernels/reduction.hpp"
#include "kernels/sliced_matrix.hpp"

namespace curlew {

/// SlicedMatrix::add_differences, what `term(i, s_i)` returns being added to `sum`.
template <class E, class Coefficient, class T, class First, class Term>
void add_differences(const Executor& executor, const SlicedMatrix<E, E, Coefficient>& matrix, Range<E> rows,
                     View<E, const T> x, const First& first, const Term& term, detail::SumInParts& sum) {
  using detail::Chunk;
  constexpr Index blocks_per_chunk = reduction_shape::chunk / sliced_matrix::rows_per_block;
  const Range<RowBlock> blocks = matrix.blocks_of(rows);
  sum.add_chunks(blocks.size() * sliced_matrix::rows_per_block,
                 [&](Range<Chunk> chunks, View<Chunk, BinnedSum> sums) {
                   for_each_on_host(executor, chunks, [&](Id<Chunk> c) {
                     const Index begin = blocks.first() + c.value() * blocks_per_chunk;
                     const Range<RowBlock> of_chunk(begin, std::min(begin + blocks_per_chunk, blocks.last()));
                     sums[c] = matrix.sum_of_differences(of_chunk, x, first, term);
                   });
                 });
}

}  // namespace curlew
