// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/streamfunction/stream_system.hpp"

#include <cmath>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/signed_sum_kernels.hpp"
#include "physics/momentum/free_parts.hpp"
#include "physics/momentum/momentum_rows.hpp"

namespace curlew {

namespace {

template <class T>
struct InverseAreaOnFace {
  View<Face, const Vector3> area;
  View<Face, T> inverse;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { inverse[f] = static_cast<T>(1 / norm(area[f])); }
};

/// v = (n C s + A t) / A, and its part along n; given the flux C s.
template <class T>
struct VelocityOnFace {
  View<Face, const T> inverse_area;
  View<Face, const Vector4<T>> normal, scaled_tangential;
  View<Face, Vector4<T>> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f, T flux) const {
    const T inverse = inverse_area[f], along = inverse * flux;
    velocity[f] = normal[f].with_fourth(1).times(along, along) + scaled_tangential[f].times(inverse, 0);
  }
};

/// The force on a face by inertia and friction, as a circulation and, where tangential velocities are free,
/// what is across the normal. Gives the term of x . A x.
template <class T, class Rows>
struct ForceOnFace {
  Rows faces_of;
  View<FacePair, const T> mass, viscous;
  T mass_factor, viscous_factor;
  View<Face, const FaceHold> hold;
  View<Face, const T> inverse_area;
  View<Face, const Vector4<T>> normal, velocity;
  View<Face, T> circulation;
  View<Face, Vector4<T>> tangential;
  /// K v and, along the normal, A M U.
  CURLEW_HOST_DEVICE Vector4<T> gather(Id<Face> f) const {
    return rows_times(faces_of, viscous, mass, velocity, f);
  }
  CURLEW_HOST_DEVICE Real finish(Id<Face> f, const Vector4<T>& sum) const {
    const Vector4<T> n = normal[f], v = velocity[f];
    const T inverse = inverse_area[f], along = own_dot(sum, n), inertia = mass_factor * sum.fourth;
    circulation[f] = inverse * (inertia + viscous_factor * along);
    const Vector4<T> across = sum - n.times(along, along);
    tangential[f] = hold[f] == FaceHold::All ? Vector4<T>{} : across.times(inverse * viscous_factor, 0);
    return static_cast<Real>(v.fourth) * static_cast<Real>(inertia) +
           static_cast<Real>(viscous_factor) * dot(v, sum);
  }
};

/// The rotation where edges are free.
template <class T>
struct FreeRotationOnEdge {
  View<Edge, const std::uint8_t> free;
  View<Edge, T> rotation;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e, T sum) const { rotation[e] = free[e] ? sum : T(0); }
};

/// Velocity and, beside it, flux after a change.
struct ChangedOnFace {
  View<Face, const Vector3> area, velocity, scaled_tangential;
  View<Face, const Real> flux, change;
  View<Face, Vector4<Real>> changed;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 s = area[f], before = velocity[f];
    const Real inverse = 1 / norm(s), u = flux[f] + change[f];
    const Vector3 v = before + inverse * ((inverse * (u - dot(before, s))) * s + scaled_tangential[f]);
    changed[f] = {v.x, v.y, v.z, u};
  }
};

/// What is left of the circulation, and of no tangential force.
template <class Rows>
struct ResidualOnFace {
  Rows faces_of;
  View<FacePair, const Real> mass, viscous;
  Real mass_factor, viscous_factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area;
  View<Face, const Real> given;
  View<Face, const Vector4<Real>> velocity;
  View<Face, Real> circulation;
  View<Face, Vector3> tangential;
  /// K v and M U.
  CURLEW_HOST_DEVICE Vector4<Real> gather(Id<Face> f) const {
    return rows_times(faces_of, viscous, mass, velocity, f);
  }
  CURLEW_HOST_DEVICE void finish(Id<Face> f, const Vector4<Real>& sum) const {
    const Vector3 s = area[f], force = -viscous_factor * widened(sum);
    const Real inverse = 1 / norm(s), along = dot(force, s) * inverse * inverse;
    circulation[f] = given[f] - mass_factor * sum.fourth + along;
    tangential[f] = hold[f] == FaceHold::All ? Vector3{} : inverse * (force - along * s);
  }
};

/// Of the rotation that is given, and of that which the residual says is taken from it.
struct SquaredSourceOfEdge {
  Incidence<Edge, Face> faces_of;
  View<Edge, const std::uint8_t> free;
  View<Face, const Real> circulation;
  View<Edge, const Real> residual;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e) const {
    if (!free[e]) return 0;
    Real given = 0;
    for (const auto [f, sign] : faces_of[e]) given += sign * circulation[f];
    const Real taken = given - residual[e];
    return given * given + taken * taken;
  }
};

/// The same of what is given round a loop.
struct SquaredSourceOfLoop {
  View<Loop, const Real> given, residual;
  CURLEW_HOST_DEVICE Real operator()(Id<Loop> l) const {
    const Real taken = given[l] - residual[l];
    return given[l] * given[l] + taken * taken;
  }
};

template <class T>
struct AddOnEdge {
  Real factor;
  View<Edge, const T> change;
  View<Edge, Real> stream;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const { stream[e] += factor * static_cast<Real>(change[e]); }
};

template <class T>
struct AddTangentialOnFace {
  Real factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area;
  View<Face, const Vector4<T>> change;
  View<Face, Vector3> scaled_tangential;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    scaled_tangential[f] += factor * free_tangential_part(widened(change[f]), hold[f], area[f]);
  }
};

}  // namespace

template <class T>
StreamMatrices::Faces<T>::Faces(const MomentumMatrices& momentum)
    : inverse_area(momentum.executor(), momentum.mesh().domain().extent<Face>(), "inverse area", "1/m2"),
      velocity(momentum.executor(), inverse_area.extent(), "velocity", "1"),
      circulation(momentum.executor(), inverse_area.extent(), "circulation", "1") {
  for_each(momentum.executor(), inverse_area.range(),
           InverseAreaOnFace<T>{momentum.area(), inverse_area.view()});
}

StreamMatrices::StreamMatrices(const MomentumMatrices& momentum, const CurlWithLoops& curl,
                               const std::vector<std::uint8_t>& edge_is_free)
    : momentum_(momentum),
      curl_(curl),
      free_(momentum.executor(), momentum.mesh().domain().extent<Edge>(), "free", "1"),
      single_(momentum),
      flux_(momentum.executor(), single_.velocity.extent(), "change of flux", "m3/s"),
      circulation_(momentum.executor(), flux_.extent(), "circulation", "m2/s2") {
  free_.copy_from_host(edge_is_free);
}

template <>
StreamMatrices::Faces<float>& StreamMatrices::faces<float>() const {
  return single_;
}
template <>
StreamMatrices::Faces<Real>& StreamMatrices::faces<Real>() const {
  if (!double_) double_ = std::make_unique<Faces<Real>>(momentum_);
  return *double_;
}

/// Ghosts of velocities and circulations are found here, not brought: the rank has the cells on both sides of
/// all faces about its own edges, with all their faces. Circulations are brought where rows reach further.
template <class T>
void StreamSystem::apply_to(const StreamVectors<T>& x, Paired<StreamVectors<T>>& y,
                            SumInParts* product) const {
  const MomentumMatrices& m = matrices_.momentum_;
  const FaceMatricesIn<T>& in = m.in<T>();
  auto& [inverse_area, velocity, circulation] = matrices_.faces<T>();
  const auto inverse = std::as_const(inverse_area).view();
  const MemorySpace space = m.executor().space();
  const VelocityOnFace<T> velocity_of{inverse, in.normal.view(), x.velocity.view(), velocity.view()};
  const auto set_velocity = [&](Range<Face> faces) {
    matrices_.curl_.sums_over_edges().visit(faces, x.stream.view(), velocity_of);
  };
  launch_with_ghosts(m.mesh().domain(), velocity.range(), set_velocity, x.velocity, x.stream);
  matrices_.curl_.add_loops(x.loop, inverse_area, in.normal, velocity);

  const auto set_force = [&](Range<Face> faces, SumInParts* own_sum) {
    const auto launch = [&](Range<Face> range, auto rows) {
      const ForceOnFace<T, decltype(rows)> force{rows,
                                                 view(in.mass, space),
                                                 view(in.viscous, space),
                                                 static_cast<T>(mass_factor_),
                                                 static_cast<T>(viscous_factor_),
                                                 m.hold(),
                                                 inverse,
                                                 in.normal.view(),
                                                 std::as_const(velocity).view(),
                                                 circulation.view(),
                                                 y.velocity.view()};
      run_and_add(m.executor(), range, force, own_sum);
    };
    m.mass().stencil().visit_parts(space, faces, launch, LengthsIn<T>{});
  };
  set_force(velocity.owned(), product);
  if (m.mass().stencil().reaches_further())
    exchange_ghosts(m.mesh().domain(), circulation);
  else
    set_force(Range<Face>(velocity.owned().last(), velocity.size()), nullptr);
  set_rotation(circulation, y.stream, y.loop);
}

template <class T>
void StreamSystem::set_rotation(const Field<Face, T, Cochain::Dual>& circulation,
                                Field<Edge, T, Cochain::Dual>& rotation, DualCochain<Loop>& round) const {
  const FreeRotationOnEdge<T> free_rotation{std::as_const(matrices_.free_).view(), rotation.view()};
  matrices_.curl_.sums_over_faces().visit(rotation.owned(), circulation.view(), free_rotation);
  matrices_.curl_.set_circulation_round_loops(circulation, round);
}

void StreamSystem::add_given(DualCochain<Loop>& round) const {
  if (sources_->round_loops != nullptr) linear_combination(1, *sources_->round_loops, 1, round);
}

void StreamSystem::apply(const StreamVectors<float>& x, Paired<StreamVectors<float>>& y) const {
  apply_to(x, y, nullptr);
}
void StreamSystem::apply(const StreamVectors<Real>& x, Paired<StreamVectors<Real>>& y) const {
  apply_to(x, y, nullptr);
}
void StreamSystem::apply_with_product(const StreamVectors<float>& x, Paired<StreamVectors<float>>& y,
                                      SumInParts& product) const {
  apply_to(x, y, &product);
}
void StreamSystem::apply_with_product(const StreamVectors<Real>& x, Paired<StreamVectors<Real>>& y,
                                      SumInParts& product) const {
  apply_to(x, y, &product);
}

void StreamSystem::set_residual(const StreamVelocity& x, Paired<StreamVelocity>& r) const {
  const MomentumMatrices& m = matrices_.momentum_;
  const MemorySpace space = m.executor().space();
  PrimalCochain<Face>& change = matrices_.flux_;
  const auto set_curl = [&](Range<Face> faces) { matrices_.curl_.set_curl(faces, x.stream, change); };
  launch_with_ghosts(m.mesh().domain(), change.range(), set_curl, x.velocity, x.stream);
  matrices_.curl_.add_loops(x.loop, change);
  for_each(m.executor(), change.range(),
           ChangedOnFace{m.area(), sources_->velocity.view(), x.velocity.view(), sources_->flux.view(),
                         std::as_const(change).view(), m.gathered().view()});
  const bool brings = m.mass().stencil().reaches_further();
  m.mass().stencil().visit_parts(
      space, brings ? change.owned() : change.range(), [&](Range<Face> range, auto rows) {
        for_each(m.executor(), range,
                 ResidualOnFace<decltype(rows)>{
                     rows, m.mass().entries(space), m.viscous_form().entries(space), mass_factor_,
                     viscous_factor_, m.hold(), m.area(), sources_->circulation.view(),
                     std::as_const(m.gathered()).view(), matrices_.circulation_.view(), r.velocity.view()});
      });
  if (brings) exchange_ghosts(m.mesh().domain(), matrices_.circulation_);
  set_rotation(matrices_.circulation_, r.stream, r.loop);
  add_given(r.loop);
}

void StreamSystem::set_first_residual(const StreamVelocity& x, Paired<StreamVelocity>& r,
                                      StreamVectors<float>&, Paired<StreamVectors<float>>& image,
                                      SumInParts& squared) const {
  set_residual(x, r);
  const MomentumMatrices& m = matrices_.momentum_;
  squared.add(r.velocity.owned(), ProductOfEntity<Face, Vector3>{r.velocity.view(), r.velocity.view()});
  squared.add(r.stream.owned(),
              SquaredSourceOfEdge{m.mesh().topology().faces_of_edge().view(m.executor().space()),
                                  std::as_const(matrices_.free_).view(), sources_->circulation.view(),
                                  r.stream.view()});
  matrices_.curl_.set_circulation_round_loops(sources_->circulation, image.loop);
  add_given(image.loop);
  squared.add(r.loop.owned(), SquaredSourceOfLoop{std::as_const(image.loop).view(), r.loop.view()});
}

template <class T>
void StreamSystem::add_in(Real factor, const StreamVectors<T>& e, StreamVelocity& x) const {
  const MomentumMatrices& m = matrices_.momentum_;
  for_each(m.executor(), x.stream.range(), AddOnEdge<T>{factor, e.stream.view(), x.stream.view()});
  linear_combination(factor, e.loop, 1, x.loop);
  for_each(m.executor(), x.velocity.range(),
           AddTangentialOnFace<T>{factor, m.hold(), m.area(), e.velocity.view(), x.velocity.view()});
}
void StreamSystem::add(Real factor, const StreamVectors<float>& e, StreamVelocity& x) const {
  add_in(factor, e, x);
}
void StreamSystem::add(Real factor, const StreamVectors<Real>& e, StreamVelocity& x) const {
  add_in(factor, e, x);
}

}  // namespace curlew
