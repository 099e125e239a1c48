// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <string>

#include "app/case/flow_case.hpp"

namespace curlew {

/// Steps of one length that lead from start to end; the last may be shorter. Times are counted from one
/// moment, the start or where a run went on with another length, so that they do not drift.
class EvenSteps {
 public:
  explicit EvenSteps(const TimeSettings& time) : time_(time), origin_{0, time.start} {}

  struct Moment {
    std::int64_t step;
    Real time;  ///< [s]
  };

  /// The number of the last step.
  std::int64_t last() const;
  /// The time that a step leads to [s].
  Real time_of(std::int64_t step) const;
  /// How long it is [s]: to the bit what was asked for, but for a last one that is shorter.
  Real length_of(std::int64_t step) const;

  /// What times are counted from.
  const Moment& origin() const { return origin_; }
  /// Goes on at `now`: from `origin`, that of the run before, if steps of this length lead there.
  void resume(const Moment& origin, const Moment& now);

 private:
  Real round_off() const;

  TimeSettings time_;
  Moment origin_;
};

/// Chooses the lengths of time steps: fixed ones, or as long as a Courant number allows.
class StepControl {
 public:
  explicit StepControl(const FlowTimeSettings& time) : time_(time) {}

  struct Step {
    Real length;  ///< [s]
    Real end;     ///< the time it leads to [s]
  };
  /// The step from `now` [s] in a flow in which a step of 1 s has the Courant number `courant_rate` [1/s].
  /// Steps that follow the Courant number grow by a factor of 1.2 at most from one to the next, and not
  /// beyond `longest` [s]. Fixed ones have one length to the bit, and lead to multiples of it after the start
  /// where they come next to them, so that times do not drift. The last step ends at the end of the run, and
  /// where it would be shorter than the one before the two are made equal.
  Step next(Real now, Real courant_rate, Real longest = std::numeric_limits<Real>::infinity());
  /// Whether the run is at its end.
  bool at_end(Real now) const;

  /// Times that differ by less than this share of a step are the same: what round-off adds up to in some
  /// million steps.
  static constexpr Real round_off = 1e-3;

  Real last() const { return last_; }  ///< [s]; 0 before the first step
  /// Goes on after a step of that length.
  void resume(Real last) { last_ = last; }

 private:
  FlowTimeSettings time_;
  Real last_ = 0;
};

/// Tells when a run has become steady: when the change of a quantity per time, relative to its size, has been
/// below a tolerance for ten steps in a row. One number that swings changes little where it turns, with a
/// period P and a relative amplitude A for 2 tolerance P² / (4 π² A): it has to have been calm for the last
/// tenth of the time that was observed, too.
class SteadyDetector {
 public:
  explicit SteadyDetector(Real tolerance) : tolerance_(tolerance) {}

  /// After each step: how much the quantity changed over the `step` [s], and how large it is.
  void observe(Real change, Real size, Real step);
  /// The same for a quantity that is one number; its first value is what the next is compared to. `scale`:
  /// how large numbers of its kind are, which may be rounding beside them.
  void observe_number(Real value, Real scale, Real step);

  bool steady() const;
  /// Whether the quantity is one number, and has to be calm for a share of the time, too.
  bool observes_number() const { return has_previous_ != 0; }
  /// Whether the quantity has ever changed by more than the tolerance.
  bool has_moved() const { return has_moved_ != 0; }
  /// Last relative change per time [1/s]; infinite before there is one.
  Real rate() const { return rate_; }
  /// The same relative to the quantity's scale: what solves and rounding leave shows in it.
  Real rate_of_scale() const { return rate_of_scale_; }
  /// To be called after each observation: whether so large a rate_of_scale() may be what solves leave.
  void compare_with_noise(Real largest_rate) {
    constexpr Real weight_of_others = 10;  // now and then noise is above any bound that it was seen to keep
    steps_within_noise_ = rate_of_scale_ < largest_rate
                              ? std::min<Real>(steps_within_noise_ + 1, most_steps_without_fall)
                              : std::max(steps_within_noise_ - weight_of_others, 0.);
  }
  /// Steps up to the last one for which it may be so, less ten for each that is not among them: a number that
  /// swings changes little where it turns, and much in between.
  int steps_within_noise() const { return static_cast<int>(steps_within_noise_); }
  /// Steps since rate_of_scale() was a tenth lower than ever before.
  int steps_without_fall() const { return static_cast<int>(steps_without_fall_); }
  /// After so many of them it is not likely to fall any more.
  static constexpr int most_steps_without_fall = 1000;

  /// What observe() and steady() know of the past.
  std::map<std::string, Real> state() const;
  /// Whether what was steady, or fell no more, still is and does, with another lid or viscosity perhaps,
  /// takes some steps to tell. Throws InputError for a state that lacks something.
  void resume(const std::map<std::string, Real>& state);

 private:
  static constexpr Real calm_steps_wanted = 10, calm_share_wanted = 0.1;

  void observe(Real change, Real size, Real scale, Real step);

  Real tolerance_;
  Real rate_ = std::numeric_limits<Real>::infinity(), rate_of_scale_ = rate_, calm_steps_ = 0, has_moved_ = 0;
  Real time_ = 0, calm_time_ = 0;                             // [s]
  Real previous_ = 0, has_previous_ = 0;                      // of a quantity that is one number
  Real lowest_rate_ = std::numeric_limits<Real>::infinity();  // [1/s]
  Real steps_without_fall_ = 0, steps_within_noise_ = 0;
};

}  // namespace curlew
