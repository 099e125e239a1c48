// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/executor.hpp"
#include "kernels/incidence.hpp"

namespace curlew {

/// Entity tag: consecutive rows of a SortedRows that all have one length.
struct RowSlice;

namespace sorted_rows {
constexpr Index rows_per_slice = 256;  ///< at most
/// Rows stay within so many of their old place, so that what they gather and write stays in cache.
constexpr Index rows_per_block = 4096;
}  // namespace sorted_rows

template <>
inline constexpr Index work_per_entity<RowSlice> = sorted_rows::rows_per_slice;

/// A SortedRows for use inside kernels. Non-owning.
template <class From, class To>
class SortedIncidence {
 public:
  struct Slice {
    Index first_row;  ///< among the sorted ones
    Index first_entry, rows, length;
  };

  SortedIncidence(const Slice* slices, const Index* order, const Index* entries)
      : slices_(slices), order_(order), entries_(entries) {}

  /// Calls `body(id, row)` for each row of a slice: the entity that it belongs to, and its entries as in an
  /// Incidence.
  template <class Body>
  CURLEW_HOST_DEVICE void visit(Id<RowSlice> s, const Body& body) const {
    const Slice slice = slices_[s.value()];
    visit_unrolled(slice, body, RowLengths<1, 2, 3, 4, 5, 6, 7, 8>{});
  }

 private:
  template <class Body, Index... lengths>
  CURLEW_HOST_DEVICE void visit_unrolled(const Slice& slice, const Body& body, RowLengths<lengths...>) const {
    const bool visited = (visit_rows_of<lengths>(slice, body) || ...);
    if (visited) return;
    const Index* entry = entries_ + slice.first_entry;
    for (Index k = slice.first_row; k < slice.first_row + slice.rows; ++k, entry += slice.length) {
      body(Id<From>(order_[k]), typename Incidence<From, To>::Row(entry, entry + slice.length));
    }
  }
  template <Index length, class Body>
  CURLEW_HOST_DEVICE bool visit_rows_of(const Slice& slice, const Body& body) const {
    if (slice.length != length) return false;
    const Index* entry = entries_ + slice.first_entry;
    for (Index k = slice.first_row; k < slice.first_row + slice.rows; ++k, entry += length) {
      body(Id<From>(order_[k]), typename UniformIncidence<From, To, length>::Row(entry));
    }
    return true;
  }

  const Slice* slices_;
  const Index* order_;
  const Index* entries_;
};

/// Consecutive rows of an incidence table whose lengths vary, copied in an order in which those of one length
/// follow each other: sorted by length within blocks. Loops over the rows of a slice unroll, and a processor
/// need not guess where a row ends, which it cannot where lengths follow no pattern. This is the layout
/// SELL-C-sigma of Kreutzer, Hager, Wellein, Fehske & Bishop, SIAM J. Sci. Comput. 36 (2014), with
/// sigma = rows_per_block and C = 1, since what rows gather is read value by value on a processor.
template <class From, class To>
class SortedRows {
 public:
  SortedRows(const IncidenceTable<From, To>& table, Range<From> range) : range_(range) {
    const auto rows = table.view(MemorySpace::Host);
    const auto length_of = [&](Index row) { return rows[Id<From>(row)].size(); };
    std::vector<Index> order(static_cast<std::size_t>(range.size())), entries;
    std::iota(order.begin(), order.end(), range.first());
    std::vector<Slice> slices;
    for (Index first = 0; first < range.size(); first += sorted_rows::rows_per_block) {
      const Index last = std::min(first + sorted_rows::rows_per_block, range.size());
      std::ranges::stable_sort(order.begin() + first, order.begin() + last, {}, length_of);
      for (Index k = first; k < last; ++k) {
        const Index row = order[static_cast<std::size_t>(k)], length = length_of(row);
        if (k == first || slices.back().length != length ||
            slices.back().rows == sorted_rows::rows_per_slice) {
          slices.push_back({k, static_cast<Index>(entries.size()), 0, length});
        }
        ++slices.back().rows;
        for (const auto [to, sign] : rows[Id<From>(row)]) {
          entries.push_back(incidence_entry::make(to.value(), sign < 0));
        }
      }
    }
    slices_ = ConstantArray<Slice>(std::move(slices));
    order_ = ConstantArray<Index>(std::move(order));
    entries_ = ConstantArray<Index>(std::move(entries));
  }

  /// The rows of the table that are here.
  Range<From> range() const { return range_; }
  Range<RowSlice> slices() const { return Range<RowSlice>(0, static_cast<Index>(slices_.size())); }
  SortedIncidence<From, To> view(MemorySpace space) const {
    return SortedIncidence<From, To>(slices_.data(space), order_.data(space), entries_.data(space));
  }

 private:
  using Slice = typename SortedIncidence<From, To>::Slice;

  Range<From> range_;
  ConstantArray<Slice> slices_;
  ConstantArray<Index> order_;
  ConstantArray<Index> entries_;
};

}  // namespace curlew
