// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "mesh/mesh.hpp"
#include "physics/vector_function.hpp"

namespace curlew {

/// What a vector function does on some faces.
struct FaceAverages {
  std::vector<Real> flux;     ///< integral of its normal component over each face
  std::vector<Vector3> mean;  ///< mean over each face
};

/// Integrals over the faces of `range` at `time` [s], exact for polynomials of degree five: three Gauss
/// points on a side, three times three on a parallelogram, the seven points of Radon (Monatsh. Math. 52,
/// 1948) on each triangle of another face's fan.
FaceAverages average_on_faces(const Mesh& mesh, Range<Face> range, const VectorFunction& function, Real time);

/// Means over all cells at `time` [s]; exact for quadratic functions on cells with planar faces.
std::vector<Vector3> average_on_cells(const Mesh& mesh, const VectorFunction& function, Real time);

}  // namespace curlew
