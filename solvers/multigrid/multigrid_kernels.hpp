// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>

#include "kernels/factor.hpp"
#include "kernels/for_each.hpp"
#include "kernels/incidence.hpp"
#include "kernels/vector4.hpp"
#include "solvers/multigrid/chebyshev.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"

/// Kernels of a cycle of multigrid. T: what an unknown is, a number or a vector in single precision.
namespace curlew::multigrid {

struct Entry;  // entity tag: an entry of a table

using UnknownTable = IncidenceTable<Unknown, Unknown>;
using Vector = Vector4<float>;

/// What stands on the diagonal of a scaled level: for numbers one.
template <class T>
struct Diagonal {
  CURLEW_HOST_DEVICE T divide(Id<Unknown>, T b) const { return b; }
  CURLEW_HOST_DEVICE T multiply(Id<Unknown>, T x) const { return x; }
};
/// For vectors a tensor whose inverse is p I + m mT, with p beside m, or p I - m mT, with -p beside m.
template <>
struct Diagonal<Vector> {
  View<Unknown, const Vector> inverse;
  CURLEW_HOST_DEVICE Vector divide(Id<Unknown> i, Vector b) const {
    const Vector m = inverse[i];
    const float p = std::abs(m.fourth), along = signed_as(m, own_dot(m, b));
    return b.times(p, p) + Real(along) * m.with_fourth(0);
  }
  /// Sherman & Morrison, Ann. Math. Stat. 21 (1950).
  CURLEW_HOST_DEVICE Vector multiply(Id<Unknown> i, Vector x) const {
    const Vector m = inverse[i];
    const float p = std::abs(m.fourth);
    const float along = signed_as(m, own_dot(m, x)) / (p + signed_as(m, own_dot(m, m)));
    return Real(1 / p) * (x - Real(along) * m.with_fourth(0));
  }

 private:
  CURLEW_HOST_DEVICE static float signed_as(Vector m, float value) { return m.fourth < 0 ? -value : value; }
};

#if defined(__CUDACC__)
/// The sum of `term(k)` for k in [0, count) in this order, to all threads of a warp that is a block of its
/// own. They make the terms side by side: where rows are few, it is the wait for memory that counts.
template <class T, class Term>
__device__ T sum_by_warp(Index lane, Index count, const Term& term) {
  constexpr Index terms_a_lane = 4, most = terms_a_lane * threads_per_warp;
  alignas(T) __shared__ unsigned char memory[most * sizeof(T)];
  T* const terms = reinterpret_cast<T*>(memory);
  T sum{};
  for (Index first = 0; first < count; first += most) {
    const Index left = count - first, size = left < most ? left : most;
    if (first > 0) __syncthreads();
#pragma unroll
    for (Index row = 0; row < terms_a_lane; ++row) {
      const Index k = row * threads_per_warp + lane;
      if (k < size) terms[k] = term(first + k);
    }
    __syncthreads();
#pragma unroll 8
    for (Index k = 0; k < size; ++k) sum += terms[k];
  }
  return sum;
}
#endif

/// sum_k c_k x_k over row i of a table with one coefficient per entry. A call a row would send vectors
/// through memory.
template <class Rows, class Coefficient, class T>
[[gnu::always_inline]] CURLEW_HOST_DEVICE inline T row_product(const Rows& rows,
                                                               View<Entry, const Coefficient> coefficient,
                                                               View<Unknown, const T> x, Id<Unknown> i) {
  Id<Entry> entry(rows.start(i));
  T sum{};
  for (const auto [j, sign] : rows[i]) {
    sum += coefficient[entry] * x[j];
    entry = rows.next(entry);
  }
  return sum;
}

/// Calls `body(i, (A x)_i)` with the row of a table.
template <class T, class Rows, class Coefficient, class Body>
struct ProductOnUnknown {
  Rows rows;
  View<Entry, const Coefficient> coefficient;
  View<Unknown, const T> x;
  Body body;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const { body(i, row_product(rows, coefficient, x, i)); }
};

/// The same by a warp for each row.
template <class T, class Rows, class Coefficient, class Body>
struct ProductOfWarpOnUnknown {
  ProductOnUnknown<T, Rows, Coefficient, Body> product;

  static constexpr Index lanes = threads_per_warp;

  void operator()(Id<Unknown> i) const { product(i); }
#if defined(__CUDACC__)
  __device__ void together(Id<Unknown> i, Index lane) const {
    const auto row = product.rows[i];
    const Index start = product.rows.start(i);
    const T sum = sum_by_warp<T>(lane, row.size(), [&](Index k) {
      const Id<Entry> entry(start + k * entry_stride<Unknown, Unknown>());
      return product.coefficient[entry] * product.x[row[k].id];
    });
    if (lane == 0) product.body(i, sum);
  }
#endif
};

/// Calls `body(i, product)` with what rounding took from the row added to its product.
template <class T, class Body>
struct WithRounding {
  View<Unknown, const float> rounding;
  View<Unknown, const T> x;
  Body body;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i, T product) const {
    body(i, product + rounding[i] * x[i]);
  }
};

/// Factor times A x, `product` being what A gives without its diagonal of ones.
struct ScaledProduct {
  float factor;
  View<Unknown, const float> x;
  View<Unknown, float> image;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i, float product) const {
    image[i] = factor * (x[i] + product);
  }
};

/// A Chebyshev step: d = momentum d + gain D⁻¹ (b - A x), next = x + d; D is the diagonal of A, and `product`
/// what the rest of A gives. `last`: nobody asks for d afterwards.
template <class T, bool last>
struct ChebyshevStep {
  Diagonal<T> diagonal;
  ChebyshevCoefficients coefficients;
  View<Unknown, const T> right_hand_side, x, before;  ///< `before`: d
  View<Unknown, T> step, next;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i, T product) const {
    const T rest = right_hand_side[i] - product;
    const T d = coefficients.momentum * before[i] + coefficients.gain * (diagonal.divide(i, rest) - x[i]);
    if constexpr (!last) step[i] = d;
    next[i] = x[i] + d;
  }
};

template <class T>
struct Residual {
  Diagonal<T> diagonal;
  View<Unknown, const T> right_hand_side, x;
  View<Unknown, T> residual;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i, T product) const {
    residual[i] = right_hand_side[i] - (diagonal.multiply(i, x[i]) + product);
  }
};

/// A right-hand side and the first Chebyshev step with it from zero, which is x then.
template <class T>
struct Start {
  Diagonal<T> diagonal;
  float gain;
  View<Unknown, T> right_hand_side, x;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i, T b) const {
    right_hand_side[i] = b;
    x[i] = gain * diagonal.divide(i, b);
  }
};

/// What is prolonged, added.
template <class T>
struct Correction {
  View<Unknown, T> x;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i, T prolonged) const { x[i] += prolonged; }
};

template <class T>
struct StartedOnUnknown {
  View<Unknown, const T> right_hand_side;
  Start<T> start;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const { start(i, right_hand_side[i]); }
};

template <class T>
struct TakenOnUnknown {
  View<Unknown, const Index> place;
  View<Unknown, const T> from;
  View<Unknown, T> to;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const { to[i] = from[Id<Unknown>(place[i])]; }
};

/// A block of a dense matrix of rows and columns of T. Numbers stand in double precision: rounded, the
/// inverse of a matrix whose eigenvalues are 1e7 apart, as on very flat cells, need not be positive.
template <class T>
struct Block {
  Real entry;
  CURLEW_HOST_DEVICE Real operator*(float b) const { return entry * static_cast<Real>(b); }
};
template <>
struct Block<Vector> {
  Vector columns[3];
  CURLEW_HOST_DEVICE Vector operator*(Vector b) const {
    return Real(b.x) * columns[0] + Real(b.y) * columns[1] + Real(b.z) * columns[2];
  }
};

template <class T>
struct DenseProductOnUnknown {
  Index size;
  View<Entry, const Block<T>> matrix;  ///< row by row
  View<Unknown, const T> right_hand_side;
  View<Unknown, T> x;

  static constexpr Index lanes = threads_per_warp;

  using Term = decltype(Block<T>() * T());
  CURLEW_HOST_DEVICE Term term(Id<Unknown> i, Index j) const {
    return matrix[Id<Entry>(i.value() * size + j)] * right_hand_side[Id<Unknown>(j)];
  }
  void operator()(Id<Unknown> i) const {
    Term sum{};
    for (Index j = 0; j < size; ++j) sum += term(i, j);
    x[i] = static_cast<T>(sum);
  }
#if defined(__CUDACC__)
  __device__ void together(Id<Unknown> i, Index lane) const {
    const Term sum = sum_by_warp<Term>(lane, size, [&](Index j) { return term(i, j); });
    if (lane == 0) x[i] = static_cast<T>(sum);
  }
#endif
};

/// What takes a residual to order one and back: a power of two, so that scaling rounds nothing.
struct Scaling {
  Real largest;      ///< of the residual
  Real there, back;  ///< both 0 where the residual is
};

struct ScalingFromLargest {
  View<One, Scaling> scaling;
  CURLEW_HOST_DEVICE void operator()(Id<One> one) const {
    Scaling& s = scaling[one];
    s.there = s.largest > 0 ? std::ldexp(Real(1), -std::ilogb(s.largest)) : Real(0);
    s.back = s.there > 0 ? 1 / s.there : Real(0);
  }
};

/// The residual rounded to single precision in the scaling of the finest level.
template <class E>
struct RoundedOnUnknown {
  View<Unknown, const Real> scale;
  View<One, const Scaling> scaling;
  View<E, const Real> residual;
  Start<float> start;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    start(i, static_cast<float>(scaling[Id<One>(0)].there * scale[i] * residual[Id<E>(i.value())]));
  }
};

template <class E>
struct WidenedOnEntity {
  View<Unknown, const Real> scale;
  View<One, const Scaling> scaling;
  View<Unknown, const float> x;
  View<E, Real> z;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    const Id<Unknown> unknown(i.value());
    z[i] = scaling[Id<One>(0)].back * scale[unknown] * static_cast<Real>(x[unknown]);
  }
};

/// The same, and the term of an inner product with the residual.
template <class E>
struct WidenedProductOfEntity {
  View<E, const Real> residual;
  WidenedOnEntity<E> widened;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    widened(i);
    return residual[i] * widened.z[i];
  }
};

template <class E>
struct ScaledMagnitudeOfEntity {
  View<Unknown, const Real> scale;
  View<E, const Real> residual;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    const Real value = scale[Id<Unknown>(i.value())] * residual[i];
    return value < 0 ? -value : value;
  }
};

/// Into the scaling of the finest level and out of it, for values of order one.
template <class E, class T>
struct ScaledOnUnknown {
  View<Unknown, const Real> scale;
  View<E, const T> residual;
  Start<T> start;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    start(i, static_cast<float>(scale[i]) * residual[Id<E>(i.value())]);
  }
};

template <class E, class T>
struct UnscaledOnEntity {
  View<Unknown, const Real> scale;
  View<Unknown, const T> x;
  View<E, T> z;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    const Id<Unknown> unknown(i.value());
    z[i] = static_cast<float>(scale[unknown]) * x[unknown];
  }
};

}  // namespace curlew::multigrid
