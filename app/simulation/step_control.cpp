// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/step_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/error.hpp"

namespace curlew {

namespace {

constexpr Real largest_growth = 1.2;

/// By how much times between these two may be off for rounding [s].
Real rounding_of_times(Real start, Real end) {
  return 2 * std::numeric_limits<Real>::epsilon() * std::max(std::abs(start), std::abs(end));
}

/// The remainder of a run of such steps that is round-off [s]; late times are rounded by more than a
/// millionth of a short step.
Real round_off_of_even_steps(Real start, Real end, Real step) {
  return std::max(1e-6 * step, rounding_of_times(start, end));
}

}  // namespace

std::int64_t EvenSteps::last() const {
  return origin_.step +
         static_cast<std::int64_t>(std::ceil((time_.end - origin_.time - round_off()) / time_.step));
}

Real EvenSteps::time_of(std::int64_t step) const {
  if (step == last()) return time_.end;
  return origin_.time + static_cast<Real>(step - origin_.step) * time_.step;
}

Real EvenSteps::length_of(std::int64_t step) const {
  if (step < last()) return time_.step;
  const Real left = time_.end - time_of(step - 1);
  return std::abs(left - time_.step) <= round_off() ? time_.step : left;
}

void EvenSteps::resume(const Moment& origin, const Moment& now) {
  origin_ = origin;
  if (std::abs(time_of(now.step) - now.time) > round_off()) origin_ = now;
}

Real EvenSteps::round_off() const {
  return round_off_of_even_steps(origin_.time, time_.end, time_.step);
}

StepControl::Step StepControl::next(Real now, Real courant_rate, Real longest) {
  Real step = time_.step;
  if (time_.courant) {
    constexpr Real unlimited = std::numeric_limits<Real>::infinity();
    step = courant_rate > 0 ? *time_.courant / courant_rate : unlimited;
    step = std::min({step, time_.max_step.value_or(unlimited), longest});
    if (last_ > 0) step = std::min(step, largest_growth * last_);
    if (last_ == 0 && time_.step > 0) step = std::min(step, time_.step);
  }
  REQUIRE(step > 0 && std::isfinite(step), "no limit to the time step");
  last_ = step;
  const Real close = round_off_of_even_steps(time_.start, now, step);
  if (!time_.steady) {
    const Real left = time_.end - now;
    if (std::abs(left - step) <= close) return {step, time_.end};
    if (left < (1 + round_off) * step) return {left, time_.end};
    if (left < (2 - round_off) * step) return {left / 2, now + left / 2};
  }
  const Real end = now + step;
  if (!time_.courant) {
    const Real multiple = time_.start + std::round((end - time_.start) / step) * step;
    if (std::abs(multiple - end) <= close) return {step, multiple};
  }
  return {step, end};
}

bool StepControl::at_end(Real now) const {
  // The last step may be an earlier run's, of another length.
  const Real step = time_.courant ? last_ : std::min(last_, time_.step);
  return !time_.steady && time_.end - now <= std::max(round_off * step, rounding_of_times(time_.start, now));
}

void SteadyDetector::observe(Real change, Real size, Real step) {
  observe(change, size, size, step);
}

void SteadyDetector::observe(Real change, Real size, Real scale, Real step) {
  rate_ = change == 0 ? 0 : change / (size * step);
  rate_of_scale_ = change == 0 ? 0 : change / (scale * step);
  ++steps_without_fall_;
  if (rate_of_scale_ < 0.9 * lowest_rate_) {
    lowest_rate_ = rate_of_scale_;
    steps_without_fall_ = 0;
  }
  const bool calm = rate_ < tolerance_;
  calm_steps_ = calm ? std::min(calm_steps_ + 1, calm_steps_wanted) : 0;
  calm_time_ = calm ? calm_time_ + step : 0;
  time_ += step;
  if (!calm) has_moved_ = 1;
}

void SteadyDetector::observe_number(Real value, Real scale, Real step) {
  if (has_previous_ != 0) observe(std::abs(value - previous_), std::abs(value), scale, step);
  previous_ = value;
  has_previous_ = 1;
}

bool SteadyDetector::steady() const {
  return calm_steps_ >= calm_steps_wanted && (!observes_number() || calm_time_ >= calm_share_wanted * time_);
}

std::map<std::string, Real> SteadyDetector::state() const {
  return {{"rate", rate_},
          {"rate_of_scale", rate_of_scale_},
          {"calm_steps", calm_steps_},
          {"calm_time", calm_time_},
          {"time", time_},
          {"has_moved", has_moved_},
          {"previous", previous_},
          {"has_previous", has_previous_},
          {"lowest_rate", lowest_rate_},
          {"steps_without_fall", steps_without_fall_},
          {"steps_within_noise", steps_within_noise_},
          {"tolerance", tolerance_}};
}

void SteadyDetector::resume(const std::map<std::string, Real>& state) {
  const auto number = [&](const char* name) {
    const auto found = state.find(name);
    if (found == state.end()) throw InputError(fmt::format("the earlier run's state lacks {}", name));
    return found->second;
  };
  rate_ = number("rate");
  // What was calm by a larger tolerance may not have been by this one.
  const bool calm = rate_ < tolerance_ && !(state.contains("tolerance") && number("tolerance") > tolerance_);
  calm_steps_ = calm ? std::min(number("calm_steps"), calm_steps_wanted - 1) : 0;
  // A state without times has them from here on.
  const bool has_times = state.contains("time");
  calm_time_ = calm && has_times ? number("calm_time") : 0;
  time_ = has_times ? number("time") : 0;
  has_moved_ = number("has_moved");
  previous_ = number("previous");
  has_previous_ = number("has_previous");
  rate_of_scale_ = state.contains("rate_of_scale") ? number("rate_of_scale") : rate_;
  if (!state.contains("lowest_rate")) return;  // a state without them has them from here on
  lowest_rate_ = number("lowest_rate");
  const auto asked_anew = [](Real steps) {
    return steps < most_steps_without_fall ? steps : most_steps_without_fall - calm_steps_wanted;
  };
  steps_without_fall_ = asked_anew(number("steps_without_fall"));
  if (state.contains("steps_within_noise")) steps_within_noise_ = asked_anew(number("steps_within_noise"));
}

}  // namespace curlew
