// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/progress.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <vector>

namespace curlew::test {
namespace {

/// A run of ten steps of `pace` wall seconds each; what Progress prints of it.
std::string transcript(Progress::Mode mode, int steps, double pace, std::optional<double> end_time = 10.0) {
  std::ostringstream out;
  double now = 100;
  Progress progress(out, mode, end_time, [&] { return now; });
  for (int step = 1; step <= steps; ++step) {
    now += pace;
    progress.step(step, step, std::vector<ProgressItem>{{"iterations", "14"}, {"Courant", "0.43"}});
  }
  progress.finish("done");
  return out.str();
}

TEST(Progress, plain_lines_come_at_growing_intervals) {
  EXPECT_EQ(transcript(Progress::Mode::Lines, 10, 1),
            "step 1  time 1 s  iterations 14  Courant 0.43  1 s/step  9.0 s left\n"
            "step 3  time 3 s  iterations 14  Courant 0.43  1 s/step  7.0 s left\n"
            "step 7  time 7 s  iterations 14  Courant 0.43  1 s/step  3.0 s left\n"
            "step 10  time 10 s  iterations 14  Courant 0.43  1 s/step\n"
            "done\n");
  const std::string hour = transcript(Progress::Mode::Lines, 3600, 1);
  const auto lines = std::count(hour.begin(), hour.end(), '\n');
  EXPECT_GE(lines, 60);
  EXPECT_LE(lines, 70);
}

TEST(Progress, no_time_left_without_an_end) {
  EXPECT_EQ(transcript(Progress::Mode::Lines, 1, 0.5, std::nullopt),
            "step 1  time 1 s  iterations 14  Courant 0.43  0.5 s/step\ndone\n");
}

TEST(Progress, time_left_is_told_by_the_pace_of_this_run_s_steps) {
  std::ostringstream out;
  double now = 0;
  Progress progress(out, Progress::Mode::Lines, 10., [&] { return now; });
  now = 50;  // of set-up
  progress.begin_steps(9);
  now += 2;
  progress.step(91, 9.1, {});
  EXPECT_EQ(out.str(), "step 91  time 9.1 s  2 s/step  18.0 s left\n");
}

TEST(Progress, a_terminal_has_one_updating_line) {
  const std::string text = transcript(Progress::Mode::Terminal, 100, 0.01, std::nullopt);
  EXPECT_EQ(text.substr(0, 15), "\rstep 1  time 1");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  // One second at ten lines a second, and the last step.
  const auto updates = std::count(text.begin(), text.end(), '\r');
  EXPECT_GE(updates, 10);
  EXPECT_LE(updates, 12);
  EXPECT_NE(text.find("\rstep 100  time 100 s  iterations 14  Courant 0.43  0.01 s/step\x1b[K\ndone\n"),
            std::string::npos);
}

TEST(Progress, quiet_says_nothing) {
  EXPECT_EQ(transcript(Progress::Mode::Quiet, 10, 1), "");
}

TEST(Progress, a_note_does_not_tear_the_updating_line) {
  std::ostringstream out;
  Progress progress(out, Progress::Mode::Terminal, std::nullopt, [] { return 0.0; });
  progress.step(1, 0.5, {});
  progress.note("checkpoint written");
  EXPECT_EQ(out.str(), "\rstep 1  time 0.5 s  0 s/step\x1b[K\r\x1b[Kcheckpoint written\n");
}

TEST(Progress, leaves_a_line_of_its_own_to_what_ends_a_run) {
  std::ostringstream out;
  {
    Progress progress(out, Progress::Mode::Terminal, std::nullopt, [] { return 0.0; });
    progress.step(1, 0.5, {});
  }
  EXPECT_EQ(out.str(), "\rstep 1  time 0.5 s  0 s/step\x1b[K\n");
}

TEST(Progress, a_warning_is_told_in_every_mode) {
  for (const auto mode : {Progress::Mode::Terminal, Progress::Mode::Lines, Progress::Mode::Quiet}) {
    std::ostringstream out;
    Progress(out, mode, std::nullopt).warning("too hot");
    EXPECT_EQ(out.str(), "warning: too hot\n");
  }
}

TEST(Progress, durations_read_well) {
  EXPECT_EQ(format_duration(0.04), "0.0 s");
  EXPECT_EQ(format_duration(59.94), "59.9 s");
  EXPECT_EQ(format_duration(59.96), "1 min 00 s");
  EXPECT_EQ(format_duration(245), "4 min 05 s");
  EXPECT_EQ(format_duration(3599.7), "1 h 00 min");
  EXPECT_EQ(format_duration(11220), "3 h 07 min");
}

}  // namespace
}  // namespace curlew::test
