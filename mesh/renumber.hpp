// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <vector>

#include "kernels/incidence.hpp"
#include "kernels/vector3.hpp"
#include "mesh/entities.hpp"

namespace curlew {

/// How cells are numbered; nodes, edges and faces follow by the first cell that touches them.
enum class CellOrder { ReverseCuthillMcKee, Hilbert, AsRead };

/// Reverse Cuthill–McKee order (Cuthill & McKee, 1969) of a graph given by its rows: breadth-first from a
/// pseudo-peripheral cell (George & Liu, 1979), neighbours by ascending degree, then reversed. Returns the
/// old index of each new one.
std::vector<Index> reverse_cuthill_mckee(std::span<const Index> starts, std::span<const Index> neighbours);

/// Order along a Hilbert curve through the bounding box (Skilling, AIP Conf. Proc. 707, 2004), in
/// `dimension` dimensions. Returns the old index of each new one.
std::vector<Index> hilbert_order(std::span<const Vector3> points, int dimension);

}  // namespace curlew
