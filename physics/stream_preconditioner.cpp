// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/stream_preconditioner.hpp"

#include <type_traits>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "solvers/least_energy.hpp"

namespace curlew {

namespace {

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
void scale_by(const Field<E>& scale, const From& r, To& z, detail::SumInParts* sum) {
  const ScaledOnEntity<E, typename To::Value> scaled{scale.view(), r.view(), z.view()};
  detail::run_and_add(scale.executor(), z.owned(), scaled, sum);
  if constexpr (on_every_rank<E>) for_each(scale.executor(), Range<E>(z.owned().last(), z.size()), scaled);
}

template <class T>
struct ProductOfEdge {
  View<Edge, const T> r;
  View<Edge, const float> flow;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e) const {
    return static_cast<Real>(r[e]) * static_cast<Real>(flow[e]);
  }
};

template <class T>
struct AddFlowOnEdge {
  Real factor;
  View<Edge, const float> flow;
  View<Edge, T> z;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    z[e] += static_cast<T>(factor * static_cast<Real>(flow[e]));
  }
};

}  // namespace

template <class T>
std::vector<Real> HarmonicFlows::products_with(const Paired<StreamVectors<T>>& r) const {
  std::vector<Real> products;
  for (const auto& [stream, loop] : flows) {
    products.push_back(
        sum(stream.executor(), stream.owned(), ProductOfEdge<T>{r.stream.view(), stream.view()}) +
        inner_product(r.loop, loop));
  }
  return products;
}
template std::vector<Real> HarmonicFlows::products_with<float>(const Paired<StreamVectors<float>>&) const;

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

template <class T>
void StreamPreconditioner::apply_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z,
                                    detail::SumInParts* sum) const {
  if (edges_) {
    if constexpr (std::is_same_v<T, float>) {
      edges_->apply(r.stream, z.stream, sum);
    } else {
      edges_->apply(r.stream, z.stream);
      if (sum != nullptr)
        sum->add(r.stream.owned(), ProductOfEntity<Edge>{r.stream.view(), std::as_const(z.stream).view()});
    }
  } else {
    scale_by(stream_, r.stream, z.stream, sum);
  }
  if (harmonic_.flows.empty())
    scale_by(loop_, r.loop, z.loop, sum);
  else
    z.loop.fill(0);
  if (!tangential_)
    scale_by(velocity_, r.velocity, z.velocity, sum);
  else if (viscous_factor_ > 0)
    tangential_->apply(1 / viscous_factor_, r.velocity, z.velocity, sum);
  else
    z.velocity.fill({});
  if (harmonic_.flows.empty()) return;
  const std::vector<Real> factors = least_energy_factors(harmonic_energy_, harmonic_.products_with<T>(r));
  for (std::size_t k = 0; k < factors.size(); ++k) {
    const auto& [stream, loop] = harmonic_.flows[k];
    for_each(stream.executor(), stream.range(), AddFlowOnEdge<T>{factors[k], stream.view(), z.stream.view()});
    linear_combination(factors[k], loop, 1, z.loop);
  }
}

template <class T>
void StreamPreconditioner::apply_with_product_in(const Paired<StreamVectors<T>>& r, StreamVectors<T>& z,
                                                 BinnedSum* product) const {
  if (harmonic_.flows.empty()) {
    detail::SumInParts sum(r.executor(), product);
    apply_in(r, z, &sum);
    sum.finish();
  } else {
    apply_in(r, z, nullptr);
    inner_product(r, z, product);
  }
}

void StreamPreconditioner::apply(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z) const {
  apply_in(r, z, nullptr);
}
void StreamPreconditioner::apply(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z) const {
  apply_in(r, z, nullptr);
}
void StreamPreconditioner::apply_with_product(const Paired<StreamVectors<float>>& r, StreamVectors<float>& z,
                                              BinnedSum* product) const {
  apply_with_product_in(r, z, product);
}
void StreamPreconditioner::apply_with_product(const Paired<StreamVectors<Real>>& r, StreamVectors<Real>& z,
                                              BinnedSum* product) const {
  apply_with_product_in(r, z, product);
}

}  // namespace curlew
