// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <cmath>
#include <iostream>

#include "app/atomic_file.hpp"
#include "app/checkpoint.hpp"
#include "app/commands.hpp"
#include "app/heat_output.hpp"
#include "app/load_case.hpp"
#include "app/monitor_files.hpp"
#include "app/progress.hpp"
#include "app/schedule.hpp"
#include "app/signals.hpp"
#include "app/summary.hpp"

namespace curlew {

namespace {

/// One run of a heat case, from the loaded case to the summary.
class HeatRun {
 public:
  HeatRun(const RunOptions& options, LoadedCase loaded)
      : options_(options),
        settings_(std::move(loaded.settings)),
        mesh_(std::move(loaded.mesh)),
        directory_(options.output.value_or(settings_.output.directory)),
        executor_(make_executor(options.backend, options.threads)),
        heat_(executor_, *mesh_, heat_settings(settings_, *mesh_)),
        progress_(std::cerr, Progress::mode_of_standard_error(options.quiet), settings_.time.start,
                  settings_.time.steady ? std::nullopt : std::optional(settings_.time.end)) {}

  int run() {
    const double began = Progress::wall_seconds();
    for (const std::string& note : mesh_->notes()) progress_.note(note);
    install_signal_handlers();
    make_directory(directory_);
    const std::optional<Real> restart_time = start();
    HeatFieldFiles fields(directory_, settings_, *mesh_, restart_time);
    HeatResidualFile residuals(directory_, restart_time);
    MonitorFiles monitors(*mesh_, settings_.monitors, settings_.time.start, directory_, restart_time);

    int status = 0;
    try {
      status = settings_.time.steady ? run_steady(fields, residuals, monitors)
                                     : run_in_time(fields, residuals, monitors, restart_time.has_value());
    } catch (const DivergedError&) {
      keep_results(RunStatus::Diverged, began, monitors);
      throw;
    } catch (const InputError&) {  // an expression that has no value at some time
      keep_results(RunStatus::Stopped, began, monitors);
      throw;
    }
    finish(began, monitors);
    progress_.finish(fmt::format("{} after {}; results in {}",
                                 summary_.status == RunStatus::Done ? "done" : "stopped",
                                 format_duration(summary_.wall_seconds), directory_.string()));
    return status;
  }

 private:
  /// Initial field or checkpoint; gives the time of the latter [s].
  std::optional<Real> start() {
    if (!options_.restart) {
      heat_.start(settings_.initial_temperature, settings_.time.start);
      return std::nullopt;
    }
    const Checkpoint checkpoint = read_checkpoint(*options_.restart);
    resume(heat_, *mesh_, checkpoint, options_.restart->string());
    require_times_of_this_case(checkpoint);
    return checkpoint.time;
  }

  void require_times_of_this_case(const Checkpoint& checkpoint) const {
    const TimeSettings& time = settings_.time;
    if (time.steady) return;
    const Real expected = time_of_step(time, checkpoint.step);
    if (std::abs(checkpoint.time - expected) <= 1e-6 * time.step) return;
    throw InputError(fmt::format(
        "{}: the checkpoint is of step {} at {:.9g} s, but [time] start and step put that step at {:.9g} s; "
        "restart with those that it was written with",
        options_.restart->string(), checkpoint.step, checkpoint.time, expected));
  }

  int run_steady(HeatFieldFiles& fields, HeatResidualFile& residuals, MonitorFiles& monitors) {
    const double before = Progress::wall_seconds();
    const SolveReport report = heat_.solve_steady();
    stepping_seconds_ = Progress::wall_seconds() - before;
    record(report);
    residuals.write(heat_, 0, report);
    write_state({heat_.steps(), heat_.time(), heat_.time()}, true, fields, monitors);
    const HeatBalance& balance = heat_.balance();
    progress_.note(
        fmt::format("steady state in {} iterations, residual {:.2e}; heat balance {:.3e} W of {:.6g} W",
                    report.iterations, report.residual, balance.imbalance(), balance.throughput()));
    return stop_requested();
  }

  int run_in_time(HeatFieldFiles& fields, HeatResidualFile& residuals, MonitorFiles& monitors,
                  bool restarted) {
    const TimeSettings& time = settings_.time;
    const std::int64_t last = step_count(time);
    const std::int64_t stop_after = options_.steps ? heat_.steps() + *options_.steps : last;
    const ScheduleSettings& output = settings_.output.schedule;
    const ScheduleSettings checkpoints{settings_.output.checkpoint, std::nullopt};
    if (!restarted) {
      const Moment begin{heat_.steps(), heat_.time(), heat_.time()};
      write_state(begin, is_due(output, time.start, begin, false), fields, monitors);
    }
    int status = 0;
    while (heat_.steps() < std::min(last, stop_after) && status == 0) {
      const Real before = heat_.time();
      const double clock = Progress::wall_seconds();
      const SolveReport report = heat_.advance_to(time_of_step(time, heat_.steps() + 1));
      stepping_seconds_ += Progress::wall_seconds() - clock;
      record(report);
      residuals.write(heat_, heat_.time() - before, report);
      status = stop_requested();
      const Moment now{heat_.steps(), heat_.time(), before};
      write_state(now, is_due(output, time.start, now, false) || heat_.steps() == last, fields, monitors);
      if (take_checkpoint_request() || is_due(checkpoints, time.start, now, false)) checkpoint();
      const HeatBalance& balance = heat_.balance();
      const std::vector<ProgressItem> items{
          {"iterations", std::to_string(report.iterations)},
          {"residual", fmt::format("{:.1e}", report.residual)},
          {"heat imbalance", fmt::format("{:.1e} of {:.3g} W", balance.imbalance(), balance.throughput())}};
      progress_.step(heat_.steps(), heat_.time(), items);
    }
    checkpoint();
    summary_.status = heat_.steps() < last ? RunStatus::Stopped : RunStatus::Done;
    return status;
  }

  void write_state(const Moment& now, bool write_fields, HeatFieldFiles& fields, MonitorFiles& monitors) {
    HeatState state(*mesh_, heat_);
    if (write_fields) fields.write(now.step, now.time, state);
    monitors.write(now, write_fields, state);
  }

  void checkpoint() { write_checkpoint(directory_, make_checkpoint(heat_, *mesh_)); }

  void record(const SolveReport& report) {
    ++solves_;
    iterations_ += report.iterations;
  }

  /// After a step that failed: what the steps before it led to.
  void keep_results(RunStatus status, double began, const MonitorFiles& monitors) {
    if (!settings_.time.steady && solves_ > 0) checkpoint();
    summary_.status = status;
    finish(began, monitors);
  }

  void finish(double began, const MonitorFiles& monitors) {
    const Topology& topology = mesh_->topology();
    summary_.case_name = settings_.name;
    summary_.model = "heat-diffusion";
    summary_.backend = options_.backend;
    summary_.threads = executor_.threads();
    summary_.cells = topology.cells().size();
    summary_.faces = topology.faces().size();
    summary_.edges = topology.edges().size();
    summary_.nodes = topology.nodes().size();
    summary_.steps = heat_.steps();
    summary_.time = heat_.time();
    summary_.wall_seconds = Progress::wall_seconds() - began;
    summary_.seconds_per_step = solves_ > 0 ? stepping_seconds_ / static_cast<double>(solves_) : 0;
    if (solves_ > 0) {
      summary_.iterations["temperature"] = static_cast<double>(iterations_) / static_cast<double>(solves_);
    }
    summary_.version = CURLEW_VERSION;
    summary_.monitors = monitors.last_values();
    write_summary(directory_ / "summary.json", summary_);
  }

  const RunOptions& options_;
  HeatCase settings_;
  std::unique_ptr<const Mesh> mesh_;
  std::filesystem::path directory_;
  Executor executor_;
  HeatDiffusion heat_;
  Progress progress_;
  Summary summary_;
  std::int64_t solves_ = 0, iterations_ = 0;
  double stepping_seconds_ = 0;
};

}  // namespace

int run_case(const RunOptions& options) {
  return HeatRun(options, load_case(options.case_file, options.overrides)).run();
}

}  // namespace curlew
