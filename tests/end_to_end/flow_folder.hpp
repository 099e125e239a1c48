// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/cell_shapes.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {

/// A cavity whose lid starts and then moves to and fro, in steps of varying length to 1 s, with all that is
/// written, in results of every kind.
class FlowFolder : public CaseFolder {
 public:
  explicit FlowFolder(CellType type = CellType::Triangle);
};

}  // namespace curlew::test
