// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "mesh/mesh.hpp"

namespace curlew {

/// Values that a rank has sent by Communicator::send().
template <class T>
std::vector<T> receive_values(const Communicator& ranks, int from) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::vector<std::byte> bytes = ranks.receive(from);
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// Brings values of one kind of entity together on the first rank, in the order of the whole mesh, and back.
/// For what is not worth dividing, or cannot be: that rank has them all at once. Calls are made by all ranks
/// together; on one rank alone they copy.
template <class E>
class Gathering {
 public:
  explicit Gathering(const Domain& domain) : domain_(domain) {
    const Communicator& ranks = domain.communicator();
    if (ranks.ranks() == 1) return;
    std::vector<GlobalIndex> mine;
    for (const Id<E> i : domain.halo<E>().owned()) mine.push_back(domain.halo<E>().global(i));
    if (!is_here()) {
      ranks.send(0, std::as_bytes(std::span(mine)));
      return;
    }
    of_rank_.push_back(std::move(mine));
    for (int rank = 1; rank < ranks.ranks(); ++rank)
      of_rank_.push_back(receive_values<GlobalIndex>(ranks, rank));
  }

  /// Whether this is the rank that has them.
  bool is_here() const { return domain_.communicator().rank() == 0; }
  /// The global ids that a rank owns; on the first rank of several.
  const std::vector<GlobalIndex>& owned_by(int rank) const { return of_rank_[at(rank)]; }

  /// Of `values`, one for each entity of this rank, those that it owns. Empty on the other ranks.
  template <class T>
  std::vector<T> gather(std::span<const T> values) const {
    const Communicator& ranks = domain_.communicator();
    if (ranks.ranks() == 1) return {values.begin(), values.end()};
    const auto mine = values.first(at(domain_.halo<E>().owned().size()));
    if (!is_here()) {
      ranks.send(0, std::as_bytes(mine));
      return {};
    }
    std::vector<T> whole(at(domain_.halo<E>().total()));
    const auto place = [&](int rank, std::span<const T> of_rank) {
      for (std::size_t k = 0; k < of_rank.size(); ++k) whole[at(of_rank_[at(rank)][k])] = of_rank[k];
    };
    place(0, mine);
    for (int rank = 1; rank < ranks.ranks(); ++rank) place(rank, receive_values<T>(ranks, rank));
    return whole;
  }

  /// Writes to `values` what this rank owns of `whole`, which the others leave empty.
  template <class T>
  void scatter(const std::vector<T>& whole, std::span<T> values) const {
    const Communicator& ranks = domain_.communicator();
    if (ranks.ranks() == 1) {
      std::ranges::copy(whole, values.begin());
    } else if (is_here()) {
      std::vector<T> chosen;
      for (int rank = ranks.ranks() - 1; rank >= 0; --rank) {
        chosen.clear();
        for (const GlobalIndex i : of_rank_[at(rank)]) chosen.push_back(whole[at(i)]);
        if (rank > 0) ranks.send(rank, std::as_bytes(std::span(chosen)));
      }
      std::ranges::copy(chosen, values.begin());
    } else {
      std::ranges::copy(receive_values<T>(ranks, 0), values.begin());
    }
  }

 private:
  const Domain& domain_;
  std::vector<std::vector<GlobalIndex>> of_rank_;
};

/// What the first rank says, on all ranks.
template <class T>
std::vector<T> broadcast(const Communicator& ranks, std::vector<T> values) {
  if (ranks.rank() == 0) {
    for (int rank = 1; rank < ranks.ranks(); ++rank) ranks.send(rank, std::as_bytes(std::span(values)));
    return values;
  }
  return receive_values<T>(ranks, 0);
}

/// Runs `body()` on the first rank and waits for it; an InputError that it throws there is thrown on all.
template <class Body>
void on_first_rank(const Communicator& ranks, const Body& body) {
  std::vector<char> problem;
  if (ranks.rank() == 0) {
    try {
      body();
    } catch (const InputError& error) {
      const std::string message = error.what();
      problem.assign(message.begin(), message.end());
    }
  }
  problem = broadcast(ranks, std::move(problem));
  if (!problem.empty()) throw InputError(std::string(problem.begin(), problem.end()));
}

/// The topology of the whole mesh on the first rank, nothing on the others: the tables between cells, faces
/// and edges, and the patches; nodes are counted, their tables are left empty. About 85 bytes a tetrahedron
/// and 50 a triangle. A copy on a rank that is alone.
std::optional<Topology> gather_topology(const Mesh& mesh);

}  // namespace curlew
