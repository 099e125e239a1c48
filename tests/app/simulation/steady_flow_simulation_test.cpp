// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <cmath>
#include <limits>
#include <numbers>

#include "app/case/flow_doubts.hpp"
#include "tests/app/simulation/flow_run.hpp"

namespace curlew::test {
namespace {

using testing::HasSubstr;

class SteadyFlowRun : public FlowRun {
 protected:
  /// Solves to 1e-8 leave changes of 1e-6 1/s at least in steps of 0.01 s.
  void take_short_steps_until_steady(std::int64_t most) {
    settings.flow.convection = ConvectionScheme::None;
    settings.time.steady = true;
    settings.time.step = 0.01;
    settings.time.tolerance = 2e-6;
    settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = 1e-8;
    settings.time.max_steps = most;
  }
};

TEST_F(SteadyFlowRun, is_steady_when_what_is_watched_no_longer_changes) {
  settings.time.steady = true;
  settings.time.tolerance = 1e-3;
  speed = [](Real time) { return 2 + std::exp(-time); };
  // Change per time and size of v: exp(-t) / 2; twice that for its square.
  for (const auto& [quantity, time] :
       {std::pair("velocity", -std::log(2e-3)), {"kinetic_energy", -std::log(1e-3)}}) {
    settings.time.quantity = quantity;
    const auto run = simulation();
    run->start();
    run_to_end(*run);
    EXPECT_TRUE(run->reached_goal());
    EXPECT_NEAR(run->time(), time + 10 * 0.125, 2 * 0.125) << quantity;
    EXPECT_THAT(run->conclusion(), HasSubstr(std::string("steady after ") + std::to_string(run->steps())));
  }
  settings.time.quantity = "drag.cx";
  const auto watching = simulation();
  EXPECT_EQ(watching->watched().value().name, "drag.cx");
  watching->start();
  for (int k = 0; k < 12; ++k) {
    EXPECT_FALSE(watching->finished());
    watching->advance();
    watching->observe(k == 0 ? ColumnValue{2, 2} : ColumnValue{3, 3});
  }
  EXPECT_TRUE(watching->finished());
}

TEST_F(SteadyFlowRun, a_quantity_that_never_changes_does_not_tell_that_the_flow_is_steady) {
  settings.time.steady = true;
  settings.time.tolerance = 1e-3;
  settings.time.quantity = "outflow.right";
  speed = [](Real time) { return 2 + std::exp(-time); };
  const auto run = simulation(), stopped = simulation(), resumed = simulation();
  const auto advance = [](FlowSimulation& simulation) {
    simulation.advance();
    simulation.observe({3, 3});
  };
  run->start();
  while (!run->finished()) advance(*run);
  EXPECT_NEAR(run->time(), -std::log(1e-3) + 10 * 0.125, 2 * 0.125);  // the kinetic energy is
  EXPECT_THAT(run->conclusion(), HasSubstr(": kinetic_energy changes by "));
  stopped->start();
  while (stopped->steps() < run->steps() - 4) advance(*stopped);
  resumed->resume(stopped->checkpoint(), "checkpoint.h5");
  while (!resumed->finished()) advance(*resumed);
  EXPECT_EQ(resumed->steps(), run->steps());
}

TEST_F(SteadyFlowRun, warns_where_the_flow_is_slow_rather_than_steady) {
  settings.flow.convection = ConvectionScheme::None;
  settings.time.steady = true;
  const auto warnings_at_end = [&](Real decay_time, Real tolerance, Real of_solves = 1e-8) {
    settings.time.tolerance = tolerance;
    settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = of_solves;
    settings.time.step = decay_time / 200;
    speed = [=](Real time) { return 2 - std::exp(-time / decay_time); };
    const auto run = simulation();
    run->start();
    while (!run->finished()) {
      EXPECT_TRUE(run->warnings().empty());
      run->advance();
    }
    EXPECT_TRUE(run->reached_goal());
    return run->warnings();
  };
  EXPECT_TRUE(warnings_at_end(1, 1e-3).empty());
  EXPECT_TRUE(warnings_at_end(1e5, 1e-8).empty());
  // Ends after a time of 1.75 decay times, with a rate of 0.1 of the size in one.
  const std::vector<std::string> warnings = warnings_at_end(1e5, 1e-6);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings_at_end(1e5, 1e-6, 1e-4).empty()) << "it may be what solves leave";
  EXPECT_THAT(warnings[0], testing::AllOf(HasSubstr("slow rather than steady"),
                                          HasSubstr("velocity would change by another 17 %"),
                                          HasSubstr("a smaller tolerance, 2e-08 1/s")));
}

TEST_F(SteadyFlowRun, warns_once_where_what_its_solves_leave_keeps_it_from_being_steady) {
  take_short_steps_until_steady(250);
  const auto steps_with_warnings = [&](std::function<Real(Real)> of_time) {
    speed = std::move(of_time);
    const auto run = simulation();
    run->start();
    std::vector<std::int64_t> steps;
    while (!run->finished()) {
      run->advance();
      for (const std::string& warning : run->warnings()) {
        EXPECT_THAT(warning, testing::AllOf(HasSubstr("the change of velocity has not fallen"),
                                            HasSubstr("(tolerance 2.00e-06)"),
                                            HasSubstr("where that goes on for 1000 steps the run ends")));
        steps.push_back(run->steps());
      }
    }
    return steps;
  };
  EXPECT_THAT(steps_with_warnings([](Real time) { return 1 + 1e-7 * std::sin(1e4 * time); }),
              testing::ElementsAre(testing::AllOf(testing::Ge(100), testing::Le(140))));
  EXPECT_THAT(steps_with_warnings([](Real time) { return 1 + 1e-5 * std::exp(-time); }), testing::IsEmpty())
      << "it still falls";
  EXPECT_THAT(steps_with_warnings([](Real time) { return 1 + 1e-3 * std::sin(1e4 * time); }),
              testing::IsEmpty())
      << "it is too much for solves";
}

TEST_F(SteadyFlowRun, goes_on_where_the_flow_swings_and_changes_little_where_it_turns) {
  take_short_steps_until_steady(4000);
  const Real period = 1500 * settings.time.step;
  speed = [=](Real time) { return 1 + 0.1 * std::sin(2 * std::numbers::pi * time / period); };
  const auto run = simulation();
  run->start();
  while (!run->finished()) {
    run->advance();
    EXPECT_THAT(run->warnings(), testing::IsEmpty()) << run->steps();
  }
  EXPECT_EQ(run->steps(), 4000);
}

TEST_F(SteadyFlowRun, ends_where_it_becomes_no_steadier_after_a_restart_in_the_same_step) {
  take_short_steps_until_steady(2000);
  speed = [](Real time) { return 1 + 1e-7 * std::cos(100 * std::numbers::pi * time); };
  const auto run = simulation(), stopped = simulation(), resumed = simulation();
  run->start();
  run_to_end(*run);
  EXPECT_GE(run->steps(), 1000);
  EXPECT_LE(run->steps(), 1100);
  EXPECT_FALSE(run->reached_goal());
  EXPECT_THAT(run->conclusion(), testing::AllOf(HasSubstr("nor steadier for 1000 of "),
                                                HasSubstr("(tolerance 2.00e-06 for ten steps)"),
                                                HasSubstr("what the solves leave")));
  stopped->start();
  while (stopped->steps() < run->steps() - 3) stopped->advance();
  resumed->resume(stopped->checkpoint(), "checkpoint.h5");
  run_to_end(*resumed);
  EXPECT_EQ(resumed->steps(), run->steps());
  // With a tolerance that it keeps to it goes on, and is found steady.
  settings.time.tolerance = 1e-3;
  const auto looser = simulation();
  looser->resume(run->checkpoint(), "checkpoint.h5");
  EXPECT_FALSE(looser->finished());
  run_to_end(*looser);
  EXPECT_TRUE(looser->reached_goal());
}

TEST_F(SteadyFlowRun, ends_where_a_number_beside_larger_ones_is_what_its_solves_leave) {
  take_short_steps_until_steady(1500);
  settings.time.quantity = "lift.fy";
  speed = [](Real) { return 1; };
  // A lift between plus and minus this share of the drag beside it.
  for (const Real share : {1e-9, 1e-3}) {
    const auto run = simulation();
    run->start();
    while (!run->finished()) {
      run->advance();
      run->observe({run->steps() % 2 == 0 ? 5 * share : -5 * share, 5});
    }
    EXPECT_FALSE(run->reached_goal());
    EXPECT_THAT(run->conclusion(),
                testing::AllOf(HasSubstr("lift.fy changes by 2.00e+02 of its size, "),
                               HasSubstr("(tolerance 2.00e-06 for ten steps and a tenth of the time)")));
    EXPECT_EQ(run->steps() < 1100, share < 1e-6);
    EXPECT_EQ(
        run->conclusion().find("2.00e-07 of the largest number beside it, per second") != std::string::npos,
        share < 1e-6);
    EXPECT_EQ(run->conclusion().find("what the solves leave") != std::string::npos, share < 1e-6);
  }
}

TEST_F(SteadyFlowRun, that_is_not_steady_says_the_same_after_a_restart) {
  settings.time.steady = true;
  settings.time.max_steps = 3;
  const auto run = simulation();
  run->start();
  run_to_end(*run);
  EXPECT_THAT(run->conclusion(), testing::AllOf(HasSubstr("not steady after the 3 steps"),
                                                HasSubstr("steps of half the length let it settle"),
                                                testing::Not(HasSubstr("what the solves leave"))));
  const auto again = simulation();
  again->resume(run->checkpoint(), "checkpoint_3.h5");
  EXPECT_TRUE(again->finished());
  EXPECT_EQ(again->conclusion(), run->conclusion());
}

TEST_F(SteadyFlowRun, of_a_fluid_at_rest_is_steady_whatever_rounding_leaves) {
  settings.time.steady = true;
  settings.time.max_steps = 30;
  const auto zero = std::make_shared<const Expression>(0);
  settings.flow.body_force = std::make_shared<const ComponentVector>(
      std::array<FunctionPointer, 3>{zero, std::make_shared<const Expression>(-10), zero});
  for (const char* quantity : {"velocity", "kinetic_energy", "drag.fx"}) {
    settings.time.quantity = quantity;
    for (const Real size : {1e-14, 1e-10}) {
      speed = [=](Real time) { return size * std::sin(1000 * time); };
      const auto run = simulation();
      run->start();
      while (!run->finished()) {
        run->advance();
        if (run->watched()) run->observe({speed(run->time()), std::abs(speed(run->time()))});
      }
      EXPECT_EQ(run->reached_goal(), size < 1e-12) << quantity;
    }
  }
}

TEST_F(SteadyFlowRun, says_where_the_tolerance_of_a_steady_run_is_below_that_of_its_solves) {
  settings.time.steady = true;
  settings.time.step = 0.001;
  settings.time.tolerance_location = {"case.toml", 7};
  settings.time.tolerance = 2e-5;
  EXPECT_EQ(doubt_about_steadiness(settings), "");
  settings.time.tolerance = 5e-6;
  EXPECT_THAT(doubt_about_steadiness(settings),
              testing::AllOf(HasSubstr("case.toml:7: "), HasSubstr("changes of 1e-05 of the size per second"),
                             HasSubstr("tolerance of [solver.*]")));
  settings.flow.momentum.relative_tolerance = settings.flow.pressure.relative_tolerance = 1e-9;
  EXPECT_EQ(doubt_about_steadiness(settings), "");

  settings.time.max_steps = 20;
  for (const Real change : {1e-5, 1e-2}) {
    speed = [=](Real time) { return std::exp(change * time); };
    const auto run = simulation();
    run->start();
    run_to_end(*run);
    EXPECT_EQ(run->conclusion().find("what the solves leave") != std::string::npos, change < 1e-4);
  }
}

TEST_F(SteadyFlowRun, says_so_when_it_does_not_become_steady) {
  settings.time.steady = true;
  settings.time.max_steps = 20;
  const auto run = simulation();
  run->start();
  run_to_end(*run);
  EXPECT_EQ(run->steps(), 20);
  EXPECT_FALSE(run->reached_goal());
  EXPECT_THAT(run->conclusion(), HasSubstr("not steady after the 20 steps of [time] max_steps: velocity"));
}

}  // namespace
}  // namespace curlew::test
