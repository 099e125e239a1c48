// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/field.hpp"
#include "kernels/vector3.hpp"
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
// As kernels/vector_kernels.hpp has them for one field.
template <Cochain a, Cochain b>
Real inner_product(const EdgeAndFaceValues<a>& x, const EdgeAndFaceValues<b>& y);
template <Cochain kind>
void linear_combination(Real a, const EdgeAndFaceValues<kind>& x, Real b, EdgeAndFaceValues<kind>& y);
template <Cochain kind>
void subtract_from(const EdgeAndFaceValues<kind>& b, EdgeAndFaceValues<kind>& r);
template <Cochain primal, Cochain dual>
void conjugate_gradient_step(Real alpha, const EdgeAndFaceValues<primal>& direction,
                             const EdgeAndFaceValues<dual>& image, EdgeAndFaceValues<primal>& x,
                             EdgeAndFaceValues<dual>& residual);

}  // namespace curlew
