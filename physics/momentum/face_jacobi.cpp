// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/face_jacobi.hpp"

#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"

namespace curlew {

namespace {

/// What a face's residual is multiplied by along the normal and across it.
struct InverseDiagonalOnFace {
  Real mass_factor, viscous_factor;
  bool along_normals, scaled;
  View<Face, const float> mass, viscous;
  View<Face, const FaceHold> hold;
  View<Face, float> along, across;
  CURLEW_HOST_DEVICE static float inverse(Real diagonal, bool free) {
    return free && diagonal > 0 ? static_cast<float>(1 / diagonal) : 0.f;
  }
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Real friction = viscous_factor * static_cast<Real>(viscous[f]);
    const Real inertia = mass_factor * static_cast<Real>(mass[f]);
    along[f] = inverse(scaled ? inertia + friction : 1, along_normals && hold[f] == FaceHold::Free);
    across[f] = inverse(scaled ? friction : 1, hold[f] != FaceHold::All);
  }
};

/// z, and r . z of a face.
template <class T>
struct JacobiOnFace {
  FaceDivision<T> divided;
  View<Face, const Vector4<T>> r;
  View<Face, Vector4<T>> z;
  static constexpr bool takes_a_row = false;
  CURLEW_HOST_DEVICE Vector4<T> gather(Id<Face> f) const { return divided(f, r[f]); }
  CURLEW_HOST_DEVICE Real finish(Id<Face> f, const Vector4<T>& result) const {
    z[f] = result;
    return dot(r[f], result);
  }
};

}  // namespace

FaceJacobi::FaceJacobi(const MomentumMatrices& matrices, bool along_normals, bool scaled)
    : matrices_(matrices),
      along_normals_(along_normals),
      scaled_(scaled),
      along_(matrices.executor(), matrices.mesh().domain().extent<Face>(), "inverse diagonal", "1"),
      across_(alike(along_)) {}

void FaceJacobi::set(Real mass_factor, Real viscous_factor) {
  const std::pair factors(mass_factor, viscous_factor);
  if (factors == factors_) return;
  factors_ = factors;
  const MomentumMatrices& m = matrices_;
  for_each(m.executor(), along_.owned(),
           InverseDiagonalOnFace{mass_factor, viscous_factor, along_normals_, scaled_, m.mass_diagonal(),
                                 m.viscous_diagonal(), m.hold(), along_.view(), across_.view()});
}

template <class T>
auto FaceJacobi::kernel(const FaceVectors<T>& r, FaceVectors<T>& z) const {
  return JacobiOnFace<T>{division<T>(), r.view(), z.view()};
}
void FaceJacobi::apply(const FaceVectors<float>& r, FaceVectors<float>& z) const {
  for_each(r.executor(), r.owned(), kernel(r, z));
}
void FaceJacobi::apply(const FaceVectors<Real>& r, FaceVectors<Real>& z) const {
  for_each(r.executor(), r.owned(), kernel(r, z));
}
void FaceJacobi::apply_with_product(const FaceVectors<float>& r, FaceVectors<float>& z,
                                    SumInParts& product) const {
  product.add(r.owned(), kernel(r, z));
}
void FaceJacobi::apply_with_product(const FaceVectors<Real>& r, FaceVectors<Real>& z,
                                    SumInParts& product) const {
  product.add(r.owned(), kernel(r, z));
}

}  // namespace curlew
