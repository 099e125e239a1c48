// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/heat_history.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "tests/physics/heat/heat_setup.hpp"
#include "tests/physics/kept_state.hpp"

namespace curlew {
namespace {

/// A box with a side of changing temperature and one that is cooled; everything smooth in time.
struct WarmedBox : testing::TestWithParam<bool> {
  HeatSettings settings(HeatScheme scheme = HeatScheme::CrankNicolson) const {
    HeatSettings with = settings_for(mesh, material(1, 4, constant(3)), Insulated{});
    set_boundary(with, mesh, "left", FixedTemperature{analytic(warmth)});
    // Convection that changes makes the history's products anew.
    const FunctionPointer varying = analytic([](Vector3 x, Real t) { return 4 + x.y + t; });
    const FunctionPointer steady = std::make_shared<SteadyFunction>([](Vector3 x, Real) { return 4 + x.y; });
    set_boundary(with, mesh, "right", Convection{GetParam() ? varying : steady, constant(280)});
    with.scheme = scheme;
    with.solver.relative_tolerance = 1e-9;
    return with;
  }

  /// Of steps with lengths that change: from 0.02 to 0.035 and back.
  static Real time_of(int step) { return 0.02 * step + 0.04 * (1 - std::cos(0.37 * step)); }
  static Real warmth(Vector3 x, Real t) { return 300 + 20 * std::sin(2 * t) + 5 * x.y; }

  void expect_held(const HeatDiffusion& heat) const {
    const std::vector<Real> temperature = heat.temperature().to_host();
    int held = 0;
    for (std::size_t n = 0; n < temperature.size(); ++n) {
      const Vector3 x = mesh.geometry().node_positions()[n];
      if (x.x != 0) continue;
      EXPECT_EQ(temperature[n], warmth(x, heat.time())) << n;
      ++held;
    }
    EXPECT_EQ(held, 81);
  }

  const Mesh mesh{make_box(CellType::Tetrahedron, {8, 8, 8})};
  const FunctionPointer initial = analytic([](Vector3 x, Real) { return 300 + 5 * x.y - 10 * x.x * x.x; });
};

/// Without what guesses are made of.
RunState without_history(RunState state) {
  const auto is_of_guess = [](const auto& entry) { return entry.first.starts_with(guess_prefix); };
  std::erase_if(state.arrays, is_of_guess);
  std::erase_if(state.singles, is_of_guess);
  std::erase_if(state.numbers, is_of_guess);
  return state;
}

TEST_P(WarmedBox, takes_fewer_iterations_from_them_and_comes_to_the_same) {
  for (const HeatScheme scheme : {HeatScheme::CrankNicolson, HeatScheme::BackwardEuler}) {
    HeatDiffusion heat(Executor::serial(), mesh, settings(scheme)),
        alone(Executor::serial(), mesh, settings(scheme));
    heat.start(*initial, 0);
    int with = 0, without = 0;
    for (int step = 1; step <= 16; ++step) {
      if (step > 1) alone.resume(without_history(heat.state()));
      const SolveReport report = heat.advance_to(time_of(step));
      expect_held(heat);
      EXPECT_LE(report.residual, 1e-9);
      if (step <= 6) continue;
      with += report.iterations;
      without += alone.advance_to(time_of(step)).iterations;
      const std::vector<Real> a = heat.temperature().to_host(), b = alone.temperature().to_host();
      for (std::size_t n = 0; n < a.size(); ++n) ASSERT_NEAR(a[n], b[n], 1e-6) << n;
    }
    EXPECT_GE(with, 10);
    EXPECT_LE(with, 0.65 * without);
  }
}

TEST_P(WarmedBox, a_run_resumed_from_its_state_has_the_same_bits) {
  for (const HeatScheme scheme : {HeatScheme::CrankNicolson, HeatScheme::BackwardEuler}) {
    for (const int stop : {0, 1, 2, 3, 7}) {  // with every number of changes
      HeatDiffusion whole(Executor::serial(), mesh, settings(scheme)),
          resumed(Executor::debug_device(), mesh, settings(scheme));
      whole.start(*initial, 0);
      for (int step = 1; step <= stop; ++step) whole.advance_to(time_of(step));
      resumed.resume(whole.state());
      EXPECT_EQ(resumed.steps(), stop);
      for (int step = stop + 1; step <= stop + 3; ++step) {
        EXPECT_EQ(whole.advance_to(time_of(step)).iterations, resumed.advance_to(time_of(step)).iterations);
      }
      EXPECT_EQ(whole.state(), resumed.state()) << "after " << stop;
    }
  }
}

TEST_P(WarmedBox, holds_what_a_resumed_run_holds_anew) {
  HeatDiffusion first(Executor::serial(), mesh, settings()), second(Executor::serial(), mesh, [&] {
    HeatSettings with = settings();
    set_boundary(with, mesh, "left", Insulated{});
    return with;
  }());
  second.start(*initial, 0);
  for (int step = 1; step <= 5; ++step) second.advance_to(time_of(step));
  first.resume(second.state());
  for (int step = 6; step <= 8; ++step) {
    first.advance_to(time_of(step));
    expect_held(first);
  }
}

TEST_P(WarmedBox, started_anew_forgets_them) {
  HeatDiffusion heat(Executor::serial(), mesh, settings());
  const auto run = [&] {
    heat.start(*initial, 0);
    for (int step = 1; step <= 4; ++step) heat.advance_to(time_of(step));
    return kept(heat.state());
  };
  const RunState once = run(), again = run();
  EXPECT_EQ(once.singles.size(), solution_history_depth);
  EXPECT_EQ(again, once);
}

TEST_P(WarmedBox, does_not_resume_from_changes_of_which_something_is_not_known) {
  HeatDiffusion heat(Executor::serial(), mesh, settings());
  heat.start(*initial, 0);
  heat.advance_to(time_of(1));
  RunState state = heat.state();
  ASSERT_EQ(state.numbers.erase(guess_prefix + "temperature_change.0.product_with_0"), 1u);
  EXPECT_THROW(heat.resume(state), InputError);
}

INSTANTIATE_TEST_SUITE_P(Convection, WarmedBox, testing::Bool(),
                         [](const auto& test) { return test.param ? "that_varies" : "that_stays"; });

/// Of a balance, that which is not a number included.
std::vector<std::uint64_t> bits_of(const HeatBalance& balance) {
  std::vector<std::uint64_t> bits{std::bit_cast<std::uint64_t>(balance.source),
                                  std::bit_cast<std::uint64_t>(balance.stored)};
  for (const Real outflow : balance.outflow) bits.push_back(std::bit_cast<std::uint64_t>(outflow));
  return bits;
}

TEST_P(WarmedBox, a_step_that_fails_changes_nothing) {
  const Real not_a_number = std::numeric_limits<Real>::quiet_NaN();
  for (const bool by_expression : {false, true}) {
    for (const HeatScheme scheme : {HeatScheme::CrankNicolson, HeatScheme::BackwardEuler}) {
      for (const int steps : {0, 2}) {
        bool fails = false;
        const Real middle = (time_of(steps) + time_of(steps + 1)) / 2;
        HeatSettings with = settings();
        with.scheme = scheme;
        with.materials[0].source = analytic([&](Vector3 x, Real t) {
          const bool failing = fails && t > middle;
          if (failing && by_expression) throw InputError("no value");
          return failing ? not_a_number : 1e5 * x.x * std::sin(t);
        });
        HeatDiffusion heat(Executor::serial(), mesh, with), other(Executor::serial(), mesh, with);
        for (HeatDiffusion* run : {&heat, &other}) {
          run->start(*initial, 0);
          for (int step = 1; step <= steps; ++step) run->advance_to(time_of(step));
        }
        const std::vector<Real> temperature = heat.temperature().to_host();
        const auto balance = bits_of(heat.balance());
        const RunState before = kept(heat.state());
        fails = true;
        if (by_expression) {
          EXPECT_THROW(heat.advance_to(time_of(steps + 1)), InputError);
        } else {
          EXPECT_THROW(heat.advance_to(time_of(steps + 1)), DivergedError);
        }
        const RunState after = heat.state();
        EXPECT_TRUE(heat.temperature().to_host() == temperature);
        EXPECT_EQ(bits_of(heat.balance()), balance);
        EXPECT_EQ(after.time, before.time);
        EXPECT_EQ(after.steps, before.steps);
        if (by_expression) {
          EXPECT_EQ(after, before) << "no solve had begun, or there was nothing to know";
        }
        // Once it can, it goes on as if it had never failed, but for what the solves left.
        fails = false;
        heat.advance_to(time_of(steps + 1));
        other.advance_to(time_of(steps + 1));
        EXPECT_EQ(heat.balance().source, other.balance().source);
        EXPECT_NEAR(heat.balance().stored, other.balance().stored, 1e-8 * other.balance().throughput());
        for (std::size_t p = 0; p < balance.size() - 2; ++p)
          EXPECT_NEAR(heat.balance().outflow[p], other.balance().outflow[p],
                      1e-8 * other.balance().throughput());
      }
    }
  }
}

TEST(HeatDiffusion, resuming_from_another_mesh_or_without_a_temperature_is_an_error) {
  const Mesh mesh(make_box(CellType::Triangle, {4, 4, 0}));
  HeatDiffusion heat(Executor::serial(), mesh, settings_for(mesh, material(1, 1), Insulated{}));
  heat.start(*constant(300), 0);
  RunState other = heat.state();
  std::vector<Real> too_few = other.arrays.at("temperature").values();
  too_few.pop_back();
  other.arrays["temperature"] = too_few;
  EXPECT_THROW(heat.resume(other), InputError);
  EXPECT_THROW(heat.resume(RunState{}), InputError);
}

}  // namespace
}  // namespace curlew
