// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/dual_tree.hpp"
#include "operators/incidence_operator.hpp"
#include "physics/fractional_step.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

/// Curl with harmonic fluxes: U = C s + Z q, the loops of Z being further edges behind those of the mesh.
/// D times it is zero exactly.
class CurlWithLoops : public IncidenceOperator<PrimalCochain<Edge>, PrimalCochain<Face>> {
 public:
  CurlWithLoops(const Executor& executor, IncidenceTable<Face, Edge> edges_of_face,
                IncidenceTable<Edge, Face> faces_of_edge)
      : IncidenceOperator(executor, std::move(edges_of_face), std::move(faces_of_edge), 1) {}
};

/// The exact fractional step: fluxes change by curls and harmonic fluxes only, so that pressure drops out of
/// the momentum equation and no divergence can arise, whatever the tolerance of the solve. Chang, Giraldo &
/// Perot, JCP 180 (2002); with the consistent mass, the viscous form and harmonic fluxes here:
/// docs/exact-fractional-step.md.
///
/// All fluxes are multiples of one power of two, so that sums of them round nowhere: the net outflow of every
/// cell is zero to the last bit, not just to round-off.
class ExactFractionalStep final : public FractionalStep {
 public:
  ExactFractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings);
  ~ExactFractionalStep() override;

  /// Number of harmonic fluxes.
  Index loops() const { return loops_; }

 private:
  class System;
  class StreamPreconditioner;

  bool steps_with_pressure() const override { return false; }
  void make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) override;
  void solve_step(Real a, Real b, DualCochain<Face>& r, Level& level, bool main,
                  FlowStepReport& report) override;
  void solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                  FlowStepReport& report) override;
  void add_to(FlowState& state) const override;
  void resume_from(const FlowState& state) override;

  void find_curl();
  void find_diagonals();
  void set_preconditioner(Real a, Real b);
  /// Solves for the change of streamfunction and tangential velocities from `flux` and `velocity`, whose
  /// normal part is overwritten; `unknown_` holds the guess and then the solution.
  void solve(Real a, Real b, const DualCochain<Face>& r, const PrimalCochain<Face>& flux,
             FaceVelocity& velocity, FlowStepReport& report);
  /// Makes the quantum large enough for values of this size; whether it changed.
  bool widen_quantum(Real largest);
  /// Rounds fluxes to multiples of the quantum and takes what is then left over in cells along the tree.
  void settle(PrimalCochain<Face>& flux);

  DualTree tree_;
  Index loops_ = 0;
  std::unique_ptr<CurlWithLoops> curl_;
  IncidenceTable<Face, Edge> edges_of_face_;
  IncidenceTable<Edge, Face> faces_of_edge_;  // the mesh's, then the loops
  std::vector<std::uint8_t> edge_is_free_;
  std::vector<Real> mass_diagonal_, viscous_diagonal_, tangential_diagonal_;
  Real quantum_ = 0;  // [m3/s]

  std::optional<Field<Edge, std::uint8_t>> free_;
  std::optional<StreamVelocity> unknown_;  // change of s [m2/s times m] and A t [m3/s]
  std::optional<Paired<StreamVelocity>> right_hand_side_, image_;
  std::optional<PrimalCochain<Edge>> last_change_;  // of the last step, the next one's guess
  std::optional<ConjugateGradient<StreamVelocity>> solver_;
  std::unique_ptr<StreamPreconditioner> preconditioner_;
  PrimalCochain<Face> change_;     // C s [m3/s]
  DualCochain<Face> circulation_;  // scratch
  FaceVelocity velocity_, force_;  // scratch
  Field<Face> friction_scale_;     // of the terms of K v over the area, for their round-off
  DualCochain<Cell> potential_;    // scratch
  std::pair<Real, Real> preconditioner_for_{-1, -1};
};

}  // namespace curlew
