// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>

#include "kernels/ranks.hpp"
#include "kernels/reproducible_sum.hpp"

namespace curlew {

/// Stands in for several ranks, which all have the same.
class AlikeRanks final : public Ranks {
 public:
  explicit AlikeRanks(int ranks) : ranks_(ranks) {}
  int rank() const override { return 0; }
  int ranks() const override { return ranks_; }
  void sums(std::span<BinnedSum> mine) const override {
    for (BinnedSum& sum : mine) {
      const BinnedSum own = sum;
      for (int rank = 1; rank < ranks_; ++rank) sum.add(own);
    }
  }
  Real maximum(Real mine) const override { return mine; }

 private:
  int ranks_;
};

}  // namespace curlew
