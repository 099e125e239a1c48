// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/monitor_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <system_error>
#include <type_traits>

#include "app/files/step_files.hpp"
#include "app/output/csv_writer.hpp"
#include "physics/flow/flow_monitors.hpp"

namespace curlew {

namespace {

using Columns = std::vector<CsvColumn>;

void append(Columns& columns, Columns more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

/// What a monitor writes: columns, and the values in them of one time (a row; for a line several).
struct MonitorTable {
  Columns columns;
  std::function<std::vector<double>(Snapshot&)> values;
  std::string doubt = {};   // about the values; empty: none
  std::string source = {};  // of the values, as CsvWriter has it
};

std::string text_of(const Vector3& x) {
  return fmt::format("({}, {}, {})", x.x, x.y, x.z);
}

std::string text_of(const std::vector<NamedReference>& names) {
  std::string text;
  for (const NamedReference& reference : names)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", reference.name);
  return text;
}

/// Point by point its position, if asked for, and its values of all fields.
std::vector<double> at_points(const PointSampler& sampler, const std::vector<FieldDescription>& fields,
                              bool with_positions, Snapshot& snapshot) {
  std::vector<std::vector<Real>> samples;
  for (const FieldDescription& field : fields)
    samples.push_back(sampler(snapshot.field_in(field.name, sampler.cells())));
  std::vector<double> values;
  for (std::size_t k = 0; k < sampler.points().size(); ++k) {
    const Vector3 x = sampler.points()[k];
    if (with_positions) values.insert(values.end(), {x.x, x.y, x.z});
    for (std::size_t f = 0; f < fields.size(); ++f) {
      const int count = fields[f].components;
      const auto first = samples[f].begin() + static_cast<std::ptrdiff_t>(k) * count;
      values.insert(values.end(), first, first + count);
    }
  }
  return values;
}

/// Turns the settings of one monitor into its table.
class TableMaker {
 public:
  explicit TableMaker(const Mesh& mesh) : mesh_(mesh) {}

  MonitorTable operator()(const std::string& name, const ProbeSettings& probe) {
    MonitorTable table;
    for (std::size_t k = 0; k < probe.points.size(); ++k) {
      table.source += fmt::format("{}p{} at {}", k == 0 ? "" : ", ", k, text_of(probe.points[k]));
      for (const FieldDescription& field : probe.fields) {
        append(table.columns,
               field_columns(fmt::format("p{}_{}", k, field.name), field.unit, field.components));
      }
    }
    table.values = [sampler = PointSampler::at_points(locator(), name, probe.points), fields = probe.fields](
                       Snapshot& snapshot) { return at_points(sampler, fields, false, snapshot); };
    return table;
  }

  MonitorTable operator()(const std::string& name, const LineSettings& line) {
    MonitorTable table{{{"x", "m"}, {"y", "m"}, {"z", "m"}}, {}};
    for (const FieldDescription& field : line.fields)
      append(table.columns, field_columns(field.name, field.unit, field.components));
    auto sampler = PointSampler::on_line(locator(), name, line.from, line.to, line.count);
    if (const std::string doubt = sampler.doubt(); !doubt.empty())
      table.doubt = fmt::format("monitor '{}': {}; there its values are not-a-number", name, doubt);
    table.values = [sampler = std::move(sampler), fields = line.fields](Snapshot& snapshot) {
      return at_points(sampler, fields, true, snapshot);
    };
    return table;
  }

  MonitorTable operator()(const std::string&, const ExtremaSettings& settings) {
    MonitorTable table;
    for (const FieldDescription& field : settings.fields) {
      Columns quantities = field_columns(field.name, field.unit, field.components);
      if (quantities.size() > 1) quantities.push_back({field.name + "_magnitude", field.unit});
      for (const CsvColumn& quantity : quantities) {
        for (const char* which : {"_min", "_max"}) {
          table.columns.push_back({quantity.name + which, quantity.unit});
          append(table.columns, field_columns(quantity.name + which, "m", 3));
        }
      }
    }
    table.values = [&mesh = mesh_, fields = settings.fields](Snapshot& snapshot) {
      std::vector<double> values;
      for (const FieldDescription& field : fields) {
        for (const Extrema& pair : extrema(mesh, snapshot.field(field.name))) {
          for (const auto& [value, x] : {pair.min, pair.max})
            values.insert(values.end(), {value, x.x, x.y, x.z});
        }
      }
      return values;
    };
    return table;
  }

  MonitorTable operator()(const std::string& name, const AverageSettings& settings) {
    MonitorTable table;
    for (const FieldDescription& field : settings.fields)
      append(table.columns, field_columns(field.name, field.unit, field.components));
    std::optional<std::string> region;
    if (settings.region) {
      region = settings.region->name;
      table.source = fmt::format("in \"{}\"", *region);
    }
    table.values = [average = VolumeAverage(mesh_, name, region),
                    fields = settings.fields](Snapshot& snapshot) {
      std::vector<double> values;
      for (const FieldDescription& field : fields) {
        const std::vector<Real> mean = average(snapshot.field(field.name));
        values.insert(values.end(), mean.begin(), mean.end());
      }
      return values;
    };
    return table;
  }

  MonitorTable operator()(const std::string& name, const FluxSettings& flux) {
    const std::string& unit = mesh_.topology().dimension() == 2 ? flux.flow.unit_in_a_plane : flux.flow.unit;
    MonitorTable table;
    const std::vector<std::size_t> chosen = patches(name, flux.patches);
    for (const NamedReference& patch : flux.patches) table.columns.push_back({patch.name, unit});
    table.columns.push_back({"total", unit});
    table.values = [chosen](Snapshot& snapshot) {
      const std::span<const Real> flows = snapshot.patch_flows();
      std::vector<double> values;
      double total = 0;
      for (const std::size_t patch : chosen) {
        values.push_back(flows[patch]);
        total += flows[patch];
      }
      values.push_back(total);
      return values;
    };
    return table;
  }

  MonitorTable operator()(const std::string& name, const ForcesSettings& settings) {
    const bool plane = mesh_.topology().dimension() == 2;
    const char *force = plane ? "N/m" : "N", *moment = plane ? "N" : "N m";
    MonitorTable table;
    for (const char* column : {"fx", "fy", "fz"}) table.columns.push_back({column, force});
    append(table.columns, field_columns("pressure", force, 3));
    append(table.columns, field_columns("viscous", force, 3));
    for (const char* column : {"mx", "my", "mz"}) table.columns.push_back({column, moment});
    table.source = fmt::format("on {}, about {}", text_of(settings.patches), text_of(settings.origin));
    const auto& reference = settings.reference;
    if (reference) {
      table.source += fmt::format(", with velocity {} m/s, area {} {}", reference->velocity, reference->area,
                                  plane ? "m" : "m2");
      if (reference->length) table.source += fmt::format(", length {} m", *reference->length);
      for (const char* column : {"cx", "cy", "cz"}) table.columns.push_back({column, "1"});
      if (reference->length) append(table.columns, field_columns("cm", "1", 3));
    }
    table.values = [&mesh = mesh_, chosen = patches(name, settings.patches), origin = settings.origin,
                    reference](Snapshot& snapshot) {
      auto& flow = dynamic_cast<FlowSnapshot&>(snapshot);
      const BodyForces body = forces_on_patches(mesh, flow.density(), flow.boundary_forces(), chosen, origin);
      std::vector<Vector3> vectors{body.force(), body.pressure, body.viscous, body.moment};
      if (reference) {
        const ForceCoefficients coefficients = force_coefficients(
            body, {flow.density(), reference->velocity, reference->area, reference->length.value_or(1)});
        vectors.push_back(coefficients.force);
        if (reference->length) vectors.push_back(coefficients.moment);
      }
      std::vector<double> values;
      for (const Vector3 v : vectors) values.insert(values.end(), {v.x, v.y, v.z});
      return values;
    };
    return table;
  }

  MonitorTable operator()(const std::string&, const EnergySettings&) {
    const bool plane = mesh_.topology().dimension() == 2;
    MonitorTable table;
    for (const char* column : energy_columns) {
      const bool energy = table.columns.empty();  // the others are powers
      table.columns.push_back({column, energy ? (plane ? "J/m" : "J") : (plane ? "W/m" : "W")});
    }
    table.values = [](Snapshot& snapshot) {
      auto& flow = dynamic_cast<FlowSnapshot&>(snapshot);
      const auto values = energy_values(flow.energy_budget(), flow.density());
      return std::vector<double>(values.begin(), values.end());
    };
    return table;
  }

 private:
  /// Made for the first monitor that looks at points.
  const PointLocator& locator() {
    if (!locator_) locator_.emplace(mesh_);
    return *locator_;
  }

  /// Where the patches named are among the mesh's.
  std::vector<std::size_t> patches(const std::string& monitor,
                                   const std::vector<NamedReference>& references) const {
    const std::vector<Patch>& all = mesh_.topology().patches();
    std::vector<std::size_t> positions;
    for (const NamedReference& reference : references) {
      const auto patch = std::ranges::find(all, reference.name, &Patch::name);
      if (patch == all.end()) {
        std::vector<std::string> valid;
        for (const Patch& known : all) valid.push_back(known.name);
        throw InputError(fmt::format("monitor '{}': the mesh has no patch \"{}\"{}", monitor, reference.name,
                                     suggestion(reference.name, valid, "patches of the mesh")));
      }
      positions.push_back(static_cast<std::size_t>(patch - all.begin()));
    }
    return positions;
  }

  const Mesh& mesh_;
  std::optional<PointLocator> locator_;
};

ColumnValue value_of(const MonitorTable& table, std::size_t column, Snapshot& snapshot) {
  const std::vector<double> values = table.values(snapshot);
  ColumnValue result{values[column], 0};
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (table.columns[k].unit == table.columns[column].unit)
      result.scale = std::max(result.scale, std::abs(values[k]));
  }
  return result;
}

/// By its first line.
bool is_of_monitor(const std::filesystem::path& table) {
  std::ifstream file(table);
  std::string line;
  return read_whole_line(file, line) &&
         (line.starts_with("# units: time [s]") || line.starts_with("# time = "));
}

}  // namespace

struct MonitorFiles::Monitor {
  Location location;  ///< in the case file
  std::string name;
  ScheduleSettings schedule;
  MonitorTable table;
  std::unique_ptr<CsvWriter> series;  // null for a line, and where another rank writes
  bool is_series;                     // else a line, which has a file a time

  std::filesystem::path file_in(const std::filesystem::path& directory) const {
    return directory / (name + ".csv");
  }
  std::filesystem::path file_in(const std::filesystem::path& directory, std::int64_t step) const {
    return directory / fmt::format("{}_{}.csv", name, step);
  }
  Columns columns_of_file() const {
    Columns columns{{"time", "s"}};
    append(columns, table.columns);
    return columns;
  }
};

MonitorFiles::MonitorFiles(const Mesh& mesh, std::span<const MonitorSettings> settings, Real start,
                           const std::filesystem::path& directory)
    : start_(start), directory_(directory), ranks_(mesh.domain().communicator()) {
  Diagnostics diagnostics;
  TableMaker make_table(mesh);
  for (const MonitorSettings& monitor : settings) {
    const auto make = [&](const auto& what) {
      if constexpr (!std::is_same_v<decltype(what), const TimeAverageSettings&>) {  // which are fields
        monitors_.push_back({monitor.location, monitor.name, monitor.schedule, make_table(monitor.name, what),
                             nullptr, !std::is_same_v<decltype(what), const LineSettings&>});
        if (const std::string& doubt = monitors_.back().table.doubt; !doubt.empty())
          doubts_.push_back(Diagnostic{monitor.location, doubt}.text());
      }
    };
    try {
      std::visit(make, monitor.what);
    } catch (const InputError& error) {
      diagnostics.error(monitor.location, error.what());
    }
  }
  diagnostics.throw_if_any();
}

MonitorFiles::~MonitorFiles() = default;

bool MonitorFiles::writes() const {
  return ranks_.rank() == 0;
}

void MonitorFiles::require_continuable() const {
  for (const Monitor& monitor : monitors_) {
    if (monitor.is_series && writes())
      require_same_head(monitor.file_in(directory_), monitor.columns_of_file(), monitor.table.source);
  }
}

void MonitorFiles::open(const std::optional<Moment>& restart) {
  if (!writes()) return;
  for (Monitor& monitor : monitors_) {
    if (!monitor.is_series) {
      for (const auto& [step, file] : files_by_step(directory_, monitor.name + "_", ".csv")) {
        std::error_code ignored;  // it is in the way of nobody
        if (!restart || step > restart->step) std::filesystem::remove(file, ignored);
      }
      continue;
    }
    const auto restart_time = restart ? std::optional(restart->time) : std::nullopt;
    monitor.series = std::make_unique<CsvWriter>(monitor.file_in(directory_), monitor.columns_of_file(),
                                                 restart_time, monitor.table.source);
    remember(monitor, monitor.series->last_row());
  }
}

std::vector<std::string> MonitorFiles::files_of_others() const {
  const auto is_ours = [&](const std::string& name) {
    return std::ranges::any_of(monitors_, [&](const Monitor& monitor) {
      return monitor.is_series ? name == monitor.name + ".csv"
                               : step_in(name, monitor.name + "_", ".csv").has_value();
    });
  };
  std::vector<std::string> names;
  std::error_code ignored;  // what cannot be looked at is not told of
  for (const auto& entry : std::filesystem::directory_iterator(directory_, ignored)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".csv" || !entry.is_regular_file(ignored) || is_ours(name)) continue;
    if (is_of_monitor(entry.path())) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void MonitorFiles::remember(const Monitor& monitor, std::span<const double> row) {
  const Columns columns = monitor.columns_of_file();
  if (row.size() != columns.size()) return;  // a file without rows yet
  auto& last = last_values_[monitor.name];
  for (std::size_t k = 0; k < row.size(); ++k) last[columns[k].name] = row[k];
}

void MonitorFiles::write(const Moment& moment, bool fields_are_written, Snapshot& snapshot, bool at_end) {
  for (Monitor& monitor : monitors_) {
    if (is_due(monitor, moment, fields_are_written, at_end)) write(monitor, moment, snapshot);
  }
}

bool MonitorFiles::is_due(const Monitor& monitor, const Moment& moment, bool fields_are_written,
                          bool at_end) const {
  return at_end || curlew::is_due(monitor.schedule, start_, moment, monitor.is_series || fields_are_written);
}

void MonitorFiles::write(Monitor& monitor, const Moment& moment, Snapshot& snapshot) {
  std::vector<double> values;
  with_place([&] { values = monitor.table.values(snapshot); },
             [&](const InputError&) { return monitor.location; });
  if (!monitor.is_series) {
    if (writes()) {
      write_csv(monitor.file_in(directory_, moment.step), moment.time, monitor.table.columns, values);
    }
    return;
  }
  values.insert(values.begin(), moment.time);
  remember(monitor, values);
  if (monitor.series) monitor.series->write_row(values);
}

bool MonitorFiles::has_row(const Monitor& monitor, const Moment& moment) {
  return monitor.is_series && !monitor.series->last_row().empty() &&
         monitor.series->last_row().front() == moment.time;
}

void MonitorFiles::write_missing(const Moment& moment, bool fields_are_written, Snapshot& snapshot,
                                 bool at_end) {
  for (Monitor& monitor : monitors_) {
    if (!is_due(monitor, moment, fields_are_written, at_end)) continue;
    const bool there = writes() && has_row(monitor, moment);
    if (ranks_.maximum(there ? 1 : 0) == 0) write(monitor, moment, snapshot);  // which all ranks do together
  }
}

void MonitorFiles::sync() {
  for (Monitor& monitor : monitors_) {
    if (monitor.series) monitor.series->sync();
  }
}

std::vector<MonitorFile> MonitorFiles::files() const {
  std::vector<MonitorFile> files;
  for (const Monitor& monitor : monitors_) {
    if (monitor.is_series) {
      files.push_back({monitor.name, monitor.file_in(directory_), false});
      continue;
    }
    const auto by_step = files_by_step(directory_, monitor.name + "_", ".csv");
    if (!by_step.empty()) files.push_back({monitor.name, by_step.rbegin()->second, true});
  }
  return files;
}

void MonitorFiles::require(const NamedReference& column) const {
  try {
    find(column.name);
  } catch (const InputError& error) {
    throw InputErrors(column.location, error.what());
  }
}

std::function<ColumnValue(Snapshot&)> MonitorFiles::find(const std::string& column) const {
  std::vector<std::string> of_all, of_named;
  for (const Monitor& monitor : monitors_) {
    if (!monitor.is_series) continue;
    const Columns& columns = monitor.table.columns;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const std::string name = monitor.name + "." + columns[k].name;
      if (name == column)
        return [&table = monitor.table, k](Snapshot& snapshot) { return value_of(table, k, snapshot); };
      of_all.push_back(name);
      if (column.starts_with(monitor.name + ".")) of_named.push_back(name);
    }
  }
  throw InputError(
      fmt::format("no monitor writes \"{}\"{}", column,
                  suggestion(column, of_named.empty() ? of_all : of_named, "columns of monitors")));
}

}  // namespace curlew
