// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>

#include "kernels/sliced_matrix.hpp"
#include "mesh/mesh.hpp"
#include "operators/operator.hpp"
#include "operators/symmetric_matrix.hpp"

namespace curlew {

class SumInParts;

/// D diag(k) Dᵀ between cells with one coefficient k per face, (L p)_c = sum_f k_f (p_c - p_f'), p_f' the
/// value in the cell across the face, or 0 across the boundary: the pressure operator of a diagonal star. A
/// boundary face with k = 0 lets nothing through, another holds 0 on its far side.
///
/// Symmetric positive semidefinite; its null space are the values constant on each part of the mesh that is
/// connected through faces of k > 0 and touches no boundary face with k > 0.
class CellLaplacian : public FusedOperator<DualCochain<Cell>> {
 public:
  /// `coefficient`: k, one per face, not negative.
  CellLaplacian(const Executor& executor, const Topology& topology, std::span<const Real> coefficient);

  void apply(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow) const override {
    apply_on(p.range(), p, outflow);
  }
  /// For a mesh in one piece.
  void apply_with_product(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow,
                          SumInParts& product) const override;
  /// On these cells alone; p_c (L p)_c of them is added to `product`, null for nothing.
  void apply_on(Range<Cell> cells, const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow,
                SumInParts* product = nullptr) const;
  void apply_transpose(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow) const override {
    apply(p, outflow);
  }
  /// Spelled out; a cell has one entry per face.
  SymmetricMatrix matrix() const;

 private:
  Executor executor_;
  /// Row for row like faces_of_cell: the cell across each face, the cell itself across the boundary.
  IncidenceTable<Cell, Cell> neighbours_of_cell_;
  SlicedMatrix<Cell, Cell, Real> sliced_;  // the same rows and coefficients, where a processor reads them
  ConstantArray<Real> coefficient_;        // one per entry of that table
  ConstantArray<Real> through_boundary_;   // one per cell: the sum of k over its boundary faces
};

}  // namespace curlew
