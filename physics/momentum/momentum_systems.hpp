// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "operators/flux_mass.hpp"
#include "operators/viscous_form.hpp"
#include "physics/flow/flow_boundary.hpp"
#include "solvers/refined_conjugate_gradient.hpp"

namespace curlew {

/// The mass of fluxes M and the viscous form K in precision T, for FaceVectors: rows of K act on velocities,
/// those of M on the normal parts beside them.
template <class T>
struct FaceMatricesIn {
  FaceMatricesIn(const Executor& executor, const Mesh& mesh, const FaceMatrix& mass_of_fluxes,
                 const FaceMatrix& viscous_form);
  ConstantArray<T> mass;     ///< A_f M_fg A_g, one per FacePair [m3]
  ConstantArray<T> viscous;  ///< K_fg [m]
  FaceVectors<T> normal;     ///< S / A
};

/// The lengths of rows that the kernels of solves in precision T are compiled for. Few go on in double
/// precision (RefinedConjugateGradient).
template <class T>
using LengthsIn = std::conditional_t<std::is_same_v<T, float>, FaceStencil::Lengths, RowLengths<>>;

/// What the linear systems of Momentum are made of: M and K, as they are and as solvers iterate with them,
/// and what the boundary holds. `mass`, `viscous_form`, `boundaries`: outlive them. Views are in the memory
/// of the executor.
class MomentumMatrices {
 public:
  MomentumMatrices(const Executor& executor, const Mesh& mesh, const FlowBoundaries& boundaries,
                   const FluxMass& mass, const ViscousForm& viscous_form);

  const Executor& executor() const { return executor_; }
  const Mesh& mesh() const { return mesh_; }
  /// M as it is, on fluxes: entries M_fg [1/m].
  const FaceMatrix& mass() const { return mass_; }
  /// K as it is: entries K_fg [m], on the stencil of M.
  const FaceMatrix& viscous_form() const { return viscous_form_; }
  /// M and K as solvers iterate with them. Double precision is made when it is first asked for.
  template <class T>
  const FaceMatricesIn<T>& in() const;
  /// A_f M_ff A_f of each face [m3].
  View<Face, const float> mass_diagonal() const { return mass_diagonal_.view(); }
  /// K_ff of each face [m].
  View<Face, const float> viscous_diagonal() const { return viscous_diagonal_.view(); }
  /// What the boundary holds, of ghosts too.
  View<Face, const FaceHold> hold() const { return hold_.view(); }
  std::vector<FaceHold> hold_on_host() const { return hold_.to_host(); }
  /// 1 where not all that the row of an owned face sees is free, else 0.
  View<Face, const std::uint8_t> sees_given() const { return sees_given_.view(); }
  /// S of each face [m2].
  View<Face, const Vector3> area() const { return mesh_.geometry().face_areas(executor_.space()); }

  /// Brings the ghosts of v up to date, and calls `launch(range, rows, space)` with rows of the stencil for
  /// parts of the owned faces, of all of them in the end, rows of these lengths being compiled. Before,
  /// `gather(range)` is called for the faces that rows may read from now on: those owned, then the ghosts.
  /// Defined in physics/momentum/momentum_rows.hpp.
  template <class V, class Lengths, class Gather, class Launch>
  void visit_stencil(const V& v, Lengths lengths, const Gather& gather, const Launch& launch) const;
  /// The same for rows that read v itself.
  template <class V, class Lengths, class Launch>
  void visit_stencil(const V& v, Lengths lengths, const Launch& launch) const {
    visit_stencil(
        v, lengths, [](Range<Face>) {}, launch);
  }

  /// Room for a velocity [m/s] with its flux [m3/s] beside it, for rows of a residual; each puts there its
  /// own.
  FaceVectors<Real>& gathered() const { return gathered_; }

  /// Norm of the diagonal of K times v.
  Real norm_of_friction(const FaceVelocity& velocity) const;
  /// Norm of the diagonal of M, for forces on velocities, times v: what normal parts are wrong by is rounding
  /// of it.
  Real norm_of_inertia(const FaceVelocity& velocity) const;
  /// Norm of the diagonal of a M times the part of v along normals, and of b K times v, together.
  Real norm_by_diagonal(Real a, Real b, const FaceVectors<float>& velocity) const;
  /// Norm over faces of the terms that r - a M U - b n.(K v) / A is a sum of, by diagonals [m2/s2].
  Real norm_of_circulation(Real a, Real b, const DualCochain<Face>& r, const PrimalCochain<Face>& flux,
                           const FaceVelocity& velocity) const;

  /// Takes from v what is not free in it, or not free and tangential.
  void keep_free_part(FaceVectors<float>& velocity) const;
  void keep_free_tangential_part(FaceVectors<float>& velocity) const;

 private:
  Executor executor_;
  const Mesh& mesh_;
  const Field<Face, FaceHold>& hold_;
  const FaceMatrix &mass_, &viscous_form_;
  FaceMatricesIn<float> single_;
  Field<Face, float> mass_diagonal_, viscous_diagonal_;
  Field<Face, std::uint8_t> sees_given_;
  mutable std::unique_ptr<FaceMatricesIn<Real>> double_;
  mutable FaceVectors<Real> gathered_;
};

/// What the systems have in common: products and corrections in either precision, of one kernel each.
template <class System>
class FaceSystem : public RefinedSystem<FaceVelocity> {
 public:
  explicit FaceSystem(const MomentumMatrices& matrices) : matrices_(matrices) {}
  void apply(const FaceVectors<float>& v, FaceVectors<float>& image) const override;
  void apply(const FaceVectors<Real>& v, FaceVectors<Real>& image) const override;
  void apply_with_product(const FaceVectors<float>& v, FaceVectors<float>& image,
                          SumInParts& product) const override;
  void apply_with_product(const FaceVectors<Real>& v, FaceVectors<Real>& image,
                          SumInParts& product) const override;
  void add(Real factor, const FaceVectors<float>& e, FaceVelocity& v) const override;
  void add(Real factor, const FaceVectors<Real>& e, FaceVelocity& v) const override;

 protected:
  const MomentumMatrices& matrices_;

 private:
  template <class T>
  void apply_in(const FaceVectors<T>& v, FaceVectors<T>& image) const;
  template <class T>
  void apply_with_product_in(const FaceVectors<T>& v, FaceVectors<T>& image, SumInParts& product) const;
  template <class T>
  void add_in(Real factor, const FaceVectors<T>& e, FaceVelocity& v) const;
};

/// (a M + b K) v = S times a circulation plus a force, on the free parts of v = (U, t).
class MomentumSystem : public FaceSystem<MomentumSystem> {
 public:
  static constexpr bool along_normals = true;  ///< whether fluxes are free, too

  /// `circulation`: null where no residual is asked for; `force`: null for none.
  MomentumSystem(const MomentumMatrices& matrices, Real mass_factor, Real viscous_factor,
                 const DualCochain<Face>* circulation = nullptr, const FaceVelocity* force = nullptr)
      : FaceSystem(matrices),
        mass_factor_(mass_factor),
        viscous_factor_(viscous_factor),
        circulation_(circulation),
        force_(force) {}
  void set_residual(const FaceVelocity& v, FaceVelocity& r) const override;
  Real rounding_of(const FaceVectors<float>& e) const override;
  void set_first_residual(const FaceVelocity& v, FaceVelocity& r, FaceVectors<float>& given,
                          FaceVectors<float>& image, SumInParts& squared) const override;

 private:
  friend FaceSystem<MomentumSystem>;

  /// Calls `launch(range, kernel)` for ranges that together are all owned faces.
  template <class T, class Launch>
  void visit_kernels(const FaceVectors<T>& v, FaceVectors<T>& image, const Launch& launch) const;

  /// The same for residuals.
  template <class Launch>
  void visit_residual_kernels(const FaceVelocity& v, FaceVelocity& r, const Launch& launch) const;

  Real mass_factor_, viscous_factor_;
  const DualCochain<Face>* circulation_;
  const FaceVelocity* force_;
};

/// K v = source on the free tangential parts of v; the other parts act through their columns.
class TangentialSystem : public FaceSystem<TangentialSystem> {
 public:
  static constexpr bool along_normals = false;

  /// `source`: null for zero; a v that has one has no other parts. `force`: K v for that v, of a system with
  /// a source: kept so with every residual; null for nothing. `force_known`: whether it is that of the v
  /// that a solve starts from.
  explicit TangentialSystem(const MomentumMatrices& matrices, const FaceVelocity* source = nullptr,
                            FaceVelocity* force = nullptr, bool force_known = false)
      : FaceSystem(matrices), source_(source), force_(force), force_known_(force_known) {}
  void set_residual(const FaceVelocity& v, FaceVelocity& r) const override;
  Real rounding_of(const FaceVectors<float>& e) const override;
  void set_first_residual(const FaceVelocity& v, FaceVelocity& r, FaceVectors<float>& given,
                          FaceVectors<float>& image, SumInParts& squared) const override;

 private:
  friend FaceSystem<TangentialSystem>;

  /// Calls `launch(range, kernel)` for ranges that together are all owned faces.
  template <class T, class Launch>
  void visit_kernels(const FaceVectors<T>& v, FaceVectors<T>& image, const Launch& launch) const;

  const FaceVelocity* source_;
  FaceVelocity* force_;
  bool force_known_;
};

}  // namespace curlew
