// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>

#include "app/output/progress.hpp"

namespace curlew {

/// Wall time of the steps of a run.
class StepTimer {
 public:
  template <class Step>
  void time(const Step& step) {
    const double began = Progress::wall_seconds();
    step();
    const double seconds = Progress::wall_seconds() - began;
    if (steps_++ == 0) first_ = seconds;
    total_ += seconds;
  }

  double total() const { return total_; }  ///< [s]
  /// Seconds a step: the mean, of several steps without the first one, which finds memory, tables and kernels
  /// not yet where they are needed. 0 without a step.
  double per_step() const {
    return steps_ < 2 ? total_ : (total_ - first_) / static_cast<double>(steps_ - 1);
  }

 private:
  std::int64_t steps_ = 0;
  double first_ = 0, total_ = 0;
};

}  // namespace curlew
