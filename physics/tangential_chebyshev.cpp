// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/tangential_chebyshev.hpp"

#include <cmath>
#include <utility>

#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"
#include "mesh/exchange.hpp"
#include "physics/free_parts.hpp"
#include "solvers/power_iteration.hpp"

namespace curlew {

namespace {

using multigrid::Scaling;

struct InverseOnFace {
  View<Face, const float> diagonal;
  View<Face, const FaceHold> hold;
  View<Face, float> inverse;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    inverse[f] = hold[f] != FaceHold::All && diagonal[f] > 0 ? 1 / diagonal[f] : 0.f;
  }
};

struct LargestComponentOfFace {
  View<Face, const Vector3> residual;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const Vector3 r = residual[f];
    return std::fmax(std::fmax(std::fabs(r.x), std::fabs(r.y)), std::fabs(r.z));
  }
};

/// The residual, rounded, and the first step with it from zero.
struct StartedOnFace {
  View<One, const Scaling> scaling;
  float gain;
  View<Face, const Vector3> area, residual;
  View<Face, const FaceHold> hold;
  View<Face, const float> inverse_diagonal;
  View<Face, const Vector4<float>> normal;
  View<Face, Vector4<float>> right_hand_side, step, x;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Real factor = scaling[Id<One>(0)].there * norm(area[f]);
    const Vector4<float> b = free_tangential_part(rounded<float>(factor * residual[f]), hold[f], normal[f]);
    const Vector4<float> d = Real(gain * inverse_diagonal[f]) * b;
    right_hand_side[f] = b;
    step[f] = d;
    x[f] = d;
  }
};

template <class Rows>
struct ChebyshevStepOnFace {
  Rows faces_of;
  ChebyshevCoefficients coefficients;
  View<FacePair, const float> viscous;
  View<Face, const FaceHold> hold;
  View<Face, const float> inverse_diagonal;
  View<Face, const Vector4<float>> normal, right_hand_side, x;
  View<Face, Vector4<float>> step, next;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector4<float> image = free_tangential_part(row_times(faces_of, viscous, x, f), hold[f], normal[f]);
    const Vector4<float> d = Real(coefficients.momentum) * step[f] +
                             Real(coefficients.gain * inverse_diagonal[f]) * (right_hand_side[f] - image);
    step[f] = d;
    next[f] = x[f] + d;
  }
};

/// x = D⁻¹ K_tt x, for the largest eigenvalue.
template <class Rows>
struct ScaledProductOnFace {
  Rows faces_of;
  Real factor;
  View<FacePair, const float> viscous;
  View<Face, const FaceHold> hold;
  View<Face, const float> inverse_diagonal;
  View<Face, const Vector4<float>> normal, x;
  View<Face, Vector4<float>> next;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Real scale = factor * static_cast<Real>(inverse_diagonal[f]);
    next[f] = scale * free_tangential_part(row_times(faces_of, viscous, x, f), hold[f], normal[f]);
  }
};

struct EnergyOfFace {
  View<Face, const float> inverse_diagonal;
  View<Face, const Vector4<float>> x;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    return inverse_diagonal[f] > 0 ? dot(x[f], x[f]) / static_cast<Real>(inverse_diagonal[f]) : 0;
  }
};

struct FinishedOnFace {
  View<One, const Scaling> scaling;
  Real factor;
  View<Face, const Vector3> area;
  View<Face, const Vector4<float>> x;
  View<Face, Vector3> z;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    z[f] = factor * scaling[Id<One>(0)].back * norm(area[f]) * widened(x[f]);
  }
};

}  // namespace

TangentialChebyshev::TangentialChebyshev(const MomentumMatrices& matrices)
    : matrices_(matrices),
      executor_(matrices.executor_.among(matrices.mesh_.domain().shared_communicator())),
      scaling_(executor_.space(), 1),
      inverse_diagonal_(matrices.executor_, matrices.single_.normal.extent(), "inverse diagonal", "1"),
      right_hand_side_(matrices.executor_, inverse_diagonal_.extent(), "right-hand side", "1"),
      x_(alike(right_hand_side_)),
      next_(alike(right_hand_side_)),
      step_(alike(right_hand_side_)) {
  // On tetrahedra from Gmsh the largest eigenvalue is 34 times the smallest (docs/performance.md); those
  // below the polynomial's interval are few.
  constexpr Real width = 15;
  constexpr int degree = 3;
  for_each(executor_, inverse_diagonal_.owned(),
           InverseOnFace{std::as_const(matrices_.viscous_diagonal_).view(), matrices_.hold(),
                         inverse_diagonal_.view()});
  const Halo<Face>& halo = matrices_.mesh_.domain().halo<Face>();
  std::vector<Vector4<float>> start(at(x_.size()));
  for (const Id<Face> f : x_.owned()) {
    const auto number = [&](GlobalIndex k) {
      return static_cast<float>(hashed_number(3 * halo.global(f) + k));
    };
    start[at(f.value())] = {number(0), number(1), number(2), 0};
  }
  x_.copy_from_host(start);
  matrices_.keep_free_tangential_part(x_);
  const auto length = [&] {
    return std::sqrt(sum(executor_, x_.owned(),
                         EnergyOfFace{std::as_const(inverse_diagonal_).view(), std::as_const(x_).view()}));
  };
  const auto multiply = [&](Real factor) {
    visit_product([&](Range<Face> range, auto rows, View<FacePair, const float> viscous) {
      for_each(executor_, range,
               ScaledProductOnFace<decltype(rows)>{
                   rows, factor, viscous, matrices_.hold(), std::as_const(inverse_diagonal_).view(),
                   matrices_.single_.normal.view(), std::as_const(x_).view(), next_.view()});
    });
    std::swap(x_, next_);
  };
  const Real largest = largest_eigenvalue_by_powers(length, multiply);
  if (largest > 0) steps_ = chebyshev(largest, width, degree);
}

template <class Launch>
void TangentialChebyshev::visit_product(const Launch& launch) {
  const MemorySpace space = executor_.space();
  const ConstantArray<float>& viscous = matrices_.single_.viscous;
  const View<FacePair, const float> entries(viscous.data(space), static_cast<Index>(viscous.size()));
  const auto launch_on = [&](Range<Face> faces) {
    matrices_.mass_.matrix().stencil().visit_parts(
        space, faces, [&](Range<Face> range, auto rows) { launch(range, rows, entries); });
  };
  launch_with_ghosts(matrices_.mesh_.domain(), x_.owned(), launch_on, x_);
}

void TangentialChebyshev::apply(Real factor, const FaceVelocity& r, FaceVelocity& z) {
  if (steps_.empty()) return z.fill(Vector3{});
  const View<One, Scaling> scaling(scaling_.data(), 1);
  const auto area = matrices_.area();
  const auto hold = matrices_.hold();
  const auto normal = matrices_.single_.normal.view();
  const auto inverse = std::as_const(inverse_diagonal_).view();
  maximum(executor_, r.owned(), LargestComponentOfFace{r.view()}, &scaling_.data()->largest);
  for_each(executor_, Range<One>(0, 1), multigrid::ScalingFromLargest{scaling});
  for_each(executor_, r.owned(),
           StartedOnFace{scaling, steps_[0].gain, area, r.view(), hold, inverse, normal,
                         right_hand_side_.view(), step_.view(), x_.view()});
  for (std::size_t k = 1; k < steps_.size(); ++k) {
    visit_product([&](Range<Face> range, auto rows, View<FacePair, const float> viscous) {
      for_each(executor_, range,
               ChebyshevStepOnFace<decltype(rows)>{rows, steps_[k], viscous, hold, inverse, normal,
                                                   std::as_const(right_hand_side_).view(),
                                                   std::as_const(x_).view(), step_.view(), next_.view()});
    });
    std::swap(x_, next_);
  }
  for_each(executor_, z.owned(), FinishedOnFace{scaling, factor, area, std::as_const(x_).view(), z.view()});
}

}  // namespace curlew
