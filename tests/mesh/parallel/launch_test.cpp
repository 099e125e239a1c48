// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/launch.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace curlew {
namespace {

/// With what launchers set and nothing else of theirs.
std::optional<int> ranks_with(const std::map<std::string, std::string>& variables) {
  const std::string names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"};
  std::map<std::string, std::string> before;
  for (const std::string& name : names) {
    if (const char* value = std::getenv(name.c_str())) before[name] = value;
    unsetenv(name.c_str());
  }
  for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  const std::optional<int> ranks = launched_ranks();
  for (const std::string& name : names) unsetenv(name.c_str());
  for (const auto& [name, value] : before) setenv(name.c_str(), value.c_str(), 1);
  return ranks;
}

TEST(Launch, is_known_from_what_launchers_set) {
  EXPECT_EQ(ranks_with({}), std::nullopt);
  EXPECT_EQ(ranks_with({{"OMPI_COMM_WORLD_SIZE", "4"}, {"PMIX_RANK", "2"}}), 4);  // mpirun of Open MPI
  EXPECT_EQ(ranks_with({{"PMI_SIZE", "3"}}), 3);                                  // that of MPICH, srun
  EXPECT_EQ(ranks_with({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "2"}}), 2);  // srun --mpi=pmix
  EXPECT_EQ(ranks_with({{"PMIX_RANK", "0"}, {"SLURM_STEP_NUM_TASKS", "1"}}), 1);
  EXPECT_EQ(ranks_with({{"PMIX_RANK", "1"}}), 0);
  EXPECT_EQ(ranks_with({{"SLURM_STEP_NUM_TASKS", "2"}}), std::nullopt);  // a shell of several tasks
}

}  // namespace
}  // namespace curlew
