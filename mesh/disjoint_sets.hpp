// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "kernels/incidence.hpp"

namespace curlew {

/// Disjoint sets of 0 … size-1, each with its lowest member as root; path halving.
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t size) : parent_(size), sets_(static_cast<Index>(size)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }
  Index sets() const { return sets_; }
  void join(Index a, Index b) {
    a = root(a);
    b = root(b);
    if (a == b) return;
    parent_[at(std::max(a, b))] = std::min(a, b);
    --sets_;
  }
  Index root(Index i) {
    while (parent_[at(i)] != i) i = parent_[at(i)] = parent_[at(parent_[at(i)])];
    return i;
  }

 private:
  std::vector<Index> parent_;
  Index sets_;
};

/// Sets of entities by number, over all ranks.
struct NumberedSets {
  std::vector<Index> number;  ///< of each entity's set, ghosts included; -1: it is in none of them
  Index count = 0;            ///< of sets
};

/// Sets of entities that rows of a table connect: nodes of a cell, cells on both sides of a face.
template <class Row, class Entity>
DisjointSets connected_by(const IncidenceTable<Row, Entity>& table, Range<Entity> entities) {
  DisjointSets sets(at(entities.size()));
  const auto rows = table.view(MemorySpace::Host);
  for (const Id<Row> r : Range<Row>(0, table.rows())) {
    const auto row = rows[r];
    for (const auto [i, sign] : row) sets.join(row[0].id.value(), i.value());
  }
  return sets;
}

}  // namespace curlew
