// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>

#include "mesh/mesh.hpp"

namespace curlew {

/// The topology of the whole mesh on rank 0, nothing on the others: the tables between cells, faces and
/// edges, and the patches; nodes are counted, their tables are left empty. About 85 bytes a tetrahedron and
/// 50 a triangle. A copy on a rank that is alone.
std::optional<Topology> gathered_topology(const Mesh& mesh);

}  // namespace curlew
