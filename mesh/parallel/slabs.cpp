// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/slabs.hpp"

#include <algorithm>
#include <utility>

namespace curlew {

Slabs::Slabs(std::int64_t rows, int columns, int ranks) {
  constexpr std::int64_t unit = 6;
  REQUIRE(columns >= 1 && unit % columns == 0, "rows of slabs have one, two, three or six numbers");
  const std::int64_t units = rows * columns / unit;
  for (int r = 0; r < ranks; ++r) starts_.push_back(units * r / ranks * (unit / columns));
  starts_.push_back(rows);
}

int Slabs::rank_of(std::int64_t row) const {
  REQUIRE(row >= 0 && row < rows(), "a row that is in no slab");
  return static_cast<int>(std::ranges::upper_bound(starts_, row) - starts_.begin()) - 1;
}

std::vector<std::vector<std::byte>> all_to_all(const Communicator& communicator,
                                               std::vector<std::vector<std::byte>> outgoing) {
  std::vector<std::vector<std::byte>> incoming(outgoing.size());
  std::vector<Communicator::Letter> letters;
  for (int r = 0; r < communicator.ranks(); ++r) {
    std::vector<std::byte>& message = outgoing[at(r)];
    if (r == communicator.rank()) {
      incoming[at(r)] = std::move(message);
    } else if (!message.empty()) {
      letters.push_back({r, std::move(message)});
    }
  }
  for (Communicator::Letter& letter : communicator.deliver(std::move(letters)))
    incoming[at(letter.rank)] = std::move(letter.bytes);
  return incoming;
}

std::vector<Stretch> stretches_of(const Communicator& communicator, std::span<const std::int64_t> counts) {
  const auto ranks = static_cast<std::size_t>(communicator.ranks());
  const auto mine = static_cast<std::size_t>(communicator.rank());
  std::vector<Real> all(counts.size() * ranks, 0);  // Real has whole numbers up to 2^53
  for (std::size_t k = 0; k < counts.size(); ++k) all[k * ranks + mine] = static_cast<Real>(counts[k]);
  communicator.share(all);
  std::vector<Stretch> stretches(counts.size());
  for (std::size_t k = 0; k < counts.size(); ++k) {
    for (std::size_t r = 0; r < ranks; ++r) {
      const auto count = static_cast<std::int64_t>(all[k * ranks + r]);
      if (r < mine) stretches[k].before += count;
      stretches[k].total += count;
    }
  }
  return stretches;
}

namespace detail {

namespace {

using Messages = std::vector<std::vector<std::byte>>;

std::vector<std::byte> bytes_of(std::span<const GlobalIndex> places) {
  const auto bytes = std::as_bytes(places);
  return {bytes.begin(), bytes.end()};
}

/// The places in each rank's slab, and which of `places` they are.
struct ByRank {
  std::vector<std::vector<GlobalIndex>> places;
  std::vector<std::vector<std::size_t>> which;

  ByRank(const Slabs& slabs, std::span<const GlobalIndex> all, int ranks)
      : places(static_cast<std::size_t>(ranks)), which(places.size()) {
    for (std::size_t k = 0; k < all.size(); ++k) {
      const auto rank = static_cast<std::size_t>(slabs.rank_of(all[k]));
      places[rank].push_back(all[k]);
      which[rank].push_back(k);
    }
  }
  /// To each rank its places.
  Messages told(const Communicator& communicator) const {
    Messages outgoing;
    for (const auto& of_rank : places) outgoing.push_back(bytes_of(of_rank));
    return all_to_all(communicator, std::move(outgoing));
  }
};

}  // namespace

std::vector<std::byte> items_to_slabs(const Communicator& communicator, const Slabs& slabs,
                                      std::span<const GlobalIndex> places, std::span<const std::byte> items,
                                      std::size_t size) {
  const ByRank mine(slabs, places, communicator.ranks());
  Messages outgoing(mine.which.size());
  for (std::size_t r = 0; r < outgoing.size(); ++r) {
    outgoing[r].reserve(mine.which[r].size() * size);
    for (const std::size_t k : mine.which[r]) {
      const auto item = items.subspan(k * size, size);
      outgoing[r].insert(outgoing[r].end(), item.begin(), item.end());
    }
  }
  const Messages told = mine.told(communicator), incoming = all_to_all(communicator, std::move(outgoing));
  std::vector<std::byte> slab(at(slabs.size(communicator.rank())) * size);
  const std::int64_t first = slabs.first(communicator.rank());
  for (std::size_t r = 0; r < incoming.size(); ++r) {
    const auto where = as_values<GlobalIndex>(told[r]);
    for (std::size_t k = 0; k < where.size(); ++k)
      std::copy_n(incoming[r].data() + k * size, size, slab.data() + at(where[k] - first) * size);
  }
  return slab;
}

std::vector<std::byte> items_from_slabs(const Communicator& communicator, const Slabs& slabs,
                                        std::span<const GlobalIndex> places, std::span<const std::byte> slab,
                                        std::size_t size) {
  const ByRank mine(slabs, places, communicator.ranks());
  const Messages told = mine.told(communicator);
  const std::int64_t first = slabs.first(communicator.rank());
  Messages outgoing(told.size());
  for (std::size_t r = 0; r < told.size(); ++r) {
    const auto where = as_values<GlobalIndex>(told[r]);
    outgoing[r].resize(where.size() * size);
    for (std::size_t k = 0; k < where.size(); ++k)
      std::copy_n(slab.data() + at(where[k] - first) * size, size, outgoing[r].data() + k * size);
  }
  const Messages incoming = all_to_all(communicator, std::move(outgoing));
  std::vector<std::byte> items(places.size() * size);
  for (std::size_t r = 0; r < incoming.size(); ++r) {
    for (std::size_t k = 0; k < mine.which[r].size(); ++k)
      std::copy_n(incoming[r].data() + k * size, size, items.data() + mine.which[r][k] * size);
  }
  return items;
}

std::vector<std::byte> lists_to_slabs(const Communicator& communicator, const Slabs& slabs,
                                      std::span<const GlobalIndex> places,
                                      std::span<const std::int64_t> list_starts,
                                      std::span<const std::byte> items, std::size_t size,
                                      std::span<const std::int64_t> starts) {
  const ByRank mine(slabs, places, communicator.ranks());
  Messages outgoing(mine.which.size());
  for (std::size_t r = 0; r < outgoing.size(); ++r) {
    for (const std::size_t k : mine.which[r]) {
      const auto list =
          items.subspan(at(list_starts[k]) * size, at(list_starts[k + 1] - list_starts[k]) * size);
      outgoing[r].insert(outgoing[r].end(), list.begin(), list.end());
    }
  }
  const Messages told = mine.told(communicator), incoming = all_to_all(communicator, std::move(outgoing));
  std::vector<std::byte> slab(at(starts.back()) * size);
  const std::int64_t first = slabs.first(communicator.rank());
  for (std::size_t r = 0; r < incoming.size(); ++r) {
    const std::byte* next = incoming[r].data();
    for (const GlobalIndex place : as_values<GlobalIndex>(told[r])) {
      const std::size_t list = at(place - first);
      const std::size_t length = at(starts[list + 1] - starts[list]) * size;
      std::copy_n(next, length, slab.data() + at(starts[list]) * size);
      next += length;
    }
  }
  return slab;
}

}  // namespace detail

}  // namespace curlew
