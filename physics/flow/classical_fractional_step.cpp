// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/classical_fractional_step.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "physics/momentum/viscous_reach.hpp"

namespace curlew {

namespace {

/// The weight of the stabilising part of the mass on simplices that keeps the step stable.
constexpr Real simplex_weight = 2;

/// The ratio of viscosity's to inertia's diagonal from which on at any face a start finds its pressure by
/// itself: nu dt / h² is about one then.
constexpr Real reaching = 10;

/// How many steps find it so: from one of Euler's to the first of second order the velocity changes at once
/// once more, and the one after that makes up for it.
constexpr int starting_steps = 3;

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

/// Conjugate gradients for D (a M + b K)⁻¹ Dᵀ p = -D U*(0), preconditioned by what solve_step() makes of the
/// divergence of U*(p): one momentum and one pressure solve an iteration. That both depend linearly on p, up
/// to a constant, gives those of the next p without a solve of their own.
void ClassicalFractionalStep::find_pressure(Real a, Real b, const DualCochain<Face>& r,
                                            const FaceVelocity* force, Level& level, FlowStepReport& report) {
  constexpr int most_iterations = 200;
  constexpr Real share_of_energy = 1e-6;  // a thousandth of the pressure's error
  // Of all outflow: below is what momentum's solves leave, of which nothing is to be learnt.
  const Real least =
      100 * std::max(settings_.momentum.relative_tolerance, settings_.pressure.relative_tolerance);
  DualCochain<Face> right_hand_side = alike(r);
  std::optional<FaceVelocity> changed_force;
  if (force != nullptr) changed_force.emplace(alike(*force));
  DualCochain<Cell> pressure = alike(level.pressure), change = alike(pressure), direction = alike(pressure),
                    start = alike(pressure);
  PrimalCochain<Cell> missing = alike(projection_.missing_outflow());
  const auto solve_from = [&] {
    copy(r, right_hand_side);
    if (force != nullptr) copy(*force, *changed_force);
    solve_step(a, b, right_hand_side, force != nullptr ? &*changed_force : nullptr, level, SolveOf::Again,
               report);
  };
  copy(level.pressure, start);
  copy(start, pressure);
  solve_from();
  copy(projection_.missing_outflow(), missing);
  copy(level.pressure, change);
  linear_combination(-1, pressure, 1, change);
  copy(change, direction);
  const auto is_seen = [&] {
    return std::sqrt(inner_product(missing, missing)) > least * projection_.scale_of_outflow();
  };
  const Real first = inner_product(change, missing);
  Real energy = first;
  for (int iteration = 0; iteration < most_iterations && energy > share_of_energy * first && is_seen();
       ++iteration) {
    copy(pressure, level.pressure);
    linear_combination(1, direction, 1, level.pressure);
    solve_from();
    linear_combination(-1, pressure, 1, level.pressure);
    linear_combination(-1, direction, 1, level.pressure);  // the change that it makes of the direction's end
    const PrimalCochain<Cell>& there = projection_.missing_outflow();
    const Real curvature = inner_product(direction, missing) - inner_product(direction, there);
    if (!(curvature > 0)) break;
    const Real length = energy / curvature;
    linear_combination(length, direction, 1, pressure);
    linear_combination(length, there, 1 - length, missing);
    linear_combination(length, level.pressure, 1 - length, change);
    const Real before = std::exchange(energy, inner_product(change, missing));
    linear_combination(1, change, energy / before, direction);
  }
  // What solves leave may have led astray where there was little to find.
  copy(pressure, level.pressure);
  solve_from();
  linear_combination(-1, pressure, 1, level.pressure);
  const bool is_better = inner_product(level.pressure, projection_.missing_outflow()) <= first;
  copy(is_better ? pressure : start, level.pressure);
}

void ClassicalFractionalStep::solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force,
                                         Level& level, SolveOf of, FlowStepReport& report) {
  const bool of_step = of == SolveOf::Step;
  if (of_step && steps_taken() < starting_steps &&
      ViscousReach(momentum_.matrices(), b / a).is_beyond_anywhere(reaching))
    find_pressure(a, b, r, force, level, report);
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
