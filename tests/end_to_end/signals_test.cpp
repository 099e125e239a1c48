// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "app/output/checkpoint.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::HasSubstr;

class Stop : public testing::TestWithParam<std::pair<int, int>> {};

TEST_P(Stop, ends_the_step_writes_a_checkpoint_and_the_restart_reaches_the_same_bits) {
  const auto [signal, status] = GetParam();
  const LongCase folder;
  Program program(folder.path(), {"run", "case.toml", "--quiet"});
  ASSERT_TRUE(program.wait_until(folder.after_steps(5)));
  program.send(signal);
  const Outcome outcome = program.wait();
  EXPECT_EQ(outcome.status, status);
  EXPECT_EQ(outcome.error, "");
  EXPECT_THAT(read_text(folder / "out/summary.json"), HasSubstr(R"("status": "stopped")"));
  EXPECT_THAT(read_text(folder / "out/report.html"), HasSubstr("<span class=\"stopped\">"));

  const auto stopped = find_newest_valid_checkpoint(folder / "out");
  ASSERT_TRUE(stopped);
  const std::int64_t last = stopped->checkpoint.step + 3;
  ASSERT_EQ(folder.run({"--restart", stopped->path, "--steps", "3"}).status, 0);
  ASSERT_EQ(folder.run({"--output", "whole", "--steps", std::to_string(last)}).status, 0);
  const std::string name = fmt::format("checkpoint_{}.h5", last);
  EXPECT_EQ(read_checkpoint(folder / "out" / name), read_checkpoint(folder / "whole" / name));
  EXPECT_EQ(read_text(folder / "out/residuals.csv"), read_text(folder / "whole/residuals.csv"));
}

INSTANTIATE_TEST_SUITE_P(Each, Stop, testing::Values(std::pair(SIGINT, 130), std::pair(SIGTERM, 143)));

TEST(Stop, before_the_first_step_is_at_once) {
  const CaseFolder folder;
  ASSERT_EQ(folder.run({"--steps", "2"}).status, 0);
  const std::string pipe = folder / "out/residuals.csv";
  std::filesystem::remove(pipe);
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Program program(folder.path(), {"run", "case.toml", "--quiet", "--restart", "out"});
  // Once it reads the file that it is to go on with, only the steps are left to come.
  int writer = -1;
  ASSERT_TRUE(
      program.wait_until([&] { return (writer = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK)) >= 0; }));
  program.send(SIGTERM);
  ::close(writer);
  EXPECT_EQ(program.wait().status, -SIGTERM);
}

TEST(CheckpointSignal, writes_one_and_goes_on) {
  const LongCase folder;
  Program program(folder.path(), {"run", "case.toml", "--quiet"});
  ASSERT_TRUE(program.wait_until(folder.after_steps(3)));
  EXPECT_FALSE(find_newest_valid_checkpoint(folder / "out"));
  program.send(SIGUSR1);
  ASSERT_TRUE(program.wait_until([&] { return find_newest_valid_checkpoint(folder / "out").has_value(); }));
  const auto first = find_newest_valid_checkpoint(folder / "out")->checkpoint;
  EXPECT_TRUE(program.wait_until(folder.after_steps(5)));
  program.send(SIGTERM);
  EXPECT_EQ(program.wait().status, 143);
  EXPECT_GT(find_newest_valid_checkpoint(folder / "out")->checkpoint.step, first.step);
}

TEST(CheckpointSignal, before_the_first_step_is_taken_after_it) {
  const LongCase folder;
  const std::string pipe = folder / "pipe.toml";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  Program program(folder.path(), {"run", "pipe.toml", "--quiet"});
  // The run has begun once it reads.
  int writer = -1;
  ASSERT_TRUE(
      program.wait_until([&] { return (writer = ::open(pipe.c_str(), O_WRONLY | O_NONBLOCK)) >= 0; }));
  program.send(SIGUSR1);
  const std::string text = read_text(folder / "case.toml");
  EXPECT_EQ(::write(writer, text.data(), text.size()), std::ssize(text));
  ::close(writer);
  ASSERT_TRUE(program.wait_until([&] { return find_newest_valid_checkpoint(folder / "out").has_value(); }));
  EXPECT_EQ(find_newest_valid_checkpoint(folder / "out")->checkpoint.step, 1);
}

TEST(Reader, of_what_is_told_may_leave) {
  const CaseFolder folder;
  // The reader is gone before the program has begun to tell.
  const std::string line =
      fmt::format("cd '{}' && '{}' run case.toml 2>&1 | true", folder.path().string(), CURLEW_PROGRAM);
  EXPECT_EQ(std::system(line.c_str()), 0);
  EXPECT_THAT(read_text(folder / "out/summary.json"), HasSubstr(R"("status": "done")"));
}

TEST(ClosedStreams, leave_their_place_to_no_file_of_the_run) {
  const CaseFolder folder;
  folder.run_to("whole", 0);
  const std::string start = fmt::format("cd '{}' && '{}' ", folder.path().string(), CURLEW_PROGRAM);
  for (const char* closed : {"2>&-", "<&- >&- 2>&-"}) {
    const std::string directory = fmt::format("closed{}", std::string(closed).size());
    EXPECT_EQ(std::system(fmt::format("{} run case.toml --output {} {}", start, directory, closed).c_str()),
              0);
    expect_same_files(folder / directory, folder / "whole");
  }
  // An answer that nobody gets is a failure still.
  EXPECT_EQ(WEXITSTATUS(std::system((start + "--version >&- 2> error").c_str())), 2);
  EXPECT_THAT(read_text(folder / "error"), HasSubstr("error: cannot write to standard output"));
}

}  // namespace
}  // namespace curlew::test
