// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/momentum_solver.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "physics/momentum/momentum_multigrid.hpp"
#include "physics/momentum/tangential_approximate_inverse.hpp"

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
      solver_(executor, mesh.domain().extent<Face>(), settings.momentum),
      solve_history_(executor, [this](Change& change) { matrices_.keep_free_part(change); }),
      close_history_(
          executor, [this](Change& change) { matrices_.keep_free_tangential_part(change); }, &solve_history_),
      transposed_history_(
          executor, [this](Change& change) { matrices_.keep_free_tangential_part(change); },
          &solve_history_) {
  const bool preconditions = settings.momentum_preconditioning != Preconditioning::None;
  if (settings.momentum_preconditioning == Preconditioning::Multigrid)
    preconditioner_ = std::make_unique<MomentumMultigrid>(matrices_);
  else
    preconditioner_ = std::make_unique<FaceJacobi>(matrices_, true, preconditions);
  if (preconditions && has_only_simplices(mesh)) {
    tangential_preconditioner_ = std::make_unique<TangentialApproximateInverse>(matrices_);
  } else {
    auto jacobi = std::make_unique<FaceJacobi>(matrices_, false, preconditions);
    jacobi->set(0, 1);
    tangential_preconditioner_ = std::move(jacobi);
  }
}

SolveReport MomentumSolver::close(FaceVelocity& velocity) {
  const TangentialSystem system(matrices_);
  return solver_.solve("tangential velocity", system, *tangential_preconditioner_, velocity,
                       rounding * matrices_.norm_of_friction(velocity), {&close_history_});
}

SolveReport MomentumSolver::close_transposed(const FaceVelocity& source, Real size, FaceVelocity& velocity,
                                             FaceVelocity& force, bool of_step) {
  const TangentialSystem system(matrices_, &source, &force, of_step);
  const Real noise = rounding * std::max(matrices_.norm_of_friction(velocity), size);
  Recall<Change> recall;
  if (of_step) recall = {&transposed_history_};
  return solver_.solve("tangential velocity", system, *tangential_preconditioner_, velocity, noise, recall);
}

SolveReport MomentumSolver::solve(Real mass_factor, Real viscous_factor, const DualCochain<Face>& circulation,
                                  const FaceVelocity* force, FaceVelocity& velocity, bool of_step) {
  const MomentumSystem system(matrices_, mass_factor, viscous_factor, &circulation, force);
  const MomentumSystem inertia(matrices_, 1, 0);
  Recall<Change> recall;
  if (of_step) recall = {&solve_history_, {mass_factor, viscous_factor, &inertia}};
  preconditioner_->set(mass_factor, viscous_factor);
  Real noise = 0;
  if (force != nullptr) {
    // It may come and go faster than fluxes do: what the guess has of it is all that can be large.
    noise = rounding * viscous_factor * matrices_.norm_of_friction(velocity);
  } else if (viscous_factor == 0) {
    // Walls that move drive nothing then. What rounding makes of tangential velocities along normals is left.
    noise = rounding * mass_factor * matrices_.norm_of_inertia(velocity);
  }
  return solver_.solve("momentum", system, *preconditioner_, velocity, noise, recall);
}

void MomentumSolver::forget() {
  for (auto* history : {&solve_history_, &close_history_, &transposed_history_}) history->clear();
}

void MomentumSolver::add_to(FlowState& state) const {
  const auto make = [this] { return alike(solver_.like()); };
  store(domain_, solve_history_, make, "momentum_change", state);
  store(domain_, close_history_, make, "tangential_change", state);
  store(domain_, transposed_history_, make, "convection_change", state);
}

void MomentumSolver::resume_from(const FlowState& state) {
  Change change = alike(solver_.like());
  restore(domain_, state, "momentum_change", solve_history_, change);
  restore(domain_, state, "tangential_change", close_history_, change);
  restore(domain_, state, "convection_change", transposed_history_, change);
}

}  // namespace curlew
