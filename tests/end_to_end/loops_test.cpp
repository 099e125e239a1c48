// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// The harmonic fluxes that the exact step finds against the Betti numbers that `curlew mesh info` prints: one
// comes from a dual tree and relations between its generators, the other from counting entities.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/files/read_mesh.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

constexpr const char* square_with_holes = R"(
SetFactory("OpenCASCADE");
Rectangle(1) = {0, 0, 0, 3, 1};
Disk(2) = {1, 0.5, 0, 0.2};
Disk(3) = {2, 0.5, 0, 0.2};
BooleanDifference(4) = { Surface{1}; Delete; }{ Surface{2, 3}; Delete; };
Physical Surface("fluid") = {4};
left() = Curve In BoundingBox {-0.1, -0.1, -1, 0.1, 1.1, 1};
right() = Curve In BoundingBox {2.9, -0.1, -1, 3.1, 1.1, 1};
top() = Curve In BoundingBox {-0.1, 0.9, -1, 3.1, 1.1, 1};
Physical Curve("left") = {left()};
Physical Curve("right") = {right()};
Physical Curve("top") = {top()};
)";

constexpr const char* torus = R"(
SetFactory("OpenCASCADE");
Torus(1) = {0, 0, 0, 1, 0.4};
Physical Volume("fluid") = {1};
)";

constexpr const char* shaft_through_a_box = R"(
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 2, 1, 1};
Cylinder(2) = {-1, 0.5, 0.5, 4, 0, 0, 0.2};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Physical Volume("fluid") = {3};
left() = Surface In BoundingBox {-0.1, -0.1, -0.1, 0.1, 1.1, 1.1};
right() = Surface In BoundingBox {1.9, -0.1, -0.1, 2.1, 1.1, 1.1};
Physical Surface("left") = {left()};
Physical Surface("right") = {right()};
)";

constexpr const char* ball_in_a_box = R"(
SetFactory("OpenCASCADE");
Box(1) = {0, 0, 0, 1, 1, 1};
Sphere(2) = {0.5, 0.5, 0.5, 0.25};
BooleanDifference(3) = { Volume{1}; Delete; }{ Volume{2}; Delete; };
Physical Volume("fluid") = {3};
)";

struct Domain {
  std::string name;
  std::string recipe;  ///< of Gmsh, or a file below cases/
  double size;
  int b1, b2;
  std::vector<std::string> outlets;
  int loops;
  friend void PrintTo(const Domain& domain, std::ostream* out) { *out << domain.name; }
};

/// A field that is not there is known before the steps; of one that is later no longer there the steps stay.
TEST(Streamfunction, around_a_hole_that_fluid_comes_out_of_loses_no_steps) {
  const OutputDirectory folder;
  write_text(folder / "mesh.geo", square_with_holes);
  for (const bool late : {false, true}) {
    write_text(folder / "case.toml", fmt::format(R"TOML([mesh]
file = "mesh.geo"
size = 0.2
[model]
type = "classical-fractional-step"
[fluid]
kinematic_viscosity = 0.1
[time]
end = 0.4
step = 0.1
[initial]
velocity = [0, 0, 0]
[boundary.left]
type = "wall"
[boundary.top]
type = "wall"
[boundary.right]
type = "outlet"
[boundary.unnamed]
type = "inlet"
flow_rate = "{}"
[output]
fields = ["velocity", "streamfunction"]
interval = 0.1
)TOML",
                                                 late ? "t < 0.15 ? 0 : 1" : "0.1"));
    const Outcome run = run_curlew(folder.path(), {"run", "case.toml", "--output", "out", "--quiet"});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.error,
                testing::HasSubstr("case.toml:23: the field 'streamfunction' has no single value"));
    EXPECT_EQ(line_count(folder / "out/residuals.csv"), late ? 2 + 2 : 0);
    EXPECT_EQ(std::filesystem::exists(folder / "out/checkpoint_2.h5"), late);
  }
  // Asked for where the run has ended.
  const auto arguments = [](const char* option, const char* value) {
    return std::vector<std::string>{"run", "case.toml", "--output", "ended", "--quiet", option, value};
  };
  ASSERT_EQ(run_curlew(folder.path(), arguments("--set", "output.fields=[\"velocity\"]")).status, 0);
  const Outcome again = run_curlew(folder.path(), arguments("--restart", "ended"));
  EXPECT_EQ(again.status, 2);
  EXPECT_THAT(again.error,
              testing::HasSubstr("case.toml:23: the field 'streamfunction' has no single value"));
  // By a monitor: at a restart what is there of the earlier run stays, in a step the monitor is named.
  const auto by_monitor = [&](std::vector<std::string> more) {
    std::vector<std::string> all =
        arguments("--set", "monitor.p={type=\"extrema\",fields=[\"streamfunction\"]}");
    all.insert(all.end(), {"--set", "output.fields=[\"velocity\"]"});
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = run_curlew(folder.path(), all);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error,
                testing::StartsWith("error: command line: the field 'streamfunction' has no single value"));
  };
  by_monitor({"--restart", "ended"});
  EXPECT_THAT(read_text(folder / "ended/summary.json"), testing::HasSubstr("\"done\""));
  by_monitor({});
  EXPECT_THAT(read_text(folder / "ended/summary.json"), testing::HasSubstr("\"failed\""));
}

class Loops : public testing::TestWithParam<Domain> {};

TEST_P(Loops, are_as_many_as_the_betti_numbers_say) {
  const Domain& domain = GetParam();
  const OutputDirectory folder;
  std::string file = fmt::format("{}/{}", CURLEW_CASES, domain.recipe);
  if (!domain.recipe.ends_with(".geo")) {
    write_text(folder / "domain.geo", domain.recipe);
    file = folder / "domain.geo";
  }
  const Outcome info =
      run_curlew(folder.path(), {"mesh", "info", file, "--size", fmt::format("{}", domain.size), "--json"});
  ASSERT_EQ(info.status, 0) << info.error;
  const auto betti = nlohmann::json::parse(info.out).at("betti");
  EXPECT_EQ(betti.at("b0"), 1);
  EXPECT_EQ(betti.at("b1"), domain.b1);
  EXPECT_EQ(betti.at("b2"), domain.b2);

  MeshSettings settings_of_mesh;
  settings_of_mesh.file = file;
  settings_of_mesh.size = domain.size;
  const Mesh mesh = read_mesh(settings_of_mesh);
  FlowSettings settings;
  std::size_t outlets = 0;
  for (const Patch& patch : mesh.topology().patches()) {
    const bool opens = std::ranges::count(domain.outlets, patch.name) > 0;
    outlets += opens ? 1 : 0;
    settings.boundaries.push_back(opens ? FlowBoundary(Outlet{}) : FlowBoundary(Wall{}));
  }
  ASSERT_EQ(outlets, domain.outlets.size());
  const ExactFractionalStep flow(Executor::serial(), mesh, settings);
  EXPECT_EQ(flow.loops(), domain.loops);
}

// One for each loop of the domain, and one for each outlet after the first unless a tunnel opens there.
INSTANTIATE_TEST_SUITE_P(
    Domains, Loops,
    testing::Values(
        Domain{"annulus", "couette/triangles.geo", 0.5, 1, 0, {}, 1},
        Domain{"channel_with_cylinder", "cylinder/cylinder_coarse.geo", 0.1, 1, 0, {"outlet"}, 1},
        Domain{"closed_square_with_two_holes", square_with_holes, 0.2, 2, 0, {}, 2},
        Domain{"two_holes_and_one_outlet", square_with_holes, 0.2, 2, 0, {"right"}, 2},
        Domain{"two_holes_and_two_outlets", square_with_holes, 0.2, 2, 0, {"left", "right"}, 3},
        // Neighbours make one opening.
        Domain{"two_holes_and_three_outlets", square_with_holes, 0.2, 2, 0, {"left", "right", "top"}, 2},
        Domain{"torus", torus, 0.35, 1, 0, {}, 1},
        Domain{"shaft_through_a_box", shaft_through_a_box, 0.25, 1, 0, {}, 1},
        // Round the shaft an outlet at either end: the loop round it slides out, a way through comes.
        Domain{"shaft_through_an_open_box", shaft_through_a_box, 0.25, 1, 0, {"left", "right"}, 1},
        Domain{"ball_in_a_box", ball_in_a_box, 0.25, 0, 1, {}, 0},
        Domain{"crankcase", "crankshaft/crankcase.geo", 0.03, 1, 0, {}, 1}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew::test
