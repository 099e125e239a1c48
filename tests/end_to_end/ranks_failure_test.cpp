// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "app/checkpoint.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::MatchesRegex;

const std::vector<std::string> quiet_run{"run", "case.toml", "--quiet"};

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
}

TEST(ErrorsOnRanks, periodic_patches_are_refused_in_one_sentence) {
  const OutputDirectory folder;
  const Outcome refused =
      run_curlew(folder.path(), {"run", CURLEW_CASES "/taylor-green/decay.toml", "--output", "out"}, 2);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(error_lines(refused), ElementsAre(HasSubstr("cannot be divided among ranks yet")));
  EXPECT_EQ(folder.names(), "");
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
  // On all of them.
  folder.edit("sqrt(1.3 - t - x)", "sqrt(0.32 - t)");
  const Outcome on_all = folder.run({"--output", "other"}, 3);
  EXPECT_EQ(on_all.status, 2);
  EXPECT_THAT(error_lines(on_all), ElementsAre(HasSubstr("error: rank 0: case.toml:")));
  EXPECT_EQ(line_count(folder / "other/residuals.csv"), 2 + 6);
}

TEST(FailingRank, that_cannot_write_ends_the_run) {
  const JacobiCase folder;
  std::filesystem::create_directories(folder / "out/checkpoint_5.h5.tmp");  // where a file should be
  const Outcome outcome = folder.run({}, 3);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(error_lines(outcome),
              ElementsAre(HasSubstr("error: rank 0: cannot write 'out/checkpoint_5.h5'")));
}

TEST(FailingRank, that_is_killed_ends_the_run) {
  const LongCase folder;
  Program program(folder.path(), quiet_run, 3);
  ASSERT_TRUE(program.wait_until(folder.after_steps(5)));
  const auto ranks = program.rank_processes();
  ASSERT_EQ(ranks.size(), 3u);
  ::kill(ranks[1], SIGKILL);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_NE(program.wait().status, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
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
  EXPECT_THAT(read_text(folder / "out/summary.json"), HasSubstr(R"("status": "diverged")"));
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
    EXPECT_THAT(read_text(folder / "out/summary.json"), HasSubstr(R"("status": "stopped")"));
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

TEST(KillOnRanks, at_any_moment_leaves_a_whole_checkpoint_and_the_run_continues_to_the_same_bytes) {
  const JacobiCase folder;
  folder.edit("step = 0.05", "step = 0.005");
  folder.edit("checkpoint = 0.25", "checkpoint = 0.005");
  folder.run_to("whole", 0);
  std::mt19937 generator(7);
  std::vector<std::string> arguments = quiet_run;
  int kills = 0;
  bool finished = false;
  for (; kills < 6; ++kills) {
    Program program(folder.path(), arguments, 2 + kills % 2);
    const auto before = line_count(folder / "out/residuals.csv");
    if (!program.wait_until([&] { return line_count(folder / "out/residuals.csv") > before + 3; })) {
      finished = true;
      break;
    }
    const auto ranks = program.rank_processes();
    std::this_thread::sleep_for(std::chrono::microseconds(generator() % 30000));
    if (!ranks.empty()) ::kill(ranks[generator() % ranks.size()], SIGKILL);
    program.wait();
    const auto newest = find_newest_valid_checkpoint(folder / "out");
    ASSERT_TRUE(newest);
    EXPECT_TRUE(newest->notes.empty()) << newest->notes.front();
    arguments = quiet_run;
    arguments.insert(arguments.end(), {"--restart", newest->path});
  }
  EXPECT_GE(kills, 3);
  if (!finished) {
    EXPECT_EQ(run_curlew(folder.path(), arguments, 3).status, 0);
  }
  expect_same_files(folder / "whole", folder / "out");
}

}  // namespace
}  // namespace curlew::test
