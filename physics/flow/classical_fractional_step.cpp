// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/classical_fractional_step.hpp"

#include "kernels/vector_kernels.hpp"

namespace curlew {

namespace {

/// The weight of the stabilising part of the mass on simplices that keeps the step stable.
constexpr Real simplex_weight = 2;

}  // namespace

ClassicalFractionalStep::ClassicalFractionalStep(const Executor& executor, const Mesh& mesh,
                                                 FlowSettings settings)
    : FractionalStep(executor, mesh, std::move(settings), simplex_weight),
      increment_(executor, mesh.domain().extent<Cell>(), "pressure increment", "m2/s2") {
  REQUIRE(settings_.scheme != FlowScheme::Midpoint,
          "the implicit midpoint rule belongs to the exact fractional step");
}

void ClassicalFractionalStep::make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) {
  increment_.fill(0);
  add(report, "pressure", projection_.project(1, flux, increment_));
}

void ClassicalFractionalStep::solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force,
                                         Level& level, SolveOf of, FlowStepReport& report) {
  const bool of_step = of == SolveOf::Step;
  momentum_.add_pressure_force(level.pressure, r);
  if (force != nullptr && !momentum_.condenses_by_the_way(a, b)) {
    add(report, "tangential", momentum_.condense_negative(level.flux, level.velocity, *force));
    momentum_.add_normal_part(1, *force, r);
    force = nullptr;
  }
  add(report, "momentum",
      force != nullptr ? momentum_.solve_for_fluxes(a, b, r, *force, level.velocity)
                       : momentum_.solve(a, b, r, level.velocity, of_step));
  momentum_.set_flux(level.velocity, level.flux);
  increment_.fill(0);
  add(report, "pressure",
      projection_.project(a, level.flux, increment_, of_step ? &pressure_changes_ : nullptr));
  linear_combination(1, increment_, 1, level.pressure);
  projection_.add_viscous_part(a, b, level.pressure);
}

void ClassicalFractionalStep::solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux,
                                         DualCochain<Cell>& p, FlowStepReport& report) {
  add(report, "pressure", projection_.solve_mass(r, flux, p, settings_.momentum));
}

}  // namespace curlew
