// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "mesh/mesh.hpp"
#include "operators/face_matrix.hpp"

namespace curlew {

/// Viscous form K on face velocities v [m/s], for unit kinematic viscosity: v . K v is the rate at which
///   sum_c [ V g_c : g_c + sum_f 3 (k_f + w_f sum k) |v_f - v_c - g_c X⁻¹ (r_f - sum w r)|² ],
///   v_c = sum_f w_f v_f,  w_f = h_f A_f / (d V),  k_f = A_f / h_f,
///   g_c = (1/V) sum_f v_f S_fᵀ,  X = (1/V) sum_f r_f S_fᵀ,
/// takes energy from the flow [m5/s3 = m3 (1/s)² m2/s per unit viscosity]; K v is the viscous force on each
/// face's velocity [m4/s2 per m2/s]. On simplices the first term alone: the element of Crouzeix & Raviart
/// (RAIRO 7, 1973), and the second is zero; on other cells it removes the modes that g does not see. Where
/// faces are planar X is the unit matrix and sum w r zero; elsewhere they let linear velocities be none of
/// it.
///
/// Symmetric, positive semidefinite with uniform streams alone in its null space, exact for a linear velocity
/// on cells with planar faces. The form is grad:grad: forces on walls from it are those of the full stress
/// only up to the transposed gradient. Flat cells that no box is add what GradientJumps says.
class ViscousForm : public Operator<Field<Face, Vector3>, Field<Face, Vector3>> {
 public:
  /// Needs star-shaped cells, as FluxMass does.
  /// `jumps`: of the mesh; the stencil has to have its ties.
  ViscousForm(const Executor& executor, const Mesh& mesh, FaceStencil stencil, const GradientJumps& jumps);
  ViscousForm(const Executor& executor, const Mesh& mesh, FaceStencil stencil)
      : ViscousForm(executor, mesh, std::move(stencil), GradientJumps(mesh)) {}
  ViscousForm(const Executor& executor, const Mesh& mesh) : ViscousForm(executor, mesh, FaceStencil(mesh)) {}

  void apply(const Field<Face, Vector3>& velocity, Field<Face, Vector3>& force) const override;
  void apply_transpose(const Field<Face, Vector3>& velocity, Field<Face, Vector3>& force) const override {
    apply(velocity, force);
  }

  /// Entries [m], the same for the three components of a face's velocity.
  const FaceMatrix& matrix() const { return matrix_; }
  /// v . K_c v of one cell, without jumps, for face velocities v in the order of its row [m5/s3 per m2/s].
  Real energy_in_cell(Id<Cell> c, std::span<const Vector3> velocity) const;

 private:
  void set_row_of_cell(Id<Cell> c, Index k, std::span<Real> entries) const;
  void set_row_of_jumps(const GradientJumps& jumps, Id<Cell> c, Index k, const FaceMatrix::Add& add) const;
  /// S/V of face k of a cell: the gradient of a unit velocity there.
  Vector3 gradient_of_face(Id<Cell> c, Index k) const;

  Executor executor_;
  IncidenceTable<Cell, Face> faces_of_cell_;
  IncidenceTable<Face, Cell> cells_of_face_;
  Geometry geometry_;
  Real dimension_;
  std::vector<CellType> cell_types_;
  FaceMatrix matrix_;
};

}  // namespace curlew
