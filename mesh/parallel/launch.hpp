// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>

namespace curlew {

/// How many ranks a launcher (mpirun, srun) started this program as one of; none without a launcher, 0 where
/// it does not tell. From the environment: MPI need not be started to know.
std::optional<int> launched_ranks();

}  // namespace curlew
