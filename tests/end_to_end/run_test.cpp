// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/files/hdf5_file.hpp"
#include "app/output/checkpoint.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<std::string> lines_of(const std::filesystem::path& file) {
  std::vector<std::string> lines;
  std::istringstream stream(read_text(file));
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

TEST(Threads, the_same_bits_with_any_number) {
  for (const char* scheme : {"crank-nicolson", "backward-euler"}) {
    const CaseFolder folder(CellType::Tetrahedron, 8);
    folder.edit("crank-nicolson", scheme);
    for (const char* threads : {"1", "2", "4"}) {
      ASSERT_EQ(folder.run({"--threads", threads, "--output", threads, "--steps", "5"}).status, 0);
    }
    EXPECT_TRUE(contents(folder / "1") == contents(folder / "2"));
    EXPECT_TRUE(contents(folder / "1") == contents(folder / "4"));
  }
}

TEST(Compare, finds_all_backends_in_agreement) {
  for (const CellType type : {CellType::Triangle, CellType::Prism}) {
    const CaseFolder folder(type, 5);
    const Outcome outcome =
        run_curlew(folder.path(), {"compare", "case.toml", "--threads", "2", "--steps", "4"});
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_THAT(outcome.out, AllOf(HasSubstr("serial"), HasSubstr("openmp (2 threads)"),
                                   HasSubstr("debug-device"), HasSubstr("agree to the last bit")));
    EXPECT_EQ(folder.names(), "box.h5 case.toml");
  }
}

TEST(Outputs, of_a_run_in_time) {
  const CaseFolder folder;
  const Outcome outcome = folder.run({"--threads", "2"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(names_in(folder / "out"),
              ElementsAre("box.hdf.series", "centre.csv", "checkpoint_15.h5", "checkpoint_20.h5", "fields",
                          "mean.csv", "middle_0.csv", "middle_12.csv", "middle_16.csv", "middle_20.csv",
                          "middle_4.csv", "middle_8.csv", "range.csv", "report.html", "residuals.csv",
                          "sides.csv", "summary.json"));
  EXPECT_THAT(names_in(folder / "out/fields"),
              ElementsAre("box_000000.hdf", "box_000004.hdf", "box_000008.hdf", "box_000012.hdf",
                          "box_000016.hdf", "box_000020.hdf"));
  const auto series = nlohmann::json::parse(read_text(folder / "out/box.hdf.series"));
  ASSERT_EQ(series["files"].size(), 6u);
  EXPECT_EQ(series["files"][1]["name"], "fields/box_000004.hdf");
  EXPECT_EQ(series["files"][1]["time"], 0.2);

  const auto sides = lines_of(folder / "out/sides.csv");
  ASSERT_EQ(sides.size(), 2 + 11u);
  EXPECT_THAT(sides[0], StartsWith("# units: time [s], left [W/m], right [W/m], bottom [W/m], total [W/m]"));
  EXPECT_EQ(sides[1], "time,left,right,bottom,total");
  EXPECT_THAT(sides[2], StartsWith("0,nan,"));  // through a given temperature, before there is a step
  EXPECT_EQ(lines_of(folder / "out/centre.csv")[1],
            "time,p0_temperature,p0_heat_flux_x,p0_heat_flux_y,p0_heat_flux_z,p1_temperature,"
            "p1_heat_flux_x,p1_heat_flux_y,p1_heat_flux_z");
  EXPECT_EQ(lines_of(folder / "out/mean.csv").size(), 2 + 21u);
  EXPECT_EQ(lines_of(folder / "out/range.csv").size(), 2 + 8u);  // every third of 20 steps, and the last
  EXPECT_EQ(lines_of(folder / "out/range.csv")[1],
            "time,temperature_min,temperature_min_x,temperature_min_y,temperature_min_z,temperature_max,"
            "temperature_max_x,temperature_max_y,temperature_max_z");
  const auto middle = lines_of(folder / "out/middle_4.csv");
  ASSERT_EQ(middle.size(), 2 + 5u);
  EXPECT_THAT(middle[0], StartsWith("# time = 0.2 s; units: x [m]"));
  EXPECT_EQ(middle[1], "x,y,z,temperature");
  const auto residuals = lines_of(folder / "out/residuals.csv");
  ASSERT_EQ(residuals.size(), 2 + 20u);
  EXPECT_THAT(residuals[0], AllOf(StartsWith("# units: "), HasSubstr("heat_imbalance [W/m]")));
  EXPECT_THAT(residuals[1], StartsWith("step,time,dt,temperature_iterations,temperature_residual,"));
  EXPECT_THAT(residuals[2], StartsWith("1,0.05,0.05,"));

  const auto summary = nlohmann::json::parse(read_text(folder / "out/summary.json"));
  for (const char* key : {"status", "case", "model", "backend", "ranks", "threads", "cells", "faces", "edges",
                          "nodes", "steps", "time", "wall_seconds", "seconds_per_step", "iterations",
                          "max_divergence", "peak_memory_bytes", "version", "monitors"}) {
    EXPECT_TRUE(summary.contains(key)) << key;
  }
  EXPECT_EQ(summary["status"], "done");
  EXPECT_EQ(summary["case"], "box");
  EXPECT_EQ(summary["threads"], 2);
  EXPECT_EQ(summary["cells"], 128);
  EXPECT_EQ(summary["nodes"], 81);
  EXPECT_EQ(summary["steps"], 20);
  EXPECT_EQ(summary["time"], 1.0);
  EXPECT_GT(summary["iterations"]["temperature"], 1.0);
  EXPECT_EQ(summary["monitors"]["sides"]["time"], 1.0);
  EXPECT_NEAR(summary["monitors"]["sides"]["total"].get<double>(),
              std::stod(sides.back().substr(sides.back().rfind(',') + 1)), 1e-12);
}

TEST(Outputs, of_a_line_that_leaves_the_mesh_are_warned_of_at_the_start_and_by_check) {
  const CaseFolder folder;
  const std::string where = fmt::format("case.toml:{}: ", line_of(folder / "case.toml", "[monitor.middle]")),
                    doubt = "monitor 'middle': 2 of its 5 points are not in the mesh, the first of them at (";
  folder.edit("from = [0.0, 0.5, 0.0]", "from = [-1.0, 0.5, 0.0]");
  const Outcome run = folder.run({"--steps", "1"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.error, StartsWith("warning: " + where + doubt));
  const Outcome checked = run_curlew(folder.path(), {"check", "case.toml"});
  EXPECT_EQ(checked.status, 0);
  EXPECT_THAT(checked.out, AllOf(HasSubstr("note: " + where + doubt), HasSubstr("the case is sound")));
}

TEST(Outputs, the_last_field_file_holds_the_checkpoint_s_temperatures) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({}).status, 0);
  const Hdf5Reader fields(folder / "out/fields/box_000020.hdf");
  EXPECT_EQ(fields.read<double>("/VTKHDF/PointData/temperature"),
            read_checkpoint(folder / "out/checkpoint_20.h5").arrays.at("temperature").values());
  EXPECT_EQ(fields.read<double>("/VTKHDF/CellData/gradient").size(), 3 * 128u);
  EXPECT_EQ(fields.read<double>("/VTKHDF/CellData/heat_flux").size(), 3 * 128u);
}

TEST(Outputs, of_several_regions_tell_which_a_cell_is_of) {
  const OutputDirectory folder;
  write_text(folder / "bar.msh", R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
2
2 1 "steel"
2 2 "copper"
$EndPhysicalNames
$Nodes
6
1 0 0 0
2 1 0 0
3 2 0 0
4 0 1 0
5 1 1 0
6 2 1 0
$EndNodes
$Elements
2
1 3 2 2 2 1 2 5 4
2 3 2 1 1 2 3 6 5
$EndElements
)");
  write_text(folder / "case.toml", R"([mesh]
file = "bar.msh"
[model]
type = "heat-diffusion"
[time]
steady = true
[material.steel]
conductivity = 1
[material.copper]
conductivity = 2
[boundary.unnamed]
type = "temperature"
value = "x"
)");
  ASSERT_EQ(run_curlew(folder.path(), {"run", "case.toml", "--quiet"}).status, 0);
  ASSERT_EQ(run_curlew(folder.path(), {"mesh", "convert", "bar.msh", "bar.hdf"}).status, 0);
  const auto regions_in = [&](const std::string& file) {
    const Hdf5Reader reader(folder / file);
    const auto number = reader.read<double>("/VTKHDF/CellData/region"),
               points = reader.read<double>("/VTKHDF/Points");
    const auto first = reader.read<std::int64_t>("/VTKHDF/Connectivity");
    std::map<double, double> leftmost;  // cells are numbered otherwise
    for (std::size_t c = 0; c < number.size(); ++c) {
      double left = 2;
      for (std::size_t k = 0; k < 4; ++k)
        left = std::min(left, points[3 * static_cast<std::size_t>(first[4 * c + k])]);
      leftmost[number[c]] = left;
    }
    return leftmost;
  };
  const std::map<double, double> expected = {{0, 1}, {1, 0}};  // steel is on the right
  EXPECT_EQ(regions_in("out/fields/case_000000.hdf"), expected);
  EXPECT_EQ(regions_in("bar.hdf"), expected);
}

TEST(Outputs, of_a_steady_run) {
  const OutputDirectory folder;
  const Outcome outcome = run_curlew(folder.path(), {"run", CURLEW_CASES "/plate/heat.toml", "--output",
                                                     (folder / "out").string(), "--set", "mesh.size=0.1"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_THAT(outcome.error, HasSubstr("steady state in "));
  EXPECT_THAT(names_in(folder / "out"),
              ElementsAre("fields", "middle_0.csv", "plate.hdf.series", "report.html", "residuals.csv",
                          "sides.csv", "summary.json"));
  EXPECT_THAT(names_in(folder / "out/fields"), ElementsAre("plate_000000.hdf"));
  const auto summary = nlohmann::json::parse(read_text(folder / "out/summary.json"));
  EXPECT_EQ(summary["status"], "done");
  EXPECT_EQ(summary["steps"], 0);
  EXPECT_NEAR(summary["monitors"]["sides"]["left"].get<double>(), 1, 1e-10);
  EXPECT_NEAR(summary["monitors"]["sides"]["right"].get<double>(), -1, 1e-10);
}

TEST(Options, set_steps_output_and_quiet) {
  const CaseFolder folder;
  Outcome outcome = folder.run({"--steps", "3", "--output", "deep/down", "--set", "output.interval=0.1",
                                "--set", "case.name=\"other\""});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  EXPECT_THAT(names_in(folder / "deep/down/fields"), ElementsAre("other_000000.hdf", "other_000002.hdf"));
  const auto summary = nlohmann::json::parse(read_text(folder / "deep/down/summary.json"));
  EXPECT_EQ(summary["status"], "stopped");
  EXPECT_EQ(summary["steps"], 3);
  EXPECT_DOUBLE_EQ(summary["time"].get<double>(), 0.15);

  // Without --quiet standard error tells of the steps; it is no terminal here.
  outcome = run_curlew(folder.path(), {"run", "case.toml"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("step 20  time 1 s  iterations "), HasSubstr("done after "),
                                   HasSubstr("results in out"), testing::Not(HasSubstr("\x1b"))));
}

TEST(Process, has_the_program_s_name) {
  const LongCase folder;
  // Without the variables that keep the program from starting itself once more.
  const std::string line = fmt::format(
      "cd '{}' && {{ env -u GOMP_SPINCOUNT -u OMP_WAIT_POLICY '{}' run case.toml --quiet & "
      "while kill -0 $! && ! [ -s out/residuals.csv ]; do sleep 0.01; done; cat /proc/$!/comm > name; kill "
      "-9 $!; }}",
      folder.path().string(), CURLEW_PROGRAM);
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_EQ(read_text(folder / "name"), "curlew\n");
}

TEST(SecondRun, into_the_directory_of_one_that_runs_is_refused_and_changes_nothing) {
  const LongCase folder;
  Program first(folder.path(), {"run", "case.toml", "--quiet"});
  ASSERT_TRUE(first.wait_until(folder.after_steps(3)));
  const Outcome second = folder.run({"--steps", "1"});
  EXPECT_EQ(second.status, 2);
  EXPECT_THAT(error_lines(second), ElementsAre(HasSubstr("another run writes to the directory 'out'")));
  EXPECT_TRUE(first.wait_until(folder.after_steps(3)));
  EXPECT_EQ(folder.run({"--steps", "1", "--output", "other"}).status, 0);
  // However a run ends, the next one may come.
  first.send(SIGKILL);
  first.wait();
  EXPECT_EQ(folder.run({"--steps", "1"}).status, 0);
}

TEST(Questions, are_answered_on_standard_output) {
  const OutputDirectory folder;
  const auto answer = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = run_curlew(folder.path(), arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_EQ(outcome.error, "");
    return outcome.out;
  };
  EXPECT_THAT(answer({"--version"}), AllOf(StartsWith("curlew "), HasSubstr("backends: cpu")));
  const std::string help = answer({"--help"});
  for (const char* name : {"run", "check", "mesh", "bench", "compare"}) EXPECT_THAT(help, HasSubstr(name));
  EXPECT_THAT(answer({"run", "--help"}),
              AllOf(HasSubstr("--backend"), HasSubstr("--threads"), HasSubstr("--output"),
                    HasSubstr("--restart"), HasSubstr("--set"), HasSubstr("--steps"), HasSubstr("--quiet")));
  EXPECT_THAT(answer({"check", "--help"}), HasSubstr("CASE"));
  EXPECT_THAT(answer({"mesh", "--help"}), AllOf(HasSubstr("info"), HasSubstr("convert")));
  EXPECT_THAT(answer({"mesh", "info", "--help"}), HasSubstr("--json"));
  EXPECT_THAT(answer({"mesh", "convert", "--help"}), AllOf(HasSubstr("IN"), HasSubstr("OUT")));
  EXPECT_THAT(answer({"bench", "--help"}), HasSubstr("--json"));
  EXPECT_THAT(answer({"compare", "--help"}), HasSubstr("--steps"));
}

}  // namespace
}  // namespace curlew::test
