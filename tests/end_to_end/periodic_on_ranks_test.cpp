// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include "tests/end_to_end/flow_folder.hpp"

namespace curlew::test {
namespace {

/// A channel with one sliding wall and a held mean flow, and everything that is written of it.
class PeriodicOnRanks : public testing::TestWithParam<const char*> {
 protected:
  explicit PeriodicOnRanks() {
    folder_.edit("classical-fractional-step", GetParam());
    folder_.edit("density = 2", "density = 2\nmean_flow = { direction = [1, 0, 0], velocity = 0.5 }");
    folder_.edit("[boundary.left]\ntype = \"wall\"\n[boundary.right]\ntype = \"wall\"\n",
                 "[boundary.left]\ntype = \"periodic\"\npartner = \"right\"\n");
    folder_.edit("patches = [\"left\", \"top\"]", "patches = [\"bottom\", \"top\"]");
    folder_.edit("start = 0.3", "start = 0.04");
    folder_.edit("checkpoint = 0.25", "checkpoint = 0.02");
    folder_.edit("interval = 0.4", "interval = 0.06");
    folder_.edit("[output]", R"([solver.pressure]
preconditioner = "jacobi"
[output])");
    if (GetParam() == std::string("exact-fractional-step")) {
      folder_.edit("[output]", R"([solver.streamfunction]
preconditioner = "jacobi"
[output])");
    }
  }
  const FlowFolder folder_;
};

TEST_P(PeriodicOnRanks, leaves_the_files_of_a_serial_run_and_restarts_on_another_number_to_the_same_bytes) {
  folder_.run_to("serial", 0, {"--steps", "9"});
  for (const auto& [first, second] : {std::pair(3, 2), std::pair(2, 0), std::pair(0, 3)}) {
    SCOPED_TRACE(std::to_string(first) + " and " + std::to_string(second));
    const std::string directory = "parts_" + std::to_string(first);
    folder_.run_to(directory, first, {"--steps", "5"});
    folder_.run_to(directory, second, {"--steps", "4", "--restart", directory + "/checkpoint_5.h5"});
    expect_same_files(folder_ / "serial", folder_ / directory);
  }
}

/// Parts in the mesh file are those of the mesh that is not joined; rank 0 reads, joins and divides it anew.
TEST_P(PeriodicOnRanks, of_a_mesh_file_in_parts_leaves_the_files_of_a_serial_run) {
  ASSERT_EQ(run_curlew(folder_.path(), {"mesh", "convert", "box.h5", "parts.h5", "--partition", "3"}).status,
            0);
  folder_.run_to("serial", 0, {"--steps", "2"});
  folder_.run_to("ranks", 3, {"--steps", "2", "--set", "mesh.file=\"parts.h5\""});
  expect_same_files(folder_ / "serial", folder_ / "ranks");
}

INSTANTIATE_TEST_SUITE_P(ByEither, PeriodicOnRanks,
                         testing::Values("classical-fractional-step", "exact-fractional-step"),
                         [](const auto& method) { return std::string(method.param).substr(0, 5); });

TEST(PeriodicOnRanks, the_vortices_of_a_case_decay_as_on_one_rank) {
  const OutputDirectory folder;
  for (const int ranks : {0, 4}) {
    const Outcome outcome =
        run_curlew(folder.path(),
                   {"run", CURLEW_CASES "/taylor-green/decay.toml", "--quiet", "--steps", "3", "--output",
                    "on_" + std::to_string(ranks), "--set", "solver.pressure.preconditioner=\"jacobi\""},
                   ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
  }
  expect_same_files(folder / "on_0", folder / "on_4");
}

}  // namespace
}  // namespace curlew::test
