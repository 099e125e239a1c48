// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <vector>

#include "kernels/tensor3.hpp"
#include "mesh/mesh.hpp"
#include "physics/flow/flow_boundary.hpp"
#include "solvers/face_velocity.hpp"

namespace curlew {

/// The velocity that fluxes carry with them, P v: at the short sides of flat boxes the tangential velocity is
/// drawn towards what the mean velocities of both cells come to there,
///   P v = v + theta_f (1 - n nᵀ) (sum_c a_c v_c + (g_1 + g_2)/2 e - v),  e = sum_c a_c (x_f - x_c),
/// with v_c, g_c mean and gradient of the velocity in a cell, and a_c the share that linear interpolation
/// along the normal gives it. Exact for linear velocities. At a boundary where the velocity is free it is
/// drawn towards what it is in the cell at the same place across the face,
///   P v = v + theta_f (1 - n nᵀ) (v_c + g_c e - v),  e = (1 - n nᵀ) (x_f - x_c),
/// exact where it does not change along the normal. At other boundaries, and where cells are no boxes or
/// nearly cubes or squares, P v = v.
///
/// Of all tangential velocities those with the least viscous energy are up to 1.5 (r² + 1) / sqrt(6 r² + 2)
/// times as large as the fluxes that they follow, where these alternate along cells r times as long as high,
/// and convection would be as much too fast. With theta = 1 - sqrt(2.5 / (r² + 1)), where r² > 1.5, it is
/// little faster than on squares (docs/incompressible-flow.md).
class ConvectedVelocity {
 public:
  /// theta of each face, as if all boundaries were free; none where it is zero on all ranks, which ask
  /// together.
  static std::vector<Real> shares(const Mesh& mesh);
  /// How the velocity at a face follows from that in its cells.
  struct FromCells {
    Real share;      ///< a_1; 1 on the boundary
    Vector3 offset;  ///< e [m]
  };

  /// `hold`: of each face. By all ranks together.
  ConvectedVelocity(const Executor& executor, const Mesh& mesh, std::span<const FaceHold> hold);

  /// Whether P is 1, on all ranks.
  bool is_given() const { return share_.size() == 0; }
  /// P v, until the next call; ghosts of v are up to date, and so are those of P v.
  const FaceVelocity& of(const FaceVelocity& velocity);
  /// Adds 1/2 (1 - Pᵀ) W to a force on the velocities of faces, W_f = U_f (u_1 - u_2) between two cells and
  /// U_f u_1 - max(U_f, 0) (P v)_f on free boundaries, of the last P v. Ghosts of U and u are up to date.
  void add_held_back(const PrimalCochain<Face>& flux, const Field<Cell, Vector3>& u, FaceVelocity& force);

 private:
  ConvectedVelocity(const Executor& executor, const Mesh& mesh, std::vector<Real> share);

  View<Face, const Real> share() const;
  View<Face, const FromCells> from_cells() const;

  Executor executor_;
  const Domain& domain_;
  Geometry geometry_;
  Real dimension_;
  IncidenceTable<Cell, Face> faces_of_cell_;
  IncidenceTable<Face, Cell> cells_of_face_;
  ConstantArray<FromCells> from_cells_;
  ConstantArray<Real> share_;      // theta; none where it is zero everywhere
  FaceVelocity on_faces_;          // P v, or theta/2 (1 - n nᵀ) W
  Field<Cell, Vector3> mean_;      // v_c, or what it gets by the transpose
  Field<Cell, Tensor3> gradient_;  // g_c, or what it gets
};

}  // namespace curlew
