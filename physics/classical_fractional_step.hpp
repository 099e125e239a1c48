// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "physics/fractional_step.hpp"

namespace curlew {

/// The classical fractional step: the momentum equation with an extrapolated pressure first, then a pressure
/// increment that makes the fluxes divergence-free up to the tolerance of its solve. Kim & Moin, JCP 59
/// (1985); Guermond, Minev & Shen, CMAME 195 (2006) for the family; docs/incompressible-flow.md for this one.
///
/// Second order in time with Sbdf2 and CrankNicolsonAb2, also for steps that vary. The Runge–Kutta schemes
/// project every stage in the norm of the mass of fluxes itself: several pressure solves a stage.
class ClassicalFractionalStep final : public FractionalStep {
 public:
  ClassicalFractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings);

 private:
  /// What a unit uniform force along the mean flow adds to a step.
  struct Response {
    Response(const Executor& executor, const Mesh& mesh);
    std::pair<Real, Real> factors{0, 0};  // of the system that it belongs to
    PrimalCochain<Face> flux;
    FaceVelocity velocity;
    DualCochain<Cell> pressure;
    Real mean_velocity = 0;
  };

  void take_step(Real step, FlowStepReport& report) override;
  void take_multistep(Real step, FlowStepReport& report);
  void take_runge_kutta_step(Real step, FlowStepReport& report);
  /// Adds the uniform force that brings the new fluxes to the mean velocity asked for.
  void hold_mean_flow(Real mass_factor, Real viscous_factor, Real step, FlowStepReport& report);
  /// Body force less viscosity less convection of a state, as circulations.
  void compute_explicit_force(Real time, const PrimalCochain<Face>& flux, FaceVelocity& velocity,
                              DualCochain<Face>& force, FlowStepReport& report);

  DualCochain<Face> right_hand_side_;
  DualCochain<Cell> increment_;
  std::optional<Response> response_;
  std::vector<PrimalCochain<Face>> stage_flux_;
  std::vector<DualCochain<Face>> stage_force_;
};

}  // namespace curlew
