// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <optional>

#include "operators/cell_laplacian.hpp"
#include "operators/flux_mass.hpp"
#include "operators/incidence_operator.hpp"
#include "physics/flow/flow_boundary.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/null_space.hpp"

namespace curlew {

/// How far fluxes are from being divergence-free.
struct DivergenceNorms {
  Real max = 0;  ///< largest |D U| of a cell over the root mean square of | |D| |U| |
  Real l2 = 0;   ///< |D U| over | |D| |U| |
};

/// Makes fluxes divergence-free by a pressure, with the diagonal star S_f = sum_c h_f / A_f for the mass:
/// D S⁻¹ Dᵀ p = -a D U*, U = U* + S⁻¹ Dᵀ p / a on faces whose flux is free.
///
/// The star is only a stand-in for the consistent mass M. A step that extrapolates the pressure is stable
/// when the eigenvalues of (D S⁻¹ Dᵀ)⁻¹ D M⁻¹ Dᵀ stay below 4/3 (docs/incompressible-flow.md). The largest is
/// at most the largest ratio of the star to the mass within one cell; in cells where that exceeds 1.3 their
/// share of the star is scaled down to it. What viscosity adds to the pressure is bounded in the same way.
///
/// On a divided mesh all calls are made by all ranks together; ghosts of what is given are brought up to
/// date.
class PressureProjection {
 public:
  PressureProjection(const Executor& executor, const Mesh& mesh, const FlowBoundaries& boundaries,
                     const FluxMass& mass, SolverControl control,
                     Preconditioning preconditioning = Preconditioning::Multigrid);
  ~PressureProjection();

  /// Solves for p from the guess it holds, and corrects the fluxes. The tolerance is relative to a times the
  /// l2 norm of | |D| |U*| |. p has mean zero in closed parts of the domain. `history`: of solves of this
  /// kind; null: none. `may_be_poor`: whether the guess may be further from p than zero is.
  SolveReport project(Real a, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                      SolutionHistory<DualCochain<Cell>>* history = nullptr, bool may_be_poor = false);
  /// What the divergence that project(a, …) has just taken from fluxes U* says of the pressure where
  /// viscosity acts on them: p -= 1.3 b / d V⁻¹ D U* in d dimensions, for the step's a M U + b K v. (Cahouet
  /// & Chabard, IJNMF 8, 1988; in a projection Timmermans, Minev & van de Vosse, IJNMF 22, 1996.)
  void add_viscous_part(Real a, Real b, DualCochain<Cell>& p) const;
  /// -a D U* of the last project(a, …).
  const PrimalCochain<Cell>& missing_outflow() const { return outflow_; }
  /// a | |D| |U*| | of it, the l2 norm.
  Real scale_of_outflow() const { return scale_of_outflow_; }
  /// U = S⁻¹ r on free faces; the others stay.
  void divide_by_star(const DualCochain<Face>& r, PrimalCochain<Face>& flux) const;

  /// U of M U + (-Dᵀ) p = r that keeps the net outflow D U of what U holds: conjugate gradients within the
  /// fluxes of one divergence, preconditioned by the projection with the star (Gould, Hribar & Nocedal, SIAM
  /// J. Sci. Comput. 23, 2001). p is the first guess and the pressure found. Throws as ConjugateGradient.
  SolveReport solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                         SolverControl control);

  /// Takes from p its means over closed parts of the domain.
  void remove_means_of_closed_parts(DualCochain<Cell>& p);

  DivergenceNorms divergence_of(const PrimalCochain<Face>& flux);
  /// 1/S, one per face; 0 where the flux is given.
  const Field<Face>& inverse_star() const { return inverse_star_; }

 private:
  class ConstraintPreconditioner;
  class FreeMass;
  class Laplacian;

  void set_star();
  /// Takes from r the gradient that a pressure balances, and gives it to p; z = S⁻¹ r after that.
  void remove_gradient(DualCochain<Face>& r, PrimalCochain<Face>& z, DualCochain<Cell>& p,
                       SolveReport& report);
  /// Sets outflow_ to D U and gives the l2 norm of | |D| |U| |.
  Real set_outflow(const PrimalCochain<Face>& flux);
  SolveReport solve(ResidualScale scale, DualCochain<Cell>& p,
                    SolutionHistory<DualCochain<Cell>>* history = nullptr);

  Executor executor_;
  const Mesh& mesh_;
  const FlowBoundaries& boundaries_;
  const FluxMass& mass_;
  IncidenceTable<Cell, Face> faces_of_cell_;
  IncidenceTable<Face, Cell> cells_of_face_;

  Field<Face> inverse_star_;  // [m]; 0 where the flux is given
  std::unique_ptr<CellLaplacian> laplacian_;
  Field<Cell> volume_;
  PrimalCochain<Cell> outflow_;
  Real scale_of_outflow_ = 0;
  DualCochain<Cell> zero_, correction_;
  std::optional<ConjugateGradientIteration<PrimalCochain<Face>>> fluxes_;  // from the first solve_mass() on
  PiecewiseConstantNullSpace<DualCochain<Cell>> null_space_;
  ConjugateGradient<DualCochain<Cell>> solver_;
  std::unique_ptr<Preconditioner<DualCochain<Cell>>> preconditioner_;
};

}  // namespace curlew
