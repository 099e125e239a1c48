// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/flow_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "app/case/flow_case_checks.hpp"
#include "app/case/table_function.hpp"
#include "kernels/error.hpp"

namespace curlew {

namespace {

constexpr const char* velocity_unit = "m/s";
constexpr const char* flow_rate_unit = "m3/s";

const std::array<std::string, 3> velocity_columns = {"velocity_x", "velocity_y", "velocity_z"};
const std::string flow_rate_column = "flow_rate";

bool is_zero(const Expression& expression) {
  return expression.is_constant() && expression.constant() == 0;
}

VectorFunctionPointer vector_function(const std::vector<Expression>& components) {
  std::array<FunctionPointer, 3> functions;
  std::ranges::transform(components, functions.begin(),
                         [](const Expression& e) { return std::make_shared<const Expression>(e); });
  return std::make_shared<const ComponentVector>(std::move(functions));
}

/// Reports a direction of which no unit vector can be made.
void check_direction(const Section& section, std::string_view key, Vector3 direction,
                     std::string_view example) {
  if (std::isnormal(dot(direction, direction))) return;
  section.error(key, fmt::format("{} of {} must not be {}{}", key, section.title(),
                                 direction == Vector3{}
                                     ? "zero"
                                     : "so long or short that its square is out of the range of numbers",
                                 example));
}

/// Null for zero.
VectorFunctionPointer vector_function_or_null(const std::vector<Expression>& components) {
  return std::ranges::all_of(components, is_zero) ? nullptr : vector_function(components);
}

/// Reads the sections of a flow into its case.
class FlowReader {
 public:
  FlowReader(const Section& root, const std::filesystem::path& folder, FlowCase& flow_case,
             Diagnostics& diagnostics)
      : root_(root), folder_(folder), case_(flow_case), diagnostics_(diagnostics) {}

  void read_model();
  void read_time();
  void read_fluid();
  void read_initial();
  void read_boundaries();
  void read_solvers();
  const std::set<std::string>& patches_of_unknown_type() const { return of_unknown_type_; }

 private:
  void refuse_without(const Section& section, std::span<const char* const> keys,
                      std::string_view owner) const;
  void refuse_time(const Section& section, std::string_view key, bool depends_on_time) const;
  Expression read_of_time(const Section& section, std::string_view key, Rule rule) const;
  std::vector<Expression> read_vector(const Section& section, std::string_view key, Rule rule,
                                      bool may_depend_on_time);
  void only_in_space(const Section& section, std::string_view key, std::string message);
  Wall read_wall(const Section& section);
  RigidRotation read_rotation(const Section& section);
  Inlet read_inlet(const Section& section);
  Inlet read_inlet_table(const Section& section);
  SolverControl read_control(std::string_view name, const SolverControl& defaults,
                             Preconditioning& preconditioning) const;

  bool steady() const { return case_.time.steady; }

  const Section& root_;
  const std::filesystem::path& folder_;
  FlowCase& case_;
  Diagnostics& diagnostics_;
  std::set<std::string> of_unknown_type_;
  bool transient_ = true;  // whether what a transient case must have is missed where it is absent
};

void FlowReader::read_model() {
  const std::array<std::string, 5> convections = {"central", "upwind", "blended", "linear-upwind", "none"};
  const std::array<std::string, 7> schemes = {
      "sbdf2", "crank-nicolson-ab2", "euler", "ssp-rk2", "ssp-rk3", "ssp-rk4", "midpoint"};
  const Section model = root_.table("model");
  const auto convection = model.choice("convection", convections);
  assign(case_.flow.convection, convection);
  assign(case_.flow.scheme, model.choice("scheme", schemes));
  if (case_.flow.scheme == FlowScheme::Midpoint && case_.method != FlowMethod::ExactFractionalStep) {
    model.error("scheme",
                "scheme = \"midpoint\" of [model] belongs to type = \"exact-fractional-step\"; take that or "
                "another scheme");
  }
  if (const auto blend = model.number("blend", {.allowed = Allowed::NonNegative})) {
    case_.flow.blend = *blend;
    if (*blend > 1) {
      model.error("blend",
                  fmt::format("blend of [model], the share of upwind, must be from 0 to 1, not {}", *blend));
    }
    const bool is_known = convection || !model.has("convection");
    if (is_known && case_.flow.convection != ConvectionScheme::Blended) {
      refuse_without(model, std::array{"blend"}, "convection = \"blended\"");
    }
  }
}

/// Reports each of `keys` as one that means something with `owner` only.
void FlowReader::refuse_without(const Section& section, std::span<const char* const> keys,
                                std::string_view owner) const {
  for (const char* key : keys) {
    if (section.has(key)) {
      section.error(key, fmt::format("{} of {} belongs to {}, which is not there; drop one or add the other",
                                     key, section.title(), owner));
    }
  }
}

void FlowReader::read_time() {
  FlowTimeSettings& time = case_.time;
  const Section section = root_.table("time", {.required = true});
  transient_ = read_steady(section, time);
  time.wall_limit = read_wall_limit(section);
  if (time.steady) {
    refuse_with_steady(section, std::array{"start", "end"});
    assign(time.tolerance, section.number("tolerance", {.allowed = Allowed::Positive, .unit = "1/s"}));
    time.tolerance_location = section.location("tolerance");
    assign(time.quantity, section.string("quantity"));
    time.quantity_location = section.location("quantity");
    assign(time.max_steps, section.integer("max_steps", {.allowed = Allowed::Positive}));
  } else {
    read_start_and_end(section, time, transient_);
    if (transient_)
      refuse_without(section, std::array{"tolerance", "quantity", "max_steps"}, "steady = true");
    else
      section.ignore_others();
  }
  time.courant = section.number("courant", {.allowed = Allowed::Positive});
  const bool follows_courant = section.has("courant");
  assign(time.step, read_step(section, "step", time, !follows_courant));
  if (!follows_courant) {
    refuse_without(section, std::array{"max_step"}, "courant");
    return;
  }
  time.max_step = read_step(section, "max_step", time, false);
  if (!section.has("step") && !section.has("max_step")) {
    section.error("courant",
                  "courant alone does not limit the step of a fluid at rest; add max_step [s], or step [s] "
                  "for the first one");
  }
  if (time.max_step && time.step > *time.max_step) {
    section.error("step", fmt::format("the first step of [time], {} s, is longer than max_step, {} s",
                                      time.step, *time.max_step));
  }
}

void FlowReader::refuse_time(const Section& section, std::string_view key, bool depends_on_time) const {
  if (steady() && depends_on_time) {
    section.error(key, fmt::format("{} of {} depends on t, but the case is steady; use x, y and z only", key,
                                   section.title()));
  }
}

/// An expression that is the same everywhere.
Expression FlowReader::read_of_time(const Section& section, std::string_view key, Rule rule) const {
  const Expression value = read_expression(section, key, rule, steady());
  if (value.depends_on_space()) {
    section.error(key, fmt::format("{} of {} is one number for all places, but depends on x, y or z; use t "
                                   "only",
                                   key, section.title()));
  }
  return value;
}

/// Records what is wrong if the mesh has two dimensions.
void FlowReader::only_in_space(const Section& section, std::string_view key, std::string message) {
  case_.wrong_in_two_dimensions.push_back({section.location(key), std::move(message)});
}

/// Three components, or zero where something is wrong.
std::vector<Expression> FlowReader::read_vector(const Section& section, std::string_view key, Rule rule,
                                                bool may_depend_on_time) {
  const auto components = section.expressions(key, 3, rule);
  if (!components) return std::vector<Expression>(3);
  if (!may_depend_on_time) {
    refuse_time(section, key, std::ranges::any_of(*components, &Expression::depends_on_time));
  }
  if (const Expression& z = components->back(); !is_zero(z)) {
    only_in_space(section, key,
                  fmt::format("the mesh has two dimensions: the z component of {} of {} must "
                              "be 0, not {}",
                              key, section.title(),
                              z.is_constant() ? fmt::format("{}", z.constant()) : "an expression"));
  }
  return *components;
}

void FlowReader::read_fluid() {
  const Section section = root_.table("fluid", {.required = true});
  FlowSettings& flow = case_.flow;
  assign(flow.viscosity, section.number("kinematic_viscosity",
                                        {.required = true, .allowed = Allowed::NonNegative, .unit = "m2/s"}));
  assign(flow.density, section.number("density", {.allowed = Allowed::Positive, .unit = "kg/m3"}));
  flow.body_force = vector_function_or_null(read_vector(section, "body_force", {.unit = "m/s2"}, false));
  const Section mean = section.table("mean_flow");
  if (!mean.exists()) return;
  const auto direction = mean.vector3("direction", {.required = true});
  const auto velocity = mean.number("velocity", {.required = true, .unit = velocity_unit});
  case_.mean_flow_location = mean.location("direction");
  flow.mean_flow = MeanFlow{direction.value_or(Vector3{}), velocity.value_or(0)};
  if (direction) check_direction(mean, "direction", *direction, "");
  if (direction && direction->z != 0) {
    only_in_space(mean, "direction",
                  fmt::format("the mesh has two dimensions: the z component of direction of {} must be 0, "
                              "not {}",
                              mean.title(), direction->z));
  }
}

void FlowReader::read_initial() {
  // A steady state may be looked for from a fluid at rest.
  const Section section = root_.table("initial", {.required = transient_});
  if (!section.has("file")) {
    case_.initial_velocity = vector_function_or_null(
        read_vector(section, "velocity", {.required = transient_, .unit = velocity_unit}, true));
    return;
  }
  if (section.has("velocity")) {
    section.error("velocity", "velocity and file of [initial] exclude each other; drop one of them");
  }
  const auto file = section.string("file");
  if (!file) return;
  const std::filesystem::path path = folder_ / *file;
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) {
    case_.initial_file = path;
    case_.initial_file_location = section.location("file");
  } else {
    section.error("file", fmt::format("there is no file {} (the path is relative to the case file); expected "
                                      "the checkpoint_*.h5 of an earlier run",
                                      path.string()));
  }
}

void FlowReader::read_boundaries() {
  enum Type : std::size_t { WallType, InletType, OutletType, SymmetryType, PeriodicType };
  for (const auto& [patch, section] : root_.tables("boundary")) {
    FlowBoundarySettings boundary{{patch, section.location()}, Symmetry{}};
    const auto type = section.choice("type", flow_boundary_types, {.required = true});
    if (!type) {
      section.ignore_others();  // they belong to a type that is not known
      of_unknown_type_.insert(patch);
    } else if (*type == WallType) {
      boundary.condition = read_wall(section);
    } else if (*type == InletType) {
      boundary.condition = read_inlet(section);
    } else if (*type == OutletType) {
      boundary.condition = Outlet{
          std::make_shared<const Expression>(read_expression(section, "pressure", {.unit = "Pa"}, steady()))};
    } else if (*type == PeriodicType) {
      const auto partner = section.string("partner", {.required = true});
      boundary.condition = PeriodicSettings{{partner.value_or(""), section.location("partner")}};
    }
    case_.boundaries.push_back(std::move(boundary));
  }
}

Wall FlowReader::read_wall(const Section& section) {
  Wall wall;
  const Section rotation = section.table("rotation");
  if (rotation.exists()) wall.rotation = read_rotation(rotation);
  if (section.has("velocity")) {
    wall.velocity = vector_function_or_null(read_vector(section, "velocity", {.unit = velocity_unit}, false));
    if (section.has("rotation")) {
      section.error(
          "velocity",
          fmt::format("velocity and rotation of {} exclude each other; drop one of them", section.title()));
    }
  }
  return wall;
}

RigidRotation FlowReader::read_rotation(const Section& section) {
  RigidRotation rotation;
  assign(rotation.origin, section.vector3("origin", {.required = true, .unit = "m"}));
  if (const auto axis = section.vector3("axis", {.required = true})) {
    rotation.axis = *axis;
    check_direction(section, "axis", *axis, "; [0, 0, 1] turns counter-clockwise seen from above");
    if (axis->x != 0 || axis->y != 0) {
      only_in_space(section, "axis",
                    fmt::format("the mesh has two dimensions: axis of {} must be along z, not [{}, {}, {}]",
                                section.title(), axis->x, axis->y, axis->z));
    }
  }
  rotation.rate = std::make_shared<const Expression>(
      read_of_time(section, "rate", {.required = true, .unit = "rad/s", .variables = Variables::Time}));
  return rotation;
}

Inlet FlowReader::read_inlet(const Section& section) {
  std::vector<std::string> given;
  for (const char* key : {"velocity", "flow_rate", "table"}) {
    if (section.has(key)) given.emplace_back(key);
  }
  if (given.size() != 1) {
    section.error(given.empty() ? "" : given.back(),
                  fmt::format("{} must have one of velocity [m/s], flow_rate [m3/s] and table (a CSV file), "
                              "not {}",
                              section.title(), given.empty() ? "none" : join(given)));
  }
  Inlet inlet;
  for (const std::string& key : given) {
    if (key == "velocity") {
      inlet.velocity = vector_function(read_vector(section, "velocity", {.unit = velocity_unit}, false));
    } else if (key == "flow_rate") {
      inlet.flow_rate = std::make_shared<const Expression>(read_of_time(
          section, "flow_rate",
          {.allowed = Allowed::NonNegative, .unit = flow_rate_unit, .variables = Variables::Time}));
    } else {
      inlet = read_inlet_table(section);
    }
  }
  return inlet;
}

Inlet FlowReader::read_inlet_table(const Section& section) {
  const auto file = section.string("table");
  if (!file) return {};
  const std::filesystem::path path = folder_ / *file;
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    section.error("table", fmt::format("the table {} does not exist (the path is relative to the case file)",
                                       path.string()));
    return {};
  }
  std::shared_ptr<const Table> table;
  try {
    table = std::make_shared<const Table>(read_table(path));
    case_.tables.push_back(path);
  } catch (const InputErrors& errors) {
    diagnostics_.add(errors);
    return {};
  }
  const bool of_time = table->abscissa == Abscissa::Time;
  if (steady() && of_time) {
    section.error("table", fmt::format("the table {} depends on t, but the case is steady; use a table over "
                                       "x, y or z",
                                       path.string()));
  }
  Inlet inlet;
  if (table->names.size() == 1 && table->names.front() == flow_rate_column) {
    if (!of_time) {
      section.error("table",
                    fmt::format("the table {} has a flow_rate over a position; its first column must "
                                "be t",
                                path.string()));
    }
    if (std::ranges::any_of(table->columns.front(), [](Real rate) { return rate < 0; })) {
      section.error("table", fmt::format("the table {} has a negative flow_rate; an inlet takes fluid in, an "
                                         "outlet lets it out",
                                         path.string()));
    }
    inlet.flow_rate = std::make_shared<const TableFunction>(table, 0);
    return inlet;
  }
  if (!std::ranges::is_permutation(table->names, velocity_columns)) {
    section.error("table", fmt::format("the table {} has the columns {} after the first; expected {}, or "
                                       "{} alone",
                                       path.string(), in_quotes(join(table->names)), join(velocity_columns),
                                       flow_rate_column));
    return inlet;
  }
  std::array<FunctionPointer, 3> components;
  for (std::size_t k = 0; k < 3; ++k) {
    const auto column =
        static_cast<std::size_t>(std::ranges::find(table->names, velocity_columns[k]) - table->names.begin());
    components[k] = std::make_shared<const TableFunction>(table, column);
    if (k == 2 && std::ranges::any_of(table->columns[column], [](Real z) { return z != 0; })) {
      only_in_space(section, "table",
                    fmt::format("the mesh has two dimensions: velocity_z must be 0 all "
                                "through the table {}",
                                path.string()));
    }
  }
  inlet.velocity = std::make_shared<const ComponentVector>(std::move(components));
  return inlet;
}

SolverControl FlowReader::read_control(std::string_view name, const SolverControl& defaults,
                                       Preconditioning& preconditioning) const {
  SolverSettings settings{defaults.relative_tolerance, defaults.max_iterations, preconditioning};
  const FlowTimeSettings& time = case_.time;
  // On flat cells rounding does not let the streamfunction come closer than it has to anyway.
  if (time.steady && !time.courant && time.step > 0 && name != "streamfunction") {
    // Changes of up to 54 times as much have been seen to be left from step to step.
    constexpr Real share = 0.01, least = 1e-10;
    settings.tolerance = std::min(settings.tolerance, std::max(share * time.tolerance * time.step, least));
  }
  read_solver(root_, name, settings);
  preconditioning = settings.preconditioner;
  return {settings.tolerance, defaults.absolute_tolerance, settings.max_iterations};
}

void FlowReader::read_solvers() {
  FlowSettings& flow = case_.flow;
  flow.momentum = read_control("momentum", flow.momentum, flow.momentum_preconditioning);
  flow.pressure = read_control("pressure", flow.pressure, flow.pressure_preconditioning);
  if (case_.method == FlowMethod::ExactFractionalStep) {
    flow.streamfunction =
        read_control("streamfunction", flow.streamfunction, flow.streamfunction_preconditioning);
  }
}

}  // namespace

const ModelOffer& flow_offer() {
  static const ModelOffer offer{
      {{"velocity", "m/s", 3},
       {"pressure", "Pa", 1},
       {"vorticity", "1/s", 3},
       {"q_criterion", "1/s2", 1},
       {"divergence", "1/s", 1},
       {"wall_shear_stress", "Pa", 3},
       {"y_plus", "1", 1},
       {"streamfunction", "m2/s", 1}},
      2,
      {"velocity", "m3/s", "m2/s"},
      {"probe", "line", "extrema", "average", "flux", "forces", "energy", "time-average"},
      3};
  return offer;
}

FlowCase read_flow_case(const CaseFile& file, Location location, const std::filesystem::path& folder,
                        Diagnostics& diagnostics) {
  const Section root = file.root();
  FlowCase flow_case;
  const std::string type = read_model_type(root, diagnostics);
  const auto method = std::ranges::find(flow_method_names, type);
  if (method == flow_method_names.end()) {
    root.table("model").error(
        "type", fmt::format("\"{}\" is no model of a flow; valid models: {}", type, join(flow_method_names)));
    diagnostics.throw_if_any();
  }
  flow_case.method = static_cast<FlowMethod>(method - flow_method_names.begin());
  static_cast<CaseSettings&>(flow_case) =
      read_case_settings(root, std::move(location), folder, flow_offer(), false, diagnostics);
  FlowReader reader(root, folder, flow_case, diagnostics);
  reader.read_model();
  reader.read_time();
  reader.read_fluid();
  reader.read_initial();
  reader.read_boundaries();
  reader.read_solvers();
  check_together(flow_case, root, reader.patches_of_unknown_type(), diagnostics);
  file.finish();
  return flow_case;
}

FlowCase read_flow_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                        Diagnostics& diagnostics) {
  const CaseFile file(path, overrides, diagnostics);
  return read_flow_case(file, {path.string(), 1}, path.parent_path(), diagnostics);
}

std::optional<NamedReference> watched_column(const FlowTimeSettings& time) {
  if (!time.steady || time.quantity.find('.') == std::string::npos) return std::nullopt;
  return NamedReference{time.quantity, time.quantity_location};
}

Real change_left_by_solves(const FlowCase& flow_case, Real step) {
  const FlowSettings& flow = flow_case.flow;
  const bool exact = flow_case.method == FlowMethod::ExactFractionalStep;
  return std::max(flow.momentum.relative_tolerance,
                  (exact ? flow.streamfunction : flow.pressure).relative_tolerance) /
         step;
}

Location place_of(const InputError& error, const FlowCase& flow_case) {
  if (dynamic_cast<const MeanFlowError*>(&error)) return flow_case.mean_flow_location;
  if (const auto* net_flow = dynamic_cast<const NetFlowError*>(&error)) {
    for (const FlowBoundarySettings& boundary : flow_case.boundaries) {
      if (boundary.patch.name == net_flow->patch()) return boundary.patch.location;
    }
  }
  return flow_case.location;
}

std::vector<std::array<NamedReference, 2>> periodic_pairs(const FlowCase& flow_case) {
  std::vector<std::array<NamedReference, 2>> pairs;
  for (const FlowBoundarySettings& boundary : flow_case.boundaries) {
    const auto* periodic = std::get_if<PeriodicSettings>(&boundary.condition);
    if (!periodic) continue;
    const bool known =
        std::ranges::any_of(pairs, [&](const auto& pair) { return pair[1].name == boundary.patch.name; });
    if (!known) pairs.push_back({boundary.patch, periodic->partner});
  }
  return pairs;
}

void check_against_mesh(const FlowCase& flow_case, int dimension, std::span<const std::string> patch_names,
                        std::span<const std::string> region_names, Diagnostics& diagnostics) {
  const MeshNames names(patch_names, region_names, diagnostics);
  std::vector<NamedReference> named;
  for (const FlowBoundarySettings& boundary : flow_case.boundaries) {
    names.check_patch(boundary.patch);
    named.push_back(boundary.patch);
  }
  for (const FlowBoundarySettings& boundary : flow_case.boundaries) {
    const auto* periodic = std::get_if<PeriodicSettings>(&boundary.condition);
    if (!periodic || periodic->partner.name.empty()) continue;  // nameless: reported
    if (std::ranges::find(named, periodic->partner.name, &NamedReference::name) != named.end()) continue;
    names.check_patch(periodic->partner);
    named.push_back(periodic->partner);
  }
  names.check_monitors(flow_case.monitors);
  names.require_all_patches(named, flow_case.location,
                            "a condition (type = \"wall\" where the fluid sticks)");
  const auto& wrong =
      dimension == 2 ? flow_case.wrong_in_two_dimensions : flow_case.wrong_in_three_dimensions;
  for (const Diagnostic& diagnostic : wrong) diagnostics.error(diagnostic.location, diagnostic.message);
}

FlowSettings flow_settings(const FlowCase& flow_case, const Mesh& mesh) {
  struct ToBoundary {
    FlowBoundary operator()(const Wall& wall) const { return wall; }
    FlowBoundary operator()(const Inlet& inlet) const { return inlet; }
    FlowBoundary operator()(const Outlet& outlet) const { return outlet; }
    FlowBoundary operator()(const Symmetry& symmetry) const { return symmetry; }
    FlowBoundary operator()(const PeriodicSettings& periodic) const {
      throw Error("a periodic patch, the partner of '" + periodic.partner.name + "', was not joined");
    }
  };
  FlowSettings flow = flow_case.flow;
  for (const Patch& patch : mesh.topology().patches()) {
    const auto boundary = std::ranges::find(flow_case.boundaries, patch.name,
                                            [](const FlowBoundarySettings& b) { return b.patch.name; });
    REQUIRE(boundary != flow_case.boundaries.end(), "no boundary condition for patch '" + patch.name + "'");
    flow.boundaries.push_back(std::visit(ToBoundary{}, boundary->condition));
  }
  return flow;
}

}  // namespace curlew
