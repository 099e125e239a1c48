// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/executor.hpp"
#include "kernels/field.hpp"
#include "kernels/reduction.hpp"

namespace curlew {

/// y = a x + b y.
template <class E>
struct LinearCombinationOnEntity {
  Real a;
  View<E, const Real> x;
  Real b;
  View<E, Real> y;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { y[i] = a * x[i] + b * y[i]; }
};

/// A step of conjugate gradients, x += alpha p and r -= alpha A p, in one pass.
template <class E>
struct ConjugateGradientStepOnEntity {
  Real alpha;
  View<E, const Real> direction, image;
  View<E, Real> x, residual;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    x[i] += alpha * direction[i];
    residual[i] -= alpha * image[i];
  }
};

/// x_i y_i, the term of an inner product.
template <class E>
struct ProductOfEntity {
  View<E, const Real> x, y;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return x[i] * y[i]; }
};

/// Inner product of two fields on the same entity, in the fixed shape of `sum`.
template <class X, class Y>
Real inner_product(const X& x, const Y& y) {
  static_assert(std::is_same_v<typename X::Entity, typename Y::Entity>);
  REQUIRE(x.size() == y.size(), "inner product of fields of different length: " + x.name() + ", " + y.name());
  return sum(x.executor(), x.range(), ProductOfEntity<typename X::Entity>{x.view(), y.view()});
}

}  // namespace curlew
