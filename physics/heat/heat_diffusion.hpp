// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mesh/mesh.hpp"
#include "operators/node_diffusion.hpp"
#include "physics/heat/heat_history.hpp"
#include "physics/heat/heat_load.hpp"
#include "physics/heat/heat_settings.hpp"
#include "solvers/conjugate_gradient.hpp"

namespace curlew {

/// Throws InputError, with coordinates, for a quadrilateral, hexahedron or prism so flat that what conducts
/// along it is lost in the rounding of what conducts across (docs/heat-diffusion.md, "Limits").
void require_cells_to_conduct(const Mesh& mesh);

/// Where heat went, on average over the last step (at the end of it, for a steady solve). Before the first
/// step what flows at its beginning, and not-a-number through patches of given temperature: what it takes to
/// bring them there is for the step to tell.
struct HeatBalance {
  std::vector<Real> outflow;  ///< through each patch, outward [W]
  Real source = 0;            ///< released inside [W]
  Real stored = 0;            ///< taken up by the material [W]
  /// What is missing from source = stored + total outflow [W]; at most the solver's tolerance.
  Real imbalance() const;
  /// The heat that changes place [W], to compare the imbalance with.
  Real throughput() const;
};

/// Node-based heat diffusion, rho c V dT/dt = -K T + boundary + source: temperatures at nodes, heat stored in
/// median dual volumes, conducted by NodeDiffusion. Menon, UMass thesis (2008), chapter 3; the linear finite
/// element with lumped mass on simplices. Second order in space; in time second (Crank–Nicolson) or first
/// order (backward Euler).
///
/// Crank–Nicolson starts with one step made of two half steps of backward Euler, which damps what an initial
/// field that contradicts the boundary values would let oscillate (Rannacher, Numer. Math. 43, 1984).
///
/// On a mesh divided among ranks every rank solves for its nodes, with an executor among the ranks; all calls
/// are made by all ranks together, and the bits are those of one rank. Values at ghosts have no meaning.
///
/// Each step's solve starts from the last temperature, given temperatures put in, improved by what the last
/// steps changed (SolutionHistory).
class HeatDiffusion {
 public:
  /// Throws InputError for a negative convection coefficient, and as require_cells_to_conduct() does.
  HeatDiffusion(const Executor& executor, const Mesh& mesh, HeatSettings settings);
  ~HeatDiffusion();

  /// Starts at `time` [s] from a field of temperatures [K].
  void start(const SpaceTimeFunction& temperature, Real time);
  /// What a run that resumes from it goes on from, to the same bits.
  RunState state() const;
  /// Goes on from the state of an earlier run, with whatever settings. Throws InputError for a state of
  /// another mesh.
  void resume(const RunState& state);

  /// One time step to `time` [s], later than now. `step` [s]: how long it is, the same to the bit for steps
  /// of one length; the difference of times, whose rounding would make each of them another system, where it
  /// is not given. Throws DivergedError as ConjugateGradient does, and what the boundary values and sources
  /// throw. All is then as before, to the bit, but for guesses: these are forgotten where solves had begun.
  /// On several ranks it is so after a DivergedError alone: what else is thrown, other ranks may know nothing
  /// of.
  SolveReport advance_to(Real time, Real step);
  SolveReport advance_to(Real time) { return advance_to(time, time - time_); }
  /// Solves for the steady state under the boundary values and sources of the present time. A part of the
  /// domain without fixed temperature or convection keeps its mean temperature; throws InputError if heat
  /// flows into it.
  SolveReport solve_steady();
  /// Whether that does not depend on the temperature it starts from: each part of the domain has a given
  /// temperature or convection. By all ranks together.
  bool has_one_steady_state() const;

  const PrimalCochain<Node>& temperature() const { return temperature_; }
  Real time() const { return time_; }
  std::int64_t steps() const { return steps_; }
  const HeatBalance& balance() const { return balance_; }
  /// Conductivity of each cell [W/(m K)].
  const std::vector<Real>& conductivity() const { return conductivity_; }

 private:
  class System;
  class Capacity;

  void begin(Real time, std::int64_t steps);
  void take_load(Real time);
  HeatHistory& history();
  SolveReport solve(Real per_step, Real implicit_weight, const NullSpace<PrimalCochain<Node>>* null_space);
  SolveReport advance(Real step, Real time, Real implicit_weight);
  SolveReport advance_in_halves(Real step, Real time);
  /// What a step begins with.
  struct Start {
    Real time;
    HeatBalance balance;
    std::vector<Real> temperature, left_over;  // none where previous_ has the one, the other does not change
  };
  /// `with_others`: whether all ranks do.
  void go_back(const Start& start, bool with_others);
  void forget_guesses();
  void set_preconditioner(Real per_step, Real implicit_weight, bool singular);
  /// By how much a preconditioner that was made for convection_preconditioned_ may have become worse.
  Real change_of_convection(Real per_step, Real implicit_weight) const;
  void set_inflow();
  void compute_inflow();
  void compute_balance(Real per_step, Real implicit_weight);
  /// A bound from below, known from the balance, of the l2 norm over nodes of what held ones are supplied
  /// with: a sum over the root of the number of its terms [W]. Infinite without any.
  Real least_heat_of_held_nodes() const;

  Executor executor_;
  const Mesh& mesh_;
  HeatSettings settings_;
  std::vector<Real> conductivity_;
  NodeDiffusion diffusion_;

  Real time_ = 0;
  std::int64_t steps_ = 0;
  Real total_volume_ = 0;  // [m3]

  PrimalCochain<Node> temperature_, previous_;  // [K]
  DualCochain<Node> capacity_;                  // rho c V [J/K]
  Field<Node> volume_;                          // [m3]
  HeatLoad load_;
  DualCochain<Node> inflow_, previous_inflow_;  // load - convection T - K T [W]
  PrimalCochain<Node> change_;                  // what a solve finds [K]
  DualCochain<Node> sought_;                    // what it is for [W]
  Field<Node> conductance_;                     // from each node to all others [W/K]
  DualCochain<Node> diagonal_;                  // [W/K]
  // What the steps so far should have stored at each node and, solves being inexact, have not [J].
  DualCochain<Node> left_over_;
  DualCochain<Node> supplied_;  // what must be supplied at each node to hold it [W]

  // At the present and the previous time [W]:
  std::vector<Real> patch_outflow_, previous_patch_outflow_;  // as load_ gives them
  Real previous_source_ = 0;

  Real last_step_ = 0;             // [s]; 0 where there is none that counts for jumps
  bool held_jumped_late_ = false;  // in the last step, or between it and a restart

  std::unique_ptr<HeatHistory> history_;  // null before it is asked for
  ConjugateGradient<PrimalCochain<Node>> solver_;
  std::unique_ptr<Preconditioner<PrimalCochain<Node>>> preconditioner_;
  std::optional<Field<Node>> convection_preconditioned_;  // that it was made for [W/K]
  /// The step and weight that each was made for.
  std::optional<std::pair<Real, Real>> diagonal_for_, preconditioner_for_;
  HeatBalance balance_;
};

}  // namespace curlew
