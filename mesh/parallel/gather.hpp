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

// What needs the whole mesh at once is put together by rank 0 in the order of the whole mesh, with one rank
// after the other. All ranks call these together; on one rank they copy.

/// The values of all entities on rank 0, nothing on the others; those that ranks have of ghosts are passed
/// over.
template <class E, class T>
std::vector<T> gathered(const Domain& domain, std::span<const T> values) {
  const Halo<E>& halo = domain.halo<E>();
  REQUIRE(values.size() == at(halo.all().size()), "values to gather are not those of the rank's entities");
  const Communicator& communicator = domain.communicator();
  if (communicator.ranks() == 1) return {values.begin(), values.end()};
  std::vector<T> whole(communicator.rank() == 0 ? static_cast<std::size_t>(halo.total()) : 0);
  detail::gather_items(communicator, detail::places_of(halo, halo.owned()),
                       std::as_bytes(values.first(at(halo.owned().size()))), sizeof(T),
                       std::as_writable_bytes(std::span(whole)));
  return whole;
}

/// The reverse: the values of a rank's entities, ghosts included, from all that rank 0 has.
template <class E, class T>
std::vector<T> scattered(const Domain& domain, std::span<const T> whole) {
  const Halo<E>& halo = domain.halo<E>();
  const Communicator& communicator = domain.communicator();
  REQUIRE(communicator.rank() > 0 || std::ssize(whole) == halo.total(),
          "values to scatter are not those of the whole mesh");
  if (communicator.ranks() == 1) return {whole.begin(), whole.end()};
  std::vector<T> values(at(halo.all().size()));
  detail::scatter_items(communicator, detail::places_of(halo, halo.all()),
                        std::as_writable_bytes(std::span(values)), sizeof(T), std::as_bytes(whole));
  return values;
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
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
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
