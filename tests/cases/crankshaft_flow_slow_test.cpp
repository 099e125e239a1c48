// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Oil around the crankshaft on the shipped mesh, within tighter bands than in crankshaft_flow_test.cpp.
#include <gtest/gtest.h>

#include "tests/cases/flow_cases.hpp"

namespace curlew::test {
namespace {

TEST(FullCrankshaftFlow, torque_and_power_balance) {
  const CaseRun run("crankshaft/flow", {}, 2);
  const double cells = run.summary().at("cells");
  EXPECT_GT(cells, 30000);
  const double shaft = run.last("shaft", "mx"), housing = run.last("case", "mx");
  EXPECT_LT(shaft, -0.3);
  EXPECT_NEAR(housing / shaft, -1, 0.02);
  const double dissipation = run.last("energy", "dissipation");
  EXPECT_NEAR(run.last("energy", "boundary_power") / dissipation, 1, 0.01);
}

TEST(CrankshaftFlowByTheExactStep, torque_and_power_balance_but_for_what_a_coarse_mesh_leaves) {
  const FlowRun run("exact", "crankshaft/flow", {"mesh.size=0.02"}, 2);
  const double shaft = run.last("shaft", "mx"), housing = run.last("case", "mx");
  EXPECT_LT(shaft, -0.3);
  EXPECT_NEAR(housing / shaft, -1, 0.02);
  for (const char* force : {"fx", "fy", "fz"})
    EXPECT_NEAR(run.last("shaft", force) + run.last("case", force), 0, 5e-3) << force;
  const double dissipation = run.last("energy", "dissipation");
  EXPECT_NEAR(run.last("energy", "boundary_power") / dissipation, 1, 0.01);
}

}  // namespace
}  // namespace curlew::test
