// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/executor.hpp"
#include "kernels/memory.hpp"
#include "kernels/parallel.hpp"
#include "kernels/reproducible_sum.hpp"
#include "kernels/vector4.hpp"
#include "kernels/view.hpp"

namespace curlew {

/// Entity tag: consecutive rows of a SlicedMatrix.
struct RowBlock;

namespace sliced_matrix {
constexpr Index rows_per_slice = 8;
constexpr Index slices_per_block = 8;
constexpr Index rows_per_block = rows_per_slice * slices_per_block;

/// Sums of the rows of a slice, side by side. A row is added up in the order of its entries, as it is where
/// rows are read one by one.
template <class T>
class Sums {
 public:
  Sums() = default;
  explicit Sums(const T* first) {
    for (Index lane = 0; lane < rows_per_slice; ++lane) sums_[lane] = first[lane];
  }
  /// c_k x_k.
  template <class To, class Coefficient>
  void add(const Coefficient* coefficient, const Index* column, View<To, const T> x) {
    for (Index lane = 0; lane < rows_per_slice; ++lane)
      sums_[lane] += coefficient[lane] * x[Id<To>(column[lane])];
  }
  /// c_k (own - x_k).
  template <class To, class Coefficient>
  void add_differences(const Coefficient* coefficient, const T* own, const Index* column,
                       View<To, const T> x) {
    for (Index lane = 0; lane < rows_per_slice; ++lane)
      sums_[lane] += coefficient[lane] * (own[lane] - x[Id<To>(column[lane])]);
  }
  void copy_to(T* sums) const {
    for (Index lane = 0; lane < rows_per_slice; ++lane) sums[lane] = sums_[lane];
  }

 private:
  T sums_[rows_per_slice] = {};
};
#if !defined(__CUDA_ARCH__)  // whose pass over this file has no vector types
/// Of numbers: of a loop over them GCC 12 takes columns out of vector registers one by one.
template <class T>
requires std::is_floating_point_v<T>
class Sums<T> {
 public:
  Sums() = default;
  explicit Sums(const T* first) : low_(four(first)), high_(four(first + 4)) {}
  template <class To>
  void add(const T* coefficient, const Index* column, View<To, const T> x) {
    low_ += four(coefficient) * gathered(column, x);
    high_ += four(coefficient + 4) * gathered(column + 4, x);
  }
  template <class To>
  void add_differences(const T* coefficient, const T* own, const Index* column, View<To, const T> x) {
    low_ += four(coefficient) * (four(own) - gathered(column, x));
    high_ += four(coefficient + 4) * (four(own + 4) - gathered(column + 4, x));
  }
  void copy_to(T* sums) const {
    std::memcpy(sums, &low_, sizeof low_);
    std::memcpy(sums + 4, &high_, sizeof high_);
  }

 private:
  using Lanes = typename detail::Lanes<T>::type;
  static_assert(2 * sizeof(Lanes) == rows_per_slice * sizeof(T));
  static Lanes four(const T* values) {
    Lanes lanes;
    std::memcpy(&lanes, values, sizeof lanes);
    return lanes;
  }
  template <class To>
  static Lanes gathered(const Index* column, View<To, const T> x) {
    return Lanes{x[Id<To>(column[0])], x[Id<To>(column[1])], x[Id<To>(column[2])], x[Id<To>(column[3])]};
  }
  Lanes low_ = {}, high_ = {};
};
#endif

}  // namespace sliced_matrix

template <>
inline constexpr Index work_per_entity<RowBlock> = sliced_matrix::rows_per_block;

/// A sparse matrix whose rows are read eight at a time, their entries in turns: while the processor waits for
/// one row's addition it goes on with the others, and it need not guess where each of them ends. Rows are
/// sorted by length within blocks; those of a slice that are shorter than its longest get entries of zero.
/// This is the layout SELL-C-sigma of Kreutzer, Hager, Wellein, Fehske & Bishop, SIAM J. Sci. Comput. 36
/// (2014), with C = rows_per_slice and sigma = rows_per_block. For processors; results have the bits that
/// rows read one by one give, as long as what is gathered is finite.
template <class From, class To, class Coefficient>
class SlicedMatrix {
 public:
  SlicedMatrix() = default;
  /// `starts`: rows + 1 offsets into `columns` and `values`. No block reaches across row `border`.
  template <class Value>
  SlicedMatrix(std::span<const Index> starts, std::span<const Index> columns, std::span<const Value> values,
               Index border = 0)
      : rows_(static_cast<Index>(starts.size()) - 1), border_(border) {
    const auto length_of = [&](Index row) { return starts[at(row) + 1] - starts[at(row)]; };
    std::vector<Block> blocks(at(first_block(rows_)));
    parallel_for(blocks.size(), [&](std::size_t b) {
      const auto number = static_cast<Index>(b), after = number - first_block(border_);
      const Index first = after < 0 ? number * rows_per_block : border_ + after * rows_per_block;
      const Index last = std::min(first + rows_per_block, after < 0 ? border_ : rows_);
      blocks[b] = sorted_block(first, last, length_of);
    });
    std::size_t entries = 0;
    for (Block& block : blocks) {
      block.first_entry = static_cast<Index>(entries);
      for (const Index length : block.lengths) entries += at(length * lanes);
    }
    REQUIRE(entries <= at(std::numeric_limits<Index>::max()), "a matrix has too many entries");
    columns_ = Buffer<Index>(MemorySpace::Host, entries);
    coefficients_ = Buffer<Coefficient>(MemorySpace::Host, entries);
    Index* const sliced_columns = columns_.data();
    Coefficient* const coefficients = coefficients_.data();
    parallel_for(blocks.size(), [&](std::size_t b) {
      const Block& block = blocks[b];
      std::size_t entry = at(block.first_entry);
      for (Index slice = 0; slice < sliced_matrix::slices_per_block; ++slice) {
        const std::uint8_t* const order = block.order + slice * lanes;
        const auto length_in = [&](Index lane) {
          return order[lane] < block.rows ? length_of(block.first_row + order[lane]) : 0;
        };
        const auto entry_of = [&](Index lane) { return at(starts[at(block.first_row + order[lane])]); };
        const Index longest = block.lengths[slice];
        Index filler = 0;
        for (Index lane = 0; lane < lanes; ++lane)
          if (length_in(lane) > 0) filler = columns[entry_of(lane)];
        for (Index lane = 0; lane < lanes; ++lane) {
          const Index length = length_in(lane);
          std::size_t place = entry + at(lane), from = length > 0 ? entry_of(lane) : 0;
          for (Index k = 0; k < length; ++k, place += at(lanes), ++from) {
            sliced_columns[place] = columns[from];
            coefficients[place] = static_cast<Coefficient>(values[from]);
          }
          // Entries of zero gather what is gathered anyway, in a row without entries what another one does.
          const Index gathered = length > 0 ? columns[from - 1] : filler;
          for (Index k = length; k < longest; ++k, place += at(lanes)) {
            sliced_columns[place] = gathered;
            coefficients[place] = 0;
          }
        }
        entry += at(longest * lanes);
      }
    });
    blocks_ = std::move(blocks);
  }

  /// What kernels read to know all rows.
  std::size_t bytes() const {
    return blocks_.size() * sizeof(Block) + columns_.size() * (sizeof(Index) + sizeof(Coefficient));
  }
  /// Calls `body(i, sum of c_k x_k)` for each row i of a range that begins and ends at the first row, the
  /// border or the end; `body` may write what belongs to its row.
  template <class T, class Body>
  void multiply(const Executor& executor, Range<From> range, View<To, const T> x, const Body& body) const {
    for_each_block(executor, range, [&](const Block& block) { multiply_block(block, x, body); });
  }
  /// The same with the sum of `first(i)` and c_k (x_i - x_k).
  template <class T, class First, class Body>
  void add_differences(const Executor& executor, Range<From> range, View<To, const T> x, const First& first,
                       const Body& body) const {
    static_assert(std::is_same_v<From, To>);
    for_each_block(executor, range,
                   [&](const Block& block) { finish(block, difference_sums(block, x, first).of_row, body); });
  }
  /// Rows that are added up by one call of sum_of_differences.
  static constexpr Index rows_per_chunk = 32 * sliced_matrix::rows_per_block;
  /// The binned sum of `term(i, s_i)` over the rows of a chunk, s_i being what add_differences gives; `term`
  /// may write what belongs to its row. One thread's work; for a matrix without border.
  template <class T, class First, class Term>
  BinnedSum sum_of_differences(Index chunk, View<To, const T> x, const First& first, const Term& term) const {
    static_assert(BlockwiseSum::block == rows_per_block);
    const std::size_t begin = at(chunk * (rows_per_chunk / rows_per_block)),
                      end = std::min(begin + at(rows_per_chunk / rows_per_block), blocks_.size());
    BlockwiseSum sum;
    for (std::size_t b = begin; b < end; ++b) {
      const Block& block = blocks_[b];
      const Sums<T> sums = difference_sums(block, x, first);
      Real terms[rows_per_block];
      finish(block, sums.of_row,
             [&](Id<From> i, T value) { terms[i.value() - block.first_row] = term(i, value); });
      sum.add(terms, block.rows);
    }
    return sum.sum();
  }

 private:
  static constexpr Index lanes = sliced_matrix::rows_per_slice,
                         rows_per_block = sliced_matrix::rows_per_block;
  struct Block {
    Index first_row, rows, first_entry;
    bool in_order;                                   ///< rows of slices follow each other
    Index lengths[sliced_matrix::slices_per_block];  ///< of the longest row of a slice
    std::uint8_t order[rows_per_block];              ///< rows of slices, counted from the block's first
  };

  /// Of the rows from this one on, which has blocks of its own: 0, the border or the end.
  Index first_block(Index row) const {
    const auto blocks = [](Index rows) { return (rows + rows_per_block - 1) / rows_per_block; };
    return row <= border_ ? blocks(row) : blocks(border_) + blocks(row - border_);
  }
  /// Sorted by counting; those longer than the shortest by `lengths` or more are taken for one length.
  template <class Length>
  static Block sorted_block(Index first, Index last, const Length& length_of) {
    constexpr Index lengths = 64;
    Block block{first, last - first, 0, true, {}, {}};
    Index shortest = std::numeric_limits<Index>::max();
    for (Index row = first; row < last; ++row) shortest = std::min(shortest, length_of(row));
    Index next[lengths + 1] = {};
    const auto class_of = [&](Index row) { return std::min(length_of(row) - shortest, lengths - 1); };
    for (Index row = first; row < last; ++row) ++next[class_of(row) + 1];
    for (Index k = 0; k < lengths; ++k) next[k + 1] += next[k];
    for (Index k = 0; k < rows_per_block; ++k) {
      const Index row = first + k;
      const Index place = row < last ? next[class_of(row)]++ : k;
      block.order[place] = static_cast<std::uint8_t>(k);
      if (place != k) block.in_order = false;
      if (row < last) {
        Index& length = block.lengths[place / lanes];
        length = std::max(length, length_of(row));
      }
    }
    return block;
  }

  template <class OnBlock>
  void for_each_block(const Executor& executor, Range<From> range, const OnBlock& on_block) const {
    if (range.empty()) return;
    const auto is_between_blocks = [&](Index row) { return row == 0 || row == border_ || row == rows_; };
    REQUIRE(is_between_blocks(range.first()) && is_between_blocks(range.last()),
            "a range of rows must not divide a block of a sliced matrix");
    const Range<RowBlock> blocks(first_block(range.first()), first_block(range.last()));
    for_each_on_host(executor, blocks, [&](Id<RowBlock> b) { on_block(blocks_[at(b.value())]); });
  }
  template <class T, class Body>
  void multiply_block(const Block& block, View<To, const T> x, const Body& body) const {
    T sums[rows_per_block];
    visit_slices(block, [&](Index first, Index length, const Index* column, const Coefficient* coefficient) {
      sliced_matrix::Sums<T> of_slice;
      for (Index k = 0; k < length; ++k, column += lanes, coefficient += lanes)
        of_slice.add(coefficient, column, x);
      if (block.in_order) {
        of_slice.copy_to(sums + first);
      } else {
        put_in_order(of_slice, block.order + first, sums);
      }
    });
    finish(block, sums, body);
  }
  template <class T>
  struct Sums {
    T of_row[rows_per_block] = {};
  };
  template <class T, class First>
  Sums<T> difference_sums(const Block& block, View<To, const T> x, const First& first_of) const {
    Sums<T> result;
    T* const sums = result.of_row;
    T own[rows_per_block] = {};
    for (Index k = 0; k < block.rows; ++k) {
      const Id<From> i(block.first_row + k);
      own[k] = x[i];
      sums[k] = first_of(i);
    }
    visit_slices(block, [&](Index first, Index length, const Index* column, const Coefficient* coefficient) {
      const auto sum_up = [&](sliced_matrix::Sums<T> of_slice, const T* own_of_slice) {
        for (Index k = 0; k < length; ++k, column += lanes, coefficient += lanes)
          of_slice.add_differences(coefficient, own_of_slice, column, x);
        return of_slice;
      };
      if (block.in_order) {
        sum_up(sliced_matrix::Sums<T>(sums + first), own + first).copy_to(sums + first);
      } else {
        const std::uint8_t* order = block.order + first;
        T sorted_sums[lanes], sorted_own[lanes];
        for (Index lane = 0; lane < lanes; ++lane) {
          sorted_sums[lane] = sums[order[lane]];
          sorted_own[lane] = own[order[lane]];
        }
        put_in_order(sum_up(sliced_matrix::Sums<T>(sorted_sums), sorted_own), order, sums);
      }
    });
    return result;
  }
  /// Calls `of_slice(number of its first row, length, columns, coefficients)`.
  template <class OfSlice>
  void visit_slices(const Block& block, const OfSlice& of_slice) const {
    Index entry = block.first_entry;
    for (Index slice = 0; slice < sliced_matrix::slices_per_block; ++slice) {
      of_slice(slice * lanes, block.lengths[slice], columns_.data() + entry, coefficients_.data() + entry);
      entry += block.lengths[slice] * lanes;
    }
  }
  template <class T>
  static void put_in_order(const sliced_matrix::Sums<T>& of_slice, const std::uint8_t* order, T* sums) {
    T sorted[lanes];
    of_slice.copy_to(sorted);
    for (Index lane = 0; lane < lanes; ++lane) sums[order[lane]] = sorted[lane];
  }
  template <class T, class Body>
  static void finish(const Block& block, const T* sums, const Body& body) {
    const Index rows = block.rows;
#pragma omp simd
    for (Index k = 0; k < rows; ++k) body(Id<From>(block.first_row + k), sums[k]);
  }

  Index rows_ = 0, border_ = 0;
  std::vector<Block> blocks_;
  Buffer<Index> columns_;
  Buffer<Coefficient> coefficients_;
};

}  // namespace curlew
