// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <vector>

#include "kernels/tensor3.hpp"
#include "physics/flow/incompressible_flow.hpp"

namespace curlew {

/// What users see of a flow, made from its unknowns at output times: hence every function allocates its
/// result. Those of fields run on the executor of their argument if nothing else is said, those of spans on
/// the host.
///
/// On a divided mesh all ranks call them together, and results hold at ghosts too where nothing else is said.
/// Spans must be right at ghosts.

/// Mean velocity of each cell [m/s], sum_f w_f v_f with w_f = h_f A_f / (d V): second order, exact for linear
/// velocities on cells with planar faces. Throws Error unless there is one velocity per face.
Field<Cell, Vector3> mean_velocity(const Mesh& mesh, const Field<Face, Vector3>& face_velocity);

/// Mean velocity gradient of each cell [1/s], (1/V) sum_f v_f S_fᵀ: row i is the gradient of component i. By
/// Gauss' theorem, exact for linear velocities on cells with planar faces. Throws as above.
Field<Cell, Tensor3> velocity_gradient(const Mesh& mesh, const Field<Face, Vector3>& face_velocity);

/// Curl of the velocity [1/s]; in two dimensions along z.
Field<Cell, Vector3> vorticity(const Field<Cell, Tensor3>& velocity_gradient);

/// 1/2 (|Omega|² - |S|²) of the antisymmetric and the symmetric part of the gradient [1/s2]: positive where
/// rotation outweighs strain. Hunt, Wray & Moin (CTR report S88, 1988).
Field<Cell, Real> q_criterion(const Field<Cell, Tensor3>& velocity_gradient);

/// Net outflow of each cell per volume, D U / V [1/s]. Throws Error unless there is one flux per face.
Field<Cell, Real> divergence(const Mesh& mesh, const PrimalCochain<Face>& flux);

/// Gradient in some cells of a value per cell [unit of the values / m], with which it becomes second order at
/// points: least squares over the cells across the faces, and where these do not span the space (in corners)
/// those across theirs that share a node with the cell, up to three rings; of what no cell tells the
/// component is zero. Weighted by the inverse squared distance. Exact for linear fields. `cells`: of a rank's
/// own. Only the values that it is made of are copied to the host. Throws Error unless there is one value per
/// cell of the mesh.
std::vector<Vector3> least_squares_gradient(const Mesh& mesh, const DualCochain<Cell>& values,
                                            std::span<const Index> cells);

/// Friction on walls, seen in the cells next to them: means over a cell's wall faces by area, zero in cells
/// that touch no wall and in ghosts.
struct WallFriction {
  std::vector<Vector3> shear_stress;  ///< tangential force of the fluid on the wall per area [Pa]
  std::vector<Real> y_plus;  ///< u_tau h / nu, h from the face's plane to the cell's centroid; 0 if nu is 0
};
WallFriction wall_friction(const Mesh& mesh, const FlowSettings& settings,
                           const IncompressibleFlow::BoundaryForces& forces);

/// Streamfunction at the nodes (of mesh.unfolded()) [m2/s], two dimensions only: u = dpsi/dy, v = -dpsi/dx,
/// so that the difference of its values along a side is the flux through it. Summed along a spanning tree of
/// the nodes; on sides out of the tree it is off by the divergence left in the flux. Zero at the lowest node
/// of each connected part of the mesh (least y, then least x), which is on its outer boundary: on the lower
/// wall of a channel.
///
/// Holes may be there as long as no fluid comes out of one on balance, or psi would have many values: throws
/// InputError with the patches around the hole and its outflow. `past` [m2/s]: the largest velocity at a face
/// times its length; what a wall that moves along itself lets through is rounding of it. Throws Error unless
/// there is one flux per face of a two-dimensional mesh. On several ranks the first one finds it for all.
std::vector<Real> streamfunction(const Mesh& mesh, std::span<const Real> flux, Real past = 0);

}  // namespace curlew
