// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>

#include "physics/flow/flow_state.hpp"
#include "physics/momentum/face_jacobi.hpp"

namespace curlew {

/// Solves the linear systems of Momentum. Solves of one kind learn from each other.
class MomentumSolver {
 public:
  /// `boundaries`, `mass`, `viscous_form`: outlive the solver.
  MomentumSolver(const Executor& executor, const Mesh& mesh, const FlowSettings& settings,
                 const FlowBoundaries& boundaries, const FluxMass& mass, const ViscousForm& viscous_form);

  /// Its histories make changes free by its matrices, wherever they were made.
  MomentumSolver(const MomentumSolver&) = delete;
  MomentumSolver& operator=(const MomentumSolver&) = delete;

  /// Finds the free t with K_tt t + K_t. (the rest of v) = 0; what v holds for them is the first guess.
  SolveReport close(FaceVelocity& velocity);
  /// Finds the free t with K_tt t = source_t, the rest of v being zero; `force` gets K v. Residuals of about
  /// the rounding of numbers as large as `size` (in the l2 norm) count as none. `of_step`: one of the solves
  /// of every step, for which `force` has to hold K v of the first guess.
  SolveReport close_transposed(const FaceVelocity& source, Real size, FaceVelocity& velocity,
                               FaceVelocity& force, bool of_step);
  /// Solves (a M + b K) v = S circulation + force for what is free; `force`: null for none. `of_step`: one of
  /// the solves of every step.
  SolveReport solve(Real mass_factor, Real viscous_factor, const DualCochain<Face>& circulation,
                    const FaceVelocity* force, FaceVelocity& velocity, bool of_step);

  const MomentumMatrices& matrices() const { return matrices_; }

  /// Makes the next solves start from no earlier ones.
  void forget();
  /// What the first guesses of the next solves depend on: to be kept over a restart.
  void add_to(FlowState& state) const;
  /// Throws InputError for a state that does not fit.
  void resume_from(const FlowState& state);

 private:
  const Domain& domain_;
  MomentumMatrices matrices_;
  std::unique_ptr<FaceJacobi> preconditioner_;
  std::unique_ptr<RefinedPreconditioner<FaceVelocity>> tangential_preconditioner_;
  RefinedConjugateGradient<FaceVelocity> solver_;
  SolutionHistory<FaceVectors<float>> solve_history_, close_history_, transposed_history_;
};

}  // namespace curlew
