// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "kernels/field.hpp"
#include "mesh/mesh.hpp"
#include "physics/flow/flow_settings.hpp"
#include "physics/flow/flow_state.hpp"

namespace curlew {

/// What one step tells the log.
struct FlowStepReport {
  std::map<std::string, SolveReport> solves;  ///< "momentum", "tangential", "pressure", …: iterations summed,
                                              ///< the worst residual
  Real divergence_max = 0;  ///< largest |D U| of a cell over the sum of |U| over the faces of a mean cell
  Real divergence_l2 = 0;   ///< |D U| over | |D| |U| | in the l2 norm
  Real courant = 0;         ///< largest Courant number of the step taken
  Real kinetic_energy = 0;  ///< 1/2 rho U . M U [J] (two dimensions: per unit depth)
};

/// A run of incompressible flow, whatever the method: unknowns are the fluxes through faces U, the face
/// velocities v that follow from them (their tangential parts minimise viscous dissipation), and a pressure
/// in the cells. docs/incompressible-flow.md.
///
/// On a mesh divided among ranks every rank has the values of its part, with an executor among the ranks; all
/// calls but accessors are made by all ranks together, and pressure() as well. The bits
/// are those of one rank. Ghosts of fluxes, velocities and pressure are up to date after every call.
class IncompressibleFlow {
 public:
  virtual ~IncompressibleFlow() = default;

  /// Starts at `time` [s] from a velocity [m/s], made divergence-free and to fit the boundary values. Throws
  /// InputError where a closed part of the domain has a net inflow, with the imbalance.
  virtual FlowStepReport start(const VectorFunction& velocity, Real time) = 0;
  /// Starts from face fluxes by face [m3/s] of an earlier run on the same mesh.
  virtual FlowStepReport start(std::span<const Real> flux, Real time) = 0;
  virtual FlowState state() const = 0;
  /// Goes on from the state of an earlier run on the same mesh with the same scheme. Throws InputError for
  /// one that does not fit.
  virtual void resume(const FlowState& state) = 0;

  /// One time step of length `step` to the time `end` [s], which is time() + step but for rounding: given
  /// from outside, so that the times of many steps do not drift. Throws DivergedError, naming cell,
  /// coordinates and time, when a value is not a number, and as ConjugateGradient does; and what the boundary
  /// values and body forces throw. The flow is then as it was, to the bit, but for guesses: these are
  /// forgotten where solves had begun, so that boundary forces may differ by what their solve leaves. On
  /// several ranks it is so after a DivergedError alone: what else is thrown, other ranks may know nothing
  /// of.
  virtual FlowStepReport advance(Real step, Real end) = 0;
  FlowStepReport advance(Real step) { return advance(step, time() + step); }

  virtual Real time() const = 0;  ///< [s]
  virtual std::int64_t steps() const = 0;
  /// Largest Courant number of a step of 1 s: max over cells of sum_f |U_f| / (2 V) [1/s].
  virtual Real courant_rate() const = 0;
  /// The same, at least, with the fluxes that boundaries which change in time give at another `time` [s]: see
  /// FlowBoundaries::courant_rate_at.
  virtual Real courant_rate_of_boundaries(Real time) const = 0;
  /// What of courant_rate() is too fast for viscosity to damp: max over cells of the lesser of their Courant
  /// rate and |u|^2 / nu [1/s]. A wave of number k that explicit convection makes grow, |u| k dt above one,
  /// implicit viscosity damps where nu k^2 exceeds |u| k: none grows unless |u|^2 dt / nu, too, is above one.
  /// (Ascher, Ruuth & Wetton, SIAM J. Numer. Anal. 32, 1995, have the regions.) Where viscosity is explicit
  /// or none it is the Courant rate.
  virtual Real convection_rate() const = 0;
  /// The longest step that is stable where viscosity is explicit, by nearly the largest rate at which it
  /// makes fluxes decay [s]; infinite where it is implicit or there is none. Known from the start on.
  virtual Real longest_viscous_step() const = 0;

  virtual const Mesh& mesh() const = 0;
  virtual const FlowSettings& settings() const = 0;
  /// Integral of u.n over each face [m3/s].
  virtual const PrimalCochain<Face>& flux() const = 0;
  /// Velocity on each face (its mean) [m/s]; its normal part is that of the flux.
  virtual const Field<Face, Vector3>& face_velocity() const = 0;
  /// Pressure over density [m2/s2]; of mean zero where no outlet sets it.
  virtual const DualCochain<Cell>& pressure() const = 0;
  /// Mean acceleration by the force that holds the mean flow [m/s2]; 0 without one.
  virtual Real mean_flow_force() const = 0;

  /// Force per density of the fluid on each boundary face whose velocity is given [m4/s2], from the momentum
  /// left over there (Babuška & Miller, IJNME 20, 1984), on the host: one entry per boundary face that the
  /// rank owns, in order; zero on open ones. `viscous` includes what the transposed gradient adds there.
  struct BoundaryForces {
    std::vector<Vector3> pressure, viscous;
  };
  virtual BoundaryForces boundary_forces() const = 0;

  /// Where energy goes at the present time, per density [m5/s3].
  struct EnergyBudget {
    Real kinetic_energy = 0;  ///< 1/2 U . M U [m5/s2]
    Real rate = 0;            ///< its change in time
    Real dissipation = 0;     ///< by viscosity: none in a rigid rotation with the walls
    Real boundary_power = 0;  ///< done on the fluid at the boundary, inflow of kinetic energy included
    Real body_power = 0;      ///< done by body forces
    /// What the time scheme, upwinding and the solvers take: body + boundary - dissipation - rate.
    Real residual() const { return body_power + boundary_power - dissipation - rate; }
  };
  virtual EnergyBudget energy_budget() const = 0;
};

}  // namespace curlew
