// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/field.hpp"

namespace curlew {

/// Mean over time of a field of type `F`: every step counts with its length and the value at its end. What
/// depends linearly on a field (a gradient) has the mean that follows from the field's. Instantiated for the
/// fields that runs average.
template <class F>
class TimeAverage {
 public:
  using Value = typename F::Value;

  /// Of fields like `field`, on its executor; nothing averaged yet.
  explicit TimeAverage(const F& field)
      : mean_(field.executor(), field.extent(), "mean " + field.name(), field.unit()) {}

  /// `step`: of time [s], that ends with `field`. Throws Error unless it is positive.
  void add(const F& field, Real step);

  /// Zero where nothing was averaged yet.
  const F& mean() const { return mean_; }
  Real duration() const { return duration_; }  ///< averaged over [s]

  /// Goes on from the mean over an earlier `duration` [s] to the same bits. Throws InputError for one of
  /// another size or a negative duration.
  void resume(Real duration, const F& mean);

 private:
  F mean_;
  Real duration_ = 0;  // [s]
};

}  // namespace curlew
