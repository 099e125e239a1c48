// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/classical_fractional_step.hpp"

#include "kernels/vector_kernels.hpp"

namespace curlew {

namespace {

/// The weight of the stabilising part of the mass on simplices that keeps the step stable.
constexpr Real simplex_weight = 2;

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

bool is_runge_kutta(FlowScheme scheme) {
  return scheme == FlowScheme::SspRk2 || scheme == FlowScheme::SspRk3 || scheme == FlowScheme::SspRk4;
}

}  // namespace

ClassicalFractionalStep::Response::Response(const Executor& executor, const Mesh& mesh)
    : flux(executor, mesh.topology().faces().size(), "response flux", "m2 s"),
      velocity(executor, flux.size(), "response velocity", "s"),
      pressure(executor, mesh.topology().cells().size(), "response pressure", "m") {}

ClassicalFractionalStep::ClassicalFractionalStep(const Executor& executor, const Mesh& mesh,
                                                 FlowSettings settings)
    : FractionalStep(executor, mesh, std::move(settings), simplex_weight),
      right_hand_side_(executor, now_.flux.size(), "right-hand side", "m3/s2"),
      increment_(executor, now_.pressure.size(), "pressure increment", "m2/s2") {
  if (settings_.mean_flow) response_.emplace(executor, mesh);
  if (is_runge_kutta(settings_.scheme)) {
    for (std::size_t k = 0; k < stages_of(settings_.scheme).size(); ++k) {
      stage_flux_.emplace_back(executor, now_.flux.size(), "flux of a stage", "m3/s");
      stage_force_.emplace_back(executor, now_.flux.size(), "force of a stage", "m3/s2");
    }
  }
}

void ClassicalFractionalStep::take_step(Real step, FlowStepReport& report) {
  if (is_runge_kutta(settings_.scheme)) {
    take_runge_kutta_step(step, report);
  } else {
    take_multistep(step, report);
  }
}

void ClassicalFractionalStep::take_multistep(Real step, FlowStepReport& report) {
  // Both two-step schemes start with a step of Euler's.
  const bool sbdf2 = settings_.scheme == FlowScheme::Sbdf2 && has_history();
  const bool crank_nicolson = settings_.scheme == FlowScheme::CrankNicolsonAb2 && has_history();
  const Real ratio = has_history() ? step / last_step_ : 0;
  // a M U + b K v = M (h U^n - h' U^n-1) / dt - (1 + x) c^n + x c^n-1 + f - G p^
  const Real a = (sbdf2 ? (1 + 2 * ratio) / (1 + ratio) : 1) / step;
  const Real b = (crank_nicolson ? Real(0.5) : Real(1)) * settings_.viscosity;
  const Real past = (sbdf2 ? ratio * ratio / (1 + ratio) : 0) / step;
  const Real extrapolation = sbdf2 ? ratio : crank_nicolson ? ratio / 2 : 0;
  // Crank–Nicolson's pressure and forces are those of the middle of the step.
  const Real level = crank_nicolson ? time_ + step / 2 : next_.time;
  next_.pressure_time = level;

  copy(now_.mass_flux, rate_);
  linear_combination(-past, before_.mass_flux, a + past, rate_);
  copy(rate_, right_hand_side_);
  linear_combination(-(1 + extrapolation), now_.convection, 1, right_hand_side_);
  if (extrapolation != 0) linear_combination(extrapolation, before_.convection, 1, right_hand_side_);
  momentum_.add_body_force(level, mean_flow_acceleration(), right_hand_side_);
  if (crank_nicolson) {
    momentum_.viscous_form().apply(now_.velocity, force_);
    momentum_.add_normal_part(-b, force_, right_hand_side_);
  }
  boundaries_.update(level);
  if (settings_.scheme == FlowScheme::Euler) {
    copy(now_.pressure, next_.pressure);
  } else {
    extrapolate_pressure(level, next_.pressure);
  }
  momentum_.add_pressure_force(next_.pressure, right_hand_side_);

  copy(now_.flux, next_.flux);
  copy(now_.velocity, next_.velocity);
  if (has_history()) linear_combination(-ratio, before_.velocity, 1 + ratio, next_.velocity);
  boundaries_.update(next_.time);
  boundaries_.impose(next_.flux, next_.velocity);
  add(report, "momentum", momentum_.solve(a, b, right_hand_side_, next_.velocity));
  momentum_.set_flux(next_.velocity, next_.flux);
  increment_.fill(0);
  add(report, "pressure", projection_.project(a, next_.flux, increment_));
  linear_combination(1, increment_, 1, next_.pressure);
  if (settings_.mean_flow) hold_mean_flow(a, b, step, report);
  momentum_.set_normal_part(next_.flux, next_.velocity);
  add(report, "tangential", momentum_.close(next_.velocity));

  // a M U - (what of it was known), for the forces on the boundary.
  momentum_.mass().apply(next_.flux, circulation_);
  linear_combination(a, circulation_, -1, rate_);
}

void ClassicalFractionalStep::hold_mean_flow(Real mass_factor, Real viscous_factor, Real step,
                                             FlowStepReport& report) {
  const bool impulse = is_runge_kutta(settings_.scheme);
  Response& response = *response_;
  if (response.factors != std::pair(mass_factor, viscous_factor)) {
    response.flux.fill(0);
    response.velocity.fill(Vector3{});
    response.pressure.fill(0);
    if (impulse) {
      add(report, "pressure",
          projection_.solve_mass(mean_flow_path_, response.flux, response.pressure, settings_.momentum));
    } else {
      add(report, "momentum",
          momentum_.solve(mass_factor, viscous_factor, mean_flow_path_, response.velocity));
      momentum_.set_flux(response.velocity, response.flux);
      add(report, "pressure", projection_.project(mass_factor, response.flux, response.pressure));
    }
    response.mean_velocity = mean_velocity(response.flux);
    response.factors = {mass_factor, viscous_factor};
  }
  const Real force = (settings_.mean_flow->velocity - mean_velocity(next_.flux)) / response.mean_velocity;
  linear_combination(force, response.flux, 1, next_.flux);
  linear_combination(force, response.pressure, 1, next_.pressure);
  mean_flow_force_ += impulse ? force / step : force;
}

void ClassicalFractionalStep::compute_explicit_force(Real time, const PrimalCochain<Face>& flux,
                                                     FaceVelocity& velocity, DualCochain<Face>& force,
                                                     FlowStepReport& report) {
  momentum_.set_normal_part(flux, velocity);
  add(report, "tangential", momentum_.close(velocity));
  force.fill(0);
  add(report, "tangential", momentum_.convection(flux, velocity, circulation_));
  linear_combination(-1, circulation_, 1, force);
  momentum_.viscous_form().apply(velocity, force_);
  momentum_.add_normal_part(-settings_.viscosity, force_, force);
  momentum_.add_body_force(time, mean_flow_acceleration(), force);
}

void ClassicalFractionalStep::take_runge_kutta_step(Real step, FlowStepReport& report) {
  const std::vector<Stage>& stages = stages_of(settings_.scheme);
  copy(now_.velocity, next_.velocity);
  for (std::size_t k = 0; k < stages.size(); ++k) {
    const Real stage_start = time_ + (k == 0 ? 0 : stages[k - 1].time) * step;
    const PrimalCochain<Face>& last = k == 0 ? now_.flux : next_.flux;
    copy(last, stage_flux_[k]);
    boundaries_.update(stage_start);
    compute_explicit_force(stage_start, stage_flux_[k], next_.velocity, stage_force_[k], report);
    increment_.fill(0);
    momentum_.add_pressure_force(increment_, stage_force_[k]);  // that outside

    // M U = M sum alpha U_k + dt sum beta F_k - G (p dt)
    Real share = 0;
    next_.flux.fill(0);
    right_hand_side_.fill(0);
    for (const StageTerm& term : stages[k].terms) {
      linear_combination(term.alpha, stage_flux_[term.from], 1, next_.flux);
      linear_combination(term.beta * step, stage_force_[term.from], 1, right_hand_side_);
      share += term.beta * step;
    }
    momentum_.mass().apply(next_.flux, circulation_);
    linear_combination(1, circulation_, 1, right_hand_side_);
    boundaries_.update(time_ + stages[k].time * step);
    boundaries_.impose(next_.flux, next_.velocity);
    increment_.fill(0);
    add(report, "pressure", projection_.project(1, next_.flux, increment_));
    linear_combination(share, now_.pressure, 0, increment_);
    add(report, "pressure",
        projection_.solve_mass(right_hand_side_, next_.flux, increment_, settings_.momentum));
  }
  if (settings_.mean_flow) hold_mean_flow(1, 0, step, report);

  // The stages know the pressure to first order only: that of the new time follows from its acceleration.
  compute_explicit_force(next_.time, next_.flux, next_.velocity, right_hand_side_, report);
  increment_.fill(0);
  momentum_.add_pressure_force(increment_, right_hand_side_);
  accelerate(next_.time, right_hand_side_, increment_, report);
  copy(now_.pressure, next_.pressure);
  add(report, "pressure",
      projection_.solve_mass(right_hand_side_, acceleration_, next_.pressure, settings_.momentum));
  momentum_.mass().apply(acceleration_, rate_);
  next_.pressure_time = next_.time;
}

}  // namespace curlew
