// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/output/checkpoint.hpp"
#include "tests/end_to_end/flow_folder.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

nlohmann::json summary_of(const CaseFolder& folder, const std::string& directory = "out") {
  return nlohmann::json::parse(read_text(folder / directory / "summary.json"));
}

TEST(FlowRun, leaves_what_it_was_asked_for) {
  const FlowFolder folder;
  const Outcome run = folder.run({});
  EXPECT_EQ(run.status, 0) << run.error;
  const auto summary = summary_of(folder);
  EXPECT_EQ(summary.at("status"), "done");
  EXPECT_EQ(summary.at("model"), "classical-fractional-step");
  EXPECT_NEAR(summary.at("time").get<double>(), 1, 1e-15);
  EXPECT_GT(summary.at("max_divergence").get<double>(), 0);
  EXPECT_LT(summary.at("max_divergence").get<double>(), 1e-6);
  for (const char* solve : {"momentum", "pressure", "tangential"}) {
    EXPECT_GT(summary.at("iterations").at(solve).get<double>(), 0) << solve;
  }
  EXPECT_THAT(read_text(folder / "out/residuals.csv"),
              HasSubstr("\nstep,time,dt,courant,momentum_iterations,momentum_residual,tangential_iterations,"
                        "tangential_residual,pressure_iterations,pressure_residual,divergence_max,"
                        "divergence_l2,kinetic_energy\n1,0.01,0.01,"));
  EXPECT_EQ(line_count(folder / "out/residuals.csv"), 2 + summary.at("steps").get<int>());
  EXPECT_THAT(read_text(folder / "out/drag.csv"),
              HasSubstr("\ntime,fx,fy,fz,pressure_x,pressure_y,pressure_z,viscous_x,viscous_y,viscous_z,mx,"
                        "my,mz,cx,cy,cz\n"));
  // Force / (1/2 density velocity² area), density 2.
  const auto& drag = summary.at("monitors").at("drag");
  EXPECT_DOUBLE_EQ(drag.at("cx").get<double>(), drag.at("fx").get<double>());
  EXPECT_NE(drag.at("fx").get<double>(), 0);
  EXPECT_THAT(read_text(folder / "out/balance.csv"),
              HasSubstr("\ntime,kinetic_energy,dissipation,boundary_power,body_power,residual,rate\n"));
  EXPECT_EQ(summary.at("monitors").at("through").at("total"), 0);
  for (const char* name : {"cut_0.csv", "cavity.hdf.series", "fields/cavity_000000.hdf"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / "out" / name)) << name;
  }
}

TEST(FlowRun, with_a_length_has_coefficients_of_the_moment) {
  const FlowFolder folder;
  folder.edit("area = 1\n", "area = 1\nlength = 2\n");
  ASSERT_EQ(folder.run({"--steps", "2"}).status, 0);
  EXPECT_THAT(read_text(folder / "out/drag.csv"), HasSubstr(",mx,my,mz,cx,cy,cz,cm_x,cm_y,cm_z\n"));
  // Moment / (1/2 density velocity² area length), density 2.
  const auto drag = summary_of(folder).at("monitors").at("drag");
  EXPECT_DOUBLE_EQ(drag.at("cm_z").get<double>(), drag.at("mz").get<double>() / 2);
  EXPECT_NE(drag.at("mz").get<double>(), 0);
}

TEST(FlowRun, tells_courant_number_divergence_iterations_and_energy) {
  const FlowFolder folder;
  const Outcome run = run_curlew(folder.path(), {"run", "case.toml"});
  EXPECT_THAT(run.error, AllOf(HasSubstr("Courant "), HasSubstr("divergence "), HasSubstr("pressure "),
                               HasSubstr("energy "), HasSubstr("done after")));
}

TEST(FlowRun, warns_once_of_steps_too_long_for_convection_before_it_blows_up) {
  const FlowFolder folder;
  folder.edit("courant = 0.15\nstep = 0.01\n", "step = 4\n");
  folder.edit("end = 1\n", "end = 400\n");
  const std::string error = folder.run({"--set", "fluid.kinematic_viscosity=1e-4"}).error;
  const std::size_t warning = error.find("warning: step ");
  EXPECT_LT(warning, error.find("is too long for convection")) << error;
  EXPECT_LT(warning, error.find("error: ")) << error;
  EXPECT_EQ(error.find("warning: ", warning + 1), std::string::npos) << error;
  EXPECT_THAT(error, HasSubstr("blown up"));
  // A creeping flow stands such steps.
  const Outcome creeping = folder.run({"--steps", "5", "--set", "fluid.kinematic_viscosity=1000"});
  EXPECT_EQ(creeping.status, 0);
  EXPECT_EQ(creeping.error, "");
  EXPECT_THAT(read_text(folder / "out/residuals.csv"),
              ContainsRegex("\n5,20,4,[2-9]"));  // the Courant number
}

TEST(FlowRun, warns_of_steps_somewhat_too_long_for_convection_once_the_start_is_over) {
  const FlowFolder folder;
  folder.edit("courant = 0.15\nstep = 0.01\n", "step = 0.22\n");
  folder.edit("end = 1\n", "end = 6\n");
  folder.edit("velocity = [0, 0, 0]",
              R"TOML(velocity = ["sin(pi*x)*cos(pi*y)", "-cos(pi*x)*sin(pi*y)", 0])TOML");
  folder.edit("velocity = [\"cos(2*t)\", 0, 0]\n", "");
  folder.edit("kinematic_viscosity = 0.01", "kinematic_viscosity = 0.004");
  EXPECT_EQ(folder.run({"--steps", "9"}).error, "");
  EXPECT_THAT(folder.run({"--steps", "10"}).error, HasSubstr("warning: step 10, "));
}

TEST(FlowRun, warns_of_steps_too_long_for_explicit_viscosity_before_the_first_of_them) {
  const FlowFolder folder;
  folder.edit("courant = 0.15\nstep = 0.01\n", "step = 1\n");
  folder.edit("end = 1\n", "end = 400\n");
  const std::vector<std::string> viscous{"--set", "fluid.kinematic_viscosity=1", "--set",
                                         "model.scheme=ssp-rk3"};
  const std::string error = folder.run(viscous).error;
  const std::size_t warning = error.find("warning: steps of 1 s are too long for viscosity");
  EXPECT_LT(warning, error.find("error: step 1 to ")) << error;
  EXPECT_EQ(error.find("warning: ", warning + 1), std::string::npos) << error;
  EXPECT_EQ(folder.run({"--steps", "1", "--set", "fluid.kinematic_viscosity=1"}).error, "");
}

TEST(FlowRun, has_the_same_bits_on_every_backend) {
  const FlowFolder folder;
  const Outcome compared =
      run_curlew(folder.path(), {"compare", "case.toml", "--threads", "2", "--steps", "3"});
  EXPECT_EQ(compared.status, 0) << compared.out << compared.error;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("flux"), HasSubstr("pressure"),
                                  HasSubstr("all backends agree to the last bit")));
}

TEST(FlowRun, is_compared_until_what_it_watches_is_steady) {
  const FlowFolder folder;
  // Steady from its tenth step on, far from the last one.
  folder.edit("end = 1\n", "steady = true\ntolerance = 1e9\nmax_steps = 1000\nquantity = \"drag.fx\"\n");
  folder.edit("cos(2*t)", "1");
  ASSERT_EQ(folder.run({}).status, 0);
  const auto summary = summary_of(folder);
  const Outcome compared = run_curlew(folder.path(), {"compare", "case.toml"});
  EXPECT_EQ(compared.status, 0) << compared.error;
  double iterations = 0;
  for (const auto& [solve, mean] : summary.at("iterations").items()) iterations += mean.get<double>();
  EXPECT_THAT(compared.out, HasSubstr(fmt::format(
                                "{:>11}\n", std::llround(iterations * summary.at("steps").get<double>()))));
}

TEST(FlowRun, that_does_not_become_steady_says_so_however_quiet) {
  const FlowFolder folder;
  folder.edit("end = 1\n", "steady = true\nmax_steps = 5\n");
  folder.edit("cos(2*t)", "1");
  const Outcome run = folder.run({});
  EXPECT_EQ(run.status, 0);
  const auto summary = summary_of(folder);
  EXPECT_EQ(summary.at("status"), "stopped");
  ASSERT_TRUE(summary.contains("reason"));
  const auto reason = summary.at("reason").get<std::string>();
  EXPECT_THAT(reason, HasSubstr("not steady after the 5 steps of [time] max_steps: velocity changes"));
  EXPECT_EQ(
      run.error,
      "warning: no step began after the start of 'mean' (start = 0.3 s): this average is no number; let it "
      "start earlier\nwarning: " +
          reason + "\n");
  EXPECT_THAT(read_text(folder / "out/report.html"), HasSubstr("<p>" + reason + "</p>"));
}

TEST(FlowRun, from_a_first_step_that_was_repeated_goes_on_as_if_it_had_been_the_first) {
  for (const auto& [method, scheme] : {std::pair("classical", "sbdf2"),
                                       {"classical", "crank-nicolson-ab2"},
                                       {"exact", "sbdf2"},
                                       {"exact", "ssp-rk2"}}) {
    SCOPED_TRACE(testing::Message() << method << ", " << scheme);
    const FlowFolder folder(CellType::Triangle);
    folder.edit("classical", method);
    folder.edit("sbdf2", scheme);
    folder.edit("courant = 0.15\nstep = 0.01\n", "courant = 0.15\nmax_step = 0.5\n");
    EXPECT_EQ(folder.run({"--steps", "6", "--output", "repeated"}).status, 0);
    const auto rows = [&](const char* output) { return read_text(folder / output / "residuals.csv"); };
    const std::string repeated = rows("repeated");
    const std::size_t first = repeated.find("\n1,") + 3;
    const std::string step = repeated.substr(first, repeated.find(',', first) - first);
    EXPECT_LT(std::stod(step), 0.1);
    EXPECT_EQ(folder.run({"--steps", "6", "--output", "at_once", "--set", "time.step=" + step}).status, 0);
    EXPECT_EQ(repeated, rows("at_once"));
  }
}

TEST(FlowCheck, finds_the_case_sound) {
  const FlowFolder folder;
  const Outcome checked = run_curlew(folder.path(), {"check", "case.toml"});
  EXPECT_EQ(checked.status, 0);
  EXPECT_THAT(checked.out, HasSubstr("the case is sound"));
}

struct FlowMethodAndScheme {
  std::string method, scheme;
  friend void PrintTo(const FlowMethodAndScheme& flow, std::ostream* out) {
    *out << flow.method << ", " << flow.scheme;
  }
};

/// Of what two runs wrote, but for checkpoints.
void expect_same_bytes(const std::filesystem::path& one, const std::filesystem::path& other,
                       const std::string& what) {
  const auto written = contents(other);
  for (const auto& [name, bytes] : contents(one)) {
    if (name.starts_with("checkpoint")) continue;
    ASSERT_TRUE(written.contains(name)) << name << ": " << what;
    EXPECT_TRUE(written.at(name) == bytes) << name << " differs: " << what;
  }
}

class FlowRestart : public testing::TestWithParam<FlowMethodAndScheme> {};

TEST_P(FlowRestart, continues_to_the_same_bytes) {
  const FlowFolder folder;
  folder.edit("classical", GetParam().method);
  folder.edit("sbdf2", GetParam().scheme);
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  const int last = summary_of(folder, "whole").at("steps").get<int>();
  // After the first step, before and after the average has begun, and before the last step of all.
  for (const int steps : {1, 11, 20, last - 1}) {
    const std::string parts = fmt::format("parts_{}", steps);
    ASSERT_EQ(folder.run({"--output", parts, "--steps", std::to_string(steps)}).status, 0);
    EXPECT_EQ(summary_of(folder, parts).at("status"), "stopped");
    const std::string checkpoint = fmt::format("{}/checkpoint_{}.h5", parts, steps);
    ASSERT_EQ(folder.run({"--output", parts, "--restart", checkpoint}).status, 0);
    const std::string end = fmt::format("checkpoint_{}.h5", last);
    EXPECT_EQ(read_checkpoint(folder / parts / end), read_checkpoint(folder / "whole" / end));
    expect_same_bytes(folder / "whole", folder / parts, fmt::format("a restart at step {}", steps));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, FlowRestart,
                         testing::Values(FlowMethodAndScheme{"classical", "sbdf2"},
                                         FlowMethodAndScheme{"classical", "crank-nicolson-ab2"},
                                         FlowMethodAndScheme{"classical", "euler"},
                                         FlowMethodAndScheme{"classical", "ssp-rk3"},
                                         FlowMethodAndScheme{"exact", "sbdf2"},
                                         FlowMethodAndScheme{"exact", "midpoint"}));

// A mean flow through periodic sides is one of the loops, and the force that holds it goes on too.
TEST(FlowRestartOfMeanFlow, continues_to_the_same_bytes) {
  for (const auto& [method, scheme] :
       {FlowMethodAndScheme{"classical", "sbdf2"}, FlowMethodAndScheme{"classical", "crank-nicolson-ab2"},
        FlowMethodAndScheme{"classical", "ssp-rk2"}, FlowMethodAndScheme{"exact", "sbdf2"},
        FlowMethodAndScheme{"exact", "midpoint"}}) {
    const OutputDirectory folder;
    const auto run = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(), {"run", std::string(CURLEW_CASES) + "/poiseuille/periodic.toml",
                                           "--quiet", "--set", "mesh.size=0.2", "--set", "time.step=0.002",
                                           "--set", fmt::format("model.type=\"{}-fractional-step\"", method),
                                           "--set", fmt::format("model.scheme=\"{}\"", scheme)});
      return run_curlew(folder.path(), arguments);
    };
    ASSERT_EQ(run({"--output", "whole", "--steps", "12"}).status, 0);
    ASSERT_EQ(run({"--output", "parts", "--steps", "5"}).status, 0);
    ASSERT_EQ(run({"--output", "parts", "--restart", "parts/checkpoint_5.h5", "--steps", "7"}).status, 0);
    const Checkpoint end = read_checkpoint(folder / "parts/checkpoint_12.h5");
    EXPECT_EQ(end, read_checkpoint(folder / "whole/checkpoint_12.h5")) << method << ", " << scheme;
    EXPECT_NE(end.numbers.at("mean_flow_force"), 0);
    expect_same_bytes(folder / "whole", folder / "parts", fmt::format("{}, {}", method, scheme));
  }
}

TEST(FlowRestartFrom, a_checkpoint_of_heat_is_refused) {
  const CaseFolder heat;
  ASSERT_EQ(heat.run({"--steps", "2"}).status, 0);
  const FlowFolder folder;
  const Outcome refused = folder.run({"--restart", heat / "out/checkpoint_2.h5"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, HasSubstr("the model of the checkpoint is heat-diffusion"));
}

TEST(FlowStart, goes_on_with_the_velocity_of_an_earlier_run) {
  const FlowFolder folder;
  ASSERT_EQ(folder.run({"--set", "output.checkpoint=0.25"}).status, 0);
  const auto before = summary_of(folder);
  folder.edit("velocity = [0, 0, 0]",
              fmt::format("file = \"out/checkpoint_{}.h5\"", before.at("steps").get<int>()));
  const Outcome refused = folder.run({});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, HasSubstr("is in the output directory, whose checkpoints the run replaces"));
  ASSERT_EQ(folder.run({"--output", "more", "--steps", "1"}).status, 0);
  // The kinetic energy of the first row, at the start of [time].
  std::istringstream rows(read_text(folder / "more/balance.csv"));
  std::string row;
  for (int k = 0; k < 3; ++k) std::getline(rows, row);
  ASSERT_TRUE(row.starts_with("0,")) << row;
  EXPECT_NEAR(
      std::stod(row.substr(2)) / before.at("monitors").at("balance").at("kinetic_energy").get<double>(), 1,
      1e-6);
}

TEST(FlowStart, from_a_file_that_does_not_fit_is_refused_at_its_line) {
  const CaseFolder heat;
  ASSERT_EQ(heat.run({"--steps", "2"}).status, 0);
  const FlowFolder folder;
  std::filesystem::copy(heat / "out/checkpoint_2.h5", folder / "heat.h5");
  write_text(folder / "damaged.h5", read_text(folder / "heat.h5").substr(0, 5000));
  folder.edit("velocity = [0, 0, 0]", "file = \"heat.h5\"");
  const std::string place = fmt::format("error: case.toml:{}: ", line_of(folder / "case.toml", "heat.h5"));
  for (const char* command : {"check", "run"}) {
    const Outcome outcome = run_curlew(folder.path(), {command, "case.toml"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error,
                AllOf(HasSubstr(place), HasSubstr("the model of the checkpoint is heat-diffusion"),
                      testing::Not(HasSubstr("restart"))));
  }
  folder.edit("heat.h5", "damaged.h5");
  const Outcome outcome = run_curlew(folder.path(), {"check", "case.toml"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr(place), HasSubstr("cannot start from 'damaged.h5'")));
}

TEST(FlowSteady, stops_when_nothing_changes_any_more) {
  const FlowFolder folder;
  folder.edit("end = 1\n", "steady = true\ntolerance = 1e-3\nquantity = \"drag.fx\"\n");
  folder.edit("cos(2*t)", "1");
  const Outcome run = run_curlew(folder.path(), {"run", "case.toml"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.error, AllOf(HasSubstr("steady after "), HasSubstr("drag.fx changes by ")));
  const auto summary = summary_of(folder);
  EXPECT_EQ(summary.at("status"), "done");
  // The balance of a steady flow: what the lid puts in friction takes out.
  const auto& balance = summary.at("monitors").at("balance");
  EXPECT_NEAR(balance.at("boundary_power").get<double>() / balance.at("dissipation").get<double>(), 1, 0.01);
}

TEST(FlowSteady, that_is_not_reached_is_stopped_with_a_note) {
  const FlowFolder folder;
  folder.edit("end = 1\n", "steady = true\nmax_steps = 15\n");
  folder.edit("cos(2*t)", "1");
  const Outcome run = run_curlew(folder.path(), {"run", "case.toml"});
  EXPECT_EQ(run.status, 0);
  EXPECT_THAT(run.error, HasSubstr("not steady after the 15 steps of [time] max_steps"));
  EXPECT_EQ(summary_of(folder).at("status"), "stopped");
}

TEST(FlowSteady, names_the_columns_there_are) {
  const FlowFolder folder;
  folder.edit("end = 1\n", "steady = true\nquantity = \"drag.cd\"\n");
  folder.edit("cos(2*t)", "1");
  for (const char* command : {"check", "run"}) {
    const Outcome outcome = run_curlew(folder.path(), {command, "case.toml"});
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error,
                AllOf(HasSubstr(fmt::format("error: case.toml:{}: no monitor writes \"drag.cd\"",
                                            line_of(folder / "case.toml", "drag.cd"))),
                      HasSubstr("drag.cx, drag.cy"), Not(HasSubstr("centre."))));
  }
}

TEST(FlowSteady, by_a_column_that_is_not_there_leaves_earlier_results_alone) {
  const FlowFolder folder;
  folder.edit("end = 1\n", "steady = true\nmax_steps = 3\n");
  folder.edit("cos(2*t)", "1");
  ASSERT_EQ(folder.run({}).status, 0);
  const auto before = contents(folder / "out");
  const auto summary = summary_of(folder);
  EXPECT_EQ(folder.run({"--set", "time.quantity=drag.cd"}).status, 2);
  EXPECT_TRUE(contents(folder / "out") == before);
  EXPECT_EQ(summary_of(folder), summary);
}

TEST(FlowSteady, by_a_column_of_a_monitor_whose_name_goes_on_where_another_ends) {
  const FlowFolder folder;
  folder.edit("end = 1\n", "steady = true\nmax_steps = 3\nquantity = \"drag.top.fx\"\n");
  folder.edit("cos(2*t)", "1");
  folder.edit("[monitor.balance]",
              "[monitor.\"drag.top\"]\ntype = \"forces\"\npatches = [\"top\"]\n"
              "[monitor.balance]");
  EXPECT_EQ(folder.run({}).status, 0);
}

TEST(FlowNotANumber, keeps_the_steps_before) {
  for (const char* method : {"classical", "exact"}) {
    const FlowFolder folder;
    folder.edit("classical", method);
    folder.edit("cos(2*t)", "sqrt(0.2-t)");
    const Outcome run = folder.run({});
    EXPECT_EQ(run.status, 2);
    EXPECT_THAT(run.error, AllOf(HasSubstr("the expression \"sqrt(0.2-t)\""), HasSubstr("nan at x = ")));
    const std::string steps = std::to_string(summary_of(folder).at("steps").get<int>()),
                      checkpoint = "checkpoint_" + steps + ".h5";
    ASSERT_EQ(folder.run({"--output", "stopped", "--steps", steps}).status, 0);
    EXPECT_EQ(read_checkpoint(folder / "out" / checkpoint), read_checkpoint(folder / "stopped" / checkpoint));
    EXPECT_EQ(read_text(folder / "out/residuals.csv"), read_text(folder / "stopped/residuals.csv"));
  }
}

TEST(FlowDiverged, at_the_start_leaves_a_summary_that_says_so) {
  for (const char* method : {"classical", "exact"}) {
    const FlowFolder folder;
    folder.edit("classical", method);
    // Neither tangential nor free of divergence at the walls, and one iteration does not mend it.
    folder.edit("velocity = [0, 0, 0]", "velocity = [\"x*y\", 0, 0]");
    folder.edit("[output]", "[solver.pressure]\nmax_iterations = 1\n[output]");
    const Outcome run = folder.run({});
    EXPECT_EQ(run.status, 3);
    EXPECT_THAT(run.error, AllOf(HasSubstr("error: "), HasSubstr("pressure")));
    const auto summary = summary_of(folder);
    EXPECT_EQ(summary.at("status"), "diverged");
    EXPECT_EQ("error: " + summary.at("reason").get<std::string>() + "\n", run.error);
    EXPECT_EQ(summary.at("steps"), 0);
    EXPECT_GT(summary.at("cells").get<int>(), 0);
    EXPECT_TRUE(summary.at("monitors").empty());
    EXPECT_THAT(read_text(folder / "out/report.html"),
                AllOf(HasSubstr("<span class=\"diverged\">"), HasSubstr("There are no pictures."),
                      Not(HasSubstr("<h2>Steps</h2>"))));
  }
}

TEST(FlowDiverged, leaves_the_fields_of_the_moment_and_the_last_good_checkpoint) {
  const FlowFolder folder;
  // A fluid at rest costs no iteration; when the lid starts, the few that are allowed do not do.
  folder.edit("cos(2*t)", "t < 0.6 ? 0 : 1");
  folder.edit("[output]", "[solver.pressure]\npreconditioner = \"jacobi\"\nmax_iterations = 3\n[output]");
  const Outcome run = run_curlew(folder.path(), {"run", "case.toml"});
  EXPECT_EQ(run.status, 3);
  EXPECT_THAT(run.error, AllOf(HasSubstr("error: step "), HasSubstr("cavity_diverged.hdf")));
  const auto summary = summary_of(folder);
  EXPECT_EQ(summary.at("status"), "diverged");
  EXPECT_THAT(read_text(folder / "out/report.html"),
              AllOf(HasSubstr("<span class=\"diverged\">"), HasSubstr("data:image/png")));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/fields/cavity_diverged.hdf"));
  EXPECT_THAT(read_text(folder / "out/cavity.hdf.series"), Not(HasSubstr("diverged")));
  const auto checkpoint = find_newest_valid_checkpoint(folder / "out");
  ASSERT_TRUE(checkpoint);
  EXPECT_GE(checkpoint->checkpoint.time, 0.5);
  EXPECT_LT(checkpoint->checkpoint.time, 0.6);
  EXPECT_GT(line_count(folder / "out/residuals.csv"), 5);
  ASSERT_EQ(folder.run({"--set", "solver.pressure={}", "--steps", "1"}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "out/fields/cavity_diverged.hdf"));
}

TEST(FlowFrom, a_checkpoint_in_its_output_directory_does_not_start_whatever_it_is_called) {
  const FlowFolder folder;
  ASSERT_EQ(folder.run({"--steps", "2"}).status, 0);
  std::filesystem::copy_file(folder / "out/checkpoint_2.h5", folder / "checkpoint_2.h5");
  std::filesystem::create_symlink("out/checkpoint_2.h5", folder / "link.h5");
  folder.edit("velocity = [0, 0, 0]", "file = \"checkpoint_2.h5\"");
  const auto refused = [&](const std::vector<std::string>& arguments) {
    const Outcome outcome = folder.run(arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error, HasSubstr("is in the output directory, whose checkpoints the run replaces"));
  };
  refused({"--output", ".", "--steps", "1"});
  refused({"--set", "initial.file=\"link.h5\"", "--steps", "1"});
  EXPECT_TRUE(std::filesystem::exists(folder / "checkpoint_2.h5"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/checkpoint_2.h5"));
  EXPECT_EQ(folder.run({"--steps", "1"}).status, 0);
}

}  // namespace
}  // namespace curlew::test
