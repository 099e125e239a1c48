// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/time_average.hpp"

#include <string>

#include "kernels/vector_kernels.hpp"
#include "mesh/entities.hpp"

namespace curlew {

namespace {

/// mean += share (value - mean).
template <class E, class T>
struct RunningMeanOnEntity {
  Real share;
  View<E, const T> value;
  View<E, T> mean;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { mean[i] += share * (value[i] - mean[i]); }
};

}  // namespace

template <class F>
void TimeAverage<F>::add(const F& field, Real step) {
  REQUIRE(step > 0, "a time average takes steps of positive length, got " + std::to_string(step) + " s");
  REQUIRE(field.size() == mean_.size(), "a time average of " + std::to_string(mean_.size()) +
                                            " values cannot take a field of " + std::to_string(field.size()));
  duration_ += step;
  for_each(mean_.executor(), mean_.range(),
           RunningMeanOnEntity<typename F::Entity, Value>{step / duration_, field.view(), mean_.view()});
}

template <class F>
void TimeAverage<F>::resume(Real duration, const F& mean) {
  if (mean.size() != mean_.size() || !(duration >= 0)) {
    throw InputError("the stored " + mean_.name() + " does not fit this run: expected " +
                     std::to_string(mean_.size()) + " values, got " + std::to_string(mean.size()) +
                     ", over " + std::to_string(duration) + " s");
  }
  copy(mean, mean_);
  duration_ = duration;
}

template class TimeAverage<Field<Face, Vector3>>;
template class TimeAverage<DualCochain<Cell>>;

}  // namespace curlew
