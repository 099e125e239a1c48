// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/error.hpp"
#include "physics/space_time_function.hpp"
#include "physics/vector_function.hpp"
#include "solvers/linear_solver.hpp"

namespace curlew {

/// The fluid sticks to the wall. A wall may push fluid away where it moves along its normal (a crank at an
/// instant).
struct Wall {
  VectorFunctionPointer velocity;         ///< [m/s]; null: still
  std::optional<RigidRotation> rotation;  ///< of a rigid body, instead of `velocity`
};

/// Fluid enters with a given velocity.
struct Inlet {
  VectorFunctionPointer velocity;  ///< [m/s]; null: along the inward normal, so that `flow_rate` enters
  FunctionPointer flow_rate;  ///< into the domain [m3/s], a function of time; null where velocity is given
};

/// Fluid leaves freely: -p n + nu du/dn = -p_outside n.
struct Outlet {
  FunctionPointer pressure;  ///< outside [Pa]
};

/// No flow through it, no friction along it.
struct Symmetry {};

using FlowBoundary = std::variant<Wall, Inlet, Outlet, Symmetry>;

/// How momentum is carried (docs/incompressible-flow.md).
enum class ConvectionScheme {
  Central,       ///< conserves kinetic energy; second order
  Upwind,        ///< first order
  Blended,       ///< central with a share of upwind
  LinearUpwind,  ///< second order; takes what is not linear from cell to cell
  None           ///< creeping flow
};

/// How a step in time is taken.
enum class FlowScheme {
  Sbdf2,             ///< second-order backward differences, convection extrapolated
  CrankNicolsonAb2,  ///< viscosity by Crank–Nicolson, convection by Adams–Bashforth
  Euler,             ///< viscosity implicit, convection explicit; first order
  SspRk2,
  SspRk3,
  SspRk4,   ///< strong-stability-preserving Runge–Kutta of that order, all explicit
  Midpoint  ///< implicit midpoint rule, exact method only: conserves kinetic energy to round-off
};

/// A uniform force along a direction, as strong as it takes to hold the mean velocity along it: what drives a
/// periodic channel.
struct MeanFlow {
  Vector3 direction;  ///< any length but zero
  Real velocity = 0;  ///< volume mean of the velocity along the direction [m/s]
};

/// A mean flow that cannot be held.
class MeanFlowError : public InputError {
 public:
  using InputError::InputError;
};

/// More fluid enters a closed part of the domain than leaves it, or less.
class NetFlowError : public InputError {
 public:
  /// `patch`: the name of that through which most of it passes.
  NetFlowError(const std::string& message, std::string patch)
      : InputError(message), patch_(std::move(patch)) {}
  const std::string& patch() const { return patch_; }

 private:
  std::string patch_;
};

struct FlowSettings {
  Real viscosity = 0;                ///< kinematic [m2/s], not negative
  Real density = 1;                  ///< [kg/m3]; scales pressure and forces only
  VectorFunctionPointer body_force;  ///< per mass [m/s2]; null: none
  std::optional<MeanFlow> mean_flow;
  std::vector<FlowBoundary> boundaries;  ///< one per patch of the mesh
  ConvectionScheme convection = ConvectionScheme::Central;
  Real blend = 0.1;  ///< share of upwind in Blended, 0 to 1
  FlowScheme scheme = FlowScheme::Sbdf2;
  SolverControl momentum{1e-8, 0, 10000};  ///< face velocities: the step's, and the tangential ones
  SolverControl pressure{1e-8, 0,
                         10000};  ///< relative to the sum of |U| over a cell's faces: divergence left
  SolverControl streamfunction{1e-8, 0, 10000};  ///< the exact method's step
  Preconditioning pressure_preconditioning = Preconditioning::Multigrid;
  Preconditioning momentum_preconditioning = Preconditioning::Multigrid;
  Preconditioning streamfunction_preconditioning = Preconditioning::Multigrid;
};

/// Whether convection has a part of upwind, which takes fields of its own.
inline bool upwinds(const FlowSettings& settings) {
  return settings.convection != ConvectionScheme::Central && settings.convection != ConvectionScheme::None;
}
inline bool upwinds_linearly(const FlowSettings& settings) {
  return settings.convection == ConvectionScheme::LinearUpwind;
}

}  // namespace curlew
