// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <utility>

#include "physics/momentum/momentum_systems.hpp"

namespace curlew {

/// Kernel's part: the residual of a face divided by the diagonal. What rounding leaves of normal parts in
/// residuals of tangential velocities goes here: what is not free must not come into directions.
template <class T>
struct FaceDivision {
  View<Face, const float> along, across;  ///< inverses; 0 for what is not free
  View<Face, const Vector4<T>> normal;
  CURLEW_HOST_DEVICE Vector4<T> operator()(Id<Face> f, Vector4<T> residual) const {
    const Vector4<T> n = normal[f];
    const T part = own_dot(residual, n), divided = static_cast<T>(along[f]) * part;
    const Vector4<T> tangential = residual - part * n;
    return (divided * n + static_cast<T>(across[f]) * tangential).with_fourth(divided);
  }
};

/// z = r divided by the diagonal of a M + b K: by one number along a face's normal and by another across it,
/// on what is free. Their inverses are kept, in single precision for either precision of r.
class FaceJacobi : public RefinedPreconditioner<FaceVelocity> {
 public:
  /// `along_normals`: where fluxes are free too; `scaled`: false for z = r. Before the first use set() is to
  /// be called.
  FaceJacobi(const MomentumMatrices& matrices, bool along_normals, bool scaled);
  /// Of the matrix with these factors from now on. What was before does not matter. By all ranks together.
  virtual void set(Real mass_factor, Real viscous_factor);
  void apply(const FaceVectors<float>& r, FaceVectors<float>& z) const override;
  void apply(const FaceVectors<Real>& r, FaceVectors<Real>& z) const override;
  void apply_with_product(const FaceVectors<float>& r, FaceVectors<float>& z,
                          SumInParts& product) const override;
  void apply_with_product(const FaceVectors<Real>& r, FaceVectors<Real>& z,
                          SumInParts& product) const override;

 protected:
  std::pair<Real, Real> factors() const { return factors_; }
  template <class T>
  FaceDivision<T> division() const {
    return {along_.view(), across_.view(), matrices_.in<T>().normal.view()};
  }

  const MomentumMatrices& matrices_;

 private:
  template <class T>
  auto kernel(const FaceVectors<T>& r, FaceVectors<T>& z) const;

  bool along_normals_, scaled_;
  std::pair<Real, Real> factors_ = {0, 0};  // that the inverses are of
  Field<Face, float> along_, across_;
};

}  // namespace curlew
