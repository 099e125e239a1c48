// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/gather.hpp"

#include <algorithm>

#include "mesh/parallel/slabs.hpp"

namespace curlew {

namespace {

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
    const auto theirs = detail::as_values<GlobalIndex>(communicator.receive(r));
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
    const auto theirs = detail::as_values<GlobalIndex>(communicator.receive(r));
    std::vector<std::byte> bytes(theirs.size() * size);
    take(theirs, bytes);
    communicator.send(r, bytes);
  }
}

void gather_lists(const Communicator& communicator, std::span<const GlobalIndex> places,
                  std::span<const std::byte> items, std::size_t size, std::span<const std::int64_t> starts,
                  std::span<std::byte> whole) {
  visit_ranks(communicator, places, items,
              [&](std::span<const GlobalIndex> where, std::span<const std::byte> what) {
                const std::byte* next = what.data();
                for (const GlobalIndex place : where) {
                  const std::size_t first = at(starts[at(place)]) * size;
                  const std::size_t length = at(starts[at(place) + 1]) * size - first;
                  copy_item(whole.data() + first, next, length);
                  next += length;
                }
              });
}

}  // namespace detail

}  // namespace curlew
