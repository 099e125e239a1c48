// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels/error.hpp"

namespace curlew {

/// What was asked of a device while launches were recorded and cannot be repeated without the host
/// (kernels/launch_sequence.hpp).
class NotRecordable : public Error {
 public:
  explicit NotRecordable(const std::string& what) : Error(what + " cannot be recorded among launches") {}
};

namespace detail {

/// The launches on the debug device, while they are noted down instead of made; else null.
inline std::vector<std::function<void()>>* recorded_launches = nullptr;

}  // namespace detail

}  // namespace curlew
