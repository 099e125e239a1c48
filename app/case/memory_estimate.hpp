// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "app/case/load_case.hpp"

namespace curlew {

/// Memory of that device that the run of a case takes, fields and the tables that kernels read [bytes]: what
/// it takes at least, and not a fifth more. Fields that are made for output come on top for the moment of
/// writing.
std::size_t device_bytes(const LoadedCase& loaded, MemorySpace space);

/// Throws InputError where the device has not enough memory for the run of a case, of all ranks that share
/// it, with the bytes per cell and the largest mesh that would fit. The host is not asked. By all ranks
/// together.
void require_device_memory(const Executor& executor, const LoadedCase& loaded);

}  // namespace curlew
