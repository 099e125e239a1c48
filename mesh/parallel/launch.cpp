// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/launch.hpp"

#include <cstdlib>

namespace curlew {

std::optional<int> launched_ranks() {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    if (const char* ranks = std::getenv(variable)) return std::atoi(ranks);
  }
  if (std::getenv("PMIX_RANK") == nullptr) return std::nullopt;
  // PMIx itself has no variable for their number.
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  return tasks != nullptr ? std::atoi(tasks) : 0;
}

}  // namespace curlew
