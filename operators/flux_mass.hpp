// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>

#include "mesh/mesh.hpp"
#include "operators/face_matrix.hpp"

namespace curlew {

/// Throws InputError, with coordinates, where a face's plane has its cell's centroid on the wrong side: in a
/// cell that is not star-shaped.
void require_star_shaped_cells(const Mesh& mesh);

/// Mass of fluxes M, the consistent Hodge star from face fluxes to circulations along dual edges [m2/s]:
/// M = sum_c [ V Nᵀ N + weight_c Πᵀ diag(h/A) Π ],  Π = I - S N,
/// on the outward fluxes of each cell, with N the interpolation, S the outward area vectors, A their lengths
/// and h_f = (x_f - x_c) . n_f. The inner product of mimetic finite differences (Brezzi, Lipnikov &
/// Simoncini, M3AS 15, 2005): exact for a uniform stream on any cell with planar faces, where U . M U / 2 is
/// its kinetic energy.
///
/// Symmetric positive definite where every h is positive; the diagonal star (distance between cell centroids
/// over area) on rectangles and orthogonal hexahedra. The second term is zero for divergence-free fluxes of
/// simplices; without it quadrilaterals, hexahedra and polyhedra have a checkerboard mode.
class FluxMass : public Operator<PrimalCochain<Face>, DualCochain<Face>> {
 public:
  /// `simplex_weight` > 0: of the second term on simplices, where it does not change divergence-free fluxes;
  /// more than 1 lowers the eigenvalues of M⁻¹ against the diagonal star h/A, which the classical fractional
  /// step needs. It is 1 on other cells. Throws as require_star_shaped_cells() does (h <= 0).
  FluxMass(const Executor& executor, const Mesh& mesh, FaceStencil stencil, Real simplex_weight = 1);
  FluxMass(const Executor& executor, const Mesh& mesh, Real simplex_weight = 1)
      : FluxMass(executor, mesh, FaceStencil(mesh.topology()), simplex_weight) {}

  void apply(const PrimalCochain<Face>& flux, DualCochain<Face>& circulation) const override {
    apply_on(flux.range(), flux, circulation);
  }
  /// On these faces alone.
  void apply_on(Range<Face> faces, const PrimalCochain<Face>& flux, DualCochain<Face>& circulation) const;
  void apply_transpose(const PrimalCochain<Face>& flux, DualCochain<Face>& circulation) const override {
    apply(flux, circulation);
  }

  /// Entries [1/m].
  const FaceMatrix& matrix() const { return matrix_; }
  /// u . M_c u of one cell for outward fluxes u, one per face in the order of its row [m5/s2].
  Real energy_in_cell(Id<Cell> c, std::span<const Real> outward_flux) const;
  /// Largest eigenvalue of the diagonal star h/A against M within each cell: the star is at most that many
  /// times M, sum by sum.
  std::vector<Real> ratio_of_diagonal_star() const;

 private:
  void set_row_of_cell(Id<Cell> c, Index k, std::span<Real> entries) const;

  Executor executor_;
  IncidenceTable<Cell, Face> faces_of_cell_;
  Geometry geometry_;
  std::vector<Real> weight_;  // one per cell
  FaceMatrix matrix_;
};

}  // namespace curlew
