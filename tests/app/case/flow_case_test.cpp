// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/flow_case.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "app/case/flow_doubts.hpp"
#include "mesh/box.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string minimal = R"([model]
type = "classical-fractional-step"
[mesh]
file = "slab.msh"
[fluid]
kinematic_viscosity = 0.01
[time]
end = 1
step = 0.1
[initial]
velocity = [0, 0, 0]
)";

FlowCase read(const std::string& text, std::vector<std::string> overrides = {},
              const std::filesystem::path& folder = CURLEW_ERRORS_DIRECTORY) {
  Diagnostics diagnostics;
  const CaseFile file(text, "cases/cavity.toml", overrides, diagnostics);
  FlowCase flow_case = read_flow_case(file, {"cases/cavity.toml", 1}, folder, diagnostics);
  diagnostics.throw_if_any();
  return flow_case;
}

Vector3 value(const VectorFunctionPointer& function, Vector3 point, Real time) {
  Vector3 result;
  function->evaluate(std::span(&point, 1), time, std::span(&result, 1));
  return result;
}

Real value(const FunctionPointer& function, Vector3 point, Real time) {
  Real result = NAN;
  function->evaluate(std::span(&point, 1), time, std::span(&result, 1));
  return result;
}

template <class T>
const T& condition(const FlowCase& flow_case, std::size_t i) {
  return std::get<T>(flow_case.boundaries.at(i).condition);
}

std::vector<std::string> names(const std::vector<FieldDescription>& fields) {
  std::vector<std::string> result;
  for (const FieldDescription& field : fields) result.push_back(field.name);
  return result;
}

TEST(FlowCase, HasDefaults) {
  const FlowCase flow_case = read(minimal);
  EXPECT_EQ(flow_case.name, "cavity");
  EXPECT_EQ(flow_case.method, FlowMethod::ClassicalFractionalStep);
  EXPECT_EQ(flow_case.flow.viscosity, 0.01);
  EXPECT_EQ(flow_case.flow.density, 1);
  EXPECT_FALSE(flow_case.flow.body_force);
  EXPECT_FALSE(flow_case.flow.mean_flow);
  EXPECT_EQ(flow_case.flow.convection, ConvectionScheme::Central);
  EXPECT_EQ(flow_case.flow.scheme, FlowScheme::Sbdf2);
  EXPECT_FALSE(flow_case.initial_velocity);  // zero throughout
  EXPECT_FALSE(flow_case.initial_file);
  EXPECT_EQ(flow_case.time.step, 0.1);
  EXPECT_FALSE(flow_case.time.courant || flow_case.time.max_step);
  const FlowSettings defaults;
  EXPECT_EQ(flow_case.flow.pressure.relative_tolerance, defaults.pressure.relative_tolerance);
  EXPECT_EQ(flow_case.flow.momentum.max_iterations, defaults.momentum.max_iterations);
  EXPECT_EQ(flow_case.flow.pressure_preconditioning, Preconditioning::Multigrid);
  EXPECT_THAT(names(flow_case.output.fields), ElementsAre("velocity", "pressure"));
}

TEST(FlowCase, ReadsEverySection) {
  const FlowCase flow_case = read(R"TOML([model]
type = "classical-fractional-step"
convection = "blended"
blend = 0.25
scheme = "ssp-rk3"
[mesh]
file = "slab.msh"
[fluid]
kinematic_viscosity = 1e-6
density = 1000
body_force = ["x + t", 0, -9.81]
mean_flow = { direction = [2, 0, 0], velocity = 0.5 }
[time]
start = 1
end = 2
courant = 0.8
step = 1e-3
max_step = 0.01
[initial]
velocity = ["1 - y^2", 0, "t"]
[solver.momentum]
tolerance = 1e-5
preconditioner = "none"
[solver.pressure]
tolerance = 1e-6
max_iterations = 70
[output]
fields = ["vorticity", "y_plus"]
checkpoint = 5
[monitor.drag]
type = "forces"
patches = ["cylinder"]
velocity = 1
area = 0.1
[monitor.budget]
type = "energy"
[monitor.mean]
type = "time-average"
fields = ["velocity", "pressure"]
[boundary.cylinder]
type = "wall"
[boundary.west]
type = "periodic"
partner = "east"
)TOML");
  const FlowSettings& flow = flow_case.flow;
  EXPECT_EQ(flow.convection, ConvectionScheme::Blended);
  EXPECT_EQ(flow.blend, 0.25);
  EXPECT_EQ(flow.scheme, FlowScheme::SspRk3);
  EXPECT_EQ(flow.viscosity, 1e-6);
  EXPECT_EQ(flow.density, 1000);
  EXPECT_EQ(value(flow.body_force, {3, 0, 0}, 4), (Vector3{7, 0, -9.81}));
  EXPECT_TRUE(flow.body_force->depends_on_time());
  EXPECT_EQ(flow.mean_flow->direction, (Vector3{2, 0, 0}));
  EXPECT_EQ(flow.mean_flow->velocity, 0.5);
  EXPECT_EQ(flow_case.time.start, 1);
  EXPECT_EQ(flow_case.time.end, 2);
  EXPECT_EQ(flow_case.time.courant, 0.8);
  EXPECT_EQ(flow_case.time.step, 1e-3);
  EXPECT_EQ(flow_case.time.max_step, 0.01);
  EXPECT_EQ(value(flow_case.initial_velocity, {0, 0.5, 0}, 3), (Vector3{0.75, 0, 3}));
  EXPECT_EQ(flow.momentum.relative_tolerance, 1e-5);
  EXPECT_EQ(flow_case.flow.momentum_preconditioning, Preconditioning::None);
  EXPECT_EQ(flow.pressure.relative_tolerance, 1e-6);
  EXPECT_EQ(flow.pressure.max_iterations, 70);
  EXPECT_EQ(flow_case.flow.pressure_preconditioning, Preconditioning::Multigrid);
  EXPECT_THAT(names(flow_case.output.fields), ElementsAre("vorticity", "y_plus"));
  ASSERT_EQ(flow_case.monitors.size(), 3u);
  EXPECT_EQ(std::get<ForcesSettings>(flow_case.monitors[0].what).reference->area, 0.1);
  EXPECT_TRUE(std::holds_alternative<EnergySettings>(flow_case.monitors[1].what));
  EXPECT_EQ(std::get<TimeAverageSettings>(flow_case.monitors[2].what).fields.size(), 2u);
}

TEST(FlowCase, ReadsNamesInTheOrderOfTheirValues) {
  const std::vector<std::pair<std::string, ConvectionScheme>> convections = {
      {"central", ConvectionScheme::Central},
      {"upwind", ConvectionScheme::Upwind},
      {"blended", ConvectionScheme::Blended},
      {"linear-upwind", ConvectionScheme::LinearUpwind},
      {"none", ConvectionScheme::None}};
  for (const auto& [name, convection] : convections) {
    EXPECT_EQ(read(minimal, {"model.convection=" + name}).flow.convection, convection) << name;
  }
  const std::vector<std::pair<std::string, FlowScheme>> schemes = {
      {"sbdf2", FlowScheme::Sbdf2},    {"crank-nicolson-ab2", FlowScheme::CrankNicolsonAb2},
      {"euler", FlowScheme::Euler},    {"ssp-rk2", FlowScheme::SspRk2},
      {"ssp-rk3", FlowScheme::SspRk3}, {"ssp-rk4", FlowScheme::SspRk4}};
  for (const auto& [name, scheme] : schemes) {
    EXPECT_EQ(read(minimal, {"model.scheme=" + name}).flow.scheme, scheme) << name;
  }
}

TEST(FlowCase, ReadsEveryBoundary) {
  const FlowCase flow_case = read(minimal + R"TOML([boundary.still]
type = "wall"
[boundary.lid]
type = "wall"
velocity = [1, 0, 0]
[boundary.shaft]
type = "wall"
rotation = { origin = [1, 0, 0], axis = [0, 0, 2], rate = "10*t" }
[boundary.profile]
type = "inlet"
velocity = ["4*y*(1 - y)", 0, 0]
[boundary.pump]
type = "inlet"
flow_rate = 0.25
[boundary.closed]
type = "inlet"
velocity = [0, 0, 0]
[boundary.out]
type = "outlet"
[boundary.pressed]
type = "outlet"
pressure = "100*x"
[boundary.middle]
type = "symmetry"
[boundary.front]
type = "periodic"
partner = "back"
[boundary.back]
type = "periodic"
partner = "front"
[boundary.west]
type = "periodic"
partner = "east"
)TOML");
  EXPECT_FALSE(condition<Wall>(flow_case, 0).velocity);
  EXPECT_FALSE(condition<Wall>(flow_case, 0).rotation);
  EXPECT_EQ(value(condition<Wall>(flow_case, 1).velocity, {}, 0), (Vector3{1, 0, 0}));
  const Wall& shaft = condition<Wall>(flow_case, 2);
  EXPECT_FALSE(shaft.velocity);
  // Turning by 20 rad/s about z through (1, 0): 2 m beside the axis it moves at 40 m/s.
  EXPECT_EQ(value(std::make_shared<RotationVelocity>(*shaft.rotation), {3, 0, 5}, 2), (Vector3{0, 40, 0}));
  EXPECT_EQ(value(condition<Inlet>(flow_case, 3).velocity, {0, 0.5, 0}, 0), (Vector3{1, 0, 0}));
  EXPECT_FALSE(condition<Inlet>(flow_case, 3).flow_rate);
  EXPECT_FALSE(condition<Inlet>(flow_case, 4).velocity);
  EXPECT_EQ(value(condition<Inlet>(flow_case, 4).flow_rate, {}, 0), 0.25);
  EXPECT_TRUE(condition<Inlet>(flow_case, 5).velocity) << "or flow_rate would be needed";
  EXPECT_EQ(value(condition<Outlet>(flow_case, 6).pressure, {7, 0, 0}, 0), 0);
  EXPECT_EQ(value(condition<Outlet>(flow_case, 7).pressure, {7, 0, 0}, 0), 700);
  EXPECT_TRUE(std::holds_alternative<Symmetry>(flow_case.boundaries.at(8).condition));
  const auto pairs = periodic_pairs(flow_case);
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0][0].name + " " + pairs[0][1].name, "front back");
  EXPECT_EQ(pairs[1][0].name + " " + pairs[1][1].name, "west east");
}

TEST(FlowCase, ReadsInletsFromTables) {
  OutputDirectory folder;
  write_text(folder / "slab.msh", "");
  write_text(folder / "profile.csv", "y,velocity_z,velocity_x,velocity_y\n0,3,1,2\n1,6,2,4\n");
  write_text(folder / "pump.csv", "t,flow_rate\n0,0\n2,1\n");
  const FlowCase flow_case = read(minimal + R"TOML([boundary.profile]
type = "inlet"
table = "profile.csv"
[boundary.pump]
type = "inlet"
table = "pump.csv"
)TOML",
                                  {}, folder.path());
  const Inlet& profile = condition<Inlet>(flow_case, 0);
  EXPECT_FALSE(profile.flow_rate);
  EXPECT_FALSE(profile.velocity->depends_on_time());
  EXPECT_EQ(value(profile.velocity, {0, 0.5, 0}, 0), (Vector3{1.5, 3, 4.5}));
  const Inlet& pump = condition<Inlet>(flow_case, 1);
  EXPECT_FALSE(pump.velocity);
  EXPECT_TRUE(pump.flow_rate->depends_on_time());
  EXPECT_EQ(value(pump.flow_rate, {}, 1), 0.5);
}

TEST(FlowCase, SteadyRunsEndByAQuantity) {
  const std::string steady = R"([model]
type = "classical-fractional-step"
[mesh]
file = "slab.msh"
[fluid]
kinematic_viscosity = 0.01
[time]
steady = true
step = 0.1
[monitor.drag]
type = "forces"
patches = ["lid"]
every = 5
[boundary.lid]
type = "wall"
)";
  EXPECT_TRUE(read(steady).time.steady);
  EXPECT_EQ(read(steady).time.quantity, "velocity");
  EXPECT_EQ(read(steady).monitors.at(0).schedule.every, 5)
      << "it runs through time, and schedules mean something";
  const FlowCase other = read(steady, {"time.quantity=drag.fx", "time.tolerance=1e-4", "time.max_steps=50",
                                       "initial.velocity=[1,0,0]"});
  EXPECT_EQ(other.time.quantity, "drag.fx");
  EXPECT_EQ(other.time.tolerance, 1e-4);
  EXPECT_EQ(other.time.max_steps, 50);
  // So that what solves leave is less than what is to be calm.
  EXPECT_DOUBLE_EQ(read(steady).flow.pressure.relative_tolerance, 0.01 * 1e-6 * 0.1);
  const FlowCase short_steps = read(steady, {"time.step=1e-9", "model.type=\"exact-fractional-step\""});
  EXPECT_DOUBLE_EQ(short_steps.flow.momentum.relative_tolerance, 1e-10);
  EXPECT_EQ(short_steps.flow.streamfunction.relative_tolerance, 1e-8);
  EXPECT_EQ(other.flow.pressure.relative_tolerance, 1e-8);
  EXPECT_EQ(read(steady, {"solver.pressure.tolerance=1e-6"}).flow.pressure.relative_tolerance, 1e-6);
  EXPECT_EQ(value(other.initial_velocity, {}, 0), (Vector3{1, 0, 0}));
}

TEST(FlowCase, StartsFromAFile) {
  OutputDirectory folder;
  write_text(folder / "slab.msh", "");
  write_text(folder / "checkpoint_7.h5", "");
  const std::string text = minimal.substr(0, minimal.find("velocity = [")) + "file = \"checkpoint_7.h5\"\n";
  EXPECT_EQ(read(text, {}, folder.path()).initial_file, folder / "checkpoint_7.h5");
}

TEST(FlowCase, TheDocumentedExampleIsRight) {
  const std::filesystem::path errors = CURLEW_ERRORS_DIRECTORY;
  const std::string text = read_text(errors.parent_path().parent_path() / "docs" / "case-file.md");
  const std::string opening = "```toml\n";
  const std::size_t begin = text.find(opening) + opening.size();
  const FlowCase flow_case =
      read(text.substr(begin, text.find("```", begin) - begin), {"mesh.file=slab.msh"});
  EXPECT_EQ(flow_case.name, "channel");
  EXPECT_EQ(flow_case.boundaries.size(), 4u);
}

TEST(FlowCase, IsNotReadFromAHeatCase) {
  EXPECT_THAT(message_of<InputErrors>([] { read(minimal, {"model.type=heat-diffusion"}); }),
              HasSubstr("is no model of a flow; valid models: classical-fractional-step"));
}

TEST(FlowCase, SomeThingsAreWrongInTwoDimensionsAndSomeInThree) {
  const FlowCase flow_case =
      read(minimal, {"fluid.body_force=[0,0,1]", "output.fields=[\"streamfunction\"]"});
  for (const auto& [dimension, fragment] :
       {std::pair(2, "z component of body_force"), std::pair(3, "streamfunction")}) {
    Diagnostics diagnostics;
    check_against_mesh(flow_case, dimension, {}, {}, diagnostics);
    ASSERT_EQ(diagnostics.sorted().size(), 1u);
    EXPECT_THAT(diagnostics.sorted()[0].message, HasSubstr(fragment));
  }
}

TEST(FlowCase, GivesEveryPatchOfTheMeshItsCondition) {
  const Mesh mesh(make_box(CellType::Triangle, {2, 2, 1}));
  const FlowCase flow_case = read(minimal + R"TOML([boundary.top]
type = "wall"
velocity = [3, 0, 0]
[boundary.right]
type = "outlet"
[boundary.left]
type = "inlet"
velocity = [1, 0, 0]
[boundary.bottom]
type = "symmetry"
)TOML",
                                  {"fluid.density=7"});
  const FlowSettings settings = flow_settings(flow_case, mesh);
  EXPECT_EQ(settings.density, 7);
  const auto& patches = mesh.topology().patches();
  ASSERT_EQ(settings.boundaries.size(), 4u);
  for (std::size_t i = 0; i < 4; ++i) {
    const FlowBoundary& boundary = settings.boundaries[i];
    if (patches[i].name == "top") {
      EXPECT_EQ(value(std::get<Wall>(boundary).velocity, {}, 0).x, 3);
    } else if (patches[i].name == "right") {
      EXPECT_TRUE(std::holds_alternative<Outlet>(boundary));
    } else if (patches[i].name == "left") {
      EXPECT_EQ(value(std::get<Inlet>(boundary).velocity, {}, 0).x, 1);
    } else {
      EXPECT_TRUE(std::holds_alternative<Symmetry>(boundary));
    }
  }
  EXPECT_THROW(flow_settings(read(minimal), mesh), Error);
  const std::string periodic = "[boundary.left]\ntype = \"periodic\"\npartner = \"right\"\n";
  EXPECT_THROW(flow_settings(read(minimal + periodic), mesh), Error);
}

TEST(FlowCase, CurvedPatchesOfTypeSymmetryAreDoubtful) {
  RawMesh raw = make_box(CellType::Quadrilateral, {20, 2, 1});
  for (Vector3& x : raw.nodes) x = {(2 - x.y) * std::cos(x.x), (2 - x.y) * std::sin(x.x), 0};
  const Mesh mesh(std::move(raw));
  FlowCase flow_case;
  for (const char* name : {"left", "bottom"})
    flow_case.boundaries.push_back({{name, {"case.toml", 7}}, Symmetry{}});
  flow_case.boundaries.push_back({{"top", {"case.toml", 9}}, Wall{}});
  EXPECT_THAT(doubts_about_symmetry(flow_case, mesh),
              testing::ElementsAre(testing::StartsWith(
                  "case.toml:7: the patch \"bottom\" of type \"symmetry\" is not plane")));
}

TEST(FlowCase, WallsThatFluidPassesThroughAreDoubtful) {
  RawMesh raw = make_box(CellType::Tetrahedron, {16, 2, 2});
  for (Vector3& x : raw.nodes) x = {(2 - x.y) * std::cos(6 * x.x), (2 - x.y) * std::sin(6 * x.x), x.z};
  const Mesh mesh(std::move(raw));
  const auto wall = [](const char* name, int line, const char* x, const char* y, const char* z) {
    std::array<FunctionPointer, 3> parts;
    for (std::size_t k = 0; k < 3; ++k) parts[k] = std::make_shared<const Expression>(std::array{x, y, z}[k]);
    return FlowBoundarySettings{{name, {"case.toml", line}},
                                Wall{std::make_shared<const ComponentVector>(std::move(parts)), {}}};
  };
  FlowCase flow_case;
  flow_case.time.step = 0.1;
  flow_case.boundaries = {wall("bottom", 3, "-y", "x", "1"),  // turns and slides, on flat triangles
                          wall("top", 4, "x", "y", "0"), wall("back", 5, "0", "0", "t > 0.05 ? -1 : 0"),
                          wall("front", 6, "0", "0", "0"), wall("left", 7, "1/t", "0", "0")};
  EXPECT_THAT(doubts_about_walls(flow_case, mesh),
              testing::ElementsAre(
                  testing::StartsWith("case.toml:4: fluid passes through the patch \"top\" of type \"wall\""),
                  testing::StartsWith("case.toml:5: ")));

  // About its own axis, and about another one.
  const auto turning = [](const char* name, int line, Vector3 origin) {
    const auto rate = std::make_shared<const Expression>(std::string("2"));
    return FlowBoundarySettings{{name, {"case.toml", line}},
                                Wall{nullptr, RigidRotation{origin, {0, 0, 1}, rate}}};
  };
  flow_case.boundaries = {turning("bottom", 8, {}), turning("top", 9, {1, 0, 0})};
  EXPECT_THAT(doubts_about_walls(flow_case, mesh),
              testing::ElementsAre(testing::AllOf(testing::StartsWith("case.toml:9: fluid passes"),
                                                  testing::HasSubstr("does not turn within itself"))));
}

}  // namespace
}  // namespace curlew::test
