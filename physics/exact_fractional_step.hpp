// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/gathered_dual_tree.hpp"
#include "operators/incidence_operator.hpp"
#include "physics/fractional_step.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

class StreamPreconditioner;

/// Entity tags: a face that loops go through, and a face of a loop that the rank owns, loop by loop.
struct LoopedFace;
struct LoopEntry;

/// Curl with harmonic fluxes: U = C s + Z q. D times it is zero exactly.
class CurlWithLoops {
 public:
  /// `loops`: of each harmonic flux the faces that this rank has, ghosts included.
  CurlWithLoops(const Executor& executor, const Mesh& mesh,
                const std::vector<std::vector<SignedId<Face>>>& loops);

  /// Fluxes at ghosts too, from streamfunctions that are right there.
  void apply(const StreamVelocity& x, PrimalCochain<Face>& flux) const {
    set_curl(flux.range(), x, flux);
    add_loops(x, flux);
  }
  /// The parts of that: the curl, on these faces, and then the loops on all.
  void set_curl(Range<Face> faces, const StreamVelocity& x, PrimalCochain<Face>& flux) const {
    curl_.apply_on(faces, x.stream, flux);
  }
  void add_loops(const StreamVelocity& x, PrimalCochain<Face>& flux) const;
  /// From circulations that are right on all faces about the rank's own edges.
  void apply_transpose(const DualCochain<Face>& circulation, Paired<StreamVelocity>& y) const;

 private:
  Executor executor_;
  Curl curl_;
  IncidenceTable<LoopedFace, Loop> loops_of_face_;
  ConstantArray<Index> looped_faces_;
  std::vector<Range<LoopEntry>> entries_of_loop_;
  ConstantArray<Index> entries_;  // as in an IncidenceTable
};

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

  /// Number of harmonic fluxes.
  Index loops() const { return static_cast<Index>(loops_.size()); }

 private:
  class System;

  bool steps_with_pressure() const override { return false; }
  void make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) override;
  void solve_step(Real a, Real b, DualCochain<Face>& r, const FaceVelocity* force, Level& level, bool main,
                  FlowStepReport& report) override;
  void solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                  FlowStepReport& report) override;
  void forget() override { changes_.clear(); }
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
  Real quantum_ = 0;  // [m3/s]

  Field<Edge, std::uint8_t> free_;
  StreamVelocity unknown_;  // change of s [m2/s times m], q [m3/s] and A t [m3/s]
  Paired<StreamVelocity> right_hand_side_, image_;
  PrimalCochain<Edge> last_change_;  // of s in the last step, the next one's guess
  PrimalCochain<Loop> last_loops_;   // of q
  SolutionHistory<StreamVelocity> changes_;
  ConjugateGradient<StreamVelocity> solver_;
  std::unique_ptr<StreamPreconditioner> preconditioner_;
  PrimalCochain<Face> change_;     // C s [m3/s]
  DualCochain<Face> circulation_;  // scratch
  FaceVelocity velocity_, force_;  // scratch
  Field<Face> friction_scale_;     // of the terms of K v over the area, for their round-off
  DualCochain<Cell> potential_;    // scratch
  std::pair<Real, Real> preconditioner_for_{-1, -1};
};

}  // namespace curlew
