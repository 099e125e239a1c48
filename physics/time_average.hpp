// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/field.hpp"

namespace curlew {

/// Mean over time of a field of type `F`: every step counts with its length and the value at its end. What
/// depends linearly on a field (a gradient) has the mean that follows from the field's. Instantiated for the
/// fields that runs average.
template <class F>
class TimeAverage {
 public:
  using Value = typename F::Value;
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) % sizeof(Real) == 0,
                "values are made of reals");

  /// Of fields like `field`, on its executor; nothing averaged yet.
  explicit TimeAverage(const F& field)
      : mean_(field.executor(), field.size(), "mean " + field.name(), field.unit()) {}

  /// `step`: of time [s], that ends with `field`. Throws Error unless it is positive.
  void add(const F& field, Real step);

  /// Zero where nothing was averaged yet.
  const F& mean() const { return mean_; }
  Real duration() const { return duration_; }  ///< averaged over [s]

  /// The mean as plain numbers, all components of an entity side by side: with the duration all that `resume`
  /// needs.
  std::vector<Real> state() const {
    const std::vector<Value> values = mean_.to_host();
    std::vector<Real> numbers(values.size() * components);
    std::memcpy(numbers.data(), values.data(), numbers.size() * sizeof(Real));
    return numbers;
  }
  /// Goes on from a stored state to the same bits. Throws InputError for one of another size or a negative
  /// duration.
  void resume(Real duration, std::span<const Real> state) {
    std::vector<Value> values(at(mean_.size()));
    if (state.size() != values.size() * components || !(duration >= 0)) {
      throw InputError("the stored " + mean_.name() + " does not fit this run: expected " +
                       std::to_string(values.size() * components) + " numbers, got " +
                       std::to_string(state.size()) + ", over " + std::to_string(duration) + " s");
    }
    std::memcpy(static_cast<void*>(values.data()), state.data(), state.size() * sizeof(Real));
    mean_.copy_from_host(values);
    duration_ = duration;
  }

 private:
  static constexpr std::size_t components = sizeof(Value) / sizeof(Real);

  F mean_;
  Real duration_ = 0;  // [s]
};

}  // namespace curlew
