// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/stream_velocity.hpp"

#include "kernels/vector_kernels.hpp"

namespace curlew {

template <Cochain a, Cochain b>
Real inner_product(const EdgeAndFaceValues<a>& x, const EdgeAndFaceValues<b>& y) {
  return inner_product(x.stream, y.stream) + inner_product(x.velocity, y.velocity);
}
template <Cochain kind>
void linear_combination(Real a, const EdgeAndFaceValues<kind>& x, Real b, EdgeAndFaceValues<kind>& y) {
  linear_combination(a, x.stream, b, y.stream);
  linear_combination(a, x.velocity, b, y.velocity);
}
template <Cochain kind>
void subtract_from(const EdgeAndFaceValues<kind>& b, EdgeAndFaceValues<kind>& r) {
  subtract_from(b.stream, r.stream);
  subtract_from(b.velocity, r.velocity);
}
template <Cochain primal, Cochain dual>
void conjugate_gradient_step(Real alpha, const EdgeAndFaceValues<primal>& direction,
                             const EdgeAndFaceValues<dual>& image, EdgeAndFaceValues<primal>& x,
                             EdgeAndFaceValues<dual>& residual) {
  conjugate_gradient_step(alpha, direction.stream, image.stream, x.stream, residual.stream);
  conjugate_gradient_step(alpha, direction.velocity, image.velocity, x.velocity, residual.velocity);
}

template Real inner_product(const EdgeAndFaceValues<Cochain::Dual>&, const EdgeAndFaceValues<Cochain::Dual>&);
template Real inner_product(const EdgeAndFaceValues<Cochain::Dual>&,
                            const EdgeAndFaceValues<Cochain::Primal>&);
template void linear_combination(Real, const EdgeAndFaceValues<Cochain::Primal>&, Real,
                                 EdgeAndFaceValues<Cochain::Primal>&);
template void subtract_from(const EdgeAndFaceValues<Cochain::Dual>&, EdgeAndFaceValues<Cochain::Dual>&);
template void conjugate_gradient_step(Real, const EdgeAndFaceValues<Cochain::Primal>&,
                                      const EdgeAndFaceValues<Cochain::Dual>&,
                                      EdgeAndFaceValues<Cochain::Primal>&, EdgeAndFaceValues<Cochain::Dual>&);

}  // namespace curlew
