// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/step_control.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <tuple>

namespace curlew {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

FlowTimeSettings fixed(Real end, Real step) {
  FlowTimeSettings time;
  time.end = end;
  time.step = step;
  return time;
}

/// All steps of a run whose flow has the Courant number `rate(time)` a second.
std::vector<Real> steps_of(const FlowTimeSettings& time, const std::function<Real(Real)>& rate) {
  StepControl control(time);
  std::vector<Real> steps;
  Real now = time.start;
  while (!control.at_end(now)) {
    const StepControl::Step step = control.next(now, rate(now));
    EXPECT_NEAR(step.end, now + step.length, 1e-12 * std::max<Real>(1, std::abs(time.end)));
    steps.push_back(step.length);
    now = step.end;
  }
  EXPECT_EQ(now, time.end);
  return steps;
}

const auto any = [](Real) { return 1e9; };

TEST(EvenSteps, fill_the_time_from_start_to_end) {
  struct Example {
    Real start, end, step;
    std::int64_t count;
  };
  // 0.1 is no binary number: ten of them are neither more nor fewer steps than ten.
  for (const auto& [start, end, step, count] : {Example{0, 1, 0.1, 10},
                                                {0, 0.3, 0.1, 3},
                                                {5, 6, 0.1, 10},
                                                {0, 1, 0.3, 4},
                                                {0, 1e6, 0.1, 10000000},
                                                {0, 1, 1, 1},
                                                {-1, 1, 0.7, 3},
                                                // Times that are rounded by more than a millionth of a step.
                                                {1.7e9, 1700000000.23, 0.01, 23},
                                                {86400, 86400.000033, 1e-6, 33},
                                                {1e9, 1000000000.1, 1e-3, 100},
                                                {-1e9, -1e9 + 2e-6, 1e-6, 2}}) {
    TimeSettings time;
    time.start = start, time.end = end, time.step = step;
    const EvenSteps steps(time);
    EXPECT_EQ(steps.last(), count) << start << " to " << end;
    EXPECT_EQ(steps.time_of(count), end);
    const Real rounding = 4e-16 * std::max(std::abs(start), std::abs(end));
    EXPECT_NEAR(steps.length_of(count), end - (start + static_cast<Real>(count - 1) * step),
                std::max(1e-6 * step, rounding));
    EXPECT_DOUBLE_EQ(steps.time_of(1), count == 1 ? end : start + step);
    for (std::int64_t k = 1; k <= std::min<std::int64_t>(count, 100); ++k) {
      EXPECT_LT(steps.time_of(k - 1), steps.time_of(k)) << k;
      if (k == count) continue;
      EXPECT_EQ(steps.length_of(k), step) << k;
    }
  }
}

TEST(EvenSteps, go_on_from_a_moment_that_they_do_not_lead_to) {
  TimeSettings time;
  time.end = 2, time.step = 0.1;
  EvenSteps same(time), after_longer_ones(time);
  same.resume({0, 0}, {7, 7 * 0.1});
  EXPECT_EQ(same.origin().step, 0);
  after_longer_ones.resume({0, 0}, {4, 1.25});
  EXPECT_EQ(after_longer_ones.origin().step, 4);
  EXPECT_EQ(after_longer_ones.time_of(5), 1.25 + 0.1);
  EXPECT_EQ(after_longer_ones.last(), 4 + 8);  // seven of 0.1 and one of 0.05
  EXPECT_EQ(after_longer_ones.time_of(12), 2);
  EXPECT_EQ(after_longer_ones.length_of(5), 0.1);
  EXPECT_NEAR(after_longer_ones.length_of(12), 0.05, 1e-12);
  // A run that goes on from there in turn counts as that one did.
  EvenSteps again(time);
  again.resume(after_longer_ones.origin(), {7, after_longer_ones.time_of(7)});
  EXPECT_EQ(again.time_of(8), after_longer_ones.time_of(8));
  EXPECT_EQ(again.last(), 12);
}

TEST(StepControl, fixed_steps_fill_the_run) {
  // 0.1 is no binary number: ten of them are neither more nor fewer steps than ten.
  const auto tenths = steps_of(fixed(1, 0.1), any);
  EXPECT_EQ(tenths.size(), 10u);
  for (std::size_t k = 0; k + 1 < tenths.size(); ++k) EXPECT_EQ(tenths[k], 0.1) << k;
  EXPECT_EQ(steps_of(fixed(1000, 0.1), any).size(), 10000u);
  EXPECT_THAT(steps_of(fixed(1, 1), any), ElementsAre(1));
  EXPECT_EQ(steps_of(fixed(1000, 0.001), any).size(), 1000000u);
  for (const auto& [start, end, step, count] : {std::tuple{1.7e9, 1700000000.23, 0.01, 23u},
                                                {86400., 86400.000033, 1e-6, 33u},
                                                {1e9, 1e9 + 2.3e-5, 1e-6, 23u}}) {
    FlowTimeSettings time = fixed(end, step);
    time.start = start;
    EXPECT_EQ(steps_of(time, any).size(), count) << start;
  }
}

TEST(StepControl, fixed_steps_lead_to_multiples_of_one_length) {
  for (const Real start : {0., 2.5}) {
    FlowTimeSettings time = fixed(start + 30, 0.01);
    time.start = start;
    StepControl control(time);
    Real now = start;
    for (int k = 1; k < 3000; ++k) {
      const StepControl::Step step = control.next(now, 1);
      ASSERT_EQ(step.length, 0.01) << k;
      ASSERT_EQ(step.end, start + k * 0.01) << k;
      now = step.end;
    }
    const StepControl::Step last = control.next(now, 1);
    EXPECT_EQ(last.length, 0.01);
    EXPECT_EQ(last.end, time.end);
  }
  // A run that goes on with another length need not be at a multiple of it.
  EXPECT_EQ(StepControl(fixed(3, 0.01)).next(0.123456, 1).end, 0.123456 + 0.01);
}

TEST(StepControl, the_last_two_steps_share_what_is_left) {
  EXPECT_THAT(steps_of(fixed(1, 0.3), any),
              ElementsAre(0.3, 0.3, DoubleNear(0.2, 1e-15), DoubleNear(0.2, 1e-15)));
  const auto steps = steps_of(fixed(1, 0.333), any);  // and not a fourth of 0.001
  EXPECT_EQ(steps.size(), 4u);
  EXPECT_NEAR(steps[3], (1 - 2 * 0.333) / 2, 1e-15);
}

TEST(StepControl, follows_the_courant_number_within_its_limits) {
  FlowTimeSettings time = fixed(100, 0);
  time.courant = 0.5;
  time.max_step = 2;
  StepControl control(time);
  EXPECT_EQ(control.next(0, 1).length, 0.5);
  EXPECT_DOUBLE_EQ(control.next(1, 0.01).length, 0.5 * 1.2);        // grows by a fifth at most
  EXPECT_DOUBLE_EQ(control.next(2, 0.01).length, 0.5 * 1.2 * 1.2);  // from step to step
  EXPECT_DOUBLE_EQ(control.next(3, 10).length, 0.05);               // shrinks at once
  control.resume(10);
  EXPECT_EQ(control.next(4, 0.001).length, 2);  // not above max_step
  EXPECT_EQ(StepControl(time).next(0, 0).length, 2) << "a fluid at rest";
}

TEST(StepControl, a_first_step_is_a_limit_to_the_first_step) {
  FlowTimeSettings time = fixed(100, 0.01);
  time.courant = 0.5;
  StepControl control(time);
  EXPECT_EQ(control.next(0, 0).length, 0.01);
  EXPECT_DOUBLE_EQ(control.next(0.01, 0).length, 0.012);
}

TEST(StepControl, courant_steps_end_at_the_end_without_a_sliver) {
  FlowTimeSettings time = fixed(3, 0.01);
  time.courant = 0.5;
  const auto steps = steps_of(time, [](Real t) { return 2 + std::sin(7 * t); });
  const std::size_t last = steps.size() - 1;
  EXPECT_NEAR(steps[last], steps[last - 1], 1e-14);
  for (std::size_t k = 1; k <= last; ++k) EXPECT_LE(steps[k], 1.2 * steps[k - 1] * (1 + 1e-14)) << k;
}

TEST(StepControl, goes_on_as_if_there_had_been_no_restart) {
  FlowTimeSettings time = fixed(3, 0.01);
  time.courant = 0.5;
  const auto rate = [](Real t) { return 2 + std::sin(7 * t); };
  StepControl whole(time);
  Real now = 0;
  for (int k = 0; k < 20 && !whole.at_end(now); ++k) {
    StepControl restarted(time);
    restarted.resume(whole.last());
    const StepControl::Step step = whole.next(now, rate(now)), again = restarted.next(now, rate(now));
    EXPECT_EQ(again.length, step.length) << k;
    EXPECT_EQ(again.end, step.end) << k;
    now = step.end;
  }
}

TEST(StepControl, an_end_that_is_near_by_the_steps_of_an_earlier_run_is_not_there) {
  StepControl control(fixed(1 + 5e-5, 1e-5));
  control.resume(0.1);
  EXPECT_FALSE(control.at_end(1));
  Real now = 1;
  int steps = 0;
  for (; !control.at_end(now) && steps < 10; ++steps) now = control.next(now, 1).end;
  EXPECT_EQ(steps, 5);
}

TEST(StepControl, a_steady_run_has_no_end) {
  FlowTimeSettings time = fixed(0, 0.5);
  time.steady = true;
  StepControl control(time);
  EXPECT_EQ(control.next(1e6, 1).length, 0.5);
  EXPECT_FALSE(control.at_end(1e6));
}

void observe_number(SteadyDetector& detector, Real value, Real step) {
  detector.observe_number(value, std::abs(value), step);
}

TEST(SteadyDetector, wants_ten_calm_steps_in_a_row) {
  SteadyDetector detector(0.01);
  EXPECT_TRUE(std::isinf(detector.rate()));
  const auto calm = [&](int count) {
    for (int k = 0; k < count; ++k) detector.observe(0.9 * 0.01 * 5 * 0.1, 5, 0.1);
  };
  calm(9);
  EXPECT_FALSE(detector.steady());
  EXPECT_NEAR(detector.rate(), 0.009, 1e-15);
  detector.observe(1.1 * 0.01 * 5 * 0.1, 5, 0.1);
  calm(9);
  EXPECT_FALSE(detector.steady());
  calm(1);
  EXPECT_TRUE(detector.steady());
}

TEST(SteadyDetector, a_decay_is_found_where_its_rate_falls_below_the_tolerance) {
  // q = 2 + exp(-t): relative rate exp(-t) / q.
  SteadyDetector detector(1e-3);
  const Real step = 0.01;
  Real time = 0;
  for (; !detector.steady() && time < 100; time += step) observe_number(detector, 2 + std::exp(-time), step);
  EXPECT_NEAR(time, -std::log(2e-3) / 0.9, 3 * step);
}

TEST(SteadyDetector, wants_a_number_to_be_calm_for_a_tenth_of_the_time) {
  SteadyDetector detector(0.01), of_a_field(0.01);
  for (int k = 0; k <= 90; ++k) observe_number(detector, 1 + k % 2, 1);
  for (int k = 0; k < 90; ++k) of_a_field.observe(1, 1, 1);
  for (int k = 0; k < 19; ++k) {
    EXPECT_EQ(of_a_field.steady(), k >= 10) << k;
    of_a_field.observe(0, 1, 0.5);
    observe_number(detector, 1, 0.5);
  }
  EXPECT_FALSE(detector.steady());
  observe_number(detector, 1, 0.6);
  EXPECT_TRUE(detector.steady());
}

TEST(SteadyDetector, a_swing_is_not_steady_where_it_turns) {
  SteadyDetector detector(1e-5);
  int calm = 0, longest = 0;
  for (Real time = 0; time < 200; time += 0.01) {
    observe_number(detector, 1 + 0.01 * std::sin(2 * std::numbers::pi * time / 100), 0.01);
    calm = detector.rate() < 1e-5 ? calm + 1 : 0;
    longest = std::max(longest, calm);
    ASSERT_FALSE(detector.steady()) << time;
  }
  EXPECT_GT(longest, 40);
}

TEST(SteadyDetector, a_swing_is_not_what_solves_leave_where_it_turns) {
  SteadyDetector swing(1e-9), noise(1e-9), uneven(1e-9);
  int most = 0;
  for (int step = 0; step < 4000; ++step) {
    swing.observe_number(std::sin(2 * std::numbers::pi * step / 1500), 1, 1);
    swing.compare_with_noise(1e-4);
    most = std::max(most, swing.steps_within_noise());
    noise.observe_number(1e-5 * (step % 3), 1, 1);
    noise.compare_with_noise(1e-4);
    // Now and then noise is more than is expected of it.
    uneven.observe_number(step % 40 == 0 ? 1e-3 : 1e-5 * (step % 3), 1, 1);
    uneven.compare_with_noise(1e-4);
  }
  EXPECT_GE(swing.steps_without_fall(), 1000);
  EXPECT_GE(most, 5);
  EXPECT_LE(most, 20);
  EXPECT_EQ(noise.steps_within_noise(), SteadyDetector::most_steps_without_fall);
  EXPECT_GE(uneven.steps_within_noise(), 980);
}

TEST(SteadyDetector, what_is_nothing_and_stays_nothing_is_steady) {
  SteadyDetector detector(1e-3);
  observe_number(detector, 0, 0.1);
  EXPECT_TRUE(std::isinf(detector.rate())) << "there is nothing yet to compare it to";
  for (int k = 0; k < 10; ++k) observe_number(detector, 0, 0.1);
  EXPECT_TRUE(detector.steady());
}

TEST(SteadyDetector, a_number_falls_no_more_beside_larger_ones) {
  SteadyDetector detector(1e-3);
  for (int k = 0; k < 20; ++k) detector.observe_number(1 + std::exp(-k), 100, 0.1);
  EXPECT_EQ(detector.steps_without_fall(), 0);
  // Its own share falls on while it grows, what it is of the others does not.
  for (int k = 1; k < 20; ++k) detector.observe_number(1 + k, 100, 0.1);
  EXPECT_NEAR(detector.rate(), 0.5, 1e-12);
  EXPECT_NEAR(detector.rate_of_scale(), 0.1, 1e-12);
  EXPECT_EQ(detector.steps_without_fall(), 19);
}

TEST(SteadyDetector, not_a_number_is_not_steady) {
  SteadyDetector detector(1e-3);
  for (int k = 0; k < 20; ++k) observe_number(detector, std::nan(""), 0.1);
  EXPECT_FALSE(detector.steady());
}

TEST(SteadyDetector, a_restart_asks_anew_whether_it_is_steady) {
  SteadyDetector before(1e-3);
  for (int step = 0; step < 10; ++step) before.observe(5e-4, 1, 1);
  ASSERT_TRUE(before.steady());
  SteadyDetector same(1e-3), stricter(1e-4);
  same.resume(before.state());
  EXPECT_FALSE(same.steady());
  same.observe(5e-4, 1, 1);
  EXPECT_TRUE(same.steady());
  SteadyDetector disturbed(1e-3);
  disturbed.resume(before.state());
  disturbed.observe(1, 1, 1);  // of a lid that is faster since
  for (int step = 0; step < 9; ++step) disturbed.observe(5e-4, 1, 1);
  EXPECT_FALSE(disturbed.steady());
  before.observe(5e-5, 1, 1);
  stricter.resume(before.state());
  for (int step = 0; step < 9; ++step) stricter.observe(5e-5, 1, 1);
  EXPECT_FALSE(stricter.steady());
  stricter.observe(5e-5, 1, 1);
  EXPECT_TRUE(stricter.steady());
}

TEST(SteadyDetector, counts_time_from_a_restart_on_where_the_state_has_none) {
  SteadyDetector before(1e-3), after(1e-3);
  for (int k = 0; k <= 100; ++k) observe_number(before, 1 + k % 2, 1);
  std::map<std::string, Real> state = before.state();
  state.erase("time");
  state.erase("calm_time");
  after.resume(state);
  const Real last = state.at("previous");
  for (int k = 0; k < 10; ++k) {
    EXPECT_FALSE(after.steady()) << k;
    observe_number(after, last, 1);
  }
  EXPECT_TRUE(after.steady());
}

TEST(SteadyDetector, goes_on_as_if_there_had_been_no_restart) {
  SteadyDetector whole(1e-3);
  for (int k = 0; !whole.steady(); ++k) {
    ASSERT_LT(k, 3000);
    const Real value = 2 + std::exp(-0.01 * k);
    SteadyDetector restarted(1e-3);
    restarted.resume(whole.state());
    observe_number(whole, value, 0.01);
    observe_number(restarted, value, 0.01);
    ASSERT_EQ(restarted.state(), whole.state()) << k;
    ASSERT_EQ(restarted.steady(), whole.steady()) << k;
  }
}

}  // namespace
}  // namespace curlew
