// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/memory.hpp"
#include "kernels/view.hpp"

namespace curlew {

/// The highest bit of an entry holds its sign, the others the index.
namespace incidence_entry {
constexpr std::uint32_t sign_bit = 0x80000000u;
CURLEW_HOST_DEVICE constexpr Index make(Index index, bool negative) {
  return static_cast<Index>(static_cast<std::uint32_t>(index) | (negative ? sign_bit : 0u));
}
CURLEW_HOST_DEVICE constexpr Index index(Index entry) {
  return static_cast<Index>(static_cast<std::uint32_t>(entry) & ~sign_bit);
}
inline constexpr Real signs[2] = {1, -1};
/// +1 or -1. On a processor looked up: compilers make a branch of a condition here, and where signs follow no
/// pattern a wrong guess costs more than the rest of an entry (docs/trials.md).
CURLEW_HOST_DEVICE constexpr Real sign(Index entry) {
#if defined(__CUDA_ARCH__)
  return entry < 0 ? Real(-1) : Real(1);
#else
  return signs[static_cast<std::uint32_t>(entry) >> 31];
#endif
}
}  // namespace incidence_entry

/// Rows that a GPU has in a slice. Tables between entities of one kind are those of matrices, whose rows are
/// long: there a GPU has the first entries of 32 rows side by side, then the second ones, and so on as far as
/// the longest of them goes, so that threads with neighbouring rows read neighbouring places (Monakov,
/// Lokhmotov & Avetisyan, HiPEAC 2010). Other tables have their rows one after the other, as all have them on
/// the host.
template <class From, class To>
inline constexpr Index rows_per_slice_on_gpu = std::is_same_v<From, To> ? 32 : 1;

/// From an entry of a row to the next one, in the memory of whoever runs this.
template <class From, class To>
CURLEW_HOST_DEVICE constexpr Index entry_stride() {
#if defined(__CUDA_ARCH__)
  return rows_per_slice_on_gpu<From, To>;
#else
  return 1;
#endif
}

/// Where rows of a table start and end. Rows of equal length need no offsets; a table whose first rows have
/// one length and the others another (faces: two cells inside, one on the boundary) needs none either.
/// `stride`: see entry_stride; above one a table is in slices of so many rows.
class RowLayout {
 public:
  RowLayout() = default;
  template <Index stride = 1>
  CURLEW_HOST_DEVICE Index start(Index row) const {
    if constexpr (stride > 1) {
      return starts_[row / stride] + row % stride;
    } else {
      if (starts_ != nullptr) return starts_[row];
      return row <= head_rows_ ? row * head_length_
                               : head_rows_ * head_length_ + (row - head_rows_) * tail_length_;
    }
  }
  template <Index stride = 1>
  CURLEW_HOST_DEVICE Index end(Index row) const {
    if constexpr (stride > 1) {
      const Index of_two = row < head_rows_ ? head_length_ : tail_length_;
      return start<stride>(row) + stride * (lengths_ != nullptr ? lengths_[row] : of_two);
    } else {
      return start(row + 1);
    }
  }

 private:
  template <class, class>
  friend class IncidenceTable;

  const Index* starts_ = nullptr;   // of rows, or of slices
  const Index* lengths_ = nullptr;  // of rows that are in slices
  Index head_rows_ = 0, head_length_ = 0, tail_length_ = 0;
};

/// One entry of a row: an entity and its sign.
template <class To>
struct SignedId {
  Id<To> id;
  Real sign;  ///< +1 or -1
};

/// A signed gather table: for an entity of type `From`, the entities of type `To` next to it. Non-owning.
template <class From, class To>
class Incidence {
 public:
  using Entry = SignedId<To>;
  class Iterator {
   public:
    CURLEW_HOST_DEVICE explicit Iterator(const Index* entry) : entry_(entry) {}
    CURLEW_HOST_DEVICE Entry operator*() const {
      return {Id<To>(incidence_entry::index(*entry_)), incidence_entry::sign(*entry_)};
    }
    CURLEW_HOST_DEVICE Iterator& operator++() {
      entry_ += entry_stride<From, To>();
      return *this;
    }
    friend CURLEW_HOST_DEVICE bool operator!=(Iterator a, Iterator b) { return a.entry_ != b.entry_; }

   private:
    const Index* entry_;
  };
  class Row {
   public:
    CURLEW_HOST_DEVICE Row(const Index* first, const Index* last) : first_(first), last_(last) {}
    CURLEW_HOST_DEVICE Iterator begin() const { return Iterator(first_); }
    CURLEW_HOST_DEVICE Iterator end() const { return Iterator(last_); }
    CURLEW_HOST_DEVICE Index size() const {
      return static_cast<Index>(last_ - first_) / entry_stride<From, To>();
    }
    CURLEW_HOST_DEVICE Entry operator[](Index k) const {
      return *Iterator(first_ + k * entry_stride<From, To>());
    }

   private:
    const Index *first_, *last_;
  };

  Incidence() = default;
  Incidence(RowLayout layout, const Index* entries) : layout_(layout), entries_(entries) {}

  CURLEW_HOST_DEVICE Row operator[](Id<From> i) const {
    constexpr Index stride = entry_stride<From, To>();
    return Row(entries_ + layout_.start<stride>(i.value()), entries_ + layout_.end<stride>(i.value()));
  }
  /// Position of the first entry of row i among all entries, for values stored entry by entry.
  CURLEW_HOST_DEVICE Index start(Id<From> i) const {
    return layout_.start<entry_stride<From, To>()>(i.value());
  }
  /// Position of the entry after that one in its row.
  template <class Place>
  CURLEW_HOST_DEVICE static Id<Place> next(Id<Place> place) {
    return Id<Place>(place.value() + entry_stride<From, To>());
  }

 private:
  RowLayout layout_;
  const Index* entries_ = nullptr;
};

/// The rows of a table that all have one length, known when the kernel is compiled, so that its loop unrolls
/// and reads no offsets. Same reading as Incidence.
template <class From, class To, Index length>
class UniformIncidence {
 public:
  class Row {
   public:
    CURLEW_HOST_DEVICE explicit Row(const Index* first) : first_(first) {}
    CURLEW_HOST_DEVICE auto begin() const { return Iterator(first_); }
    CURLEW_HOST_DEVICE auto end() const { return Iterator(first_ + length * entry_stride<From, To>()); }
    CURLEW_HOST_DEVICE constexpr Index size() const { return length; }
    CURLEW_HOST_DEVICE SignedId<To> operator[](Index k) const {
      return *Iterator(first_ + k * entry_stride<From, To>());
    }

   private:
    using Iterator = typename Incidence<From, To>::Iterator;
    const Index* first_;
  };

  /// `entries`: those of the table, in which row `first_row` starts at `first_entry`. In slices that is the
  /// first row with which one begins, and what of the rows is before it starts at `before`.
  UniformIncidence(const Index* entries, Index first_row, Index first_entry, Index before = 0)
      : entries_(entries), first_row_(first_row), first_entry_(first_entry), before_(before) {}
  CURLEW_HOST_DEVICE Row operator[](Id<From> i) const { return Row(entries_ + start(i)); }
  /// Position of the first entry of row i among all entries of the table.
  CURLEW_HOST_DEVICE Index start(Id<From> i) const {
    constexpr Index stride = entry_stride<From, To>();
    const Index row = i.value() - first_row_;
    if constexpr (stride > 1) {
      return i.value() % stride + (row < 0 ? before_ : first_entry_ + row / stride * (stride * length));
    } else {
      return first_entry_ + row * length;
    }
  }
  template <class Place>
  CURLEW_HOST_DEVICE static Id<Place> next(Id<Place> place) {
    return Incidence<From, To>::next(place);
  }

 private:
  const Index* entries_;
  Index first_row_, first_entry_, before_;
};

/// Lengths of rows for which kernels are compiled.
template <Index... lengths>
struct RowLengths {};

/// The number of entries before a place in a table; throws InputError where that is more than an Index holds.
inline Index offset_in_table(std::int64_t entries) {
  if (entries > std::numeric_limits<Index>::max())
    throw InputError(
        "the mesh is too large for one rank: a table of its neighbours would have 2^31 entries or more; use "
        "more ranks or a coarser mesh");
  return static_cast<Index>(entries);
}

/// Where the rows of a table start, and after them where it ends, from their lengths. Throws InputError like
/// offset_in_table.
inline std::vector<Index> offsets_of(std::vector<Index> lengths) {
  std::int64_t entries = 0;
  for (Index& length : lengths) {
    const std::int64_t start = entries;
    entries += length;
    length = offset_in_table(start);
  }
  lengths.push_back(offset_in_table(entries));
  return lengths;
}

/// Where a GPU finds the entries of rows that it has in slices of `width`, made when it is first asked for.
class SlicedRows {
 public:
  SlicedRows(Index width, std::vector<Index> lengths) : width_(width), lengths_(std::move(lengths)) {}

  /// Entries, and what fills slices up to their longest rows.
  Index places() const { return starts()[starts().size() - 1]; }
  const ConstantArray<Index>& lengths() const { return lengths_; }
  /// Of slices, and after them the end. Throws InputError where there are more places than an Index counts.
  const ConstantArray<Index>& starts() const {
    std::call_once(counted_, [&] {
      std::vector<Index> longest;
      const std::span<const Index> lengths = lengths_.host();
      for (std::size_t first = 0; first < lengths.size(); first += at(width_)) {
        const auto slice = lengths.subspan(first, std::min(at(width_), lengths.size() - first));
        longest.push_back(width_ * std::ranges::max(slice));
      }
      starts_ = ConstantArray<Index>(offsets_of(std::move(longest)));
    });
    return starts_;
  }
  /// Values of entries, which come row by row, in their places; elsewhere zero.
  template <class T>
  std::vector<T> arranged(std::span<const T> values) const {
    std::vector<T> result(at(places()), T{});
    std::size_t entry = 0;
    for (std::size_t row = 0; row < lengths_.size(); ++row) {
      const std::size_t start = at(starts()[row / at(width_)]) + row % at(width_);
      for (Index k = 0; k < lengths_[row]; ++k) result[start + at(k * width_)] = values[entry++];
    }
    return result;
  }

 private:
  Index width_;
  ConstantArray<Index> lengths_;
  mutable std::once_flag counted_;
  mutable ConstantArray<Index> starts_;
};

/// Owns a gather table; immutable. The storage layout is chosen here, invisible to kernels.
template <class From, class To>
class IncidenceTable {
 public:
  IncidenceTable() = default;
  /// `starts`: rows + 1 offsets into `entries` (see incidence_entry). Throws InputError where there are more
  /// entries than an Index counts.
  IncidenceTable(std::vector<Index> starts, std::vector<Index> entries)
      : rows_(static_cast<Index>(starts.size()) - 1) {
    REQUIRE(!starts.empty() && starts.front() == 0 &&
                starts.back() == offset_in_table(static_cast<std::int64_t>(entries.size())),
            "an incidence table's offsets must run from 0 to the number of its entries");
    if constexpr (slice > 1) {
      std::vector<Index> lengths(starts.begin() + 1, starts.end());
      for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] -= starts[row];
      sliced_ = std::make_shared<const SlicedRows>(slice, std::move(lengths));
    }
    entries_ = values(std::move(entries));
    if (rows_ == 0) return;
    const auto length = [&](Index row) {
      return starts[static_cast<std::size_t>(row) + 1] - starts[static_cast<std::size_t>(row)];
    };
    layout_.head_length_ = length(0);
    layout_.tail_length_ = length(rows_ - 1);
    const auto end_of_run = [&](Index first) {
      Index last = first;
      while (last < rows_ && length(last) == length(first)) ++last;
      return last;
    };
    layout_.head_rows_ = end_of_run(0);
    const bool two_lengths = end_of_run(layout_.head_rows_) == rows_;
    for (Index first = 0; first < rows_;) {
      const Index last = end_of_run(first);
      const bool uniform = two_lengths || last - first >= std::max(shortest_run, rows_ / most_runs);
      if (!uniform && !parts_.empty() && parts_.back().length == Part::mixed) {
        parts_.back().rows = Range<From>(parts_.back().rows.first(), last);
      } else {
        parts_.push_back({Range<From>(first, last), starts[static_cast<std::size_t>(first)],
                          uniform ? length(first) : Part::mixed});
      }
      first = last;
    }
    if (!two_lengths) starts_ = ConstantArray<Index>(std::move(starts));
  }

  Index rows() const { return rows_; }
  std::size_t entries() const { return entries_.size(); }
  /// Bytes that a kernel reads to know all entries and where rows start.
  std::size_t bytes() const { return (entries_.size() + starts_.size()) * sizeof(Index); }

  /// Values stored entry by entry, in the order of the table on every backend.
  template <class T>
  ConstantArray<T> values(std::vector<T> of_entries) const {
    if constexpr (slice > 1) {
      return ConstantArray<T>(std::move(of_entries), [sliced = sliced_](std::span<const T> row_by_row) {
        return sliced->arranged(row_by_row);
      });
    } else {
      return ConstantArray<T>(std::move(of_entries));
    }
  }
  /// Length of such an array there.
  std::size_t places(MemorySpace space) const {
    return is_sliced(space) ? at(sliced_->places()) : entries_.size();
  }

  Incidence<From, To> view(MemorySpace space) const {
    RowLayout layout = layout_;
    const bool has_offsets = starts_.size() > 0;
    if (is_sliced(space)) {
      layout.starts_ = sliced_->starts().data(space);
      layout.lengths_ = has_offsets ? sliced_->lengths().data(space) : nullptr;
    } else {
      layout.starts_ = has_offsets ? starts_.data(space) : nullptr;
    }
    return Incidence<From, To>(layout, entries_.data(space));
  }
  /// Calls `launch(range, rows)` for consecutive parts of `wanted` that together cover it, `rows` being the
  /// fastest view of each: a UniformIncidence where many rows in a row have one length that is among
  /// `lengths`, by default those of incidences in meshes of one cell type, else an Incidence.
  template <class Launch, Index... lengths>
  void visit_parts(MemorySpace space, Range<From> wanted, const Launch& launch,
                   RowLengths<lengths...>) const {
    for (const Part& part : parts_) {
      const Range<From> range = common(part.rows, wanted);
      if (range.empty()) continue;
      [[maybe_unused]] const auto launched = [&]<Index compiled>() {  // of no lengths: not used
        if (part.length != compiled) return false;
        Index first_row = part.rows.first(), first_entry = part.first_entry, before = 0;
        if (is_sliced(space)) {
          const ConstantArray<Index>& starts = sliced_->starts();
          before = starts[at(first_row / slice)];
          first_row = (first_row + slice - 1) / slice * slice;
          first_entry = starts[at(first_row / slice)];
        }
        launch(range,
               UniformIncidence<From, To, compiled>(entries_.data(space), first_row, first_entry, before));
        return true;
      };
      if (!(launched.template operator()<lengths>() || ...)) launch(range, view(space));
    }
  }
  template <class Launch>
  void visit_parts(MemorySpace space, Range<From> wanted, const Launch& launch) const {
    visit_parts(space, wanted, launch, RowLengths<1, 2, 3, 4, 6>{});
  }
  template <class Launch>
  void visit_parts(MemorySpace space, const Launch& launch) const {
    visit_parts(space, Range<From>(0, rows_), launch);
  }
  /// One row, on the host.
  typename Incidence<From, To>::Row operator[](Id<From> i) const { return view(MemorySpace::Host)[i]; }

 private:
  static constexpr Index slice = rows_per_slice_on_gpu<From, To>;
  bool is_sliced(MemorySpace space) const { return slice > 1 && space == MemorySpace::Cuda && rows_ > 0; }

  /// Consecutive rows of one length, or of several.
  struct Part {
    static constexpr Index mixed = -1;
    Range<From> rows;
    Index first_entry, length;
  };
  /// Fewer rows of one length are not worth a launch of their own: nor is a small share of all, of which
  /// there may be hundreds.
  static constexpr Index shortest_run = 1024, most_runs = 64;

  Index rows_ = 0;
  RowLayout layout_;
  std::vector<Part> parts_;
  ConstantArray<Index> starts_;
  ConstantArray<Index> entries_;
  std::shared_ptr<const SlicedRows> sliced_;
};

/// The table read the other way: row `t` lists, in ascending order and with the same signs, the rows of
/// `table` that hold `t`. `rows`: number of entities of type `To`.
template <class From, class To>
IncidenceTable<To, From> transpose(const IncidenceTable<From, To>& table, Index rows) {
  const auto view = table.view(MemorySpace::Host);
  std::vector<Index> starts(static_cast<std::size_t>(rows) + 1, 0);
  for (const Id<From> i : Range<From>(0, table.rows())) {
    for (const auto [to, sign] : view[i]) ++starts[static_cast<std::size_t>(to.value()) + 1];
  }
  for (std::size_t r = 1; r < starts.size(); ++r) starts[r] += starts[r - 1];
  std::vector<Index> entries(table.entries());
  std::vector<Index> next(starts.begin(), starts.end() - 1);
  for (const Id<From> i : Range<From>(0, table.rows())) {
    for (const auto [to, sign] : view[i]) {
      entries[static_cast<std::size_t>(next[static_cast<std::size_t>(to.value())]++)] =
          incidence_entry::make(i.value(), sign < 0);
    }
  }
  return IncidenceTable<To, From>(std::move(starts), std::move(entries));
}

}  // namespace curlew
