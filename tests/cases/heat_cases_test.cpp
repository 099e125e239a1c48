// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// The heat cases at their own or a coarser size; heat_cases_slow_test.cpp has the finer ones.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tests/cases/case_run.hpp"
#include "tests/cases/series_solutions.hpp"

namespace curlew::test {
namespace {

// --- the series, against the tabulated values -------------------------------------------------------------

TEST(SeriesSolutions, give_the_tabulated_values) {
  EXPECT_NEAR(plane_wall_centre(0.1), 0.9493053627, 1e-10);
  EXPECT_NEAR(plane_wall_centre(0.2), 0.7723116069, 1e-10);
  EXPECT_NEAR(plane_wall_centre(0.5), 0.3707774298, 1e-10);
  EXPECT_NEAR(plane_wall_centre(1.0), 0.1079770444, 1e-10);
  EXPECT_NEAR(cube_centre(0.2), 0.4606570110, 1e-10);
  EXPECT_NEAR(sphere_centre(0.05), 0.9659985, 1e-7);
  EXPECT_NEAR(sphere_centre(0.1), 0.7071003, 1e-7);
  EXPECT_NEAR(sphere_centre(0.2), 0.2770776, 1e-7);
  EXPECT_NEAR(sphere_centre(0.3), 0.1035322, 1e-7);
}

// --- plate and slab: exact to round-off -------------------------------------------------------------------

struct MeshChoice {
  std::string size, order;
};
void PrintTo(const MeshChoice& choice, std::ostream* out) {
  *out << choice.size << " m, " << choice.order;
}

class ExactCases : public testing::TestWithParam<MeshChoice> {
 protected:
  static std::vector<std::string> changes() {
    return {"mesh.size=" + GetParam().size, "mesh.order=\"" + GetParam().order + "\""};
  }
};

/// The largest difference of the node temperatures of a field file from `exact(x)`.
template <class Function>
double node_error(const CaseRun& run, const std::string& file, Function exact) {
  const std::vector<double> points = run.read_field(file, "/VTKHDF/Points");
  const std::vector<double> temperature = run.read_field(file, "/VTKHDF/PointData/temperature");
  EXPECT_EQ(temperature.size(), run.summary().at("nodes"));
  EXPECT_EQ(points.size(), 3 * temperature.size());
  double error = 0;
  for (std::size_t n = 0; n < temperature.size(); ++n) {
    error = std::max(error, std::abs(temperature[n] - exact(points[3 * n])));
  }
  return error;
}

TEST_P(ExactCases, plate_is_linear) {
  const CaseRun run("plate/heat", changes());
  EXPECT_LE(node_error(run, "plate_000000.hdf", [](double x) { return x; }), 1e-12);

  const Table middle = run.read("middle_0");
  ASSERT_EQ(middle.at("x").size(), 21U);
  for (std::size_t k = 0; k < 21; ++k) {
    EXPECT_NEAR(middle.at("x")[k], static_cast<double>(k) / 20, 1e-15);
    EXPECT_NEAR(middle.at("temperature")[k], middle.at("x")[k], 1e-12);
  }

  const Table sides = run.read("sides");
  EXPECT_NEAR(sides.at("left")[0], 1, 1e-12);
  EXPECT_NEAR(sides.at("right")[0], -1, 1e-12);
}

TEST_P(ExactCases, slab_of_two_materials_is_piecewise_linear) {
  const CaseRun run("conduction/slab", changes());
  constexpr double conductor = 1000, insulator = 1, thickness = 0.5, height = 0.5;
  const double flux = 1 / (thickness / conductor + thickness / insulator);  // W/m2
  const double interface_temperature = 1 - flux * thickness / conductor;
  EXPECT_LE(node_error(run, "slab_000000.hdf",
                       [&](double x) {
                         return x < thickness ? 1 - flux * x / conductor
                                              : interface_temperature - flux * (x - thickness) / insulator;
                       }),
            1e-11);
  const Table heat = run.read("heat");
  EXPECT_NEAR(heat.at("hot")[0] / (flux * height), -1, 1e-11);
  EXPECT_NEAR(heat.at("cold")[0] / (flux * height), 1, 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Meshes, ExactCases,
                         testing::Values(MeshChoice{"0.2", "rcm"}, MeshChoice{"0.1", "hilbert"},
                                         MeshChoice{"0.05", "none"}, MeshChoice{"0.02", "rcm"}),
                         [](const auto& test) {
                           return fmt::format("{}_{}", test.param.order, test.param.size.substr(2));
                         });

// --- cooling bodies: relative error of the centre's temperature -------------------------------------------

TEST(CoolingBodies, plane_wall) {
  const CaseRun run("conduction/plane_wall");
  for (const double time : {0.1, 0.2, 0.5, 1.0}) {
    EXPECT_NEAR(run.at_time("centre", time, "p0_temperature") / plane_wall_centre(time), 1, 5e-4) << time;
  }
}

TEST(CoolingBodies, cube) {
  const CaseRun run("conduction/cube");
  EXPECT_NEAR(run.at_time("centre", 0.2, "p0_temperature") / cube_centre(0.2), 1, 6e-3);
}

TEST(CoolingBodies, sphere) {
  const CaseRun run("conduction/sphere");
  for (const double time : {0.05, 0.1, 0.2, 0.3}) {
    EXPECT_NEAR(run.at_time("centre", time, "p0_temperature") / sphere_centre(time), 1, 1.5e-2) << time;
  }
}

TEST(CoolingBodies, have_the_same_bits_on_any_number_of_threads) {
  const Table one = CaseRun("conduction/sphere", {}, 1).read("centre");
  EXPECT_EQ(CaseRun("conduction/sphere", {}, 2).read("centre"), one);
  EXPECT_EQ(CaseRun("conduction/sphere", {}, 3).read("centre"), one);
}

// --- crankshaft -------------------------------------------------------------------------------------------

TEST(Crankshaft, warms_up_from_one_end) {
  const CaseRun run("crankshaft/heat", {"mesh.size=0.012", "time.step=500"});
  const Table ends = run.read("ends"), residuals = run.read("residuals"), range = run.read("range"),
              mean = run.read("mean");
  const std::size_t steps = residuals.at("step").size();
  ASSERT_EQ(steps, 40U);
  for (const auto* table : {&ends, &range, &mean}) ASSERT_EQ(table->at("time").size(), steps + 1);
  for (std::size_t step = 1; step <= steps; ++step) {
    const double inflow = -ends.at("nose_end")[step], outflow = ends.at("flange_end")[step];
    EXPECT_GT(inflow, outflow) << step;  // the shaft still warms up
    // At the start flows through given temperatures are not known. The first step's inflow is the largest:
    // the whole shaft is cold.
    if (step > 1) {
      EXPECT_GT(outflow, ends.at("flange_end")[step - 1]) << step;
      EXPECT_LT(inflow, -ends.at("nose_end")[step - 1]) << step;
    }
    EXPECT_GT(mean.at("temperature")[step], mean.at("temperature")[step - 1]) << step;
    EXPECT_GE(range.at("temperature_min")[step], 300 - 1e-6) << step;
    EXPECT_LE(range.at("temperature_max")[step], 400 + 1e-6) << step;

    const double stored = residuals.at("heat_stored")[step - 1];
    EXPECT_NEAR(stored, inflow - outflow, 1e-6 * inflow) << step;
    EXPECT_LE(std::abs(residuals.at("heat_imbalance")[step - 1]), 1e-6 * inflow) << step;
  }
}

TEST(Crankshaft, running_gives_off_what_its_bearings_release) {
  const CaseRun run("crankshaft/heat_running", {"mesh.size=0.012"});
  const Table heat = run.read("heat");
  const double from_pins = -heat.at("crank_pins")[0];
  double sum = 0;
  for (const char* patch : {"crank_pins", "main_journals", "webs", "flange_end"}) sum += heat.at(patch)[0];
  EXPECT_LE(std::abs(sum), 1e-8 * from_pins);
  for (const char* patch : {"main_journals", "webs", "flange_end"}) EXPECT_GT(heat.at(patch)[0], 0) << patch;

  // Facets inscribed in the pins' cylinders have a little less area.
  const double pins = 4 * std::numbers::pi * 0.048 * 0.026;  // m2
  EXPECT_THAT(from_pins / (2e4 * pins), testing::AllOf(testing::Gt(0.99), testing::Lt(1)));

  // Nothing is colder than the clutch; the pins are the warmest.
  const Table range = run.read("range");
  EXPECT_NEAR(range.at("temperature_min")[0], 350, 1e-6);
  EXPECT_GT(range.at("temperature_max")[0], 370);
  const double y = range.at("temperature_max_y")[0], z = range.at("temperature_max_z")[0];
  EXPECT_NEAR(std::hypot(std::abs(y) - 0.043, z), 0.024, 1e-3);  // on a pin's surface
}

}  // namespace
}  // namespace curlew::test
