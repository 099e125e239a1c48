// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/tensor3.hpp"
#include "operators/interpolation.hpp"
#include "physics/flow/flow_boundary.hpp"
#include "physics/flow/flow_state.hpp"
#include "physics/momentum/convected_velocity.hpp"
#include "physics/momentum/momentum_solver.hpp"

namespace curlew {

/// What a face with given velocity v and outflow U adds to D U F of its cell: where fluid flows in, U (v -
/// u)_t, with u = N U of the cell. It stands for W there: Fᵀ W has no part of faces whose velocity is given,
/// and without one the cells along an inlet take in only three quarters of the change of tangential velocity,
/// an error of first order that the flow carries through the domain. It takes energy, 1/2 U (v - u)_t² less
/// than what v brings in; where fluid flows out it would give as much, hence nothing there.
CURLEW_HOST_DEVICE inline Vector3 inflow_correction(Real outflow, Vector3 given, Vector3 inside,
                                                    Vector3 area) {
  if (!(outflow < 0)) return {};
  const Vector3 excess = given - inside;
  return outflow * (excess - (dot(excess, area) / dot(area, area)) * area);
}

/// The terms of the momentum equation on fluxes U and face velocities v, v_f = n_f U_f / A_f + t_f, shared by
/// the fractional-step methods (docs/incompressible-flow.md). The tangential velocities t have no inertia:
/// they follow U by minimising viscous dissipation, K_tt t + K_tU U = 0, wherever the boundary does not give
/// them.
///
/// On a divided mesh all calls are made by all ranks together. Functions that gather from neighbours bring
/// the ghosts of what they are given up to date first; ghosts of what comes out have no meaning, but for the
/// velocities that close() and solve() find.
class Momentum {
 public:
  /// `simplex_weight`: see FluxMass.
  Momentum(const Executor& executor, const Mesh& mesh, const FlowSettings& settings,
           const FlowBoundaries& boundaries, Real simplex_weight);

  const FluxMass& mass() const { return mass_; }
  /// M U.
  void apply_mass(const PrimalCochain<Face>& flux, DualCochain<Face>& circulation) const;
  /// For unit viscosity.
  const ViscousForm& viscous_form() const { return viscous_form_; }
  const MomentumMatrices& matrices() const { return solver_.matrices(); }
  /// K v.
  void apply_viscous_form(const FaceVelocity& velocity, FaceVelocity& force) const;

  /// v gets the normal parts of U.
  void set_normal_part(const PrimalCochain<Face>& flux, FaceVelocity& velocity) const;
  /// U from v on faces whose flux is not given.
  void set_flux(const FaceVelocity& velocity, PrimalCochain<Face>& flux) const;
  /// Finds the tangential velocities that follow the normal and the given ones in v; what v holds for them
  /// is the first guess.
  SolveReport close(FaceVelocity& velocity);

  /// Convection of momentum as a force on the velocities of faces [m4/s2], for unit density and U, v of one
  /// time:
  ///   1/2 [ S Nᵀ D diag(U) P v - Pᵀ W ],  W_f = U_f (u_1 - u_2),  u = N U,
  /// P v being the ConvectedVelocity. Condensed it is 1/2 [ Nᵀ D diag(U) P F - Fᵀ Pᵀ W ] on fluxes, with F
  /// the map from U to v; kinetic energy is conserved to round-off. An outlet takes W_f = U_f u_1 - max(U_f,
  /// 0) (P v)_f: kinetic energy leaves with the fluid, none enters where it flows back (Braack & Mucha, J.
  /// Comput. Math. 32, 2014). Given inflow adds inflow_correction() to D U F. Upwind schemes add 1/2 Jᵀ
  /// diag(b |U|) J F to it, J the jump between the mean velocities of two cells, linear upwinding 1/4 [ J_1ᵀ
  /// diag(|U|) J_1 + J_2ᵀ diag(|U|) J_2 ] F, J_c the jump that is left where cell c's velocity is carried on
  /// linearly: never negative in energy. On simplices J_c is a jump of gradients, penalised as by Burman &
  /// Hansbo, CMAME 193, 2004.
  void convection(const PrimalCochain<Face>& flux, const FaceVelocity& velocity, FaceVelocity& force);
  /// P v, until the next call of this or convection(); ghosts of v are up to date.
  const FaceVelocity& convected(const FaceVelocity& velocity) { return convected_.of(velocity); }
  /// Takes the tangential part, where it is free, from a force f that convection() gave for U, v: f - K x,
  /// K_tt x = f_t. Velocities that follow fluxes feel no difference, v . K x being zero for them. `of_step`:
  /// one of the solves of every step, which learn from each other.
  SolveReport condense(const PrimalCochain<Face>& flux, const FaceVelocity& velocity, FaceVelocity& force,
                       bool of_step);
  /// The same of the negative of such forces, as a step asks for it whose last ones may have been condensed
  /// by solve_for_fluxes().
  SolveReport condense_negative(const PrimalCochain<Face>& flux, const FaceVelocity& velocity,
                                FaceVelocity& force);

  /// Integral of the body force along dual edges [m2/s2] at `time` [s], added to what is there; `uniform`
  /// [m/s2] is a further, uniform force.
  void add_body_force(Real time, Vector3 uniform, DualCochain<Face>& circulation);
  /// -G p with nothing outside of outlets, added to what is there.
  void add_pressure_force(const DualCochain<Cell>& p, DualCochain<Face>& circulation) const;
  /// What the pressure outside of outlets does, added to what is there.
  void add_outside_pressure(DualCochain<Face>& circulation) const;

  /// Solves (a M + b K) v = s for v = (U, t), s a circulation; given parts of v stay. `b` is viscosity times
  /// the implicit weight. `of_step`: one of the solves of every step, which learn from each other.
  SolveReport solve(Real mass_factor, Real viscous_factor, const DualCochain<Face>& circulation,
                    FaceVelocity& velocity, bool of_step = false);
  /// The same with a force on face velocities besides, b > 0, for the fluxes alone: v has their normal parts
  /// in the end, but its tangential ones are those of the guess. With t = t' + x / b, K_tt x = force_t, the
  /// fluxes feel the condensed force, force - K x, without x having to be known.
  SolveReport solve_for_fluxes(Real mass_factor, Real viscous_factor, const DualCochain<Face>& circulation,
                               const FaceVelocity& force, FaceVelocity& velocity);
  /// Whether it may be used: where inertia outweighs viscosity so far that the rounding of v - x / b would be
  /// more of v than the tolerance at most faces, the force is to be condensed by itself.
  bool condenses_by_the_way(Real mass_factor, Real viscous_factor);

  /// The part of a force on face velocities that drives fluxes, over the area [as a circulation], times
  /// `factor`, added.
  void add_normal_part(Real factor, const FaceVelocity& force, DualCochain<Face>& circulation) const;

  /// Makes the next solves start from no earlier ones.
  void forget();
  /// What the first guesses of the next solves depend on: to be kept over a restart.
  void add_to(FlowState& state) const;
  /// Throws InputError for a state that does not fit.
  void resume_from(const FlowState& state);

 private:
  Momentum(const Executor& executor, const Mesh& mesh, const FlowSettings& settings,
           const FlowBoundaries& boundaries, Real simplex_weight, const GradientJumps& jumps);

  void add_upwind_part(const PrimalCochain<Face>& flux, const FaceVelocity& velocity, FaceVelocity& force);

  Executor executor_;
  const Mesh& mesh_;
  const FlowSettings& settings_;
  const FlowBoundaries& boundaries_;
  FluxMass mass_;
  ViscousForm viscous_form_;
  Integration integration_;
  IncidenceTable<Cell, Face> faces_of_cell_;
  IncidenceTable<Face, Cell> cells_of_face_;
  Geometry geometry_;

  ConvectedVelocity convected_;
  Field<Cell, Vector3> body_force_;  // [m/s2]
  bool body_force_known_ = false;
  Real reach_ratio_ = -1;                        // b / a that condenses_by_the_way() was last asked for
  bool condenses_by_the_way_ = true;             // and what it said
  Field<Cell, Vector3> outflow_, interpolated_;  // D U F [m4/s2], N U [m/s]
  Field<Cell, Vector3> mean_;                    // v_c [m/s]; with upwinding only
  Field<Cell, Tensor3> gradient_;                // g_c [1/s]; with linear upwinding only
  Field<Cell, Vector3> jump_outflow_;            // D b |U| J F [m4/s2]; with upwinding only
  Field<Cell, Tensor3> jump_moment_;             // by the gradient's transpose a force; linear upwinding only
  FaceVelocity condensed_;                       // x of the last force of a step that was condensed [m3/s2]
  FaceVelocity handed_on_;                       // K x, where that was condense()'s doing [m4/s2]
  FaceVelocity displaced_;                       // v - x / b; scratch
  FaceVelocity jump_;                            // b |U| J F; with upwinding only
  DualCochain<Face> circulation_;

  MomentumSolver solver_;
};

}  // namespace curlew
