// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>
#include <vector>

#include "app/case/flow_case.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

// What is allowed in the case of a flow, and may not be meant.

/// A sentence on a steady run whose steps are too short for its tolerances; empty: nothing to be said.
std::string doubt_about_steadiness(const FlowCase& flow_case);

/// A sentence for each curved patch of type "symmetry", which is frictionless on planes alone. By all ranks
/// together.
std::vector<std::string> doubts_about_symmetry(const FlowCase& flow_case, const Mesh& mesh);

/// A sentence for each wall with a velocity that points across it at the start or after the first step: fluid
/// passes through. Walls that turn are none of these, as they may be of any shape. By all ranks together.
std::vector<std::string> doubts_about_walls(const FlowCase& flow_case, const Mesh& mesh);

}  // namespace curlew
