// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <string>

#include "kernels/error.hpp"
#include "kernels/memory.hpp"

namespace curlew {

/// There is no room for a buffer. The message says how many bytes it would take, and what would need less.
class OutOfMemoryError : public Error {
 public:
  using Error::Error;
};

/// How full the memory of a device is [bytes].
struct DeviceMemory {
  std::size_t used;  ///< by buffers
  std::size_t free;  ///< for further ones
};

/// Of the debug device or the GPU in use; throws Error for the host, which does not count.
DeviceMemory device_memory(MemorySpace space);

/// The name of the GPU in use among all GPUs there are; empty for the debug device, of which each process has
/// its own.
std::string device_name(MemorySpace space);

/// What has been copied between the host and the debug device since the program began [bytes].
struct CopiedBytes {
  std::size_t to_host, to_device;
};
CopiedBytes debug_device_copies();

/// Pretends that the debug device has so much memory in all, for tests of what happens when it is full.
void set_debug_device_memory(std::size_t bytes);

}  // namespace curlew
