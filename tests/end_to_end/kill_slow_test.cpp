// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include "tests/end_to_end/flow_folder.hpp"
#include "tests/end_to_end/kills.hpp"

namespace curlew::test {
namespace {

// 200 runs, each killed at a moment of its own and restarted to the bytes of a run left alone.

TEST(KilledRuns, of_heat_come_to_the_same_bytes) {
  const CheckpointedCase folder;
  expect_same_bytes_after_kills(folder, {.kills = 120, .seed = 1});
}

/// Steps of varying length, averages in time.
TEST(KilledRuns, of_flow_come_to_the_same_bytes) {
  for (const char* method : {"classical-fractional-step", "exact-fractional-step"}) {
    const FlowFolder folder;
    folder.edit("classical-fractional-step", method);
    folder.edit("end = 1", "end = 0.2");
    folder.edit("start = 0.3", "start = 0.04");
    folder.edit("checkpoint = 0.25", "checkpoint = 0.005");
    folder.edit("interval = 0.4", "interval = 0.06");
    expect_same_bytes_after_kills(folder, {.kills = 20, .seed = 2});
  }
}

#ifdef CURLEW_RANKS
TEST(KilledRuns, on_two_ranks_come_to_the_same_bytes) {
  const CheckpointedCase folder;
  expect_same_bytes_after_kills(folder, {.kills = 40, .seed = 3, .ranks = 2});
}
#endif

}  // namespace
}  // namespace curlew::test
