// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>
#include <vector>

#include "kernels/executor.hpp"
#include "kernels/incidence.hpp"
#include "kernels/reproducible_sum.hpp"

namespace curlew {

/// Entity tag: consecutive rows of a SlicedIncidence that have one length.
struct RowSlice;

namespace sliced_incidence {
constexpr Index lanes = 8;             ///< rows that are added up side by side
constexpr Index rows_per_slice = 256;  ///< at most
constexpr Index rows_per_block = 512;

/// Sums of rows side by side.
template <class T>
class Sums {
 public:
  /// One more entry of each row.
  template <class To>
  void add(const Index* entry, View<To, const T> x) {
    for (Index lane = 0; lane < lanes; ++lane)
      sums_[lane] +=
          static_cast<T>(incidence_entry::sign(entry[lane])) * x[Id<To>(incidence_entry::index(entry[lane]))];
  }
  void copy_to(T* sums) const {
    for (Index lane = 0; lane < lanes; ++lane) sums[lane] = sums_[lane];
  }

 private:
  T sums_[lanes] = {};
};
#if !defined(__CUDA_ARCH__)  // whose pass over this file has no vector types
/// Eight numbers that a processor works on at once, and their bits.
template <class T>
struct Eight;
template <>
struct Eight<float> {
  typedef float Numbers __attribute__((vector_size(lanes * sizeof(float))));
  typedef std::uint32_t Bits __attribute__((vector_size(lanes * sizeof(std::uint32_t))));
};
template <>
struct Eight<Real> {
  typedef Real Numbers __attribute__((vector_size(lanes * sizeof(Real))));
  typedef std::uint64_t Bits __attribute__((vector_size(lanes * sizeof(std::uint64_t))));
};

/// Of loops over lanes GCC 12 makes vectors of some and numbers of others.
template <class T>
requires std::is_floating_point_v<T>
class Sums<T> {
 public:
  template <class To>
  void add(const Index* entry, View<To, const T> x) {
    const auto value = [&](Index lane) { return x[Id<To>(incidence_entry::index(entry[lane]))]; };
    Numbers values{value(0), value(1), value(2), value(3), value(4), value(5), value(6), value(7)};
    Eight<float>::Bits entries;
    std::memcpy(&entries, entry, sizeof entries);
    Bits bits;
    std::memcpy(&bits, &values, sizeof bits);
    bits ^= __builtin_convertvector(entries >> 31, Bits) << (8 * sizeof(T) - 1);
    std::memcpy(&values, &bits, sizeof values);
    sums_ += values;
  }
  void copy_to(T* sums) const { std::memcpy(sums, &sums_, sizeof sums_); }

 private:
  using Numbers = typename Eight<T>::Numbers;
  using Bits = typename Eight<T>::Bits;
  Numbers sums_ = {};
};
#endif
}  // namespace sliced_incidence

template <>
inline constexpr Index work_per_entity<RowSlice> = sliced_incidence::rows_per_slice;

/// Rows of an incidence table laid out so that a processor adds up eight of one length side by side: while it
/// waits for one row's addition it goes on with the others, it need not guess where each ends, and signs cost
/// next to nothing. Within blocks rows are sorted by length, so that those of a block still share what they
/// gather. After Kreutzer, Hager, Wellein, Fehske & Bishop, SIAM J. Sci. Comput. 36 (2014). For processors;
/// each row is added up in its order, so that sums have the bits that rows read one by one give.
template <class From, class To>
class SlicedIncidence {
 public:
  SlicedIncidence(const IncidenceTable<From, To>& table, Range<From> range) : range_(range) {
    const auto rows = table.view(MemorySpace::Host);
    const auto length_of = [&](Index row) { return rows[Id<From>(row)].size(); };
    std::vector<Index> order(static_cast<std::size_t>(range.size()));
    std::iota(order.begin(), order.end(), range.first());
    for (Index first = 0; first < range.size(); first += sliced_incidence::rows_per_block) {
      const Index last = std::min(first + sliced_incidence::rows_per_block, range.size());
      std::ranges::stable_sort(order.begin() + first, order.begin() + last, {}, length_of);
      for (Index k = first; k < last; ++k) {
        const Index length = length_of(order[static_cast<std::size_t>(k)]);
        if (k == first || slices_.back().length != length ||
            slices_.back().rows == sliced_incidence::rows_per_slice) {
          slices_.push_back({k, 0, 0, length});
        }
        ++slices_.back().rows;
      }
    }
    for (Slice& slice : slices_) {
      slice.first_entry = static_cast<Index>(entries_.size());
      for (Index first = 0; first < slice.rows;) {
        const Index together = slice.rows - first < lanes ? 1 : lanes;
        for (Index k = 0; k < slice.length; ++k) {
          for (Index lane = 0; lane < together; ++lane) {
            const auto row = rows[Id<From>(order[static_cast<std::size_t>(slice.first_row + first + lane)])];
            entries_.push_back(incidence_entry::make(row[k].id.value(), row[k].sign < 0));
          }
        }
        first += together;
      }
    }
    if (!std::ranges::is_sorted(order)) order_ = std::move(order);
  }

  /// The rows of the blocks that lie within a range.
  Range<From> whole_blocks_in(Range<From> rows) const {
    constexpr Index block = sliced_incidence::rows_per_block;
    const Range<From> own = common(range_, rows);
    const Index begin = own.first() - range_.first(), end = own.last() - range_.first();
    const Index first = (begin + block - 1) / block * block,
                last = end == range_.size() ? end : end / block * block;
    if (own.empty() || first >= last) return Range<From>(rows.first(), rows.first());
    return Range<From>(range_.first() + first, range_.first() + last);
  }
  /// Those of rows that are whole blocks.
  Range<RowSlice> slices_of(Range<From> rows) const {
    const auto slice_at = [&](Index row) {
      const auto slice = std::ranges::lower_bound(slices_, row - range_.first(), {}, &Slice::first_row);
      return static_cast<Index>(slice - slices_.begin());
    };
    return Range<RowSlice>(slice_at(rows.first()), slice_at(rows.last()));
  }

  /// Calls `body(i, s)` for each row i of a slice, s being its sum of x with signs; `body` may write what
  /// belongs to its row.
  template <class T, class Body>
  void visit(Id<RowSlice> s, View<To, const T> x, const Body& body) const {
    visit_sums(s, x, [&](const auto& id_of, auto count, const T* sums) {
      for_lanes<decltype(id_of)>(count, [&](Index lane) { body(id_of(lane), sums[lane]); });
    });
  }
  /// The binned sum of what `term(i, s)` gives for the rows of some slices. One thread's work.
  template <class T, class Term>
  BinnedSum sum(Range<RowSlice> slices, View<To, const T> x, const Term& term) const {
    BlockwiseSum sum;
    Real terms[BlockwiseSum::block];
    Index waiting = 0;
    for (const Id<RowSlice> s : slices) {
      visit_sums(s, x, [&](const auto& id_of, auto count, const T* sums) {
        Real* const next = terms + waiting;
        for_lanes<decltype(id_of)>(count, [&](Index lane) { next[lane] = term(id_of(lane), sums[lane]); });
        waiting += count;
        if (waiting + lanes <= BlockwiseSum::block) return;
        sum.add(terms, waiting);
        waiting = 0;
      });
    }
    sum.add(terms, waiting);
    return sum.sum();
  }

 private:
  static constexpr Index lanes = sliced_incidence::lanes;
  struct Slice {
    Index first_row;  ///< among the sorted ones
    Index first_entry, rows, length;
  };
  using One = std::integral_constant<Index, 1>;
  using Eight = std::integral_constant<Index, lanes>;

  /// The rows of a group.
  struct InOrder {
    Index first;
    Id<From> operator()(Index lane) const { return Id<From>(first + lane); }
  };
  struct Sorted {
    const Index* rows;
    Id<From> operator()(Index lane) const { return Id<From>(rows[lane]); }
  };
  template <class IdOf, Index count, class OnLane>
  static void for_lanes(std::integral_constant<Index, count>, const OnLane& on_lane) {
    if constexpr (std::is_same_v<std::remove_cvref_t<IdOf>, InOrder>) {
#pragma omp simd
      for (Index lane = 0; lane < count; ++lane) on_lane(lane);
    } else {
      for (Index lane = 0; lane < count; ++lane) on_lane(lane);
    }
  }

  /// Calls `on_rows(ids, number, sums)` for groups of the rows of a slice.
  template <class T, class OnRows>
  void visit_sums(Id<RowSlice> s, View<To, const T> x, const OnRows& on_rows) const {
    const Slice& slice = slices_[static_cast<std::size_t>(s.value())];
    if (order_.empty()) {
      const Index first = range_.first();
      visit_rows(slice, x,
                 [&](Index k, auto count, const T* sums) { on_rows(InOrder{first + k}, count, sums); });
    } else {
      const Index* const order = order_.data();
      visit_rows(slice, x,
                 [&](Index k, auto count, const T* sums) { on_rows(Sorted{order + k}, count, sums); });
    }
  }
  template <class T, class OnRows>
  void visit_rows(const Slice& slice, View<To, const T> x, const OnRows& on_rows) const {
    const Index length = slice.length;
    const Index* entry = entries_.data() + slice.first_entry;
    Index row = slice.first_row;
    const Index last = row + slice.rows;
    for (; row + lanes <= last; row += lanes, entry += lanes * length) {
      sliced_incidence::Sums<T> sums;
      for (Index k = 0; k < length; ++k) sums.add(entry + k * lanes, x);
      T of_row[lanes];
      sums.copy_to(of_row);
      on_rows(row, Eight{}, of_row);
    }
    for (; row < last; ++row, entry += length) {
      T sum = 0;
      for (Index k = 0; k < length; ++k)
        sum += static_cast<T>(incidence_entry::sign(entry[k])) * x[Id<To>(incidence_entry::index(entry[k]))];
      on_rows(row, One{}, &sum);
    }
  }

  Range<From> range_;
  std::vector<Slice> slices_;
  std::vector<Index> entries_;
  std::vector<Index> order_;  // empty where rows follow each other
};

}  // namespace curlew
