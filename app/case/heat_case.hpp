// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/case/case_settings.hpp"
#include "app/case/expression.hpp"
#include "app/diagnostics.hpp"
#include "physics/heat/heat_settings.hpp"

namespace curlew {

/// [material.REGION]
struct MaterialSettings {
  NamedReference region;
  Real conductivity = 0;   ///< [W/(m K)]
  Real density = 0;        ///< [kg/m3]; 0 where a steady case leaves it out
  Real heat_capacity = 0;  ///< [J/(kg K)]; 0 where a steady case leaves it out
  Expression source;       ///< heat released per volume and time [W/m3]
};

/// No heat passes.
struct InsulatedSettings {};

struct FixedTemperatureSettings {
  Expression value;  ///< [K]
};

struct HeatFluxSettings {
  Expression value;  ///< into the domain [W/m2]
};

/// Heat into the domain: coefficient (ambient - temperature).
struct ConvectionSettings {
  Expression coefficient;  ///< [W/(m2 K)]
  Expression ambient;      ///< [K]
};

/// [boundary.PATCH]
struct BoundarySettings {
  NamedReference patch;
  std::variant<InsulatedSettings, FixedTemperatureSettings, HeatFluxSettings, ConvectionSettings> condition;
};

/// Everything a heat-diffusion case says.
struct HeatCase : CaseSettings {
  HeatScheme scheme = HeatScheme::CrankNicolson;
  TimeSettings time;
  std::optional<Expression> initial_temperature;  ///< [K]; only a steady state may do without
  std::vector<MaterialSettings> materials;
  std::vector<BoundarySettings> boundaries;
  SolverSettings solver;  ///< [solver.temperature]
};

/// Temperature, its gradient, and the density of heat flux.
const ModelOffer& heat_offer();

/// Reads a case of the model "heat-diffusion". What is wrong in it goes to `diagnostics`, and the parts
/// concerned keep their defaults: the case may be run only if `diagnostics` stays empty. Throws InputErrors
/// when the file cannot be read, is not TOML, or is of another model. `overrides`: see CaseFile.
HeatCase read_heat_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                        Diagnostics& diagnostics);

/// Reads it from an open file; relative paths start at `folder`.
HeatCase read_heat_case(const CaseFile& file, Location location, const std::filesystem::path& folder,
                        Diagnostics& diagnostics);

/// Throws InputErrors where a steady case gives no mean temperature to a domain of which a part is tied to
/// none. `is_tied`: whether every part is.
void require_mean(const HeatCase& heat_case, bool is_tied);

/// Where a case asks for what its simulation finds wrong: the steady state that is not there.
Location place_of(const InputError& error, const HeatCase& heat_case);

/// Reports patches and regions that the case names and the mesh does not have, and those of the mesh without
/// a boundary condition or material.
void check_names_against_mesh(const HeatCase& heat_case, std::span<const std::string> patch_names,
                              std::span<const std::string> region_names, Diagnostics& diagnostics);

}  // namespace curlew
