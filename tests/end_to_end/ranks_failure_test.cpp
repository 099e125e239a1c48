// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <thread>

#include "app/output/checkpoint.hpp"
#include "tests/end_to_end/kills.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::StartsWith;

const std::vector<std::string> quiet_run{"run", "case.toml", "--quiet"};

/// Expects a summary with that status, whose reason is the only error of the run, and a report.
void expect_reason(const std::filesystem::path& output, const std::string& status, const Outcome& outcome) {
  const auto summary = nlohmann::json::parse(read_text(output / "summary.json"));
  EXPECT_EQ(summary["status"], status);
  ASSERT_TRUE(summary.contains("reason"));
  EXPECT_THAT(error_lines(outcome), ElementsAre("error: " + summary["reason"].get<std::string>()));
  EXPECT_THAT(read_text(output / "report.html"), HasSubstr("<span class=\"" + status + "\">"));
}

/// Whether a process is there and does not only wait for its parent to take note of its end.
bool runs(pid_t process) {
  const std::string status = read_text(fmt::format("/proc/{}/stat", process));  // PID (NAME) STATE PARENT
  return !status.empty() && status.at(status.rfind(')') + 2) != 'Z';
}

TEST(ErrorsOnRanks, are_told_once_and_are_those_of_a_serial_run) {
  const JacobiCase folder;
  const auto both = [&](const std::vector<std::string>& arguments) {
    const Outcome serial = run_curlew(folder.path(), arguments),
                  ranks = run_curlew(folder.path(), arguments, 3);
    EXPECT_EQ(ranks.status, serial.status);
    EXPECT_EQ(ranks.status, 2);
    EXPECT_EQ(error_lines(ranks), error_lines(serial));
    EXPECT_FALSE(error_lines(ranks).empty());
    EXPECT_THAT(ranks.error, testing::Not(HasSubstr("MPI_ABORT")));
  };
  both({"run", "case.toml", "--stepps", "3"});
  both({"run", "nothing.toml"});
  both({"run", "case.toml", "--set", "time.stop=1", "--set", "boundary.lleft.type=\"insulated\""});
  both({"run", "case.toml", "--set", "mesh.file=\"case.toml\""});
  both({"run", "case.toml", "--set", "monitor.centre.points=[[0.5, 0.5, 0.0], [3.0, 0.0, 0.0]]"});
  both({"run", "case.toml", "--restart", "nothing.h5"});
  both({"mesh", "info", "nothing.msh"});
  write_text(folder / "flat", "");
  both({"run", "case.toml", "--output", "flat"});
  both({"run", "case.toml", "--output", "/proc/out"});
}

TEST(FailingRank, ends_the_run_with_one_message) {
  const JacobiCase folder;
  // No value at the right, from 0.4 s on: on some of the ranks.
  folder.edit("5*sin(9*t)*x", "sqrt(1.3 - t - x)");
  const auto began = std::chrono::steady_clock::now();
  const Outcome outcome = folder.run({}, 3);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(error_lines(outcome), ElementsAre(AllOf(MatchesRegex("error: rank [0-2]: case.toml:.*"),
                                                      HasSubstr("sqrt(1.3 - t - x)"))));
  expect_reason(folder / "out", "failed", outcome);
  // On all of them.
  folder.edit("sqrt(1.3 - t - x)", "sqrt(0.32 - t)");
  const Outcome on_all = folder.run({"--output", "other"}, 3);
  EXPECT_EQ(on_all.status, 2);
  EXPECT_THAT(error_lines(on_all), ElementsAre(HasSubstr("error: rank 0: case.toml:")));
  EXPECT_EQ(line_count(folder / "other/residuals.csv"), 2 + 6);
  expect_reason(folder / "other", "failed", on_all);
}

TEST(FailingRank, that_cannot_write_ends_the_run) {
  const JacobiCase folder;
  for (const char* name :
       {"residuals.csv", "centre.csv", "middle_0.csv", "checkpoint_5.h5", "fields/box_000004.hdf"}) {
    std::filesystem::create_directories(folder / "out" / name / "in the way");
    const Outcome outcome = folder.run({}, 2);
    EXPECT_EQ(outcome.status, 2) << name;
    EXPECT_THAT(error_lines(outcome),
                ElementsAre(AllOf(ContainsRegex("error: (rank 0: )?cannot write 'out/"), HasSubstr(name))));
    std::filesystem::remove_all(folder / "out");
  }
}

TEST(FailingRank, whose_disk_is_full_ends_the_run_and_it_can_go_on_later) {
  const LongCase folder;
  folder.edit("directory = \"out\"", "directory = \"out\"\ncheckpoint = 3e-6");
  Program program(folder.path(), quiet_run, 2);
  ASSERT_TRUE(program.wait_until(folder.after_steps(12)));
  const rlimit full{3000, RLIM_INFINITY};
  for (const pid_t rank : program.rank_processes())
    ASSERT_EQ(::prlimit(rank, RLIMIT_FSIZE, &full, nullptr), 0);
  const auto began = std::chrono::steady_clock::now();
  const Outcome outcome = program.wait();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(error_lines(outcome), ElementsAre(AllOf(StartsWith("error: rank 0: cannot write 'out/"),
                                                      HasSubstr("File too large"))));
  const auto newest = find_newest_valid_checkpoint(folder / "out");
  ASSERT_TRUE(newest);
  EXPECT_TRUE(newest->notes.empty());
  const std::int64_t last = newest->checkpoint.step + 4;
  folder.run_to("out", 2, {"--restart", "out", "--steps", "4"});
  folder.run_to("whole", 0, {"--steps", std::to_string(last)});
  expect_same_files(folder / "whole", folder / "out");
}

/// Rank 0 runs in `folder` and rank 1 in `other`.
Outcome run_apart(const CaseFolder& folder, const std::filesystem::path& other,
                  const std::vector<std::string>& more = {}, std::vector<std::string> more_of_other = {}) {
  const std::string output = folder / "out";
  std::vector<std::string> arguments{"run", "case.toml", "--quiet", "--output", output};
  arguments.insert(arguments.end(), more.begin(), more.end());
  arguments.insert(arguments.end(), {":", "-n", "1", "-wdir", other.string(), CURLEW_PROGRAM, "run",
                                     "case.toml", "--quiet", "--output", output});
  more_of_other.insert(more_of_other.begin(), more.begin(), more.end());
  arguments.insert(arguments.end(), more_of_other.begin(), more_of_other.end());
  return run_curlew(folder.path(), arguments, 1);
}

TEST(RanksApart, have_to_have_one_case_and_mesh) {
  const CaseFolder folder, other;
  EXPECT_EQ(run_apart(folder, other.path()).status, 0);
  const auto expect_refused = [&](const Outcome& outcome, const std::string& text) {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(error_lines(outcome), ElementsAre(AllOf(StartsWith("error: rank 1: "), HasSubstr(text))));
  };
  for (const char* option : {"--steps=3", "--set=time.end=0.7"})
    expect_refused(run_apart(folder, other.path(), {}, {option}), "rank 0; all ranks have to");

  // Each reads its part of the file that it sees.
  for (const CaseFolder* each : {&folder, &other}) {
    const std::string scale = each == &folder ? "1" : "1.5";
    ASSERT_EQ(run_curlew(each->path(),
                         {"mesh", "convert", "box.h5", "parts.h5", "--partition", "2", "--scale", scale})
                  .status,
              0);
  }
  expect_refused(run_apart(folder, other.path(), {"--set", "mesh.file=\"parts.h5\""}),
                 "parts.h5: the mesh file is not that of rank 0");
  other.edit("scheme", "# another\nscheme");
  expect_refused(run_apart(folder, other.path()), "case.toml, --set or --output is not what it is on rank 0");
}

TEST(FailingRank, that_is_killed_ends_the_run) {
  const LongCase folder;
  for (const std::size_t rank : {0u, 1u}) {
    Program program(folder.path(), quiet_run, 3);
    ASSERT_TRUE(program.wait_until(folder.after_steps(5)));
    const auto ranks = program.rank_processes();
    ASSERT_EQ(ranks.size(), 3u);
    ::kill(ranks[rank], SIGKILL);
    const auto began = std::chrono::steady_clock::now();
    EXPECT_NE(program.wait().status, 0);
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
    // mpirun ends when it has told the others to, a moment before they have.
    const auto gone = [&] { return std::ranges::none_of(ranks, runs); };
    for (int wait = 0; wait < 100 && !gone(); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_TRUE(gone()) << "rank " << rank;
  }
}

TEST(DivergedOnRanks, is_told_once_with_the_last_good_checkpoint) {
  const JacobiCase folder;
  const std::vector<std::string> arguments{"--set", "solver.temperature.max_iterations=2", "--set",
                                           "solver.temperature.tolerance=1e-14"};
  const Outcome serial = folder.run(arguments), ranks = folder.run(arguments, 2);
  EXPECT_EQ(serial.status, 3);
  EXPECT_EQ(ranks.status, 3);
  EXPECT_EQ(error_lines(ranks), error_lines(serial));
  EXPECT_EQ(error_lines(ranks).size(), 1u);
  expect_reason(folder / "out", "diverged", ranks);
}

TEST(StopOnRanks, a_signal_to_any_rank_ends_all_with_a_checkpoint) {
  const LongCase folder;
  for (const int rank : {0, 2}) {
    Program program(folder.path(), quiet_run, 3);
    ASSERT_TRUE(program.wait_until(folder.after_steps(5)));
    const auto ranks = program.rank_processes();
    ASSERT_EQ(ranks.size(), 3u);
    ::kill(ranks[at(rank)], SIGUSR1);
    ASSERT_TRUE(program.wait_until([&] { return find_newest_valid_checkpoint(folder / "out").has_value(); }));
    ASSERT_TRUE(program.wait_until(folder.after_steps(3)));  // goes on
    ::kill(ranks[at(rank)], rank == 0 ? SIGTERM : SIGINT);
    EXPECT_EQ(program.wait().status, rank == 0 ? 143 : 130);
    EXPECT_THAT(read_text(folder / "out/summary.json"), HasSubstr(R"("status": "stopped")"));
    const auto stopped = find_newest_valid_checkpoint(folder / "out");
    ASSERT_TRUE(stopped);
    EXPECT_EQ(line_count(folder / "out/residuals.csv"), 2 + stopped->checkpoint.step);
    std::filesystem::remove_all(folder / "out");
  }
}

TEST(WallLimit, ends_the_run_with_a_checkpoint_that_goes_on_to_the_same_bits) {
  for (const int ranks : {0, 2}) {
    const LongCase folder;
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EQ(folder.run({"--set", "time.wall_limit=1.5"}, ranks).status, 0);
    EXPECT_GT(std::chrono::steady_clock::now() - began, std::chrono::milliseconds(1500));
    EXPECT_THAT(
        read_text(folder / "out/summary.json"),
        AllOf(HasSubstr(R"("status": "stopped")"), HasSubstr(R"("reason": "[time] wall_limit of 1.5 s)")));
    const auto stopped = find_newest_valid_checkpoint(folder / "out");
    ASSERT_TRUE(stopped);
    const std::int64_t last = stopped->checkpoint.step + 3;
    EXPECT_GT(last, 4);
    EXPECT_EQ(folder.run({"--restart", stopped->path, "--steps", "3"}, ranks).status, 0);
    EXPECT_EQ(folder.run({"--output", "whole", "--steps", std::to_string(last)}).status, 0);
    const std::string name = fmt::format("checkpoint_{}.h5", last);
    EXPECT_EQ(read_checkpoint(folder / "out" / name), read_checkpoint(folder / "whole" / name));
    EXPECT_EQ(read_text(folder / "out/residuals.csv"), read_text(folder / "whole/residuals.csv"));
  }
}

TEST(KillOnRanks, at_any_moment_leaves_whole_files_and_the_restart_comes_to_the_same_bytes) {
  const CheckpointedCase folder;
  expect_same_bytes_after_kills(folder, {.kills = 4, .seed = 7, .ranks = 2});
}

TEST(RestartOnRanks, passes_over_a_damaged_checkpoint_and_tells_of_it_once) {
  const JacobiCase folder;
  folder.run_to("whole", 0);
  folder.run_to("out", 2, {"--steps", "12"});  // with checkpoints of steps 10 and 12
  write_text(folder / "out/checkpoint_12.h5", read_text(folder / "out/checkpoint_12.h5").substr(0, 3000));
  const Outcome outcome = folder.run({"--restart", "out"}, 2);
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.error, HasSubstr("warning: cannot start from 'out/checkpoint_12.h5': it is damaged"));
  EXPECT_EQ(outcome.error.find("warning: ", outcome.error.find("warning: ") + 1), std::string::npos);
  EXPECT_EQ(read_checkpoint(folder / "out/checkpoint_20.h5"),
            read_checkpoint(folder / "whole/checkpoint_20.h5"));
  std::filesystem::remove(folder / "out/checkpoint_20.h5");
  for (const auto& [name, bytes] : contents(folder / "out")) {
    if (name.starts_with("checkpoint_")) write_text(folder / "out" / name, bytes.substr(1));
  }
  const Outcome refused = folder.run({"--restart", "out"}, 2);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(error_lines(refused), ElementsAre(HasSubstr("cannot start from 'out': no checkpoint_*.h5")));
}

}  // namespace
}  // namespace curlew::test
