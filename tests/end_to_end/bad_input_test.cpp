// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/output/checkpoint.hpp"
#include "kernels/executor.hpp"
#include "tests/end_to_end/flow_folder.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

int errors_in(const Outcome& outcome) {
  int count = 0;
  for (auto at = outcome.error.find("error: "); at != std::string::npos;
       at = outcome.error.find("error: ", at + 1)) {
    ++count;
  }
  return count;
}

TEST(Check, says_that_a_good_case_is_sound) {
  const CaseFolder folder;
  const Outcome outcome = run_curlew(folder.path(), {"check", "case.toml"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(outcome.out, HasSubstr("case.toml: the case is sound (128 cells, 81 nodes, 1 region, "));
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

TEST(Check, reports_every_error_of_case_and_mesh_at_its_line) {
  const CaseFolder folder;
  folder.edit("[material.box]", "[material.bax]");
  folder.edit("[boundary.right]", "[boundary.rigth]");
  folder.edit("step = 0.05", "step = -1");
  folder.edit("points = 5", "pionts = 5");
  for (const char* command : {"check", "run"}) {
    const Outcome outcome = run_curlew(folder.path(), {command, "case.toml"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    const auto at = [&](const std::string& text) {
      return fmt::format("error: case.toml:{}: ", line_of(folder / "case.toml", text));
    };
    EXPECT_THAT(outcome.error, HasSubstr(at("[material.bax]") + "the mesh has no region \"bax\""));
    EXPECT_THAT(outcome.error, HasSubstr(at("[boundary.rigth]") + "the mesh has no patch \"rigth\""));
    EXPECT_THAT(outcome.error, HasSubstr("did you mean \"right\""));
    EXPECT_THAT(outcome.error, HasSubstr(at("step = -1")));
    EXPECT_THAT(outcome.error, HasSubstr(at("pionts")));
    EXPECT_EQ(errors_in(outcome), 4) << outcome.error;
    EXPECT_FALSE(std::filesystem::exists(folder / "out"));
  }
}

TEST(Check, finds_what_only_the_values_show) {
  const FlowFolder folder;
  folder.edit("[boundary.left]\ntype = \"wall\"", "[boundary.left]\ntype = \"inlet\"\nflow_rate = 3");
  for (const char* command : {"check", "run"}) {
    const Outcome outcome = run_curlew(folder.path(), {command, "case.toml"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.error,
                HasSubstr(fmt::format("error: case.toml:{}: 3 m2/s enter a closed part of the domain",
                                      line_of(folder / "case.toml", "[boundary.left]"))));
  }
}

TEST(Check, names_the_wall_that_fluid_passes) {
  const FlowFolder folder;
  folder.edit("velocity = [\"cos(2*t)\", 0, 0]", "velocity = [0, 1, 0]");
  const Outcome outcome = run_curlew(folder.path(), {"check", "case.toml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.error,
              HasSubstr(fmt::format("error: case.toml:{}: 1 m2/s leave a closed part of the domain "
                                    "through its boundary, most through the patch \"top\" (",
                                    line_of(folder / "case.toml", "[boundary.top]"))));
}

TEST(Check, finds_what_only_the_values_of_the_first_step_show) {
  const FlowFolder folder;
  folder.edit("[boundary.left]\ntype = \"wall\"", "[boundary.left]\ntype = \"inlet\"\nflow_rate = \"3*t\"");
  for (const char* command : {"check", "run"}) {
    const Outcome outcome = run_curlew(folder.path(), {command, "case.toml"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error, HasSubstr("a closed part of the domain through its boundary at t = "));
  }
  const Outcome outcome = run_curlew(folder.path(), {"check", "case.toml"});
  EXPECT_THAT(outcome.error, HasSubstr(fmt::format(
                                 "error: case.toml:{}: 0.03 m2/s enter a closed part of the domain through "
                                 "its boundary at t = 0.01 s, most",
                                 line_of(folder / "case.toml", "[boundary.left]"))));
}

TEST(Check, evaluates_what_a_run_starts_from) {
  const FlowFolder folder;
  for (const char* command : {"check", "run"}) {
    for (const char* key : {"initial.velocity", "fluid.body_force"}) {
      const Outcome outcome = run_curlew(
          folder.path(), {command, "case.toml", "--set", fmt::format("{}=[\"1/(x - x)\", 0, 0]", key)});
      EXPECT_EQ(outcome.status, 2) << command << " " << key;
      EXPECT_THAT(outcome.error, HasSubstr("the expression \"1/(x - x)\" is inf at x = "));
    }
  }
}

TEST(BadInput, a_mean_flow_across_walls_is_told_at_its_line) {
  const FlowFolder folder;
  folder.edit("density = 2", "density = 2\nmean_flow = { direction = [0, 1, 0], velocity = 0.5 }");
  folder.edit("[boundary.left]\ntype = \"wall\"",
              "[boundary.left]\ntype = \"periodic\"\npartner = \"right\"");
  folder.edit("[boundary.right]\ntype = \"wall\"\n", "");
  folder.edit(", \"streamfunction\"]", "]");
  folder.edit("patches = [\"left\", \"top\"]", "patches = [\"top\"]");
  const Outcome outcome = folder.run({});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.error, HasSubstr(fmt::format("error: case.toml:{}: no mean flow along [0, 1, 0]",
                                                   line_of(folder / "case.toml", "mean_flow"))));
}

TEST(BadInput, of_any_kind_exits_with_2_and_says_why) {
  const CaseFolder folder;
  write_text(folder / "file", "");
  write_text(folder / "bad.h5", "no mesh");
  write_text(folder / "two.msh", "$MeshFormat\n2.2 0 8\n");
  struct Example {
    std::vector<std::string> arguments;
    std::vector<std::string> said;
  };
  std::vector<Example> examples = {
      {{}, {"needs a subcommand", "run"}},
      {{"rnu", "case.toml"}, {"no subcommand \"rnu\"", "\"run\""}},
      {{"r\nu\x1b", "case.toml"}, {"no subcommand \"r\\nu\\x1b\""}},
      {{"run"}, {"CASE is required"}},
      {{"run", "case.toml", "--stesp", "3"}, {"no option --stesp", "--steps"}},
      {{"run", "case.toml", "--steps", "0"}, {"--steps", "positive integer"}},
      {{"run", "case.toml", "--threads", "many"}, {"--threads", "positive integer"}},
      {{"run", "nowhere.toml"}, {"nowhere.toml: no such case file"}},
      {{"run", "case.toml", "--set", "mesh.file=\"nowhere.msh\""}, {"nowhere.msh does not exist"}},
      {{"run", "case.toml", "--set", "mesh.file=\"bad.h5\""}, {"bad.h5", "not a mesh file of Curlew"}},
      {{"run", "case.toml", "--set", "time.stepp=1"}, {"stepp", "\"step\""}},
      {{"run", "case.toml", "--output", ""}, {"--output", "expected a name"}},
      {{"run", "case.toml", "--output", "file"},
       {"command line: the output directory file exists and is not a directory; name another one"}},
      {{"run", "case.toml", "--output", "file/below"}, {"'file/below'", "Not a directory"}},
      {{"run", "case.toml", "--output", "/proc/nowhere"}, {"'/proc/nowhere'", "No such file"}},
      {{"run", "case.toml", "--set", "mesh.size=0.1"}, {"case.toml:", "box.h5: size is for geometries"}},
      {{"mesh", "info", "box.h5", "--size", "0.1"}, {"box.h5: size is for geometries"}},
      {{"mesh", "info", "two.msh", "--size", "0.1"}, {"two.msh", "size is for geometries"}},
      {{"mesh", "info", "nowhere.msh"}, {"nowhere.msh"}},
      {{"mesh", "convert", "box.h5", "box.vtu"}, {"box.vtu", ".h5", ".hdf"}},
      {{"mesh", "convert", "box.h5", "/proc/box.h5"}, {"'/proc/box.h5'", "No such file"}},
      {{"mesh", "convert", "box.h5", "b.h5", "--order", "hilbert"}, {"--order requires --partition"}},
      {{"compare", "nowhere.toml"}, {"nowhere.toml: no such case file"}},
  };
  if (!cuda_problem().empty()) {
    examples.push_back({{"run", "case.toml", "--backend", "cuda"}, {"--backend cuda", "--backend cpu"}});
  }
  for (const auto& [arguments, said] : examples) {
    const Outcome outcome = run_curlew(folder.path(), arguments);
    const std::string line = fmt::format("curlew {}", fmt::join(arguments, " "));
    EXPECT_EQ(outcome.status, 2) << line;
    EXPECT_EQ(outcome.out, "") << line;
    EXPECT_THAT(outcome.error, AllOf(StartsWith("error: "), Not(HasSubstr("bug")))) << line;
    EXPECT_EQ(errors_in(outcome), 1) << line << '\n' << outcome.error;
    EXPECT_EQ(std::ranges::count(outcome.error, '\n'), 1) << line << '\n' << outcome.error;
    for (const std::string& words : said) EXPECT_THAT(outcome.error, HasSubstr(words)) << line;
  }
  EXPECT_EQ(folder.names(), "bad.h5 box.h5 case.toml file two.msh");
}

TEST(BadInput, a_directory_in_place_of_a_result_is_named) {
  const CaseFolder folder;
  for (const char* name : {"residuals.csv", "box.hdf.series", "centre.csv", "summary.json", "report.html",
                           "middle_0.csv", "checkpoint_5.h5", "fields/box_000004.hdf"}) {
    std::filesystem::create_directories(folder / "out" / name / "in the way");
    const Outcome outcome = folder.run({});
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_THAT(outcome.error, AllOf(HasSubstr(fmt::format("cannot write 'out/{}': ", name)),
                                     HasSubstr("directory"), Not(HasSubstr("bug"))));
    std::filesystem::remove_all(folder / "out");
  }
}

TEST(BadInput, a_link_to_itself_in_place_of_a_result_is_named_or_replaced) {
  const CaseFolder folder;
  const auto set_link = [&](const char* name) {
    std::filesystem::create_directories(folder / "out");
    std::filesystem::remove(folder / "out" / name);
    std::filesystem::create_symlink(std::filesystem::path(name).filename(), folder / "out" / name);
  };
  for (const char* name : {"residuals.csv", "centre.csv"}) {
    set_link(name);
    const Outcome outcome = folder.run({});
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_THAT(outcome.error, StartsWith(fmt::format("error: cannot write 'out/{}': ", name)));
    EXPECT_EQ(errors_in(outcome), 1);
    std::filesystem::remove(folder / "out" / name);
  }
  // What gets its name when it is whole takes the link's place.
  for (const char* name : {"box.hdf.series", "middle_20.csv"}) {
    set_link(name);
    EXPECT_EQ(folder.run({}).error, "") << name;
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "out" / name)));
  }
  // So does what a restart would continue, or finds missing.
  for (const char* name : {"residuals.csv", "centre.csv"}) {
    set_link(name);
    const Outcome outcome = folder.run({"--restart", "out"});
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_THAT(outcome.error, StartsWith(fmt::format("error: cannot write 'out/{}': ", name)));
    std::filesystem::remove(folder / "out" / name);
  }
  for (const char* name : {"box.hdf.series", "middle_20.csv"}) {
    set_link(name);
    EXPECT_EQ(folder.run({"--restart", "out"}).error, "") << name;
    EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder / "out" / name)));
  }
}

TEST(FullDisk, names_file_and_cause_and_the_run_can_go_on_later) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  ASSERT_EQ(folder.run({"--steps", "7"}).status, 0);
  const auto size_of = [&](const char* name) { return std::filesystem::file_size(folder / "whole" / name); };
  for (const char* name : {"fields/box_000008.hdf", "checkpoint_15.h5", "residuals.csv"}) {
    {
      const FullDisk full(size_of(name) - 1);
      const Outcome outcome = folder.run({"--restart", "out/checkpoint_7.h5"});
      EXPECT_EQ(outcome.status, 2) << name;
      EXPECT_THAT(outcome.error, AllOf(StartsWith("error: cannot write 'out/"), HasSubstr("File too large"),
                                       Not(HasSubstr("bug"))));
    }
    ASSERT_NO_THROW(read_checkpoint(folder / "out/checkpoint_7.h5")) << name;
  }
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_7.h5"}).status, 0);
  EXPECT_TRUE(contents(folder / "out") == contents(folder / "whole"));
}

nlohmann::json summary_of(const OutputDirectory& folder) {
  return nlohmann::json::parse(read_text(folder / "out/summary.json"));
}

TEST(FullDisk, leaves_no_summary_and_no_report_of_an_earlier_run) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({}).status, 0);
  const FullDisk full(4000);
  EXPECT_EQ(folder.run({}).status, 2);
  EXPECT_FALSE(std::filesystem::exists(folder / "out/report.html"));
  EXPECT_EQ(summary_of(folder)["status"], "failed");  // it is short enough
}

/// Expects a summary with that status, whose reason is the only error of the run.
void expect_reason(const OutputDirectory& folder, const std::string& status, const Outcome& outcome) {
  const auto summary = summary_of(folder);
  EXPECT_EQ(summary["status"], status);
  ASSERT_TRUE(summary.contains("reason"));
  EXPECT_EQ("error: " + summary["reason"].get<std::string>() + "\n", outcome.error);
  EXPECT_THAT(read_text(folder / "out/report.html"), HasSubstr("<span class=\"" + status + "\">"));
}

TEST(BadInput, steps_before_a_file_that_cannot_be_written_are_kept) {
  const CaseFolder folder;
  std::filesystem::create_directories(folder / "out/fields/box_000008.hdf/in the way");
  const Outcome outcome = folder.run({});
  EXPECT_EQ(outcome.status, 2);
  expect_reason(folder, "failed", outcome);
  EXPECT_EQ(read_checkpoint(folder / "out/checkpoint_8.h5").step, 8);
}

TEST(BadInput, is_told_though_the_steps_before_cannot_be_kept) {
  const CaseFolder folder;
  folder.edit("coefficient = ", "coefficient = \"x < 2 && t > 0.4 ? -2 : 1\" # ");
  std::filesystem::create_directories(folder / "out/checkpoint_8.h5/in the way");
  const Outcome outcome = folder.run({});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.error, HasSubstr("the convection coefficient of patch 'right' is -2"));
  expect_reason(folder, "failed", outcome);
}

TEST(Divergence, is_told_though_the_fields_of_the_moment_cannot_be_written) {
  const FlowFolder folder;
  folder.edit("cos(2*t)", "t < 0.6 ? 0 : 1");
  folder.edit("[output]", "[solver.pressure]\npreconditioner = \"jacobi\"\nmax_iterations = 3\n[output]");
  std::filesystem::create_directories(folder / "out/fields/cavity_diverged.hdf/in the way");
  const Outcome outcome = folder.run({});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error, StartsWith("error: step "));
  expect_reason(folder, "diverged", outcome);
}

TEST(Divergence, keeps_the_checkpoints_and_what_came_before) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "7"}).status, 0);
  const Checkpoint earlier = read_checkpoint(folder / "out/checkpoint_7.h5");
  const Outcome outcome =
      folder.run({"--restart", "out/checkpoint_7.h5", "--set", "solver.temperature.max_iterations=3", "--set",
                  "solver.temperature.preconditioner=\"jacobi\""});
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.error, AllOf(StartsWith("error: the solve for temperature did not converge"),
                                   HasSubstr("after 3 iterations"), HasSubstr("raise max_iterations")));
  EXPECT_EQ(errors_in(outcome), 1);
  expect_reason(folder, "diverged", outcome);
  EXPECT_EQ(summary_of(folder)["steps"], 7);
  EXPECT_THAT(read_text(folder / "out/report.html"),
              AllOf(HasSubstr("<p>the solve for temperature did not converge"), HasSubstr("data:image/png"),
                    HasSubstr("solver.temperature.max_iterations=3\n"), HasSubstr(">Iterations per solve<")));
  EXPECT_EQ(read_checkpoint(folder / "out/checkpoint_7.h5"), earlier);
  EXPECT_EQ(folder.run({"--restart", "out/checkpoint_7.h5"}).status, 0);
}

TEST(Divergence, of_a_steady_case) {
  const CaseFolder folder;
  for (const char* line : {"end = 1.0\n", "interval = 0.2\n", "checkpoint = 0.25\n", "every = 3\n",
                           "scheme = \"crank-nicolson\"\n", "interval = 0.1\n", "step = 0.05"}) {
    folder.edit(line, std::string(line) == "step = 0.05" ? "steady = true" : "");
  }
  const Outcome outcome =
      folder.run({"--set", "solver.temperature.max_iterations=3", "--set",
                  "solver.temperature.preconditioner=\"jacobi\"", "--set", "boundary.left.value=\"300+y\"",
                  "--set", "boundary.right.coefficient=1", "--set", "boundary.right.ambient=\"290*x\"",
                  "--set", "boundary.bottom.value=1", "--set", "material.box.source=1"});
  EXPECT_EQ(outcome.status, 3) << outcome.error;
  expect_reason(folder, "diverged", outcome);
}

TEST(BadInput, that_only_the_run_finds_is_told_at_its_line) {
  const CaseFolder folder;
  for (const char* coefficient : {"x - 3", "x < 2 && t > 0.4 ? -2 : 1"}) {
    const Outcome outcome =
        folder.run({"--set", fmt::format("boundary.right.coefficient=\"{}\"", coefficient)});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error,
                StartsWith("error: command line: the convection coefficient of patch 'right' is -2 at ("));
  }
  folder.edit("coefficient = ", "coefficient = \"x < 2 && t > 0.4 ? -2 : 1\" # ");
  EXPECT_THAT(folder.run({}).error,
              StartsWith(fmt::format("error: case.toml:{}: the convection coefficient of patch 'right' is -2",
                                     line_of(folder / "case.toml", "coefficient"))));
}

TEST(BadInput, of_a_flow_that_only_the_run_finds_is_told_at_its_line) {
  const FlowFolder folder;
  folder.edit("[boundary.left]\ntype = \"wall\"",
              "[boundary.left]\ntype = \"inlet\"\nflow_rate = \"0.1 - t\"");
  folder.edit("[boundary.right]\ntype = \"wall\"", "[boundary.right]\ntype = \"outlet\"");
  const Outcome outcome = folder.run({"--set", "time.step=0.01", "--set", "time.courant=1000"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.error,
              AllOf(StartsWith(fmt::format("error: case.toml:{}: the flow_rate of patch 'left' is -",
                                           line_of(folder / "case.toml", "flow_rate"))),
                    HasSubstr("t = 0.1"), HasSubstr("must not be negative")));
  expect_reason(folder, "failed", outcome);
}

/// A value that stops being one at t = 0.5 s, after ten steps.
TEST(NotANumber, names_the_expression_its_place_and_the_time_and_keeps_the_steps_before) {
  for (const char* key : {"boundary.left.value", "boundary.bottom.value", "material.box.source"}) {
    for (const char* scheme : {"crank-nicolson", "backward-euler"}) {
      const CaseFolder folder;
      folder.edit("crank-nicolson", scheme);
      const std::string table = std::string(key).substr(0, std::string(key).rfind('.'));
      const std::string name = std::string(key).substr(table.size() + 1);
      // The key's line after the table's header.
      std::string text = read_text(folder / "case.toml");
      const auto from = text.find("\n" + name + " = ", text.find("[" + table + "]")) + 1;
      text.replace(from, text.find('\n', from) - from, name + " = \"log(0.4999 - t) + y\"");
      write_text(folder / "case.toml", text);
      const Outcome outcome = folder.run({});
      EXPECT_EQ(outcome.status, 2);
      EXPECT_THAT(outcome.error,
                  AllOf(StartsWith(fmt::format("error: case.toml:{}: the expression \"log(0.4999 - t) + y\"",
                                               line_of(folder / "case.toml", "log(0.4999"))),
                        HasSubstr("nan at x = "), HasSubstr("t = 0.5")));
      expect_reason(folder, "failed", outcome);
      EXPECT_EQ(summary_of(folder)["steps"], 9);

      // The steps before are there: the same as of a run that was told to stop.
      ASSERT_EQ(folder.run({"--output", "stopped", "--steps", "9"}).status, 0);
      EXPECT_EQ(read_checkpoint(folder / "out/checkpoint_9.h5"),
                read_checkpoint(folder / "stopped/checkpoint_9.h5"));
      EXPECT_EQ(read_text(folder / "out/residuals.csv"), read_text(folder / "stopped/residuals.csv"));
    }
  }
}

TEST(NotANumber, in_the_first_step_or_the_initial_field_loses_no_older_checkpoint) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "2"}).status, 0);
  const Checkpoint earlier = read_checkpoint(folder / "out/checkpoint_2.h5");
  // The first step of crank-nicolson consists of two halves: here the second fails.
  for (const char* change : {"initial.temperature=\"1/x\"", "boundary.left.value=\"1/(0.05-t)\"",
                             "boundary.left.value=\"1/(0.025-t)\""}) {
    const Outcome outcome = folder.run({"--set", change});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error, StartsWith("error: command line: the expression \"1/"));
    const bool began = !std::string(change).starts_with("initial");
    EXPECT_EQ(read_checkpoint(folder / (began ? "out/checkpoint_2.h5.earlier" : "out/checkpoint_2.h5")),
              earlier)
        << change;
  }
}

}  // namespace
}  // namespace curlew::test
