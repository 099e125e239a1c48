// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/stream_velocity.hpp"

#include "kernels/vector_kernels.hpp"

namespace curlew {

template <class T, class V, Cochain a, Cochain b>
void add_inner_product(const StreamAndFaceValues<T, V, a>& x, const StreamAndFaceValues<T, V, b>& y,
                       SumInParts& sum) {
  add_inner_product(x.stream, y.stream, sum);
  add_inner_product(x.loop, y.loop, sum);
  add_inner_product(x.velocity, y.velocity, sum);
}
template <class T, class V, Cochain a, Cochain b>
Real inner_product(const StreamAndFaceValues<T, V, a>& x, const StreamAndFaceValues<T, V, b>& y) {
  SumInParts sum(x.executor());
  add_inner_product(x, y, sum);
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
                             SumInParts& squared) {
  conjugate_gradient_step(alpha, direction.stream, image.stream, x.stream, residual.stream, squared);
  conjugate_gradient_step(alpha, direction.loop, image.loop, x.loop, residual.loop, squared);
  conjugate_gradient_step(alpha, direction.velocity, image.velocity, x.velocity, residual.velocity, squared);
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
template void add_inner_product(const Image&, const Image&, SumInParts&);
template void add_inner_product(const Image&, const StreamVelocity&, SumInParts&);
template void add_inner_product(const Y&, const X&, SumInParts&);
template void add_inner_product(const WideY&, const WideX&, SumInParts&);
template void copy(const StreamVelocity&, StreamVelocity&);
template void copy(const Paired<StreamVelocity>&, Paired<StreamVelocity>&);
template void subtract_from(const Image&, Image&);
template void subtract_from(const StreamVelocity&, StreamVelocity&);
template void linear_combination(Real, const StreamVelocity&, Real, StreamVelocity&);
template void linear_combination(Real, const Y&, Real, Y&);
template void conjugate_gradient_step(FactorInMemory, const StreamVelocity&, const Image&, StreamVelocity&,
                                      Image&, SumInParts&);
template void conjugate_gradient_step(FactorInMemory, const X&, const Y&, X&, Y&, SumInParts&);
template void conjugate_gradient_step(FactorInMemory, const WideX&, const WideY&, WideX&, WideY&,
                                      SumInParts&);
template void next_direction(FactorInMemory, const StreamVelocity&, StreamVelocity&);
template void next_direction(FactorInMemory, const X&, X&);
template void next_direction(FactorInMemory, const WideX&, WideX&);

}  // namespace curlew
