// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/gather.hpp"

#include <algorithm>
#include <cstring>

namespace curlew {

namespace {

template <class T>
std::vector<T> values_of(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

template <class T>
std::span<const std::byte> bytes_of_values(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

/// Calls `visit(places, bytes)` on rank 0 with what each rank gives, one after the other.
template <class Visit>
void visit_ranks(const Communicator& communicator, std::span<const GlobalIndex> places,
                 std::span<const std::byte> bytes, const Visit& visit) {
  if (communicator.rank() > 0) {
    communicator.send(0, std::as_bytes(places));
    communicator.send(0, bytes);
    return;
  }
  visit(places, bytes);
  for (int r = 1; r < communicator.ranks(); ++r) {
    const auto theirs = values_of<GlobalIndex>(communicator.receive(r));
    visit(std::span(theirs), communicator.receive(r));
  }
}

void copy_item(std::byte* to, const std::byte* from, std::size_t size) {
  std::copy_n(from, size, to);
}

}  // namespace

namespace detail {

void gather_items(const Communicator& communicator, std::span<const GlobalIndex> places,
                  std::span<const std::byte> items, std::size_t size, std::span<std::byte> whole) {
  visit_ranks(communicator, places, items,
              [&](std::span<const GlobalIndex> where, std::span<const std::byte> what) {
                for (std::size_t k = 0; k < where.size(); ++k)
                  copy_item(whole.data() + at(where[k]) * size, what.data() + k * size, size);
              });
}

void scatter_items(const Communicator& communicator, std::span<const GlobalIndex> places,
                   std::span<std::byte> items, std::size_t size, std::span<const std::byte> whole) {
  if (communicator.rank() > 0) {
    communicator.send(0, std::as_bytes(places));
    std::ranges::copy(communicator.receive(0), items.begin());
    return;
  }
  const auto take = [&](std::span<const GlobalIndex> where, std::span<std::byte> what) {
    for (std::size_t k = 0; k < where.size(); ++k)
      copy_item(what.data() + k * size, whole.data() + at(where[k]) * size, size);
  };
  take(places, items);
  for (int r = 1; r < communicator.ranks(); ++r) {
    const auto theirs = values_of<GlobalIndex>(communicator.receive(r));
    std::vector<std::byte> bytes(theirs.size() * size);
    take(theirs, bytes);
    communicator.send(r, bytes);
  }
}

}  // namespace detail

template <class E>
Lists gathered_lists(const Domain& domain, const Lists& lists) {
  const Halo<E>& halo = domain.halo<E>();
  const Communicator& communicator = domain.communicator();
  REQUIRE(lists.starts.size() == at(halo.owned().size()) + 1,
          "lists to gather are not those of the rank's entities");
  if (communicator.ranks() == 1) return lists;
  std::vector<std::int64_t> lengths;
  for (std::size_t k = 0; k + 1 < lists.starts.size(); ++k)
    lengths.push_back(lists.starts[k + 1] - lists.starts[k]);
  const std::vector<GlobalIndex> places = detail::places_of(halo, halo.owned());
  Lists whole;
  if (communicator.rank() == 0) whole.starts.assign(static_cast<std::size_t>(halo.total()) + 1, 0);
  visit_ranks(communicator, places, bytes_of_values(lengths),
              [&](std::span<const GlobalIndex> where, std::span<const std::byte> what) {
                const auto theirs = values_of<std::int64_t>(what);
                for (std::size_t k = 0; k < where.size(); ++k) whole.starts[at(where[k]) + 1] = theirs[k];
              });
  for (std::size_t k = 1; k < whole.starts.size(); ++k) whole.starts[k] += whole.starts[k - 1];
  whole.entries.resize(static_cast<std::size_t>(whole.starts.back()));
  visit_ranks(communicator, places, bytes_of_values(lists.entries),
              [&](std::span<const GlobalIndex> where, std::span<const std::byte> what) {
                const auto theirs = values_of<Index>(what);
                auto next = theirs.begin();
                for (const GlobalIndex place : where) {
                  const auto length = whole.starts[at(place) + 1] - whole.starts[at(place)];
                  std::copy_n(next, length, whole.entries.begin() + whole.starts[at(place)]);
                  next += length;
                }
              });
  return whole;
}

template Lists gathered_lists<Cell>(const Domain&, const Lists&);
template Lists gathered_lists<Face>(const Domain&, const Lists&);
template Lists gathered_lists<Edge>(const Domain&, const Lists&);

}  // namespace curlew
