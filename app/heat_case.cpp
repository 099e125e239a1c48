// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/heat_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace curlew {

namespace {

constexpr const char* temperature_unit = "K";

/// Every getter's value goes to its member, or the member keeps its default.
template <class T, class U>
void assign(T& member, std::optional<U> value) {
  if (value) member = static_cast<T>(*std::move(value));
}

/// [model]; throws what was found so far when the rest of the file cannot be understood.
void read_model(const Section& root, HeatCase& heat_case, Diagnostics& diagnostics) {
  const std::vector<std::string> models = {"heat-diffusion"};
  const std::vector<std::string> later = {"classical-fractional-step", "exact-fractional-step"};
  const std::array<std::string, 2> schemes = {"crank-nicolson", "backward-euler"};
  const Section model = root.table("model", {.required = true});
  const auto type = model.string("type", {.required = true});
  if (type && *type != models.front()) {
    std::vector<std::string> all = models;
    all.insert(all.end(), later.begin(), later.end());
    const auto meant = nearest_name(*type, all);
    if (std::find(later.begin(), later.end(), *type) != later.end()) {
      model.error("type", fmt::format("the model \"{}\" is not in this version; valid models: {}", *type,
                                      join(models)));
    } else {
      model.error("type", fmt::format("unknown model \"{}\"{}", *type, suggestion(*type, all, "models")));
    }
    // Judging the rest by another model's keys would bury this one error.
    if (meant != models.front()) diagnostics.throw_if_any();
  }
  assign(heat_case.scheme, model.choice("scheme", schemes));
}

void read_mesh(const Section& root, HeatCase& heat_case, const std::filesystem::path& folder) {
  MeshSettings& mesh = heat_case.mesh;
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

void read_time(const Section& root, TimeSettings& time) {
  const Section section = root.table("time", {.required = true});
  time.steady = section.boolean("steady").value_or(false);
  if (time.steady) {
    for (const char* key : {"start", "end", "step"}) {
      if (section.number(key)) {
        section.error(key, fmt::format("steady = true and {} exclude each other; drop one of them", key));
      }
    }
    return;
  }
  assign(time.start, section.number("start", {.unit = "s"}));
  const auto end = section.number("end", {.required = true, .unit = "s"});
  const auto step = section.number("step", {.required = true, .allowed = Allowed::Positive, .unit = "s"});
  assign(time.end, end);
  assign(time.step, step);
  if (end && *end <= time.start) {
    section.error("end",
                  fmt::format("the end of [time], {} s, must come after its start, {} s", *end, time.start));
  } else if (end && step && *step > *end - time.start) {
    section.error("step", fmt::format("the step of [time], {} s, is longer than the whole run of {} s", *step,
                                      *end - time.start));
  }
}

/// An expression that a steady case cannot have depend on time.
Expression read_expression(const Section& section, std::string_view key, Rule rule, bool steady) {
  const Expression value = section.expression(key, rule).value_or(Expression());
  if (steady && value.depends_on_time()) {
    section.error(key, fmt::format("{} of {} depends on t, but the case is steady; use x, y and z only", key,
                                   section.title()));
  }
  return value;
}

void read_materials(const Section& root, HeatCase& heat_case) {
  const bool transient = !heat_case.time.steady;
  for (const auto& [region, section] : root.tables("material")) {
    MaterialSettings material;
    material.region = {region, section.location()};
    assign(
        material.conductivity,
        section.number("conductivity", {.required = true, .allowed = Allowed::Positive, .unit = "W/(m K)"}));
    assign(material.density,
           section.number("density", {.required = transient, .allowed = Allowed::Positive, .unit = "kg/m3"}));
    assign(material.heat_capacity,
           section.number("heat_capacity",
                          {.required = transient, .allowed = Allowed::Positive, .unit = "J/(kg K)"}));
    material.source = read_expression(section, "source", {.unit = "W/m3"}, !transient);
    heat_case.materials.push_back(std::move(material));
  }
}

void read_boundaries(const Section& root, HeatCase& heat_case) {
  enum Type : std::size_t { Temperature, HeatFlux, Insulated, Convection };
  const std::array<std::string, 4> types = {"temperature", "heat-flux", "insulated", "convection"};
  const bool steady = heat_case.time.steady;
  for (const auto& [patch, section] : root.tables("boundary")) {
    BoundarySettings boundary{{patch, section.location()}, {}};
    const auto type = section.choice("type", types, {.required = true});
    if (!type) {
      section.ignore_others();  // they belong to a type that is not known
    } else if (*type == Temperature) {
      boundary.condition = FixedTemperatureSettings{
          read_expression(section, "value", {.required = true, .unit = temperature_unit}, steady)};
    } else if (*type == HeatFlux) {
      boundary.condition =
          HeatFluxSettings{read_expression(section, "value", {.required = true, .unit = "W/m2"}, steady)};
    } else if (*type == Convection) {
      boundary.condition = ConvectionSettings{
          read_expression(section, "coefficient",
                          {.required = true, .allowed = Allowed::NonNegative, .unit = "W/(m2 K)"}, steady),
          read_expression(section, "ambient", {.required = true, .unit = temperature_unit}, steady)};
    }
    heat_case.boundaries.push_back(std::move(boundary));
  }
}

void read_solver(const Section& root, HeatSolverSettings& solver) {
  const std::vector<std::string> preconditioners = {"jacobi", "none"};
  const Section section = root.table("solver").table("temperature");
  if (const auto tolerance = section.number("tolerance", {.allowed = Allowed::Positive})) {
    solver.tolerance = *tolerance;
    if (*tolerance >= 1) {
      section.error("tolerance",
                    fmt::format("tolerance of [solver.temperature] must be below 1 (it is relative to "
                                "the first residual), not {}",
                                *tolerance));
    }
  }
  assign(solver.max_iterations, section.integer("max_iterations", {.allowed = Allowed::Positive}));
  if (const auto name = section.string("preconditioner"); name == "multigrid") {
    section.error("preconditioner", "the preconditioner \"multigrid\" is not in this version; valid names: " +
                                        join(preconditioners));
  } else if (name) {
    assign(solver.preconditioner, section.choice("preconditioner", preconditioners));
  }
}

ScheduleSettings read_schedule(const Section& section, bool steady) {
  ScheduleSettings schedule;
  assign(schedule.interval, section.number("interval", {.allowed = Allowed::Positive, .unit = "s"}));
  assign(schedule.every, section.integer("every", {.allowed = Allowed::Positive, .unit = "steps"}));
  if (section.has("interval") && section.has("every")) {
    section.error("every", fmt::format("{} has both interval (s) and every (steps); drop one of them",
                                       section.title()));
  }
  for (const char* key : {"interval", "every"}) {
    if (steady && section.has(key)) {
      section.error(key,
                    fmt::format("{} has no meaning in a steady case, which has one result; drop it", key));
    }
  }
  return schedule;
}

std::vector<HeatField> read_fields(const Section& section) {
  std::vector<HeatField> fields;
  if (const auto positions = section.choices("fields", heat_field_names)) {
    for (const std::size_t position : *positions) fields.push_back(static_cast<HeatField>(position));
  } else {
    fields.push_back(HeatField::Temperature);
  }
  return fields;
}

void read_output(const Section& root, HeatCase& heat_case, const std::filesystem::path& folder) {
  const Section section = root.table("output");
  OutputSettings& output = heat_case.output;
  output.directory = folder / section.string("directory").value_or("out");
  std::error_code ignored;
  if (std::filesystem::exists(output.directory, ignored) &&
      !std::filesystem::is_directory(output.directory, ignored)) {
    section.error("directory", fmt::format("the output directory {} exists and is not a directory",
                                           output.directory.string()));
  }
  output.schedule = read_schedule(section, heat_case.time.steady);
  output.fields = read_fields(section);
  assign(output.checkpoint, section.number("checkpoint", {.allowed = Allowed::Positive, .unit = "s"}));
  if (heat_case.time.steady && section.has("checkpoint")) {
    section.error("checkpoint", "checkpoint has no meaning in a steady case, which has one result; drop it");
  }
}

LineSettings read_line(const Section& section) {
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
    }
  }
  line.fields = read_fields(section);
  return line;
}

AverageSettings read_average(const Section& section) {
  AverageSettings average;
  average.fields = read_fields(section);
  if (const auto region = section.string("region")) average.region = {*region, section.location("region")};
  return average;
}

FluxSettings read_flux(const Section& section) {
  FluxSettings flux;
  assign(flux.patches, section.names("patches", {.required = true}));
  const std::vector<std::string> fields = {"temperature"};
  section.choice("field", fields);
  return flux;
}

/// Monitors become files NAME.csv beside those of the run itself.
void check_file_name(const Section& section, const std::string& name) {
  const bool fit = !name.empty() && name.front() != '.' && name.size() <= 100 &&
                   std::all_of(name.begin(), name.end(), [](char c) {
                     return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                            c == '_' || c == '-' || c == '.';
                   });
  if (!fit) {
    section.error(
        "", fmt::format("the monitor name \"{}\" becomes a file name: use up to 100 letters, digits, _, - "
                        "and . (not first)",
                        name));
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

void read_monitors(const Section& root, HeatCase& heat_case, Diagnostics& diagnostics) {
  enum Type : std::size_t { Probe, Line, Extrema, Average, Flux };
  const std::array<std::string, 5> types = {"probe", "line", "extrema", "average", "flux"};
  for (const auto& [name, section] : root.tables("monitor")) {
    MonitorSettings monitor{name, section.location(), {}, {}};
    check_file_name(section, name);
    const auto type = section.choice("type", types, {.required = true});
    if (!type) {
      section.ignore_others();
      continue;
    }
    monitor.schedule = read_schedule(section, heat_case.time.steady);
    if (*type == Probe) {
      monitor.what = ProbeSettings{
          section.points("points", {.required = true, .unit = "m"}).value_or(std::vector<Vector3>()),
          read_fields(section)};
    } else if (*type == Line) {
      monitor.what = read_line(section);
    } else if (*type == Extrema) {
      monitor.what = ExtremaSettings{read_fields(section)};
    } else if (*type == Average) {
      monitor.what = read_average(section);
    } else {
      monitor.what = read_flux(section);
    }
    heat_case.monitors.push_back(std::move(monitor));
  }
  check_line_files(heat_case.monitors, diagnostics);
}

bool contains(std::span<const std::string> names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

HeatCase read_heat_case(const CaseFile& file, Location location, const std::filesystem::path& folder,
                        Diagnostics& diagnostics) {
  HeatCase heat_case;
  heat_case.location = std::move(location);
  const Section root = file.root();
  heat_case.name = root.table("case").string("name").value_or(
      std::filesystem::path(heat_case.location.file).stem().string());
  read_model(root, heat_case, diagnostics);
  read_mesh(root, heat_case, folder);
  read_time(root, heat_case.time);
  // A steady state does not depend on where it starts.
  const Section initial = root.table("initial", {.required = !heat_case.time.steady});
  assign(heat_case.initial_temperature,
         initial.expression("temperature", {.required = !heat_case.time.steady, .unit = temperature_unit}));
  read_materials(root, heat_case);
  read_boundaries(root, heat_case);
  read_solver(root, heat_case.solver);
  read_output(root, heat_case, folder);
  read_monitors(root, heat_case, diagnostics);
  file.finish();
  return heat_case;
}

HeatCase read_heat_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                        Diagnostics& diagnostics) {
  const CaseFile file(path, overrides, diagnostics);
  return read_heat_case(file, {path.string(), 1}, path.parent_path(), diagnostics);
}

void check_names_against_mesh(const HeatCase& heat_case, std::span<const std::string> patch_names,
                              std::span<const std::string> region_names, Diagnostics& diagnostics) {
  const auto check_patch = [&](const NamedReference& patch) {
    if (contains(patch_names, patch.name)) return;
    diagnostics.error(patch.location,
                      fmt::format("the mesh has no patch \"{}\"{}", patch.name,
                                  suggestion(patch.name, patch_names, "patches of the mesh")));
  };
  const auto check_region = [&](const NamedReference& region) {
    if (contains(region_names, region.name)) return;
    diagnostics.error(region.location,
                      fmt::format("the mesh has no region \"{}\"{}", region.name,
                                  suggestion(region.name, region_names, "regions of the mesh")));
  };
  for (const BoundarySettings& boundary : heat_case.boundaries) check_patch(boundary.patch);
  for (const MaterialSettings& material : heat_case.materials) check_region(material.region);
  for (const MonitorSettings& monitor : heat_case.monitors) {
    if (const auto* flux = std::get_if<FluxSettings>(&monitor.what)) {
      for (const NamedReference& patch : flux->patches) check_patch(patch);
    } else if (const auto* average = std::get_if<AverageSettings>(&monitor.what)) {
      if (average->region) check_region(*average->region);
    }
  }
  for (const std::string& name : patch_names) {
    const bool named =
        std::any_of(heat_case.boundaries.begin(), heat_case.boundaries.end(),
                    [&](const BoundarySettings& boundary) { return boundary.patch.name == name; });
    if (!named) {
      diagnostics.error(
          heat_case.location,
          fmt::format("the patch \"{0}\" of the mesh has no [boundary.{0}]; every patch needs a "
                      "condition (type = \"insulated\" where no heat passes)",
                      name));
    }
  }
  for (const std::string& name : region_names) {
    const bool named =
        std::any_of(heat_case.materials.begin(), heat_case.materials.end(),
                    [&](const MaterialSettings& material) { return material.region.name == name; });
    if (!named) {
      diagnostics.error(
          heat_case.location,
          fmt::format("the region \"{0}\" of the mesh has no [material.{0}]; every region needs a "
                      "conductivity, in transient cases density and heat_capacity too",
                      name));
    }
  }
}

}  // namespace curlew
