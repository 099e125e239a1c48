// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/stream_velocity.hpp"

#include "kernels/vector_kernels.hpp"

namespace curlew {

namespace {

template <class X, class Y>
auto product_of(const X& x, const Y& y) {
  return ProductOfEntity<typename X::Entity, typename X::Value>{x.view(), y.view()};
}

/// What this rank has of an inner product.
template <class X, class Y>
BinnedSum own_product(const X& x, const Y& y) {
  BinnedSum own;
  copy_bytes(&own, MemorySpace::Host, detail::own_sum(x.executor(), x.owned(), product_of(x, y)),
             x.executor().space(), sizeof own);
  return own;
}

template <Cochain a, Cochain b>
BinnedSum own_product_of_stream(const StreamAndFaceValues<a>& x, const StreamAndFaceValues<b>& y) {
  BinnedSum sum = own_product(x.stream, y.stream);
  sum.add(own_product(x.loop, y.loop));
  return sum;
}

/// Over all ranks, in one reduction for all fields.
Real total(const Executor& executor, const BinnedSum& own) {
  return (executor.ranks() ? executor.ranks()->sum(own) : own).value();
}

}  // namespace

template <Cochain kind>
Real squared_norm_of_stream(const StreamAndFaceValues<kind>& x) {
  return total(x.stream.executor(), own_product_of_stream(x, x));
}
template <Cochain a, Cochain b>
Real inner_product(const StreamAndFaceValues<a>& x, const StreamAndFaceValues<b>& y) {
  BinnedSum sum = own_product_of_stream(x, y);
  sum.add(own_product(x.velocity, y.velocity));
  return total(x.stream.executor(), sum);
}
template <Cochain a, Cochain b>
void inner_product(const StreamAndFaceValues<a>& x, const StreamAndFaceValues<b>& y, BinnedSum* result) {
  detail::SumInParts sum(x.executor(), result);
  sum.add(x.stream.owned(), product_of(x.stream, y.stream));
  sum.add(x.loop.owned(), product_of(x.loop, y.loop));
  sum.add(x.velocity.owned(), product_of(x.velocity, y.velocity));
  sum.finish();
}
template <Cochain kind>
void copy(const StreamAndFaceValues<kind>& x, StreamAndFaceValues<kind>& y) {
  copy(x.stream, y.stream);
  copy(x.loop, y.loop);
  copy(x.velocity, y.velocity);
}
template <Cochain kind>
void linear_combination(Real a, const StreamAndFaceValues<kind>& x, Real b, StreamAndFaceValues<kind>& y) {
  linear_combination(a, x.stream, b, y.stream);
  linear_combination(a, x.loop, b, y.loop);
  linear_combination(a, x.velocity, b, y.velocity);
}

template <Cochain kind>
void subtract_from(const StreamAndFaceValues<kind>& b, StreamAndFaceValues<kind>& r) {
  subtract_from(b.stream, r.stream);
  subtract_from(b.loop, r.loop);
  subtract_from(b.velocity, r.velocity);
}
template <Cochain primal, Cochain dual>
void conjugate_gradient_step(FactorInMemory alpha, const StreamAndFaceValues<primal>& direction,
                             const StreamAndFaceValues<dual>& image, StreamAndFaceValues<primal>& x,
                             StreamAndFaceValues<dual>& residual, BinnedSum* squared) {
  detail::SumInParts sum(x.executor(), squared);
  detail::conjugate_gradient_step(alpha, direction.stream, image.stream, x.stream, residual.stream, sum);
  detail::conjugate_gradient_step(alpha, direction.loop, image.loop, x.loop, residual.loop, sum);
  detail::conjugate_gradient_step(alpha, direction.velocity, image.velocity, x.velocity, residual.velocity,
                                  sum);
  sum.finish();
}

template <Cochain kind>
void next_direction(FactorInMemory beta, const StreamAndFaceValues<kind>& correction,
                    StreamAndFaceValues<kind>& direction) {
  next_direction(beta, correction.stream, direction.stream);
  next_direction(beta, correction.loop, direction.loop);
  next_direction(beta, correction.velocity, direction.velocity);
}

using Image = StreamAndFaceValues<Cochain::Dual>;
template Real squared_norm_of_stream(const Image&);
template Real inner_product(const Image&, const Image&);
template void inner_product(const Image&, const Image&, BinnedSum*);
template void inner_product(const Image&, const StreamVelocity&, BinnedSum*);
template void copy(const StreamVelocity&, StreamVelocity&);
template void linear_combination(Real, const StreamVelocity&, Real, StreamVelocity&);
template void subtract_from(const Image&, Image&);
template void subtract_from(const StreamVelocity&, StreamVelocity&);
template void conjugate_gradient_step(FactorInMemory, const StreamVelocity&, const Image&, StreamVelocity&,
                                      Image&, BinnedSum*);
template void next_direction(FactorInMemory, const StreamVelocity&, StreamVelocity&);

}  // namespace curlew
