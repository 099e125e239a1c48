// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "app/case/load_case.hpp"
#include "app/case/memory_estimate.hpp"
#include "app/commands.hpp"
#include "app/failure.hpp"
#include "app/files/atomic_file.hpp"
#include "app/files/directory_lock.hpp"
#include "app/output/checkpoint.hpp"
#include "app/output/field_files.hpp"
#include "app/output/monitor_files.hpp"
#include "app/output/progress.hpp"
#include "app/output/report.hpp"
#include "app/output/summary.hpp"
#include "app/signals.hpp"
#include "app/simulation/schedule.hpp"
#include "app/simulation/simulation.hpp"
#include "app/step_timer.hpp"
#include "kernels/error.hpp"
#include "mesh/parallel/communicator.hpp"

namespace curlew {

namespace {

/// One run of a simulation, from its start to the summary.
class Run {
 public:
  Run(const RunOptions& options, Simulation& simulation, int threads, double began)
      : options_(options),
        simulation_(simulation),
        settings_(simulation.settings()),
        mesh_(simulation.mesh()),
        ranks_(mesh_.domain().communicator()),
        directory_(options.output.value_or(settings_.output.directory)),
        progress_(std::cerr, Progress::mode_of_standard_error(options.quiet || ranks_.rank() > 0),
                  simulation.end_time()),
        program_began_(began) {
    summary_.ranks = ranks_.ranks();
    summary_.threads = threads;
  }

  int run() {
    report_.case_file = text_of_case();
    report_.overrides = options_.overrides;
    Files files;
    // What is wrong with the monitors shows before there is anything to lose.
    together(ranks_, [&] {
      files.monitors.emplace(mesh_, settings_.monitors, simulation_.start_time(), directory_);
    });
    warn(files.monitors->doubts());
    together(ranks_, [&] {
      if (const auto watched = simulation_.watched()) files.monitors->require(*watched);
      if (!writes()) return;
      make_directory(directory_);
      lock_.emplace(directory_);
    });
    std::optional<Moment> restart;
    try {
      restart = start();
    } catch (const DivergedError&) {  // before there is anything to write but what happened
      end(RunStatus::Diverged, nullptr);
      throw;
    }
    open(files, restart);
    int status = 0;
    try {
      status = go_on(files, restart.has_value());
    } catch (const DivergedError&) {
      where_it_can_be_written([&] {
        if (simulation_.sound_before_divergence())
          keep_steps(files);
        else
          write_diverged(files);
      });
      end(RunStatus::Diverged, &files);
      throw;
    } catch (const InputError&) {  // an expression that has no value at some time
      // Other ranks may know nothing of it, and be no help.
      if (ranks_.ranks() > 1) throw alone(failure_of(std::current_exception()), files);
      where_it_can_be_written([&] { keep_steps(files); });
      end(RunStatus::Failed, &files);
      throw;
    } catch (const FileError&) {  // a file that can no longer be written; others may still be
      if (ranks_.ranks() > 1) throw;
      where_it_can_be_written([&] { keep_steps(files); });
      end(RunStatus::Failed, &files);
      throw;
    }
    if (simulation_.finished()) {
      if (steps_taken_ > 0) warn(simulation_.warnings());
      tell(simulation_.conclusion());
    }
    finish(&files);
    progress_.finish(fmt::format("{} after {}; results in {}",
                                 summary_.status == RunStatus::Done ? "done" : "stopped",
                                 format_duration(summary_.wall_seconds), directory_.string()));
    return status;
  }

 private:
  struct Files {
    std::optional<FieldFiles> fields;
    std::optional<MonitorFiles> monitors;
    std::optional<CsvWriter> residuals;  // of the rank that writes
  };

  void open(Files& files, std::optional<Moment> restart) {
    // What other runs have left in another directory does not belong to this one.
    if (restart && !goes_on_from(directory_)) restart.reset();
    if (!restart) unwritten_since_.reset();  // in files that are another run's
    together(ranks_, [&] {
      if (!restart || !simulation_.one_result()) return;
      throw InputErrors(settings_.location,
                        fmt::format("a steady state has no steps that go on with those in '{}', from whose "
                                    "checkpoint it is to start; give another --output",
                                    directory_.string()));
    });
    const auto restart_time = restart ? std::optional(restart->time) : std::nullopt;
    const std::filesystem::path residuals = directory_ / "residuals.csv";
    const std::vector<CsvColumn> columns = simulation_.residual_columns();
    together(ranks_, [&] {
      if (!writes() || !restart) return;
      // All of them before the first one is changed.
      require_same_head(residuals, columns);
      files.monitors->require_continuable();
    });
    together(ranks_, [&] { files.fields.emplace(directory_, settings_.name, mesh_, restart_time); });
    together(ranks_, [&] {
      if (!writes()) return;
      std::error_code ignored;  // where it cannot be removed it cannot be written either, and that is told
      for (const char* name : {"summary.json", "report.html"})  // those of an earlier run
        std::filesystem::remove(directory_ / name, ignored);
      // First, so that what is killed from here on does not go on from one of them.
      set_checkpoints_aside(directory_, restart ? restart->step : -1);
      files.fields->remove_replaced();
      files.monitors->open(restart);
      files.residuals.emplace(residuals, columns, restart_time);
      tell_of_others(files.monitors->files_of_others());
    });
  }

  /// Of tables whose rows are not this run's.
  void tell_of_others(const std::vector<std::string>& tables) {
    if (tables.empty()) return;
    const std::string first = (directory_ / tables[0]).string();
    progress_.note(
        tables.size() == 1
            ? fmt::format("'{}' is of a monitor that this run does not have, and left as it is", first)
            : fmt::format(
                  "'{}' and {} more are of monitors that this run does not have, and left as they are", first,
                  tables.size() - 1));
  }

  /// Whether it is a checkpoint in `directory` that the run goes on from: one of the run whose files are
  /// there, not of the run before that.
  bool goes_on_from(const std::filesystem::path& directory) const {
    if (!options_.restart) return false;
    std::error_code ignored;
    const std::filesystem::path from = std::filesystem::weakly_canonical(*options_.restart, ignored);
    if (is_set_aside(from)) return false;
    if (std::filesystem::is_directory(from, ignored))
      return std::filesystem::equivalent(from, directory, ignored);
    // The file may be a link, and so may its name in the directory.
    const std::filesystem::path named = std::filesystem::absolute(*options_.restart, ignored).parent_path();
    return std::filesystem::equivalent(from.parent_path(), directory, ignored) ||
           std::filesystem::equivalent(named, directory, ignored);
  }

  /// What was asked of any rank since the last step.
  struct Requests {
    int stop_status = 0;  // that of the signal that asked for a stop, else 0
    bool checkpoint = false;
    bool out_of_time = false;
  };

  bool writes() const { return ranks_.rank() == 0; }

  Requests requests() const {
    const auto limit = simulation_.wall_limit();
    const bool late = limit && Progress::wall_seconds() - program_began_ >= *limit;
    std::array<Real, 3> asked{static_cast<Real>(stop_requested()), take_checkpoint_request() ? 1. : 0.,
                              late ? 1. : 0.};
    ranks_.maxima(asked);  // all end after the same step
    return {static_cast<int>(asked[0]), asked[1] > 0, asked[2] > 0};
  }

  /// What the simulation finds wrong without a place, such as a steady state that is not there, is wrong with
  /// the case.
  template <class Action>
  void simulate(const Action& action) const {
    try {
      action();
    } catch (const InputErrors&) {
      throw;
    } catch (const InputError& error) {
      throw InputErrors(settings_.location, error.what());
    }
  }

  /// Initial state or checkpoint; gives the moment of the latter.
  std::optional<Moment> start() {
    if (!options_.restart) {
      simulate([&] { simulation_.start(); });
      return std::nullopt;
    }
    const FoundCheckpoint found = find_checkpoint(*options_.restart, ranks_);
    warn(found.notes);
    const Checkpoint& checkpoint = found.checkpoint;
    const std::string path = found.path.string();
    // What all ranks find; resume() may find more on one of them.
    together(ranks_, [&] {
      require_checkpoint_of(simulation_.model(), simulation_.computed_mesh(), checkpoint, path);
      const auto end = simulation_.end_time();
      if (!end) return;
      const Real begin = simulation_.start_time(), round_off = 1e-9 * (*end - begin);
      if (begin - checkpoint.time > round_off) {
        throw InputError(
            fmt::format("{}: the checkpoint is of {:.9g} s, before the start of [time], {:.9g} s; leave the "
                        "start where it was",
                        path, checkpoint.time, begin));
      }
      // The end itself is reached but for round-off.
      if (checkpoint.time - *end > round_off) {
        throw InputError(fmt::format(
            "{}: the checkpoint is of {:.9g} s, after the end of [time], {:.9g} s; set a later end, "
            "or restart from an earlier checkpoint",
            path, checkpoint.time, *end));
      }
    });
    unwritten_since_ = checkpoint.unwritten_since;
    warn(simulation_.resume(checkpoint, path));
    return Moment{checkpoint.step, checkpoint.time, checkpoint.time};
  }

  /// However quiet the run is to be.
  void warn(const std::vector<std::string>& warnings) {
    if (!writes()) return;
    for (const std::string& warning : warnings) progress_.warning(warning);
  }

  void tell(const std::string& conclusion) {
    if (!simulation_.reached_goal()) {
      summary_.reason = conclusion;
      warn({conclusion});
    } else if (!conclusion.empty()) {
      progress_.note(conclusion);
    }
  }

  int go_on(Files& files, bool restarted) {
    report_.times.set_up = Progress::wall_seconds() - program_began_;
    const Real start = simulation_.start_time();
    const ScheduleSettings& output = settings_.output.schedule;
    const ScheduleSettings checkpoints{settings_.output.checkpoint, std::nullopt};
    const bool one_result = simulation_.one_result();
    if (!restarted && !one_result) {
      const Moment begin{simulation_.steps(), simulation_.time(), simulation_.time()};
      const auto snapshot = simulation_.snapshot();
      simulate([&] { write_state(begin, is_due(output, start, begin, false), files, *snapshot); });
    }
    if (restarted) simulate([&] { write_missing(files); });
    if (!simulation_.finished()) warn(simulation_.warnings());
    stop_on_signals();  // what comes before the steps is better ended at once
    progress_.begin_steps(simulation_.time());
    Requests asked;
    while (!simulation_.finished() && asked.stop_status == 0 && !asked.out_of_time &&
           (one_result || !options_.steps || steps_taken_ < *options_.steps)) {
      const Real before = simulation_.time();
      simulate([&] { timer_.time([&] { simulation_.advance(); }); });
      record();
      unwritten_since_ = before;
      warn(simulation_.warnings());
      const std::vector<double> residuals = simulation_.residuals();
      if (files.residuals) files.residuals->write_row(residuals);
      const auto snapshot = simulation_.snapshot();
      if (const auto watched = simulation_.watched()) {
        simulate([&] { simulation_.observe(files.monitors->value(watched->name, *snapshot)); });
      }
      asked = requests();
      const Moment now{simulation_.steps(), simulation_.time(), before};
      const bool at_end = simulation_.finished();
      simulate(
          [&] { write_state(now, is_due(output, start, now, false) || at_end, files, *snapshot, at_end); });
      unwritten_since_.reset();
      if (one_result) continue;
      if (asked.checkpoint || is_due(checkpoints, start, now, false)) checkpoint(files);
      progress_.step(simulation_.steps(), simulation_.time(), simulation_.progress());
    }
    if (!one_result) checkpoint(files);
    const bool done = simulation_.finished() && simulation_.reached_goal();
    summary_.status = done ? RunStatus::Done : RunStatus::Stopped;
    if (asked.out_of_time && !done) {
      const std::string reason =
          fmt::format("[time] wall_limit of {} s is over; the last checkpoint is of step {}",
                      *simulation_.wall_limit(), simulation_.steps());
      if (summary_.reason.empty()) summary_.reason = reason;
      progress_.note(reason);
    }
    return asked.stop_status;
  }

  /// Does what the time of output goes into.
  template <class Action>
  void as_output(const Action& action) {
    const double clock = Progress::wall_seconds();
    action();
    report_.times.output += Progress::wall_seconds() - clock;
  }

  void write_fields_at(const Moment& now, Files& files, Snapshot& snapshot) {
    with_place([&] { files.fields->write(now.step, now.time, simulation_.output_fields(), snapshot); },
               [&](const InputError&) { return settings_.output.fields_location; });
  }

  void write_state(const Moment& now, bool write_fields, Files& files, Snapshot& snapshot,
                   bool at_end = false) {
    as_output([&] {
      // Before the fields, which fill a disk: rows of some monitors cannot be made anew after a restart.
      files.monitors->write(now, write_fields, snapshot, at_end);
      if (write_fields) write_fields_at(now, files, snapshot);
    });
  }

  /// At a restart. Of one from the end the run before may have been on its way to another one, have written
  /// elsewhere, or have had other fields; of another moment it says itself whether it could not write all.
  void write_missing(Files& files) {
    const bool at_end = simulation_.finished();
    if (!at_end && !unwritten_since_) return;
    const Moment now{simulation_.steps(), simulation_.time(), unwritten_since_.value_or(simulation_.time())};
    const bool write_fields =
        at_end || is_due(settings_.output.schedule, simulation_.start_time(), now, false);
    const auto snapshot = simulation_.snapshot();
    as_output([&] {
      files.monitors->write_missing(now, write_fields, *snapshot, at_end);
      if (write_fields) write_fields_at(now, files, *snapshot);
    });
    unwritten_since_.reset();
  }

  void checkpoint(Files& files) {
    as_output([&] {
      // Before it, so that no row is missing after a power failure that a restart from it does not make anew.
      together(ranks_, [&] {
        if (files.residuals) files.residuals->sync();
        files.monitors->sync();
      });
      Checkpoint checkpoint = simulation_.checkpoint();
      checkpoint.unwritten_since = unwritten_since_;
      write_checkpoint(directory_, checkpoint, ranks_);
    });
  }

  void record() {
    ++steps_taken_;
    for (const auto& [name, report] : simulation_.solves()) iterations_[name] += report.iterations;
    if (const auto divergence = simulation_.divergence()) {
      summary_.max_divergence = std::max(summary_.max_divergence.value_or(0), *divergence);
    }
  }

  void write_diverged(Files& files) {
    const auto snapshot = simulation_.snapshot();
    const auto file =
        files.fields->write_diverged(simulation_.time(), simulation_.output_fields(), *snapshot);
    progress_.note(fmt::format("the fields of the moment are in {}", file.string()));
  }

  /// After a step that failed: what the steps before it led to.
  void keep_steps(Files& files) {
    if (!simulation_.one_result() && steps_taken_ > 0) checkpoint(files);
  }

  template <class Action>
  static void where_it_can_be_written(const Action& action) {
    try {
      action();
    } catch (const FileError&) {      // the first failure is the one to tell
    } catch (const SharedFailure&) {  // the same on several ranks
    }
  }

  /// Of a run that has failed.
  void end(RunStatus status, const Files* files) {
    say_how_it_ended(status, failure_of(std::current_exception()));
    where_it_can_be_written([&] { finish(files); });
  }

  void say_how_it_ended(RunStatus status, const Failure& failure) {
    summary_.status = status;
    summary_.reason = fmt::format("{}", fmt::join(failure.messages, "\n"));
  }

  /// A failure of this rank, and as its record what the rank can say of the run without the others.
  LoneFailure alone(Failure failure, const Files& files) {
    Failure told = failure;
    for (std::string& message : told.messages) message = fmt::format("rank {}: {}", ranks_.rank(), message);
    say_how_it_ended(RunStatus::Failed, told);
    sum_up();
    summary_.peak_memory_bytes = peak_memory_bytes();
    summary_.monitors = files.monitors->last_values();
    complete_report(&files);
    failure.record = [directory = directory_, report = report_] {
      try {
        write_summary(directory / "summary.json", report.summary);
        write_report(directory / "report.html", report);
      } catch (const FileError&) {  // the failure is told already
      }
    };
    return LoneFailure(std::move(failure));
  }

  /// What every rank knows by itself.
  void sum_up() {
    const Domain& domain = mesh_.domain();
    const auto steps = static_cast<double>(std::max<std::int64_t>(steps_taken_, 1));
    summary_.case_name = settings_.name;
    summary_.model = simulation_.model();
    summary_.backend = options_.backend;
    summary_.cells = domain.halo<Cell>().total();
    summary_.faces = domain.halo<Face>().total();
    summary_.edges = domain.halo<Edge>().total();
    summary_.nodes = domain.halo<Node>().total();
    summary_.steps = simulation_.steps();
    summary_.time = simulation_.time();
    summary_.wall_seconds = Progress::wall_seconds() - program_began_;
    summary_.seconds_per_step = timer_.per_step();
    for (const auto& [name, count] : iterations_)
      summary_.iterations[name] = static_cast<double>(count) / steps;
    summary_.version = CURLEW_VERSION;
  }

  /// `files`: those of the run; null where it ended before it had any.
  void finish(const Files* files) {
    sum_up();
    summary_.peak_memory_bytes =
        static_cast<std::int64_t>(ranks_.maximum(static_cast<Real>(peak_memory_bytes())));
    if (files != nullptr) {
      summary_.monitors = files->monitors->last_values();
      take_pictures_of_end();  // by all ranks, none of which may wait for one that cannot write
    }
    if (!writes()) return;
    write_summary(directory_ / "summary.json", summary_);
    complete_report(files);
    write_report(directory_ / "report.html", report_);
  }

  void complete_report(const Files* files) {
    report_.summary = summary_;
    report_.times.stepping = timer_.total();
    report_.times.total = Progress::wall_seconds() - program_began_;
    if (files == nullptr) {
      report_.times.set_up = report_.times.total;
    } else {
      report_.residuals = directory_ / "residuals.csv";
      report_.monitors = files->monitors->files();
    }
  }

  void take_pictures_of_end() {
    constexpr std::size_t most_pictures = 4;
    const auto snapshot = simulation_.snapshot();
    for (const FieldDescription& field : simulation_.output_fields()) {
      if (report_.pictures.size() < most_pictures && is_sound(field, *snapshot, ranks_)) {
        report_.pictures.push_back(take_pictures(mesh_, field, snapshot->field(field.name)));
      } else {
        report_.not_shown.push_back(field.name);
      }
    }
  }

  /// As it is now: who edits the file during the run gets what was run.
  std::string text_of_case() const {
    std::error_code ignored;
    const std::filesystem::path path = settings_.location.file;
    if (!std::filesystem::is_regular_file(path, ignored)) return "";  // a pipe has been read
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return std::move(text).str();
  }

  const RunOptions& options_;
  Simulation& simulation_;
  const CaseSettings& settings_;
  const Mesh& mesh_;
  const Communicator& ranks_;
  std::filesystem::path directory_;
  std::optional<DirectoryLock> lock_;  // on the rank that writes
  Progress progress_;
  Summary summary_;
  Report report_;
  std::int64_t steps_taken_ = 0;
  std::optional<double> unwritten_since_;  // as a checkpoint has it
  StepTimer timer_;
  std::map<std::string, std::int64_t> iterations_;  // by solve
  double program_began_;
};

}  // namespace

int run_simulation(const RunOptions& options, Simulation& simulation, int threads, double began) {
  return Run(options, simulation, threads, began).run();
}

int run_case(const RunOptions& options) {
  outlive_signals();
  const std::shared_ptr<const Communicator> ranks = all_ranks();
  require_same(*ranks,
               fmt::format("{} {} {} {}", options.restart.value_or("").string(), options.steps.value_or(-1),
                           options.backend, options.overlap),
               "options of the command line are not those of rank 0; all ranks have to get the same");
  const LoadedCase loaded = load_case(options.case_file, options.overrides, ranks, options.output);
  if (ranks->rank() == 0 && !options.quiet) {  // before what they may be the cause of
    for (const std::string& note : loaded.mesh->notes()) std::cerr << note + '\n' << std::flush;
  }
  for (const std::string& doubt : doubts_about(loaded)) {
    if (ranks->rank() == 0) std::cerr << "warning: " + doubt + '\n' << std::flush;
  }
  std::optional<Executor> executor;
  together(*ranks, [&] {
    executor = make_executor(options.backend, options.threads, ranks);
    if (!options.overlap) executor = executor->without_overlap();
  });
  together(*ranks, [&] { require_device_memory(*executor, loaded); });
  try {
    return run_simulation(options, *make_simulation(*executor, loaded), executor->threads(), 0);
  } catch (const DivergedError&) {
    // Sums over all ranks decide on it: all come here.
    if (ranks->ranks() > 1) throw SharedFailure(failure_of(std::current_exception()));
    throw;
  }
}

}  // namespace curlew
