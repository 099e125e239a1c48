// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/factor.hpp"
#include "kernels/field.hpp"
#include "kernels/reproducible_sum.hpp"
#include "kernels/vector3.hpp"
#include "kernels/vector4.hpp"
#include "mesh/entities.hpp"
#include "operators/operator.hpp"

namespace curlew {

/// Entity tag: a harmonic flux (mesh/homology/harmonic_fluxes.hpp).
struct Loop;
template <>
inline constexpr bool on_every_rank<Loop> = true;

/// Fields solved for at once: values on edges, whose curl is a flux, fluxes through loops, and a vector on
/// faces. Every rank has the values of all loops; the first one owns them.
template <class T, class V, Cochain kind>
struct StreamAndFaceValues {
  Field<Edge, T, kind> stream;
  Field<Loop, Real, kind> loop;
  Field<Face, V> velocity;
  const Executor& executor() const { return stream.executor(); }
};
using StreamVelocity = StreamAndFaceValues<Real, Vector3, Cochain::Primal>;
/// The same as solvers iterate on it, in precision T; the fourth numbers are zero.
template <class T>
using StreamVectors = StreamAndFaceValues<T, Vector4<T>, Cochain::Primal>;

template <class T, class V>
struct PairedField<StreamAndFaceValues<T, V, Cochain::Primal>> {
  using type = StreamAndFaceValues<T, V, Cochain::Dual>;
};
template <class T, class V>
struct PairedField<StreamAndFaceValues<T, V, Cochain::Dual>> {
  using type = StreamAndFaceValues<T, V, Cochain::Primal>;
};

template <class T, class V, Cochain kind>
StreamAndFaceValues<T, V, kind> alike(const StreamAndFaceValues<T, V, kind>& x) {
  return {alike(x.stream), alike(x.loop), alike(x.velocity)};
}
template <class F, class T, class V, Cochain kind>
F zero_like(const StreamAndFaceValues<T, V, kind>& x) {
  return {zero_like<decltype(F::stream)>(x.stream), zero_like<decltype(F::loop)>(x.loop),
          zero_like<decltype(F::velocity)>(x.velocity)};
}
template <class T, class V, Cochain kind>
void set_to_zero(StreamAndFaceValues<T, V, kind>& x) {
  set_to_zero(x.stream);
  set_to_zero(x.loop);
  set_to_zero(x.velocity);
}
template <class T, class V, Cochain a, class U, class W, Cochain b, class Visit>
void visit_fields(const StreamAndFaceValues<T, V, a>& x, StreamAndFaceValues<U, W, b>& y,
                  const Visit& visit) {
  visit(x.stream, y.stream);
  visit(x.loop, y.loop);
  visit(x.velocity, y.velocity);
}
// As kernels/vector_kernels.hpp has them for one field.
template <class T, class V, Cochain a, Cochain b>
Real inner_product(const StreamAndFaceValues<T, V, a>& x, const StreamAndFaceValues<T, V, b>& y);
template <class T, class V, Cochain a, Cochain b>
void add_inner_product(const StreamAndFaceValues<T, V, a>& x, const StreamAndFaceValues<T, V, b>& y,
                       SumInParts& sum);
template <class T, class V, Cochain kind>
void copy(const StreamAndFaceValues<T, V, kind>& x, StreamAndFaceValues<T, V, kind>& y);
template <class T, class V, Cochain kind>
void subtract_from(const StreamAndFaceValues<T, V, kind>& b, StreamAndFaceValues<T, V, kind>& r);
template <class T, class V, Cochain kind>
void linear_combination(Real a, const StreamAndFaceValues<T, V, kind>& x, Real b,
                        StreamAndFaceValues<T, V, kind>& y);
template <class T, class V, Cochain primal, Cochain dual>
void conjugate_gradient_step(FactorInMemory alpha, const StreamAndFaceValues<T, V, primal>& direction,
                             const StreamAndFaceValues<T, V, dual>& image,
                             StreamAndFaceValues<T, V, primal>& x, StreamAndFaceValues<T, V, dual>& residual,
                             SumInParts& squared);
template <class T, class V, Cochain kind>
void next_direction(FactorInMemory beta, const StreamAndFaceValues<T, V, kind>& correction,
                    StreamAndFaceValues<T, V, kind>& direction);

}  // namespace curlew
