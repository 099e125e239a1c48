// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>

#include "kernels/reproducible_sum.hpp"

namespace curlew {

/// Where the ranks of a run bring their reductions together. Every rank must take part, in the same order.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Turns what each rank has of sums into the sums, the same bits on every rank, however the terms are
  /// divided.
  virtual void sums(std::span<BinnedSum> mine) const = 0;
  BinnedSum sum(BinnedSum mine) const {
    sums({&mine, 1});
    return mine;
  }
  virtual Real maximum(Real mine) const = 0;
};

}  // namespace curlew
