// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>

#include "physics/momentum/momentum_systems.hpp"

namespace curlew {

/// Whether all cells of the whole mesh are triangles or tetrahedra. By all ranks together.
bool has_only_simplices(const Mesh& mesh);

/// z = GᵀG r with GᵀG near the inverse of K_tt on what is free: a factorised sparse approximate inverse,
/// Kolotilin & Yeremin, SIAM J. Matrix Anal. Appl. 14 (1993). Blocks are G_fh = g_fh P_f P_h, P_f being the
/// projection onto a face's tangents; the numbers g_fh of a row are those with the least trace of G K_tt Gᵀ,
/// and such that this is 1 a tangent. h is f, or a face before f in the order of the whole mesh and among
/// those of its cells that it is coupled to most: of each face not more before it than the space has
/// dimensions and one, nor after it, so that rows of G and of Gᵀ have one length and a processor need not
/// guess where they end. For simplices: elsewhere faces of a cell may have no common node, and a rank would
/// not have all that its rows depend on.
class TangentialApproximateInverse : public RefinedPreconditioner<FaceVelocity> {
 public:
  /// By all ranks together.
  explicit TangentialApproximateInverse(const MomentumMatrices& matrices);
  void apply(const FaceVectors<float>& r, FaceVectors<float>& z) const override;
  void apply(const FaceVectors<Real>& r, FaceVectors<Real>& z) const override;
  void apply_with_product(const FaceVectors<float>& r, FaceVectors<float>& z,
                          SumInParts& product) const override;
  void apply_with_product(const FaceVectors<Real>& r, FaceVectors<Real>& z,
                          SumInParts& product) const override;

 private:
  /// G or Gᵀ without its diagonal, for the faces that the rank owns. Entries that a row has not are zero.
  struct Triangle {
    IncidenceTable<Face, Face> faces;
    ConstantArray<float> entries;
  };
  /// Calls `launch(range, kernel)` for kernels that form y, with terms that add up to y . y, the product of
  /// the triangle and x.
  template <class T, class Launch>
  void visit_product(const Triangle& triangle, const FaceVectors<T>& x, FaceVectors<T>& y,
                     const Launch& launch) const;
  template <class T>
  void apply_in(const FaceVectors<T>& r, FaceVectors<T>& z) const;
  template <class T>
  void apply_with_product_in(const FaceVectors<T>& r, FaceVectors<T>& z, SumInParts& product) const;
  /// A place for G r.
  template <class T>
  FaceVectors<T>& place() const;

  const MomentumMatrices& matrices_;
  Triangle lower_, upper_;
  ConstantArray<float> diagonal_;  // 0 for faces that are held
  mutable FaceVectors<float> single_;
  mutable std::unique_ptr<FaceVectors<Real>> double_;  // where a solve needed it
};

}  // namespace curlew
