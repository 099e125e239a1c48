// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/case_settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <system_error>
#include <utility>

#include "kernels/error.hpp"

namespace curlew {

namespace {

void read_mesh(const Section& root, MeshSettings& mesh, const std::filesystem::path& folder) {
  const Section section = root.table("mesh", {.required = true});
  if (const auto file = section.string("file", {.required = true})) {
    const std::filesystem::path path = folder / *file;
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
      section.error("file", fmt::format("the mesh {} does not exist (the path is relative to the case file)",
                                        path.string()));
    } else if (std::filesystem::is_directory(path, ignored)) {
      section.error("file", fmt::format("the mesh {} is a directory; expected a mesh file", path.string()));
    } else {
      mesh.file = path;
      mesh.location = section.location("file");
    }
  }
  assign(mesh.scale, section.number("scale", {.allowed = Allowed::Positive}));
  assign(mesh.size, section.number("size", {.allowed = Allowed::NonNegative, .unit = "m"}));
  assign(mesh.order, section.choice("order", cell_order_names));
}

ScheduleSettings read_schedule(const Section& section, bool one_result) {
  ScheduleSettings schedule;
  assign(schedule.interval, section.number("interval", {.allowed = Allowed::Positive, .unit = "s"}));
  assign(schedule.every, section.integer("every", {.allowed = Allowed::Positive, .unit = "steps"}));
  if (section.has("interval") && section.has("every")) {
    section.error("every", fmt::format("{} has both interval (s) and every (steps); drop one of them",
                                       section.title()));
  }
  for (const char* key : {"interval", "every"}) {
    if (one_result && section.has(key)) {
      section.error(key,
                    fmt::format("{} has no meaning in a steady case, which has one result; drop it", key));
    }
  }
  return schedule;
}

/// Those of `offered` that `fields` names; without it the first `count`.
std::vector<FieldDescription> read_fields(const Section& section, std::span<const FieldDescription> offered,
                                          std::size_t count = 1) {
  std::vector<std::string> names;
  for (const FieldDescription& field : offered) names.push_back(field.name);
  std::vector<FieldDescription> fields;
  if (const auto positions = section.choices("fields", names)) {
    for (const std::size_t position : *positions) fields.push_back(offered[position]);
  } else {
    fields.assign(offered.begin(), offered.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return fields;
}

OutputSettings read_output(const Section& root, const std::filesystem::path& folder, const ModelOffer& offer,
                           bool one_result) {
  const Section section = root.table("output");
  OutputSettings output;
  output.directory = folder / section.string("directory").value_or("out");
  output.directory_location = section.location("directory");
  output.schedule = read_schedule(section, one_result);
  output.fields = read_fields(section, offer.fields, offer.default_fields);
  output.fields_location = section.location("fields");
  assign(output.checkpoint, section.number("checkpoint", {.allowed = Allowed::Positive, .unit = "s"}));
  if (one_result && section.has("checkpoint")) {
    section.error("checkpoint", "checkpoint has no meaning in a steady case, which has one result; drop it");
  }
  return output;
}

/// Each of them is a row of a table, with all fields, whenever monitors are written.
constexpr std::int64_t most_points_of_line = 10'000'000;

LineSettings read_line(const Section& section, const ModelOffer& offer) {
  LineSettings line;
  const auto from = section.vector3("from", {.required = true, .unit = "m"});
  const auto to = section.vector3("to", {.required = true, .unit = "m"});
  assign(line.from, from);
  assign(line.to, to);
  if (from && to && *from == *to) {
    section.error("to",
                  fmt::format("from and to of {} are the same point; a line needs two", section.title()));
  }
  if (const auto count = section.integer("points", {.required = true})) {
    line.count = *count;
    if (*count < 2) {
      section.error("points",
                    fmt::format("points of {} must be at least 2, not {}", section.title(), *count));
    } else if (*count > most_points_of_line) {
      section.error("points", fmt::format("points of {} may be at most {}, not {}", section.title(),
                                          most_points_of_line, *count));
    }
  }
  line.fields = read_fields(section, offer.fields);
  return line;
}

AverageSettings read_average(const Section& section, const ModelOffer& offer) {
  AverageSettings average;
  average.fields = read_fields(section, offer.fields);
  if (const auto region = section.string("region")) average.region = {*region, section.location("region")};
  return average;
}

FluxSettings read_flux(const Section& section, const ModelOffer& offer) {
  FluxSettings flux;
  flux.flow = offer.flow;
  assign(flux.patches, section.names("patches", {.required = true}));
  for (const NamedReference& patch : flux.patches) {
    if (patch.name == "time" || patch.name == "total") {
      section.error(
          "patches",
          fmt::format("patches of {} cannot have \"{}\", which is the name of another column of its "
                      "table; rename the patch in the mesh",
                      section.title(), patch.name));
    }
  }
  section.choice("field", std::span(&offer.flow.field, 1));
  return flux;
}

ForcesSettings read_forces(const Section& section) {
  ForcesSettings forces;
  assign(forces.patches, section.names("patches", {.required = true}));
  assign(forces.origin, section.vector3("origin", {.unit = "m"}));
  // Coefficients need both or neither, that of the moment all three.
  const bool area_required = section.has("velocity") || section.has("length");
  const bool velocity_required = section.has("area") || section.has("length");
  const auto velocity = section.number(
      "velocity", {.required = velocity_required, .allowed = Allowed::Positive, .unit = "m/s"});
  const auto area =
      section.number("area", {.required = area_required, .allowed = Allowed::Positive, .unit = "m2"});
  const auto length = section.number("length", {.allowed = Allowed::Positive, .unit = "m"});
  if (velocity && area) forces.reference = {*velocity, *area, length};
  return forces;
}

TimeAverageSettings read_time_average(const Section& section, const ModelOffer& offer) {
  TimeAverageSettings average;
  average.fields = read_fields(section, std::span(offer.fields).first(offer.averaged_fields));
  average.start = section.number("start", {.unit = "s"});
  return average;
}

constexpr std::size_t longest_file_name = 100;

bool fits_file_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

/// Names begin those of files.
bool fits_file_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.size() <= longest_file_name &&
         std::ranges::all_of(name, fits_file_names);
}

constexpr const char* fit_names = "up to 100 letters, digits, _, - and . (not first)";

/// Without a name that of the file counts, with _ for what does not fit.
std::string read_name(const Section& root, const Location& location, Diagnostics& diagnostics) {
  const Section section = root.table("case");
  if (const auto given = section.string("name")) {
    if (fits_file_name(*given)) return *given;
    diagnostics.error(section.location("name"), fmt::format("the case name {} becomes a file name: use {}",
                                                            in_quotes(*given), fit_names));
    return "case";
  }
  std::string name = std::filesystem::path(location.file).stem().string().substr(0, longest_file_name);
  std::ranges::replace_if(
      name, [](char c) { return !fits_file_names(c); }, '_');
  if (name.starts_with('.')) name.front() = '_';
  return name;
}

/// Monitors become files NAME.csv beside those of the run itself.
void check_monitor_name(const Section& section, const std::string& name) {
  if (!fits_file_name(name)) {
    section.error("",
                  fmt::format("the monitor name {} becomes a file name: use {}", in_quotes(name), fit_names));
  } else if (name == "residuals") {
    section.error(
        "", "the monitor name \"residuals\" is taken: the run writes residuals.csv itself; choose another");
  }
}

/// The line monitor "a" writes a_<step>.csv, which a monitor "a_12" would overwrite.
void check_line_files(const std::vector<MonitorSettings>& monitors, Diagnostics& diagnostics) {
  for (const MonitorSettings& line : monitors) {
    if (!std::holds_alternative<LineSettings>(line.what)) continue;
    for (const MonitorSettings& other : monitors) {
      const std::string prefix = line.name + "_";
      if (!other.name.starts_with(prefix) || other.name == prefix) continue;
      if (std::all_of(other.name.begin() + static_cast<std::ptrdiff_t>(prefix.size()), other.name.end(),
                      [](char c) { return c >= '0' && c <= '9'; })) {
        diagnostics.error(
            other.location,
            fmt::format("the monitor name \"{}\" is like a file of the line monitor \"{}\", which "
                        "writes {}<step>.csv; choose another",
                        other.name, line.name, prefix));
      }
    }
  }
}

std::vector<MonitorSettings> read_monitors(const Section& root, const ModelOffer& offer, bool one_result,
                                           Diagnostics& diagnostics) {
  std::vector<MonitorSettings> monitors;
  for (const auto& [name, section] : root.tables("monitor")) {
    MonitorSettings monitor{name, section.location(), {}, {}};
    check_monitor_name(section, name);
    const auto position = section.choice("type", offer.monitors, {.required = true});
    const std::size_t errors = diagnostics.size();
    if (!position) {
      section.ignore_others();
      continue;
    }
    const std::string& type = offer.monitors[*position];
    if (type != "time-average") monitor.schedule = read_schedule(section, one_result);
    if (type == "probe") {
      monitor.what = ProbeSettings{
          section.points("points", {.required = true, .unit = "m"}).value_or(std::vector<Vector3>()),
          read_fields(section, offer.fields)};
    } else if (type == "line") {
      monitor.what = read_line(section, offer);
    } else if (type == "extrema") {
      monitor.what = ExtremaSettings{read_fields(section, offer.fields)};
    } else if (type == "average") {
      monitor.what = read_average(section, offer);
    } else if (type == "flux") {
      monitor.what = read_flux(section, offer);
    } else if (type == "forces") {
      monitor.what = read_forces(section);
    } else if (type == "energy") {
      monitor.what = EnergySettings{};
    } else {
      REQUIRE(type == "time-average", "no monitor is of type '" + type + "'");
      monitor.what = read_time_average(section, offer);
    }
    monitor.sound = diagnostics.size() == errors;
    monitors.push_back(std::move(monitor));
  }
  check_line_files(monitors, diagnostics);
  return monitors;
}

bool contains(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether `name`, out of `valid`, is among the references, or one of them is that name misspelt, which is
/// reported.
bool is_meant(const std::string& name, std::span<const NamedReference> references,
              std::span<const std::string> valid) {
  return std::ranges::any_of(references, [&](const NamedReference& reference) {
    return reference.name == name ||
           (!contains(valid, reference.name) && nearest_name(reference.name, valid) == name);
  });
}

}  // namespace

std::string read_model_type(const Section& root, Diagnostics& diagnostics) {
  const std::vector<std::string> models = {"heat-diffusion", "classical-fractional-step",
                                           "exact-fractional-step"};
  const Section model = root.table("model", {.required = true});
  const auto type = model.string("type", {.required = true});
  if (type && contains(models, *type)) return *type;
  std::optional<std::string> meant;
  if (type) {
    model.error("type",
                fmt::format("unknown model {}{}", in_quotes(*type), suggestion(*type, models, "models")));
    meant = nearest_name(*type, models);
  } else if (root.has("fluid")) {
    meant = models.back();  // which knows all that the other one does
  } else if (root.has("material")) {
    meant = models.front();
  }
  if (!meant) {
    // Which tables are valid depends on the model, but what is in none of the models is wrong.
    for (const char* table : {"case", "mesh", "fluid", "material", "time", "initial", "boundary", "solver",
                              "output", "monitor"}) {
      root.has(table);
    }
    model.ignore_others();
    root.report_unread();
    diagnostics.throw_if_any();
  }
  return *meant;
}

CaseSettings read_case_settings(const Section& root, Location location, const std::filesystem::path& folder,
                                const ModelOffer& offer, bool one_result, Diagnostics& diagnostics) {
  CaseSettings settings;
  settings.location = std::move(location);
  settings.name = read_name(root, settings.location, diagnostics);
  read_mesh(root, settings.mesh, folder);
  settings.output = read_output(root, folder, offer, one_result);
  settings.monitors = read_monitors(root, offer, one_result, diagnostics);
  return settings;
}

bool read_steady(const Section& section, TimeSettings& time) {
  const auto steady = section.boolean("steady");
  time.steady = steady.value_or(false);
  time.steady_location = section.location("steady");
  return !time.steady && (steady || !section.has("steady"));
}

void read_start_and_end(const Section& section, TimeSettings& time, bool end_required) {
  assign(time.start, section.number("start", {.unit = "s"}));
  const auto end = section.number("end", {.required = end_required, .unit = "s"});
  assign(time.end, end);
  if (end && *end <= time.start) {
    section.error("end",
                  fmt::format("the end of [time], {} s, must come after its start, {} s", *end, time.start));
  }
}

std::optional<Real> read_step(const Section& section, std::string_view key, const TimeSettings& time,
                              bool required) {
  const auto step = section.number(key, {.required = required, .allowed = Allowed::Positive, .unit = "s"});
  const Real duration = time.end - time.start;
  if (step && duration > 0 && *step > (1 + 1e-9) * duration) {  // by more than the rounding of the duration
    section.error(key, fmt::format("the {} of [time], {} s, is longer than the whole run of {} s", key, *step,
                                   duration));
  }
  // Times have some 16 digits, and steps are counted.
  constexpr Real most_steps = 1e15;
  const Real latest = std::max(std::abs(time.start), std::abs(time.end));
  const Real shortest =
      std::max(std::numeric_limits<Real>::epsilon() * latest, std::max(duration, Real(0)) / most_steps);
  if (step && *step < shortest) {
    section.error(key, fmt::format("the {} of [time], {} s, is too short: times up to {} s have some 16 "
                                   "digits; use more than {:.1e} s",
                                   key, *step, latest, shortest));
  }
  return step;
}

std::optional<Real> read_wall_limit(const Section& section) {
  return section.number("wall_limit", {.allowed = Allowed::Positive, .unit = "s"});
}

void refuse_with_steady(const Section& section, std::span<const char* const> keys) {
  for (const char* key : keys) {
    if (section.number(key)) {
      section.error(key, fmt::format("steady = true and {} exclude each other; drop one of them", key));
    }
  }
}

void read_solver(const Section& root, std::string_view name, SolverSettings& solver) {
  const std::vector<std::string> preconditioners = {"multigrid", "jacobi", "none"};  // as Preconditioning
  const Section section = root.table("solver").table(name);
  if (const auto tolerance = section.number("tolerance", {.allowed = Allowed::Positive})) {
    solver.tolerance = *tolerance;
    if (*tolerance >= 1) {
      section.error(
          "tolerance",
          fmt::format("tolerance of {} must be below 1 (it is relative to the first residual), not {}",
                      section.title(), *tolerance));
    }
  }
  if (const auto iterations = section.integer("max_iterations", {.allowed = Allowed::Positive})) {
    constexpr int most = std::numeric_limits<int>::max();
    if (*iterations > most) {
      section.error("max_iterations", fmt::format("max_iterations of {} must be at most {}, not {}",
                                                  section.title(), most, *iterations));
    } else {
      solver.max_iterations = static_cast<int>(*iterations);
    }
  }
  if (const auto choice = section.choice("preconditioner", preconditioners)) {
    solver.preconditioner = static_cast<Preconditioning>(*choice);
  }
}

Expression read_expression(const Section& section, std::string_view key, Rule rule, bool steady) {
  const Expression value = section.expression(key, rule).value_or(Expression());
  if (steady && value.depends_on_time()) {
    section.error(key, fmt::format("{} of {} depends on t, but the case is steady; use x, y and z only", key,
                                   section.title()));
  }
  return value;
}

void MeshNames::check_patch(const NamedReference& patch) const {
  if (contains(patches_, patch.name)) return;
  diagnostics_.error(patch.location, fmt::format("the mesh has no patch {}{}", in_quotes(patch.name),
                                                 suggestion(patch.name, patches_, "patches of the mesh")));
}

void MeshNames::check_region(const NamedReference& region) const {
  if (contains(regions_, region.name)) return;
  diagnostics_.error(region.location, fmt::format("the mesh has no region {}{}", in_quotes(region.name),
                                                  suggestion(region.name, regions_, "regions of the mesh")));
}

void MeshNames::check_monitors(std::span<const MonitorSettings> monitors) const {
  for (const MonitorSettings& monitor : monitors) {
    if (const auto* flux = std::get_if<FluxSettings>(&monitor.what)) {
      for (const NamedReference& patch : flux->patches) check_patch(patch);
    } else if (const auto* forces = std::get_if<ForcesSettings>(&monitor.what)) {
      for (const NamedReference& patch : forces->patches) check_patch(patch);
    } else if (const auto* average = std::get_if<AverageSettings>(&monitor.what)) {
      if (average->region) check_region(*average->region);
    }
  }
}

void MeshNames::require_all_patches(std::span<const NamedReference> named, const Location& case_file,
                                    std::string_view needs) const {
  for (const std::string& name : patches_) {
    if (is_meant(name, named, patches_)) continue;
    diagnostics_.error(case_file,
                       fmt::format("the patch {} of the mesh has no [boundary.{}]; every patch needs {}",
                                   in_quotes(name), as_key(name), needs));
  }
}

void MeshNames::require_all_regions(std::span<const NamedReference> named, const Location& case_file,
                                    std::string_view needs) const {
  for (const std::string& name : regions_) {
    if (is_meant(name, named, regions_)) continue;
    diagnostics_.error(case_file,
                       fmt::format("the region {} of the mesh has no [material.{}]; every region needs {}",
                                   in_quotes(name), as_key(name), needs));
  }
}

}  // namespace curlew
