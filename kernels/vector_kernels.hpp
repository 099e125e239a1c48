// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <type_traits>

#include "kernels/factor.hpp"
#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"
#include "kernels/vector3.hpp"

namespace curlew {

CURLEW_HOST_DEVICE inline Real dot(Real a, Real b) {
  return a * b;
}

/// s x, where x is a number in single precision with s rounded first.
template <class T>
CURLEW_HOST_DEVICE T times(Real s, const T& x) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(s) * x;
  } else {
    return s * x;
  }
}

/// y = a x + b y.
template <class E, class T = Real>
struct LinearCombinationOnEntity {
  Real a;
  View<E, const T> x;
  Real b;
  View<E, T> y;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { y[i] = times(a, x[i]) + times(b, y[i]); }
};

/// z = a x + b y.
template <class E, class T = Real>
struct SetLinearCombinationOnEntity {
  Real a;
  View<E, const T> x;
  Real b;
  View<E, const T> y;
  View<E, T> z;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { z[i] = times(a, x[i]) + times(b, y[i]); }
};

/// y = x.
template <class E, class T = Real>
struct CopyOnEntity {
  View<E, const T> x;
  View<E, T> y;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { y[i] = x[i]; }
};

/// A step of conjugate gradients, x += alpha p and r -= alpha A p, and r_i . r_i then: a term of a sum that
/// is formed in the same pass. Alpha: a number or where to find it.
template <class E, class T = Real, class Alpha = Real>
struct ConjugateGradientStepOnEntity {
  Alpha alpha;
  View<E, const T> direction, image;
  View<E, T> x, residual;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    if (applies(alpha)) {
      const Real a = value_of(alpha);
      x[i] += times(a, direction[i]);
      residual[i] -= times(a, image[i]);
    }
    return dot(residual[i], residual[i]);
  }
};

/// The next direction of conjugate gradients, p = z + beta p; for beta = 0 the old one is not read.
template <class E, class T = Real>
struct NextDirectionOnEntity {
  FactorInMemory beta;
  View<E, const T> correction;
  View<E, T> direction;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    if (!applies(beta)) return;
    const Real b = value_of(beta);
    if (b == 0) {
      direction[i] = correction[i];
    } else {
      direction[i] = correction[i] + times(b, direction[i]);
    }
  }
};

/// r = b - r.
template <class E, class T = Real>
struct SubtractedFromOnEntity {
  View<E, const T> b;
  View<E, T> r;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { r[i] = b[i] - r[i]; }
};

/// x_i . y_i, the term of an inner product.
template <class E, class T = Real>
struct ProductOfEntity {
  View<E, const T> x, y;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return dot(x[i], y[i]); }
};

/// y = a x + b y for fields of one kind.
template <class F>
void linear_combination(Real a, const F& x, Real b, F& y) {
  REQUIRE(x.size() == y.size(),
          "linear combination of fields of different length: " + x.name() + ", " + y.name());
  for_each(x.executor(), x.range(),
           LinearCombinationOnEntity<typename F::Entity, typename F::Value>{a, x.view(), b, y.view()});
}

/// z = a x + b y for fields of one kind.
template <class F>
void set_linear_combination(Real a, const F& x, Real b, const F& y, F& z) {
  REQUIRE(x.size() == y.size() && x.size() == z.size(), "linear combination of fields of different length: " +
                                                            x.name() + ", " + y.name() + ", " + z.name());
  for_each(x.executor(), x.range(),
           SetLinearCombinationOnEntity<typename F::Entity, typename F::Value>{a, x.view(), b, y.view(),
                                                                               z.view()});
}

/// y = x for fields of one kind.
template <class F>
void copy(const F& x, F& y) {
  REQUIRE(x.size() == y.size(), "copy between fields of different length: " + x.name() + ", " + y.name());
  for_each(x.executor(), x.range(), CopyOnEntity<typename F::Entity, typename F::Value>{x.view(), y.view()});
}

/// r = b - r for fields of one kind.
template <class F>
void subtract_from(const F& b, F& r) {
  for_each(b.executor(), b.range(),
           SubtractedFromOnEntity<typename F::Entity, typename F::Value>{b.view(), r.view()});
}

/// x += alpha direction and residual -= alpha image, not at ghosts; `squared` gets residual . residual then.
template <class X, class Y>
void conjugate_gradient_step(FactorInMemory alpha, const X& direction, const Y& image, X& x, Y& residual,
                             SumInParts& squared) {
  const ConjugateGradientStepOnEntity<typename X::Entity, typename X::Value, FactorInMemory> step{
      alpha, direction.view(), image.view(), x.view(), residual.view()};
  using E = typename X::Entity;
  squared.add(x.owned(), step);
  if constexpr (on_every_rank<E>) for_each(x.executor(), Range<E>(x.owned().last(), x.size()), step);
}

/// direction = correction + beta direction, not at ghosts; for beta = 0 what it was does not matter.
template <class F>
void next_direction(FactorInMemory beta, const F& correction, F& direction) {
  for_each(direction.executor(), on_every_rank<typename F::Entity> ? direction.range() : direction.owned(),
           NextDirectionOnEntity<typename F::Entity, typename F::Value>{beta, correction.view(),
                                                                        direction.view()});
}

/// Inner product of two fields on the same entity, with the bits of `sum`.
template <class X, class Y>
Real inner_product(const X& x, const Y& y) {
  static_assert(std::is_same_v<typename X::Entity, typename Y::Entity>);
  REQUIRE(x.size() == y.size(), "inner product of fields of different length: " + x.name() + ", " + y.name());
  return sum(x.executor(), x.owned(),
             ProductOfEntity<typename X::Entity, typename X::Value>{x.view(), y.view()});
}

/// Adds the same inner product to a sum.
template <class X, class Y>
void add_inner_product(const X& x, const Y& y, SumInParts& sum) {
  static_assert(std::is_same_v<typename X::Entity, typename Y::Entity>);
  REQUIRE(x.size() == y.size(), "inner product of fields of different length: " + x.name() + ", " + y.name());
  sum.add(x.owned(), ProductOfEntity<typename X::Entity, typename X::Value>{x.view(), y.view()});
}

}  // namespace curlew
