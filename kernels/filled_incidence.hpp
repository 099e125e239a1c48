// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "kernels/incidence.hpp"

namespace curlew {

/// Rows of several lengths as a GPU adds them up: the first entries of 32 rows side by side, then the second
/// ones, and so on as far as the longest of the 32 goes; shorter ones are filled up with `none`. So threads
/// with neighbouring rows read neighbouring places and need to know nothing of their own row
/// (docs/trials.md). Non-owning.
template <class From, class To>
class FilledIncidence {
 public:
  static constexpr Index rows_per_slice = 32;
  static constexpr Index none = incidence_entry::index(-1);  ///< what no entity has as its number

  /// `first_row`: that of the first slice; `starts`: of slices, and after them the end.
  FilledIncidence(Index first_row, const Index* starts, const Index* entries)
      : first_row_(first_row), starts_(starts), entries_(entries) {}

  /// sum_j s_ij x_j in the order of the row.
  template <class T>
  CURLEW_HOST_DEVICE T sum(View<To, const T> x, Id<From> i) const {
    const Index row = i.value() - first_row_, slice = row / rows_per_slice;
    const Index* const end = entries_ + starts_[slice + 1];
    T sum = 0;
    for (const Index* entry = entries_ + starts_[slice] + row % rows_per_slice; entry < end;
         entry += rows_per_slice) {
      if (*entry == none) continue;
      sum += static_cast<T>(incidence_entry::sign(*entry)) * x[Id<To>(incidence_entry::index(*entry))];
    }
    return sum;
  }

 private:
  Index first_row_;
  const Index *starts_, *entries_;
};

/// Owns such rows of a part of a table, made when they are first asked for.
template <class From, class To>
class FilledIncidenceRows {
 public:
  FilledIncidenceRows(IncidenceTable<From, To> table, Range<From> range)
      : table_(std::move(table)), range_(range), arrays_(std::make_shared<Arrays>()) {}

  Range<From> range() const { return range_; }
  /// Throws InputError where there are more places than an Index counts.
  FilledIncidence<From, To> view(MemorySpace space) const {
    std::call_once(arrays_->made, [this] { make(*arrays_); });
    return {range_.first(), arrays_->starts.data(space), arrays_->entries.data(space)};
  }

 private:
  using View = FilledIncidence<From, To>;
  struct Arrays {
    std::once_flag made;
    ConstantArray<Index> starts, entries;
  };

  void make(Arrays& arrays) const {
    std::vector<Index> lengths;
    for (const Id<From> i : range_) lengths.push_back(table_[i].size());
    const SlicedRows slices(View::rows_per_slice, std::move(lengths));
    std::vector<Index> entries(at(slices.places()), View::none);
    for (const Id<From> i : range_) {
      const Index row = i.value() - range_.first();
      std::size_t place = at(slices.starts()[at(row / View::rows_per_slice)] + row % View::rows_per_slice);
      for (const auto [id, sign] : table_[i]) {
        entries[place] = incidence_entry::make(id.value(), sign < 0);
        place += View::rows_per_slice;
      }
    }
    arrays.starts = slices.starts();
    arrays.entries = ConstantArray<Index>(std::move(entries));
  }

  IncidenceTable<From, To> table_;
  Range<From> range_;
  std::shared_ptr<Arrays> arrays_;
};

}  // namespace curlew
