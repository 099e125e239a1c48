// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <vector>

#include "mesh/import/raw_mesh.hpp"

namespace curlew {

/// A face found by matching the faces of cells with each other and with tagged boundary faces. Cells and
/// nodes by their number in the RawMesh.
struct MatchedFace {
  Index cell[2];             ///< second: -1 on the boundary
  std::int16_t slot[2];      ///< the face's place among the faces of each cell (visit_cell_faces)
  std::int32_t tagged_face;  ///< the tagged boundary face with these nodes, -1 for none
};

struct FaceMatching {
  std::vector<MatchedFace> faces;        ///< ordered by lowest node
  std::int64_t tagged_faces_unused = 0;  ///< tagged faces on no cell
};

/// Finds the faces of a mesh in time linear in its size: faces fall into buckets by their lowest node and are
/// matched inside a bucket. Cells must be listed with positive volume. Throws InputError for a face with a
/// repeated node or shared by more than two cells, or by two on the same side of it.
FaceMatching match_faces(const RawMesh& raw);

}  // namespace curlew
