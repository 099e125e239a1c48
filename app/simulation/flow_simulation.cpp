// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/flow_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "app/failure.hpp"
#include "kernels/error.hpp"
#include "kernels/reduction.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/slabs.hpp"
#include "physics/flow/averages.hpp"

namespace curlew {

namespace {

// Names in a checkpoint beside those of the flow itself.
constexpr const char* last_step_name = "run.last_step";
constexpr const char* detector_prefix = "run.steady.";
constexpr const char* energy_detector_prefix = "run.steady_energy.";
constexpr const char* detected_name = "run.steady.quantity";

/// The name of what is kept of a time average. The monitor's name stands last: it may have points itself.
std::string name_of_average(const char* what, const std::string& monitor) {
  return fmt::format("run.average.{}.{}", what, monitor);
}

// What residuals.csv tells of, whether a scheme has such a solve or not: one table for all of them.
std::array<const char*, 3> solve_names(FlowMethod method) {
  const bool exact = method == FlowMethod::ExactFractionalStep;
  return {exact ? "streamfunction" : "momentum", "tangential", "pressure"};
}

struct NormOnFace {
  View<Face, const Vector3> v;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const { return norm(v[f]); }
};

struct DistanceOnFace {
  View<Face, const Vector3> v, w;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const { return norm(v[f] - w[f]); }
};

/// Values whose names begin with `prefix`, without it.
template <class T>
std::map<std::string, T> with_prefix(const std::map<std::string, T>& values, const std::string& prefix) {
  std::map<std::string, T> result;
  for (const auto& [name, value] : values) {
    if (name.starts_with(prefix)) result[name.substr(prefix.size())] = value;
  }
  return result;
}

}  // namespace

FlowStepReport start_flow(IncompressibleFlow& flow, const FlowCase& settings) {
  const Real time = settings.time.start;
  if (settings.initial_file) {
    const std::string path = settings.initial_file->string();
    const Domain& domain = flow.mesh().domain();
    const Checkpoint earlier = read_checkpoint(*settings.initial_file, domain.communicator());
    together(domain.communicator(), [&] {
      with_place(
          [&] {
            require_checkpoint_of(flow_method_names[at(int(settings.method))], flow.mesh(), earlier, path);
          },
          [&](const InputError&) { return settings.initial_file_location; });
    });
    const std::vector<Real> slab = earlier.arrays.at("flux").values(),
                            flux = from_slabs<Face>(domain, std::span(slab));
    return flow.start(std::span(flux), time);
  }
  if (settings.initial_velocity) return flow.start(*settings.initial_velocity, time);
  const auto zero = std::make_shared<const Expression>(0);
  return flow.start(ComponentVector({zero, zero, zero}), time);
}

FlowSimulation::FlowSimulation(FlowCase settings, std::unique_ptr<IncompressibleFlow> flow)
    : settings_(std::move(settings)),
      flow_(std::move(flow)),
      control_(settings_.time),
      detector_(settings_.time.tolerance),
      energy_detector_(settings_.time.tolerance) {
  for (const MonitorSettings& monitor : settings_.monitors) {
    if (const auto* average = std::get_if<TimeAverageSettings>(&monitor.what)) {
      const Real start = std::max(average->start.value_or(settings_.time.start), settings_.time.start);
      averages_.push_back({monitor.name, start, average->fields, TimeAverage(flow_->face_velocity()),
                           TimeAverage(flow_->pressure())});
    }
  }
  if (watches("velocity")) {
    const auto& velocity = flow_->face_velocity();
    previous_velocity_.emplace(velocity.executor(), velocity.extent(), "previous velocity", "m/s");
  }
}

std::optional<Real> FlowSimulation::end_time() const {
  return settings_.time.steady ? std::nullopt : std::optional(settings_.time.end);
}

bool FlowSimulation::watches(const std::string& quantity) const {
  return settings_.time.steady && settings_.time.quantity == quantity;
}

std::optional<NamedReference> FlowSimulation::watched() const {
  return watched_column(settings_.time);
}

void FlowSimulation::find_speed_of_rounding() {
  if (!settings_.time.steady || settings_.flow.body_force == nullptr) return;
  const Mesh& mesh = flow_->mesh();
  const Communicator& ranks = mesh.domain().communicator();
  Real force = 0;
  for (const Vector3 f : average_on_cells(mesh, *settings_.flow.body_force, settings_.time.start))
    force = std::max(force, norm(f));
  const auto own = at(mesh.domain().halo<Cell>().owned().size());
  const Real volume = sum_of_terms(ranks, mesh.geometry().cell_volumes().host().first(own));
  const Real size = std::pow(volume, 1 / static_cast<Real>(mesh.topology().dimension()));
  // Of the sixteen digits of the speed that the force would give through the domain the last four.
  speed_of_rounding_ = 1e-12 * std::sqrt(ranks.maximum(force) * size);
}

bool FlowSimulation::at_rest() const {
  if (speed_of_rounding_ == 0) return false;
  const auto& velocity = flow_->face_velocity();
  return maximum(velocity.executor(), velocity.owned(), NormOnFace{velocity.view()}) <= speed_of_rounding_;
}

void FlowSimulation::observe(const ColumnValue& column) {
  detector_.observe_number(at_rest() ? 0 : column.value, column.scale, step_);
  detector_.compare_with_noise(largest_change_left_by_solves());
}

void FlowSimulation::start() {
  with_place([&] { report_ = start_flow(*flow_, settings_); },
             [&](const InputError& error) { return place_of(error, settings_); });
  find_speed_of_rounding();
  require_streamfunction();
}

/// Where there is none from the first moment on, that is better known before the steps.
void FlowSimulation::require_streamfunction() const {
  const auto require_if_among = [&](const std::vector<FieldDescription>& fields, const Location& location) {
    if (std::ranges::find(fields, "streamfunction", &FieldDescription::name) == fields.end()) return;
    with_place([&] { snapshot()->field("streamfunction"); }, [&](const InputError&) { return location; });
  };
  require_if_among(settings_.output.fields, settings_.output.fields_location);
  for (const MonitorSettings& monitor : settings_.monitors) {
    std::visit(
        [&](const auto& what) {
          if constexpr (requires { what.fields; }) require_if_among(what.fields, monitor.location);
        },
        monitor.what);
  }
}

Checkpoint FlowSimulation::checkpoint() const {
  Checkpoint checkpoint = make_checkpoint(model(), computed_mesh(), flow_->state());
  checkpoint.numbers[last_step_name] = control_.last();
  for (const auto& [name, value] : detector_.state()) checkpoint.numbers[detector_prefix + name] = value;
  for (const auto& [name, value] : energy_detector_.state())
    checkpoint.numbers[energy_detector_prefix + name] = value;
  checkpoint.texts[detected_name] = settings_.time.quantity;
  for (const FlowAverage& average : averages_) {
    checkpoint.numbers[name_of_average("duration", average.name)] = average.face_velocity.duration();
    checkpoint.numbers[name_of_average("start", average.name)] = average.start;
    const Domain& domain = flow_->mesh().domain();
    checkpoint.arrays[name_of_average("face_velocity", average.name)] = StateArray<Real>(
        slab_size<Face>(domain, 3), [&] { return numbers_in_slabs(domain, average.face_velocity.mean()); });
    if (!average.has_pressure()) continue;
    checkpoint.arrays[name_of_average("pressure", average.name)] = StateArray<Real>(
        slab_size<Cell>(domain), [&] { return numbers_in_slabs(domain, average.pressure.mean()); });
  }
  return checkpoint;
}

std::vector<std::string> FlowSimulation::resume(const Checkpoint& checkpoint, const std::string& path) {
  require_checkpoint_of(model(), computed_mesh(), checkpoint, path);
  try {
    flow_->resume(state_in(checkpoint));
    if (checkpoint.texts.at(detected_name) == settings_.time.quantity)
      detector_.resume(with_prefix(checkpoint.numbers, detector_prefix));
    energy_detector_.resume(with_prefix(checkpoint.numbers, energy_detector_prefix));
  } catch (const InputErrors&) {  // which has its place in the case
    throw;
  } catch (const MeanFlowError& error) {
    throw InputErrors(place_of(error, settings_), error.what());
  } catch (const NetFlowError& error) {
    throw InputErrors(place_of(error, settings_), error.what());
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
  find_speed_of_rounding();
  control_.resume(checkpoint.numbers.at(last_step_name));
  step_ = control_.last();
  std::vector<std::string> notes;
  for (FlowAverage& average : averages_) {
    if (average.start >= checkpoint.time) continue;
    const auto duration = checkpoint.numbers.find(name_of_average("duration", average.name)),
               start = checkpoint.numbers.find(name_of_average("start", average.name));
    if (duration == checkpoint.numbers.end() || start == checkpoint.numbers.end() ||
        start->second != average.start ||
        (average.has_pressure() && !checkpoint.arrays.contains(name_of_average("pressure", average.name)))) {
      notes.push_back(
          fmt::format("{}: the checkpoint has no means from {:.9g} s on of the fields of "
                      "[monitor.{}], which begins at {:.9g} s instead",
                      path, average.start, average.name, checkpoint.time));
      continue;
    }
    const auto resumed = [&](auto& mean_in_time, const char* what) {
      auto mean = alike(mean_in_time.mean());
      const auto& array = checkpoint.arrays.at(name_of_average(what, average.name));
      numbers_from_slabs(flow_->mesh().domain(), array.values(), mean);
      mean_in_time.resume(duration->second, mean);
    };
    resumed(average.face_velocity, "face_velocity");
    if (average.has_pressure()) resumed(average.pressure, "pressure");
  }
  require_streamfunction();
  return notes;
}

bool FlowSimulation::finished() const {
  if (settings_.time.steady)
    return deciding().steady() || steps() >= settings_.time.max_steps ||
           has_stagnated(SteadyDetector::most_steps_without_fall);
  return control_.at_end(time());
}

StepControl::Step FlowSimulation::next_step(StepControl& control, Real longest) const {
  const StepControl before = control;
  for (Real rate = flow_->courant_rate();;) {
    control = before;
    const StepControl::Step step =
        control.next(time(), rate, std::min(longest, flow_->longest_viscous_step()));
    if (!settings_.time.courant) return step;
    // The flow does not know yet what enters by then.
    constexpr int looks = 4;
    Real ahead = 0;
    for (int k = 1; k <= looks; ++k)
      ahead =
          std::max(ahead, flow_->courant_rate_of_boundaries(std::lerp(time(), step.end, Real(k) / looks)));
    if (ahead <= rate || step.length * ahead <= *settings_.time.courant) return step;
    rate = ahead;
  }
}

void FlowSimulation::advance() {
  if (previous_velocity_) {
    copy(flow_->face_velocity(), *previous_velocity_);
  }
  const Real before = time();
  StepControl control = control_;
  const auto place = [&](const InputError& error) { return place_of(error, settings_); };
  // Nothing tells before how fast a fluid at rest will be: by the Courant number a first step that made it
  // too fast is taken again.
  const bool may_be_too_long = settings_.time.courant && steps() == 0;
  int failures = 0;
  for (Real longest = std::numeric_limits<Real>::infinity();;) {
    StepControl::Step step{};
    control = control_;
    with_place([&] { step = next_step(control, longest); }, place);
    if (!(step.end > before)) {
      throw DivergedError(fmt::format(
          "step {} to follow t = {:.9g} s would be so short, {:.2g} s, that time stands still: the "
          "flow has blown up; try a smaller Courant number",
          steps() + 1, before, step.length));
    }
    step_ = step.length;
    try {
      with_place([&] { report_ = flow_->advance(step.length, step.end); }, place);
      constexpr Real most = 1.5;
      if (!may_be_too_long || !(report_.courant > most * *settings_.time.courant)) break;
      longest = step_ * *settings_.time.courant / report_.courant;
    } catch (const DivergedError&) {
      constexpr int most_failures = 3;
      if (!may_be_too_long || ++failures > most_failures) throw;
      longest = step_ / 100;
    }
    with_place([&] { start_flow(*flow_, settings_); }, place);
  }
  control_ = control;  // not before: a step that fails has not been
  for (FlowAverage& average : averages_) {
    // A step belongs to the average when it begins after its start; round-off of the time does not count.
    if (before < average.start - StepControl::round_off * step_) continue;
    average.face_velocity.add(flow_->face_velocity(), step_);
    if (average.has_pressure()) average.pressure.add(flow_->pressure(), step_);
  }
  if (previous_velocity_) {
    const View<Face, const Vector3> now = flow_->face_velocity().view();
    const Executor& executor = previous_velocity_->executor();
    const auto range = previous_velocity_->owned();
    const Real change =
        maximum(executor, range, DistanceOnFace{now, std::as_const(*previous_velocity_).view()});
    detector_.observe(at_rest() ? 0 : change, maximum(executor, range, NormOnFace{now}), step_);
    detector_.compare_with_noise(largest_change_left_by_solves());
  } else if (watches("kinetic_energy")) {
    observe({report_.kinetic_energy, report_.kinetic_energy});
  } else if (watched()) {
    energy_detector_.observe_number(at_rest() ? 0 : report_.kinetic_energy, report_.kinetic_energy, step_);
    energy_detector_.compare_with_noise(largest_change_left_by_solves());
  }
}

std::vector<double> FlowSimulation::residuals() const {
  std::vector<double> row{static_cast<double>(steps()), time(), step_, report_.courant};
  for (const char* name : solve_names(settings_.method)) {
    const auto solve = report_.solves.find(name);
    const SolveReport report = solve == report_.solves.end() ? SolveReport{} : solve->second;
    row.insert(row.end(), {static_cast<double>(report.iterations), report.residual});
  }
  row.insert(row.end(), {report_.divergence_max, report_.divergence_l2, report_.kinetic_energy});
  if (settings_.flow.mean_flow) row.push_back(flow_->mean_flow_force());
  return row;
}

std::vector<CsvColumn> FlowSimulation::residual_columns() const {
  std::vector<CsvColumn> columns{{"step", "1"}, {"time", "s"}, {"dt", "s"}, {"courant", "1"}};
  for (const char* name : solve_names(settings_.method)) {
    columns.push_back({fmt::format("{}_iterations", name), "1"});
    columns.push_back({fmt::format("{}_residual", name), "1"});
  }
  const bool plane = mesh().topology().dimension() == 2;
  columns.push_back({"divergence_max", "1"});
  columns.push_back({"divergence_l2", "1"});
  columns.push_back({"kinetic_energy", plane ? "J/m" : "J"});
  if (settings_.flow.mean_flow) columns.push_back({"mean_flow_force", "m/s2"});
  return columns;
}

std::vector<ProgressItem> FlowSimulation::progress() const {
  std::string iterations;
  for (const auto& [name, report] : report_.solves) {
    iterations += fmt::format("{}{} {} ({:.0e})", iterations.empty() ? "" : ", ", name, report.iterations,
                              report.residual);
  }
  std::vector<ProgressItem> items{{"Courant", fmt::format("{:.3g}", report_.courant)},
                                  {"divergence", fmt::format("{:.1e}", report_.divergence_max)},
                                  {"iterations (residuals)", iterations},
                                  {"energy", fmt::format("{:.6g} {}", report_.kinetic_energy,
                                                         mesh().topology().dimension() == 2 ? "J/m" : "J")}};
  if (settings_.time.steady && std::isfinite(deciding().rate()))
    items.push_back({"change", fmt::format("{:.1e} per s", deciding().rate())});
  return items;
}

std::vector<std::string> FlowSimulation::warnings() {
  std::vector<std::string> warnings;
  if (auto warning = warning_of_viscosity()) warnings.push_back(std::move(*warning));
  if (auto warning = warning_of_convection()) warnings.push_back(std::move(*warning));
  if (auto warning = warning_of_slowness()) warnings.push_back(std::move(*warning));
  if (auto warning = warning_of_stagnation()) warnings.push_back(std::move(*warning));
  if (auto warning = warning_of_averages()) warnings.push_back(std::move(*warning));
  return warnings;
}

std::optional<std::string> FlowSimulation::warning_of_viscosity() {
  const Real longest = flow_->longest_viscous_step();
  if (warned_of_viscosity_ || settings_.time.courant || settings_.time.step <= longest) return std::nullopt;
  warned_of_viscosity_ = true;
  return fmt::format(
      "steps of {:.3g} s are too long for viscosity, which is explicit in ssp-rk schemes: the flow will blow "
      "up; on this mesh it stands {:.2g} s, and courant in [time] keeps to that; schemes such as sbdf2 are "
      "implicit",
      settings_.time.step, longest);
}

std::optional<std::string> FlowSimulation::warning_of_convection() {
  // Driven cavities of squares blew up from somewhere between 1.4 and 2 on, of triangles later. A fluid that
  // slips along walls at the start is soon slower there.
  constexpr Real most = 2, most_at_once = 4;
  constexpr int steps_of_start = 10;
  if (warned_of_convection_ || settings_.flow.convection == ConvectionScheme::None) return std::nullopt;
  const Real rate = report_.courant > most ? flow_->convection_rate() : 0;
  steps_too_long_ = step_ * rate > most ? steps_too_long_ + 1 : 0;
  if (steps_too_long_ < steps_of_start && step_ * rate <= most_at_once) return std::nullopt;
  warned_of_convection_ = true;
  return fmt::format(
      "step {}, {:.3g} s with a Courant number of {:.3g}, is too long for convection, which is explicit: the "
      "flow may blow up; it stands about {:.2g} s, and courant = 0.5 in [time] keeps to less",
      steps(), step_, report_.courant, 1 / rate);
}

std::optional<std::string> FlowSimulation::warning_of_slowness() {
  // What decays like exp(-t/T) has 1/n of this share yet to go after a time of n T.
  constexpr Real most = 0.03;
  const Real rate = deciding().rate(), share = rate * (time() - settings_.time.start);
  if (warned_of_slowness_ || !settings_.time.steady || !deciding().steady() || share <= most ||
      changes_as_solves_leave())
    return std::nullopt;
  warned_of_slowness_ = true;
  return fmt::format(
      "the flow is slow rather than steady: in as long as the run has taken {} would change by another "
      "{:.0f} %; give [time] a smaller tolerance, {:.0e} 1/s say",
      deciding_quantity(), 100 * share, settings_.time.tolerance * most / share / 10);
}

std::optional<std::string> FlowSimulation::warning_of_stagnation() {
  constexpr int most_steps = 100;
  if (warned_of_stagnation_ || !settings_.time.steady || !has_stagnated(most_steps)) return std::nullopt;
  warned_of_stagnation_ = true;
  return fmt::format(
      "step {}: for {} steps the change of {} has not fallen, {} per second (tolerance {:.2e}); so much may "
      "be what the solves leave, and where that goes on for {} steps the run ends: "
      "lower tolerance of [solver.*], or raise that of [time]",
      steps(), most_steps, deciding_quantity(), share_that_changes(), settings_.time.tolerance,
      SteadyDetector::most_steps_without_fall);
}

std::optional<std::string> FlowSimulation::warning_of_averages() {
  if (warned_of_averages_ || !finished()) return std::nullopt;
  std::vector<std::string> empty;
  for (const FlowAverage& average : averages_) {
    if (average.face_velocity.duration() == 0)
      empty.push_back(fmt::format("'{}' (start = {:.9g} s)", average.name, average.start));
  }
  if (empty.empty()) return std::nullopt;
  warned_of_averages_ = true;
  return fmt::format("no step began after the start of {}: {} no number; let {} start earlier",
                     fmt::join(empty, " and "), empty.size() == 1 ? "this average is" : "these averages are",
                     empty.size() == 1 ? "it" : "them");
}

bool FlowSimulation::has_stagnated(int steps) const {
  const SteadyDetector& detector = deciding();
  return !detector.steady() && detector.steps_without_fall() >= steps &&
         detector.steps_within_noise() >= steps;
}

std::string FlowSimulation::share_that_changes() const {
  const SteadyDetector& detector = deciding();
  std::string share = fmt::format("{:.2e} of its size", detector.rate());
  if (detector.rate_of_scale() < detector.rate() / 2)
    share += fmt::format(", {:.2e} of the largest number beside it,", detector.rate_of_scale());
  return share;
}

Real FlowSimulation::largest_change_left_by_solves() const {
  // Measured were up to 54 times as much as their tolerances say.
  return 100 * change_left_by_solves(settings_, step_);
}

std::vector<FieldDescription> FlowSimulation::output_fields() const {
  std::vector<FieldDescription> fields = settings_.output.fields;
  for (const FlowAverage& average : averages_) {
    for (FieldDescription field : average.fields) {
      field.name = average.name + "_" + field.name;
      fields.push_back(std::move(field));
    }
  }
  return fields;
}

std::unique_ptr<Snapshot> FlowSimulation::snapshot() const {
  return present_flow(*flow_, averages_, centroid_velocity_);
}

std::string FlowSimulation::conclusion() const {
  const FlowTimeSettings& time = settings_.time;
  if (!time.steady) return "";
  const SteadyDetector& detector = deciding();
  const char* wanted =
      detector.observes_number() ? " for ten steps and a tenth of the time" : " for ten steps";
  const std::string change =
      std::isfinite(detector.rate())
          ? fmt::format(": {} changes by {} per second (tolerance {:.2e}{})", deciding_quantity(),
                        share_that_changes(), time.tolerance, detector.steady() ? "" : wanted)
          : "";
  if (detector.steady()) return fmt::format("steady after {} steps{}", steps(), change);
  const std::string when = steps() < time.max_steps
                               ? fmt::format("not steady, nor steadier for {} of {} steps",
                                             SteadyDetector::most_steps_without_fall, steps())
                               : fmt::format("not steady after the {} steps of [time] max_steps", steps());
  return fmt::format("{}{}{}", when, change,
                     changes_as_solves_leave()
                         ? "; so much may be what the solves leave: lower tolerance of [solver.*], or "
                           "raise that of [time]"
                         : "; where that no longer falls the flow is unsteady, or steps of half the length "
                           "let it settle");
}

}  // namespace curlew
