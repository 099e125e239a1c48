// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/signals.hpp"

#include <gtest/gtest.h>

#include <csignal>

namespace curlew::test {
namespace {

/// Each test sends signals in a process of its own; its exit status is the answer.
TEST(SignalsDeathTest, ask_for_a_stop_by_exit_status) {
  const auto after = [](std::initializer_list<int> signals) {
    outlive_signals();
    stop_on_signals();
    if (stop_requested() != 0) std::exit(99);
    for (const int signal : signals) std::raise(signal);
    std::exit(stop_requested());
  };
  EXPECT_EXIT(after({SIGINT}), testing::ExitedWithCode(130), "");
  EXPECT_EXIT(after({SIGTERM}), testing::ExitedWithCode(143), "");
  EXPECT_EXIT(after({SIGTERM, SIGTERM}), testing::ExitedWithCode(143), "");
  EXPECT_EXIT(after({SIGINT, SIGTERM}), testing::ExitedWithCode(130), "");
  EXPECT_EXIT(after({SIGUSR1}), testing::ExitedWithCode(0), "");
}

TEST(SignalsDeathTest, what_was_started_with_interrupts_ignored_goes_on) {
  EXPECT_EXIT(
      {
        std::signal(SIGINT, SIG_IGN);
        stop_on_signals();
        std::raise(SIGINT);
        std::exit(stop_requested());
      },
      testing::ExitedWithCode(0), "");
}

TEST(SignalsDeathTest, a_second_interrupt_kills) {
  EXPECT_EXIT(
      {
        stop_on_signals();
        std::raise(SIGINT);
        std::raise(SIGINT);
        std::exit(0);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(SignalsDeathTest, before_there_is_anything_to_stop_one_interrupt_kills) {
  EXPECT_EXIT(
      {
        outlive_signals();
        std::raise(SIGUSR1);
        std::raise(SIGINT);
      },
      testing::KilledBySignal(SIGINT), "");
}

TEST(SignalsDeathTest, a_checkpoint_request_is_taken_once) {
  EXPECT_EXIT(
      {
        outlive_signals();
        const bool before = take_checkpoint_request();
        std::raise(SIGUSR1);
        const bool first = take_checkpoint_request();
        const bool second = take_checkpoint_request();
        std::exit(!before && first && !second ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace curlew::test
