// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// How the fractional-step methods go from one level to the next.
#include "physics/flow/time_schemes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/reduction.hpp"
#include "kernels/vector_kernels.hpp"
#include "physics/flow/fractional_step.hpp"

namespace curlew {

namespace {

/// What a stage takes of an earlier one: alpha U + beta dt F(U).
struct StageTerm {
  std::size_t from;
  Real alpha, beta;
};
struct Stage {
  Real time;  // as a share of the step
  std::vector<StageTerm> terms;
};

/// Strong-stability-preserving Runge–Kutta schemes in the form of Shu & Osher, JCP 77 (1988): two and three
/// stages of order two and three (Gottlieb, Shu & Tadmor, SIAM Rev. 43, 2001), five of order four (Spiteri &
/// Ruuth, SINUM 40, 2002).
const std::vector<Stage>& stages_of(FlowScheme scheme) {
  static const std::vector<Stage> second{{1, {{0, 1, 1}}}, {1, {{0, 0.5, 0}, {1, 0.5, 0.5}}}};
  static const std::vector<Stage> third{
      {1, {{0, 1, 1}}}, {0.5, {{0, 0.75, 0}, {1, 0.25, 0.25}}}, {1, {{0, 1. / 3, 0}, {2, 2. / 3, 2. / 3}}}};
  static const std::vector<Stage> fourth{
      {0.391752226571890, {{0, 1, 0.391752226571890}}},
      {0.586079689311540, {{0, 0.444370493651235, 0}, {1, 0.555629506348765, 0.368410593050371}}},
      {0.474542363121400, {{0, 0.620101851488403, 0}, {2, 0.379898148511597, 0.251891774271694}}},
      {0.935010630967653, {{0, 0.178079954393132, 0}, {3, 0.821920045606868, 0.544974750228521}}},
      {1,
       {{2, 0.517231671970585, 0},
        {3, 0.096059710526147, 0.063692468666290},
        {4, 0.386708617503269, 0.226007483236906}}}};
  return scheme == FlowScheme::SspRk2 ? second : scheme == FlowScheme::SspRk3 ? third : fourth;
}

/// How far sbdf2 goes from the straight line through convection's last two values to the parabola through
/// three (Karniadakis, Israeli & Orszag, JCP 97, 1991), where viscosity does not hold all waves back. Where
/// nothing damps, an oscillation that is extrapolated along lines grows with any step. Half way to the
/// parabola it decays while the step times its angular frequency is below 0.675 (0.635 along parabolas).
/// Decay explicit in time, which upwinding is, allows a step times its rate of 4/(3 + 4 share): lines are the
/// better for it.
Real share_of_parabola(const FlowSettings& settings) {
  const Real upwind = settings.convection == ConvectionScheme::Central   ? 0
                      : settings.convection == ConvectionScheme::Blended ? settings.blend
                                                                         : 1;
  return (1 - upwind) / 2;
}

/// |U| h/A, of which the viscosity makes a Reynolds number of the cells at a face [m2/s]; none where the flux
/// is given.
struct ReachOfFluxOnFace {
  View<Face, const Real> flux, inverse_star;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    if (!(inverse_star[f] > 0)) return 0;
    return (flux[f] < 0 ? -flux[f] : flux[f]) / inverse_star[f];
  }
};

struct ExtrapolatedForceOnFace {
  Real of_now, of_before, of_earlier;
  View<Face, const Vector3> now, before, earlier;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    force[f] = of_now * now[f] + of_before * before[f] + of_earlier * earlier[f];
  }
};

}  // namespace

std::size_t stage_count(FlowScheme scheme) {
  const bool runge_kutta =
      scheme == FlowScheme::SspRk2 || scheme == FlowScheme::SspRk3 || scheme == FlowScheme::SspRk4;
  return runge_kutta ? stages_of(scheme).size() : 0;
}

Real longest_stable_decay(FlowScheme scheme) {
  // What becomes of U = 1 in a step of dU/dt = -decay U, over one.
  const auto grows = [&](Real decay) {
    std::vector<Real> values{1};
    for (const Stage& stage : stages_of(scheme)) {
      Real value = 0;
      for (const StageTerm& term : stage.terms) value += (term.alpha - decay * term.beta) * values[term.from];
      values.push_back(value);
    }
    return std::abs(values.back()) > 1;
  };
  REQUIRE(stage_count(scheme) > 0, "a region of stability is asked of Runge–Kutta schemes alone");
  Real stable = 1, unstable = 2;
  for (; !grows(unstable); unstable += 0.5) stable = unstable;
  while (unstable - stable > 1e-6 * stable) {
    const Real middle = (stable + unstable) / 2;
    (grows(middle) ? unstable : stable) = middle;
  }
  return stable;
}

void FractionalStep::find_convection(const Level& level, FaceVelocity& convection, FlowStepReport& report) {
  momentum_.convection(level.flux, level.velocity, convection);
  if (condenses())
    add(report, "tangential", momentum_.condense(level.flux, level.velocity, convection, true));
}

bool FractionalStep::viscosity_prevails() const {
  // In one dimension lines allow longer steps than half the way to parabolas below a cell Reynolds number
  // of 2.
  const Real reach =
      maximum(executor_, now_.flux.owned(),
              ReachOfFluxOnFace{std::as_const(now_.flux).view(), projection_.inverse_star().view()});
  return reach <= 2 * settings_.viscosity;
}

void FractionalStep::extrapolate_convection(Real ahead, FaceVelocity& force) const {
  const Real share = settings_.scheme == FlowScheme::Sbdf2 ? share_of_parabola(settings_) : 0;
  if (share == 0 || !earlier_convection_known_ || viscosity_prevails())
    return set_linear_combination(ahead, before_.convection, -(1 + ahead), now_.convection, force);
  // What the parabola adds is (t - t^n)(t - t^n-1) c[t^n, t^n-1, t^n-2], c[] Newton's divided difference.
  const Real factor = share * step_ * (step_ + last_step_) / (last_step_ + earlier_step_);
  const Real of_now = factor / last_step_, of_earlier = factor / earlier_step_;
  for_each(executor_, force.range(),
           ExtrapolatedForceOnFace{-(1 + ahead) - of_now, ahead + of_now + of_earlier, -of_earlier,
                                   now_.convection.view(), before_.convection.view(),
                                   std::as_const(next_.convection).view(), force.view()});
}

bool FractionalStep::condenses() const {
  return !condenses_in_step() || stage_count(settings_.scheme) > 0 || settings_.viscosity == 0 ||
         settings_.convection == ConvectionScheme::None;
}

void FractionalStep::take_step(Real step, FlowStepReport& report) {
  if (stage_count(settings_.scheme) > 0) {
    take_runge_kutta_step(step, report);
  } else if (settings_.scheme == FlowScheme::Midpoint) {
    take_midpoint_step(step, report);
  } else {
    take_multistep(step, report);
  }
}

bool FractionalStep::may_extrapolate_pressure() const {
  // Waves on rectangles 5 times as long as high and more grow where nu dt / h² is 0.9 or more
  // (docs/incompressible-flow.md).
  return settings_.viscosity * step_ * inverse_square_of_flattest_ <= 0.5;
}

void FractionalStep::take_multistep(Real step, FlowStepReport& report) {
  // Both two-step schemes start with a step of Euler's. Crank–Nicolson, which keeps what decays fast alive
  // with alternating sign, has two, so that of walls that start at once nothing of the kind is left (after
  // Rannacher, Numer. Math. 43, 1984).
  const bool sbdf2 = settings_.scheme == FlowScheme::Sbdf2 && has_history();
  const bool crank_nicolson = settings_.scheme == FlowScheme::CrankNicolsonAb2 && steps_ > 1;
  const Real ratio = step_ratio();
  // a M U + b K v + G p = M (h U^n - h' U^n-1) / dt - c + f, c extrapolated
  const Real a = (sbdf2 ? (1 + 2 * ratio) / (1 + ratio) : 1) / step;
  const Real b = (crank_nicolson ? Real(0.5) : Real(1)) * settings_.viscosity;
  const Real past = (sbdf2 ? ratio * ratio / (1 + ratio) : 0) / step;
  const Real extrapolation = sbdf2 ? ratio : crank_nicolson ? ratio / 2 : 0;
  next_.inner_time = crank_nicolson ? time_ + step / 2 : next_.time;

  set_linear_combination(-past, before_.mass_flux, a + past, now_.mass_flux, next_.rate);
  copy(next_.rate, right_hand_side_);
  next_.mean_flow_force = extrapolated_mean_flow_force(next_.inner_time);
  momentum_.add_body_force(next_.inner_time, along_mean_flow(next_.mean_flow_force), right_hand_side_);
  if (crank_nicolson) {
    momentum_.apply_viscous_form(now_.velocity, force_);
    momentum_.add_normal_part(-b, force_, right_hand_side_);
  }
  extrapolate_convection(extrapolation, force_);
  if (condenses()) momentum_.add_normal_part(1, force_, right_hand_side_);
  boundaries_.update(next_.inner_time);
  momentum_.add_outside_pressure(right_hand_side_);
  if (steps_with_pressure()) {
    if (settings_.scheme != FlowScheme::Euler && may_extrapolate_pressure()) {
      extrapolate(&Level::pressure, next_.inner_time, next_.pressure);
    } else {
      copy(now_.pressure, next_.pressure);
    }
  }

  copy(now_.flux, next_.flux);
  set_linear_combination(-ratio, before_.velocity, 1 + ratio, now_.velocity, next_.velocity);
  boundaries_.update(next_.time);
  boundaries_.impose(next_.flux, next_.velocity);
  solve_step(a, b, right_hand_side_, condenses() ? nullptr : &force_, next_, SolveOf::Step, report);
  if (settings_.mean_flow) {
    next_.mean_flow_force +=
        hold_mean_flow(response_to_force(a, b), settings_.mean_flow->velocity, next_.flux, next_.pressure);
    make_divergence_free(next_.flux, report);
  }
  momentum_.set_normal_part(next_.flux, next_.velocity);
  add(report, "tangential", momentum_.close(next_.velocity));

  // a M U less what of it was known
  momentum_.apply_mass(next_.flux, next_.mass_flux);
  linear_combination(a, next_.mass_flux, -1, next_.rate);
}

/// U^n+1 = 2 U - U^n with U of the middle of the step: 2/dt M (U - U^n) + c(U) + nu K v + G p = f, iterated
/// on the convection until it stays.
void FractionalStep::take_midpoint_step(Real step, FlowStepReport& report) {
  constexpr int most_iterations = 100;
  const Real a = 2 / step;
  const Real middle = time_ + step / 2;
  next_.inner_time = middle;
  boundaries_.update(middle);
  set_linear_combination(0, now_.mass_flux, a, now_.mass_flux, next_.rate);
  next_.mean_flow_force = extrapolated_mean_flow_force(middle);
  momentum_.add_body_force(middle, along_mean_flow(next_.mean_flow_force), next_.rate);
  momentum_.add_outside_pressure(next_.rate);

  copy(now_.flux, next_.flux);
  copy(now_.velocity, next_.velocity);
  boundaries_.update_to_mean(time_, next_.time);
  boundaries_.impose(next_.flux, next_.velocity);
  make_divergence_free(next_.flux, report);
  copy(now_.convection, next_.convection);
  Real change = 0;
  for (int iteration = 0;; ++iteration) {
    copy(next_.rate, right_hand_side_);
    momentum_.add_normal_part(-1, next_.convection, right_hand_side_);
    copy(next_.flux, later_);
    solve_step(a, settings_.viscosity, right_hand_side_, nullptr, next_,
               iteration == 0 ? SolveOf::Step : SolveOf::Again, report);
    if (settings_.mean_flow) {
      const Real in_the_middle = (mean_velocity(now_.flux) + settings_.mean_flow->velocity) / 2;
      const Real force = hold_mean_flow(response_to_force(a, settings_.viscosity), in_the_middle, next_.flux,
                                        next_.pressure);
      make_divergence_free(next_.flux, report);
      next_.mean_flow_force += force;
      linear_combination(force, *mean_flow_path_, 1, next_.rate);
    }
    momentum_.set_normal_part(next_.flux, next_.velocity);
    add(report, "tangential", momentum_.close(next_.velocity));
    linear_combination(1, next_.flux, -1, later_);
    // Rounding, by which the streamfunction's few values about a face differ from one solve to the next,
    // never ends.
    const Real size = std::sqrt(inner_product(next_.flux, next_.flux)),
               of_change = std::sqrt(inner_product(later_, later_));
    const Real rounding = 4 * quantum() * std::sqrt(static_cast<Real>(mesh_.domain().halo<Face>().total()));
    change = of_change / size;
    if (!(of_change > 10 * settings_.streamfunction.relative_tolerance * size + rounding)) break;
    if (iteration == most_iterations) {
      throw DivergedError(
          fmt::format("the convection of the middle of the step still changes by {:.3g} after "
                      "{} iterations; take a smaller step",
                      change, iteration));
    }
    find_convection(next_, next_.convection, report);
  }
  linear_combination(-1, now_.flux, 2, next_.flux);
  linear_combination(-1, now_.velocity, 2, next_.velocity);
  boundaries_.update(next_.time);
  boundaries_.impose(next_.flux, next_.velocity);
  make_divergence_free(next_.flux, report);
  momentum_.apply_mass(next_.flux, next_.mass_flux);
  set_linear_combination(-1 / step, now_.mass_flux, 1 / step, next_.mass_flux, next_.rate);
}

// How a response was found belongs to no step's report: a restarted run finds it anew.

const FractionalStep::Level& FractionalStep::response_to_force(Real a, Real b) {
  Level& response = *response_;
  if (response_factors_ != std::pair(a, b)) {
    response_factors_ = {0, 0};  // of none, should the solve fail
    response.flux.fill(0);
    response.velocity.fill(Vector3{});
    response.pressure.fill(0);
    copy(*mean_flow_path_, right_hand_side_);
    FlowStepReport report;
    solve_step(a, b, right_hand_side_, nullptr, response, SolveOf::UnitForce, report);
    response_factors_ = {a, b};
  }
  return response;
}

const FractionalStep::Level& FractionalStep::response_to_impulse() {
  Level& response = *response_;
  // No step has a negative viscosity.
  constexpr std::pair<Real, Real> impulse{1, -1};
  if (response_factors_ != impulse) {
    response.flux.fill(0);
    response.pressure.fill(0);
    FlowStepReport report;
    solve_mass(*mean_flow_path_, response.flux, response.pressure, report);
    response_factors_ = impulse;
  }
  return response;
}

Real FractionalStep::hold_mean_flow(const Level& response, Real velocity, PrimalCochain<Face>& flux,
                                    DualCochain<Cell>& pressure) const {
  const Real force = (velocity - mean_velocity(flux)) / mean_velocity(response.flux);
  linear_combination(force, response.flux, 1, flux);
  if (steps_with_pressure()) linear_combination(force, response.pressure, 1, pressure);
  return force;
}

void FractionalStep::compute_explicit_force(Real time, const PrimalCochain<Face>& flux,
                                            FaceVelocity& velocity, DualCochain<Face>& force,
                                            FlowStepReport& report) {
  momentum_.set_normal_part(flux, velocity);
  add(report, "tangential", momentum_.close(velocity));
  force.fill(0);
  momentum_.convection(flux, velocity, force_);
  add(report, "tangential", momentum_.condense(flux, velocity, force_, true));
  momentum_.add_normal_part(-1, force_, force);
  momentum_.apply_viscous_form(velocity, force_);
  momentum_.add_normal_part(-settings_.viscosity, force_, force);
  momentum_.add_body_force(time, along_mean_flow(extrapolated_mean_flow_force(time)), force);
  momentum_.add_outside_pressure(force);
}

void FractionalStep::take_runge_kutta_step(Real step, FlowStepReport& report) {
  const std::vector<Stage>& stages = stages_of(settings_.scheme);
  copy(now_.velocity, next_.velocity);
  copy(now_.flux, next_.flux);
  for (std::size_t k = 0; k < stages.size(); ++k) {
    // The last stage's end is the step's to the bit: what boundaries do afterwards is for the next one.
    const Real stage_start = std::lerp(time_, next_.time, k == 0 ? 0 : stages[k - 1].time),
               stage_end = std::lerp(time_, next_.time, stages[k].time);
    copy(next_.flux, stage_flux_[k]);
    boundaries_.update(stage_start);
    compute_explicit_force(stage_start, stage_flux_[k], next_.velocity, stage_force_[k], report);

    // M U + G (p dt) = M sum alpha U_k + dt sum beta F_k
    Real share = 0;
    next_.flux.fill(0);
    right_hand_side_.fill(0);
    for (const StageTerm& term : stages[k].terms) {
      linear_combination(term.alpha, stage_flux_[term.from], 1, next_.flux);
      linear_combination(term.beta * step, stage_force_[term.from], 1, right_hand_side_);
      share += term.beta * step;
    }
    momentum_.apply_mass(next_.flux, circulation_);
    linear_combination(1, circulation_, 1, right_hand_side_);
    boundaries_.update(stage_end);
    boundaries_.impose(next_.flux, next_.velocity);
    make_divergence_free(next_.flux, report);
    if (steps_with_pressure()) {
      set_linear_combination(0, now_.pressure, share, now_.pressure, next_.pressure);
    }
    solve_mass(right_hand_side_, next_.flux, next_.pressure, report);
    make_divergence_free(next_.flux, report);
  }
  if (settings_.mean_flow) {
    hold_mean_flow(response_to_impulse(), settings_.mean_flow->velocity, next_.flux, next_.pressure);
    make_divergence_free(next_.flux, report);
  }
  // The stages know the pressure to first order only: that of the new time follows from its acceleration.
  // Given fluxes change as they do in the end of the step, in a time long enough to be told from none.
  find_rate(next_, -std::max(1e-3 * step, 1e-12 * std::abs(next_.time)), Change::AtOnce, report);
  momentum_.apply_mass(next_.flux, next_.mass_flux);
  next_.inner_time = next_.time;
}

}  // namespace curlew
