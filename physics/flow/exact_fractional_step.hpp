// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/parallel/gathered_dual_tree.hpp"
#include "physics/flow/fractional_step.hpp"
#include "physics/streamfunction/stream_system.hpp"

namespace curlew {

class StreamPreconditioner;

/// The exact fractional step: fluxes change by curls and harmonic fluxes only, so that pressure drops out of
/// the momentum equation and no divergence can arise, whatever the tolerance of the solve. Chang, Giraldo &
/// Perot, JCP 180 (2002); with the consistent mass, the viscous form and harmonic fluxes here:
/// docs/exact-fractional-step.md.
///
/// All fluxes are multiples of one power of two, so that sums of them round nowhere: the net outflow of every
/// cell is zero to the last bit, not just to round-off.
///
/// On a divided mesh the tree and the harmonic fluxes are those of the whole mesh (GatheredDualTree).
class ExactFractionalStep final : public FractionalStep {
 public:
  ExactFractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings);
  ~ExactFractionalStep() override;
  // The history makes changes free by this one's matrices.
  ExactFractionalStep(const ExactFractionalStep&) = delete;
  ExactFractionalStep& operator=(const ExactFractionalStep&) = delete;

  /// Number of harmonic fluxes.
  Index loops() const { return static_cast<Index>(loops_.size()); }

 private:
  bool steps_with_pressure() const override { return false; }
  void make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) override;
  void solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force, Level& level, SolveOf of,
                  FlowStepReport& report) override;
  void solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                  FlowStepReport& report) override;
  void forget() override;
  Real quantum() const override { return quantum_; }
  void begin_run() override { set_quantum(0); }
  void begin_step() override { quantum_before_ = quantum_; }
  void undo_step() override { set_quantum(quantum_before_); }
  void add_to(FlowState& state) const override;
  void resume_from(const FlowState& state) override;

  /// `of_edges`: whether those of edges are used.
  void find_diagonals(bool of_edges);
  /// By inertia and by viscosity, in a cell, of the flux `sign_of(face)` through each of its faces.
  template <class SignOf>
  std::pair<Real, Real> energies_in_cell(Id<Cell> c, const SignOf& sign_of) const;
  /// Of unit circulation round one loop each, without vorticity: for the preconditioner.
  void find_harmonic_flows();
  void set_preconditioner(Real a, Real b);
  /// Solves for the change of streamfunction and tangential velocities from `flux` and `velocity`, whose
  /// normal part is overwritten; `unknown_` holds the guess and then the solution. `of_step`: one of the
  /// solves of every step, which learn from each other.
  void solve(Real a, Real b, const DualCochain<Face>& r, const PrimalCochain<Face>& flux,
             FaceVelocity& velocity, bool of_step, FlowStepReport& report);
  void set_quantum(Real quantum);
  /// Makes the quantum large enough for values of this size; whether it changed.
  bool widen_quantum(Real largest);
  /// Rounds fluxes to multiples of the quantum and takes what is then left over in cells along the tree.
  void settle(PrimalCochain<Face>& flux);

  /// Energies of unit values on each edge or loop; 0 where the value is held or a ghost.
  struct StreamDiagonal {
    std::vector<Real> mass, viscous;
  };

  GatheredDualTree tree_;
  std::vector<std::vector<SignedId<Face>>> loops_;  // of each the faces that this rank has
  CurlWithLoops curl_;
  std::vector<std::uint8_t> edge_is_free_;
  StreamDiagonal edge_diagonal_, loop_diagonal_;
  std::vector<Real> tangential_diagonal_;
  Real quantum_ = 0, quantum_before_ = 0;  // now and at the beginning of the step [m3/s]

  StreamMatrices matrices_;
  StreamVelocity unknown_;           // change of s [m2/s times m], q [m3/s] and A t [m3/s]
  PrimalCochain<Edge> last_change_;  // of s in the last step, the next one's guess
  PrimalCochain<Loop> last_loops_;   // of q
  SolutionHistory<StreamVectors<float>> changes_;
  RefinedConjugateGradient<StreamVelocity> solver_;
  std::unique_ptr<StreamPreconditioner> preconditioner_;
  PrimalCochain<Face> change_;   // C s [m3/s]
  FaceVelocity velocity_;        // scratch
  DualCochain<Cell> potential_;  // scratch
  std::pair<Real, Real> preconditioner_for_{-1, -1};
};

}  // namespace curlew
