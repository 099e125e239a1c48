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

/// The ratio of viscosity's to inertia's diagonal from which on at any face a step may look for its pressure:
/// nu dt / h² is about one then. Where steps do not extrapolate the pressure they may look, too.
constexpr Real reaching = 10;

/// What may be left of the energy that the pressure was off by in a step: a twentieth of the error. Of a
/// fifth friction on thin cells at walls still shows more than the pressure does.
constexpr Real share_left_of_step = 0.0025;

/// The divergence of velocities, as a share of all flow, from which on it looks, and the most that it leaves:
/// where a wall stops at once the pressure is off by thousands of times what it should be.
constexpr Real least_of_step = 1e-5, most_left_of_step = 1e-3;

/// The first steps have a pressure to find that may be thousands of times what it should be: from one of
/// Euler's to the first of second order the velocity changes at once once more, and the one after that makes
/// up for it. A thousandth of the error may be left.
constexpr int starting_steps = 3;
constexpr Real share_left_of_start = 1e-6;

}  // namespace

ClassicalFractionalStep::ClassicalFractionalStep(const Executor& executor, const Mesh& mesh,
                                                 FlowSettings settings)
    : FractionalStep(executor, mesh, std::move(settings), simplex_weight),
      increment_(executor, mesh.domain().extent<Cell>(), "pressure increment", "m2/s2"),
      largest_reach_(ViscousReach::largest(momentum_.matrices(), projection_.inverse_star())) {
  REQUIRE(settings_.scheme != FlowScheme::Midpoint,
          "the implicit midpoint rule belongs to the exact fractional step");
}

ClassicalFractionalStep::Search::Search(const Executor& executor, const Mesh& mesh, bool with_force)
    : right_hand_side(executor, mesh.domain().extent<Face>(), "right-hand side without pressure", "m2/s2"),
      start(executor, mesh.domain().extent<Cell>(), "pressure of the beginning", "m2/s2"),
      found(alike(start)),
      direction(alike(start)),
      change(alike(start)),
      missing(executor, mesh.domain().extent<Cell>(), "missing outflow", "m3/s2") {
  if (with_force) force.emplace(executor, mesh.domain().extent<Face>(), "force without pressure", "m4/s2");
}

void ClassicalFractionalStep::make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) {
  increment_.fill(0);
  add(report, "pressure", projection_.project(1, flux, increment_));
}

void ClassicalFractionalStep::solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force,
                                         Level& level, SolveOf of, FlowStepReport& report) {
  const bool reaches = b / a * largest_reach_ > reaching || !may_extrapolate_pressure();
  if (!reaches) return solve_once(a, b, r, force, level, of, report);
  if (!search_) search_.emplace(executor_, mesh_, force != nullptr);
  copy(r, search_->right_hand_side);
  if (force != nullptr) copy(*force, *search_->force);
  copy(level.pressure, search_->start);
  solve_once(a, b, r, force, level, of, report);
  find_pressure(a, b, r, force, level, of == SolveOf::Step && steps() < starting_steps, report);
}

/// Conjugate gradients for D (a M + b K)⁻¹ Dᵀ p = -D U*(0), preconditioned by what solve_once() makes of the
/// divergence of U*(p). That both depend linearly on p, up to a constant, gives those of the next p without a
/// solve of their own.
void ClassicalFractionalStep::find_pressure(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force,
                                            Level& level, bool thoroughly, FlowStepReport& report) {
  constexpr int most_iterations = 200;
  const Real share_of_energy = thoroughly ? share_left_of_start : share_left_of_step;
  // Of all outflow. Below a hundred times what solves leave there is nothing to be learnt.
  const Real least =
      std::max(thoroughly ? 0 : least_of_step,
               100 * std::max(settings_.momentum.relative_tolerance, settings_.pressure.relative_tolerance));
  auto& [right_hand_side, whole_force, start, found, direction, change, missing] = *search_;
  copy(start, found);
  copy(projection_.missing_outflow(), missing);
  set_linear_combination(-1, found, 1, level.pressure, change);
  copy(change, direction);
  const auto share_missing = [&] {
    return std::sqrt(inner_product(missing, missing)) / projection_.scale_of_outflow();
  };
  const Real first = inner_product(change, missing);
  Real left = share_missing();
  if (!(left > least) || !(first > 0)) return;
  const auto solve_again = [&] {
    copy(right_hand_side, r);
    if (force != nullptr) copy(*whole_force, *force);
    solve_once(a, b, r, force, level, SolveOf::Again, report);
  };
  Real energy = first;
  for (int iteration = 0; iteration < most_iterations && left > least &&
                          (energy > share_of_energy * first || left > most_left_of_step);
       ++iteration) {
    set_linear_combination(1, found, 1, direction, level.pressure);
    solve_again();
    const PrimalCochain<Cell>& there = projection_.missing_outflow();
    const Real curvature = inner_product(direction, missing) - inner_product(direction, there);
    if (!(curvature > 0)) break;
    linear_combination(-1, found, 1, level.pressure);
    linear_combination(-1, direction, 1, level.pressure);  // the change that it makes of the direction's end
    const Real length = energy / curvature;
    linear_combination(length, direction, 1, found);
    linear_combination(length, there, 1 - length, missing);
    linear_combination(length, level.pressure, 1 - length, change);
    const Real before = std::exchange(energy, inner_product(change, missing));
    linear_combination(1, change, energy / before, direction);
    left = share_missing();
  }
  copy(found, level.pressure);
  solve_again();
  // What solves leave may have led astray where there was little to find.
  set_linear_combination(-1, found, 1, level.pressure, change);
  if (inner_product(change, projection_.missing_outflow()) <= first) return;
  copy(start, level.pressure);
  solve_again();
}

void ClassicalFractionalStep::solve_once(Real a, Real b, DualCochain<Face>& r, FaceVelocity* force,
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
