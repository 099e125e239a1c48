// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>

#include "physics/flow/flow_settings.hpp"

namespace curlew {

/// Stages of a Runge–Kutta scheme; 0 for the others.
std::size_t stage_count(FlowScheme scheme);

/// The largest rate of decay times the step that a Runge–Kutta scheme stands: where the negative real axis
/// leaves its region of stability.
Real longest_stable_decay(FlowScheme scheme);

}  // namespace curlew
