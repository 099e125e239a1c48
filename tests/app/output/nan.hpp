// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <limits>

namespace curlew::test {

/// What an entity without a value holds.
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace curlew::test
