// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>

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
  bool steps_with_pressure() const override { return true; }
  void make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) override;
  bool condenses_in_step() const override { return true; }
  void solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force, Level& level, SolveOf of,
                  FlowStepReport& report) override;
  /// Momentum with the level's pressure, then the increment that takes the divergence from its fluxes.
  void solve_once(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force, Level& level, SolveOf of,
                  FlowStepReport& report);
  /// After solve_once(): goes on until hardly any divergence was left to take, from what search_ keeps of the
  /// step's beginning (docs/incompressible-flow.md, "The pressure where viscosity reaches far"). r, force:
  /// scratch. `thoroughly`: as the pressure may be off by many times itself.
  void find_pressure(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force, Level& level, bool thoroughly,
                     FlowStepReport& report);
  void solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                  FlowStepReport& report) override;

  /// What a search for the pressure keeps.
  struct Search {
    Search(const Executor& executor, const Mesh& mesh, bool with_force);
    DualCochain<Face> right_hand_side;   // of the step's momentum, without pressure [m2/s2]
    std::optional<FaceVelocity> force;   // likewise [m4/s2]
    DualCochain<Cell> start;             // the pressure that the step begins with [m2/s2]
    DualCochain<Cell> found, direction;  // the pressure so far, and where it goes next [m2/s2]
    DualCochain<Cell> change;            // by what a step would change the one found [m2/s2]
    PrimalCochain<Cell> missing;         // -a D U* at the one found [m3/s2]
  };

  DualCochain<Cell> increment_;   // of the pressure [m2/s2]
  Real largest_reach_ = 0;        // of viscosity's diagonal over that of the mass [1/m2]
  std::optional<Search> search_;  // from the first step on that may need one
};

}  // namespace curlew
