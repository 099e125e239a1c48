// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Flow around a cylinder against Schaefer and Turek's benchmark, on finer meshes than in cylinder_test.cpp.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cases/cylinder_benchmark.hpp"
#include "tests/cases/flow_cases.hpp"

namespace curlew::test {
namespace {

TEST(FineCylinder, steady_drag_lift_and_pressure_difference) {
  const CaseRun run("cylinder/steady", {"mesh.file=\"cylinder_fine.geo\""}, 2);
  EXPECT_NEAR(run.last("cylinder", "cx") / steady_drag, 1, 0.005);
  EXPECT_NEAR(run.last("cylinder", "cy") / steady_lift, 1, 0.05);
  EXPECT_NEAR(pressure_difference(run) / steady_pressure_difference, 1, 0.025);
}

TEST(FineCylinder, sheds_vortices) {
  const CaseRun run("cylinder/shedding", {}, 2);
  const Shedding shedding(run, 3.5);
  EXPECT_NEAR(shedding.strouhal / shedding_strouhal, 1, 0.03);
  EXPECT_NEAR(shedding.drag_max / shedding_drag_max, 1, 0.02);
  EXPECT_NEAR(shedding.drag_min / shedding_drag_min, 1, 0.02);
  EXPECT_NEAR(shedding.lift_max / shedding_lift_max, 1, 0.1);
  EXPECT_NEAR(shedding.pressure_difference / shedding_pressure_difference, 1, 0.02);
}

class FineCylinderIn3d : public testing::TestWithParam<std::string> {};

TEST_P(FineCylinderIn3d, steady_drag_lift_and_pressure_difference) {
  const Recipe recipe("cylinder/cylinder_3d", "n = 6;");
  const FlowRun run(GetParam(), "cylinder/steady_3d", {recipe.change()}, 2);
  EXPECT_NEAR(run.last("cylinder", "cx") / drag_in_3d, 1, 0.01);
  EXPECT_NEAR(run.last("cylinder", "cy") / lift_in_3d, 1, 0.13);
  EXPECT_GE(pressure_difference(run), least_pressure_difference_in_3d);
  EXPECT_LE(pressure_difference(run), largest_pressure_difference_in_3d);
}

INSTANTIATE_TEST_SUITE_P(Methods, FineCylinderIn3d, flow_methods(),
                         [](const auto& test) { return test.param; });

// Within the bands of cylinder_test.
TEST(CylinderByTheExactStep, steady_drag_lift_and_pressure_difference) {
  const FlowRun run("exact", "cylinder/steady", {}, 2);
  EXPECT_NEAR(run.last("cylinder", "cx") / steady_drag, 1, 0.025);
  EXPECT_NEAR(run.last("cylinder", "cy") / steady_lift, 1, 0.2);
  EXPECT_NEAR(pressure_difference(run) / steady_pressure_difference, 1, 0.06);
  EXPECT_EQ(run.last("flow", "total"), 0);
}

TEST(CylinderByTheExactStep, sheds_vortices) {
  const FlowRun run("exact", "cylinder/shedding", {}, 2);
  const Shedding shedding(run, 3.5);
  EXPECT_NEAR(shedding.strouhal / shedding_strouhal, 1, 0.03);
  EXPECT_NEAR(shedding.drag_max / shedding_drag_max, 1, 0.02);
  EXPECT_NEAR(shedding.drag_min / shedding_drag_min, 1, 0.02);
  EXPECT_NEAR(shedding.lift_max / shedding_lift_max, 1, 0.1);
  EXPECT_NEAR(shedding.pressure_difference / shedding_pressure_difference, 1, 0.02);
}

}  // namespace
}  // namespace curlew::test
