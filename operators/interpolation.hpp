// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/mesh.hpp"
#include "operators/operator.hpp"

namespace curlew {

/// What interpolation and integration gather from: the cells' faces and the arms r_f = x_f - x_c between
/// centroids.
class ReconstructionTables {
 public:
  ReconstructionTables(const Executor& executor, const Mesh& mesh)
      : executor_(executor),
        faces_of_cell_(mesh.topology().faces_of_cell()),
        cells_of_face_(mesh.topology().cells_of_face()),
        geometry_(mesh.geometry()) {}

  const Executor& executor() const { return executor_; }
  Index cells() const { return faces_of_cell_.rows(); }
  Index faces() const { return cells_of_face_.rows(); }

  /// v_c = sum_f s_cf U_f r_f, divided by the cell's volume if `per_volume`.
  void gather_on_cells(const PrimalCochain<Face>& flux, bool per_volume, Field<Cell, Vector3>& v) const;
  /// c_f = sum_c s_cf r_f . v_c, each cell's share divided by its volume if `per_volume`.
  void gather_on_faces(const Field<Cell, Vector3>& v, bool per_volume, DualCochain<Face>& c) const;

 private:
  Executor executor_;
  IncidenceTable<Cell, Face> faces_of_cell_;
  IncidenceTable<Face, Cell> cells_of_face_;
  Geometry geometry_;
};

/// Interpolation N: cell vectors from face fluxes, (N U)_c = (1/V_c) sum_f s_cf U_f (x_f - x_c) [m/s]. Exact
/// for a constant vector on any cell with planar faces; first order on simplices otherwise. Perot, JCP 159
/// (2000).
class Interpolation : public Operator<PrimalCochain<Face>, Field<Cell, Vector3>> {
 public:
  Interpolation(const Executor& executor, const Mesh& mesh) : tables_(executor, mesh) {}
  void apply(const PrimalCochain<Face>& flux, Field<Cell, Vector3>& v) const override {
    tables_.gather_on_cells(flux, true, v);
  }
  void apply_transpose(const Field<Cell, Vector3>& v, DualCochain<Face>& c) const override {
    tables_.gather_on_faces(v, true, c);
  }

 private:
  ReconstructionTables tables_;
};

/// Integration Nᵀ diag(V): the integral of a cell vector along each dual edge, from the cell behind through
/// the face's centroid to the cell ahead, (x_f - x_1) . v_1 - (x_f - x_2) . v_2 [m2/s]. Exact for a constant
/// vector.
class Integration : public Operator<Field<Cell, Vector3>, DualCochain<Face>> {
 public:
  Integration(const Executor& executor, const Mesh& mesh) : tables_(executor, mesh) {}
  void apply(const Field<Cell, Vector3>& v, DualCochain<Face>& c) const override {
    tables_.gather_on_faces(v, false, c);
  }
  void apply_transpose(const PrimalCochain<Face>& flux, Field<Cell, Vector3>& v) const override {
    tables_.gather_on_cells(flux, false, v);
  }

 private:
  ReconstructionTables tables_;
};

}  // namespace curlew
