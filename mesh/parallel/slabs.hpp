// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "mesh/domain.hpp"
#include "mesh/parallel/gather.hpp"

namespace curlew {

// What all ranks write to one file, or read from it, goes through slabs: all entities of a kind in the order
// of the whole mesh, cut into as many runs as there are ranks, each with one of them. No rank has more than
// its share, and what they have, one after the other, is the same for every number of ranks. All ranks call
// these together; on one rank they copy.

/// Where the slabs of `rows` rows begin, `columns` numbers in each. Which rows a rank has depends on the
/// number of numbers alone, so that they can be read from a file that does not know of rows.
class Slabs {
 public:
  /// `columns` must divide 6: no row of one, two or three numbers is cut.
  Slabs(std::int64_t rows, int columns, int ranks);

  std::int64_t rows() const { return starts_.back(); }
  std::int64_t first(int rank) const { return starts_[static_cast<std::size_t>(rank)]; }
  std::int64_t size(int rank) const { return first(rank + 1) - first(rank); }
  int rank_of(std::int64_t row) const;

 private:
  std::vector<std::int64_t> starts_;  // ranks + 1
};

/// Messages of any length between any ranks: message r of `outgoing` goes to rank r. What comes back is from
/// rank r in place r.
std::vector<std::vector<std::byte>> all_to_all(const Communicator& communicator,
                                               std::vector<std::vector<std::byte>> outgoing);

/// What the ranks have of something, one after the other.
struct Stretch {
  std::int64_t before = 0;  ///< what lower ranks have
  std::int64_t total = 0;
};
/// For each of `counts` where that of this rank lies in those of all.
std::vector<Stretch> stretches_of(const Communicator& communicator, std::span<const std::int64_t> counts);

namespace detail {

/// Brings items of `size` bytes to their places in the slabs; returns the rank's own.
std::vector<std::byte> items_to_slabs(const Communicator& communicator, const Slabs& slabs,
                                      std::span<const GlobalIndex> places, std::span<const std::byte> items,
                                      std::size_t size);
/// The reverse: the items at these places, which may be asked for by several ranks.
std::vector<std::byte> items_from_slabs(const Communicator& communicator, const Slabs& slabs,
                                        std::span<const GlobalIndex> places, std::span<const std::byte> slab,
                                        std::size_t size);
/// As items_to_slabs() for lists of such items, one after the other; `starts` of the slab's lists.
std::vector<std::byte> lists_to_slabs(const Communicator& communicator, const Slabs& slabs,
                                      std::span<const GlobalIndex> places,
                                      std::span<const std::int64_t> list_starts,
                                      std::span<const std::byte> items, std::size_t size,
                                      std::span<const std::int64_t> starts);

template <class T>
std::vector<T> as_values(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
  return values;
}

}  // namespace detail

/// How many values this rank's slab has, of all entities with `columns` each.
template <class E>
std::size_t slab_size(const Domain& domain, int columns = 1) {
  const Communicator& communicator = domain.communicator();
  const Slabs slabs(domain.halo<E>().total(), columns, communicator.ranks());
  return static_cast<std::size_t>(slabs.size(communicator.rank()) * columns);
}

/// This rank's slab of values of all entities, `columns` each; those that ranks have of ghosts are passed
/// over.
template <class E, class T>
std::vector<T> in_slabs(const Domain& domain, std::span<const T> values, int columns = 1) {
  const Halo<E>& halo = domain.halo<E>();
  const auto width = static_cast<std::size_t>(columns);
  REQUIRE(values.size() == width * at(halo.all().size()),
          "values to share are not those of the rank's entities");
  const Communicator& communicator = domain.communicator();
  if (communicator.ranks() == 1) return {values.begin(), values.end()};
  return detail::as_values<T>(detail::items_to_slabs(
      communicator, Slabs(halo.total(), columns, communicator.ranks()), detail::places_of(halo, halo.owned()),
      std::as_bytes(values.first(width * at(halo.owned().size()))), width * sizeof(T)));
}

/// The same; on one rank without a copy.
template <class E, class T>
std::vector<T> in_slabs(const Domain& domain, std::vector<T>&& values, int columns = 1) {
  if (domain.communicator().ranks() > 1) return in_slabs<E>(domain, std::span<const T>(values), columns);
  REQUIRE(values.size() == slab_size<E>(domain, columns),
          "values to share are not those of the rank's entities");
  return std::move(values);
}

/// As in_slabs(): one list for each entity that a rank owns.
template <class E, class T>
Lists<T> lists_in_slabs(const Domain& domain, Lists<T> lists) {
  const Halo<E>& halo = domain.halo<E>();
  REQUIRE(lists.starts.size() == at(halo.owned().size()) + 1,
          "lists to share are not those of the rank's entities");
  const Communicator& communicator = domain.communicator();
  if (communicator.ranks() == 1) return lists;
  const Slabs slabs(halo.total(), 1, communicator.ranks());
  const std::vector<GlobalIndex> places = detail::places_of(halo, halo.owned());
  std::vector<std::int64_t> lengths;
  for (std::size_t k = 0; k + 1 < lists.starts.size(); ++k)
    lengths.push_back(lists.starts[k + 1] - lists.starts[k]);
  Lists<T> slab;
  for (const std::int64_t length : detail::as_values<std::int64_t>(detail::items_to_slabs(
           communicator, slabs, places, std::as_bytes(std::span(lengths)), sizeof(std::int64_t))))
    slab.starts.push_back(slab.starts.back() + length);
  slab.entries = detail::as_values<T>(detail::lists_to_slabs(communicator, slabs, places, lists.starts,
                                                             std::as_bytes(std::span(lists.entries)),
                                                             sizeof(T), slab.starts));
  return slab;
}

/// Rows anywhere in the whole, `columns` values each, from the slabs that the ranks have of it.
template <class T>
std::vector<T> rows_of_slabs(const Communicator& communicator, const Slabs& slabs, std::span<const T> slab,
                             std::span<const GlobalIndex> rows, int columns) {
  return detail::as_values<T>(detail::items_from_slabs(communicator, slabs, rows, std::as_bytes(slab),
                                                       static_cast<std::size_t>(columns) * sizeof(T)));
}

/// The reverse of in_slabs(): the values of a rank's entities, ghosts included. Throws InputError, on all
/// ranks, unless the ranks have the slabs that the mesh needs.
template <class E, class T>
std::vector<T> from_slabs(const Domain& domain, std::span<const T> slab, int columns = 1) {
  const Halo<E>& halo = domain.halo<E>();
  const Communicator& communicator = domain.communicator();
  if (communicator.maximum(slab.size() != slab_size<E>(domain, columns) ? 1 : 0) > 0) {
    throw InputError("stored values do not fit the mesh: expected " + std::to_string(halo.total() * columns));
  }
  if (communicator.ranks() == 1) return {slab.begin(), slab.end()};
  const Slabs slabs(halo.total(), columns, communicator.ranks());
  return rows_of_slabs(communicator, slabs, slab, detail::places_of(halo, halo.all()), columns);
}

/// The values of a field as plain numbers, the components of an entity side by side, as in_slabs().
template <class F>
std::vector<Real> numbers_in_slabs(const Domain& domain, const F& field) {
  constexpr int components = sizeof(typename F::Value) / sizeof(Real);
  std::vector<Real> numbers(at(field.size()) * components);
  copy_bytes(numbers.data(), MemorySpace::Host, field.view().data(), field.executor().space(),
             numbers.size() * sizeof(Real));
  return in_slabs<typename F::Entity>(domain, std::move(numbers), components);
}

/// The reverse, as from_slabs().
template <class F>
void numbers_from_slabs(const Domain& domain, std::span<const Real> slab, F& field) {
  constexpr int components = sizeof(typename F::Value) / sizeof(Real);
  const std::vector<Real> numbers = from_slabs<typename F::Entity>(domain, slab, components);
  REQUIRE(numbers.size() == at(field.size()) * components, "values are not those of the field's entities");
  copy_bytes(field.view().data(), field.executor().space(), numbers.data(), MemorySpace::Host,
             numbers.size() * sizeof(Real));
}

}  // namespace curlew
