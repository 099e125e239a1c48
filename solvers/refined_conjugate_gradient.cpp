// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/refined_conjugate_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/vector_kernels.hpp"

namespace curlew {

namespace {

/// What a correction in double precision leaves of the residual at least, lest it be rounding.
constexpr Real left_in_double_precision = 100 * std::numeric_limits<Real>::epsilon();
/// A correction aims a little below the target, lest its rounding leave the residual just above.
constexpr Real below_target = 0.9;
/// A correction in single precision that needs more iterations, or does less, is rounding's victim.
constexpr int most_iterations_in_single_precision = 300;
constexpr Real least_reduction_in_single_precision = 0.1;
/// How many times what rounding leaves of a residual the first one of a solve is at least, if its difference
/// from the last one is to be an image in single precision.
constexpr Real least_residual_of_image = 1e6;

/// factor x, rounded to the kind of number or vector that T is.
template <class T>
CURLEW_HOST_DEVICE T scaled_to(Real factor, Real x) {
  return static_cast<T>(factor * x);
}
template <class T>
CURLEW_HOST_DEVICE T scaled_to(Real factor, Vector3 x) {
  return T::rounded(factor * x);
}
template <class T>
CURLEW_HOST_DEVICE T scaled_to(Real factor, const Vector4<float>& x) {
  return factor * x;
}
template <class T>
CURLEW_HOST_DEVICE T scaled_to(Real factor, const Vector4<Real>& x) {
  return factor * T::rounded(widened(x));
}

/// to = factor from, plus what `to` is where it adds.
template <class E, class From, class To>
struct ScaledIntoEntity {
  Real factor;
  bool adds;
  View<E, const From> from;
  View<E, To> to;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    const To term = scaled_to<To>(factor, from[i]);
    to[i] = adds ? to[i] + term : term;
  }
};

/// r -= A x, and the square of r.
template <class E, class T>
struct SubtractedOnEntity {
  View<E, const T> image;
  View<E, T> residual;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    const T rest = residual[i] - image[i];
    residual[i] = rest;
    return dot(rest, rest);
  }
};

template <class X, class Y>
void set_scaled(Real factor, bool adds, const X& from, Y& to) {
  visit_fields(from, to, [&]<class F, class G>(const F& f, G& g) {
    for_each(f.executor(), f.range(),
             ScaledIntoEntity<typename F::Entity, typename F::Value, typename G::Value>{factor, adds,
                                                                                        f.view(), g.view()});
  });
}

}  // namespace

template <class X>
template <class T>
RefinedConjugateGradient<X>::Precision<T>::Precision(const Paired<X>& like)
    : correction(zero_like<Vectors<X, T>>(like)),
      iteration(zero_like<Paired<Vectors<X, T>>>(like), alike(correction)),
      launches(like.executor()) {}

template <class X>
RefinedConjugateGradient<X>::RefinedConjugateGradient(Paired<X> residual, SolverControl control)
    : control_(control),
      residual_(std::move(residual)),
      single_(residual_),
      change_(alike(single_.correction)),
      sum_(residual_.executor()),
      squares_(residual_.executor().space(), 2) {}

template <class X>
template <class T>
void RefinedConjugateGradient<X>::set_residual(Precision<T>& precision, Real norm) {
  set_scaled(1 / norm, false, residual_, precision.iteration.residual());
}

template <class X>
Real RefinedConjugateGradient<X>::subtract(const Paired<Vectors<X, float>>& image,
                                           Paired<Vectors<X, float>>& residual) {
  sum_.anew();
  visit_fields(image, residual, [&]<class F>(const F& of_image, F& of_residual) {
    using E = typename F::Entity;
    const SubtractedOnEntity<E, typename F::Value> subtracted{of_image.view(), of_residual.view()};
    sum_.add(of_residual.owned(), subtracted);
    if constexpr (on_every_rank<E>)
      for_each(residual.executor(), Range<E>(of_residual.owned().last(), of_residual.size()), subtracted);
  });
  return std::sqrt(sum_.value());
}

template <class X>
Real RefinedConjugateGradient<X>::improve(Real norm, const RefinedSystem<X>& system,
                                          const Recall<Vectors<X, float>>& recall) {
  auto& iteration = single_.iteration;
  std::vector<Real> factors;
  if (recall.history != nullptr)
    factors = recall.history->factors(recall.matrix, iteration.residual(), iteration.direction(),
                                      iteration.image());
  if (!factors.empty()) {
    recall.history->set_combination(factors, single_.correction);
    system.apply(single_.correction, iteration.image());
    const Real left = subtract(iteration.image(), iteration.residual());
    if (left < 1) return left;
    set_residual(single_, norm);  // changes that are rounding only
  }
  set_to_zero(single_.correction);
  return 1;
}

template <class X>
SolveReport RefinedConjugateGradient<X>::solve(const std::string& unknown, const RefinedSystem<X>& system,
                                               const RefinedPreconditioner<X>& preconditioner, X& x,
                                               Real noise, const Recall<Vectors<X, float>>& recall) {
  auto& iteration = single_.iteration;
  system.set_first_residual(x, residual_, iteration.direction(), iteration.image(), sum_.anew());
  sum_.finish(squares_.data());
  add_inner_product(residual_, residual_, sum_.anew());
  sum_.finish(squares_.data() + 1);
  BinnedSum squared[2];  // one wait for both, on one rank
  copy_bytes(squared, MemorySpace::Host, squares_.data(), squares_.space(), sizeof squared);
  const Real reference = std::sqrt(squared[0].value());
  const Real rounding = 4 * std::numeric_limits<Real>::epsilon() * reference;
  const Real rounded_residual = std::max(rounding, noise);
  const SolveGoal goal(unknown, control_, {reference, rounded_residual});
  SolveReport report;
  Real norm = std::sqrt(squared[1].value());
  goal.require_finite(norm, report.iterations);
  const auto find_residual = [&] {
    system.set_residual(x, residual_);
    norm = std::sqrt(inner_product(residual_, residual_));
    goal.require_finite(norm, report.iterations);
  };
  // What the solve changes: `change_`, where that has anything, and `latest` times the single correction.
  bool changed = false;
  Real latest = 0;
  const auto keep = [&](Real factor, const auto& correction) {
    set_scaled(factor, changed, correction, change_);
    changed = true;
  };
  const auto keep_latest = [&] {
    if (latest != 0) keep(std::exchange(latest, 0), single_.correction);
  };
  const auto correct = [&]<class T>(Precision<T>& precision, Real left, int limit) {
    const Real least =
        std::is_same_v<T, float> ? system.left_in_single_precision() : left_in_double_precision;
    const Real target = std::max(below_target * goal.target() / norm, least);
    ConjugateGradientState state{left, target, report.iterations, limit, Ending::Converged};
    if (left <= target) return state;
    state.ending = report.iterations < limit ? Ending::None : Ending::AtTheLimit;
    if (state.ending != Ending::None) return state;
    precision.iteration.start(state);
    state = iterate<FusedOperator<Vectors<X, T>>, Vectors<X, T>>(
        precision.launches, precision.iteration, system, preconditioner, precision.correction);
    report.iterations = state.iterations;
    return state;
  };

  const bool remembers = recall.history != nullptr && norm > least_residual_of_image * rounded_residual;
  bool is_single = true, is_by_recurrence = false;
  for (bool first = true; is_single && norm > goal.target(); first = false) {
    const Real before = norm;
    keep_latest();
    set_residual(single_, norm);
    if (first && remembers) recall.history->begin(norm, iteration.residual());
    const int limit =
        std::min(control_.max_iterations, report.iterations + most_iterations_in_single_precision);
    const Real left = improve(norm, system, first ? recall : Recall<Vectors<X, float>>{});
    const ConjugateGradientState state = correct(single_, left, limit);
    is_single = state.ending == Ending::Converged;
    if (state.ending == Ending::NotFinite || state.ending == Ending::NoCurvature) break;
    system.add(norm, single_.correction, x);
    latest = norm;
    const Real by_recurrence = norm * state.residual;
    is_by_recurrence = by_recurrence <= goal.target() &&
                       by_recurrence + norm * system.rounding_of(single_.correction) <= goal.target();
    if (is_by_recurrence) {
      norm = by_recurrence;
      break;
    }
    find_residual();
    if (norm > goal.target() && norm > least_reduction_in_single_precision * before) is_single = false;
  }
  if (norm > goal.target() && !double_) double_ = std::make_unique<Precision<Real>>(residual_);
  for (Real last_end = std::numeric_limits<Real>::infinity(); norm > goal.target();) {
    keep_latest();
    set_residual(*double_, norm);
    set_to_zero(double_->correction);
    goal.require_progress(correct(*double_, 1, control_.max_iterations), norm);
    system.add(norm, double_->correction, x);
    keep(norm, double_->correction);
    find_residual();
    goal.require_closer(norm, std::exchange(last_end, norm), report.iterations);
  }
  report.residual = goal.relative(norm);
  // A guess that needed no iteration adds nothing to those it was made of.
  if (remembers && report.iterations > 0) {
    if (!is_by_recurrence) set_residual(single_, 1);
    const Real of_residual = is_by_recurrence ? latest : 1;
    if (changed) {
      keep_latest();
      recall.history->end(recall.matrix, 1, change_, of_residual, iteration.residual());
    } else {
      recall.history->end(recall.matrix, latest, single_.correction, of_residual, iteration.residual());
    }
  }
  return report;
}

template class RefinedConjugateGradient<FaceVelocity>;
template class RefinedConjugateGradient<StreamVelocity>;

}  // namespace curlew
