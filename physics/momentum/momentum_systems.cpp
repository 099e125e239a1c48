// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/momentum_systems.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/parallel.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "physics/momentum/free_parts.hpp"
#include "physics/momentum/momentum_rows.hpp"

namespace curlew {

namespace {

/// What products in single precision, and their sum over some iterations, are wrong by, over the diagonal's
/// part.
constexpr Real rounding_of_products = 2 * static_cast<Real>(std::numeric_limits<float>::epsilon());

/// (a M + b K) v.
template <class T, class Rows>
struct MomentumOnFace {
  Rows faces_of;
  View<FacePair, const T> mass, viscous;
  T mass_factor, viscous_factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector4<T>> normal, velocity;
  View<Face, Vector4<T>> image;
  /// K v and, along the normal, M v.
  CURLEW_HOST_DEVICE Vector4<T> gather(Id<Face> f) const {
    return rows_times(faces_of, viscous, mass, velocity, f);
  }
  CURLEW_HOST_DEVICE void finish(Id<Face> f, const Vector4<T>& sum) const {
    const T inertia = mass_factor * sum.fourth;
    image[f] = free_part(inertia * normal[f] + sum.times(viscous_factor, 0), hold[f], normal[f]);
  }
};

/// Velocities as rows of M and K gather them: with U = v.S beside them.
struct WithFluxOnFace {
  View<Face, const Vector3> area, velocity;
  View<Face, Vector4<Real>> gathered;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 v = velocity[f];
    gathered[f] = {v.x, v.y, v.z, dot(v, area[f])};
  }
};

/// S circulation + force - (a M + b K) v.
template <class Rows>
struct MomentumResidualOnFace {
  Rows faces_of;
  View<FacePair, const Real> mass, viscous;
  Real mass_factor, viscous_factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area;
  View<Face, const Real> circulation;
  bool has_force;
  View<Face, const Vector3> force;
  View<Face, const Vector4<Real>> velocity;
  View<Face, Vector3> residual;
  CURLEW_HOST_DEVICE Vector4<Real> gather(Id<Face> f) const {
    return rows_times(faces_of, viscous, mass, velocity, f);
  }
  CURLEW_HOST_DEVICE void finish(Id<Face> f, const Vector4<Real>& sum) const {
    residual[f] = free_difference(f, sum.fourth, widened(sum));
  }
  /// For inertia M U and friction K v.
  CURLEW_HOST_DEVICE Vector3 free_difference(Id<Face> f, Real inertia, Vector3 friction) const {
    Vector3 whole = -viscous_factor * friction;
    // Where the flux is held the boundary carries what is left along the normal: beside it rounding would be
    // all that there is in a fluid at rest.
    if (hold[f] == FaceHold::Free) whole += (circulation[f] - mass_factor * inertia) * area[f];
    if (has_force) whole += force[f];
    return free_part(whole, hold[f], area[f]);
  }
};

/// Sets the residual, and gives the square of S circulation + force - (a M + b K) times what is not free in
/// v. Few rows see anything of it.
template <class Rows>
struct ResidualAndSquaredSourceOfFace {
  MomentumResidualOnFace<Rows> residual;
  View<Face, const std::uint8_t> sees_given;
  View<Face, const Vector3> velocity;
  CURLEW_HOST_DEVICE Vector4<Real> gather(Id<Face> f) const { return residual.gather(f); }
  CURLEW_HOST_DEVICE Real finish(Id<Face> f, const Vector4<Real>& sum) const {
    residual.finish(f, sum);
    Real inertia = 0;
    Vector3 friction{};
    if (sees_given[f] != 0) {
      Id<FacePair> pair(residual.faces_of.start(f));
      for (const auto [g, sign] : residual.faces_of[f]) {
        if (residual.hold[g] != FaceHold::Free) {
          const Vector3 s = residual.area[g],
                        given = velocity[g] - free_part(velocity[g], residual.hold[g], s);
          inertia += residual.mass[pair] * dot(given, s);
          friction += residual.viscous[pair] * given;
        }
        pair = residual.faces_of.next(pair);
      }
    }
    const Vector3 source = residual.free_difference(f, inertia, friction);
    return dot(source, source);
  }
};

/// (K v)_t.
template <class T, class Rows>
struct TangentialForceOnFace {
  Rows faces_of;
  View<FacePair, const T> viscous;
  View<Face, const FaceHold> hold;
  View<Face, const Vector4<T>> normal, velocity;
  View<Face, Vector4<T>> image;
  CURLEW_HOST_DEVICE Vector4<T> gather(Id<Face> f) const { return row_times(faces_of, viscous, velocity, f); }
  CURLEW_HOST_DEVICE void finish(Id<Face> f, const Vector4<T>& sum) const {
    image[f] = free_tangential_part(sum, hold[f], normal[f]);
  }
};

/// (source - K v)_t, and K v.
template <class Rows>
struct TangentialResidualOnFace {
  Rows faces_of;
  View<FacePair, const Real> viscous;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  bool has_source;
  View<Face, const Vector3> source;
  bool keeps_force;
  View<Face, Vector3> force, residual;
  CURLEW_HOST_DEVICE Vector3 gather(Id<Face> f) const {
    if (hold[f] == FaceHold::All && !keeps_force) return {};
    return row_times(faces_of, viscous, velocity, f);
  }
  CURLEW_HOST_DEVICE void finish(Id<Face> f, const Vector3& image) const {
    if (keeps_force) force[f] = image;
    residual[f] = free_tangential_part(has_source ? source[f] - image : -image, hold[f], area[f]);
  }
};

/// Sets the residual -(K v)_t, and gives the square of what is not free and tangential in v makes of it.
template <class Rows>
struct TangentialResidualAndSquaredSourceOfFace {
  Rows faces_of;
  View<FacePair, const Real> viscous;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, const Vector4<float>> given;
  View<Face, Vector3> residual;
  struct Sums {
    Vector3 image;
    Vector4<float> by_given;
  };
  CURLEW_HOST_DEVICE Sums gather(Id<Face> f) const {
    Vector3 image{};
    Vector4<float> by_given{};
    Id<FacePair> pair(faces_of.start(f));
    for (const auto [g, sign] : faces_of[f]) {
      const Real entry = viscous[pair];
      const float rounded_entry = static_cast<float>(entry);
      image += entry * velocity[g];
      by_given += given[g].times(rounded_entry, rounded_entry);
      pair = faces_of.next(pair);
    }
    return {image, by_given};
  }
  CURLEW_HOST_DEVICE Real finish(Id<Face> f, const Sums& sums) const {
    residual[f] = free_tangential_part(-sums.image, hold[f], area[f]);
    const Vector3 source = free_tangential_part(widened(sums.by_given), hold[f], area[f]);
    return dot(source, source);
  }
};

/// (source - force)_t.
struct TangentialDifferenceOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, source, force;
  View<Face, Vector3> residual;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    residual[f] = free_tangential_part(source[f] - force[f], hold[f], area[f]);
  }
};

template <class T, bool along_normals>
struct AddFreePartOnFace {
  Real factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area;
  View<Face, const Vector4<T>> change;
  View<Face, Vector3> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    if (hold[f] == FaceHold::All) return;
    const Vector4<T> v = change[f];
    const Vector3 whole = widened(v), s = area[f];
    const Real squared_area = dot(s, s);
    Real excess = dot(whole, s);
    // The flux is what M has acted on: beside large tangential parts rounding leaves little of it in the
    // vector.
    if (along_normals && hold[f] == FaceHold::Free)
      excess -= static_cast<Real>(v.fourth) * std::sqrt(squared_area);
    velocity[f] += factor * (whole - (excess / squared_area) * s);
  }
};

struct KeepFreePartOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector4<float>> normal;
  View<Face, Vector4<float>> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector4<float> v = free_part(velocity[f], hold[f], normal[f]);
    velocity[f] = v.with_fourth(hold[f] == FaceHold::Free ? own_dot(v, normal[f]) : 0.f);
  }
};

struct KeepFreeTangentialPartOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector4<float>> normal;
  View<Face, Vector4<float>> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    velocity[f] = free_tangential_part(velocity[f], hold[f], normal[f]).with_fourth(0);
  }
};

/// Of a system's kernel, which it runs, the term of v . A v.
template <class Kernel>
struct ProductOfFace {
  Kernel kernel;
  CURLEW_HOST_DEVICE auto gather(Id<Face> f) const { return kernel.gather(f); }
  template <class Sum>
  CURLEW_HOST_DEVICE Real finish(Id<Face> f, const Sum& sum) const {
    kernel.finish(f, sum);
    return dot(kernel.velocity[f], kernel.image[f]);
  }
};

struct SeesGivenOnFace {
  Incidence<Face, Face> faces_of;
  View<Face, const FaceHold> hold;
  View<Face, std::uint8_t> sees_given;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    for (const auto [g, sign] : faces_of[f]) {
      if (hold[g] != FaceHold::Free) sees_given[f] = 1;
    }
  }
};

/// What is not free and tangential in v.
struct GivenOrNormalPartOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, Vector4<float>> given;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    given[f] = rounded<float>(velocity[f] - free_tangential_part(velocity[f], hold[f], area[f]));
  }
};

struct SquaredTimesDiagonalOfFace {
  View<Face, const float> diagonal;
  View<Face, const Vector3> velocity;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const Real entry = static_cast<Real>(diagonal[f]);
    return entry * entry * dot(velocity[f], velocity[f]);
  }
};

struct SquaredByDiagonalOfFace {
  Real a, b;
  View<Face, const float> mass, viscous;
  View<Face, const Vector4<float>> velocity;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const Vector4<float> v = velocity[f];
    const Real inertia = a * static_cast<Real>(mass[f]) * static_cast<Real>(v.fourth);
    const Real friction = b * static_cast<Real>(viscous[f]);
    return inertia * inertia + friction * friction * dot(v, v);
  }
};

struct SquaredCirculationOfFace {
  Real a, b;
  View<Face, const float> mass, viscous;
  View<Face, const Vector3> area;
  View<Face, const Real> r, flux;
  View<Face, const Vector3> velocity;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const Real squared_area = dot(area[f], area[f]), given = r[f];
    const Real inertia = a * static_cast<Real>(mass[f]) / squared_area * flux[f];
    const Real friction = b * static_cast<Real>(viscous[f]);
    return given * given + inertia * inertia +
           friction * friction * dot(velocity[f], velocity[f]) / squared_area;
  }
};

/// A number of a row with this diagonal entry, or of a vector of that length.
template <class T>
T entry_in(Real entry, Real diagonal) {
  return static_cast<T>(std::is_same_v<T, float> ? without_rounding(entry, diagonal) : entry);
}

struct SquaredFreeTangentialPartOfFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, force;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const Vector3 part = free_tangential_part(force[f], hold[f], area[f]);
    return dot(part, part);
  }
};

}  // namespace

template <class T>
FaceMatricesIn<T>::FaceMatricesIn(const Executor& executor, const Mesh& mesh,
                                  const FaceMatrix& mass_of_fluxes, const FaceMatrix& viscous_form)
    : normal(executor, mesh.domain().extent<Face>(), "unit normal", "1") {
  const auto area = mesh.geometry().face_areas(MemorySpace::Host);
  const auto& table = mass_of_fluxes.stencil().faces_of_face();
  const auto stencil = table.view(MemorySpace::Host);
  const auto mass_entry = mass_of_fluxes.entries(MemorySpace::Host);
  const auto viscous_entry = viscous_form.entries(MemorySpace::Host);
  std::vector<T> mass_entries(table.entries()), viscous_entries(table.entries());
  std::vector<Vector4<T>> normals(at(normal.size()));
  parallel_for(normals.size(), [&](std::size_t i) {
    const Id<Face> f(static_cast<Index>(i));
    const Real length = norm(area[f]);
    const Vector3 n = area[f] / length;
    normals[i] = {entry_in<T>(n.x, 1), entry_in<T>(n.y, 1), entry_in<T>(n.z, 1), 0};
    Id<FacePair> pair(stencil.start(f));
    const Real own_mass = mass_entry[pair] * length * length, own_viscous = viscous_entry[pair];
    for (const auto [g, sign] : stencil[f]) {
      mass_entries[at(pair.value())] = entry_in<T>(length * mass_entry[pair] * norm(area[g]), own_mass);
      viscous_entries[at(pair.value())] = entry_in<T>(viscous_entry[pair], own_viscous);
      ++pair;
    }
  });
  mass = table.values(std::move(mass_entries));
  viscous = table.values(std::move(viscous_entries));
  normal.copy_from_host(normals);
}

MomentumMatrices::MomentumMatrices(const Executor& executor, const Mesh& mesh,
                                   const FlowBoundaries& boundaries, const FluxMass& mass,
                                   const ViscousForm& viscous_form)
    : executor_(executor),
      mesh_(mesh),
      hold_(boundaries.hold()),
      mass_(mass.matrix()),
      viscous_form_(viscous_form.matrix()),
      single_(executor, mesh, mass_, viscous_form_),
      mass_diagonal_(executor, single_.normal.extent(), "diagonal of the mass", "m3"),
      viscous_diagonal_(executor, single_.normal.extent(), "diagonal of the viscous form", "m"),
      sees_given_(executor, single_.normal.extent(), "whether a row sees what is given", "1"),
      gathered_(executor, single_.normal.extent(), "velocity and flux", "1") {
  exchange_ghosts(mesh.domain(), hold_);
  for_each(
      executor, sees_given_.owned(),
      SeesGivenOnFace{mass_.stencil().faces_of_face().view(executor.space()), hold(), sees_given_.view()});
  const auto face_area = mesh.geometry().face_areas(MemorySpace::Host);
  const std::vector<Real> of_mass = mass_.diagonal(), of_friction = viscous_form_.diagonal();
  std::vector<float> scaled_mass(of_mass.size()), friction(of_friction.begin(), of_friction.end());
  for (std::size_t i = 0; i < of_mass.size(); ++i) {
    const Vector3 s = face_area[Id<Face>(static_cast<Index>(i))];
    scaled_mass[i] = static_cast<float>(of_mass[i] * dot(s, s));
  }
  mass_diagonal_.copy_from_host(scaled_mass);
  viscous_diagonal_.copy_from_host(friction);
}

template <>
const FaceMatricesIn<float>& MomentumMatrices::in<float>() const {
  return single_;
}

template <>
const FaceMatricesIn<Real>& MomentumMatrices::in<Real>() const {
  if (!double_) double_ = std::make_unique<FaceMatricesIn<Real>>(executor_, mesh_, mass_, viscous_form_);
  return *double_;
}

Real MomentumMatrices::norm_of_friction(const FaceVelocity& velocity) const {
  return std::sqrt(sum(executor_, velocity.owned(),
                       SquaredTimesDiagonalOfFace{viscous_diagonal_.view(), velocity.view()}));
}

Real MomentumMatrices::norm_of_inertia(const FaceVelocity& velocity) const {
  return std::sqrt(
      sum(executor_, velocity.owned(), SquaredTimesDiagonalOfFace{mass_diagonal_.view(), velocity.view()}));
}

Real MomentumMatrices::norm_by_diagonal(Real a, Real b, const FaceVectors<float>& velocity) const {
  return std::sqrt(
      sum(executor_, velocity.owned(),
          SquaredByDiagonalOfFace{a, b, mass_diagonal_.view(), viscous_diagonal_.view(), velocity.view()}));
}

Real MomentumMatrices::norm_of_circulation(Real a, Real b, const DualCochain<Face>& r,
                                           const PrimalCochain<Face>& flux,
                                           const FaceVelocity& velocity) const {
  return std::sqrt(sum(executor_, velocity.owned(),
                       SquaredCirculationOfFace{a, b, mass_diagonal_.view(), viscous_diagonal_.view(), area(),
                                                r.view(), flux.view(), velocity.view()}));
}

void MomentumMatrices::keep_free_part(FaceVectors<float>& velocity) const {
  for_each(executor_, velocity.range(), KeepFreePartOnFace{hold(), single_.normal.view(), velocity.view()});
}

void MomentumMatrices::keep_free_tangential_part(FaceVectors<float>& velocity) const {
  for_each(executor_, velocity.range(),
           KeepFreeTangentialPartOnFace{hold(), single_.normal.view(), velocity.view()});
}

template <class T, class Launch>
void MomentumSystem::visit_kernels(const FaceVectors<T>& v, FaceVectors<T>& image,
                                   const Launch& launch) const {
  const MomentumMatrices& m = matrices_;
  const FaceMatricesIn<T>& in = m.in<T>();
  m.visit_stencil(v, LengthsIn<T>{}, [&](Range<Face> range, auto rows, MemorySpace space) {
    launch(range, MomentumOnFace<T, decltype(rows)>{
                      rows, view(in.mass, space), view(in.viscous, space), static_cast<T>(mass_factor_),
                      static_cast<T>(viscous_factor_), m.hold(), in.normal.view(), v.view(), image.view()});
  });
}

Real MomentumSystem::rounding_of(const FaceVectors<float>& e) const {
  return rounding_of_products * matrices_.norm_by_diagonal(mass_factor_, viscous_factor_, e);
}

template <class Launch>
void MomentumSystem::visit_residual_kernels(const FaceVelocity& v, FaceVelocity& r,
                                            const Launch& launch) const {
  const MomentumMatrices& m = matrices_;
  const auto gather = [&](Range<Face> range) {
    for_each(m.executor(), range, WithFluxOnFace{m.area(), v.view(), m.gathered().view()});
  };
  m.visit_stencil(v, FaceStencil::Lengths{}, gather, [&](Range<Face> range, auto rows, MemorySpace space) {
    launch(range, MomentumResidualOnFace<decltype(rows)>{
                      rows, m.mass().entries(space), m.viscous_form().entries(space), mass_factor_,
                      viscous_factor_, m.hold(), m.area(), circulation_->view(), force_ != nullptr,
                      (force_ ? *force_ : v).view(), std::as_const(m.gathered()).view(), r.view()});
  });
}

void MomentumSystem::set_residual(const FaceVelocity& v, FaceVelocity& r) const {
  visit_residual_kernels(
      v, r, [&](Range<Face> range, const auto& kernel) { for_each(matrices_.executor(), range, kernel); });
}

void MomentumSystem::set_first_residual(const FaceVelocity& v, FaceVelocity& r, FaceVectors<float>&,
                                        FaceVectors<float>&, SumInParts& squared) const {
  visit_residual_kernels(
      v, r, [&]<class Rows>(Range<Face> range, const MomentumResidualOnFace<Rows>& kernel) {
        squared.add(range, ResidualAndSquaredSourceOfFace<Rows>{kernel, matrices_.sees_given(), v.view()});
      });
}

template <class T, class Launch>
void TangentialSystem::visit_kernels(const FaceVectors<T>& v, FaceVectors<T>& image,
                                     const Launch& launch) const {
  const MomentumMatrices& m = matrices_;
  const FaceMatricesIn<T>& in = m.in<T>();
  m.visit_stencil(v, LengthsIn<T>{}, [&](Range<Face> range, auto rows, MemorySpace space) {
    launch(range, TangentialForceOnFace<T, decltype(rows)>{rows, view(in.viscous, space), m.hold(),
                                                           in.normal.view(), v.view(), image.view()});
  });
}

void TangentialSystem::set_residual(const FaceVelocity& v, FaceVelocity& r) const {
  const MomentumMatrices& m = matrices_;
  m.visit_stencil(v, FaceStencil::Lengths{}, [&](Range<Face> range, auto rows, MemorySpace space) {
    for_each(m.executor(), range,
             TangentialResidualOnFace<decltype(rows)>{rows, m.viscous_form().entries(space), m.hold(),
                                                      m.area(), v.view(), source_ != nullptr,
                                                      (source_ ? *source_ : v).view(), force_ != nullptr,
                                                      (force_ ? *force_ : r).view(), r.view()});
  });
}

void TangentialSystem::set_first_residual(const FaceVelocity& v, FaceVelocity& r, FaceVectors<float>& given,
                                          FaceVectors<float>&, SumInParts& squared) const {
  const MomentumMatrices& m = matrices_;
  if (source_ != nullptr) {
    if (force_known_) {
      for_each(m.executor(), r.owned(),
               TangentialDifferenceOnFace{m.hold(), m.area(), source_->view(), std::as_const(*force_).view(),
                                          r.view()});
    } else {
      set_residual(v, r);
    }
    squared.add(v.owned(), SquaredFreeTangentialPartOfFace{m.hold(), m.area(), source_->view()});
    return;
  }
  const auto gather = [&](Range<Face> range) {
    for_each(m.executor(), range, GivenOrNormalPartOnFace{m.hold(), m.area(), v.view(), given.view()});
  };
  m.visit_stencil(v, FaceStencil::Lengths{}, gather, [&](Range<Face> range, auto rows, MemorySpace space) {
    squared.add(range, TangentialResidualAndSquaredSourceOfFace<decltype(rows)>{
                           rows, m.viscous_form().entries(space), m.hold(), m.area(), v.view(),
                           std::as_const(given).view(), r.view()});
  });
}

Real TangentialSystem::rounding_of(const FaceVectors<float>& e) const {
  if (force_ != nullptr) return std::numeric_limits<Real>::infinity();
  return rounding_of_products * matrices_.norm_by_diagonal(0, 1, e);
}

template <class System>
template <class T>
void FaceSystem<System>::apply_in(const FaceVectors<T>& v, FaceVectors<T>& image) const {
  static_cast<const System&>(*this).visit_kernels(
      v, image, [&](Range<Face> range, const auto& kernel) { for_each(v.executor(), range, kernel); });
}
template <class System>
void FaceSystem<System>::apply(const FaceVectors<float>& v, FaceVectors<float>& image) const {
  apply_in(v, image);
}
template <class System>
void FaceSystem<System>::apply(const FaceVectors<Real>& v, FaceVectors<Real>& image) const {
  apply_in(v, image);
}

template <class System>
template <class T>
void FaceSystem<System>::apply_with_product_in(const FaceVectors<T>& v, FaceVectors<T>& image,
                                               SumInParts& product) const {
  static_cast<const System&>(*this).visit_kernels(v, image, [&]<class K>(Range<Face> range, const K& kernel) {
    product.add(range, ProductOfFace<K>{kernel});
  });
}
template <class System>
void FaceSystem<System>::apply_with_product(const FaceVectors<float>& v, FaceVectors<float>& image,
                                            SumInParts& product) const {
  apply_with_product_in(v, image, product);
}
template <class System>
void FaceSystem<System>::apply_with_product(const FaceVectors<Real>& v, FaceVectors<Real>& image,
                                            SumInParts& product) const {
  apply_with_product_in(v, image, product);
}

template <class System>
template <class T>
void FaceSystem<System>::add_in(Real factor, const FaceVectors<T>& e, FaceVelocity& v) const {
  for_each(v.executor(), v.range(),
           AddFreePartOnFace<T, System::along_normals>{factor, matrices_.hold(), matrices_.area(), e.view(),
                                                       v.view()});
}
template <class System>
void FaceSystem<System>::add(Real factor, const FaceVectors<float>& e, FaceVelocity& v) const {
  add_in(factor, e, v);
}
template <class System>
void FaceSystem<System>::add(Real factor, const FaceVectors<Real>& e, FaceVelocity& v) const {
  add_in(factor, e, v);
}

template class FaceSystem<MomentumSystem>;
template class FaceSystem<TangentialSystem>;

}  // namespace curlew
