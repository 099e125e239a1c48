// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// The heat cases on finer meshes, within tighter bands than in heat_cases_test.cpp, and at full size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/cases/case_run.hpp"
#include "tests/cases/series_solutions.hpp"

namespace curlew::test {
namespace {

TEST(FineCoolingBodies, plane_wall) {
  const CaseRun run("conduction/plane_wall", {"mesh.size=0.005", "time.step=0.002"});
  for (const double time : {0.1, 0.2, 0.5, 1.0}) {
    EXPECT_NEAR(run.at_time("centre", time, "p0_temperature") / plane_wall_centre(time), 1, 2e-5) << time;
  }
}

TEST(FineCoolingBodies, cube) {
  const CaseRun run("conduction/cube", {"mesh.size=0.05", "time.step=0.002"});
  EXPECT_NEAR(run.at_time("centre", 0.2, "p0_temperature") / cube_centre(0.2), 1, 2e-3);
}

TEST(FineCoolingBodies, sphere) {
  const CaseRun run("conduction/sphere", {"mesh.size=0.03", "time.step=0.0025"});
  for (const double time : {0.05, 0.1, 0.2, 0.3}) {
    EXPECT_NEAR(run.at_time("centre", time, "p0_temperature") / sphere_centre(time), 1, 2e-3) << time;
  }
}

constexpr double menon_cells = 178486;  // of the mesh in Menon's thesis

/// Long steps of backward Euler damp everything but the steady state.
double steady_flow(const std::vector<std::string>& changes) {
  std::vector<std::string> all{"model.scheme=\"backward-euler\"", "time.step=1e6", "time.end=5e6",
                               "output.interval=5e6", "output.checkpoint=5e6"};
  all.insert(all.end(), changes.begin(), changes.end());
  const CaseRun run("crankshaft/heat", all);
  const double inflow = -run.at_time("ends", 5e6, "nose_end"),
               outflow = run.at_time("ends", 5e6, "flange_end");
  EXPECT_NEAR(outflow, inflow, 1e-6 * inflow);
  return inflow;
}

TEST(FullCrankshaft, steady_flow_is_below_that_of_its_parts_in_series) {
  const double coarse = steady_flow({"mesh.size=0.008"});
  const double fine = steady_flow({});
  // Were every joint between the parts at one temperature, more heat would flow than does: the parts' own
  // resistances, without those of the webs, where heat has to spread.
  const auto resistance = [](int count, double length, double diameter) {
    return count * length / (45 * std::numbers::pi * diameter * diameter / 4);
  };
  const double parts = resistance(1, 0.060, 0.036) + resistance(5, 0.028, 0.055) +
                       resistance(4, 0.026, 0.048) + resistance(1, 0.020, 0.090);
  EXPECT_LT(fine, 100 / parts);
  EXPECT_GT(fine, 0.5 * 100 / parts);
  // From above, as the temperature is singular at the re-entrant edges between journals and webs.
  EXPECT_GT(coarse, fine);
  EXPECT_NEAR(coarse, fine, 0.03 * fine);
}

TEST(FullCrankshaft, running) {
  const CaseRun run("crankshaft/heat_running");
  EXPECT_NEAR(run.summary().at("cells").get<double>(), menon_cells, 0.05 * menon_cells);
  const Table heat = run.read("heat");
  const double from_pins = -heat.at("crank_pins")[0];
  double sum = 0;
  for (const char* patch : {"crank_pins", "main_journals", "webs", "flange_end"}) sum += heat.at(patch)[0];
  EXPECT_LE(std::abs(sum), 1e-8 * from_pins);
  const double pins = 4 * std::numbers::pi * 0.048 * 0.026;  // m2
  EXPECT_THAT(from_pins / (2e4 * pins), testing::AllOf(testing::Gt(0.998), testing::Lt(1)));
}

TEST(FullCrankshaft, warms_up_with_a_closed_balance) {
  const CaseRun run("crankshaft/heat", {"time.end=2000", "output.checkpoint=2000"});
  EXPECT_NEAR(run.summary().at("cells").get<double>(), menon_cells, 0.05 * menon_cells);
  const Table ends = run.read("ends"), residuals = run.read("residuals"), range = run.read("range");
  ASSERT_EQ(residuals.at("step").size(), 10U);
  for (std::size_t step = 1; step <= 10; ++step) {
    const double inflow = -ends.at("nose_end")[step];
    EXPECT_GT(inflow, 0) << step;
    EXPECT_LE(std::abs(residuals.at("heat_imbalance")[step - 1]), 1e-6 * inflow) << step;
    EXPECT_GE(range.at("temperature_min")[step], 300 - 1e-6) << step;
    EXPECT_LE(range.at("temperature_max")[step], 400 + 1e-6) << step;
  }
}

}  // namespace
}  // namespace curlew::test
