// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum_solver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace curlew {

namespace {

using Change = FaceVectors<float>;

/// What a few roundings leave of a sum of terms of size one.
constexpr Real rounding = 4 * std::numeric_limits<Real>::epsilon();

}  // namespace

MomentumSolver::MomentumSolver(const Executor& executor, const Mesh& mesh, const FlowSettings& settings,
                               const FlowBoundaries& boundaries, const FluxMass& mass,
                               const ViscousForm& viscous_form)
    : domain_(mesh.domain()),
      matrices_(executor, mesh, boundaries, mass, viscous_form),
      preconditioner_(matrices_, true, settings.momentum_preconditioning != Preconditioning::None),
      tangential_preconditioner_(matrices_, false,
                                 settings.momentum_preconditioning != Preconditioning::None),
      solver_(executor, mesh.domain().extent<Face>(), settings.momentum),
      solve_history_(executor, 2, [this](Change& change) { matrices_.keep_free_part(change); }),
      close_history_(executor, 1, [this](Change& change) { matrices_.keep_free_tangential_part(change); }),
      transposed_history_(executor, 1,
                          [this](Change& change) { matrices_.keep_free_tangential_part(change); }) {
  tangential_preconditioner_.set(0, 1);
}

SolveReport MomentumSolver::close(FaceVelocity& velocity) {
  const TangentialSystem system(matrices_);
  return solver_.solve("tangential velocity", system, tangential_preconditioner_, velocity,
                       rounding * matrices_.norm_of_friction(velocity), {&close_history_, {{1, &system}}});
}

SolveReport MomentumSolver::close_transposed(const FaceVelocity& source, Real size, FaceVelocity& velocity,
                                             FaceVelocity& force, bool of_step) {
  const TangentialSystem system(matrices_, &source, &force, of_step);
  const Real noise = rounding * std::max(matrices_.norm_of_friction(velocity), size);
  Recall<Change> recall;
  if (of_step) recall = {&transposed_history_, {{1, &system}}};
  return solver_.solve("tangential velocity", system, tangential_preconditioner_, velocity, noise, recall);
}

SolveReport MomentumSolver::solve(Real mass_factor, Real viscous_factor, const DualCochain<Face>& circulation,
                                  const FaceVelocity* force, FaceVelocity& velocity, bool of_step) {
  const MomentumSystem system(matrices_, mass_factor, viscous_factor, &circulation, force);
  const MomentumSystem inertia(matrices_, 1, 0), friction(matrices_, 0, 1);
  Recall<Change> recall;
  if (of_step) recall = {&solve_history_, {{mass_factor, &inertia}, {viscous_factor, &friction}}};
  preconditioner_.set(mass_factor, viscous_factor);
  // A force may come and go faster than fluxes do: what the guess has of it is all that can be large.
  const Real noise = force == nullptr ? 0 : rounding * viscous_factor * matrices_.norm_of_friction(velocity);
  return solver_.solve("momentum", system, preconditioner_, velocity, noise, recall);
}

void MomentumSolver::forget() {
  for (auto* history : {&solve_history_, &close_history_, &transposed_history_}) history->clear();
}

void MomentumSolver::add_to(FlowState& state) const {
  Change change = alike(solver_.like());
  store(domain_, solve_history_, change, "momentum_change", state);
  store(domain_, close_history_, change, "tangential_change", state);
  store(domain_, transposed_history_, change, "convection_change", state);
}

void MomentumSolver::resume_from(const FlowState& state) {
  const MomentumSystem inertia(matrices_, 1, 0), friction(matrices_, 0, 1);
  const TangentialSystem tangential(matrices_);
  Change change = alike(solver_.like()), image = alike(change);
  const auto restore_history = [&](const char* name, SolutionHistory<Change>& history,
                                   MatrixSum<Change> matrix) {
    restore(domain_, state, name, Recall<Change>{&history, std::move(matrix)}, change, image);
  };
  restore_history("momentum_change", solve_history_, {{1, &inertia}, {1, &friction}});
  restore_history("tangential_change", close_history_, {{1, &tangential}});
  restore_history("convection_change", transposed_history_, {{1, &tangential}});
}

}  // namespace curlew
