// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "mesh/mesh.hpp"
#include "operators/node_diffusion.hpp"
#include "physics/heat_history.hpp"
#include "physics/space_time_function.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/null_space.hpp"
#include "solvers/preconditioners.hpp"

namespace curlew {

/// What a region of the mesh is made of.
struct HeatMaterial {
  Real conductivity = 0;              ///< [W/(m K)]
  Real volumetric_heat_capacity = 0;  ///< density times heat capacity [J/(m3 K)]; unused by a steady solve
  FunctionPointer source;             ///< heat released per volume and time [W/m3]
};

struct Insulated {};
struct FixedTemperature {
  FunctionPointer value;  ///< [K]
};
struct HeatFlux {
  FunctionPointer value;  ///< into the domain [W/m2]
};
struct Convection {
  FunctionPointer coefficient;  ///< [W/(m2 K)], not negative
  FunctionPointer ambient;      ///< [K]
};
using HeatBoundary = std::variant<Insulated, FixedTemperature, HeatFlux, Convection>;

enum class HeatScheme { CrankNicolson, BackwardEuler };

struct HeatSettings {
  std::vector<HeatMaterial> materials;   ///< one per region of the mesh
  std::vector<HeatBoundary> boundaries;  ///< one per patch of the mesh
  HeatScheme scheme = HeatScheme::CrankNicolson;
  SolverControl solver;
  Preconditioning preconditioning = Preconditioning::Multigrid;
};

/// Where heat went, on average over the last step (at the end of it, for a steady solve). Before the first
/// step what flows at its beginning, and not-a-number through patches of given temperature: what it takes to
/// bring them there is for the step to tell.
struct HeatBalance {
  std::vector<Real> outflow;  ///< through each patch, outward [W]
  Real source = 0;            ///< released inside [W]
  Real stored = 0;            ///< taken up by the material [W]
  /// What is missing from source = stored + total outflow [W]; at most the solver's tolerance.
  Real imbalance() const;
  /// The heat that changes place [W], to compare the imbalance with.
  Real throughput() const;
};

/// Node-based heat diffusion, rho c V dT/dt = -K T + boundary + source: temperatures at nodes, heat stored in
/// median dual volumes, conducted by NodeDiffusion. Menon, UMass thesis (2008), chapter 3; the linear finite
/// element with lumped mass on simplices. Second order in space; in time second (Crank–Nicolson) or first
/// order (backward Euler).
///
/// Crank–Nicolson starts with one step made of two half steps of backward Euler, which damps what an initial
/// field that contradicts the boundary values would let oscillate (Rannacher, Numer. Math. 43, 1984).
///
/// On a mesh divided among ranks every rank solves for its nodes, with an executor among the ranks; all calls
/// are made by all ranks together, and the bits are those of one rank. Values at ghosts have no meaning.
///
/// Each step's solve starts from the last temperature, given temperatures put in, improved by what the last
/// steps changed (SolutionHistory).
///
/// Boundary values are taken at nodes (temperature) or face centroids (flux, convection); a node between
/// patches of different fixed temperature takes their mean weighted by area.
class HeatDiffusion {
 public:
  /// Throws InputError for a negative convection coefficient.
  HeatDiffusion(const Executor& executor, const Mesh& mesh, HeatSettings settings);
  ~HeatDiffusion();

  /// Starts at `time` [s] from a field of temperatures [K].
  void start(const SpaceTimeFunction& temperature, Real time);
  /// What a run that resumes from it goes on from, to the same bits.
  RunState state() const;
  /// Goes on from the state of an earlier run, with whatever settings. Throws InputError for a state of
  /// another mesh.
  void resume(const RunState& state);

  /// One time step to `time` [s], later than now. Throws DivergedError as ConjugateGradient does, and what
  /// the boundary values and sources throw; temperature, time and steps are then those before.
  SolveReport advance_to(Real time);
  /// Solves for the steady state under the boundary values and sources of the present time. A part of the
  /// domain without fixed temperature or convection keeps its mean temperature; throws InputError if heat
  /// flows into it.
  SolveReport solve_steady();

  const PrimalCochain<Node>& temperature() const { return temperature_; }
  Real time() const { return time_; }
  std::int64_t steps() const { return steps_; }
  const HeatBalance& balance() const { return balance_; }
  /// Conductivity of each cell [W/(m K)].
  const std::vector<Real>& conductivity() const { return conductivity_; }

 private:
  /// Nodes of a patch with weights, on the executor.
  struct PatchNodes;
  class System;
  class Capacity;

  void begin(Real time, std::int64_t steps);
  void assemble(Real time);
  bool depends_on_time() const;
  bool convection_varies() const;
  HeatHistory& history();
  SolveReport solve(Real per_step, Real implicit_weight, const NullSpace<PrimalCochain<Node>>* null_space);
  SolveReport advance(Real time, Real implicit_weight);
  void set_preconditioner(Real per_step, Real implicit_weight);
  void compute_inflow();
  void compute_balance(Real per_step, Real implicit_weight);

  Executor executor_;
  const Mesh& mesh_;
  HeatSettings settings_;
  std::vector<Real> conductivity_;
  NodeDiffusion diffusion_;

  Real time_ = 0;
  std::int64_t steps_ = 0;
  bool assembled_ = false;
  Real total_volume_ = 0;  // [m3]

  PrimalCochain<Node> temperature_, previous_;  // [K]
  Field<Node> capacity_;                        // rho c V [J/K]
  Field<Node> volume_;                          // [m3]
  Field<Node, std::uint8_t> held_;              // 1 where the temperature is given
  Field<Node> held_temperature_;                // [K]
  Field<Node> convection_;                      // sum of h A [W/K]
  DualCochain<Node> load_;                      // sources, boundary fluxes, h A T_ambient [W]
  DualCochain<Node> inflow_, previous_inflow_;  // load - convection T - K T [W]
  DualCochain<Node> right_hand_side_;           // [W]
  DualCochain<Node> diagonal_;                  // [W/K]
  DualCochain<Node> supplied_;                  // what must be supplied at each node to hold it [W]

  std::vector<std::unique_ptr<PatchNodes>> patch_nodes_;  // null for insulated patches
  std::vector<Real> convection_host_;                     // [W/K]
  std::vector<std::uint8_t> held_host_;
  /// Outflow through flux and convection patches, and source, at the present and the previous time [W].
  std::vector<Real> patch_outflow_, previous_patch_outflow_, given_outflow_;
  Real source_ = 0, previous_source_ = 0;

  std::unique_ptr<HeatHistory> history_;  // null before the first step
  ConjugateGradient<PrimalCochain<Node>> solver_;
  std::unique_ptr<Preconditioner<PrimalCochain<Node>>> preconditioner_;
  std::optional<std::pair<Real, Real>> preconditioner_for_;  // the step and weight that it was made for
  HeatBalance balance_;
};

/// Splits a face into its nodes' shares of area: calls `visit(node, area)` [m2], such that the sum of area
/// times value is the integral of the values' linear interpolation over the face.
void visit_face_shares(const Mesh& mesh, Id<Face> f, const std::function<void(Id<Node>, Real)>& visit);

}  // namespace curlew
