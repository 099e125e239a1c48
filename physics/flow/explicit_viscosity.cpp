// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// How long steps may be that take viscosity explicitly.
#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/reduction.hpp"
#include "kernels/vector_kernels.hpp"
#include "physics/flow/fractional_step.hpp"
#include "physics/flow/time_schemes.hpp"
#include "solvers/multigrid/power_iteration.hpp"

namespace curlew {

namespace {

/// By so many products Lanczos' iteration mostly comes to within a few per cent of the largest eigenvalue,
/// from below.
constexpr int products = 15;
constexpr Real margin = 1.05;

Real largest_eigenvalue(const std::vector<Real>& diagonal, const std::vector<Real>& beside) {
  using Vector = Eigen::Map<const Eigen::VectorX<Real>>;
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixX<Real>> solver;
  solver.computeFromTridiagonal(Vector(diagonal.data(), static_cast<Eigen::Index>(diagonal.size())),
                                Vector(beside.data(), static_cast<Eigen::Index>(beside.size())),
                                Eigen::EigenvaluesOnly);
  return solver.eigenvalues().maxCoeff();
}

}  // namespace

/// Lanczos' iteration in the product of M: nu M⁻¹ K among fluxes without divergence, tangential velocities
/// following, is symmetric there (Golub & Van Loan, Matrix Computations, 2013, 10.1).
void FractionalStep::find_longest_viscous_step() {
  longest_viscous_step_ = std::numeric_limits<Real>::infinity();
  if (stage_count(settings_.scheme) == 0 || settings_.viscosity == 0) return;
  forget_guesses();
  PrimalCochain<Face>&image = next_.flux, &mode = acceleration_, &before = later_;  // scratch
  FlowStepReport report;
  const auto multiply = [&] {
    momentum_.set_normal_part(mode, next_.velocity);
    momentum_.close(next_.velocity);
    momentum_.apply_viscous_form(next_.velocity, force_);
    right_hand_side_.fill(0);
    momentum_.add_normal_part(settings_.viscosity, force_, right_hand_side_);
    image.fill(0);
    next_.pressure.fill(0);
    solve_mass(right_hand_side_, image, next_.pressure, report);
  };

  const Halo<Face>& faces = mesh_.domain().halo<Face>();
  std::vector<Real> start(at(mode.size()));
  for (const Id<Face> f : mode.range()) {
    if (boundaries_.hold_of_face()[at(f.value())] == FaceHold::Free)
      start[at(f.value())] = hashed_number(faces.global(f));
  }
  mode.copy_from_host(start);
  next_.velocity.fill(Vector3{});
  multiply();  // which takes what divergence there was

  std::vector<Real> diagonal, beside;
  DualCochain<Face>& mass_flux = next_.mass_flux;
  for (int k = 0; k < products; ++k) {
    momentum_.apply_mass(image, mass_flux);
    const Real length = std::sqrt(inner_product(mass_flux, image));
    // There are no more modes than that.
    constexpr Real little = 1e-6;
    if (!(length > (diagonal.empty() ? 0 : little * diagonal.front()))) break;
    if (k > 0) beside.push_back(length);
    std::swap(mode, before);
    set_linear_combination(1 / length, image, 0, image, mode);
    multiply();
    diagonal.push_back(inner_product(mass_flux, image) / length);
    linear_combination(-diagonal.back(), mode, 1, image);
    if (k > 0) linear_combination(-length, before, 1, image);
  }
  if (!diagonal.empty()) {
    longest_viscous_step_ =
        longest_stable_decay(settings_.scheme) / (margin * largest_eigenvalue(diagonal, beside));
  }
  forget_guesses();
}

}  // namespace curlew
