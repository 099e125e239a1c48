// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/stream_preconditioner.hpp"

#include <utility>

#include "kernels/vector_kernels.hpp"
#include "solvers/least_energy.hpp"

namespace curlew {

namespace {

template <class E, class T>
struct ScaledOnEntity {
  View<E, const Real> scale;
  View<E, const T> from;
  View<E, T> to;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { to[i] = scale[i] * from[i]; }
};

template <class E, class From, class To>
void scale_by(const Field<E>& scale, const From& from, To& to) {
  for_each(scale.executor(), scale.range(),
           ScaledOnEntity<E, typename To::Value>{scale.view(), from.view(), to.view()});
}

}  // namespace

std::vector<Real> HarmonicFlows::products_with(const Paired<StreamVelocity>& r) const {
  std::vector<Real> products;
  for (const auto& [stream, loop] : flows)
    products.push_back(inner_product(r.stream, stream) + inner_product(r.loop, loop));
  return products;
}

StreamPreconditioner::StreamPreconditioner(const StreamVelocity& like, std::unique_ptr<AuxiliarySpace> edges,
                                           std::unique_ptr<TangentialChebyshev> tangential)
    : stream_(like.stream.executor(), like.stream.extent(), "inverse diagonal", "1"),
      loop_(like.stream.executor(), like.loop.extent(), "inverse diagonal", "1"),
      velocity_(like.stream.executor(), like.velocity.extent(), "inverse diagonal", "1"),
      edges_(std::move(edges)),
      tangential_(std::move(tangential)) {}

void StreamPreconditioner::set(std::span<const Real> stream, std::span<const Real> loop,
                               std::span<const Real> velocity, Real a, Real b) {
  viscous_factor_ = b;
  harmonic_energy_.clear();
  for (std::size_t k = 0; k < harmonic_.mass.size(); ++k)
    harmonic_energy_.push_back(a * harmonic_.mass[k] + b * harmonic_.viscous[k]);
  const auto invert = [](std::span<const Real> diagonal, auto& field) {
    std::vector<Real> inverse;
    for (const Real entry : diagonal) inverse.push_back(entry > 0 ? 1 / entry : 0);
    field.copy_from_host(inverse);
  };
  if (edges_)
    edges_->set(a, b);
  else
    invert(stream, stream_);
  if (harmonic_.flows.empty()) invert(loop, loop_);
  if (!tangential_) invert(velocity, velocity_);
}

void StreamPreconditioner::apply(const Paired<StreamVelocity>& r, StreamVelocity& z) const {
  if (edges_)
    edges_->apply(r.stream, z.stream);
  else
    scale_by(stream_, r.stream, z.stream);
  if (harmonic_.flows.empty())
    scale_by(loop_, r.loop, z.loop);
  else
    z.loop.fill(0);
  if (!tangential_)
    scale_by(velocity_, r.velocity, z.velocity);
  else if (viscous_factor_ > 0)
    tangential_->apply(1 / viscous_factor_, r.velocity, z.velocity);
  else
    z.velocity.fill(Vector3{});
  if (harmonic_.flows.empty()) return;
  const std::vector<Real> factors = least_energy_factors(harmonic_energy_, harmonic_.products_with(r));
  for (std::size_t k = 0; k < factors.size(); ++k) {
    linear_combination(factors[k], harmonic_.flows[k].stream, 1, z.stream);
    linear_combination(factors[k], harmonic_.flows[k].loop, 1, z.loop);
  }
}

}  // namespace curlew
