// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/case/case_settings.hpp"
#include "app/simulation/schedule.hpp"
#include "physics/flow/incompressible_flow.hpp"
#include "physics/monitors.hpp"

namespace curlew {

/// What the monitors of a run look at. They ask only for what they need when it is due, and several may ask
/// for the same: costly values should be kept until the next step.
class Snapshot {
 public:
  virtual ~Snapshot() = default;
  /// A field that the model offers, on the host; of a rank's part of a mesh with its ghosts.
  virtual FieldSnapshot field(const std::string& name) = 0;
  /// The same in some cells that the rank owns, with all that makes it better at points of these.
  virtual FieldSample field_in(const std::string& name, const ChosenCells& cells) {
    return sample(field(name), cells);
  }
  /// The model's flow out of the domain, one number per patch of the mesh.
  virtual std::span<const Real> patch_flows() = 0;
};

/// What the monitors of a flow look at besides.
class FlowSnapshot : public Snapshot {
 public:
  virtual Real density() = 0;  ///< [kg/m3]
  /// One entry per boundary face of the mesh that results are shown on.
  virtual const IncompressibleFlow::BoundaryForces& boundary_forces() = 0;
  virtual IncompressibleFlow::EnergyBudget energy_budget() = 0;
};

/// What a monitor has written.
struct MonitorFile {
  std::string name;            ///< of the monitor
  std::filesystem::path path;  ///< its table with a row a time; of a line the last one that it has written
  bool is_line = false;
};

/// What a column of a monitor has at some time.
struct ColumnValue {
  double value;
  double scale;  ///< the largest magnitude among the monitor's columns of the same unit
};

/// The monitors of a run and their CSV files in the output directory: NAME.csv with a row a time, for lines
/// NAME_<step>.csv. On several ranks all calls are made by all ranks together; all know the values, rank 0
/// writes the files.
class MonitorFiles {
 public:
  /// Touches no file yet. `start` [s]: of the run, from which intervals count. The mesh must outlive it.
  /// Throws InputErrors for all points outside the mesh and all regions and patches that it does not have.
  MonitorFiles(const Mesh& mesh, std::span<const MonitorSettings> settings, Real start,
               const std::filesystem::path& directory);
  ~MonitorFiles();

  /// A sentence for each line that leaves the mesh.
  const std::vector<std::string>& doubts() const { return doubts_; }

  /// Throws as require_same_head() does for a file that a restart would continue.
  void require_continuable() const;
  /// Creates the files in the directory, which is there, or where a run goes on from `restart` continues
  /// them; those of lines that this run replaces are removed. To be called before write(). Throws as
  /// CsvWriter does.
  void open(const std::optional<Moment>& restart = std::nullopt);

  /// Names of the files in the directory that monitors which this run does not have have left there, sorted.
  std::vector<std::string> files_of_others() const;

  /// To be called for every state of the run, the initial one included; a steady run has one. Writes what is
  /// due, at the end of the run everything; throws as CsvWriter does. `fields_are_written`: this is an output
  /// time, when lines without a schedule of their own are due.
  void write(const Moment& moment, bool fields_are_written, Snapshot& snapshot, bool at_end = false);

  /// Of a run that goes on from a moment whose rows may be missing: as write(), but of series only what is
  /// not there yet.
  void write_missing(const Moment& moment, bool fields_are_written, Snapshot& snapshot, bool at_end);
  /// Returns once all rows are on the disk.
  void sync();

  /// The present value of "MONITOR.COLUMN". Throws InputError for one that is not there, naming those that
  /// are.
  ColumnValue value(const std::string& column, Snapshot& snapshot) const { return find(column)(snapshot); }
  /// Throws InputErrors where value() would throw.
  void require(const NamedReference& column) const;

  /// What was last written, at a restart by the runs before it, by monitor and column (lines, which are
  /// tables, left out).
  const std::map<std::string, std::map<std::string, double>>& last_values() const { return last_values_; }
  /// After open(): those that are there, those of runs before a restart included.
  std::vector<MonitorFile> files() const;

 private:
  struct Monitor;

  bool writes() const;  // this rank
  bool is_due(const Monitor& monitor, const Moment& moment, bool fields_are_written, bool at_end) const;
  void write(Monitor& monitor, const Moment& moment, Snapshot& snapshot);
  /// Whether a series has a row of a moment; on the rank that writes.
  static bool has_row(const Monitor& monitor, const Moment& moment);
  std::function<ColumnValue(Snapshot&)> find(const std::string& column) const;
  /// Takes a row of a monitor's file, with the time, for what was last written.
  void remember(const Monitor& monitor, std::span<const double> row);

  Real start_;  // [s]
  std::filesystem::path directory_;
  const Communicator& ranks_;
  std::vector<Monitor> monitors_;
  std::vector<std::string> doubts_;
  std::map<std::string, std::map<std::string, double>> last_values_;
};

}  // namespace curlew
