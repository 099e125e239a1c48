// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/vector_kernels.hpp"
#include "mesh/entities.hpp"
#include "operators/operator.hpp"

namespace curlew {

/// Two fields solved for at once: values on edges, whose curl is a flux, and a vector on faces.
template <Cochain kind>
struct EdgeAndFaceValues {
  Field<Edge, Real, kind> stream;
  Field<Face, Vector3> velocity;
};
using StreamVelocity = EdgeAndFaceValues<Cochain::Primal>;

template <>
struct PairedField<StreamVelocity> {
  using type = EdgeAndFaceValues<Cochain::Dual>;
};
template <>
struct PairedField<EdgeAndFaceValues<Cochain::Dual>> {
  using type = StreamVelocity;
};

template <Cochain kind>
EdgeAndFaceValues<kind> alike(const EdgeAndFaceValues<kind>& x) {
  return {alike(x.stream), alike(x.velocity)};
}
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

}  // namespace curlew
