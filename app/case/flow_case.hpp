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

#include "app/case/case_settings.hpp"
#include "mesh/mesh.hpp"
#include "physics/flow/flow_settings.hpp"

namespace curlew {

/// How a time step is made.
enum class FlowMethod { ClassicalFractionalStep, ExactFractionalStep };

/// [model] type of a flow, in the order of FlowMethod.
inline const std::array<std::string, 2> flow_method_names = {"classical-fractional-step",
                                                             "exact-fractional-step"};

/// [time] of a flow, which runs to a steady state through time too.
struct FlowTimeSettings : TimeSettings {
  std::optional<Real> courant;   ///< steps as long as this Courant number allows; `step` is the first, or 0
  std::optional<Real> max_step;  ///< but not longer [s]
  // What ends a steady run, which has no `end`:
  Real tolerance = 1e-6;              ///< the relative change of `quantity` per time falls below it [1/s]
  Location tolerance_location;        ///< in the case file
  std::string quantity = "velocity";  ///< or "kinetic_energy", or MONITOR.COLUMN
  Location quantity_location;         ///< in the case file
  std::int64_t max_steps = 100000;    ///< not converged by then
};

/// What leaves through this patch enters through the other one, which may name this one or stay unmentioned.
struct PeriodicSettings {
  NamedReference partner;
};

/// [boundary.PATCH]
struct FlowBoundarySettings {
  NamedReference patch;
  std::variant<Wall, Inlet, Outlet, Symmetry, PeriodicSettings> condition;
};

/// Types of [boundary.PATCH], in the order of the condition's alternatives.
inline const std::array<std::string, 5> flow_boundary_types = {"wall", "inlet", "outlet", "symmetry",
                                                               "periodic"};

/// Everything a case of incompressible flow says.
struct FlowCase : CaseSettings {
  FlowMethod method = FlowMethod::ClassicalFractionalStep;
  FlowTimeSettings time;
  FlowSettings flow;  ///< without its boundaries, which need the mesh: see flow_settings
  std::vector<FlowBoundarySettings> boundaries;
  VectorFunctionPointer initial_velocity;             ///< [m/s]; null: at rest
  std::optional<std::filesystem::path> initial_file;  ///< of an earlier run, instead; ready to open
  Location initial_file_location;                     ///< in the case file
  Location mean_flow_location;                        ///< of its direction, in the case file
  /// What is wrong if the mesh turns out to have two dimensions, or three.
  std::vector<Diagnostic> wrong_in_two_dimensions, wrong_in_three_dimensions;
};

/// Velocity and pressure, what follows from them, and the volume flow.
const ModelOffer& flow_offer();

/// Reads a case of incompressible flow. What is wrong in it goes to `diagnostics`, and the parts concerned
/// keep their defaults: the case may be run only if `diagnostics` stays empty. Throws InputErrors when the
/// file cannot be read, is not TOML, or is of another model. `overrides`: see CaseFile.
FlowCase read_flow_case(const std::filesystem::path& path, std::span<const std::string> overrides,
                        Diagnostics& diagnostics);

/// Reads it from an open file; relative paths start at `folder`.
FlowCase read_flow_case(const CaseFile& file, Location location, const std::filesystem::path& folder,
                        Diagnostics& diagnostics);

/// The MONITOR.COLUMN that ends a steady run; nothing where something else does.
std::optional<NamedReference> watched_column(const FlowTimeSettings& time);

/// What the tolerances of a flow's solves alone leave of change per time, relative to its size, in steps of
/// that length [1/s]: it does not become steadier.
Real change_left_by_solves(const FlowCase& flow_case, Real step);

/// Where a case asks for what its flow finds wrong: what the mean flow or the first inlet is to be, or
/// nothing in particular.
Location place_of(const InputError& error, const FlowCase& flow_case);

/// The pairs of patches that [boundary.*] joins, each once, as first named.
std::vector<std::array<NamedReference, 2>> periodic_pairs(const FlowCase& flow_case);

/// Reports patches and regions that the case names and the mesh does not have, patches of the mesh without a
/// boundary condition, and what does not go with its number of dimensions. The mesh is the one of the file,
/// its periodic patches not joined yet.
void check_against_mesh(const FlowCase& flow_case, int dimension, std::span<const std::string> patch_names,
                        std::span<const std::string> region_names, Diagnostics& diagnostics);

/// The flow that a case describes on a mesh that it was checked against, periodic patches joined: a condition
/// for every patch left.
FlowSettings flow_settings(const FlowCase& flow_case, const Mesh& mesh);

}  // namespace curlew
