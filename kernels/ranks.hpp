// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/reproducible_sum.hpp"

namespace curlew {

/// Where the ranks of a run bring their reductions together. Every rank must take part, in the same order.
class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// The same bits on every rank, however the terms are divided.
  virtual BinnedSum sum(const BinnedSum& mine) const = 0;
  virtual Real maximum(Real mine) const = 0;
};

}  // namespace curlew
