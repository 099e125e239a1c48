// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/streamfunction/stream_preconditioner.hpp"

#include <type_traits>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "mesh/flat_cells.hpp"
#include "physics/momentum/viscous_reach.hpp"

namespace curlew {

namespace {

/// How far viscosity has to outweigh inertia for fewer iterations to be worth what corrections of all fields
/// together cost: they take up to 1.5 times as long (docs/multigrid.md).
constexpr Real coupling_reach = 4;

/// Where more than this of all cells are flat corrections of all fields together take more iterations, not
/// fewer: what slides along walls, and velocities along faces that change from one flat cell to the next,
/// cost by far more than the corrections are told (docs/multigrid.md). So it is in narrow gaps.
constexpr Real few = 0.05;

/// z, and r . z of an entity.
template <class E, class T>
struct ScaledOnEntity {
  View<E, const Real> scale;
  View<E, const T> r;
  View<E, T> z;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    const T result = times(scale[i], r[i]);
    z[i] = result;
    return dot(r[i], result);
  }
};

template <class E, class From, class To>
void scale_by(const Field<E>& scale, const From& r, To& z, SumInParts* sum) {
  const ScaledOnEntity<E, typename To::Value> scaled{scale.view(), r.view(), z.view()};
  run_and_add(scale.executor(), z.owned(), scaled, sum);
  if constexpr (on_every_rank<E>) for_each(scale.executor(), Range<E>(z.owned().last(), z.size()), scaled);
}

}  // namespace

StreamPreconditioner::Coupling::Coupling(const Field<Edge>& like, const MomentumMatrices& matrices)
    : reconstruction(matrices),
      rotation(like.executor(), like.extent(), "rotation", "1"),
      stream(alike(rotation)) {}

StreamPreconditioner::StreamPreconditioner(const StreamVelocity& like)
    : stream_(like.stream.executor(), like.stream.extent(), "inverse diagonal", "1"),
      loop_(like.stream.executor(), like.loop.extent(), "inverse diagonal", "1"),
      velocity_(like.stream.executor(), like.velocity.extent(), "inverse diagonal", "1") {}

StreamPreconditioner::StreamPreconditioner(const StreamVelocity& like, const MomentumMatrices& matrices,
                                           std::unique_ptr<AuxiliarySpace> edges)
    : StreamPreconditioner(like) {
  matrices_ = &matrices;
  edges_ = std::move(edges);
  tangential_ = std::make_unique<TangentialChebyshev>(matrices);
  may_couple_ = !edges_->has_gaps() && share_of_flat_cells(matrices.mesh()) <= few;
}

void StreamPreconditioner::set(std::span<const Real> stream, std::span<const Real> loop,
                               std::span<const Real> velocity, Real a, Real b) {
  viscous_factor_ = b;
  const auto invert = [](std::span<const Real> diagonal, auto& field) {
    std::vector<Real> inverse;
    for (const Real entry : diagonal) inverse.push_back(entry > 0 ? 1 / entry : 0);
    field.copy_from_host(inverse);
  };
  if (edges_)
    set_edges(a, b);
  else
    invert(stream, stream_);
  if (harmonic_)
    harmonic_->set(a, b);
  else
    invert(loop, loop_);
  if (!tangential_) invert(velocity, velocity_);
}

void StreamPreconditioner::set_edges(Real a, Real b) {
  const bool coupled = may_couple_ && ViscousReach(*matrices_, b / a).is_beyond(coupling_reach);
  edges_->set(a, b, coupled);
  if (!coupled)
    coupling_.reset();
  else if (!coupling_)
    coupling_ = std::make_unique<Coupling>(stream_, *matrices_);
}

template <class T>
void StreamPreconditioner::apply_coupled(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z,
                                         SumInParts* sum) const {
  auto& [reconstruction, rotation, stream] = *coupling_;
  reconstruction.set_rotation(r.stream, r.velocity, rotation);
  edges_->set_coupled(rotation, stream);
  edges_->smooth(r.stream, stream, z.stream, harmonic_ ? nullptr : sum);
  if (harmonic_)
    harmonic_->add(r, z, sum);
  else
    scale_by(loop_, r.loop, z.loop, sum);
  tangential_->apply(1 / viscous_factor_, r.velocity, z.velocity, nullptr);
  reconstruction.add(stream, r.velocity, z.velocity, sum);
}

template <class T>
void StreamPreconditioner::apply_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z,
                                    SumInParts* sum) const {
  if (coupling_) return apply_coupled(r, z, sum);
  // Where there are harmonic flows, these come last.
  SumInParts* const sum_of_stream = harmonic_ ? nullptr : sum;
  if (edges_) {
    if constexpr (std::is_same_v<T, float>) {
      edges_->apply(r.stream, z.stream, sum_of_stream);
    } else {
      edges_->apply(r.stream, z.stream);
      if (sum_of_stream != nullptr)
        sum_of_stream->add(r.stream.owned(),
                           ProductOfEntity<Edge>{r.stream.view(), std::as_const(z.stream).view()});
    }
  } else {
    scale_by(stream_, r.stream, z.stream, sum_of_stream);
  }
  if (harmonic_)
    harmonic_->add(r, z, sum);
  else
    scale_by(loop_, r.loop, z.loop, sum);
  if (!tangential_)
    scale_by(velocity_, r.velocity, z.velocity, sum);
  else if (viscous_factor_ > 0)
    tangential_->apply(1 / viscous_factor_, r.velocity, z.velocity, sum);
  else
    z.velocity.fill({});
}

template <class T>
void StreamPreconditioner::apply_with_product_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z,
                                                 SumInParts& product) const {
  apply_in(r, z, &product);
}

void StreamPreconditioner::apply(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z) const {
  apply_in(r, z, nullptr);
}
void StreamPreconditioner::apply(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z) const {
  apply_in(r, z, nullptr);
}
void StreamPreconditioner::apply_with_product(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z,
                                              SumInParts& product) const {
  apply_with_product_in(r, z, product);
}
void StreamPreconditioner::apply_with_product(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z,
                                              SumInParts& product) const {
  apply_with_product_in(r, z, product);
}

}  // namespace curlew
