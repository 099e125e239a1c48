// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// Given temperatures that jump, and what looks like it, by Crank-Nicolson.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "physics/heat/heat_diffusion.hpp"
#include "tests/physics/analytic_function.hpp"
#include "tests/physics/heat/heat_setup.hpp"
#include "tests/physics/kept_state.hpp"

namespace curlew {
namespace {

using std::numbers::pi;

/// A bar at 0 whose end is 1 from some time on, in steps so long that Crank-Nicolson does not damp; heat
/// flows in through its end.
struct JumpingBar : testing::Test {
  HeatSettings settings(const std::function<Real(Real)>& end) const {
    HeatSettings with = settings_for(mesh, material(1, 1), Insulated{});
    set_boundary(with, mesh, "left", FixedTemperature{analytic([end](Vector3, Real t) { return end(t); })});
    return with;
  }
  /// Mean inflow of a half-space in the n-th step after the jump, 2 (sqrt(t_n) - sqrt(t_n-1)) / sqrt(pi) over
  /// the step (Carslaw & Jaeger, Conduction of heat in solids, 1959, section 2.5).
  static Real exact_inflow(int n) {
    return 2 * (std::sqrt(n * step) - std::sqrt((n - 1) * step)) / (std::sqrt(pi) * step);
  }
  std::vector<Real> inflows(HeatDiffusion& heat, int steps) const {
    std::vector<Real> result;
    for (int k = 0; k < steps; ++k) {
      heat.advance_to(step * static_cast<Real>(heat.steps() + 1), step);
      result.push_back(-heat.balance().outflow[0]);
    }
    return result;
  }
  static constexpr Real step = 1e-3;
  const Mesh mesh{make_box(CellType::Quadrilateral, {200, 1, 0})};
};

TEST_F(JumpingBar, warms_as_evenly_after_a_late_jump_as_after_one_at_the_start) {
  HeatDiffusion at_start(Executor::serial(), mesh, settings([](Real) { return 1; }));
  at_start.start(*constant(0), 0);
  const std::vector<Real> expected = inflows(at_start, 8);
  for (int k = 1; k < 8; ++k) EXPECT_NEAR(expected[at(k)] / exact_inflow(k + 1), 1, 0.15) << k;
  HeatDiffusion late(Executor::serial(), mesh, settings([](Real t) { return t > 5.1 * step ? 1 : 0; }));
  late.start(*constant(0), 0);
  for (const Real inflow : inflows(late, 5)) EXPECT_EQ(inflow, 0);
  const std::vector<Real> found = inflows(late, 8);
  for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(found[k], expected[k], 1e-9 * expected[0]) << k;
}

TEST_F(JumpingBar, warms_evenly_after_a_jump_in_the_second_half_of_a_step) {
  for (const Real when : {5.6, 5.99}) {
    HeatDiffusion heat(Executor::serial(), mesh, settings([=](Real t) { return t > when * step ? 1 : 0; }));
    heat.start(*constant(0), 0);
    inflows(heat, 6);
    const std::vector<Real> found = inflows(heat, 6);
    for (int k = 1; k < 6; ++k) EXPECT_NEAR(found[at(k)] / exact_inflow(k + 1), 1, 0.15) << when << ", " << k;
  }
}

TEST_F(JumpingBar, takes_the_jump_of_a_restart_with_another_end_for_one) {
  HeatDiffusion before(Executor::serial(), mesh, settings([](Real) { return 0; }));
  before.start(*constant(0), 0);
  inflows(before, 5);
  HeatDiffusion at_start(Executor::serial(), mesh, settings([](Real) { return 1; })),
      after(Executor::serial(), mesh, settings([](Real) { return 1; }));
  at_start.start(*constant(0), 0);
  after.resume(kept(before.state()));
  const std::vector<Real> expected = inflows(at_start, 8), found = inflows(after, 8);
  for (std::size_t k = 0; k < 8; ++k) EXPECT_NEAR(found[k], expected[k], 1e-9 * expected[0]) << k;
}

TEST_F(JumpingBar, goes_on_with_the_same_bits_from_a_checkpoint_at_the_jump) {
  // Both late in a step, and the second not large enough beside the first to count.
  const HeatSettings jumping = settings([](Real t) { return t < 5.99 * step ? 0 : t < 6.99 * step ? 4 : 5; });
  HeatDiffusion whole(Executor::serial(), mesh, jumping);
  whole.start(*constant(0), 0);
  for (int k = 0; k < 10; ++k) {
    HeatDiffusion rest(Executor::serial(), mesh, jumping);
    rest.resume(kept(whole.state()));
    inflows(whole, 1);
    inflows(rest, 1);
    ASSERT_EQ(rest.state(), whole.state()) << k;
  }
}

TEST_F(JumpingBar, finds_a_jump_beside_an_end_that_changes_faster) {
  HeatSettings with = settings([](Real t) { return t > 5.1 * step ? 1 : 0; }),
               at_start = settings([](Real) { return 1; });
  for (HeatSettings* each : {&with, &at_start})
    set_boundary(*each, mesh, "right",
                 FixedTemperature{analytic([](Vector3, Real t) { return 3 * t / step; })});
  HeatDiffusion late(Executor::serial(), mesh, with), expected(Executor::serial(), mesh, at_start);
  late.start(*constant(0), 0);
  expected.start(*constant(0), 0);
  inflows(late, 5);
  const std::vector<Real> found = inflows(late, 6), wanted = inflows(expected, 6);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(found[k] / wanted[k], 1, 1e-6) << k;
}

TEST_F(JumpingBar, takes_up_as_much_of_a_pulse_as_it_gives) {
  // 1 at the end of one step alone: by backward Euler, in four halves, as large as by steps an eighth as
  // long.
  const HeatSettings pulse = settings([](Real t) { return t > 10.1 * step && t < 11.1 * step ? 1 : 0; });
  const auto heat_at_end = [&](int parts) {
    HeatDiffusion heat(Executor::serial(), mesh, pulse);
    heat.start(*constant(0), 0);
    for (int k = 1; k <= 40 * parts; ++k) heat.advance_to(step / parts * k, step / parts);
    const std::vector<Real> temperature = heat.temperature().to_host();
    Real sum = 0;
    for (std::size_t n = 0; n < temperature.size(); ++n)
      sum += mesh.geometry().node_volumes()[n] * temperature[n];
    return sum;
  };
  EXPECT_NEAR(heat_at_end(1) / heat_at_end(16), 1, 0.15);
}

TEST_F(JumpingBar, needs_no_temperature_in_the_middle_of_a_step) {
  HeatDiffusion heat(Executor::serial(), mesh, settings([](Real t) -> Real {
                       if (std::abs(t - 5.5 * step) < 1e-6) throw InputError("no value");
                       return 1;
                     }));
  heat.start(*constant(0), 0);
  EXPECT_NO_THROW(inflows(heat, 10));
}

TEST_F(JumpingBar, takes_rounding_of_its_end_for_no_jump) {
  // 2e-14 a step, of which 300 knows multiples of 6e-14.
  HeatDiffusion creeping(Executor::serial(), mesh, settings([](Real t) { return 300 + 2e-14 * (t / step); })),
      constant_end(Executor::serial(), mesh, settings([](Real) { return 300; }));
  for (HeatDiffusion* heat : {&creeping, &constant_end}) heat->start(*constant(0), 0);
  const std::vector<Real> found = inflows(creeping, 20), expected = inflows(constant_end, 20);
  for (std::size_t k = 0; k < 20; ++k) EXPECT_NEAR(found[k] / expected[k], 1, 1e-9) << k;
  HeatDiffusion rest(Executor::serial(), mesh, settings([](Real) { return 300 + 1e-13; }));
  rest.resume(kept(constant_end.state()));
  EXPECT_NEAR(inflows(rest, 1)[0] / inflows(constant_end, 1)[0], 1, 1e-9);
}

TEST_F(JumpingBar, takes_no_turn_of_a_swing_for_a_jump) {
  // 16 steps a period, of second order; and 5, which turns at a quarter of a step, where one half does
  // nothing.
  const auto error = [&](const std::function<Real(Real)>& swing, int parts) {
    const auto temperature = [&](int in) {
      HeatDiffusion heat(Executor::serial(), mesh, settings(swing));
      heat.start(*constant(swing(0)), 0);
      for (int k = 1; k <= 30 * in; ++k) heat.advance_to(step / in * k, step / in);
      return heat.temperature().to_host();
    };
    const std::vector<Real> exact = temperature(16), found = temperature(parts);
    Real squares = 0;
    for (std::size_t n = 0; n < exact.size(); ++n) squares += std::pow(found[n] - exact[n], 2);
    return std::sqrt(squares / static_cast<Real>(exact.size()));
  };
  const auto slow = [](Real t) { return std::sin(400 * t + 0.3); };
  const auto fast = [](Real t) { return std::cos(2 * pi / 5 * (t / step - 2.25)); };
  EXPECT_LT(error(slow, 1), 1.1e-3);
  EXPECT_GT(error(slow, 1) / error(slow, 2), 3.6);
  EXPECT_LT(error(fast, 1), 0.012);
}

}  // namespace
}  // namespace curlew
