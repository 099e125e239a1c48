// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "app/files/hdf5_file.hpp"
#include "app/output/checkpoint.hpp"
#include "mesh/cell_shapes.hpp"
#include "tests/end_to_end/flow_folder.hpp"
#include "tests/end_to_end/kills.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct Restarted {
  CellType type;
  std::string scheme;
  std::string coefficient = "2 + cos(3*t)";  // of convection
  friend void PrintTo(const Restarted& run, std::ostream* out) {
    *out << name(run.type) << ", " << run.scheme << ", " << run.coefficient;
  }
};

class Restart : public testing::TestWithParam<Restarted> {};

TEST_P(Restart, continues_to_the_same_bytes) {
  const CaseFolder folder(GetParam().type, 4);
  folder.edit("crank-nicolson", GetParam().scheme);
  folder.edit("2 + cos(3*t)", GetParam().coefficient);
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  // The first stop is where nothing is due, the second right after the first step.
  for (const int steps : {7, 1}) {
    const std::string parts = fmt::format("parts_{}", steps);
    ASSERT_EQ(folder.run({"--output", parts, "--steps", std::to_string(steps)}).status, 0);
    EXPECT_THAT(read_text(folder / parts / "summary.json"), HasSubstr(R"("status": "stopped")"));
    const std::string checkpoint = fmt::format("{}/checkpoint_{}.h5", parts, steps);
    ASSERT_EQ(folder.run({"--output", parts, "--restart", checkpoint}).status, 0);
    EXPECT_EQ(read_checkpoint(folder / parts / "checkpoint_20.h5"),
              read_checkpoint(folder / "whole/checkpoint_20.h5"));
    expect_same_files(folder / "whole", folder / parts);
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Restart,
                         testing::Values(Restarted{CellType::Triangle, "crank-nicolson"},
                                         Restarted{CellType::Triangle, "backward-euler"},
                                         Restarted{CellType::Triangle, "crank-nicolson", "2"},
                                         Restarted{CellType::Tetrahedron, "crank-nicolson"}));

TEST(RestartAgain, from_an_earlier_checkpoint_replaces_what_came_after) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  ASSERT_EQ(folder.run({}).status, 0);
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_15.h5"}).status, 0);
  expect_same_files(folder / "whole", folder / "out");
}

TEST(RestartAgain, to_a_later_end_goes_on_from_a_step_that_the_end_made_shorter) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--set", "time.end=0.48"}).status, 0);
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_10.h5", "--output", "from_there"}).status, 0);
  const Checkpoint from_there = read_checkpoint(folder / "from_there/checkpoint_21.h5");
  EXPECT_EQ(from_there.time, 1);
  // From before it, the run is the one that had the later end from the start.
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_5.h5"}).status, 0);
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  EXPECT_EQ(read_checkpoint(folder / "out/checkpoint_20.h5"),
            read_checkpoint(folder / "whole/checkpoint_20.h5"));
}

TEST(RestartAgain, from_an_earlier_checkpoint_leaves_none_of_the_part_that_it_replaces) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  ASSERT_EQ(folder.run({}).status, 0);
  {
    Program program(folder.path(), {"run", "case.toml", "--quiet", "--restart", "out/checkpoint_15.h5",
                                    "--set", "time.step=1e-6"});
    ASSERT_TRUE(program.wait_until(
        [&] { return read_text(folder / "out/residuals.csv").find("\n16,0.750001,") != std::string::npos; }));
    program.send(SIGKILL);
    program.wait();
  }
  ASSERT_EQ(folder.run({"--restart", "out"}).status, 0);
  expect_same_files(folder / "whole", folder / "out");
}

TEST(RestartAgain, leaves_no_results_of_the_part_that_it_replaces) {
  const CaseFolder folder;
  folder.edit("interval = 0.2", "every = 1");
  ASSERT_EQ(folder.run({}).status, 0);
  const auto later = [&](int step) {
    return std::filesystem::exists(folder / fmt::format("out/middle_{}.csv", step)) ||
           std::filesystem::exists(folder / fmt::format("out/fields/box_{:06}.hdf", step));
  };
  ASSERT_TRUE(later(19));
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_15.h5", "--set", "output.every=10"}).status, 0);
  EXPECT_TRUE(later(14) && later(20));
  EXPECT_FALSE(later(16) || later(19));
  ASSERT_EQ(folder.run({"--set", "output.every=10"}).status, 0);
  EXPECT_FALSE(later(14));
  EXPECT_TRUE(later(0) && later(10));
}

TEST(RestartAgain, at_the_end_writes_what_belongs_there) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole", "--set", "time.end=0.5"}).status, 0);
  ASSERT_EQ(folder.run({"--steps", "10"}).status, 0);
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(folder.run({"--restart", "out", "--set", "time.end=0.5"}).status, 0);
    expect_same_files(folder / "whole", folder / "out");
  }
  // In another directory there is nothing yet.
  ASSERT_EQ(folder.run({"--restart", "out", "--output", "other", "--set", "time.end=0.5"}).status, 0);
  for (const char* name : {"middle_10.csv", "fields/box_000010.hdf"})
    EXPECT_EQ(read_text(folder / "other" / name), read_text(folder / "whole" / name)) << name;
  EXPECT_EQ(line_count(folder / "other/centre.csv"), 3);
}

TEST(RestartAgain, from_the_end_writes_the_fields_that_are_asked_for_now) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({}).status, 0);
  const auto last = folder / "out/fields/box_000020.hdf";
  const auto has = [&](const char* field) {
    return Hdf5Reader(last).has(fmt::format("/VTKHDF/PointData/{}", field));
  };
  ASSERT_TRUE(has("temperature"));
  ASSERT_EQ(folder
                .run({"--restart", "out", "--set", "output.fields=[\"heat_flux\"]", "--set",
                      "monitor.middle.fields=[\"heat_flux\"]"})
                .status,
            0);
  EXPECT_FALSE(has("temperature"));
  EXPECT_THAT(read_text(folder / "out/middle_20.csv"), Not(HasSubstr("temperature")));
  std::filesystem::remove(last);
  ASSERT_EQ(folder.run({"--restart", "out"}).status, 0);
  EXPECT_TRUE(has("temperature"));
}

TEST(RestartAgain, from_the_end_changes_nothing) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({}).status, 0);
  const auto before = contents(folder / "out");
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_20.h5"}).status, 0);
  EXPECT_TRUE(contents(folder / "out") == before);
}

TEST(RestartAgain, a_longer_run_continues_a_shorter_one) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--set", "time.end=0.5"}).status, 0);
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_10.h5"}).status, 0);
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  EXPECT_EQ(read_checkpoint(folder / "out/checkpoint_20.h5"),
            read_checkpoint(folder / "whole/checkpoint_20.h5"));
}

/// After a run that could not write one of its files, and one that goes on from where it ended.
void expect_same_files_after_failure(const CaseFolder& folder, const std::string& file) {
  SCOPED_TRACE(file);
  std::filesystem::remove_all(folder / "out");
  std::filesystem::create_directories(folder / "out" / file / "in the way");
  const Outcome failed = folder.run({});
  EXPECT_EQ(failed.status, 2);
  EXPECT_THAT(failed.error, AllOf(StartsWith("error: cannot write 'out/"), HasSubstr(file)));
  ASSERT_TRUE(find_newest_valid_checkpoint(folder / "out")->checkpoint.unwritten_since);
  // As long as the cause is there nothing is lost.
  EXPECT_EQ(folder.run({"--restart", "out"}).status, 2);
  std::filesystem::remove_all(folder / "out" / file);
  EXPECT_EQ(folder.run({"--restart", "out"}).error, "");
  expect_same_files(folder / "whole", folder / "out");
}

TEST(RestartAfterAFailedWrite, writes_what_is_missing) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  expect_same_files_after_failure(folder, "fields/box_000008.hdf");
  expect_same_files_after_failure(folder, "middle_8.csv");
}

TEST(RestartAfterAFailedWrite, elsewhere_writes_nothing_of_that_step) {
  const CaseFolder folder;
  std::filesystem::create_directories(folder / "out/fields/box_000008.hdf/in the way");
  ASSERT_EQ(folder.run({}).status, 2);
  ASSERT_EQ(folder.run({"--restart", "out", "--output", "other"}).error, "");
  EXPECT_FALSE(std::filesystem::exists(folder / "other/fields/box_000008.hdf"));
  EXPECT_TRUE(std::filesystem::exists(folder / "other/fields/box_000012.hdf"));
  EXPECT_THAT(read_text(folder / "other/mean.csv"), Not(HasSubstr("\n0.4,")));
}

TEST(RestartAfterAFailedWrite, of_a_flow_writes_what_is_missing) {
  const FlowFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  std::vector<std::string> fields;
  for (const auto& [name, bytes] : contents(folder / "whole"))
    if (name.starts_with("fields/")) fields.push_back(name);
  ASSERT_EQ(fields.size(), 4u);  // of 0, 0.4, 0.8 and 1 s
  expect_same_files_after_failure(folder, fields[1]);
}

TEST(RestartFrom, a_checkpoint_of_another_mesh_is_refused) {
  const CaseFolder folder, other(CellType::Triangle, 7);
  ASSERT_EQ(other.run({"--steps", "2"}).status, 0);
  const std::string checkpoint = other / "out/checkpoint_2.h5";
  Outcome refused = folder.run({"--restart", checkpoint});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("error: " + checkpoint), HasSubstr("on another mesh")));
  refused = other.run({"--restart", checkpoint, "--set", "mesh.order=hilbert"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, HasSubstr("[mesh] order"));
}

TEST(RestartFrom, a_damaged_checkpoint_is_refused_and_leaves_the_results_alone) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "5"}).status, 0);
  const std::string whole = read_text(folder / "out/checkpoint_5.h5");
  write_text(folder / "cut.h5", whole.substr(0, whole.size() / 2));
  std::string flipped = whole;
  flipped[whole.size() - 100] ^= 4;
  write_text(folder / "flipped.h5", flipped);
  const auto before = contents(folder / "out");
  std::filesystem::create_directory(folder / "empty");
  const std::string too_long(300, 'x');
  for (const auto& name : {std::string("cut.h5"), std::string("flipped.h5"), std::string("missing.h5"),
                           std::string("case.toml"), std::string("box.h5"), std::string("empty"), too_long}) {
    const Outcome refused = folder.run({"--restart", name});
    EXPECT_EQ(refused.status, 2) << name;
    EXPECT_THAT(refused.error, AllOf(HasSubstr("error: cannot start from"), HasSubstr(name)));
    EXPECT_TRUE(contents(folder / "out") == before) << name;
  }
}

TEST(RestartFrom, a_checkpoint_goes_on_with_another_time_step) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "5"}).status, 0);
  const std::vector<std::string> restart = {"--restart", "out/checkpoint_5.h5", "--set", "time.step=0.1"};
  const auto restarted_with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), restart.begin(), restart.end());
    return folder.run(more);
  };
  // From 0.25 s seven steps of 0.1 s and one of 0.05 s.
  ASSERT_EQ(restarted_with({"--output", "whole"}).status, 0);
  EXPECT_THAT(read_text(folder / "whole/residuals.csv"), HasSubstr("\n6,0.35,"));
  EXPECT_EQ(read_checkpoint(folder / "whole/checkpoint_13.h5").time, 1);
  // Restarts of the restarted run go on to the same bytes.
  ASSERT_EQ(restarted_with({"--output", "parts", "--steps", "3"}).status, 0);
  ASSERT_EQ(folder.run({"--restart", "parts", "--output", "parts", "--set", "time.step=0.1"}).status, 0);
  EXPECT_EQ(read_checkpoint(folder / "parts/checkpoint_13.h5"),
            read_checkpoint(folder / "whole/checkpoint_13.h5"));
  expect_same_files(folder / "whole", folder / "parts");
}

TEST(RestartFrom, a_checkpoint_after_the_end_is_refused) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "10"}).status, 0);
  const Outcome refused = folder.run({"--restart", "out/checkpoint_10.h5", "--set", "time.end=0.3"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("the checkpoint is of 0.5 s, after the end of [time], 0.3 s"),
                                   Not(HasSubstr("bug"))));
}

TEST(RestartFrom, a_checkpoint_before_the_start_is_refused) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "10"}).status, 0);
  const Outcome refused = folder.run({"--restart", "out/checkpoint_10.h5", "--set", "time.start=0.7"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, HasSubstr("the checkpoint is of 0.5 s, before the start of [time], 0.7 s"));
}

TEST(RestartFrom, a_directory_takes_the_last_whole_checkpoint_and_tells_of_damage) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  ASSERT_EQ(folder.run({"--steps", "12"}).status, 0);  // with checkpoints of steps 10 and 12
  std::filesystem::copy(folder / "out", folder / "damaged");
  ASSERT_EQ(folder.run({"--restart", "out"}).status, 0);
  expect_same_files(folder / "whole", folder / "out");

  std::string bytes = read_text(folder / "damaged/checkpoint_12.h5");
  bytes[bytes.size() / 2] ^= 1;
  write_text(folder / "damaged/checkpoint_12.h5", bytes);
  const Outcome outcome = folder.run({"--output", "damaged", "--restart", "damaged"});
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.error,
              AllOf(StartsWith("warning: cannot start from 'damaged/checkpoint_12.h5': it is damaged"),
                    HasSubstr("trying the checkpoint before it")));
  EXPECT_EQ(std::ranges::count(outcome.error, '\n'), 1);
  EXPECT_EQ(read_checkpoint(folder / "damaged/checkpoint_20.h5"),
            read_checkpoint(folder / "whole/checkpoint_20.h5"));
}

TEST(RestartFrom, a_directory_without_a_whole_checkpoint_tells_of_the_damage_of_all) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "12"}).status, 0);
  for (const char* name : {"out/checkpoint_10.h5", "out/checkpoint_12.h5"})
    write_text(folder / name, read_text(folder / name).substr(0, 2000));
  const Outcome refused = folder.run({"--restart", "out"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error,
              AllOf(HasSubstr("without damage (checkpoint_12.h5: "), HasSubstr("; checkpoint_10.h5: ")));
}

TEST(RestartFrom, a_link_goes_on_with_the_files_of_the_directory_that_it_is_in) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--output", "whole"}).status, 0);
  ASSERT_EQ(folder.run({"--steps", "12"}).status, 0);
  std::filesystem::create_directory(folder / "kept");
  std::filesystem::rename(folder / "out/checkpoint_12.h5", folder / "kept/checkpoint_12.h5");
  std::filesystem::create_symlink("../kept/checkpoint_12.h5", folder / "out/checkpoint_12.h5");
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_12.h5"}).status, 0);
  expect_same_files(folder / "whole", folder / "out");
}

TEST(RestartFrom, a_checkpoint_with_other_columns_leaves_all_files_alone) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({}).status, 0);
  const auto before = contents(folder / "out");
  // A monitor that comes after others, one that comes first, the same columns from elsewhere, and the table
  // of the run itself.
  for (const char* change : {"monitor.sides.patches=[\"left\"]", "monitor.centre.fields=[\"temperature\"]",
                             "monitor.centre.points=[[0.5, 0.5, 0], [0.1, 0.8, 0]]"}) {
    const Outcome refused = folder.run({"--restart", "out/checkpoint_15.h5", "--set", change});
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.error, HasSubstr("error: cannot continue 'out/"));
    EXPECT_TRUE(contents(folder / "out") == before) << change;
  }
  const std::string residuals = read_text(folder / "out/residuals.csv");
  write_text(folder / "out/residuals.csv", "of another run\n");
  EXPECT_EQ(folder.run({"--restart", "out/checkpoint_15.h5"}).status, 2);
  write_text(folder / "out/residuals.csv", residuals);
  EXPECT_TRUE(contents(folder / "out") == before);
}

TEST(RestartFrom, a_checkpoint_without_one_of_the_monitors_tells_of_its_table) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({}).status, 0);
  const std::string table = read_text(folder / "out/mean.csv");
  const std::string text = read_text(folder / "case.toml");
  folder.edit("[monitor.mean]", "[monitor.average]");
  const std::vector<std::string> again{"run", "case.toml", "--restart", "out/checkpoint_15.h5"};
  EXPECT_THAT(run_curlew(folder.path(), again).error,
              HasSubstr("'out/mean.csv' is of a monitor that this run does not have, and left as it is\n"));
  EXPECT_EQ(read_text(folder / "out/mean.csv"), table);
  write_text(folder / "case.toml", text);
  EXPECT_THAT(run_curlew(folder.path(), again).error, HasSubstr("'out/average.csv'"));
  std::filesystem::remove(folder / "out/average.csv");
  EXPECT_THAT(run_curlew(folder.path(), again).error, Not(HasSubstr("does not have")));
}

TEST(RestartFrom, a_directory_never_goes_on_with_the_run_before_the_last) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "12"}).status, 0);
  const Checkpoint earlier = read_checkpoint(folder / "out/checkpoint_12.h5");
  {
    Program program(folder.path(), {"run", "case.toml", "--quiet", "--set", "time.step=1e-6"});
    ASSERT_TRUE(program.wait_until(
        [&] { return read_text(folder / "out/residuals.csv").find("\n2,2e-06,") != std::string::npos; }));
    program.send(SIGKILL);
    program.wait();
  }
  const Outcome refused = folder.run({"--restart", "out"});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("no checkpoint_*.h5 in this directory"),
                                   HasSubstr("checkpoint_12.h5.earlier")));
  EXPECT_EQ(read_checkpoint(folder / "out/checkpoint_12.h5.earlier"), earlier);
  // The files there are those of the killed run: with them it does not go on.
  ASSERT_EQ(folder.run({"--restart", "out/checkpoint_12.h5.earlier"}).status, 0);
  EXPECT_EQ(line_count(folder / "out/residuals.csv"), 2 + 8);
  EXPECT_THAT(read_text(folder / "out/residuals.csv"), Not(HasSubstr("\n2,2e-06,")));
  // It is there till the new run has one of its own.
  EXPECT_FALSE(std::filesystem::exists(folder / "out/checkpoint_12.h5.earlier"));
}

TEST(RestartFrom, its_own_directory_is_refused_to_a_steady_case) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "4"}).status, 0);
  const auto before = contents(folder / "out");
  write_text(folder / "steady.toml", R"TOML([mesh]
file = "box.h5"
[model]
type = "heat-diffusion"
[time]
steady = true
[material.box]
conductivity = 1
[boundary.left]
type = "temperature"
value = 3
[boundary.right]
type = "insulated"
[boundary.bottom]
type = "insulated"
[boundary.top]
type = "insulated"
[output]
directory = "out"
)TOML");
  const auto run_steady = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"run", "steady.toml", "--quiet", "--restart", "out"});
    return run_curlew(folder.path(), more);
  };
  const Outcome refused = run_steady({});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, HasSubstr("a steady state has no steps that go on with those in 'out'"));
  EXPECT_EQ(contents(folder / "out"), before);
  EXPECT_EQ(run_steady({"--output", "other"}).error, "");
}

TEST(RestartFrom, a_directory_without_checkpoints_names_the_remedy) {
  const CaseFolder folder;
  const Outcome refused = folder.run({"--restart", "."});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.error, AllOf(HasSubstr("cannot start from '.': no checkpoint_*.h5"),
                                   HasSubstr("give --restart a directory with some")));
}

TEST(RestartFrom, another_directory_does_not_go_on_with_the_results_of_another_run) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--set", "material.box.conductivity=9"}).status, 0);
  ASSERT_EQ(folder.run({"--output", "other", "--steps", "10"}).status, 0);
  ASSERT_EQ(folder.run({"--restart", "other"}).status, 0);
  EXPECT_EQ(line_count(folder / "out/residuals.csv"), 2 + 10);
  for (const char* name : {"residuals.csv", "mean.csv"})
    EXPECT_EQ(read_text(folder / "out" / name).find("\n0.45,"), std::string::npos) << name;
  EXPECT_FALSE(std::filesystem::exists(folder / "out/fields/box_000004.hdf"));
  EXPECT_THAT(read_text(folder / "out/box.hdf.series"), Not(HasSubstr("box_000004")));
  EXPECT_THAT(read_text(folder / "out/box.hdf.series"), HasSubstr("box_000012"));
}

TEST(RestartFrom, another_directory_leaves_no_checkpoint_of_the_run_before) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "3"}).status, 0);
  ASSERT_EQ(folder.run({"--output", "other", "--steps", "5"}).status, 0);
  ASSERT_EQ(folder.run({"--restart", "other", "--steps", "1"}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(folder / "out/checkpoint_3.h5"));
  EXPECT_TRUE(std::filesystem::exists(folder / "out/checkpoint_6.h5"));
}

TEST(Kill, at_any_moment_leaves_whole_files_and_the_restart_comes_to_the_same_bytes) {
  const CheckpointedCase folder;
  expect_same_bytes_after_kills(folder, {.kills = 10, .seed = 11});
}

}  // namespace
}  // namespace curlew::test
