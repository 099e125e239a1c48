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

#include "kernels/bfloat16.hpp"
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

/// What the columns of an entry of a slice's rows hold. Where a block of rows names none that are far from
/// each other, they count from the least of them: half the bytes.
template <class T>
struct NearValues {
  const T* least;
  const std::uint16_t* offset;
  const T& operator[](Index lane) const { return least[offset[lane]]; }
};
template <class To, class T>
struct FarValues {
  View<To, const T> x;
  const Index* column;
  const T& operator[](Index lane) const { return x[Id<To>(column[lane])]; }
};

#if !defined(__CUDA_ARCH__)  // whose pass over this file has no vector types
typedef float SingleLanes __attribute__((vector_size(rows_per_slice * sizeof(float))));
inline SingleLanes in_single(const BFloat16* values) {
  typedef std::uint16_t Halves __attribute__((vector_size(rows_per_slice * sizeof(std::uint16_t))));
  typedef std::uint32_t Wholes __attribute__((vector_size(rows_per_slice * sizeof(std::uint32_t))));
  Halves halves;
  std::memcpy(&halves, values, sizeof halves);
#if defined(__AVX2__)  // of the conversion GCC 12 makes two of four lanes each
  typedef short Signed __attribute__((vector_size(rows_per_slice * sizeof(short))));
  const auto wholes = reinterpret_cast<Wholes>(__builtin_ia32_pmovzxwd256(reinterpret_cast<Signed>(halves)));
#else
  const Wholes wholes = __builtin_convertvector(halves, Wholes);
#endif
  return reinterpret_cast<SingleLanes>(wholes << 16);
}
#endif

/// Coefficients of an entry of a slice's rows for a loop over them.
template <class Coefficient>
class InTurn {
 public:
  explicit InTurn(const Coefficient* first) : first_(first) {}
  const Coefficient& operator[](Index lane) const { return first_[lane]; }

 private:
  const Coefficient* first_;
};
#if !defined(__CUDA_ARCH__)
template <>
class InTurn<BFloat16> {
 public:
  explicit InTurn(const BFloat16* first) {
    const SingleLanes lanes = in_single(first);
    std::memcpy(values_, &lanes, sizeof lanes);
  }
  float operator[](Index lane) const { return values_[lane]; }

 private:
  float values_[rows_per_slice];
};
#endif

/// Sums of the rows of a slice, side by side. A row is added up in the order of its entries, as it is where
/// rows are read one by one. `x`: NearValues or FarValues.
template <class T>
class Sums {
 public:
  Sums() = default;
  explicit Sums(const T* first) {
    for (Index lane = 0; lane < rows_per_slice; ++lane) sums_[lane] = first[lane];
  }
  /// c_k x_k.
  template <class Coefficient, class Values>
  void add(const Coefficient* coefficient, const Values& x) {
    const InTurn<Coefficient> c(coefficient);
    for (Index lane = 0; lane < rows_per_slice; ++lane) sums_[lane] += c[lane] * x[lane];
  }
  /// c_k (own - x_k).
  template <class Coefficient, class Values>
  void add_differences(const Coefficient* coefficient, const T* own, const Values& x) {
    const InTurn<Coefficient> c(coefficient);
    for (Index lane = 0; lane < rows_per_slice; ++lane) sums_[lane] += c[lane] * (own[lane] - x[lane]);
  }
  void copy_to(T* sums) const {
    for (Index lane = 0; lane < rows_per_slice; ++lane) sums[lane] = sums_[lane];
  }

 private:
  T sums_[rows_per_slice] = {};
};
#if !defined(__CUDA_ARCH__)  // whose pass over this file has no vector types
/// Of numbers: of a loop over them GCC 12 takes columns out of vector registers one by one.
template <>
class Sums<float> {
 public:
  Sums() = default;
  explicit Sums(const float* first) : sums_(eight(first)) {}
  template <class Coefficient, class Values>
  void add(const Coefficient* coefficient, const Values& x) {
    sums_ += eight(coefficient) * gathered(x);
  }
  template <class Coefficient, class Values>
  void add_differences(const Coefficient* coefficient, const float* own, const Values& x) {
    sums_ += eight(coefficient) * (eight(own) - gathered(x));
  }
  void copy_to(float* sums) const { std::memcpy(sums, &sums_, sizeof sums_); }

 private:
  using Lanes = SingleLanes;
  static Lanes eight(const float* values) {
    Lanes lanes;
    std::memcpy(&lanes, values, sizeof lanes);
    return lanes;
  }
  static Lanes eight(const BFloat16* values) { return in_single(values); }
  template <class Values>
  static Lanes gathered(const Values& x) {
    return Lanes{x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7]};
  }
  Lanes sums_ = {};
};
template <>
class Sums<Real> {
 public:
  Sums() = default;
  explicit Sums(const Real* first) : low_(four(first)), high_(four(first + 4)) {}
  template <class Values>
  void add(const Real* coefficient, const Values& x) {
    low_ += four(coefficient) * gathered(x, 0);
    high_ += four(coefficient + 4) * gathered(x, 4);
  }
  template <class Values>
  void add_differences(const Real* coefficient, const Real* own, const Values& x) {
    low_ += four(coefficient) * (four(own) - gathered(x, 0));
    high_ += four(coefficient + 4) * (four(own + 4) - gathered(x, 4));
  }
  void copy_to(Real* sums) const {
    std::memcpy(sums, &low_, sizeof low_);
    std::memcpy(sums + 4, &high_, sizeof high_);
  }

 private:
  using Lanes = detail::Lanes<Real>::type;
  static Lanes four(const Real* values) {
    Lanes lanes;
    std::memcpy(&lanes, values, sizeof lanes);
    return lanes;
  }
  template <class Values>
  static Lanes gathered(const Values& x, Index first) {
    return Lanes{x[first], x[first + 1], x[first + 2], x[first + 3]};
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
      blocks[b].set_range(columns.subspan(at(starts[at(first)]), at(starts[at(last)] - starts[at(first)])));
    });
    std::size_t entries = 0, near = 0, far = 0;
    for (Block& block : blocks) {
      block.first_entry = static_cast<Index>(entries);
      entries += at(block.entries());
      std::size_t& columns_so_far = block.near ? near : far;
      block.first_column = static_cast<Index>(columns_so_far);
      columns_so_far += at(block.entries());
    }
    if (entries > at(std::numeric_limits<Index>::max()))
      throw InputError("a matrix has more than 2^31 entries on a rank; use more ranks or a coarser mesh");
    near_columns_ = Buffer<std::uint16_t>(MemorySpace::Host, near);
    far_columns_ = Buffer<Index>(MemorySpace::Host, far);
    coefficients_ = Buffer<Coefficient>(MemorySpace::Host, entries);
    parallel_for(blocks.size(), [&](std::size_t b) {
      const Block& block = blocks[b];
      if (block.near) {
        fill(block, starts, columns, values, near_columns_.data() + block.first_column, block.least_column);
      } else {
        fill(block, starts, columns, values, far_columns_.data() + block.first_column, 0);
      }
    });
    blocks_ = std::move(blocks);
  }

  /// What kernels read to know all rows.
  std::size_t bytes() const {
    return blocks_.size() * sizeof(Block) + near_columns_.size() * sizeof(std::uint16_t) +
           far_columns_.size() * sizeof(Index) + coefficients_.size() * sizeof(Coefficient);
  }
  /// Calls `body(i, sum of c_k x_k)` for each row i of a range that divides no block, as one does not that
  /// begins and ends at the first row, the border or the end; `body` may write what belongs to its row.
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
  /// The binned sum of `term(i, s_i)` over the rows of these blocks, s_i being what add_differences gives;
  /// `term` may write what belongs to its row. One thread's work.
  template <class T, class First, class Term>
  BinnedSum sum_of_differences(Range<RowBlock> blocks, View<To, const T> x, const First& first,
                               const Term& term) const {
    static_assert(BlockwiseSum::block == rows_per_block);
    BlockwiseSum sum;
    for (const Id<RowBlock> b : blocks) {
      const Block& block = blocks_[at(b.value())];
      const Sums<T> sums = difference_sums(block, x, first);
      Real terms[rows_per_block];
      finish(block, sums.of_row,
             [&](Id<From> i, T value) { terms[i.value() - block.first_row] = term(i, value); });
      sum.add(terms, block.rows);
    }
    return sum.sum();
  }
  /// The rows of the blocks that lie within a range.
  Range<From> whole_blocks_in(Range<From> rows) const {
    const Range<RowBlock> blocks = blocks_within(rows);
    if (blocks.empty()) return Range<From>(rows.first(), rows.first());
    const Block &first = blocks_[at(blocks.first())], &last = blocks_[at(blocks.last() - 1)];
    return Range<From>(first.first_row, last.first_row + last.rows);
  }
  /// Of a range that divides none.
  Range<RowBlock> blocks_of(Range<From> rows) const {
    REQUIRE(whole_blocks_in(rows) == rows, "a range of rows must not divide a block of a sliced matrix");
    return blocks_within(rows);
  }

 private:
  static constexpr Index lanes = sliced_matrix::rows_per_slice,
                         rows_per_block = sliced_matrix::rows_per_block;
  struct Block {
    Index first_row, rows, first_entry;
    Index first_column;                              ///< of those that are near or of those that are far
    Index least_column;                              ///< from which near ones count
    bool near;                                       ///< so that offsets have 16 bits
    bool in_order;                                   ///< rows of slices follow each other
    Index lengths[sliced_matrix::slices_per_block];  ///< of the longest row of a slice
    std::uint8_t order[rows_per_block];              ///< rows of slices, counted from the block's first
    Index entries() const {
      Index longest = 0;
      for (const Index length : lengths) longest += length;
      return longest * lanes;
    }
    void set_range(std::span<const Index> columns) {
      if (columns.empty()) return;
      Index least = columns[0], greatest = columns[0];
      for (const Index column : columns) {
        least = std::min(least, column);
        greatest = std::max(greatest, column);
      }
      least_column = least;
      near = greatest - least <= std::numeric_limits<std::uint16_t>::max();
    }
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
    Block block{first, last - first, 0, 0, 0, true, true, {}, {}};
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

  /// Sets a block's coefficients, and its columns as they are kept: counted from `base`.
  template <class Value, class Column>
  void fill(const Block& block, std::span<const Index> starts, std::span<const Index> columns,
            std::span<const Value> values, Column* kept_columns, Index base) {
    Coefficient* coefficients = coefficients_.data() + block.first_entry;
    for (Index slice = 0; slice < sliced_matrix::slices_per_block; ++slice) {
      const Index longest = block.lengths[slice];
      struct Lane {
        const Index* column;
        const Value* value;
        Index length;
      };
      Lane of_slice[lanes];
      const Index* filler = columns.data();
      for (Index lane = 0; lane < lanes; ++lane) {
        const Index row = block.order[slice * lanes + lane];
        const Index first = row < block.rows ? starts[at(block.first_row + row)] : 0;
        const Index length = row < block.rows ? starts[at(block.first_row + row) + 1] - first : 0;
        of_slice[lane] = {columns.data() + first, values.data() + first, length};
        if (length > 0) filler = of_slice[lane].column;
      }
      for (Lane& lane : of_slice)
        if (lane.length == 0) lane.column = filler;
      for (Index k = 0; k < longest; ++k) {
        for (Index lane = 0; lane < lanes; ++lane) {
          // Entries of zero gather what is gathered anyway, in a row without entries what another one does.
          const auto& [column, value, length] = of_slice[lane];
          const bool has_entry = k < length;
          const Index last = length > 0 ? length - 1 : 0;
          kept_columns[lane] = static_cast<Column>(column[has_entry ? k : last] - base);
          coefficients[lane] = has_entry ? static_cast<Coefficient>(value[k]) : Coefficient();
        }
        kept_columns += lanes;
        coefficients += lanes;
      }
    }
  }

  Range<RowBlock> blocks_within(Range<From> rows) const {
    const auto first = std::ranges::lower_bound(blocks_, rows.first(), {}, &Block::first_row);
    const auto last = std::partition_point(first, blocks_.end(), [&](const Block& block) {
      return block.first_row + block.rows <= rows.last();
    });
    return Range<RowBlock>(static_cast<Index>(first - blocks_.begin()),
                           static_cast<Index>(last - blocks_.begin()));
  }
  template <class OnBlock>
  void for_each_block(const Executor& executor, Range<From> range, const OnBlock& on_block) const {
    if (range.empty()) return;
    for_each_on_host(executor, blocks_of(range), [&](Id<RowBlock> b) { on_block(blocks_[at(b.value())]); });
  }
  template <class T, class Body>
  void multiply_block(const Block& block, View<To, const T> x, const Body& body) const {
    T sums[rows_per_block];
    visit_slices(block, x, [&](Index first, const auto& visit_entries) {
      sliced_matrix::Sums<T> of_slice;
      visit_entries([&](const Coefficient* c, const auto& values) { of_slice.add(c, values); });
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
    visit_slices(block, x, [&](Index first, const auto& visit_entries) {
      const auto sum_up = [&](sliced_matrix::Sums<T> of_slice, const T* own_of_slice) {
        visit_entries([&](const Coefficient* c, const auto& values) {
          of_slice.add_differences(c, own_of_slice, values);
        });
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
  /// Calls `of_slice(number of its first row, visit_entries)`; `visit_entries(of_entry)` calls
  /// `of_entry(coefficients, values)` with what is to be multiplied with each other.
  template <class T, class OfSlice>
  void visit_slices(const Block& block, View<To, const T> x, const OfSlice& of_slice) const {
    using namespace sliced_matrix;
    if (block.near) {
      const T* const least = x.data() + block.least_column;
      const std::uint16_t* const offset = near_columns_.data() + block.first_column;
      visit_slices(
          block,
          [&](Index entry) {
            return NearValues<T>{least, offset + entry};
          },
          of_slice);
    } else {
      const Index* const column = far_columns_.data() + block.first_column;
      visit_slices(
          block,
          [&](Index entry) {
            return FarValues<To, T>{x, column + entry};
          },
          of_slice);
    }
  }
  template <class ValuesOf, class OfSlice>
  void visit_slices(const Block& block, const ValuesOf& values_of, const OfSlice& of_slice) const {
    const Coefficient* const coefficients = coefficients_.data() + block.first_entry;
    Index entry = 0;
    for (Index slice = 0; slice < sliced_matrix::slices_per_block; ++slice) {
      const Index end = entry + block.lengths[slice] * lanes;
      of_slice(slice * lanes, [&](const auto& of_entry) {
        for (; entry < end; entry += lanes) of_entry(coefficients + entry, values_of(entry));
      });
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
  Buffer<std::uint16_t> near_columns_;
  Buffer<Index> far_columns_;
  Buffer<Coefficient> coefficients_;
};

}  // namespace curlew
