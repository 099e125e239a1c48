// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "physics/momentum/momentum_systems.hpp"
#include "physics/streamfunction/curl_with_loops.hpp"

namespace curlew {

/// What the linear systems of the exact fractional step are made of. `momentum`, `curl`: outlive it.
class StreamMatrices {
 public:
  /// `edge_is_free`: 0 where the value on an edge is held.
  StreamMatrices(const MomentumMatrices& momentum, const CurlWithLoops& curl,
                 const std::vector<std::uint8_t>& edge_is_free);

 private:
  friend class StreamSystem;

  /// To work with, in precision T.
  template <class T>
  struct Faces {
    explicit Faces(const MomentumMatrices& momentum);
    Field<Face, T> inverse_area;
    FaceVectors<T> velocity;  // beside it its part along the normal
    Field<Face, T, Cochain::Dual> circulation;
  };
  /// Double precision is made when it is first asked for.
  template <class T>
  Faces<T>& faces() const;

  const MomentumMatrices& momentum_;
  const CurlWithLoops& curl_;
  Field<Edge, std::uint8_t> free_;
  mutable Faces<float> single_;
  mutable std::unique_ptr<Faces<Real>> double_;
  mutable PrimalCochain<Face> flux_;       // for residuals: C s + Z q
  mutable DualCochain<Face> circulation_;  // and what drives them
};

/// [C Z]ᵀ (a M U + b n.(K v) / A) and b (K v)_t / A, where U = C s + Z q, v = n U / A + t, of an unknown (s,
/// q, A t): an area's factor makes all three kinds of numbers fluxes. What is free of it: s on free edges, q,
/// and tangential velocities that are not held.
///
/// A product is one pass over M and K between a curl and its transpose. Its inner product with x is the sum
/// of the energies of faces, v . (a M + b K) v.
class StreamSystem : public RefinedSystem<StreamVelocity> {
 public:
  /// What drives a change of flow: circulations, and the fluxes and tangential velocities that it begins
  /// with; of all of these ghosts are right. `round_loops`: further circulations round loops; null: none.
  struct Sources {
    const DualCochain<Face>& circulation;
    const PrimalCochain<Face>& flux;
    const FaceVelocity& velocity;
    const DualCochain<Loop>* round_loops = nullptr;
  };
  /// `sources`: null where no residual is asked for.
  StreamSystem(const StreamMatrices& matrices, Real mass_factor, Real viscous_factor,
               const Sources* sources = nullptr)
      : matrices_(matrices), mass_factor_(mass_factor), viscous_factor_(viscous_factor), sources_(sources) {}

  void apply(const StreamVectors<float>& x, Paired<StreamVectors<float>>& y) const override;
  void apply(const StreamVectors<Real>& x, Paired<StreamVectors<Real>>& y) const override;
  void apply_with_product(const StreamVectors<float>& x, Paired<StreamVectors<float>>& y,
                          SumInParts& product) const override;
  void apply_with_product(const StreamVectors<Real>& x, Paired<StreamVectors<Real>>& y,
                          SumInParts& product) const override;
  /// Rounding piles up along gradients, which have no curl, the more the further a correction goes.
  Real left_in_single_precision() const override {
    return 100 * static_cast<Real>(std::numeric_limits<float>::epsilon());
  }
  void set_residual(const StreamVelocity& x, Paired<StreamVelocity>& r) const override;
  /// The norm is that of what drives the change and of what the flow's own inertia and friction are,
  /// together: the reference keeps its size when the change becomes small.
  void set_first_residual(const StreamVelocity& x, Paired<StreamVelocity>& r, StreamVectors<float>& given,
                          Paired<StreamVectors<float>>& image, SumInParts& squared) const override;
  void add(Real factor, const StreamVectors<float>& e, StreamVelocity& x) const override;
  void add(Real factor, const StreamVectors<Real>& e, StreamVelocity& x) const override;

 private:
  template <class T>
  void apply_to(const StreamVectors<T>& x, Paired<StreamVectors<T>>& y, SumInParts* product) const;
  template <class T>
  void add_in(Real factor, const StreamVectors<T>& e, StreamVelocity& x) const;
  /// Rotation on free edges and circulation round loops.
  template <class T>
  void set_rotation(const Field<Face, T, Cochain::Dual>& circulation, Field<Edge, T, Cochain::Dual>& rotation,
                    DualCochain<Loop>& round) const;
  /// Adds what is given round loops besides.
  void add_given(DualCochain<Loop>& round) const;

  const StreamMatrices& matrices_;
  Real mass_factor_, viscous_factor_;
  const Sources* sources_;
};

}  // namespace curlew
