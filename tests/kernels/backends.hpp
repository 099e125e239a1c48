// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/executor.hpp"

namespace curlew {

/// Every backend that must give the bits of the serial one: OpenMP at several numbers of threads, the debug
/// device, and a GPU where there is one.
inline std::vector<Executor> backends_beside_serial() {
  std::vector<Executor> backends{Executor::openmp(1), Executor::openmp(2), Executor::openmp(4),
                                 Executor::debug_device()};
  if (cuda_problem().empty()) backends.push_back(Executor::cuda());
  return backends;
}

/// Those and the serial one, which comes first.
inline std::vector<Executor> all_backends() {
  std::vector<Executor> all = backends_beside_serial();
  all.insert(all.begin(), Executor::serial());
  return all;
}

}  // namespace curlew
