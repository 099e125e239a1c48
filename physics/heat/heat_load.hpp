// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mesh/mesh.hpp"
#include "physics/heat/heat_settings.hpp"
#include "physics/heat/heat_sources.hpp"

namespace curlew {

/// Of a given temperature: what changes by no more has not changed.
inline constexpr Real rounding_of_held = 1e-12;

/// What acts on the temperatures of nodes at a time: sources, boundary fluxes, convection and given
/// temperatures; and what leaves through each patch.
///
/// Boundary values are taken at nodes (temperature) or face centroids (flux, convection), and those of faces
/// shared among the nodes by area; a node between patches of different given temperature takes their mean
/// weighted by area.
class HeatLoad {
 public:
  /// Mesh and settings must outlive it. Holds nothing before the first update().
  HeatLoad(const Executor& executor, const Mesh& mesh, const HeatSettings& settings);
  ~HeatLoad();

  /// Takes the values of `time` [s]; returns whether the convection() may have changed. Throws InputError for
  /// a negative convection coefficient, and what the functions throw. On all ranks together.
  bool update(Real time);

  /// What given temperatures do in a step.
  struct HeldChange {
    bool jumps = false;       ///< within it
    bool jumps_late = false;  ///< in its second half, so that the next step feels it, too
  };
  /// What they do from the last update(), at `start`, to `end` [s], by themselves and by what they did in the
  /// step before, from `before` on; without it they did nothing then. Where there is no value at one of the
  /// times that are looked at nothing is said. On all ranks together.
  HeldChange held_change(std::optional<Real> before, Real start, Real end) const;

  const Field<Node, std::uint8_t>& held() const { return held_; }  ///< 1 where the temperature is given
  const std::vector<std::uint8_t>& held_on_host() const { return held_on_host_; }
  const Field<Node>& held_temperature() const { return held_temperature_; }  ///< [K]
  const Field<Node>& convection() const { return convection_; }              ///< sum of h A [W/K]
  bool convection_depends_on_time() const;
  const std::vector<Real>& convection_on_host() const { return convection_on_host_; }
  /// Sources, boundary fluxes and h A T_ambient [W].
  const DualCochain<Node>& at_nodes() const { return at_nodes_; }
  Real source() const { return source_; }  ///< released inside, all of it [W]

  /// Outflow through each patch while nodes have these temperatures [W]. Of patches of given temperature it
  /// is what the patch takes of the heat of nodes that such patches share, beyond its share by area: 0 in
  /// sum, to be added to held_outflow().
  std::vector<Real> outflows(const PrimalCochain<Node>& temperature) const;
  /// Outflow through a patch of given temperature, by its share by area, where so much has to be supplied at
  /// nodes to hold them [W].
  Real held_outflow(std::size_t patch, const DualCochain<Node>& supplied) const;

 private:
  /// A linear function of node values: a sum of values with weights, on the executor.
  class WeightedSum;
  /// What a patch does.
  struct PatchLoad {
    std::vector<Real> load, convection;  // of each of its patch_places_ [W], [W/K]
    std::vector<Real> temperature;       // where it is given, of each of its patch_nodes_ [K]
    Real outflow = 0;                    // whatever the temperatures [W]
  };

  void find_held_nodes();
  std::size_t place_of(Index node) const { return static_cast<std::size_t>(place_of_node_[at(node)]); }
  void divide_shared_nodes();
  PatchLoad load_of(const Insulated&, std::size_t, Real) const { return {}; }
  PatchLoad load_of(const FixedTemperature& fixed, std::size_t patch, Real time) const;
  PatchLoad load_of(const HeatFlux& flux, std::size_t patch, Real time) const;
  PatchLoad load_of(const Convection& convection, std::size_t patch, Real time) const;

  Executor executor_;
  const Mesh& mesh_;
  const HeatSettings& settings_;
  bool updated_ = false;

  Field<Node, std::uint8_t> held_;
  Field<Node> held_temperature_, convection_;
  DualCochain<Node> at_nodes_;
  std::vector<std::uint8_t> held_on_host_;
  std::vector<Real> convection_on_host_;
  HeatSources sources_;
  std::vector<Real> source_in_cells_;     // [W/m3]; kept where it changes in time
  std::vector<Real> source_at_boundary_;  // of each of boundary_nodes_ [W]
  Real source_ = 0;                       // [W]
  std::vector<PatchLoad> patch_load_;

  ConstantArray<Index> boundary_nodes_;  // of patches that are not insulated, those of other ranks too
  std::vector<Index> place_of_node_;     // of each node among these; -1 elsewhere
  std::vector<std::vector<Index>> patch_places_;        // of each patch that is not insulated, among these
  std::vector<std::vector<Index>> patch_nodes_;         // own nodes of the same
  std::vector<std::vector<Real>> held_share_;           // of each of them in patches of given temperature
  std::vector<std::unique_ptr<WeightedSum>> held_sum_;  // of the same, on the executor; else null
  /// What else leaves through a patch with the temperature: convection, or what a patch of given temperature
  /// takes at shared nodes; null where nothing does.
  std::vector<std::unique_ptr<WeightedSum>> temperature_sum_;
};

/// Splits a face into its nodes' shares of area: calls `visit(node, area)` [m2], such that the sum of area
/// times value is the integral of the values' linear interpolation over the face.
void visit_face_shares(const Mesh& mesh, Id<Face> f, const std::function<void(Id<Node>, Real)>& visit);

}  // namespace curlew
