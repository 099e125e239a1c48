// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__CUDACC__)
#define CURLEW_HOST_DEVICE __host__ __device__
#else
#define CURLEW_HOST_DEVICE
#endif

namespace curlew {

using Real = double;
/// Local index of an entity: 32 bits keep gather tables at half the traffic; a rank holds below 2^31
/// entities.
using Index = std::int32_t;
/// Index of an entity over all ranks.
using GlobalIndex = std::int64_t;

/// A non-negative index as a position in a standard container.
CURLEW_HOST_DEVICE constexpr std::size_t at(std::int64_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace curlew
