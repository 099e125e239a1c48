// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/monitor_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "app/csv_writer.hpp"

namespace curlew {

namespace {

using Columns = std::vector<CsvColumn>;

void append(Columns& columns, Columns more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

/// What a monitor writes: columns, and the values in them of one time (a row; for a line several).
struct Table {
  Columns columns;
  std::function<std::vector<double>(Snapshot&)> values;
};

/// Point by point its position, if asked for, and its values of all fields.
std::vector<double> sample(const PointSampler& sampler, const std::vector<FieldDescription>& fields,
                           bool with_positions, Snapshot& snapshot) {
  std::vector<std::vector<Real>> samples;
  for (const FieldDescription& field : fields) samples.push_back(sampler(snapshot.field(field.name)));
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

  Table operator()(const std::string& name, const ProbeSettings& probe) {
    Table table;
    for (std::size_t k = 0; k < probe.points.size(); ++k) {
      for (const FieldDescription& field : probe.fields) {
        append(table.columns,
               field_columns(fmt::format("p{}_{}", k, field.name), field.unit, field.components));
      }
    }
    table.values = [sampler = PointSampler::at_points(locator(), name, probe.points), fields = probe.fields](
                       Snapshot& snapshot) { return sample(sampler, fields, false, snapshot); };
    return table;
  }

  Table operator()(const std::string& name, const LineSettings& line) {
    Table table{{{"x", "m"}, {"y", "m"}, {"z", "m"}}, {}};
    for (const FieldDescription& field : line.fields)
      append(table.columns, field_columns(field.name, field.unit, field.components));
    table.values = [sampler = PointSampler::on_line(locator(), name, line.from, line.to, line.count),
                    fields = line.fields](Snapshot& snapshot) {
      return sample(sampler, fields, true, snapshot);
    };
    return table;
  }

  Table operator()(const std::string&, const ExtremaSettings& settings) {
    Table table;
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

  Table operator()(const std::string& name, const AverageSettings& settings) {
    Table table;
    for (const FieldDescription& field : settings.fields)
      append(table.columns, field_columns(field.name, field.unit, field.components));
    std::optional<std::string> region;
    if (settings.region) region = settings.region->name;
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

  Table operator()(const std::string& name, const FluxSettings& flux) {
    const std::string& unit = mesh_.topology().dimension() == 2 ? flux.flow.unit_in_a_plane : flux.flow.unit;
    const std::vector<Patch>& patches = mesh_.topology().patches();
    Table table;
    std::vector<std::size_t> chosen;
    for (const NamedReference& reference : flux.patches) {
      const auto patch = std::ranges::find(patches, reference.name, &Patch::name);
      if (patch == patches.end()) {
        std::vector<std::string> valid;
        for (const Patch& known : patches) valid.push_back(known.name);
        throw InputError(fmt::format("monitor '{}': the mesh has no patch \"{}\"{}", name, reference.name,
                                     suggestion(reference.name, valid, "patches of the mesh")));
      }
      chosen.push_back(static_cast<std::size_t>(patch - patches.begin()));
      table.columns.push_back({reference.name, unit});
    }
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

  template <class OfAnotherModel>
  Table operator()(const std::string& name, const OfAnotherModel&) {
    throw Error(fmt::format("monitor '{}' is of a type that this model does not offer", name));
  }

 private:
  /// Made for the first monitor that looks at points.
  const PointLocator& locator() {
    if (!locator_) locator_.emplace(mesh_);
    return *locator_;
  }

  const Mesh& mesh_;
  std::optional<PointLocator> locator_;
};

}  // namespace

struct MonitorFiles::Monitor {
  std::string name;
  ScheduleSettings schedule;
  Table table;
  std::unique_ptr<CsvWriter> series;  // null for a line, which has a file a time
};

MonitorFiles::MonitorFiles(const Mesh& mesh, std::span<const MonitorSettings> settings, Real start,
                           const std::filesystem::path& directory, std::optional<Real> restart_time)
    : start_(start), directory_(directory) {
  Diagnostics diagnostics;
  TableMaker make_table(mesh);
  for (const MonitorSettings& monitor : settings) {
    try {
      Table table =
          std::visit([&](const auto& what) { return make_table(monitor.name, what); }, monitor.what);
      monitors_.push_back({monitor.name, monitor.schedule, std::move(table), nullptr});
    } catch (const InputError& error) {
      diagnostics.error(monitor.location, error.what());
    }
  }
  diagnostics.throw_if_any();
  for (std::size_t k = 0; k < monitors_.size(); ++k) {
    if (std::holds_alternative<LineSettings>(settings[k].what)) continue;
    Columns& columns = monitors_[k].table.columns;
    columns.insert(columns.begin(), {"time", "s"});
    monitors_[k].series =
        std::make_unique<CsvWriter>(directory_ / (monitors_[k].name + ".csv"), columns, restart_time);
  }
}

MonitorFiles::~MonitorFiles() = default;

void MonitorFiles::write(const Moment& moment, bool fields_are_written, Snapshot& snapshot) {
  for (Monitor& monitor : monitors_) {
    const bool is_series = monitor.series != nullptr;
    if (!is_due(monitor.schedule, start_, moment, is_series || fields_are_written)) continue;
    std::vector<double> values = monitor.table.values(snapshot);
    if (!is_series) {
      write_csv(directory_ / fmt::format("{}_{}.csv", monitor.name, moment.step), moment.time,
                monitor.table.columns, values);
      continue;
    }
    values.insert(values.begin(), moment.time);
    monitor.series->write_row(values);
    for (std::size_t k = 0; k < values.size(); ++k)
      last_values_[monitor.name][monitor.table.columns[k].name] = values[k];
  }
}

}  // namespace curlew
