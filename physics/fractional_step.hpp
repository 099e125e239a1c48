// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>
#include <utility>

#include "physics/incompressible_flow.hpp"
#include "physics/momentum.hpp"
#include "physics/pressure_projection.hpp"

namespace curlew {

/// What the fractional-step methods share: the state of the flow, its start, its budgets, and the check of
/// every step.
class FractionalStep : public IncompressibleFlow {
 public:
  FlowStepReport start(const VectorFunction& velocity, Real time) override;
  FlowStepReport start(std::span<const Real> flux, Real time) override;
  FlowState state() const override;
  void resume(const FlowState& state) override;
  FlowStepReport advance(Real step) override;

  Real time() const override { return time_; }
  std::int64_t steps() const override { return steps_; }
  Real courant_rate() const override;
  const Mesh& mesh() const override { return mesh_; }
  const FlowSettings& settings() const override { return settings_; }
  const PrimalCochain<Face>& flux() const override { return now_.flux; }
  const FaceVelocity& face_velocity() const override { return now_.velocity; }
  const DualCochain<Cell>& pressure() const override { return pressure_; }
  Real mean_flow_force() const override { return mean_flow_force_; }
  BoundaryForces boundary_forces() const override;
  EnergyBudget energy_budget() const override;

 protected:
  /// `simplex_weight`: see FluxMass.
  FractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings, Real simplex_weight);

  /// The unknowns at one time and what follows from them.
  struct Level {
    Level(const Executor& executor, const Mesh& mesh);
    PrimalCochain<Face> flux;      // U [m3/s]
    FaceVelocity velocity;         // v [m/s]
    DualCochain<Cell> pressure;    // [m2/s2], at pressure_time
    DualCochain<Face> mass_flux;   // M U [m2/s]
    DualCochain<Face> convection;  // [m3/s2]
    Real time = 0;                 // [s]
    Real pressure_time = 0;        // [s]; not `time` where a scheme knows pressures between times
  };

  /// Fills flux, velocity, pressure and pressure_time of next_, whose time is set; adds its solves to the
  /// report; leaves in rate_ the discrete M dU/dt of the step [m2/s2].
  virtual void take_step(Real step, FlowStepReport& report) = 0;

  /// Writes into `pressure` the one at `time` on the straight line through those of the last two levels.
  void extrapolate_pressure(Real time, DualCochain<Cell>& pressure) const;
  /// Fills acceleration_ with the star's dU/dt under `force` (as circulations, without pressure) at `time`,
  /// divergence-free and with the given fluxes changing as they do, and `pressure` with what makes it so.
  void accelerate(Real time, const DualCochain<Face>& force, DualCochain<Cell>& pressure,
                  FlowStepReport& report);
  static void add(FlowStepReport& report, const std::string& solve, const SolveReport& result);
  /// Volume mean of N U along the mean flow's direction [m/s].
  Real mean_velocity(const PrimalCochain<Face>& flux) const;
  /// By the force that holds the mean flow [m/s2].
  Vector3 mean_flow_acceleration() const;
  bool has_history() const { return steps_ > 0; }

  Executor executor_;
  const Mesh& mesh_;
  FlowSettings settings_;
  FlowBoundaries boundaries_;
  mutable Momentum momentum_;  // its scratch
  PressureProjection projection_;

  Level now_, before_, next_;
  DualCochain<Face> rate_;                 // M dU/dt over the last step [m2/s2]
  mutable DualCochain<Face> circulation_;  // scratch
  mutable FaceVelocity force_;             // scratch
  PrimalCochain<Face> acceleration_;       // dU/dt by accelerate() [m3/s2]
  PrimalCochain<Face> later_;              // scratch
  DualCochain<Cell> pressure_;             // at the present time [m2/s2]
  DualCochain<Face> mean_flow_path_;       // Nᵀ V e, e the mean flow's direction [m]
  Real volume_ = 0;                        // of the domain [m3]
  Real time_ = 0, last_step_ = 0;          // [s]
  std::int64_t steps_ = 0;
  Real mean_flow_force_ = 0;                               // [m/s2]
  Real kinetic_energy_ = 0, previous_kinetic_energy_ = 0;  // 1/2 U . M U [m5/s2]

 private:
  FlowStepReport begin(Real time);
  void compute_initial_pressure(FlowStepReport& report);
  FlowStepReport& finish_report(FlowStepReport& report);
  Real courant_rate_of(const PrimalCochain<Face>& flux) const;
  std::string where_it_fails() const;
  /// Force per density of the boundary on the fluid at each face [m4/s2]: what the momentum equation leaves.
  void compute_reaction() const;

  Interpolation interpolation_;
  mutable FaceVelocity reaction_;
  mutable Field<Cell, Vector3> interpolated_;
};

}  // namespace curlew
