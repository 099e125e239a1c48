// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <set>
#include <string>

#include "app/case/flow_case.hpp"

namespace curlew {

/// Reports what the sections of a flow's case say against each other; in the case go what would be wrong on a
/// mesh of three dimensions. `of_unknown_type`: patches whose type was not understood.
void check_together(FlowCase& flow_case, const Section& root, const std::set<std::string>& of_unknown_type,
                    Diagnostics& diagnostics);

}  // namespace curlew
