// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <utility>
#include <vector>

#include "kernels/id.hpp"
#include "kernels/memory.hpp"
#include "kernels/view.hpp"

namespace curlew {

/// Entity tag: a place in the list of entities that neighbours need.
struct Sent;

/// What a Halo is made of; see its accessors.
template <class E>
struct HaloParts {
  struct Ghosts {
    int rank;
    Range<E> entities;
  };
  struct SentTo {
    int rank;
    Range<Sent> entries;
  };
  Index interior = 0, owned = 0, all = 0;
  GlobalIndex total = 0;
  std::vector<GlobalIndex> global;
  std::vector<Ghosts> ghosts;
  std::vector<SentTo> sent_to;
  std::vector<Index> sent;
};

/// The entities of one kind that a rank has, numbered [interior | boundary | ghosts]: those that no operator
/// needs ghosts for, the others that it owns, and copies of what its neighbours own, by neighbour and in the
/// order of global ids. Immutable.
template <class E>
class Halo {
 public:
  /// Of a rank alone: all entities are interior.
  explicit Halo(Index entities) {
    parts_.interior = parts_.owned = parts_.all = entities;
    parts_.total = entities;
  }
  explicit Halo(HaloParts<E> parts) : parts_(std::move(parts)), sent_(std::move(parts_.sent)) {}

  Range<E> interior() const { return Range<E>(0, parts_.interior); }
  Range<E> boundary() const { return Range<E>(parts_.interior, parts_.owned); }
  Range<E> owned() const { return Range<E>(0, parts_.owned); }
  Range<E> ghosts() const { return Range<E>(parts_.owned, parts_.all); }
  Range<E> all() const { return Range<E>(0, parts_.all); }

  /// Over all ranks, each entity once.
  GlobalIndex total() const { return parts_.total; }
  /// The number of a local entity in the whole mesh.
  GlobalIndex global(Id<E> i) const {
    return parts_.global.empty() ? i.value() : parts_.global[at(i.value())];
  }

  /// Ghosts by the rank that owns them; together all ghosts().
  const std::vector<typename HaloParts<E>::Ghosts>& ghosts_by_owner() const { return parts_.ghosts; }
  /// Which entries of sent() a rank has as ghosts, in the order of its ghosts.
  const std::vector<typename HaloParts<E>::SentTo>& sent_to() const { return parts_.sent_to; }
  Range<Sent> sent_entries() const { return Range<Sent>(0, static_cast<Index>(sent_.size())); }
  /// Owned entities that other ranks have as ghosts, rank by rank.
  View<Sent, const Index> sent(MemorySpace space) const {
    return View<Sent, const Index>(sent_.data(space), static_cast<Index>(sent_.size()));
  }

 private:
  HaloParts<E> parts_;
  ConstantArray<Index> sent_;
};

}  // namespace curlew
