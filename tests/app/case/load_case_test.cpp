// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/load_case.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <thread>

#include "app/files/mesh_file.hpp"
#include "app/simulation/heat_simulation.hpp"
#include "mesh/box.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* steady_case = R"([mesh]
file = "box.h5"
[model]
type = "heat-diffusion"
[time]
steady = true
[material.box]
conductivity = 2.5
[boundary.right]
type = "temperature"
value = "x + 2*y"
[boundary.left]
type = "insulated"
[boundary.bottom]
type = "heat-flux"
value = 3
[boundary.top]
type = "convection"
coefficient = 4
ambient = 5
)";

/// A flow between walls at the bottom and the top.
std::string flow_between(const std::string& left, const std::string& right) {
  return R"([mesh]
file = "box.h5"
[model]
type = "classical-fractional-step"
[fluid]
kinematic_viscosity = 0.1
[time]
start = 1
end = 2
step = 0.1
[initial]
velocity = [0, 0, 0]
[boundary.bottom]
type = "wall"
[boundary.top]
type = "wall"
[boundary.left]
)" + left +
         "\n[boundary.right]\n" + right + "\n";
}

/// A folder with a case on a mesh of eight triangles.
struct LoadCase : testing::Test {
  LoadCase() {
    write_mesh_file(folder / "box.h5", make_box(CellType::Triangle, {2, 2, 1}));
    write_text(folder / "case.toml", steady_case);
  }
  /// Everything reported for the case, a line each.
  std::vector<std::string> errors_with(std::vector<std::string> overrides) {
    std::vector<std::string> lines;
    try {
      load_case(folder / "case.toml", overrides);
    } catch (const InputErrors& errors) {
      for (const Diagnostic& diagnostic : errors.diagnostics()) lines.push_back(diagnostic.text());
    }
    return lines;
  }

  const OutputDirectory folder;
};

TEST_F(LoadCase, conditions_follow_the_order_of_the_patches) {
  const LoadedCase loaded = load_case(folder / "case.toml", {});
  const HeatSettings settings = heat_settings(std::get<HeatCase>(loaded.settings), *loaded.mesh);
  ASSERT_EQ(settings.materials.size(), 1u);
  EXPECT_EQ(settings.materials[0].conductivity, 2.5);
  const auto& patches = loaded.mesh->topology().patches();
  ASSERT_EQ(settings.boundaries.size(), patches.size());
  for (std::size_t p = 0; p < patches.size(); ++p) {
    const HeatBoundary& boundary = settings.boundaries[p];
    const std::string& name = patches[p].name;
    EXPECT_EQ(std::holds_alternative<FixedTemperature>(boundary), name == "right") << name;
    EXPECT_EQ(std::holds_alternative<Insulated>(boundary), name == "left") << name;
    EXPECT_EQ(std::holds_alternative<HeatFlux>(boundary), name == "bottom") << name;
    EXPECT_EQ(std::holds_alternative<Convection>(boundary), name == "top") << name;
  }
}

TEST_F(LoadCase, reports_errors_of_the_case_and_against_the_mesh_together) {
  EXPECT_THAT(errors_with({"boundary.rigt.type=\"insulated\"", "material.bax.conductivity=1",
                           "solver.temperature.tolerance=2"}),
              testing::UnorderedElementsAre(AllOf(HasSubstr("no patch \"rigt\""), HasSubstr("right")),
                                            AllOf(HasSubstr("no region \"bax\""), HasSubstr("box")),
                                            HasSubstr("tolerance of [solver.temperature]")));
}

TEST_F(LoadCase, a_mesh_that_cannot_be_read_is_one_error_beside_those_of_the_case) {
  write_text(folder / "box.h5", "no mesh");
  const std::string place = fmt::format("{}:2: ", (folder / "case.toml").string());
  EXPECT_THAT(errors_with({"output.fields=\"foo\""}),
              testing::UnorderedElementsAre(AllOf(HasSubstr(place), HasSubstr("box.h5")), HasSubstr("foo")));
  EXPECT_THAT(errors_with({"mesh.file=\"nowhere.h5\""}), ElementsAre(HasSubstr("nowhere.h5 does not exist")));
}

TEST_F(LoadCase, looks_at_the_output_directory_unless_another_one_takes_its_place) {
  const std::vector<std::string> overrides{"output.directory=\"box.h5\""};
  EXPECT_THAT(errors_with(overrides), ElementsAre(AllOf(HasSubstr("command line: the output directory"),
                                                        HasSubstr("exists and is not a directory"))));
  EXPECT_NO_THROW(load_case(folder / "case.toml", overrides, one_rank(), folder / "other"));
  EXPECT_THAT(
      message_of<InputErrors>([&] { load_case(folder / "case.toml", {}, one_rank(), folder / "box.h5"); }),
      AllOf(HasSubstr("command line: the output directory"), HasSubstr("is not a directory")));
}

constexpr const char* flow_case = R"([mesh]
file = "box.h5"
[model]
type = "classical-fractional-step"
[fluid]
kinematic_viscosity = 0.1
[time]
end = 1
step = 0.1
[initial]
velocity = [0, 0, 0]
)";

TEST_F(LoadCase, says_which_pair_of_periodic_patches_does_not_match) {
  RawMesh box = make_box(CellType::Triangle, {2, 2, 1});
  for (Vector3& x : box.nodes)
    if (x.y == 1 && x.x == 0.5) x.x = 0.6;
  write_mesh_file(folder / "box.h5", box);
  write_text(folder / "case.toml", std::string(flow_case) + R"([boundary.left]
type = "periodic"
partner = "right"
[boundary.bottom]
type = "periodic"
partner = "top"
)");
  EXPECT_THAT(errors_with({}), ElementsAre(AllOf(HasSubstr("case.toml:15: "), HasSubstr("bottom"))));
}

TEST_F(LoadCase, faces_have_the_same_numbers_however_periodic_patches_are_named) {
  const auto faces_with = [&](const std::string& pairs) {
    write_text(folder / "case.toml", flow_case + pairs);
    const LoadedCase loaded = load_case(folder / "case.toml", {});
    const Topology& topology = loaded.mesh->topology();
    EXPECT_EQ(topology.periodic_faces().size(), 4);
    std::vector<std::pair<Index, Vector3>> faces;
    for (const Id<Face> f : topology.faces())
      faces.emplace_back(topology.cells_of_face()[f][0].id.value(),
                         loaded.mesh->geometry().face_areas()[at(f.value())]);
    return faces;
  };
  const auto pair = [](const std::string& first, const std::string& second) {
    return "[boundary." + first + "]\ntype = \"periodic\"\npartner = \"" + second + "\"\n";
  };
  const auto expected = faces_with(pair("left", "right") + pair("bottom", "top"));
  EXPECT_EQ(faces_with(pair("bottom", "top") + pair("left", "right")), expected);
  EXPECT_EQ(faces_with(pair("right", "left") + pair("bottom", "top")), expected);
  EXPECT_EQ(faces_with(pair("top", "bottom") + pair("right", "left")), expected);
}

TEST_F(LoadCase, a_mean_flow_goes_from_one_outlet_to_another) {
  write_text(folder / "case.toml", std::string(flow_case) + R"([boundary.left]
type = "outlet"
[boundary.right]
type = "outlet"
[boundary.bottom]
type = "wall"
[boundary.top]
type = "wall"
)");
  const std::string mean_flow = "fluid.mean_flow={direction=[1,0,0],velocity=1}";
  EXPECT_THAT(errors_with({mean_flow}), testing::IsEmpty());
  EXPECT_THAT(errors_with({mean_flow, "boundary.right={type=\"wall\"}"}),
              ElementsAre(HasSubstr("drives a flow through periodic patches or from one outlet to another")));
}

TEST_F(LoadCase, watches_columns_whose_names_have_points) {
  RawMesh box = make_box(CellType::Triangle, {2, 2, 1});
  for (std::string& patch : box.patch_names)
    if (patch == "top") patch = "to.p";
  write_mesh_file(folder / "box.h5", box);
  write_text(folder / "case.toml", std::string(flow_case) + R"([boundary.left]
type = "inlet"
velocity = [1, 0, 0]
[boundary.right]
type = "outlet"
[boundary.bottom]
type = "wall"
[boundary."to.p"]
type = "outlet"
[monitor.q]
type = "flux"
patches = ["right", "to.p"]
)");
  const auto watching = [&](const std::string& quantity) {
    return errors_with({"time={steady=true, step=0.1, quantity=\"" + quantity + "\"}"});
  };
  EXPECT_THAT(watching("q.to.p"), testing::IsEmpty());
  EXPECT_THAT(watching("q.right"), testing::IsEmpty());
  EXPECT_THAT(watching("q.to"),
              ElementsAre(AllOf(HasSubstr("no monitor writes \"q.to\""), HasSubstr("q.to.p"))));
}

TEST_F(LoadCase, does_not_let_a_run_replace_the_tables_that_it_reads) {
  write_text(folder / "in.csv", "t,flow_rate\n0,1\n1,1\n");
  write_text(folder / "case.toml", std::string(flow_case) + R"([boundary.left]
type = "inlet"
table = "in.csv"
[boundary.right]
type = "outlet"
[boundary.bottom]
type = "wall"
[boundary.top]
type = "wall"
[output]
directory = "."
)");
  const std::string flux = ".type=\"flux\"", patches = ".patches=[\"left\"]";
  EXPECT_THAT(errors_with({"monitor.out" + flux, "monitor.out" + patches}), testing::IsEmpty());
  const std::vector<std::string> over_it{"monitor.in" + flux, "monitor.in" + patches};
  EXPECT_THAT(errors_with(over_it),
              ElementsAre(AllOf(HasSubstr("monitor \"in\" writes"), HasSubstr("in.csv"))));
  EXPECT_NO_THROW(load_case(folder / "case.toml", over_it, one_rank(), folder / "other"));
  // A line writes NAME_<step>.csv.
  for (const auto& [table, is_written] : {std::pair("left_profile.csv", false), {"left_20.csv", true}}) {
    write_text(folder / table, "t,flow_rate\n0,1\n1,1\n");
    const auto errors = errors_with({fmt::format("boundary.left={{type=\"inlet\", table=\"{}\"}}", table),
                                     "monitor.left={type=\"line\", from=[0,0.5,0], to=[1,0.5,0], points=3}"});
    EXPECT_EQ(errors.size(), is_written ? 1u : 0u) << table;
  }
}

TEST_F(LoadCase, values_show_that_there_is_no_steady_state) {
  const auto message = [&](const std::string& right, const std::string& bottom) {
    std::string text = steady_case;
    text = text.substr(0, text.find("[boundary.right]"));
    for (const char* patch : {"left", "top"})
      text += fmt::format("[boundary.{}]\ntype = \"insulated\"\n", patch);
    text += "[boundary.right]\n" + right + "\n[boundary.bottom]\n" + bottom + "\n";
    text += "[initial]\ntemperature = 0\n";
    write_text(folder / "case.toml", text);
    const LoadedCase loaded = load_case(folder / "case.toml", {});
    return message_of<InputErrors>([&] { check_values(loaded); });
  };
  const std::string insulated = "type = \"insulated\"", flux = "type = \"heat-flux\"\nvalue = ";
  EXPECT_THAT(
      message(insulated, flux + "3"),
      AllOf(HasSubstr("case.toml:6: there is no steady state: 3 W/m enter"), HasSubstr("run in time")));
  EXPECT_THAT(message(insulated, flux + "-3"), HasSubstr("there is no steady state: 3 W/m leave"));
  EXPECT_EQ(message(insulated, insulated), "");
  EXPECT_EQ(message(flux + "-3", flux + "3"), "");
  EXPECT_EQ(message("type = \"temperature\"\nvalue = 1", flux + "3"), "");
  EXPECT_EQ(message("type = \"convection\"\ncoefficient = 1\nambient = 0", flux + "3"), "");
  EXPECT_THAT(message("type = \"convection\"\ncoefficient = 0\nambient = 0", flux + "3"),
              HasSubstr("no steady state"));
  EXPECT_THAT(message("type = \"convection\"\ncoefficient = \"-y\"\nambient = 0", flux + "3"),
              HasSubstr("must not be negative"));
  EXPECT_THAT(message("type = \"temperature\"\nvalue = \"log(0.5 - y)\"", flux + "3"),
              HasSubstr("a finite number is needed"));
}

TEST_F(LoadCase, cells_that_a_run_refuses_are_refused) {
  const auto message = [&](const RawMesh& mesh) {
    write_mesh_file(folder / "box.h5", mesh);
    const LoadedCase loaded = load_case(folder / "case.toml", {});
    const std::string checked = message_of<InputErrors>([&] { check_values(loaded); });
    EXPECT_EQ(message_of<InputError>([&] { make_simulation(Executor::serial(), loaded); }).empty(),
              checked.empty());
    return checked;
  };
  for (const CellType type : {CellType::Quadrilateral, CellType::Triangle}) {
    EXPECT_EQ(message(make_box(type, {2, 2, 1}, {1, 1e-7, 1})), "");
    const std::string flat = message(make_box(type, {2, 2, 1}, {1, 1e-9, 1}));
    EXPECT_EQ(flat.empty(), type == CellType::Triangle);
    EXPECT_EQ(flat.find("is 1.0e+09 times as long as high: too flat") != std::string::npos,
              type == CellType::Quadrilateral);
  }

  write_text(folder / "case.toml", flow_between("type = \"wall\"", "type = \"wall\""));
  RawMesh box = make_box(CellType::Quadrilateral, {2, 2, 1});
  EXPECT_EQ(message(box), "");
  for (Vector3& x : box.nodes)
    if (x == Vector3{0.5, 0.5, 0}) x = {0.92, 0.92, 0};
  EXPECT_THAT(message(box), HasSubstr("flow needs star-shaped cells"));
}

TEST_F(LoadCase, a_steady_state_that_is_known_but_for_its_mean_needs_one) {
  const std::string no_flux = "boundary.bottom.value=0", no_exchange = "boundary.top.coefficient=0",
                    initial = "initial.temperature=3";
  // The message of `curlew check`, and of a run.
  const auto messages = [&](std::vector<std::string> overrides) {
    const LoadedCase loaded = load_case(folder / "case.toml", overrides);
    const auto simulation = make_simulation(Executor::serial(), loaded);
    return std::pair(message_of<InputErrors>([&] { check_values(loaded); }),
                     message_of<InputErrors>([&] { simulation->start(); }));
  };
  std::string text = steady_case;
  const std::string held = "type = \"temperature\"\nvalue = \"x + 2*y\"\n";
  write_text(folder / "case.toml", text.replace(text.find(held), held.size(), "type = \"insulated\"\n"));
  const auto [checked, run] = messages({no_flux, no_exchange});
  EXPECT_THAT(checked,
              AllOf(HasSubstr("case.toml:6: a part of the domain"), HasSubstr("known but for its mean")));
  EXPECT_EQ(run, checked);
  EXPECT_EQ(messages({no_flux, no_exchange, initial}), std::pair(std::string(), std::string()));
  EXPECT_EQ(messages({no_flux}), std::pair(std::string(), std::string()));
}

TEST_F(LoadCase, values_show_a_net_flow_into_a_closed_domain) {
  const auto message = [&](const std::string& left, const std::string& right) {
    write_text(folder / "case.toml", flow_between(left, right));
    const LoadedCase loaded = load_case(folder / "case.toml", {});
    return message_of<InputErrors>([&] { check_values(loaded); });
  };
  const std::string wall = "type = \"wall\"", inlet = "type = \"inlet\"\n";
  EXPECT_THAT(message(inlet + "flow_rate = 2", wall),
              AllOf(HasSubstr("case.toml:17: 2 m2/s enter a closed part"), HasSubstr("type \"outlet\"")));
  EXPECT_THAT(message(inlet + "velocity = [\"-t\", 0, 0]", wall), HasSubstr("1 m2/s leave a closed part"));
  EXPECT_EQ(message(inlet + "velocity = [\"min(t, 1)\", 0, 0]", inlet + "velocity = [1, 0, 0]"), "");
  EXPECT_THAT(message(inlet + "velocity = [\"t\", 0, 0]", inlet + "velocity = [1, 0, 0]"),
              HasSubstr("0.1 m2/s enter a closed part of the domain through its boundary at t = 1.1 s"));
  EXPECT_EQ(message(inlet + "flow_rate = 2", "type = \"outlet\""), "");
  EXPECT_EQ(message(wall, wall), "");
  EXPECT_THAT(message(inlet + "flow_rate = \"0.5 - t\"", "type = \"outlet\""),
              AllOf(HasSubstr("case.toml:19: the flow_rate"), HasSubstr("must not be negative")));
}

TEST_F(LoadCase, reads_a_case_once) {
  const std::filesystem::path pipe = folder / "pipe.toml";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { write_text(pipe, steady_case); });
  const LoadedCase loaded = load_case(pipe, {});
  writer.join();
  EXPECT_EQ(std::get<HeatCase>(loaded.settings).materials.size(), 1u);
}

TEST_F(LoadCase, reports_points_outside_the_mesh) {
  EXPECT_THAT(errors_with({"monitor.far.type=\"probe\"", "monitor.far.points=[[0.5, 7, 0]]"}),
              ElementsAre(AllOf(HasSubstr("command line: monitor 'far': point 0"), HasSubstr("7"))));
}

TEST_F(LoadCase, reports_what_takes_the_whole_mesh_beside_other_errors_and_nothing_twice) {
  EXPECT_THAT(
      errors_with({"monitor.far.type=\"probe\"", "monitor.far.points=[[0.5, 7, 0]]",
                   "monitor.flow.type=\"flux\"", "monitor.flow.patches=[\"rigt\"]",
                   "monitor.cut.type=\"line\"", "monitor.cut.from=[9, 9, 0]", "monitor.cut.to=[9, 9, 0]",
                   "monitor.cut.points=2", "solver.temperature.tolerance=2"}),
      testing::UnorderedElementsAre(HasSubstr("monitor 'far': point 0"), HasSubstr("no patch \"rigt\""),
                                    HasSubstr("from and to of [monitor.cut] are the same point"),
                                    HasSubstr("tolerance of [solver.temperature]")));
}

TEST_F(LoadCase, reports_all_that_is_wrong_with_a_flow_on_its_mesh) {
  write_text(folder / "case.toml", R"([mesh]
file = "box.h5"
[model]
type = "classical-fractional-step"
[fluid]
kinematic_viscosity = -1
[time]
steady = true
step = 0.1
quantity = "inside.p0_presure"
[initial]
file = "box.h5"
[boundary.right]
type = "wall"
[boundary.left]
type = "wall"
[boundary.bottom]
type = "wall"
[boundary.top]
type = "wall"
[monitor.far]
type = "probe"
points = [[0.5, 7, 0]]
fields = ["pressure"]
[monitor.inside]
type = "probe"
points = [[0.5, 0.5, 0]]
fields = ["pressure"]
)");
  EXPECT_THAT(
      errors_with({}),
      ElementsAre(HasSubstr(":6: kinematic_viscosity"),
                  AllOf(HasSubstr(":10: "), HasSubstr("did you mean \"inside.p0_pressure\"")),
                  AllOf(HasSubstr(":12: "), HasSubstr("not a checkpoint")), HasSubstr(":21: monitor 'far'")));
  // A line has no columns of numbers.
  EXPECT_THAT(errors_with({"time.quantity=\"far.x\"", "monitor.far.type=\"line\"", "monitor.far.points=3",
                           "monitor.far.from=[0.1, 0.1, 0]", "monitor.far.to=[0.9, 0.1, 0]"}),
              ElementsAre(AllOf(HasSubstr("command line: "), HasSubstr("no [monitor.far] with columns")),
                          HasSubstr(":6: kinematic_viscosity"), HasSubstr(":12: ")));
}

}  // namespace
}  // namespace curlew::test
