// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/refined_conjugate_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/vector_kernels.hpp"

namespace curlew {

namespace {

/// By how much one correction reduces the residual at most: what is well above rounding in precision T.
template <class T>
constexpr Real reduction = 100 * static_cast<Real>(std::numeric_limits<T>::epsilon());
/// A correction aims a little below the target, lest its rounding leave the residual just above.
constexpr Real below_target = 0.9;
/// A correction in single precision that needs more iterations, or does less, is rounding's victim.
constexpr int most_iterations_in_single_precision = 300;
constexpr Real least_reduction_in_single_precision = 0.1;

template <class T>
struct RoundOnFace {
  Real factor;
  View<Face, const Vector3> from;
  View<Face, Vector4<T>> to;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { to[f] = rounded<T>(factor * from[f]); }
};

CURLEW_HOST_DEVICE Vector4<float> in_single(const Vector4<float>& v) {
  return v;
}
CURLEW_HOST_DEVICE Vector4<float> in_single(const Vector4<Real>& v) {
  return rounded<float>(widened(v));
}

/// to = factor from, plus what `to` is where it adds.
template <class T>
struct AccumulateOnFace {
  Real factor;
  bool adds;
  View<Face, const Vector4<T>> from;
  View<Face, Vector4<float>> to;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector4<float> term = factor * in_single(from[f]);
    to[f] = adds ? to[f] + term : term;
  }
};

}  // namespace

template <class T>
RefinedConjugateGradient::Precision<T>::Precision(const Executor& executor, Extent extent)
    : correction(executor, extent, "correction", "1"),
      iteration(alike(correction), alike(correction)),
      launches(executor) {}

RefinedConjugateGradient::RefinedConjugateGradient(const Executor& executor, Extent extent,
                                                   SolverControl control)
    : control_(control), residual_(executor, extent, "residual", "1"), single_(executor, extent) {}

template <class T>
void RefinedConjugateGradient::set_rounded(Real factor, FaceVectors<T>& residual) const {
  for_each(residual_.executor(), residual_.range(),
           RoundOnFace<T>{factor, residual_.view(), residual.view()});
}

template <class T>
void RefinedConjugateGradient::start(Precision<T>& precision, Real norm) {
  precision.correction.fill({});
  set_rounded(1 / norm, precision.iteration.residual());
}

Real RefinedConjugateGradient::improve(Real norm, const Recall<FaceVectors<float>>& recall) {
  if (recall.history == nullptr) return 1;
  auto& iteration = single_.iteration;
  const std::vector<Real> factors =
      recall.history->factors(recall.matrix, iteration.residual(), iteration.direction(), iteration.image());
  if (factors.empty()) return 1;
  recall.history->set_combination(factors, single_.correction);
  recall.history->take_images(recall.matrix, factors, iteration.residual());
  const Real left = std::sqrt(inner_product(iteration.residual(), iteration.residual()));
  if (left < 1) return left;
  start(single_, norm);  // changes that are rounding only
  return 1;
}

SolveReport RefinedConjugateGradient::solve(const std::string& unknown, const RefinedSystem& system,
                                            const RefinedPreconditioner& preconditioner, FaceVelocity& x,
                                            Real noise, const Recall<FaceVectors<float>>& recall) {
  const Real reference = system.norm_of_sources(x, single_.iteration.direction(), single_.iteration.image());
  const Real rounding = 4 * std::numeric_limits<Real>::epsilon() * reference;
  const SolveGoal goal(unknown, control_, {reference, std::max(rounding, noise)});
  SolveReport report;
  Real norm;
  const auto measure_residual = [&] {
    norm = std::sqrt(inner_product(residual_, residual_));
    goal.require_finite(norm, report.iterations);
  };
  const auto find_residual = [&] {
    system.set_residual(x, residual_);
    measure_residual();
  };
  // Of the history's kind, whatever the precision of the parts that it is the sum of.
  FaceVectors<float>& change = single_.iteration.change();
  bool changed = false;
  const auto add = [&]<class T>(const FaceVectors<T>& correction) {
    system.add(norm, correction, x);
    for_each(change.executor(), change.range(),
             AccumulateOnFace<T>{norm, changed, correction.view(), change.view()});
    changed = true;
  };
  const auto correct = [&]<class T>(Precision<T>& precision, Real left, int limit) {
    const Real target = std::max(below_target * goal.target() / norm, reduction<T>);
    ConjugateGradientState state{left, target, report.iterations, limit, Ending::Converged};
    if (left <= target) return state;
    state.ending = report.iterations < limit ? Ending::None : Ending::AtTheLimit;
    if (state.ending != Ending::None) return state;
    precision.iteration.start(state);
    state = iterate<FusedOperator<FaceVectors<T>>, FaceVectors<T>>(
        precision.launches, precision.iteration, system, preconditioner, precision.correction);
    report.iterations = state.iterations;
    return state;
  };

  system.set_first_residual(x, residual_);
  measure_residual();
  bool is_single = true;
  for (bool first = true; is_single && norm > goal.target(); first = false) {
    const Real before = norm;
    start(single_, norm);
    if (first && recall.history != nullptr) recall.history->begin(norm, single_.iteration.residual());
    const int limit =
        std::min(control_.max_iterations, report.iterations + most_iterations_in_single_precision);
    const ConjugateGradientState state = correct(single_, first ? improve(norm, recall) : 1, limit);
    is_single = state.ending == Ending::Converged;
    if (state.ending == Ending::NotFinite || state.ending == Ending::NoCurvature) break;
    add(single_.correction);
    find_residual();
    if (norm > goal.target() && norm > least_reduction_in_single_precision * before) is_single = false;
  }
  if (norm > goal.target() && !double_) double_ = std::make_unique<Precision<Real>>(x.executor(), x.extent());
  for (Real last_end = std::numeric_limits<Real>::infinity(); norm > goal.target();) {
    start(*double_, norm);
    goal.require_progress(correct(*double_, 1, control_.max_iterations), norm);
    add(double_->correction);
    find_residual();
    goal.require_closer(norm, std::exchange(last_end, norm), report.iterations);
  }
  report.residual = goal.relative(norm);
  // A guess that needed no iteration adds nothing to those it was made of.
  if (recall.history != nullptr && report.iterations > 0) {
    set_rounded(1, single_.iteration.residual());
    recall.history->end(recall.matrix, change, single_.iteration.residual());
  }
  return report;
}

}  // namespace curlew
