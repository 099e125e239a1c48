// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "app/case/flow_case.hpp"
#include "app/simulation/present_flow.hpp"
#include "app/simulation/simulation.hpp"
#include "app/simulation/step_control.hpp"
#include "physics/flow/incompressible_flow.hpp"

namespace curlew {

/// Starts a flow as its case says: from a velocity, or from the fluxes of an earlier run. Throws InputErrors
/// where that run was of another mesh.
FlowStepReport start_flow(IncompressibleFlow& flow, const FlowCase& settings);

/// A run of incompressible flow by whatever method: in time, or in time until it is steady.
class FlowSimulation final : public Simulation {
 public:
  FlowSimulation(FlowCase settings, std::unique_ptr<IncompressibleFlow> flow);

  const std::string& model() const override { return flow_method_names[at(int(settings_.method))]; }
  const Mesh& mesh() const override { return computed_mesh().unfolded(); }
  const Mesh& computed_mesh() const override { return flow_->mesh(); }
  const CaseSettings& settings() const override { return settings_; }
  Real start_time() const override { return settings_.time.start; }
  std::optional<Real> end_time() const override;
  std::optional<Real> wall_limit() const override { return settings_.time.wall_limit; }
  bool one_result() const override { return false; }

  void start() override;
  std::vector<std::string> resume(const Checkpoint& checkpoint, const std::string& path) override;
  Checkpoint checkpoint() const override;

  Real time() const override { return flow_->time(); }
  std::int64_t steps() const override { return flow_->steps(); }
  bool finished() const override;
  bool reached_goal() const override { return !settings_.time.steady || deciding().steady(); }
  void advance() override;
  bool sound_before_divergence() const override { return false; }
  std::optional<NamedReference> watched() const override;
  void observe(const ColumnValue& column) override;

  std::map<std::string, SolveReport> solves() const override { return report_.solves; }
  std::optional<Real> divergence() const override { return report_.divergence_max; }
  std::vector<double> residuals() const override;
  std::vector<ProgressItem> progress() const override;
  std::vector<std::string> warnings() override;

  std::vector<CsvColumn> residual_columns() const override;
  std::vector<FieldDescription> output_fields() const override;
  std::unique_ptr<Snapshot> snapshot() const override;
  std::string conclusion() const override;

  const IncompressibleFlow& flow() const { return *flow_; }

 private:
  bool watches(const std::string& quantity) const;
  /// What tells whether the flow is steady. A column of a monitor that has never changed, such as an outflow
  /// that is the inflow, does not: the kinetic energy does then.
  bool energy_decides() const { return watched() && detector_.steady() && !detector_.has_moved(); }
  const SteadyDetector& deciding() const { return energy_decides() ? energy_detector_ : detector_; }
  std::string deciding_quantity() const {
    return energy_decides() ? "kinetic_energy" : settings_.time.quantity;
  }
  /// Whether what moves is the rounding of forces that a pressure balances: it never stops changing.
  bool at_rest() const;
  void find_speed_of_rounding();
  void require_streamfunction() const;
  /// The next step, chosen by `control`, `longest` [s] at most. One that follows the Courant number looks
  /// ahead at what boundaries will give: at four times until its end, so that what comes for less than a
  /// quarter of a step may pass unseen.
  StepControl::Step next_step(StepControl& control, Real longest) const;
  /// Of steps that are too long for what is explicit, once each.
  std::optional<std::string> warning_of_viscosity();
  std::optional<std::string> warning_of_convection();
  /// What of a change per time solves may leave at most [1/s].
  Real largest_change_left_by_solves() const;
  /// Whether what decides changes by no more than what solves may leave.
  bool changes_as_solves_leave() const {
    return deciding().rate_of_scale() < largest_change_left_by_solves();
  }
  /// The same for so many steps, in which it has not become steadier.
  bool has_stagnated(int steps) const;
  /// How much what decides changes by, in words.
  std::string share_that_changes() const;
  /// Of a flow that is steady by the tolerance alone.
  std::optional<std::string> warning_of_slowness();
  /// Of a flow that changes no less for what its solves leave.
  std::optional<std::string> warning_of_stagnation();
  std::optional<std::string> warning_of_averages();

  FlowCase settings_;
  std::unique_ptr<IncompressibleFlow> flow_;
  StepControl control_;
  SteadyDetector detector_, energy_detector_;
  FlowStepReport report_;  // of the last step
  Real step_ = 0;          // its length [s]
  bool warned_of_viscosity_ = false, warned_of_convection_ = false, warned_of_slowness_ = false,
       warned_of_stagnation_ = false, warned_of_averages_ = false;
  int steps_too_long_ = 0;  // for convection, one after the other
  std::vector<FlowAverage> averages_;
  mutable std::optional<CentroidVelocity> centroid_velocity_;  // once somebody sees the velocity
  std::optional<Field<Face, Vector3>> previous_velocity_;      // where a steady run watches it [m/s]
  Real speed_of_rounding_ = 0;                                 // of a steady run [m/s]
};

}  // namespace curlew
