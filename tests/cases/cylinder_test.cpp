// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Flow around a cylinder against Schaefer and Turek's benchmark, on coarse meshes; cylinder_slow_test.cpp has
// the finer ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cases/cylinder_benchmark.hpp"
#include "tests/cases/flow_cases.hpp"

namespace curlew::test {
namespace {

TEST(SteadyCylinder, drag_lift_and_pressure_difference) {
  const CaseRun run("cylinder/steady");
  EXPECT_NEAR(run.last("cylinder", "cx") / steady_drag, 1, 0.025);
  EXPECT_NEAR(run.last("cylinder", "cy") / steady_lift, 1, 0.2);
  EXPECT_NEAR(pressure_difference(run) / steady_pressure_difference, 1, 0.06);
  // No friction makes lift of its own here, and pressure makes about two thirds of the drag.
  EXPECT_NEAR(run.last("cylinder", "pressure_x") / run.last("cylinder", "fx"), 0.64, 0.02);
  // What flows in, 0.2 m/s over 0.41 m, flows out.
  EXPECT_NEAR(run.last("flow", "inlet"), -0.082, 1e-12);
  EXPECT_NEAR(run.last("flow", "total"), 0, 1e-8 * 0.082);
}

// On the coarse mesh; cylinder_slow_test has the exact step on that of the test above.
TEST(SteadyCylinderByTheExactStep, drag_and_pressure_difference) {
  const FlowRun run("exact", "cylinder/steady", {"mesh.file=\"cylinder_coarse.geo\""});
  EXPECT_NEAR(run.last("cylinder", "cx") / steady_drag, 1, 0.07);
  EXPECT_NEAR(pressure_difference(run) / steady_pressure_difference, 1, 0.11);
  EXPECT_NEAR(run.last("cylinder", "pressure_x") / run.last("cylinder", "fx"), 0.64, 0.02);
  EXPECT_NEAR(run.last("flow", "inlet"), -0.082, 1e-12);
  EXPECT_EQ(run.last("flow", "total"), 0);  // to the last bit
}

// 4,320 hexahedra.
TEST(SteadyCylinderIn3d, drag_lift_and_pressure_difference) {
  const CaseRun run("cylinder/steady_3d", {}, 2);
  EXPECT_NEAR(run.last("cylinder", "cx") / drag_in_3d, 1, 0.02);
  EXPECT_NEAR(run.last("cylinder", "cy") / lift_in_3d, 1, 0.3);
  EXPECT_THAT(pressure_difference(run), testing::AllOf(testing::Ge(least_pressure_difference_in_3d),
                                                       testing::Le(largest_pressure_difference_in_3d)));
  // 0.2 m/s through half of 0.41 m x 0.41 m.
  EXPECT_NEAR(run.last("flow", "inlet"), -0.2 * 0.41 * 0.205, 1e-12);
  EXPECT_NEAR(run.last("flow", "total"), 0, 1e-8 * 0.01681);
}

class Cylinder : public testing::TestWithParam<std::string> {};

// So coarse a mesh sheds vortices that are a tenth too slow and too strong.
TEST_P(Cylinder, sheds_vortices) {
  const FlowRun run(GetParam(), "cylinder/shedding",
                    {"mesh.file=\"cylinder_coarse.geo\"", "time.end=3.1", "output.interval=4"});
  const Shedding shedding(run, 1.6);
  EXPECT_NEAR(shedding.strouhal / shedding_strouhal, 1, 0.15);
  EXPECT_NEAR(shedding.drag_max / shedding_drag_max, 1, 0.15);
  EXPECT_NEAR(shedding.drag_min / shedding_drag_min, 1, 0.1);
  EXPECT_NEAR(shedding.pressure_difference / shedding_pressure_difference, 1, 0.1);
  // The lift goes up and down about alike.
  EXPECT_NEAR(-shedding.lift_min / shedding.lift_max, 1, 0.2);
  EXPECT_THAT(shedding.lift_max, testing::AllOf(testing::Gt(0.5), testing::Lt(2)));
}

INSTANTIATE_TEST_SUITE_P(Methods, Cylinder, flow_methods(), [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curlew::test
