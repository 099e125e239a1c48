// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/tangential_chebyshev.hpp"

#include <cmath>
#include <type_traits>
#include <utility>

#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"
#include "physics/momentum/free_parts.hpp"
#include "physics/momentum/momentum_rows.hpp"
#include "physics/momentum/tangential_approximate_inverse.hpp"
#include "solvers/multigrid/power_iteration.hpp"

namespace curlew {

namespace {

struct InverseOnFace {
  View<Face, const Vector3> area_vector;
  View<Face, const float> diagonal;
  View<Face, const FaceHold> hold;
  View<Face, float> area, inverse;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    area[f] = static_cast<float>(norm(area_vector[f]));
    inverse[f] = hold[f] != FaceHold::All && diagonal[f] > 0 ? 1 / diagonal[f] : 0.f;
  }
};

/// The first step from zero.
template <class T>
struct StartedOnFace {
  float gain;
  View<Face, const float> area, inverse_diagonal;
  View<Face, const Vector4<T>> residual;
  View<Face, Vector4<float>> x;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    x[f] = Real(gain * inverse_diagonal[f] * area[f]) * in_precision<float>(residual[f]);
  }
};

/// What a step adds to x, given K x.
template <class T, class Rows>
struct ChebyshevChange {
  Rows faces_of;
  ChebyshevCoefficients coefficients;
  View<FacePair, const float> viscous;
  View<Face, const FaceHold> hold;
  View<Face, const float> area, inverse_diagonal;
  View<Face, const Vector4<T>> residual;
  View<Face, const Vector4<float>> normal, x, before;  // `before`: the last change
  CURLEW_HOST_DEVICE Vector4<float> gather(Id<Face> f) const { return row_times(faces_of, viscous, x, f); }
  [[gnu::always_inline]] CURLEW_HOST_DEVICE Vector4<float> finish(Id<Face> f,
                                                                  const Vector4<float>& sum) const {
    const Vector4<float> image = free_tangential_part(sum, hold[f], normal[f]);
    const Vector4<float> rest = Real(area[f]) * in_precision<float>(residual[f]) - image;
    return Real(coefficients.momentum) * before[f] + Real(coefficients.gain * inverse_diagonal[f]) * rest;
  }
};

template <class Change>
struct ChebyshevStepOnFace {
  Change change;
  View<Face, Vector4<float>> step, next;
  CURLEW_HOST_DEVICE Vector4<float> gather(Id<Face> f) const { return change.gather(f); }
  CURLEW_HOST_DEVICE void finish(Id<Face> f, const Vector4<float>& sum) const {
    const Vector4<float> d = change.finish(f, sum);
    step[f] = d;
    next[f] = change.x[f] + d;
  }
};

/// z, and r . z of a face.
template <class T, class Change>
struct LastStepOnFace {
  Change change;
  float factor;
  View<Face, Vector4<T>> z;
  CURLEW_HOST_DEVICE Vector4<float> gather(Id<Face> f) const { return change.gather(f); }
  CURLEW_HOST_DEVICE Real finish(Id<Face> f, const Vector4<float>& sum) const {
    const Vector4<float> last = Real(factor * change.area[f]) * (change.x[f] + change.finish(f, sum));
    const Vector4<T> result = in_precision<T>(last);
    z[f] = result;
    return dot(change.residual[f], result);
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

}  // namespace

TangentialChebyshev::TangentialChebyshev(const MomentumMatrices& matrices)
    : matrices_(matrices),
      executor_(matrices.executor().among(matrices.mesh().domain().shared_communicator())),
      area_(matrices.executor(), matrices.mesh().domain().extent<Face>(), "area", "m2"),
      inverse_diagonal_(matrices.executor(), area_.extent(), "inverse diagonal", "1"),
      x_(matrices.executor(), area_.extent(), "x", "1"),
      next_(alike(x_)),
      step_(alike(x_)) {
  // On tetrahedra from Gmsh the largest eigenvalue is 34 times the smallest; those below the polynomial's
  // interval are few. On cells that are no simplices a third step saves next to no iteration.
  constexpr Real width = 15;
  const int degree = has_only_simplices(matrices_.mesh()) ? 3 : 2;
  for_each(executor_, inverse_diagonal_.owned(),
           InverseOnFace{matrices_.area(), matrices_.viscous_diagonal(), matrices_.hold(), area_.view(),
                         inverse_diagonal_.view()});
  const Halo<Face>& halo = matrices_.mesh().domain().halo<Face>();
  std::vector<Vector4<float>> start(at(x_.size()));
  for (const Id<Face> f : x_.owned()) {
    const auto number = [&](GlobalIndex k) {
      return static_cast<float>(hashed_number(3 * halo.global(f) + k));
    };
    start[at(f.value())] = {number(0), number(1), number(2), 0};
  }
  x_.copy_from_host(start);
  matrices_.keep_free_tangential_part(x_);
  const auto energy = [&] {
    return EnergyOfFace{std::as_const(inverse_diagonal_).view(), std::as_const(x_).view()};
  };
  const FaceMatricesIn<float>& in = matrices_.in<float>();
  const auto multiply = [&](Real factor) {
    matrices_.visit_stencil(x_, LengthsIn<float>{}, [&](Range<Face> range, auto rows, MemorySpace space) {
      for_each(executor_, range,
               ScaledProductOnFace<decltype(rows)>{rows, factor, view(in.viscous, space), matrices_.hold(),
                                                   std::as_const(inverse_diagonal_).view(), in.normal.view(),
                                                   std::as_const(x_).view(), next_.view()});
    });
    std::swap(x_, next_);
  };
  const Real largest = largest_eigenvalue_by_powers(executor_, x_, energy, multiply);
  if (largest > 0) steps_ = chebyshev(largest, width, degree);
}

template <class T>
void TangentialChebyshev::apply_to(Real factor, const FaceVectors<T>& r, FaceVectors<T>& z, SumInParts* sum) {
  if (steps_.empty()) return z.fill({});
  const FaceMatricesIn<float>& in = matrices_.in<float>();
  const auto area = std::as_const(area_).view(), inverse = std::as_const(inverse_diagonal_).view();
  for_each(executor_, r.owned(), StartedOnFace<T>{steps_[0].gain, area, inverse, r.view(), x_.view()});
  // They take turns, each time beginning with the same one, so that launches that are noted down again are
  // those of before.
  FaceVectors<float>*current = &x_, *next = &next_;
  for (std::size_t k = 1; k < steps_.size(); ++k) {
    matrices_.visit_stencil(*current, LengthsIn<T>{}, [&](Range<Face> range, auto rows, MemorySpace space) {
      using Change = ChebyshevChange<T, decltype(rows)>;
      // The first step is the x that it led to.
      const auto x = std::as_const(*current).view(), before = k == 1 ? x : std::as_const(step_).view();
      const auto viscous = view(in.viscous, space);
      const Change change{
          rows, steps_[k], viscous, matrices_.hold(), area, inverse, r.view(), in.normal.view(), x, before};
      if (k + 1 < steps_.size()) {
        for_each(executor_, range, ChebyshevStepOnFace<Change>{change, step_.view(), next->view()});
      } else {
        const LastStepOnFace<T, Change> last{change, static_cast<float>(factor), z.view()};
        run_and_add(executor_, range, last, sum);
      }
    });
    std::swap(current, next);
  }
}

void TangentialChebyshev::apply(Real factor, const FaceVectors<float>& r, FaceVectors<float>& z,
                                SumInParts* sum) {
  apply_to(factor, r, z, sum);
}
void TangentialChebyshev::apply(Real factor, const FaceVectors<Real>& r, FaceVectors<Real>& z,
                                SumInParts* sum) {
  apply_to(factor, r, z, sum);
}

}  // namespace curlew
