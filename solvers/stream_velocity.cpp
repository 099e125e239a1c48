// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/stream_velocity.hpp"

#include "kernels/vector_kernels.hpp"

namespace curlew {

namespace {

/// Without a reduction over all ranks where there are no loops.
template <Cochain a, Cochain b>
Real inner_product_of_stream(const StreamAndFaceValues<a>& x, const StreamAndFaceValues<b>& y) {
  const Real of_edges = inner_product(x.stream, y.stream);
  return x.loop.size() == 0 ? of_edges : of_edges + inner_product(x.loop, y.loop);
}

}  // namespace

template <Cochain kind>
Real squared_norm_of_stream(const StreamAndFaceValues<kind>& x) {
  return inner_product_of_stream(x, x);
}
template <Cochain a, Cochain b>
Real inner_product(const StreamAndFaceValues<a>& x, const StreamAndFaceValues<b>& y) {
  return inner_product_of_stream(x, y) + inner_product(x.velocity, y.velocity);
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
void conjugate_gradient_step(Real alpha, const StreamAndFaceValues<primal>& direction,
                             const StreamAndFaceValues<dual>& image, StreamAndFaceValues<primal>& x,
                             StreamAndFaceValues<dual>& residual) {
  conjugate_gradient_step(alpha, direction.stream, image.stream, x.stream, residual.stream);
  conjugate_gradient_step(alpha, direction.loop, image.loop, x.loop, residual.loop);
  conjugate_gradient_step(alpha, direction.velocity, image.velocity, x.velocity, residual.velocity);
}

template Real squared_norm_of_stream(const StreamAndFaceValues<Cochain::Dual>&);
template Real inner_product(const StreamAndFaceValues<Cochain::Dual>&,
                            const StreamAndFaceValues<Cochain::Dual>&);
template Real inner_product(const StreamAndFaceValues<Cochain::Dual>&,
                            const StreamAndFaceValues<Cochain::Primal>&);
template void linear_combination(Real, const StreamAndFaceValues<Cochain::Primal>&, Real,
                                 StreamAndFaceValues<Cochain::Primal>&);
template void subtract_from(const StreamAndFaceValues<Cochain::Dual>&, StreamAndFaceValues<Cochain::Dual>&);
template void conjugate_gradient_step(Real, const StreamAndFaceValues<Cochain::Primal>&,
                                      const StreamAndFaceValues<Cochain::Dual>&,
                                      StreamAndFaceValues<Cochain::Primal>&,
                                      StreamAndFaceValues<Cochain::Dual>&);

}  // namespace curlew
