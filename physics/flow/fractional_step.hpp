// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "physics/flow/incompressible_flow.hpp"
#include "physics/flow/pressure_projection.hpp"
#include "physics/momentum/momentum.hpp"

namespace curlew {

/// What the fractional-step methods share: the state of the flow, its start, the schemes in time, its budgets
/// and the check of every step. A method says how fluxes are kept divergence-free.
class FractionalStep : public IncompressibleFlow {
 public:
  FlowStepReport start(const VectorFunction& velocity, Real time) override;
  FlowStepReport start(std::span<const Real> flux, Real time) override;
  FlowState state() const override;
  void resume(const FlowState& state) override;
  using IncompressibleFlow::advance;
  FlowStepReport advance(Real step, Real end) override;

  Real time() const override { return time_; }
  std::int64_t steps() const override { return steps_; }
  Real courant_rate() const override { return courant_rate_; }
  Real courant_rate_of_boundaries(Real time) const override {
    return boundaries_.depend_on_time() ? boundaries_.courant_rate_at(time) : 0;
  }
  Real convection_rate() const override;
  Real longest_viscous_step() const override { return longest_viscous_step_; }
  const Mesh& mesh() const override { return mesh_; }
  const FlowSettings& settings() const override { return settings_; }
  const PrimalCochain<Face>& flux() const override { return now_.flux; }
  const FaceVelocity& face_velocity() const override { return now_.velocity; }
  const DualCochain<Cell>& pressure() const override;
  Real mean_flow_force() const override { return mean_flow_force_; }
  BoundaryForces boundary_forces() const override;
  EnergyBudget energy_budget() const override;

 protected:
  /// `simplex_weight`: see FluxMass.
  FractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings, Real simplex_weight);

  /// The unknowns at one time and what follows from them.
  struct Level {
    Level(const Executor& executor, const Mesh& mesh);
    PrimalCochain<Face> flux;     // U [m3/s]
    FaceVelocity velocity;        // v [m/s]
    DualCochain<Face> mass_flux;  // M U [m2/s]
    FaceVelocity convection;  // as a force on velocities [m4/s2]; condensed but where condenses() is false
    Real time = 0;            // [s]
    // Within the step that led here, at inner_time: not `time` where a scheme is centred in the step.
    DualCochain<Cell> pressure;  // [m2/s2]; unused by methods that step without one
    DualCochain<Face> rate;      // M dU/dt [m2/s2]
    Real mean_flow_force = 0;    // [m/s2]
    Real inner_time = 0;         // [s]
  };

  // --- what a method gives ---

  /// Whether a step needs the pressures of the last two levels.
  virtual bool steps_with_pressure() const = 0;
  /// Makes fluxes with the boundary values of the moment divergence-free, as the method understands it.
  virtual void make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) = 0;
  /// What a solve of a step's system is of.
  enum class SolveOf {
    Step,      ///< the step's, or the first of those that it iterates
    Again,     ///< the same step's once more
    UnitForce  ///< what a unit force adds to a step
  };
  /// Whether solve_step() takes forces on tangential velocities.
  virtual bool condenses_in_step() const { return false; }
  /// Solves a M U + b K v + G p = r + force, D U = 0, for the free part of a level's unknowns from the
  /// guesses in it. Parts of v other than the given ones may be left as they come out. `force`: on face
  /// velocities, of no meaning afterwards; null for none.
  virtual void solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force, Level& level, SolveOf of,
                          FlowStepReport& report) = 0;
  /// Solves M U + G p = r for fluxes whose divergence stays that of the guess, in the norm of M itself. `p`
  /// is a guess, and left alone by methods that step without one.
  virtual void solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                          FlowStepReport& report) = 0;
  /// Makes the method's next solves start from no earlier ones.
  virtual void forget() {}
  /// What fluxes are rounded to multiples of [m3/s]; 0: to nothing coarser than their precision.
  virtual Real quantum() const { return 0; }
  /// A start takes nothing of the method's from steps before it; by all ranks together.
  virtual void begin_run() {}
  /// What a step that fails has changed of the method's is to be as it was at its beginning; by all ranks
  /// together.
  virtual void begin_step() {}
  virtual void undo_step() {}
  /// What else the next step depends on.
  virtual void add_to(FlowState&) const {}
  virtual void resume_from(const FlowState&) {}

  static void add(FlowStepReport& report, const std::string& solve, const SolveReport& result);
  bool has_history() const { return steps_ > 0; }
  /// Length of the present step over that of the last one; 0 in the first.
  Real step_ratio() const { return has_history() ? step_ / last_step_ : 0; }
  /// Whether the present step may guess the pressure along the straight line through the last two: viscosity
  /// turns forces in flat cells, and the guess then turns with the velocity, further in each step.
  bool may_extrapolate_pressure() const;

  Executor executor_;
  const Mesh& mesh_;
  FlowSettings settings_;
  FlowBoundaries boundaries_;
  mutable Momentum momentum_;                                    // its scratch
  mutable PressureProjection projection_;                        // likewise
  mutable SolutionHistory<DualCochain<Cell>> pressure_changes_;  // of what every step solves for

 private:
  FlowStepReport begin(Real time);
  /// What guesses, forces of earlier steps and the pressure's mean depend on, by name: where it is another at
  /// a restart they do not serve.
  std::map<std::string, Real> conditions() const;
  /// After a restart with others.
  void start_guesses_anew();
  /// Before there is a history: it forgets all guesses (explicit_viscosity.cpp).
  void find_longest_viscous_step();
  /// Gives now_ the fluxes without divergence whose difference from those it has is of the least energy.
  void take_divergence_from_start(FlowStepReport& report);
  /// Replaces the pressure and the rate of the start by those of given fluxes that change as they do over the
  /// first step: values may change by as much within a moment of it.
  void prepare_first_step(Real step, FlowStepReport& report);
  /// Throws InputError where no force along the mean flow's direction could move the fluid.
  void require_mean_flow();
  /// Values of the start that prepare_first_step() replaces.
  struct StartValues {
    std::vector<Vector3> velocity;
    std::vector<Real> pressure, rate;
    Real mean_flow_force;
  };
  StartValues start_values() const;
  /// What can be done about a step that failed without the other ranks.
  void restore_own(const std::optional<StartValues>& start);
  /// And with them.
  void restore_with_others();
  /// Makes all next solves start from no earlier ones.
  void forget_guesses();
  FlowStepReport& finish_report(FlowStepReport& report);
  Real courant_rate_of(const PrimalCochain<Face>& flux) const;
  Real convection_rate_of(const Level& level) const;
  std::string where_it_fails() const;

  // The schemes (time_schemes.cpp): each fills next_ but for its convection.
  void take_step(Real step, FlowStepReport& report);
  void take_multistep(Real step, FlowStepReport& report);
  void take_midpoint_step(Real step, FlowStepReport& report);
  void take_runge_kutta_step(Real step, FlowStepReport& report);
  /// What a unit uniform force along the mean flow adds to a step with these factors, and to M U = ... alone.
  const Level& response_to_force(Real a, Real b);
  const Level& response_to_impulse();
  /// Adds so much of a response that the mean flow of `flux` is `velocity` [m/s]; gives the force of it.
  Real hold_mean_flow(const Level& response, Real velocity, PrimalCochain<Face>& flux,
                      DualCochain<Cell>& pressure) const;
  /// Writes a level's convection, from its fluxes and velocities.
  void find_convection(const Level& level, FaceVelocity& convection, FlowStepReport& report);
  /// Whether the cell Reynolds number is so small everywhere that viscosity damps what convection makes grow.
  bool viscosity_prevails() const;
  /// Writes the force on the fluid by convection, so many of the last steps ahead.
  void extrapolate_convection(Real ahead, FaceVelocity& force) const;
  /// Whether find_convection() condenses it: steps that take viscosity implicitly can do that by the way.
  bool condenses() const;
  /// Body force less viscosity less convection of a state, with the pressure outside, as circulations.
  void compute_explicit_force(Real time, const PrimalCochain<Face>& flux, FaceVelocity& velocity,
                              DualCochain<Face>& force, FlowStepReport& report);
  /// How given fluxes change at a time: as a parabola through there and through what is one and two intervals
  /// away does there, or as they do in the mean over one interval.
  enum class Change { AtOnce, InTheMean };
  /// Fills a level's rate, pressure and force on the mean flow from its fluxes, all at its own time.
  /// `interval` [s]: from then on, or before it where it is negative.
  void find_rate(Level& level, Real interval, Change change, FlowStepReport& report);
  /// An interval so short that hardly any given fluxes change otherwise in it than at `time`.
  static Real moment_at(Real time) { return 1e-7 + 1e-9 * std::abs(time); }
  /// Volume mean of N U along the mean flow's direction [m/s].
  Real mean_velocity(const PrimalCochain<Face>& flux) const;
  /// Of so large a force along the mean flow [m/s2].
  Vector3 along_mean_flow(Real force) const;

  /// How far `time` is beyond the last two levels, as a share of what is between them.
  Real ahead(Real time) const;
  /// Writes the value at `time` on the straight line through those of the last two levels.
  template <class F>
  void extrapolate(F Level::*member, Real time, F& value) const;
  Real extrapolated_mean_flow_force(Real time) const;
  void bring_pressure_up_to_date() const;

  // Forces and energy (flow_balances.cpp):
  /// Force per density of the boundary on the fluid at each face [m4/s2]: what the momentum equation leaves.
  /// Until the next step.
  const FaceVelocity& compute_reaction() const;
  /// Of all faces from the first boundary face on, on the host [m/s].
  std::vector<Vector3> velocity_at_boundary() const;
  /// Of kinetic energy, of second order in the step from the second one on.
  Real energy_rate() const;
  /// Done on moving walls by what the transposed gradient adds to the viscous stress there.
  Real power_of_transposed_gradient() const;

  Level now_, before_;
  mutable Level next_;                     // between steps scratch but for its convection
  bool earlier_convection_known_ = false;  // whether that is the one of the level before before_
  mutable DualCochain<Cell> pressure_;     // at the present time [m2/s2]
  mutable bool pressure_known_ = true;
  DualCochain<Face> rate_;                 // M dU/dt at the present time [m2/s2]
  mutable DualCochain<Face> circulation_;  // scratch
  mutable FaceVelocity force_;             // scratch
  DualCochain<Face> right_hand_side_;      // [m2/s2]
  PrimalCochain<Face> acceleration_;       // dU/dt by find_rate() [m3/s2]
  mutable PrimalCochain<Face> later_;      // scratch
  Interpolation interpolation_;
  mutable Field<Cell, Vector3> interpolated_;
  std::vector<PrimalCochain<Face>> stage_flux_;
  std::vector<DualCochain<Face>> stage_force_;

  // Where a mean flow is held:
  std::optional<DualCochain<Face>> mean_flow_path_;  // Nᵀ V e, e the mean flow's direction [m]
  std::optional<Level> response_;                    // the last one asked for
  std::pair<Real, Real> response_factors_{0, 0};     // a, b of its system

  Real volume_ = 0;                  // of the domain [m3]
  Real inverse_square_of_flattest_;  // of flat cells' heights [1/m2]
  Real time_ = 0, last_step_ = 0;    // [s]
  Real step_ = 0;  // while it is taken; not the difference of two times, which rounding changes [s]
  std::int64_t steps_ = 0;
  Real mean_flow_force_ = 0;                               // at the present time [m/s2]
  Real kinetic_energy_ = 0, previous_kinetic_energy_ = 0;  // 1/2 U . M U [m5/s2]
  Real earlier_kinetic_energy_ = 0, earlier_step_ = 0;     // of the step before the last
  Real courant_rate_ = 0;                                  // [1/s]
  Real longest_viscous_step_ = 0;                          // [s]
};

}  // namespace curlew
