// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "physics/flow/fractional_step.hpp"

namespace curlew {

/// The classical fractional step: the momentum equation with an extrapolated pressure first, then a pressure
/// increment that makes the fluxes divergence-free up to the tolerance of its solve. Kim & Moin, JCP 59
/// (1985); Guermond, Minev & Shen, CMAME 195 (2006) for the family; docs/incompressible-flow.md for this one.
///
/// Second order in time with Sbdf2 and CrankNicolsonAb2, also for steps that vary. The Runge–Kutta schemes
/// project every stage in the norm of the mass of fluxes itself: several pressure solves a stage.
class ClassicalFractionalStep final : public FractionalStep {
 public:
  /// Throws Error for FlowScheme::Midpoint.
  ClassicalFractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings);

 private:
  /// Replaces the pressure that a step begins with, `level`'s, by the one that leaves its velocities hardly
  /// any divergence, for the right-hand side r and force of its momentum (docs/incompressible-flow.md, "The
  /// first steps").
  void find_pressure(Real a, Real b, const DualCochain<Face>& r, const FaceVelocity* force, Level& level,
                     FlowStepReport& report);
  bool steps_with_pressure() const override { return true; }
  void make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) override;
  bool condenses_in_step() const override { return true; }
  void solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force, Level& level, SolveOf of,
                  FlowStepReport& report) override;
  void solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                  FlowStepReport& report) override;

  DualCochain<Cell> increment_;  // of the pressure [m2/s2]
};

}  // namespace curlew
