// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "mesh/mesh.hpp"
#include "operators/face_matrix.hpp"
#include "operators/symmetric_matrix.hpp"

namespace curlew {

/// Flow along a gap between two walls has the streamfunction s = ψ grad χ with a number ψ at nodes, χ being 0
/// on one wall and 1 on the other: the flux between two lines across the gap is the difference of their ψ,
/// whichever way the gap turns.
struct GapStreamfunction {
  /// s of an edge is this share of the sum of ψ at its two nodes: half the jump of χ; 0 where it is held.
  std::vector<float> share;
  /// The energy of ψ by R M C, with a row for each node that this rank has, of which those of ghosts are
  /// empty.
  SymmetricMatrix matrix;
};

/// Nodes have χ = 0 or 1 by the wall that is nearest along edges, and walls have it so that those that face
/// each other differ. Walls are patches, or, if no two patches face each other, what goes on without a sharp
/// edge. In three dimensions; none where no walls face each other. `mass`: M; `edge_is_free`: 0 where the
/// value on an edge is held, as on walls. By all ranks together; depends on the mesh alone, not on its
/// division.
std::optional<GapStreamfunction> gap_streamfunction(const Mesh& mesh, const FaceMatrix& mass,
                                                    const std::vector<std::uint8_t>& edge_is_free);

}  // namespace curlew
