// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/conjugate_gradient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/counted.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/entities.hpp"
#include "solvers/face_velocity.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

namespace {

using State = ConjugateGradientState;

CURLEW_HOST_DEVICE void end(State& state, Ending ending) {
  state.ending = ending;
  state.alpha.applies = state.beta.applies = 0;
}

/// Ends where the residual says so.
CURLEW_HOST_DEVICE void judge(State& state) {
  if (state.residual <= state.target) return end(state, Ending::Converged);
  if (!std::isfinite(state.residual)) return end(state, Ending::NotFinite);
  if (state.iterations >= state.limit) return end(state, Ending::AtTheLimit);
}

/// beta = (r . z) / (r . z before).
struct DirectionOnState {
  View<One, State> states;
  CURLEW_HOST_DEVICE void operator()(const BinnedSum& residual_correction) const {
    State& state = states[Id<One>(0)];
    if (state.ending != Ending::None) return;
    const Real energy = residual_correction.value();
    if (state.norm == ResidualNorm::Energy) {
      state.residual = std::sqrt(energy);
      const Real share = state.share_of_first * state.residual;
      if (state.first && share > state.target) state.target = share;
      judge(state);
      if (state.ending != Ending::None) return;
    }
    state.beta.value = state.first ? Real(0) : energy / state.residual_energy;
    state.first = 0;
    state.residual_energy = energy;
  }
};

/// alpha = (r . z) / (p . A p).
struct StepLengthOnState {
  View<One, State> states;
  CURLEW_HOST_DEVICE void operator()(const BinnedSum& image_direction) const {
    State& state = states[Id<One>(0)];
    if (state.ending != Ending::None) return;
    const Real curvature = image_direction.value();
    if (std::isnan(curvature)) return end(state, Ending::NotFinite);
    if (!(curvature > 0)) return end(state, Ending::NoCurvature);
    state.alpha.value = state.residual_energy / curvature;
  }
};

/// What the residual after a step says.
struct EndingOnState {
  View<One, State> states;
  CURLEW_HOST_DEVICE void operator()(const BinnedSum& residual_residual) const {
    State& state = states[Id<One>(0)];
    if (state.ending != Ending::None) return;
    ++state.iterations;
    if (state.norm == ResidualNorm::Energy) return;
    state.residual = std::sqrt(residual_residual.value());
    judge(state);
  }
};

}  // namespace

template <class X>
void ConjugateGradientIteration<X>::start(const State& state) {
  iterations_before_ = state.iterations;
  copy_bytes(state_.data(), state_.space(), &state, MemorySpace::Host, sizeof state);
}

template <class X>
State ConjugateGradientIteration<X>::state() const {
  State state;
  copy_bytes(&state, MemorySpace::Host, state_.data(), state_.space(), sizeof state);
  return state;
}

template <class X>
int ConjugateGradientIteration<X>::expected(const Preconditioner<X>& preconditioner) const {
  const auto found = lengths_.find(&preconditioner);
  return found == lengths_.end() ? 1 : std::max(1, std::min(found->second.last, found->second.before));
}

template <class X>
void ConjugateGradientIteration<X>::learn(const Preconditioner<X>& preconditioner, const State& end) {
  // The norm of energy is known in the next iteration.
  const int length = end.iterations - iterations_before_ + (end.norm == ResidualNorm::Energy ? 1 : 0);
  const auto [place, is_new] = lengths_.try_emplace(&preconditioner, Lengths{length, length});
  if (!is_new) place->second = {length, place->second.last};
}

template <class X>
void Preconditioner<X>::apply_with_product(const Paired<X>& r, X& z, SumInParts& product) const {
  apply(r, z);
  add_inner_product(r, z, product);
}

template <class X>
void ConjugateGradientIteration<X>::advance(const Operator<X, Paired<X>>& a,
                                            const Preconditioner<X>& preconditioner, X& x) {
  const auto apply = [&](const X& p, Paired<X>& image, SumInParts& product) {
    a.apply(p, image);
    add_inner_product(image, p, product);
  };
  advance_by(apply, preconditioner, x);
}

template <class X>
void ConjugateGradientIteration<X>::advance(const FusedOperator<X>& a,
                                            const Preconditioner<X>& preconditioner, X& x) {
  const auto apply = [&](const X& p, Paired<X>& image, SumInParts& product) {
    a.apply_with_product(p, image, product);
  };
  advance_by(apply, preconditioner, x);
}

template <class X>
template <class Apply>
void ConjugateGradientIteration<X>::advance_by(const Apply& apply, const Preconditioner<X>& preconditioner,
                                               X& x) {
  State* const data = state_.data();
  const View<One, State> state(data, 1);

  preconditioner.apply_with_product(residual_, correction_, sum_.anew());
  sum_.finish(DirectionOnState{state});
  next_direction(FactorInMemory(&data->beta, 1), correction_, direction_);
  apply(direction_, image_, sum_.anew());
  sum_.finish(StepLengthOnState{state});
  conjugate_gradient_step(FactorInMemory(&data->alpha, 1), direction_, image_, x, residual_, sum_.anew());
  sum_.finish(EndingOnState{state});
}

template <class X>
Real ConjugateGradient<X>::set_residual(const Operator<X, Paired<X>>& a, const Paired<X>& b, const X& x,
                                        const NullSpace<X>* null_space) {
  Paired<X>& residual = iteration_.residual();
  a.apply(x, residual);
  subtract_from(b, residual);
  if (null_space != nullptr) null_space->make_consistent(residual);
  return std::sqrt(inner_product(residual, residual));
}

template <class A, class X>
State iterate(LaunchSequence& launches, ConjugateGradientIteration<X>& iteration, const A& a,
              const Preconditioner<X>& preconditioner, X& x) {
  // The host sees its own memory at once. A device it asks now and then, lest the device wait for the answer:
  // first when it may be about to end, as such solves go. What is launched beyond the end, in vain, is at
  // most a sixteenth, but where a solve is much shorter than the last two. Several ranks, which do not all
  // have to know of these, look as if they knew none: each iteration is a message to the others.
  const bool on_host = iteration.executor().space() == MemorySpace::Host;
  const int expected = on_host || !iteration.executor().is_alone() ? 1 : iteration.expected(preconditioner);
  constexpr int around_the_end = 2;
  int launched = 0, next_look = std::max(1, expected - 1);
  launches.restart(&preconditioner);  // systems with different ones take turns
  while (true) {
    launches.run([&] { iteration.advance(a, preconditioner, x); });
    if (++launched < next_look) continue;
    const State state = iteration.state();
    if (state.ending != Ending::None) {
      iteration.learn(preconditioner, state);
      return state;
    }
    const bool each = on_host || launched < expected + around_the_end;
    next_look = launched + (each ? 1 : std::max(1, launched / 16));
  }
}

SolveGoal::SolveGoal(const std::string& unknown, const SolverControl& control, ResidualScale scale)
    : unknown_(unknown), relative_tolerance_(control.relative_tolerance), reference_(scale.reference) {
  // Inner products of what is smaller underflow; a fluid at rest gets there.
  constexpr Real smallest = 1e-140;
  target_ =
      std::max({relative_tolerance_ * reference_, control.absolute_tolerance, scale.rounding, smallest});
  if (!std::isfinite(target_)) fail("met a reference that is not a number or infinite", 0, target_);
}

void SolveGoal::fail(const std::string& what, int iterations, Real residual,
                     const std::string& remedy) const {
  throw DivergedError(
      fmt::format("the solve for {} {} after {}: its residual is {:.3g} of the reference, "
                  "asked for was {:.3g}{}",
                  unknown_, what, counted(iterations, "iteration"), std::abs(relative(residual)),
                  relative_tolerance_, remedy));
}

void SolveGoal::require_finite(Real residual, int iterations) const {
  if (!std::isfinite(residual)) fail("met a value that is not a number", iterations, residual);
}

void SolveGoal::require_progress(const State& state, Real unit) const {
  const Real residual = unit * state.residual;
  if (state.ending == Ending::NotFinite) fail("met a value that is not a number", state.iterations, residual);
  if (state.ending == Ending::AtTheLimit) {
    fail("did not converge", state.iterations, residual,
         "; raise max_iterations or tolerance of [solver.*], or take shorter steps in time");
  }
  if (state.ending == Ending::NoCurvature) {
    fail("met a direction without positive curvature (an operator that is not positive definite)",
         state.iterations, residual);
  }
}

void SolveGoal::require_closer(Real residual, Real before, int iterations) const {
  if (stuck(residual, before)) {
    fail("cannot come closer to the tolerance, which is below what rounding allows,", iterations, residual);
  }
}

template <class X>
SolveReport ConjugateGradient<X>::solve(const Operator<X, Paired<X>>& a,
                                        const Preconditioner<X>& preconditioner, const Paired<X>& b, X& x,
                                        ResidualScale scale, const NullSpace<X>* null_space,
                                        const Recall<X>& recall) {
  return solve_by(a, preconditioner, b, x, scale, null_space, recall);
}
template <class X>
SolveReport ConjugateGradient<X>::solve(const FusedOperator<X>& a, const Preconditioner<X>& preconditioner,
                                        const Paired<X>& b, X& x, ResidualScale scale,
                                        const NullSpace<X>* null_space, const Recall<X>& recall) {
  return solve_by(a, preconditioner, b, x, scale, null_space, recall);
}

template <class X>
template <class A>
SolveReport ConjugateGradient<X>::solve_by(const A& a, const Preconditioner<X>& preconditioner,
                                           const Paired<X>& b, X& x, ResidualScale scale,
                                           const NullSpace<X>* null_space, const Recall<X>& recall) {
  const SolveGoal goal(unknown_, control_, scale);
  SolveReport report;
  Real true_residual = 0;
  if (scale.from_zero) {
    copy(b, iteration_.residual());
    if (null_space != nullptr) null_space->make_consistent(iteration_.residual());
    true_residual = std::sqrt(inner_product(iteration_.residual(), iteration_.residual()));
  } else {
    true_residual = set_residual(a, b, x, null_space);
  }
  if (scale.zero_may_be_closer && true_residual > std::sqrt(inner_product(b, b))) {
    set_to_zero(x);
    true_residual = set_residual(a, b, x, null_space);
  }
  if (recall.history != nullptr && std::isfinite(true_residual) && true_residual > goal.target()) {
    copy(x, change_);
    recall.history->begin(1, iteration_.residual());
    const std::vector<Real> factors = recall.history->factors(recall.matrix, iteration_.residual(),
                                                              iteration_.direction(), iteration_.image());
    if (!factors.empty()) {
      recall.history->set_combination(factors, iteration_.direction());
      linear_combination(1, iteration_.direction(), 1, x);
    }
    const Real improved = set_residual(a, b, x, null_space);
    if (improved < true_residual) {
      true_residual = improved;
    } else {  // changes that are rounding only
      copy(change_, x);
      true_residual = set_residual(a, b, x, null_space);
    }
  }
  Real last_end = std::numeric_limits<Real>::infinity();
  while (!(true_residual <= goal.target())) {
    goal.require_finite(true_residual, report.iterations);
    State state{true_residual, goal.target(), report.iterations, control_.max_iterations};
    if (report.iterations >= control_.max_iterations) {
      state.ending = Ending::AtTheLimit;
    } else {
      iteration_.start(state);
      state = iterate<A>(launches_, iteration_, a, preconditioner, x);
    }
    goal.require_progress(state, 1);
    report.iterations = state.iterations;
    true_residual = set_residual(a, b, x, null_space);
    if (goal.stuck(true_residual, last_end) && scale.rounding_at_the_end &&
        true_residual <= scale.rounding_at_the_end())
      break;
    goal.require_closer(true_residual, std::exchange(last_end, true_residual), report.iterations);
  }
  report.residual = goal.relative(true_residual);
  // A guess that needed no iteration adds nothing to those it was made of.
  if (recall.history != nullptr && report.iterations > 0) {
    subtract_from(x, change_);
    recall.history->end(recall.matrix, 1, change_, 1, iteration_.residual());
  }
  return report;
}

template class ConjugateGradientIteration<PrimalCochain<Node>>;
template class ConjugateGradientIteration<PrimalCochain<Face>>;
template class ConjugateGradientIteration<FaceVectors<float>>;
template class ConjugateGradientIteration<FaceVectors<Real>>;
template class ConjugateGradientIteration<DualCochain<Cell>>;
template class ConjugateGradientIteration<StreamVelocity>;
template class ConjugateGradientIteration<StreamVectors<float>>;
template class ConjugateGradientIteration<StreamVectors<Real>>;
template class ConjugateGradient<PrimalCochain<Node>>;
template class ConjugateGradient<DualCochain<Cell>>;
template class ConjugateGradient<StreamVelocity>;
template class Preconditioner<PrimalCochain<Node>>;
template class Preconditioner<FaceVectors<float>>;
template class Preconditioner<FaceVectors<Real>>;
template class Preconditioner<DualCochain<Cell>>;
template class Preconditioner<PrimalCochain<Edge>>;
template class Preconditioner<PrimalCochain<Face>>;
template class Preconditioner<StreamVelocity>;
template class Preconditioner<StreamVectors<float>>;
template class Preconditioner<StreamVectors<Real>>;
template <class X>
using Iteration = ConjugateGradientIteration<X>;
template State iterate(LaunchSequence&, Iteration<FaceVectors<float>>&,
                       const FusedOperator<FaceVectors<float>>&, const Preconditioner<FaceVectors<float>>&,
                       FaceVectors<float>&);
template State iterate(LaunchSequence&, Iteration<FaceVectors<Real>>&,
                       const FusedOperator<FaceVectors<Real>>&, const Preconditioner<FaceVectors<Real>>&,
                       FaceVectors<Real>&);
template State iterate(LaunchSequence&, Iteration<StreamVectors<float>>&,
                       const FusedOperator<StreamVectors<float>>&,
                       const Preconditioner<StreamVectors<float>>&, StreamVectors<float>&);
template State iterate(LaunchSequence&, Iteration<StreamVectors<Real>>&,
                       const FusedOperator<StreamVectors<Real>>&, const Preconditioner<StreamVectors<Real>>&,
                       StreamVectors<Real>&);

}  // namespace curlew
