// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/step_timer.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace curlew {
namespace {

TEST(StepTimer, counts_the_first_step_only_where_it_is_the_only_one) {
  constexpr double pause = 0.05;
  const auto slow = [=] { std::this_thread::sleep_for(std::chrono::duration<double>(pause)); };
  StepTimer timer;
  EXPECT_EQ(timer.per_step(), 0);
  timer.time(slow);
  EXPECT_GE(timer.per_step(), pause);
  EXPECT_EQ(timer.per_step(), timer.total());
  timer.time([] {});
  timer.time([] {});
  EXPECT_GT(timer.per_step(), 0);
  EXPECT_LE(timer.per_step(), (timer.total() - pause) / 2);
}

}  // namespace
}  // namespace curlew
