// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "app/case_file.hpp"
#include "app/diagnostics.hpp"
#include "app/expression.hpp"
#include "app/mesh_settings.hpp"
#include "kernels/vector3.hpp"
#include "physics/heat_diffusion.hpp"

namespace curlew {

/// [time]
struct TimeSettings {
  bool steady = false;  ///< solve for the steady state once; the others mean nothing then
  Real start = 0;       ///< [s]
  Real end = 0;         ///< [s], after start
  Real step = 0;        ///< [s]
};

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

enum class PreconditionerChoice { Jacobi, None };

/// [solver.temperature]
struct HeatSolverSettings {
  Real tolerance = 1e-10;  ///< relative, on the l2 norm of the residual
  std::int64_t max_iterations = 10000;
  PreconditionerChoice preconditioner = PreconditionerChoice::Jacobi;
};

/// What can be written or monitored: temperature [K], its gradient [K/m], heat flux density [W/m2].
enum class HeatField { Temperature, Gradient, HeatFlux };

/// As users write them, in the order of HeatField.
inline const std::array<std::string, 3> heat_field_names = {"temperature", "gradient", "heat_flux"};

/// When something is written: at most one of the two is set; neither: the default of what is scheduled.
struct ScheduleSettings {
  std::optional<Real> interval;       ///< [s]
  std::optional<std::int64_t> every;  ///< [steps]
};

/// [output]
struct OutputSettings {
  std::filesystem::path directory;  ///< ready to use; the case file's own folder is the base of relative ones
  ScheduleSettings schedule;        ///< neither: the end of the run only
  std::vector<HeatField> fields = {HeatField::Temperature};
  std::optional<Real> checkpoint;  ///< time between checkpoints [s]; nothing: none but the last
};

/// Values at points.
struct ProbeSettings {
  std::vector<Vector3> points;  ///< [m]
  std::vector<HeatField> fields;
};

/// Values at points spaced evenly from end to end, both included.
struct LineSettings {
  Vector3 from, to;        ///< [m], different
  std::int64_t count = 2;  ///< points, at least 2
  std::vector<HeatField> fields;
};

/// Smallest and largest value and where.
struct ExtremaSettings {
  std::vector<HeatField> fields;
};

/// Volume mean.
struct AverageSettings {
  std::vector<HeatField> fields;
  std::optional<NamedReference> region;  ///< nothing: the whole domain
};

/// Heat flow out of the domain [W].
struct FluxSettings {
  std::vector<NamedReference> patches;
};

/// [monitor.NAME]
struct MonitorSettings {
  std::string name;  ///< fit for a file name
  Location location;
  ScheduleSettings schedule;  ///< neither: every step, for lines the output times
  std::variant<ProbeSettings, LineSettings, ExtremaSettings, AverageSettings, FluxSettings> what;
};

/// Everything a heat-diffusion case says.
struct HeatCase {
  Location location;  ///< the file
  std::string name;   ///< [case] name; without it the name of the file
  MeshSettings mesh;
  HeatScheme scheme = HeatScheme::CrankNicolson;
  TimeSettings time;
  Expression initial_temperature;  ///< [K]
  std::vector<MaterialSettings> materials;
  std::vector<BoundarySettings> boundaries;
  HeatSolverSettings solver;
  OutputSettings output;
  std::vector<MonitorSettings> monitors;
};

/// Reads a case of the model "heat-diffusion". What is wrong in it goes to `diagnostics`, and the parts
/// concerned keep their defaults: the case may be run only if `diagnostics` stays empty. Throws InputErrors
/// when the file cannot be read, is not TOML, or is of another model. `overrides`: see CaseFile.
HeatCase read_heat_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                        Diagnostics& diagnostics);

/// Reads it from an open file; relative paths start at `folder`.
HeatCase read_heat_case(const CaseFile& file, Location location, const std::filesystem::path& folder,
                        Diagnostics& diagnostics);

/// Reports patches and regions that the case names and the mesh does not have, and those of the mesh without
/// a boundary condition or material.
void check_names_against_mesh(const HeatCase& heat_case, std::span<const std::string> patch_names,
                              std::span<const std::string> region_names, Diagnostics& diagnostics);

}  // namespace curlew
