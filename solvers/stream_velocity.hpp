// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/factor.hpp"
#include "kernels/field.hpp"
#include "kernels/reproducible_sum.hpp"
#include "kernels/vector3.hpp"
#include "mesh/entities.hpp"
#include "operators/operator.hpp"

namespace curlew {

/// Entity tag: a harmonic flux (mesh/harmonic_fluxes.hpp).
struct Loop;
template <>
inline constexpr bool on_every_rank<Loop> = true;

/// Fields solved for at once: values on edges, whose curl is a flux, fluxes through loops, and a vector on
/// faces. Every rank has the values of all loops; the first one owns them.
template <Cochain kind>
struct StreamAndFaceValues {
  Field<Edge, Real, kind> stream;
  Field<Loop, Real, kind> loop;
  Field<Face, Vector3> velocity;
  const Executor& executor() const { return stream.executor(); }
};
using StreamVelocity = StreamAndFaceValues<Cochain::Primal>;

template <>
struct PairedField<StreamVelocity> {
  using type = StreamAndFaceValues<Cochain::Dual>;
};
template <>
struct PairedField<StreamAndFaceValues<Cochain::Dual>> {
  using type = StreamVelocity;
};

template <Cochain kind>
StreamAndFaceValues<kind> alike(const StreamAndFaceValues<kind>& x) {
  return {alike(x.stream), alike(x.loop), alike(x.velocity)};
}
/// Of the values on edges and loops alone.
template <Cochain kind>
Real squared_norm_of_stream(const StreamAndFaceValues<kind>& x);
// As kernels/vector_kernels.hpp has them for one field.
template <Cochain a, Cochain b>
Real inner_product(const StreamAndFaceValues<a>& x, const StreamAndFaceValues<b>& y);
template <Cochain a, Cochain b>
void inner_product(const StreamAndFaceValues<a>& x, const StreamAndFaceValues<b>& y, BinnedSum* result);
template <Cochain kind>
void copy(const StreamAndFaceValues<kind>& x, StreamAndFaceValues<kind>& y);
template <Cochain kind>
void linear_combination(Real a, const StreamAndFaceValues<kind>& x, Real b, StreamAndFaceValues<kind>& y);
template <Cochain kind>
void subtract_from(const StreamAndFaceValues<kind>& b, StreamAndFaceValues<kind>& r);
template <Cochain primal, Cochain dual>
void conjugate_gradient_step(FactorInMemory alpha, const StreamAndFaceValues<primal>& direction,
                             const StreamAndFaceValues<dual>& image, StreamAndFaceValues<primal>& x,
                             StreamAndFaceValues<dual>& residual, BinnedSum* squared);
template <Cochain kind>
void next_direction(FactorInMemory beta, const StreamAndFaceValues<kind>& correction,
                    StreamAndFaceValues<kind>& direction);

}  // namespace curlew
