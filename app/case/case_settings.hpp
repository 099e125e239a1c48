// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/case/case_file.hpp"
#include "app/case/mesh_settings.hpp"
#include "app/diagnostics.hpp"
#include "kernels/vector3.hpp"
#include "solvers/linear_solver.hpp"

namespace curlew {

/// A field that can be written or monitored.
struct FieldDescription {
  std::string name;  ///< as users write it
  std::string unit;  ///< SI; "1" for a pure number
  int components;    ///< 1 or 3
  bool operator==(const FieldDescription&) const = default;
};

/// What flows through patches in a model.
struct FlowDescription {
  std::string field;                  ///< what carries it, as users write it
  std::string unit, unit_in_a_plane;  ///< of the flow through a patch; in two dimensions per unit depth
  bool operator==(const FlowDescription&) const = default;
};

/// What a model can write and monitor.
struct ModelOffer {
  std::vector<FieldDescription> fields;
  std::size_t default_fields = 1;  ///< so many of the first are written where none is named
  FlowDescription flow;
  std::vector<std::string> monitors;  ///< types of monitors out of all there are, as users write them
  std::size_t averaged_fields = 0;    ///< of so many of the first fields there are means in time
};

/// When something is written: at most one of the two is set; neither: the default of what is scheduled.
struct ScheduleSettings {
  std::optional<Real> interval;       ///< [s]
  std::optional<std::int64_t> every;  ///< [steps]
};

/// [output]
struct OutputSettings {
  std::filesystem::path directory;  ///< ready to use; the case file's own folder is the base of relative ones
  Location directory_location;      ///< in the case file
  ScheduleSettings schedule;        ///< neither: the end of the run only
  std::vector<FieldDescription> fields;
  Location fields_location;        ///< in the case file
  std::optional<Real> checkpoint;  ///< time between checkpoints [s]; nothing: none but the last
};

/// Values at points.
struct ProbeSettings {
  std::vector<Vector3> points;  ///< [m]
  std::vector<FieldDescription> fields;
};

/// Values at points spaced evenly from end to end, both included.
struct LineSettings {
  Vector3 from, to;        ///< [m], different
  std::int64_t count = 2;  ///< points, at least 2
  std::vector<FieldDescription> fields;
};

/// Smallest and largest value and where.
struct ExtremaSettings {
  std::vector<FieldDescription> fields;
};

/// Volume mean.
struct AverageSettings {
  std::vector<FieldDescription> fields;
  std::optional<NamedReference> region;  ///< nothing: the whole domain
};

/// Flow out of the domain through patches.
struct FluxSettings {
  std::vector<NamedReference> patches;
  FlowDescription flow;
};

/// Force and moment of the fluid on patches.
struct ForcesSettings {
  /// What makes coefficients of forces: force / (1/2 density velocity^2 area).
  struct Reference {
    Real velocity = 0;           ///< [m/s], positive
    Real area = 0;               ///< [m2]; [m] in two dimensions; positive
    std::optional<Real> length;  ///< makes coefficients of moments too [m], positive
  };
  std::vector<NamedReference> patches;
  Vector3 origin;  ///< of the moment [m]
  std::optional<Reference> reference;
};

/// Kinetic energy and its budget.
struct EnergySettings {};

/// Means in time, written with the fields as NAME_<field>.
struct TimeAverageSettings {
  std::vector<FieldDescription> fields;
  std::optional<Real> start;  ///< time to begin at [s]; nothing: with the run
};

/// [monitor.NAME]
struct MonitorSettings {
  std::string name;  ///< fit for a file name
  Location location;
  ScheduleSettings schedule;  ///< neither: every step, for lines the output times
  std::variant<ProbeSettings, LineSettings, ExtremaSettings, AverageSettings, FluxSettings, ForcesSettings,
               EnergySettings, TimeAverageSettings>
      what;
  bool sound = true;  ///< nothing was wrong with it when it was read
};

/// [solver.NAME]
struct SolverSettings {
  Real tolerance = 1e-10;  ///< relative, on the l2 norm of the residual
  int max_iterations = 10000;
  Preconditioning preconditioner = Preconditioning::Multigrid;
};

/// [time] as far as all models share it.
struct TimeSettings {
  bool steady = false;             ///< the steady state is what is asked for
  Location steady_location;        ///< in the case file
  Real start = 0;                  ///< [s]
  Real end = 0;                    ///< [s], after start
  Real step = 0;                   ///< [s]
  std::optional<Real> wall_limit;  ///< wall-clock time after which the run stops [s]
};

/// What every model's case says.
struct CaseSettings {
  Location location;  ///< the file
  std::string name;   ///< [case] name; without it the name of the file
  MeshSettings mesh;
  OutputSettings output;
  std::vector<MonitorSettings> monitors;
  std::vector<std::filesystem::path> tables;  ///< that were read, ready to open
};

// Readers of the parts that models share. As all of Section: what is wrong is reported, and what is concerned
// keeps its default.

/// A getter's value goes to its member, or the member keeps its default.
template <class T, class U>
void assign(T& member, std::optional<U> value) {
  if (value) member = static_cast<T>(*std::move(value));
}

/// [model] type, or what a misspelt one stands for, or without one the model whose [fluid] or [material] is
/// there. Throws what was found so far when the file is of no model that is there: judging the rest by
/// another model's keys would bury this one error.
std::string read_model_type(const Section& root, Diagnostics& diagnostics);

/// [case], [mesh], [output], [monitor.*]; relative paths start at `folder`.
/// `one_result`: the run has no times in between, and schedules are errors.
CaseSettings read_case_settings(const Section& root, Location location, const std::filesystem::path& folder,
                                const ModelOffer& offer, bool one_result, Diagnostics& diagnostics);

/// `steady` of [time] into `time`. Returns whether keys that a transient case must have are missed where they
/// are absent: not where nobody knows whether the case is one.
bool read_steady(const Section& section, TimeSettings& time);

/// `start` and `end` of [time], which must come after it.
void read_start_and_end(const Section& section, TimeSettings& time, bool end_required);

/// The length of a time step or of the longest one, at `key` of [time]; not longer than the run from start to
/// end, where `end` is after `start`, and long enough for times to tell steps apart.
std::optional<Real> read_step(const Section& section, std::string_view key, const TimeSettings& time,
                              bool required);

/// `wall_limit` of [time].
std::optional<Real> read_wall_limit(const Section& section);

/// Reports each of `keys` in [time] as a contradiction to steady = true.
void refuse_with_steady(const Section& section, std::span<const char* const> keys);

/// [solver.NAME] into `solver`, which holds the defaults.
void read_solver(const Section& root, std::string_view name, SolverSettings& solver);

/// An expression that a steady case cannot have depend on time.
Expression read_expression(const Section& section, std::string_view key, Rule rule, bool steady);

/// Reports what a case names and the mesh does not have, and the other way round.
class MeshNames {
 public:
  /// All must outlive it.
  MeshNames(std::span<const std::string> patches, std::span<const std::string> regions,
            Diagnostics& diagnostics)
      : patches_(patches), regions_(regions), diagnostics_(diagnostics) {}

  void check_patch(const NamedReference& patch) const;
  void check_region(const NamedReference& region) const;
  /// The patches and regions that monitors name.
  void check_monitors(std::span<const MonitorSettings> monitors) const;
  /// Reports each patch of the mesh that `named` leaves out and does not misspell: "every patch needs
  /// `needs`".
  void require_all_patches(std::span<const NamedReference> named, const Location& case_file,
                           std::string_view needs) const;
  /// The same for regions.
  void require_all_regions(std::span<const NamedReference> named, const Location& case_file,
                           std::string_view needs) const;

 private:
  std::span<const std::string> patches_, regions_;
  Diagnostics& diagnostics_;
};

}  // namespace curlew
