// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/fractional_step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <variant>

#include "kernels/entity_terms.hpp"
#include "kernels/reduction.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/flat_cells.hpp"
#include "mesh/parallel/exchange.hpp"
#include "mesh/where.hpp"
#include "physics/flow/averages.hpp"
#include "physics/flow/time_schemes.hpp"

namespace curlew {

namespace {

/// Convection is explicit in all schemes: no step is meaningful far beyond 1 times the convection rate.
constexpr Real hopeless_convection = 1000;

struct CourantRateOfCell {
  Incidence<Cell, Face> faces_of;
  View<Face, const Real> flux;
  View<Cell, const Real> volume;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const {
    Real total = 0;
    for (const auto [f, sign] : faces_of[c]) total += flux[f] < 0 ? -flux[f] : flux[f];
    return total / (2 * volume[c]);
  }
};

CourantRateOfCell courant_rates(const Executor& executor, const Mesh& mesh, const PrimalCochain<Face>& flux) {
  return {mesh.topology().faces_of_cell().view(executor.space()), flux.view(),
          mesh.geometry().cell_volumes(executor.space())};
}

/// The lesser of it and |u|^2 / nu, with the mean of |v|^2 on the faces.
struct ConvectionRateOfCell {
  CourantRateOfCell courant;
  View<Face, const Vector3> velocity;
  Real viscosity;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const {
    Real squares = 0;
    Index faces = 0;
    for (const auto [f, sign] : courant.faces_of[c]) {
      squares += dot(velocity[f], velocity[f]);
      ++faces;
    }
    const Real of_cell = courant(c), damped = viscosity * of_cell * static_cast<Real>(faces);
    return squares < damped ? squares / (viscosity * static_cast<Real>(faces)) : of_cell;
  }
};

struct AddDifferenceQuotientOnFace {
  Real factor;
  View<Face, const Real> later, given;
  View<Face, Real> rate;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { rate[f] += factor * (later[f] - given[f]); }
};

}  // namespace

FractionalStep::Level::Level(const Executor& executor, const Mesh& mesh)
    : flux(executor, mesh.domain().extent<Face>(), "flux", "m3/s"),
      velocity(executor, flux.extent(), "face velocity", "m/s"),
      mass_flux(executor, flux.extent(), "mass of fluxes", "m2/s"),
      convection(executor, flux.extent(), "convection", "m4/s2"),
      pressure(executor, mesh.domain().extent<Cell>(), "pressure", "m2/s2"),
      rate(executor, flux.extent(), "rate of change", "m2/s2") {}

FractionalStep::FractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings,
                               Real simplex_weight)
    : executor_(executor),
      mesh_(mesh),
      settings_(std::move(settings)),
      boundaries_(executor, mesh, settings_),
      momentum_(executor, mesh, settings_, boundaries_, simplex_weight),
      projection_(executor, mesh, boundaries_, momentum_.mass(), settings_.pressure,
                  settings_.pressure_preconditioning),
      pressure_changes_(executor),
      now_(executor, mesh),
      before_(executor, mesh),
      next_(executor, mesh),
      pressure_(executor, now_.pressure.extent(), "pressure", "m2/s2"),
      rate_(executor, now_.flux.extent(), "rate of change", "m2/s2"),
      circulation_(executor, now_.flux.extent(), "circulation", "m2/s2"),
      force_(executor, now_.flux.extent(), "force", "m4/s2"),
      right_hand_side_(executor, now_.flux.extent(), "right-hand side", "m2/s2"),
      acceleration_(executor, now_.flux.extent(), "acceleration of fluxes", "m3/s2"),
      later_(executor, now_.flux.extent(), "later flux", "m3/s"),
      interpolation_(executor, mesh),
      interpolated_(executor, now_.pressure.extent(), "interpolated velocity", "m/s"),
      inverse_square_of_flattest_(inverse_square_of_flattest(mesh)) {
  REQUIRE(mesh_.domain().communicator().ranks() == 1 || executor_.ranks() != nullptr,
          "a flow on a divided mesh needs an executor among its ranks");
  volume_ = sum_of_terms(mesh.domain().communicator(),
                         mesh.geometry().cell_volumes().host().first(at(now_.pressure.extent().owned)));
  if (settings_.mean_flow) {
    const Vector3 direction = settings_.mean_flow->direction;
    const Real length = norm(direction);
    REQUIRE(length > 0, "the direction of the mean flow must not be zero");
    Field<Cell, Vector3> uniform(executor, now_.pressure.extent(), "direction", "1");
    uniform.fill(direction / length);
    mean_flow_path_.emplace(executor, now_.flux.extent(), "path along the mean flow", "m");
    Integration(executor, mesh).apply(uniform, *mean_flow_path_);
    response_.emplace(executor, mesh);
  }
  for (std::size_t k = 0; k < stage_count(settings_.scheme); ++k) {
    stage_flux_.push_back(alike(now_.flux));
    stage_force_.push_back(alike(rate_));
  }
}

FlowStepReport FractionalStep::start(const VectorFunction& velocity, Real time) {
  FaceAverages averages = average_on_faces(mesh_, mesh_.domain().halo<Face>().owned(), velocity, time);
  averages.flux.resize(at(now_.flux.size()));
  averages.mean.resize(at(now_.flux.size()));
  now_.flux.copy_from_host(averages.flux);
  now_.velocity.copy_from_host(averages.mean);
  return begin(time);
}

FlowStepReport FractionalStep::start(std::span<const Real> flux, Real time) {
  now_.flux.copy_from_host(flux);
  now_.velocity.fill(Vector3{});
  return begin(time);
}

void FractionalStep::require_mean_flow() {
  // Walls across the direction leave what the solve does.
  constexpr Real little = 1e-4;
  const auto can_hold = [&](PressureProjection& projection) {
    later_.fill(0);
    now_.pressure.fill(0);
    projection.divide_by_star(*mean_flow_path_, later_);
    const Real without_walls = mean_velocity(later_);
    projection.project(1, later_, now_.pressure);
    return mean_velocity(later_) > little * without_walls;
  };
  const auto passes_through_outlet = [&] {
    const std::vector<Patch>& patches = mesh_.topology().patches();
    for (std::size_t p = 0; p < patches.size(); ++p) {
      if (!std::holds_alternative<Outlet>(settings_.boundaries[p])) continue;
      const View<Face, const Real> flux = std::as_const(later_).view();
      const Real net = sum(executor_, patches[p].faces, ValueOfEntity<Face>{flux}),
                 all = sum(executor_, patches[p].faces, MagnitudeOfEntity<Face>{flux});
      if (std::abs(net) > little * all) return true;
    }
    return false;
  };
  bool is_held = can_hold(projection_);
  const auto is_outlet = [](const FlowBoundary& b) { return std::holds_alternative<Outlet>(b); };
  if (is_held && std::ranges::any_of(settings_.boundaries, is_outlet) && !passes_through_outlet()) {
    // Through one outlet fluid goes out and in again wherever a force points. What remains without it?
    FlowSettings closed = settings_;
    std::ranges::replace_if(closed.boundaries, is_outlet, FlowBoundary(Symmetry{}));
    const FlowBoundaries boundaries(executor_, mesh_, closed);
    PressureProjection projection(executor_, mesh_, boundaries, momentum_.mass(), settings_.pressure,
                                  settings_.pressure_preconditioning);
    is_held = can_hold(projection);
  }
  if (is_held) return;
  const Vector3 direction = settings_.mean_flow->direction;
  throw MeanFlowError(fmt::format(
      "no mean flow along [{:.6g}, {:.6g}, {:.6g}] can be held: walls or other boundaries stand across it; "
      "give a direction in which the fluid can go round through periodic patches, or from one outlet to "
      "another",
      direction.x, direction.y, direction.z));
}

FlowStepReport FractionalStep::begin(Real time) {
  FlowStepReport report;
  begin_run();
  time_ = now_.time = now_.inner_time = time;
  steps_ = 0;
  last_step_ = earlier_step_ = 0;
  earlier_convection_known_ = false;
  now_.mean_flow_force = 0;
  if (settings_.mean_flow) require_mean_flow();
  find_longest_viscous_step();
  boundaries_.update(time);
  boundaries_.impose(now_.flux, now_.velocity);
  take_divergence_from_start(report);
  // A fluid at rest under a constant force starts with the hydrostatic pressure.
  forget_guesses();
  find_rate(now_, moment_at(time), Change::AtOnce, report);
  find_convection(now_, now_.convection, report);
  copy(now_.pressure, pressure_);
  copy(now_.rate, rate_);
  mean_flow_force_ = now_.mean_flow_force;
  pressure_known_ = steps_with_pressure();
  momentum_.apply_mass(now_.flux, now_.mass_flux);
  kinetic_energy_ = inner_product(now_.mass_flux, now_.flux) / 2;
  previous_kinetic_energy_ = kinetic_energy_;
  courant_rate_ = courant_rate_of(now_.flux);
  return finish_report(report);
}

void FractionalStep::take_divergence_from_start(FlowStepReport& report) {
  copy(now_.flux, later_);
  make_divergence_free(now_.flux, report);
  // That is by the star: on skewed meshes, however fine, it changes more than the gradient in the velocity.
  momentum_.apply_mass(later_, right_hand_side_);
  now_.pressure.fill(0);
  solve_mass(right_hand_side_, now_.flux, now_.pressure, report);
  make_divergence_free(now_.flux, report);
}

void FractionalStep::prepare_first_step(Real step, FlowStepReport& report) {
  if (boundaries_.depend_on_time()) find_rate(now_, step, Change::InTheMean, report);
}

void FractionalStep::find_rate(Level& level, Real interval, Change change, FlowStepReport& report) {
  acceleration_.fill(0);
  if (boundaries_.depend_on_time()) {
    PrimalCochain<Face>& given = stage_flux_.empty() ? next_.flux : stage_flux_.front();  // scratch
    given.fill(0);
    later_.fill(0);
    boundaries_.update(level.time);
    boundaries_.impose(given, force_);
    const auto add_quotient = [&](Real share, Real distance) {
      boundaries_.update(level.time + distance);
      boundaries_.impose(later_, force_);
      for_each(executor_, later_.range(),
               AddDifferenceQuotientOnFace{share / distance, std::as_const(later_).view(),
                                           std::as_const(given).view(), acceleration_.view()});
    };
    // Rounded as times are.
    const Real near = (level.time + interval) - level.time, far = (level.time + 2 * interval) - level.time;
    if (change == Change::InTheMean) {
      add_quotient(1, near);
    } else {
      add_quotient(far / (far - near), near);
      add_quotient(-near / (far - near), far);
    }
  }
  boundaries_.update(level.time);
  compute_explicit_force(level.time, level.flux, level.velocity, right_hand_side_, report);
  projection_.divide_by_star(right_hand_side_, acceleration_);
  level.pressure.fill(0);
  const Real of_force = inner_product(acceleration_, acceleration_);
  add(report, "pressure", projection_.project(1, acceleration_, level.pressure));
  // Where a pressure balances all force a fluid at rest has to stay there: what the solve left goes, too.
  constexpr Real little = 1e-4;
  if (inner_product(acceleration_, acceleration_) < little * little * of_force) {
    DualCochain<Cell> rest = alike(level.pressure);
    rest.fill(0);
    add(report, "pressure", projection_.project(1, acceleration_, rest));
    linear_combination(1, rest, 1, level.pressure);
  }
  // By the star alone the pressure of a fluid that accelerates is wrong on skewed meshes, however fine.
  solve_mass(right_hand_side_, acceleration_, level.pressure, report);
  if (settings_.mean_flow) {
    level.mean_flow_force = extrapolated_mean_flow_force(level.time) +
                            hold_mean_flow(response_to_impulse(), 0, acceleration_, level.pressure);
  }
  momentum_.apply_mass(acceleration_, level.rate);
}

FlowStepReport& FractionalStep::finish_report(FlowStepReport& report) {
  exchange_ghosts(mesh_.domain(), now_.flux, now_.velocity, pressure_);
  const DivergenceNorms divergence = projection_.divergence_of(now_.flux);
  report.divergence_max = divergence.max;
  report.divergence_l2 = divergence.l2;
  report.courant = last_step_ * courant_rate_;
  report.kinetic_energy = settings_.density * kinetic_energy_;
  return report;
}

void FractionalStep::add(FlowStepReport& report, const std::string& solve, const SolveReport& result) {
  SolveReport& total = report.solves[solve];
  total.iterations += result.iterations;
  total.residual = std::max(total.residual, result.residual);
}

const DualCochain<Cell>& FractionalStep::pressure() const {
  bring_pressure_up_to_date();
  return pressure_;
}

/// Where the steps need no pressure, from what the momentum equation leaves: G p = r in least squares, the
/// last pressure being the guess.
void FractionalStep::bring_pressure_up_to_date() const {
  if (pressure_known_) return;
  circulation_.fill(0);
  momentum_.add_body_force(time_, along_mean_flow(mean_flow_force_), circulation_);
  momentum_.add_outside_pressure(circulation_);
  momentum_.add_normal_part(-1, now_.convection, circulation_);
  linear_combination(-1, rate_, 1, circulation_);
  momentum_.apply_viscous_form(now_.velocity, force_);
  momentum_.add_normal_part(-settings_.viscosity, force_, circulation_);
  later_.fill(0);
  projection_.divide_by_star(circulation_, later_);
  projection_.project(1, later_, pressure_, &pressure_changes_, true);
  exchange_ghosts(mesh_.domain(), pressure_);
  pressure_known_ = true;
}

Real FractionalStep::ahead(Real time) const {
  if (!has_history() || time == now_.inner_time) return 0;
  return (time - now_.inner_time) / (now_.inner_time - before_.inner_time);
}

template <class F>
void FractionalStep::extrapolate(F Level::*member, Real time, F& value) const {
  const Real share = ahead(time);
  if (share == 0) return copy(now_.*member, value);
  set_linear_combination(-share, before_.*member, 1 + share, now_.*member, value);
}
template void FractionalStep::extrapolate(DualCochain<Cell> Level::*, Real, DualCochain<Cell>&) const;
template void FractionalStep::extrapolate(DualCochain<Face> Level::*, Real, DualCochain<Face>&) const;

Real FractionalStep::extrapolated_mean_flow_force(Real time) const {
  return now_.mean_flow_force + ahead(time) * (now_.mean_flow_force - before_.mean_flow_force);
}

FlowStepReport FractionalStep::advance(Real step, Real end) {
  REQUIRE(step > 0, fmt::format("a time step must be positive, got {}", step));
  REQUIRE(end > time_, fmt::format("a time step must go forward, from {} to {}", time_, end));
  step_ = step;
  FlowStepReport report;
  std::optional<StartValues> start;
  begin_step();
  try {
    next_.time = end;
    if (!has_history() && boundaries_.depend_on_time()) start = start_values();
    if (!has_history()) prepare_first_step(step, report);
    take_step(step, report);
    const Real energy = inner_product(next_.mass_flux, next_.flux) / 2;
    if (!std::isfinite(energy)) throw DivergedError("the velocity is not a number");
    const Real courant_rate = courant_rate_of(next_.flux), courant = step * courant_rate;
    if (settings_.convection != ConvectionScheme::None && courant > hopeless_convection &&
        step * convection_rate_of(next_) > hopeless_convection) {
      throw DivergedError(fmt::format(
          "the Courant number reached {:.3g}: the flow has blown up; try a smaller time step", courant));
    }
    find_convection(next_, force_, report);
    std::swap(force_, next_.convection);
    earlier_kinetic_energy_ = std::exchange(previous_kinetic_energy_, kinetic_energy_);
    kinetic_energy_ = energy;
    courant_rate_ = courant_rate;
  } catch (const DivergedError& error) {
    restore_own(start);
    restore_with_others();
    forget_guesses();  // what was learnt may be the very thing that failed
    throw DivergedError(fmt::format("step {} to t = {:.9g} s failed: {}; {}", steps_ + 1, end, error.what(),
                                    where_it_fails()));
  } catch (...) {  // an expression without a value, on this rank perhaps alone
    restore_own(start);
    if (mesh_.domain().communicator().ranks() == 1) restore_with_others();
    if (!report.solves.empty()) forget_guesses();
    throw;
  }
  std::swap(before_, now_);
  std::swap(now_, next_);
  time_ = now_.time;
  earlier_step_ = std::exchange(last_step_, step);
  earlier_convection_known_ = has_history();
  ++steps_;
  extrapolate(&Level::rate, time_, rate_);
  mean_flow_force_ = extrapolated_mean_flow_force(time_);
  pressure_known_ = steps_with_pressure();
  if (pressure_known_) extrapolate(&Level::pressure, time_, pressure_);
  return finish_report(report);
}

FractionalStep::StartValues FractionalStep::start_values() const {
  return {now_.velocity.to_host(), now_.pressure.to_host(), now_.rate.to_host(), now_.mean_flow_force};
}

void FractionalStep::restore_own(const std::optional<StartValues>& start) {
  if (!start) return;
  now_.mean_flow_force = start->mean_flow_force;
  now_.velocity.copy_from_host(start->velocity);
  now_.pressure.copy_from_host(start->pressure);
  now_.rate.copy_from_host(start->rate);
}

void FractionalStep::restore_with_others() {
  undo_step();
  boundaries_.update(time_);
}

void FractionalStep::forget_guesses() {
  momentum_.forget();
  pressure_changes_.clear();
  forget();
}

std::string FractionalStep::where_it_fails() const {
  const Halo<Face>& halo = mesh_.domain().halo<Face>();
  const Communicator& ranks = mesh_.domain().communicator();
  // The first of the faces on any rank for which `fits(face)`.
  const auto first_of = [&](const auto& fits) {
    GlobalIndex first = halo.total();
    for (const Id<Face> f : halo.owned()) {
      if (halo.global(f) < first && fits(at(f.value()))) first = halo.global(f);
    }
    return halo.total() - static_cast<GlobalIndex>(ranks.maximum(static_cast<Real>(halo.total() - first)));
  };
  const auto place = [&](GlobalIndex face) {
    std::array<Real, 4> cell_and_place{};
    for (const Id<Face> f : halo.owned()) {
      if (halo.global(f) != face) continue;
      const Id<Cell> c = mesh_.topology().cells_of_face()[f][0].id;
      const Vector3 x = mesh_.geometry().face_centroids()[at(f.value())];
      cell_and_place = {static_cast<Real>(mesh_.domain().halo<Cell>().global(c)), x.x, x.y, x.z};
    }
    for (Real& value : cell_and_place)
      value = sum_of_terms(mesh_.domain().communicator(), std::span(&value, 1));
    const auto [c, x, y, z] = cell_and_place;
    return fmt::format("in cell {:.0f} near {}", c, where({x, y, z}));
  };
  const std::vector<Vector3> after = next_.velocity.to_host();
  const GlobalIndex lost = first_of([&](std::size_t f) { return !std::isfinite(norm(after[f])); });
  if (lost < halo.total())
    return fmt::format("the velocity is not a number {}; try a smaller time step", place(lost));
  const std::vector<Vector3> velocity = now_.velocity.to_host();
  Real largest = 0;
  for (const Id<Face> f : halo.owned()) largest = std::max(largest, norm(velocity[at(f.value())]));
  largest = ranks.maximum(largest);
  const GlobalIndex fastest = first_of([&](std::size_t f) { return norm(velocity[f]) == largest; });
  return fmt::format("the velocity before it is largest {}, {:.6g} m/s", place(fastest), largest);
}

Real FractionalStep::courant_rate_of(const PrimalCochain<Face>& flux) const {
  exchange_ghosts(mesh_.domain(), flux);
  return maximum(executor_, mesh_.domain().halo<Cell>().owned(), courant_rates(executor_, mesh_, flux));
}

Real FractionalStep::convection_rate() const {
  return convection_rate_of(now_);
}

Real FractionalStep::convection_rate_of(const Level& level) const {
  exchange_ghosts(mesh_.domain(), level.velocity);
  const Real implicit_viscosity = stage_count(settings_.scheme) > 0 ? 0 : settings_.viscosity;
  return maximum(executor_, mesh_.domain().halo<Cell>().owned(),
                 ConvectionRateOfCell{courant_rates(executor_, mesh_, level.flux), level.velocity.view(),
                                      implicit_viscosity});
}

Real FractionalStep::mean_velocity(const PrimalCochain<Face>& flux) const {
  return inner_product(*mean_flow_path_, flux) / volume_;
}

FlowState FractionalStep::state() const {
  FlowState state;
  state.time = time_;
  state.steps = steps_;
  state.numbers = {{"last_step", last_step_},
                   {"inner_time", now_.inner_time},
                   {"previous_time", before_.time},
                   {"previous_inner_time", before_.inner_time},
                   {"mean_flow_force", now_.mean_flow_force},
                   {"previous_mean_flow_force", before_.mean_flow_force},
                   {"previous_kinetic_energy", previous_kinetic_energy_},
                   {"earlier_step", earlier_step_},
                   {"earlier_kinetic_energy", earlier_kinetic_energy_}};
  state.numbers.merge(conditions());
  const Domain& domain = mesh_.domain();
  store(domain, now_.flux, "flux", state);
  store(domain, before_.flux, "previous_flux", state);
  store(domain, now_.velocity, "velocity", state);
  store(domain, before_.velocity, "previous_velocity", state);
  store(domain, now_.convection, "convection", state);
  store(domain, before_.convection, "previous_convection", state);
  if (settings_.scheme == FlowScheme::Sbdf2 && earlier_convection_known_)
    store(domain, next_.convection, "earlier_convection", state);
  store(domain, now_.rate, "rate", state);
  store(domain, before_.rate, "previous_rate", state);
  store(domain, pressure_, "present_pressure", state);
  state.numbers["pressure_known"] = pressure_known_ ? 1 : 0;
  if (steps_with_pressure()) {  // else what levels hold of it is left over from the start
    store(domain, now_.pressure, "pressure", state);
    store(domain, before_.pressure, "previous_pressure", state);
  }
  store(
      domain, pressure_changes_, [this] { return alike(pressure_); }, "pressure_change", state);
  momentum_.add_to(state);
  add_to(state);
  return state;
}

std::map<std::string, Real> FractionalStep::conditions() const {
  std::map<std::string, Real> conditions{
      {"condensed", condenses() ? 1 : 0},  // by viscosity, too
      {"convection_scheme", static_cast<Real>(settings_.convection)},
      {"blend", settings_.convection == ConvectionScheme::Blended ? settings_.blend : 0}};
  for (std::size_t p = 0; p < settings_.boundaries.size(); ++p)
    conditions[fmt::format("condition_of_patch_{}", p + 1)] =
        static_cast<Real>(settings_.boundaries[p].index());
  return conditions;
}

void FractionalStep::start_guesses_anew() {
  forget_guesses();
  FlowStepReport report;
  for (Level* level : {&before_, &now_}) find_convection(*level, level->convection, report);
  earlier_convection_known_ = false;
  for (DualCochain<Cell>* p : {&before_.pressure, &now_.pressure, &pressure_})
    projection_.remove_means_of_closed_parts(*p);
}

void FractionalStep::resume(const FlowState& state) {
  const Domain& domain = mesh_.domain();
  const auto number = [&](const char* name) {
    const auto found = state.numbers.find(name);
    if (found == state.numbers.end()) throw InputError(fmt::format("the earlier run's state lacks {}", name));
    return found->second;
  };
  if (settings_.mean_flow) require_mean_flow();
  find_longest_viscous_step();
  boundaries_.update(state.time);
  restore(domain, state, "flux", now_.flux);
  restore(domain, state, "previous_flux", before_.flux);
  restore(domain, state, "velocity", now_.velocity);
  restore(domain, state, "previous_velocity", before_.velocity);
  if (steps_with_pressure()) {
    restore(domain, state, "pressure", now_.pressure);
    restore(domain, state, "previous_pressure", before_.pressure);
  }
  DualCochain<Cell> change = alike(pressure_);
  restore(domain, state, "pressure_change", pressure_changes_, change);
  momentum_.resume_from(state);
  restore(domain, state, "convection", now_.convection);
  restore(domain, state, "previous_convection", before_.convection);
  earlier_convection_known_ = state.arrays.contains("earlier_convection");
  if (earlier_convection_known_) restore(domain, state, "earlier_convection", next_.convection);
  restore(domain, state, "rate", now_.rate);
  restore(domain, state, "previous_rate", before_.rate);
  restore(domain, state, "present_pressure", pressure_);
  momentum_.apply_mass(now_.flux, now_.mass_flux);
  momentum_.apply_mass(before_.flux, before_.mass_flux);
  time_ = now_.time = state.time;
  steps_ = state.steps;
  last_step_ = number("last_step");
  now_.inner_time = number("inner_time");
  before_.time = number("previous_time");
  before_.inner_time = number("previous_inner_time");
  now_.mean_flow_force = number("mean_flow_force");
  before_.mean_flow_force = number("previous_mean_flow_force");
  previous_kinetic_energy_ = number("previous_kinetic_energy");
  earlier_step_ = number("earlier_step");
  earlier_kinetic_energy_ = number("earlier_kinetic_energy");
  kinetic_energy_ = inner_product(now_.mass_flux, now_.flux) / 2;
  courant_rate_ = courant_rate_of(now_.flux);
  extrapolate(&Level::rate, time_, rate_);
  mean_flow_force_ = extrapolated_mean_flow_force(time_);
  pressure_known_ = number("pressure_known") != 0;
  exchange_ghosts(mesh_.domain(), now_.flux, now_.velocity, pressure_);
  resume_from(state);
  const bool as_before = std::ranges::all_of(conditions(), [&](const auto& condition) {
    const auto found = state.numbers.find(condition.first);
    return found == state.numbers.end() || found->second == condition.second;
  });
  if (!as_before) start_guesses_anew();
}

Vector3 FractionalStep::along_mean_flow(Real force) const {
  if (!settings_.mean_flow) return {};
  return (force / norm(settings_.mean_flow->direction)) * settings_.mean_flow->direction;
}

}  // namespace curlew
