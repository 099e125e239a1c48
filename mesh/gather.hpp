// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "mesh/domain.hpp"

namespace curlew {

namespace detail {

/// Puts the items of all ranks, of `size` bytes each, where their places are in `whole` of rank 0.
void gather_items(const Communicator& communicator, std::span<const GlobalIndex> places,
                  std::span<const std::byte> items, std::size_t size, std::span<std::byte> whole);
/// Takes the items of all ranks from their places in `whole` of rank 0.
void scatter_items(const Communicator& communicator, std::span<const GlobalIndex> places,
                   std::span<std::byte> items, std::size_t size, std::span<const std::byte> whole);

/// Puts the lists of all ranks, of items of `size` bytes, one list after the other and as many as places,
/// where they start in `whole` of rank 0.
void gather_lists(const Communicator& communicator, std::span<const GlobalIndex> places,
                  std::span<const std::byte> items, std::size_t size, std::span<const std::int64_t> starts,
                  std::span<std::byte> whole);

template <class E>
std::vector<GlobalIndex> places_of(const Halo<E>& halo, Range<E> range) {
  std::vector<GlobalIndex> places;
  places.reserve(at(range.size()));
  for (const Id<E> i : range) places.push_back(halo.global(i));
  return places;
}

}  // namespace detail

// What belongs to files is put together by rank 0 in the order of the whole mesh, with one rank after the
// other, and so is the same for every number of ranks. All ranks call these together; on one rank they copy.

/// Values of a rank's entities, `per_entity` each and those of ghosts passed over: all of the whole mesh on
/// rank 0, nothing on the others.
template <class E, class T>
std::vector<T> gathered(const Domain& domain, std::span<const T> values, std::size_t per_entity = 1) {
  const Halo<E>& halo = domain.halo<E>();
  REQUIRE(values.size() == per_entity * at(halo.all().size()),
          "values to gather are not those of the rank's entities");
  const Communicator& communicator = domain.communicator();
  if (communicator.ranks() == 1) return {values.begin(), values.end()};
  std::vector<T> whole(communicator.rank() == 0 ? per_entity * static_cast<std::size_t>(halo.total()) : 0);
  detail::gather_items(communicator, detail::places_of(halo, halo.owned()),
                       std::as_bytes(values.first(per_entity * at(halo.owned().size()))),
                       per_entity * sizeof(T), std::as_writable_bytes(std::span(whole)));
  return whole;
}

/// The reverse: the values of a rank's entities, ghosts included, from those of the whole mesh that rank 0
/// has. Throws InputError, on all ranks, unless these are as many as the whole mesh needs.
template <class E, class T>
std::vector<T> scattered(const Domain& domain, std::span<const T> whole, std::size_t per_entity = 1) {
  const Halo<E>& halo = domain.halo<E>();
  const Communicator& communicator = domain.communicator();
  const std::size_t expected = per_entity * static_cast<std::size_t>(halo.total());
  if (communicator.maximum(communicator.rank() == 0 && whole.size() != expected ? 1 : 0) > 0) {
    throw InputError("stored values do not fit the mesh: expected " + std::to_string(expected));
  }
  if (communicator.ranks() == 1) return {whole.begin(), whole.end()};
  std::vector<T> values(per_entity * at(halo.all().size()));
  detail::scatter_items(communicator, detail::places_of(halo, halo.all()),
                        std::as_writable_bytes(std::span(values)), per_entity * sizeof(T),
                        std::as_bytes(whole));
  return values;
}

/// The values of a field as plain numbers, the components of an entity side by side, as gathered().
template <class F>
std::vector<Real> gathered_numbers(const Domain& domain, const F& field) {
  constexpr std::size_t components = sizeof(typename F::Value) / sizeof(Real);
  const std::vector<typename F::Value> values = field.to_host();
  std::vector<Real> numbers(values.size() * components);
  if (!numbers.empty()) std::memcpy(numbers.data(), values.data(), numbers.size() * sizeof(Real));
  return gathered<typename F::Entity>(domain, std::span<const Real>(numbers), components);
}

/// The reverse, as scattered().
template <class F>
void scatter_numbers(const Domain& domain, std::span<const Real> whole, F& field) {
  constexpr std::size_t components = sizeof(typename F::Value) / sizeof(Real);
  const std::vector<Real> numbers = scattered<typename F::Entity>(domain, whole, components);
  std::vector<typename F::Value> values(at(field.size()));
  if (!numbers.empty())
    std::memcpy(static_cast<void*>(values.data()), numbers.data(), numbers.size() * sizeof(Real));
  field.copy_from_host(values);
}

/// Lists of different lengths, one after the other.
template <class T = Index>
struct Lists {
  std::vector<std::int64_t> starts{0};  ///< lists + 1
  std::vector<T> entries;
};

/// As gathered(): one list for each entity that a rank owns.
template <class E, class T>
Lists<T> gathered_lists(const Domain& domain, const Lists<T>& lists) {
  const Halo<E>& halo = domain.halo<E>();
  REQUIRE(lists.starts.size() == at(halo.owned().size()) + 1,
          "lists to gather are not those of the rank's entities");
  const Communicator& communicator = domain.communicator();
  if (communicator.ranks() == 1) return lists;
  std::vector<std::int64_t> lengths;
  for (std::size_t k = 0; k + 1 < lists.starts.size(); ++k)
    lengths.push_back(lists.starts[k + 1] - lists.starts[k]);
  const std::vector<GlobalIndex> places = detail::places_of(halo, halo.owned());
  Lists<T> whole;
  if (communicator.rank() == 0) whole.starts.resize(static_cast<std::size_t>(halo.total()) + 1);
  detail::gather_items(communicator, places, std::as_bytes(std::span(lengths)), sizeof(std::int64_t),
                       std::as_writable_bytes(std::span(whole.starts).subspan(1)));
  for (std::size_t k = 1; k < whole.starts.size(); ++k) whole.starts[k] += whole.starts[k - 1];
  whole.entries.resize(static_cast<std::size_t>(whole.starts.back()));
  detail::gather_lists(communicator, places, std::as_bytes(std::span(lists.entries)), sizeof(T), whole.starts,
                       std::as_writable_bytes(std::span(whole.entries)));
  return whole;
}

/// Of trivially copyable values those of rank 0, on all ranks.
template <class T>
void broadcast(const Communicator& communicator, std::vector<T>& values) {
  const auto from = std::as_bytes(std::span(values));
  std::vector<std::byte> bytes(from.begin(), from.end());
  communicator.broadcast(0, bytes);
  values.resize(bytes.size() / sizeof(T));
  std::memcpy(values.data(), bytes.data(), bytes.size());
}

/// Runs `body()` on rank 0 and waits for it; an InputError that it throws there is thrown on all.
template <class Body>
void on_first_rank(const Communicator& communicator, const Body& body) {
  std::vector<char> problem;
  if (communicator.rank() == 0) {
    try {
      body();
    } catch (const InputError& error) {
      const std::string message = error.what();
      problem.assign(message.begin(), message.end());
    }
  }
  broadcast(communicator, problem);
  if (!problem.empty()) throw InputError(std::string(problem.begin(), problem.end()));
}

}  // namespace curlew
