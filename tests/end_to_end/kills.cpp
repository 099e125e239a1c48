// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/end_to_end/kills.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "app/output/checkpoint.hpp"

namespace curlew::test {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Whether a file is being written, or was when its writer died.
bool has_unfinished_file(const std::filesystem::path& directory) {
  std::error_code gone;  // files come and go meanwhile
  for (std::filesystem::recursive_directory_iterator entry(directory, gone), end; !gone && entry != end;
       entry.increment(gone)) {
    if (entry->path().extension() == ".tmp") return true;
  }
  return false;
}

}  // namespace

CheckpointedCase::CheckpointedCase() : JacobiCase(CellType::Triangle, 4) {
  edit("step = 0.05", "step = 0.025");
  edit("checkpoint = 0.25", "checkpoint = 0.025");
}

void expect_same_bytes_after_kills(const CaseFolder& folder, const Kills& kills) {
  std::mt19937 generator(kills.seed);
  const std::vector<std::string> arguments{"run", "case.toml", "--quiet"};
  const auto began = Clock::now();
  folder.run_to("whole", kills.ranks);
  const Seconds duration = Clock::now() - began;

  const int rows = line_count(folder / "whole/residuals.csv");

  int killed = 0, from_the_start = 0, unfinished = 0;
  for (int round = 0; killed < kills.kills && round < 3 * kills.kills; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    std::filesystem::remove_all(folder / "out");
    {
      Program program(folder.path(), arguments, kills.ranks);
      // Some while it starts, if not later; most after a step of their own, however fast the machine is just
      // now.
      const double fraction = std::uniform_real_distribution<>(0, 1)(generator);
      if (round % 8 == 0) {
        std::this_thread::sleep_for(fraction * duration);
      } else {
        const int row = std::uniform_int_distribution(1, rows - 1)(generator);
        program.wait_until([&] { return line_count(folder / "out/residuals.csv") >= row; });
        std::this_thread::sleep_for(fraction * duration / rows);
      }
      if (round % 4 == 3) program.wait_until([&] { return has_unfinished_file(folder / "out"); });
      if (kills.ranks == 0) {
        program.send(SIGKILL);
      } else {
        std::vector<pid_t> ranks;
        program.wait_until([&] { return !(ranks = program.rank_processes()).empty(); });
        if (!ranks.empty()) ::kill(ranks[generator() % ranks.size()], SIGKILL);
      }
      if (program.wait().status == 0) continue;  // it had ended before
    }
    ++killed;
    unfinished += has_unfinished_file(folder / "out");
    std::vector<std::string> rest;
    if (const auto newest = find_newest_valid_checkpoint(folder / "out")) {
      EXPECT_TRUE(newest->notes.empty()) << newest->notes.front();
      rest = {"--restart", newest->path};
    } else {
      ++from_the_start;
    }
    folder.run_to("out", kills.ranks, rest);
    expect_same_files(folder / "whole", folder / "out");
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_EQ(killed, kills.kills);
  testing::Test::RecordProperty("restarted_from_the_start", from_the_start);
  testing::Test::RecordProperty("left_an_unfinished_file", unfinished);
  if (killed < 50) return;
  EXPECT_GT(from_the_start, 0);
  EXPECT_LT(from_the_start, killed / 2);
  EXPECT_GT(unfinished, killed / 20);
}

}  // namespace curlew::test
