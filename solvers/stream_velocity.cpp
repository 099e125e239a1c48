// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/stream_velocity.hpp"

#include "kernels/vector_kernels.hpp"

namespace curlew {

namespace {

template <class X, class Y>
auto product_of(const X& x, const Y& y) {
  return ProductOfEntity<typename X::Entity, typename X::Value>{x.view(), y.view()};
}

}  // namespace

template <class T, class V, Cochain a, Cochain b>
void inner_product(const StreamAndFaceValues<T, V, a>& x, const StreamAndFaceValues<T, V, b>& y,
                   BinnedSum* result) {
  detail::SumInParts sum(x.executor(), result);
  sum.add(x.stream.owned(), product_of(x.stream, y.stream));
  sum.add(x.loop.owned(), product_of(x.loop, y.loop));
  sum.add(x.velocity.owned(), product_of(x.velocity, y.velocity));
  sum.finish();
}
template <class T, class V, Cochain a, Cochain b>
Real inner_product(const StreamAndFaceValues<T, V, a>& x, const StreamAndFaceValues<T, V, b>& y) {
  Buffer<BinnedSum> place(x.executor().space(), 1);
  inner_product(x, y, place.data());
  BinnedSum sum;
  copy_bytes(&sum, MemorySpace::Host, place.data(), place.space(), sizeof sum);
  return sum.value();
}
template <class T, class V, Cochain kind>
void copy(const StreamAndFaceValues<T, V, kind>& x, StreamAndFaceValues<T, V, kind>& y) {
  copy(x.stream, y.stream);
  copy(x.loop, y.loop);
  copy(x.velocity, y.velocity);
}
template <class T, class V, Cochain kind>
void subtract_from(const StreamAndFaceValues<T, V, kind>& b, StreamAndFaceValues<T, V, kind>& r) {
  subtract_from(b.stream, r.stream);
  subtract_from(b.loop, r.loop);
  subtract_from(b.velocity, r.velocity);
}
template <class T, class V, Cochain kind>
void linear_combination(Real a, const StreamAndFaceValues<T, V, kind>& x, Real b,
                        StreamAndFaceValues<T, V, kind>& y) {
  linear_combination(a, x.stream, b, y.stream);
  linear_combination(a, x.loop, b, y.loop);
  linear_combination(a, x.velocity, b, y.velocity);
}
template <class T, class V, Cochain primal, Cochain dual>
void conjugate_gradient_step(FactorInMemory alpha, const StreamAndFaceValues<T, V, primal>& direction,
                             const StreamAndFaceValues<T, V, dual>& image,
                             StreamAndFaceValues<T, V, primal>& x, StreamAndFaceValues<T, V, dual>& residual,
                             BinnedSum* squared) {
  detail::SumInParts sum(x.executor(), squared);
  detail::conjugate_gradient_step(alpha, direction.stream, image.stream, x.stream, residual.stream, sum);
  detail::conjugate_gradient_step(alpha, direction.loop, image.loop, x.loop, residual.loop, sum);
  detail::conjugate_gradient_step(alpha, direction.velocity, image.velocity, x.velocity, residual.velocity,
                                  sum);
  sum.finish();
}

template <class T, class V, Cochain kind>
void next_direction(FactorInMemory beta, const StreamAndFaceValues<T, V, kind>& correction,
                    StreamAndFaceValues<T, V, kind>& direction) {
  next_direction(beta, correction.stream, direction.stream);
  next_direction(beta, correction.loop, direction.loop);
  next_direction(beta, correction.velocity, direction.velocity);
}

using Image = Paired<StreamVelocity>;
using X = StreamVectors<float>;
using Y = Paired<X>;
using WideX = StreamVectors<Real>;
using WideY = Paired<WideX>;
template Real inner_product(const Image&, const Image&);
template Real inner_product(const Y&, const Y&);
template void inner_product(const Image&, const Image&, BinnedSum*);
template void inner_product(const Image&, const StreamVelocity&, BinnedSum*);
template void inner_product(const Y&, const X&, BinnedSum*);
template void inner_product(const WideY&, const WideX&, BinnedSum*);
template void copy(const StreamVelocity&, StreamVelocity&);
template void copy(const Paired<StreamVelocity>&, Paired<StreamVelocity>&);
template void subtract_from(const Image&, Image&);
template void subtract_from(const StreamVelocity&, StreamVelocity&);
template void linear_combination(Real, const StreamVelocity&, Real, StreamVelocity&);
template void linear_combination(Real, const Y&, Real, Y&);
template void conjugate_gradient_step(FactorInMemory, const StreamVelocity&, const Image&, StreamVelocity&,
                                      Image&, BinnedSum*);
template void conjugate_gradient_step(FactorInMemory, const X&, const Y&, X&, Y&, BinnedSum*);
template void conjugate_gradient_step(FactorInMemory, const WideX&, const WideY&, WideX&, WideY&, BinnedSum*);
template void next_direction(FactorInMemory, const StreamVelocity&, StreamVelocity&);
template void next_direction(FactorInMemory, const X&, X&);
template void next_direction(FactorInMemory, const WideX&, WideX&);

}  // namespace curlew
