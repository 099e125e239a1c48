// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/tensor3.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// The velocity at the centroids of cells from its means over their faces: what users see of a flow.
///
/// The mean v_c = sum_f w_f v_f, w_f = h_f A_f / (d V), of the faces differs from the value at the centroid
/// by what second derivatives do between them, which is taken off:
///   v(x_c) = v_c - ½ H : Q,   Q = sum_f w_f <r rᵀ>_f,   H = (1/V) sum_f g_f S_f,
/// with < >_f the mean over a face, r = x - x_c, and g_f the gradient of the velocity between those of the
/// cells on both sides, in proportion to their distances from the face's plane; on the boundary that of the
/// cell. In tetrahedra it is v_c: there H tells more of the mesh than of the flow where that is coarse for
/// it. Exact for linear velocities on cells with planar faces, for quadratic ones in boxes away from the
/// boundary.
class CentroidVelocity {
 public:
  /// Takes 72 bytes a cell of the executor's memory.
  CentroidVelocity(const Executor& executor, const Mesh& mesh);

  /// [m/s], from one velocity per face [m/s], else throws Error. On a divided mesh all ranks call it
  /// together, and the result holds at ghosts too.
  Field<Cell, Vector3> operator()(const Field<Face, Vector3>& face_velocity) const;

 private:
  const Mesh& mesh_;
  Field<Cell, Tensor3> moment_;  // Q [m2]
};

}  // namespace curlew
