// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/tensor3.hpp"
#include "mesh/mesh.hpp"
#include "solvers/face_velocity.hpp"

namespace curlew {

/// The velocity that fluxes carry with them, P v: at the short sides of flat boxes the tangential velocity is
/// drawn towards what the mean velocities of both cells come to there,
///   P v = v + theta_f (1 - n nᵀ) (sum_c a_c v_c + (g_1 + g_2)/2 e - v),  e = sum_c a_c (x_f - x_c),
/// with v_c, g_c mean and gradient of the velocity in a cell, and a_c the share that linear interpolation
/// along the normal gives it. Exact for linear velocities. On the boundary, and where cells are no boxes or
/// nearly cubes or squares, P v = v.
///
/// Of all tangential velocities those with the least viscous energy are up to 1.5 (r² + 1) / sqrt(6 r² + 2)
/// times as large as the fluxes that they follow, where these alternate along cells r times as long as high,
/// and convection would be as much too fast. With theta = 1 - sqrt(2.5 / (r² + 1)), where r² > 1.5, it is
/// little faster than on squares (docs/incompressible-flow.md).
class ConvectedVelocity {
 public:
  /// theta of each face; none where it is zero on all ranks, which ask together.
  static std::vector<Real> shares(const Mesh& mesh);

  /// By all ranks together.
  ConvectedVelocity(const Executor& executor, const Mesh& mesh);

  /// Whether P is 1, on all ranks.
  bool is_given() const { return share_.size() == 0; }
  /// P v, until the next call; ghosts of v are up to date, and so are those of P v.
  const FaceVelocity& of(const FaceVelocity& velocity);
  /// Adds 1/2 (1 - Pᵀ) W to a force on the velocities of faces, W_f = U_f (u_1 - u_2) between two cells.
  /// Ghosts of U and u are up to date.
  void add_held_back(const PrimalCochain<Face>& flux, const Field<Cell, Vector3>& u, FaceVelocity& force);

 private:
  ConvectedVelocity(const Executor& executor, const Mesh& mesh, std::vector<Real> share);

  View<Face, const Real> share() const;

  Executor executor_;
  const Domain& domain_;
  Geometry geometry_;
  Real dimension_;
  IncidenceTable<Cell, Face> faces_of_cell_;
  IncidenceTable<Face, Cell> cells_of_face_;
  ConstantArray<Real> share_;      // theta; none where it is zero everywhere
  FaceVelocity on_faces_;          // P v, or theta/2 (1 - n nᵀ) W
  Field<Cell, Vector3> mean_;      // v_c, or what it gets by the transpose
  Field<Cell, Tensor3> gradient_;  // g_c, or what it gets
};

}  // namespace curlew
