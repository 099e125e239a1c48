// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Oil around the crankshaft, on a coarse mesh; crankshaft_flow_slow_test.cpp runs the shipped one.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/cases/flow_cases.hpp"

namespace curlew::test {
namespace {

constexpr double rate = 10;  // rad/s

// Without convection nothing but friction carries angular momentum, and the method loses none of it: a rigid
// rotation is in the space of its velocities. Each number is known but for how far the flow still is from
// steady.
class CreepingOil : public testing::TestWithParam<std::string> {};

TEST_P(CreepingOil, hands_the_torque_on_to_the_case) {
  const char* size = GetParam() == "exact" ? "mesh.size=0.03" : "mesh.size=0.02";
  const FlowRun run(
      GetParam(), "crankshaft/flow",
      {size, "model.convection=\"none\"", "time.courant=1000", "time.max_step=0.05", "time.tolerance=1e-3"});
  const double shaft = run.last("shaft", "mx"), housing = run.last("case", "mx");
  EXPECT_LT(shaft, -0.3);  // N m, against its rotation
  EXPECT_NEAR(housing / shaft, -1, 2e-4);

  const double dissipation = run.last("energy", "dissipation"), power = run.last("energy", "boundary_power");
  EXPECT_NEAR(power / dissipation, 1, 2e-4);
  EXPECT_NEAR(-shaft * rate / power, 1, 2e-3);
}

INSTANTIATE_TEST_SUITE_P(Methods, CreepingOil, flow_methods(), [](const auto& test) { return test.param; });

TEST(CrankshaftFlow, torque_and_power_balance_but_for_what_a_coarse_mesh_leaves) {
  const CaseRun run("crankshaft/flow", {"mesh.size=0.02"});
  const double shaft = run.last("shaft", "mx"), housing = run.last("case", "mx");
  EXPECT_LT(shaft, -0.3);
  EXPECT_NEAR(housing / shaft, -1, 0.02);
  // Incompressible fluid in a closed vessel keeps its momentum: on any mesh, what moves fluid through itself
  // included.
  for (const char* force : {"fx", "fy", "fz"})
    EXPECT_NEAR(run.last("shaft", force) + run.last("case", force), 0, 5e-3) << force;  // N, of 0.1 N each
  const double dissipation = run.last("energy", "dissipation");
  EXPECT_NEAR(run.last("energy", "boundary_power") / dissipation, 1, 0.01);
  EXPECT_NEAR(run.last("energy", "residual") / dissipation, 0, 1e-3);
  // Nothing moves much faster than the wall's fastest point, at the webs' round ends.
  EXPECT_NEAR(run.last("speed", "velocity_magnitude_max") / (rate * 0.078), 1, 0.2);
}

}  // namespace
}  // namespace curlew::test
