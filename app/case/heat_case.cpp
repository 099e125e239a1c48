// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/heat_case.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace curlew {

namespace {

constexpr const char* temperature_unit = "K";

/// Returns as read_steady().
bool read_time(const Section& root, TimeSettings& time) {
  const Section section = root.table("time", {.required = true});
  const bool transient = read_steady(section, time);
  if (time.steady) {
    refuse_with_steady(section, std::array{"start", "end", "step", "wall_limit"});
    return transient;
  }
  read_start_and_end(section, time, transient);
  assign(time.step, read_step(section, "step", time, transient));
  time.wall_limit = read_wall_limit(section);
  return transient;
}

void read_materials(const Section& root, bool transient, HeatCase& heat_case) {
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
    material.source = read_expression(section, "source", {.unit = "W/m3"}, heat_case.time.steady);
    heat_case.materials.push_back(std::move(material));
  }
}

/// Returns whether a patch may hold the temperature.
bool read_boundaries(const Section& root, HeatCase& heat_case) {
  enum Type : std::size_t { Temperature, HeatFlux, Insulated, Convection };
  const std::array<std::string, 4> types = {"temperature", "heat-flux", "insulated", "convection"};
  const bool steady = heat_case.time.steady;
  bool may_hold = false;
  for (const auto& [patch, section] : root.tables("boundary")) {
    BoundarySettings boundary{{patch, section.location()}, {}};
    const auto type = section.choice("type", types, {.required = true});
    may_hold = may_hold || !type || *type == Temperature || *type == Convection;
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
  return may_hold || heat_case.boundaries.empty();
}

}  // namespace

const ModelOffer& heat_offer() {
  static const ModelOffer offer{{{"temperature", "K", 1}, {"gradient", "K/m", 3}, {"heat_flux", "W/m2", 3}},
                                1,
                                {"temperature", "W", "W/m"},
                                {"probe", "line", "extrema", "average", "flux"}};
  return offer;
}

HeatCase read_heat_case(const CaseFile& file, Location location, const std::filesystem::path& folder,
                        Diagnostics& diagnostics) {
  const Section root = file.root();
  HeatCase heat_case;
  read_model_type(root, diagnostics);
  const std::array<std::string, 2> schemes = {"crank-nicolson", "backward-euler"};
  assign(heat_case.scheme, root.table("model").choice("scheme", schemes));
  const bool transient = read_time(root, heat_case.time);
  const bool steady = heat_case.time.steady;
  if (const Section model = root.table("model"); steady && model.has("scheme")) {
    model.error("scheme", "scheme of [model], in time, has no meaning in a steady case; drop it");
  }
  static_cast<CaseSettings&>(heat_case) =
      read_case_settings(root, std::move(location), folder, heat_offer(), steady, diagnostics);
  read_materials(root, transient, heat_case);
  const bool may_hold = read_boundaries(root, heat_case);
  // A steady state does not depend on where it starts, but for its mean where no patch sets that.
  const Section initial = root.table("initial", {.required = transient});
  assign(heat_case.initial_temperature,
         initial.expression("temperature", {.required = transient, .unit = temperature_unit}));
  if (steady && !may_hold && !initial.has("temperature")) {
    diagnostics.error(heat_case.time.steady_location,
                      "no patch is of type temperature or convection, so that the steady state is known but "
                      "for its mean; give temperature of [initial], whose mean it keeps");
  }
  read_solver(root, "temperature", heat_case.solver);
  file.finish();
  return heat_case;
}

HeatCase read_heat_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                        Diagnostics& diagnostics) {
  const CaseFile file(path, overrides, diagnostics);
  return read_heat_case(file, {path.string(), 1}, path.parent_path(), diagnostics);
}

void require_mean(const HeatCase& heat_case, bool is_tied) {
  if (is_tied || heat_case.initial_temperature) return;
  throw InputErrors(heat_case.time.steady_location,
                    "a part of the domain has no patch of type temperature or convection, so that its steady "
                    "state is known but for its mean; give temperature of [initial], whose mean it keeps");
}

Location place_of(const InputError&, const HeatCase& heat_case) {
  return heat_case.time.steady ? heat_case.time.steady_location : heat_case.location;
}

void check_names_against_mesh(const HeatCase& heat_case, std::span<const std::string> patch_names,
                              std::span<const std::string> region_names, Diagnostics& diagnostics) {
  const MeshNames names(patch_names, region_names, diagnostics);
  std::vector<NamedReference> patches, regions;
  for (const BoundarySettings& boundary : heat_case.boundaries) patches.push_back(boundary.patch);
  for (const MaterialSettings& material : heat_case.materials) regions.push_back(material.region);
  for (const NamedReference& patch : patches) names.check_patch(patch);
  for (const NamedReference& region : regions) names.check_region(region);
  names.check_monitors(heat_case.monitors);
  names.require_all_patches(patches, heat_case.location,
                            "a condition (type = \"insulated\" where no heat passes)");
  names.require_all_regions(regions, heat_case.location,
                            "a conductivity, in transient cases density and heat_capacity too");
}

}  // namespace curlew
