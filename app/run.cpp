// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "app/atomic_file.hpp"
#include "app/checkpoint.hpp"
#include "app/commands.hpp"
#include "app/field_files.hpp"
#include "app/load_case.hpp"
#include "app/memory_estimate.hpp"
#include "app/monitor_files.hpp"
#include "app/progress.hpp"
#include "app/schedule.hpp"
#include "app/signals.hpp"
#include "app/simulation.hpp"
#include "app/summary.hpp"
#include "kernels/error.hpp"
#include "mesh/communicator.hpp"

namespace curlew {

namespace {

/// One run of a simulation, from its start to the summary.
class Run {
 public:
  Run(const RunOptions& options, Simulation& simulation, int threads)
      : options_(options),
        simulation_(simulation),
        settings_(simulation.settings()),
        mesh_(simulation.mesh()),
        directory_(options.output.value_or(settings_.output.directory)),
        progress_(std::cerr, Progress::mode_of_standard_error(options.quiet), simulation.start_time(),
                  simulation.end_time()) {
    summary_.threads = threads;
  }

  int run() {
    began_ = Progress::wall_seconds();
    for (const std::string& note : mesh_.notes()) progress_.note(note);
    install_signal_handlers();
    make_directory(directory_);
    std::optional<Real> restart_time;
    try {
      restart_time = start();
    } catch (const DivergedError&) {  // before there is anything to write but what happened
      summary_.status = RunStatus::Diverged;
      finish({});
      throw;
    }
    Files files{{directory_, settings_.name, mesh_, restart_time},
                {directory_ / "residuals.csv", simulation_.residual_columns(), restart_time},
                {mesh_, settings_.monitors, simulation_.start_time(), directory_, restart_time}};
    int status = 0;
    try {
      status = go_on(files, restart_time.has_value());
    } catch (const DivergedError&) {
      if (!simulation_.sound_after_failure()) write_diverged(files);
      keep_results(RunStatus::Diverged, files);
      throw;
    } catch (const InputError&) {  // an expression that has no value at some time
      keep_results(RunStatus::Stopped, files);
      throw;
    }
    if (simulation_.finished() && !simulation_.conclusion().empty()) progress_.note(simulation_.conclusion());
    finish(files.monitors.last_values());
    progress_.finish(fmt::format("{} after {}; results in {}",
                                 summary_.status == RunStatus::Done ? "done" : "stopped",
                                 format_duration(summary_.wall_seconds), directory_.string()));
    return status;
  }

 private:
  struct Files {
    FieldFiles fields;
    CsvWriter residuals;
    MonitorFiles monitors;
  };

  /// Initial state or checkpoint; gives the time of the latter [s].
  std::optional<Real> start() {
    if (!options_.restart) {
      simulation_.start();
      return std::nullopt;
    }
    const Checkpoint checkpoint = read_checkpoint(*options_.restart);
    simulation_.resume(checkpoint, options_.restart->string());
    return checkpoint.time;
  }

  int go_on(Files& files, bool restarted) {
    const Real start = simulation_.start_time();
    const ScheduleSettings& output = settings_.output.schedule;
    const ScheduleSettings checkpoints{settings_.output.checkpoint, std::nullopt};
    const bool one_result = simulation_.one_result();
    if (const auto watched = simulation_.watched()) files.monitors.require(*watched);
    if (!restarted && !one_result) {
      const Moment begin{simulation_.steps(), simulation_.time(), simulation_.time()};
      const auto snapshot = simulation_.snapshot();
      write_state(begin, is_due(output, start, begin, false), files, *snapshot);
    }
    int status = 0;
    while (!simulation_.finished() && status == 0 &&
           (one_result || !options_.steps || steps_taken_ < *options_.steps)) {
      const Real before = simulation_.time();
      const double clock = Progress::wall_seconds();
      simulation_.advance();
      stepping_seconds_ += Progress::wall_seconds() - clock;
      record();
      files.residuals.write_row(simulation_.residuals());
      const auto snapshot = simulation_.snapshot();
      if (const auto watched = simulation_.watched()) {
        simulation_.observe(files.monitors.value(*watched, *snapshot));
      }
      status = stop_requested();
      const Moment now{simulation_.steps(), simulation_.time(), before};
      write_state(now, is_due(output, start, now, false) || simulation_.finished(), files, *snapshot);
      if (one_result) continue;
      if (take_checkpoint_request() || is_due(checkpoints, start, now, false)) checkpoint();
      progress_.step(simulation_.steps(), simulation_.time(), simulation_.progress());
    }
    if (!one_result) checkpoint();
    const bool done = simulation_.finished() && simulation_.reached_goal();
    summary_.status = done ? RunStatus::Done : RunStatus::Stopped;
    return status;
  }

  void write_state(const Moment& now, bool write_fields, Files& files, Snapshot& snapshot) {
    if (write_fields) files.fields.write(now.step, now.time, simulation_.output_fields(), snapshot);
    files.monitors.write(now, write_fields, snapshot);
  }

  void checkpoint() { write_checkpoint(directory_, simulation_.checkpoint()); }

  void record() {
    ++steps_taken_;
    for (const auto& [name, report] : simulation_.solves()) iterations_[name] += report.iterations;
    if (const auto divergence = simulation_.divergence()) {
      summary_.max_divergence = std::max(summary_.max_divergence.value_or(0), *divergence);
    }
  }

  void write_diverged(Files& files) {
    const auto snapshot = simulation_.snapshot();
    const auto file = files.fields.write_diverged(simulation_.time(), simulation_.output_fields(), *snapshot);
    progress_.note(fmt::format("the fields of the moment are in {}", file.string()));
  }

  /// After a step that failed: what the steps before it led to.
  void keep_results(RunStatus status, const Files& files) {
    if (simulation_.sound_after_failure() && !simulation_.one_result() && steps_taken_ > 0) checkpoint();
    summary_.status = status;
    finish(files.monitors.last_values());
  }

  void finish(std::map<std::string, std::map<std::string, double>> last_values) {
    const Topology& topology = mesh_.topology();
    const auto steps = static_cast<double>(std::max<std::int64_t>(steps_taken_, 1));
    summary_.case_name = settings_.name;
    summary_.model = simulation_.model();
    summary_.backend = options_.backend;
    summary_.cells = topology.cells().size();
    summary_.faces = topology.faces().size();
    summary_.edges = topology.edges().size();
    summary_.nodes = topology.nodes().size();
    summary_.steps = simulation_.steps();
    summary_.time = simulation_.time();
    summary_.wall_seconds = Progress::wall_seconds() - began_;
    summary_.seconds_per_step = stepping_seconds_ / steps;
    for (const auto& [name, count] : iterations_)
      summary_.iterations[name] = static_cast<double>(count) / steps;
    summary_.version = CURLEW_VERSION;
    summary_.monitors = std::move(last_values);
    write_summary(directory_ / "summary.json", summary_);
  }

  const RunOptions& options_;
  Simulation& simulation_;
  const CaseSettings& settings_;
  const Mesh& mesh_;
  std::filesystem::path directory_;
  Progress progress_;
  Summary summary_;
  std::int64_t steps_taken_ = 0;
  std::map<std::string, std::int64_t> iterations_;  // by solve
  double began_ = 0, stepping_seconds_ = 0;
};

}  // namespace

int run_simulation(const RunOptions& options, Simulation& simulation, int threads) {
  return Run(options, simulation, threads).run();
}

int run_case(const RunOptions& options) {
  if (const Communicator& ranks = *all_ranks(); ranks.ranks() > 1) {
    if (ranks.rank() > 0) return 2;  // the first rank says it
    throw InputError(
        fmt::format("runs on several ranks are not offered yet, and a launcher started {}; run the case "
                    "without it, with --threads",
                    ranks.ranks()));
  }
  const LoadedCase loaded = load_case(options.case_file, options.overrides);
  const Executor executor = make_executor(options.backend, options.threads);
  require_device_memory(executor, loaded);
  return run_simulation(options, *make_simulation(executor, loaded), executor.threads());
}

}  // namespace curlew
