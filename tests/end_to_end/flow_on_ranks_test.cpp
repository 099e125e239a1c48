// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include "tests/end_to_end/flow_folder.hpp"

namespace curlew::test {
namespace {

/// By either method.
class FlowOnRanks : public testing::TestWithParam<const char*> {
 protected:
  explicit FlowOnRanks() {
    folder_.edit("classical-fractional-step", GetParam());
    folder_.edit("start = 0.3", "start = 0.04");
    folder_.edit("checkpoint = 0.25", "checkpoint = 0.02");
    folder_.edit("interval = 0.4", "interval = 0.06");
  }
  const FlowFolder folder_;
};

TEST_P(FlowOnRanks, leaves_the_files_of_a_serial_run_and_restarts_on_another_number_to_the_same_bytes) {
  folder_.run_to("serial", 0, {"--steps", "11"});
  folder_.run_to("ranks", 3, {"--steps", "11"});
  expect_same_files(folder_ / "serial", folder_ / "ranks");
  for (const auto& [first, second] : {std::pair(3, 2), std::pair(2, 0), std::pair(0, 3)}) {
    SCOPED_TRACE(std::to_string(first) + " and " + std::to_string(second));
    const std::string directory = "parts_" + std::to_string(first);
    folder_.run_to(directory, first, {"--steps", "7"});
    folder_.run_to(directory, second, {"--steps", "4", "--restart", directory + "/checkpoint_7.h5"});
    expect_same_files(folder_ / "serial", folder_ / directory);
  }
}

TEST_P(FlowOnRanks, starts_from_the_fluxes_of_an_earlier_run) {
  folder_.run_to("earlier", 0, {"--steps", "3"});
  folder_.edit("velocity = [0, 0, 0]", R"(file = "earlier/checkpoint_3.h5")");
  folder_.run_to("serial", 0, {"--steps", "3"});
  folder_.run_to("ranks", 3, {"--steps", "3"});
  expect_same_files(folder_ / "serial", folder_ / "ranks");
}

INSTANTIATE_TEST_SUITE_P(ByEither, FlowOnRanks,
                         testing::Values("classical-fractional-step", "exact-fractional-step"),
                         [](const auto& method) { return std::string(method.param).substr(0, 5); });

TEST(FlowOnRanks, with_another_preconditioner_leaves_the_files_of_a_serial_run) {
  const FlowFolder folder;
  folder.edit("[output]", "[solver.pressure]\npreconditioner = \"jacobi\"\n\n[output]");
  folder.run_to("serial", 0, {"--steps", "4"});
  folder.run_to("ranks", 3, {"--steps", "4"});
  expect_same_files(folder / "serial", folder / "ranks");
}

}  // namespace
}  // namespace curlew::test
