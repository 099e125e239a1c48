// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

#include "kernels/platform.hpp"

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

}  // namespace curlew
