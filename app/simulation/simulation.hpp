// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/case/case_settings.hpp"
#include "app/command_line.hpp"
#include "app/output/checkpoint.hpp"
#include "app/output/csv_writer.hpp"
#include "app/output/monitor_files.hpp"
#include "app/output/progress.hpp"
#include "mesh/mesh.hpp"
#include "physics/run_state.hpp"
#include "solvers/linear_solver.hpp"

namespace curlew {

/// A run of some model as the run loop sees it: it goes on step by step and tells about itself. On several
/// ranks all calls are made by all ranks together.
class Simulation {
 public:
  virtual ~Simulation() = default;

  virtual const std::string& model() const = 0;  ///< [model] type
  /// The mesh that results are shown on, whose nodes have positions.
  virtual const Mesh& mesh() const = 0;
  /// The one that is computed on, which periodic patches may have been joined in.
  virtual const Mesh& computed_mesh() const = 0;
  virtual const CaseSettings& settings() const = 0;
  virtual Real start_time() const = 0;                 ///< [s]
  virtual std::optional<Real> end_time() const = 0;    ///< [s]; nothing where only the results decide
  virtual std::optional<Real> wall_limit() const = 0;  ///< of the program's wall-clock time [s]
  /// The steady state is solved for at once: there is one result, and nothing in between.
  virtual bool one_result() const = 0;

  /// Starts from the initial state of the case.
  virtual void start() = 0;
  /// Starts from a checkpoint instead, to go on to the same bits. Throws InputError, naming `path`, where it
  /// was written by another model, on another mesh, or does not fit the case. On several ranks each has its
  /// slabs of the arrays. Returns a sentence for each result that is not what it would be without the
  /// restart.
  virtual std::vector<std::string> resume(const Checkpoint& checkpoint, const std::string& path) = 0;
  /// Of the present state, to be written before the next step.
  virtual Checkpoint checkpoint() const = 0;

  virtual Real time() const = 0;           ///< [s]
  virtual std::int64_t steps() const = 0;  ///< taken so far, those before a restart included
  /// Whether there is nothing left to do.
  virtual bool finished() const = 0;
  /// Whether a run that is finished reached what it was to reach.
  virtual bool reached_goal() const = 0;
  /// One step in time, or the steady solve.
  virtual void advance() = 0;
  /// Whether the state before an advance() that diverged, to which any that throws goes back, is to be kept.
  virtual bool sound_before_divergence() const = 0;
  /// "MONITOR.COLUMN" that observe() is to be told of after each step; nothing: none.
  virtual std::optional<NamedReference> watched() const = 0;
  virtual void observe(const ColumnValue& column) = 0;

  // Of the last step, or of the start:
  virtual std::map<std::string, SolveReport> solves() const = 0;  ///< by name
  virtual std::optional<Real> divergence() const = 0;  ///< largest, relative; nothing without a velocity
  virtual std::vector<double> residuals() const = 0;   ///< a row of residuals.csv
  virtual std::vector<ProgressItem> progress() const = 0;
  /// A sentence for each thing that is the first to give reason to warn of.
  virtual std::vector<std::string> warnings() { return {}; }

  virtual std::vector<CsvColumn> residual_columns() const = 0;
  /// What each file of fields holds.
  virtual std::vector<FieldDescription> output_fields() const = 0;
  /// The present state, to be used before the next step.
  virtual std::unique_ptr<Snapshot> snapshot() const = 0;
  /// What there is to say at the end; empty: nothing.
  virtual std::string conclusion() const = 0;
};

/// Runs a simulation from its start, or the checkpoint that the options name, to its end, and writes all
/// that the case asks for. `threads`: for the summary; `began`: the wall_seconds() from which its time
/// counts. Returns the exit status; throws what the simulation throws, with the results so far in place. On
/// several ranks rank 0 tells and writes what is small, and what it throws on one of them alone must end the
/// others.
int run_simulation(const RunOptions& options, Simulation& simulation, int threads,
                   double began = Progress::wall_seconds());

/// A checkpoint of a model's run on a mesh (with periodic patches joined), to which the model may add.
Checkpoint make_checkpoint(const std::string& model, const Mesh& mesh, RunState state);
/// The reverse, what has been added included.
RunState state_in(const Checkpoint& checkpoint);
/// Throws InputError, naming `path`, unless a checkpoint is of that model and mesh.
void require_checkpoint_of(const std::string& model, const Mesh& mesh, const Checkpoint& checkpoint,
                           const std::string& path);

}  // namespace curlew
