// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "mesh/exchange.hpp"
#include "operators/cell_velocity.hpp"
#include "physics/averages.hpp"

namespace curlew {

namespace {

CURLEW_HOST_DEVICE inline Vector3 along(Vector3 v, Vector3 area) {
  return (dot(v, area) / dot(area, area)) * area;
}

/// The part of v that the boundary leaves free.
CURLEW_HOST_DEVICE inline Vector3 free_part(Vector3 v, FaceHold hold, Vector3 area) {
  if (hold == FaceHold::All) return {};
  return hold == FaceHold::Normal ? v - along(v, area) : v;
}

CURLEW_HOST_DEVICE inline Vector3 free_tangential_part(Vector3 v, FaceHold hold, Vector3 area) {
  return hold == FaceHold::All ? Vector3{} : v - along(v, area);
}

struct BlockJacobiOnFace {
  View<Face, const Vector3> area;
  View<Face, const Real> inverse_normal, inverse_tangential;
  View<Face, const Vector3> r;
  View<Face, Vector3> z;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 normal_part = along(r[f], area[f]);
    z[f] = inverse_tangential[f] * (r[f] - normal_part) + inverse_normal[f] * normal_part;
  }
};

struct NormalPartOnFace {
  View<Face, const Vector3> area;
  View<Face, const Real> flux;
  View<Face, Vector3> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 s = area[f];
    velocity[f] += ((flux[f] - dot(velocity[f], s)) / dot(s, s)) * s;
  }
};

struct FluxOnFreeFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, Real> flux;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    if (hold[f] == FaceHold::Free) flux[f] = dot(velocity[f], area[f]);
  }
};

/// a S (M U) + b K v on the free parts, with U = v.S.
template <class Rows>
struct MomentumOnFace {
  Rows faces_of;
  View<FacePair, const Real> mass, viscous;
  Real mass_factor, viscous_factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, Vector3> image;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Real circulation = 0;
    Vector3 force{};
    Id<FacePair> pair(faces_of.start(f));
    for (const auto [g, sign] : faces_of[f]) {
      const Vector3 v = velocity[g];
      circulation += mass[pair] * dot(v, area[g]);
      force += viscous[pair] * v;
      ++pair;
    }
    image[f] = free_part((mass_factor * circulation) * area[f] + viscous_factor * force, hold[f], area[f]);
  }
};

struct InertiaOnFace {
  Real mass_factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area;
  View<Face, const Real> circulation;
  View<Face, Vector3> image;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    image[f] = free_part((mass_factor * circulation[f]) * area[f], hold[f], area[f]);
  }
};

/// K v on the free tangential parts.
template <class Rows>
struct FreeTangentialForceOnFace {
  Rows faces_of;
  View<FacePair, const Real> viscous;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    force[f] = free_tangential_part(row_times(faces_of, viscous, velocity, f), hold[f], area[f]);
  }
};

struct FreeTangentialPartOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, from;
  View<Face, Vector3> to;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    to[f] = free_tangential_part(from[f], hold[f], area[f]);
  }
};

struct FreePartOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, from;
  View<Face, Vector3> to;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { to[f] = free_part(from[f], hold[f], area[f]); }
};

/// v without what is free in it.
struct HeldPartOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, Vector3> held;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    held[f] = velocity[f] - free_part(velocity[f], hold[f], area[f]);
  }
};

struct NormalVelocityOnFace {
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, Vector3> held;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    held[f] = velocity[f] - free_tangential_part(velocity[f], hold[f], area[f]);
  }
};

struct DifferenceSquaredOfFace {
  View<Face, const Vector3> a, b;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const Vector3 difference = a[f] - b[f];
    return dot(difference, difference);
  }
};

struct ScaledSquareOfFace {
  View<Face, const Real> scale;
  View<Face, const Vector3> v;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const { return scale[f] * scale[f] * dot(v[f], v[f]); }
};

/// Net outflow of momentum with the inflow_correction of faces of given velocity, and N U.
template <class Rows>
struct MomentumOutflowOnCell {
  Rows faces_of;
  View<Face, const FaceHold> hold;
  View<Face, const Real> flux;
  View<Face, const Vector3> velocity, area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  View<Cell, const Real> volume;
  View<Cell, Vector3> outflow, interpolated;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Vector3 centre = cell_centroid[c];
    Vector3 net{}, moment{};
    bool given = false;
    for (const auto [f, sign] : faces_of[c]) {
      const Real out = sign * flux[f];
      net += out * velocity[f];
      moment += out * (face_centroid(f, sign) - centre);
      given = given || hold[f] == FaceHold::All;
    }
    const Vector3 inside = moment / volume[c];
    if (given) {
      for (const auto [f, sign] : faces_of[c]) {
        if (hold[f] == FaceHold::All) {
          net += inflow_correction(sign * flux[f], velocity[f], inside, area[f]);
        }
      }
    }
    outflow[c] = net;
    interpolated[c] = inside;
  }
};

/// W on every face: zero where the velocity is given.
struct TransportedOnFace {
  Incidence<Face, Cell> cells_of;
  View<Face, const FaceHold> hold;
  View<Face, const Real> flux;
  View<Face, const Vector3> velocity;
  View<Cell, const Vector3> interpolated;
  View<Face, Vector3> transported;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const auto cells = cells_of[f];
    const Real u = flux[f];
    if (cells.size() == 2) {
      transported[f] = u * (interpolated[cells[0].id] - interpolated[cells[1].id]);
    } else if (hold[f] == FaceHold::Free) {
      transported[f] = u * interpolated[cells[0].id] - (u > 0 ? u : Real(0)) * velocity[f];
    } else {
      transported[f] = Vector3{};
    }
  }
};

/// What upwinding takes through each face: b |U| (v_1 - v_2), with b the share that the scheme asks for.
struct UpwindJumpOnFace {
  Incidence<Face, Cell> cells_of;
  Real share;  // negative: by how well the flow is resolved
  View<Face, const Real> flux;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid, mean;
  View<Cell, const Tensor3> gradient;
  View<Face, Vector3> jump;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const auto cells = cells_of[f];
    if (cells.size() < 2) {
      jump[f] = Vector3{};
      return;
    }
    const Id<Cell> a = cells[0].id, b = cells[1].id;
    const Vector3 difference = mean[a] - mean[b];
    Real weight = share;
    if (share < 0) {
      const Vector3 path =
          (face_centroid(f, -1) - cell_centroid[b]) - (face_centroid(f, 1) - cell_centroid[a]);
      const Vector3 unresolved = difference - Real(0.5) * (gradient[a] * path + gradient[b] * path);
      const Real whole = dot(difference, difference), part = dot(unresolved, unresolved);
      weight = part < whole ? std::sqrt(part / whole) : Real(1);
    }
    const Real carried = flux[f] < 0 ? -flux[f] : flux[f];
    jump[f] = (weight * carried) * difference;
  }
};

struct JumpOutflowOnCell {
  Incidence<Cell, Face> faces_of;
  View<Face, const Vector3> jump;
  View<Cell, Vector3> outflow;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Vector3 net{};
    for (const auto [f, sign] : faces_of[c]) net += sign * jump[f];
    outflow[c] = net;
  }
};

/// y -= sum_c w_cf (D jump)_c, the transpose of the mean.
struct LessUpwindOnFace {
  Incidence<Face, Cell> cells_of;
  Real dimension;
  View<Face, const Vector3> area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid, outflow;
  View<Cell, const Real> volume;
  View<Face, Vector3> transported;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Vector3 sum{};
    for (const auto [c, sign] : cells_of[f]) {
      const Real weight =
          sign * dot(face_centroid(f, sign) - cell_centroid[c], area[f]) / (dimension * volume[c]);
      sum += weight * outflow[c];
    }
    transported[f] -= sum;
  }
};

/// 1/2 [ S (Nᵀ outflow) - (y - K x) ] and its part along the normal as a circulation.
struct ConvectiveForceOnFace {
  Incidence<Face, Cell> cells_of;
  View<Face, const Vector3> area;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid, outflow;
  View<Cell, const Real> volume;
  View<Face, const Vector3> transported, closed;  // y, K x
  View<Face, Vector3> force;
  View<Face, Real> circulation;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 s = area[f];
    Real carried = 0;
    for (const auto [c, sign] : cells_of[f])
      carried += sign * dot(face_centroid(f, sign) - cell_centroid[c], outflow[c]) / volume[c];
    const Vector3 sum = Real(0.5) * (carried * s - (transported[f] - closed[f]));
    force[f] = sum;
    circulation[f] = dot(sum, s) / dot(s, s);
  }
};

struct AddUniformOnCell {
  Vector3 uniform;
  View<Cell, const Vector3> given;
  View<Cell, Vector3> total;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { total[c] = given[c] + uniform; }
};

struct PressureForceOnFace {
  Incidence<Face, Cell> cells_of;
  View<Cell, const Real> p;
  View<Face, Real> circulation;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Real sum = 0;
    for (const auto [c, sign] : cells_of[f]) sum += sign * p[c];
    circulation[f] += sum;
  }
};

struct OutsidePressureOnBoundaryFace {
  Index first;
  View<BoundaryFace, const Real> outside;
  View<Face, Real> circulation;
  CURLEW_HOST_DEVICE void operator()(Id<BoundaryFace> b) const {
    circulation[Id<Face>(first + b.value())] -= outside[b];
  }
};

struct AddNormalPartOnFace {
  Real factor;
  View<Face, const Vector3> area, force;
  View<Face, Real> circulation;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    circulation[f] += factor * dot(force[f], area[f]) / dot(area[f], area[f]);
  }
};

}  // namespace

FaceBlockJacobi::FaceBlockJacobi(const Executor& executor, const Mesh& mesh)
    : executor_(executor),
      geometry_(mesh.geometry()),
      inverse_normal_(executor, mesh.domain().extent<Face>(), "inverse normal diagonal", "1"),
      inverse_tangential_(executor, inverse_normal_.extent(), "inverse tangential diagonal", "1") {}

void FaceBlockJacobi::set_diagonal(std::span<const Real> normal, std::span<const Real> tangential) {
  std::vector<Real> inverse(normal.size());
  const auto invert = [&](std::span<const Real> diagonal, Field<Face>& field) {
    for (std::size_t f = 0; f < inverse.size(); ++f) inverse[f] = diagonal[f] > 0 ? 1 / diagonal[f] : 0;
    field.copy_from_host(inverse);
  };
  invert(normal, inverse_normal_);
  invert(tangential, inverse_tangential_);
}

void FaceBlockJacobi::apply(const FaceVelocity& r, FaceVelocity& z) const {
  for_each(executor_, r.range(),
           BlockJacobiOnFace{geometry_.face_areas(executor_.space()), inverse_normal_.view(),
                             inverse_tangential_.view(), r.view(), z.view()});
}

/// a M + b K on (U, t).
class Momentum::System : public Operator<FaceVelocity, FaceVelocity> {
 public:
  System(const Momentum& momentum, Real mass_factor, Real viscous_factor)
      : momentum_(momentum), mass_factor_(mass_factor), viscous_factor_(viscous_factor) {}
  void apply(const FaceVelocity& v, FaceVelocity& image) const override {
    const Momentum& m = momentum_;
    exchange_ghosts(m.mesh_.domain(), v);
    const MemorySpace space = m.executor_.space();
    m.mass_.matrix().stencil().visit_parts(space, [&](Range<Face> range, auto rows) {
      for_each(m.executor_, range,
               MomentumOnFace<decltype(rows)>{rows, m.mass_.matrix().entries(space),
                                              m.viscous_form_.matrix().entries(space), mass_factor_,
                                              viscous_factor_, m.boundaries_.hold().view(),
                                              m.geometry_.face_areas(space), v.view(), image.view()});
    });
  }
  void apply_transpose(const FaceVelocity& v, FaceVelocity& image) const override { apply(v, image); }

 private:
  const Momentum& momentum_;
  Real mass_factor_, viscous_factor_;
};

/// K_tt on the free tangential parts; normal and given parts of v act through their columns.
class Momentum::TangentialSystem : public Operator<FaceVelocity, FaceVelocity> {
 public:
  explicit TangentialSystem(const Momentum& momentum) : momentum_(momentum) {}
  void apply(const FaceVelocity& v, FaceVelocity& image) const override {
    const Momentum& m = momentum_;
    exchange_ghosts(m.mesh_.domain(), v);
    const MemorySpace space = m.executor_.space();
    const FaceMatrix& viscous = m.viscous_form_.matrix();
    viscous.stencil().visit_parts(space, [&](Range<Face> range, auto rows) {
      for_each(
          m.executor_, range,
          FreeTangentialForceOnFace<decltype(rows)>{rows, viscous.entries(space), m.boundaries_.hold().view(),
                                                    m.geometry_.face_areas(space), v.view(), image.view()});
    });
  }
  void apply_transpose(const FaceVelocity& v, FaceVelocity& image) const override { apply(v, image); }

 private:
  const Momentum& momentum_;
};

namespace {

/// The cells that upwinding needs values on.
Extent upwinded_cells(const Mesh& mesh, const FlowSettings& settings) {
  return settings.convection == ConvectionScheme::Central ? Extent(0) : mesh.domain().extent<Cell>();
}

}  // namespace

Momentum::Momentum(const Executor& executor, const Mesh& mesh, const FlowSettings& settings,
                   const FlowBoundaries& boundaries, Real simplex_weight)
    : executor_(executor),
      mesh_(mesh),
      settings_(settings),
      boundaries_(boundaries),
      mass_(executor, mesh, simplex_weight),
      viscous_form_(executor, mesh, mass_.matrix().stencil()),
      integration_(executor, mesh),
      mass_diagonal_(mass_.matrix().diagonal()),
      viscous_diagonal_(viscous_form_.matrix().diagonal()),
      viscous_scale_(executor, mesh.domain().extent<Face>(), "diagonal of the viscous form", "m"),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      geometry_(mesh.geometry()),
      body_force_(executor, mesh.domain().extent<Cell>(), "body force", "m/s2"),
      outflow_(executor, mesh.domain().extent<Cell>(), "outflow of momentum", "m4/s2"),
      interpolated_(executor, mesh.domain().extent<Cell>(), "interpolated velocity", "m/s"),
      mean_(executor, upwinded_cells(mesh, settings), "mean velocity", "m/s"),
      gradient_(executor, mean_.extent(), "velocity gradient", "1/s"),
      jump_outflow_(executor, mean_.extent(), "upwind outflow", "m4/s2"),
      transported_(executor, mesh.domain().extent<Face>(), "transported velocity", "m4/s2"),
      transposed_(executor, mesh.domain().extent<Face>(), "transposed closure", "m3/s"),
      force_(executor, mesh.domain().extent<Face>(), "viscous force", "m3/s2"),
      scratch_(executor, mesh.domain().extent<Face>(), "right-hand side", "m4/s2"),
      convective_force_(executor, mesh.domain().extent<Face>(), "convective force", "m4/s2"),
      circulation_(executor, mesh.domain().extent<Face>(), "circulation", "m2/s"),
      momentum_solver_(executor, mesh.domain().extent<Face>(), "momentum", settings.momentum),
      tangential_solver_("tangential velocity", settings.momentum, momentum_solver_),
      momentum_preconditioner_(executor, mesh),
      tangential_preconditioner_(executor, mesh),
      solve_history_(scratch_, 2, [this](FaceVelocity& change) { make_free<FreePartOnFace>(change); }),
      close_history_(scratch_, 1,
                     [this](FaceVelocity& change) { make_free<FreeTangentialPartOnFace>(change); }),
      convection_history_(scratch_, 1,
                          [this](FaceVelocity& change) { make_free<FreeTangentialPartOnFace>(change); }) {
  viscous_scale_.copy_from_host(viscous_diagonal_);
  std::vector<Real> normal(viscous_diagonal_.size(), 0), tangential = viscous_diagonal_;
  for (std::size_t f = 0; f < tangential.size(); ++f) {
    if (boundaries.hold_of_face()[f] == FaceHold::All) tangential[f] = 0;
  }
  set_preconditioner(tangential_preconditioner_, std::move(normal), std::move(tangential));
}

Momentum::~Momentum() = default;

template <class PartOnFace>
void Momentum::make_free(FaceVelocity& change) const {
  for_each(executor_, change.range(),
           PartOnFace{boundaries_.hold().view(), geometry_.face_areas(executor_.space()),
                      std::as_const(change).view(), change.view()});
}

void Momentum::apply_mass(const PrimalCochain<Face>& flux, DualCochain<Face>& circulation) const {
  exchange_ghosts(mesh_.domain(), flux);
  mass_.apply(flux, circulation);
}

void Momentum::apply_viscous_form(const FaceVelocity& velocity, FaceVelocity& force) const {
  exchange_ghosts(mesh_.domain(), velocity);
  viscous_form_.apply(velocity, force);
}

void Momentum::set_normal_part(const PrimalCochain<Face>& flux, FaceVelocity& velocity) const {
  for_each(executor_, velocity.range(),
           NormalPartOnFace{geometry_.face_areas(executor_.space()), flux.view(), velocity.view()});
}

void Momentum::set_flux(const FaceVelocity& velocity, PrimalCochain<Face>& flux) const {
  for_each(executor_, velocity.range(),
           FluxOnFreeFace{boundaries_.hold().view(), geometry_.face_areas(executor_.space()), velocity.view(),
                          flux.view()});
}

SolveReport Momentum::close(FaceVelocity& velocity) {
  const auto area = geometry_.face_areas(executor_.space());
  const auto hold = boundaries_.hold().view();
  const TangentialSystem system(*this);
  for_each(executor_, velocity.range(),
           NormalVelocityOnFace{hold, area, std::as_const(velocity).view(), scratch_.view()});
  system.apply(scratch_, force_);
  ResidualScale scale;
  scale.reference = std::sqrt(inner_product(force_, force_));
  scale.rounding = rounding_of(velocity);
  scratch_.fill(Vector3{});
  return tangential_solver_.solve(system, tangential_preconditioner_, scratch_, velocity, scale, nullptr,
                                  {&close_history_, {{1, &system}}});
}

/// What rounding leaves of K v, about.
Real Momentum::rounding_of(const FaceVelocity& velocity) const {
  return 4 * std::numeric_limits<Real>::epsilon() *
         std::sqrt(
             sum(executor_, velocity.owned(), ScaledSquareOfFace{viscous_scale_.view(), velocity.view()}));
}

SolveReport Momentum::convection(const PrimalCochain<Face>& flux, const FaceVelocity& velocity,
                                 DualCochain<Face>& circulation) {
  if (settings_.convection == ConvectionScheme::None) return {};
  exchange_ghosts(mesh_.domain(), flux, velocity);
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto face_centroid = geometry_.face_centroids_of_cells(space);
  const auto cell_centroid = geometry_.cell_centroids(space);
  const auto volume = geometry_.cell_volumes(space);
  const auto cells_of = cells_of_face_.view(space);
  const auto hold = boundaries_.hold().view();
  faces_of_cell_.visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(
        executor_, range,
        MomentumOutflowOnCell<decltype(rows)>{rows, hold, flux.view(), velocity.view(), area, face_centroid,
                                              cell_centroid, volume, outflow_.view(), interpolated_.view()});
  });
  for_each(executor_, transported_.range(),
           TransportedOnFace{cells_of, hold, flux.view(), velocity.view(),
                             std::as_const(interpolated_).view(), transported_.view()});
  if (settings_.convection != ConvectionScheme::Central) subtract_upwind_part(flux, velocity);

  const TangentialSystem system(*this);
  for_each(executor_, transported_.range(),
           FreeTangentialPartOnFace{hold, area, std::as_const(transported_).view(), scratch_.view()});
  ResidualScale scale;
  scale.reference = std::sqrt(inner_product(scratch_, scratch_));
  // W is a difference of what is as large as U v: in a uniform stream nothing but rounding.
  scale.rounding =
      std::max(rounding_of(transposed_),
               4 * std::numeric_limits<Real>::epsilon() *
                   std::sqrt(sum(executor_, flux.owned(), ScaledSquareOfFace{flux.view(), velocity.view()})));
  const SolveReport report =
      tangential_solver_.solve(system, tangential_preconditioner_, scratch_, transposed_, scale, nullptr,
                               {&convection_history_, {{1, &system}}});
  viscous_form_.apply(transposed_, force_);
  for_each(executor_, transported_.range(),
           ConvectiveForceOnFace{cells_of, area, face_centroid, cell_centroid, std::as_const(outflow_).view(),
                                 volume, std::as_const(transported_).view(), std::as_const(force_).view(),
                                 convective_force_.view(), circulation.view()});
  return report;
}

void Momentum::subtract_upwind_part(const PrimalCochain<Face>& flux, const FaceVelocity& velocity) {
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto face_centroid = geometry_.face_centroids_of_cells(space);
  const auto cell_centroid = geometry_.cell_centroids(space);
  const auto volume = geometry_.cell_volumes(space);
  const Incidence<Cell, Face> faces_of = faces_of_cell_.view(space);
  const auto cells_of = cells_of_face_.view(space);
  const Real dimension = mesh_.topology().dimension();
  const Real share = settings_.convection == ConvectionScheme::Upwind    ? Real(1)
                     : settings_.convection == ConvectionScheme::Blended ? settings_.blend
                                                                         : Real(-1);
  for_each(executor_, mean_.range(),
           MeanVelocityOnCell<Incidence<Cell, Face>>{faces_of, dimension, velocity.view(), area,
                                                     face_centroid, cell_centroid, volume, mean_.view()});
  for_each(executor_, gradient_.range(),
           VelocityGradientOnCell<Incidence<Cell, Face>>{faces_of, velocity.view(), area, volume,
                                                         gradient_.view()});
  for_each(executor_, scratch_.range(),
           UpwindJumpOnFace{cells_of, share, flux.view(), face_centroid, cell_centroid,
                            std::as_const(mean_).view(), std::as_const(gradient_).view(), scratch_.view()});
  for_each(executor_, jump_outflow_.range(),
           JumpOutflowOnCell{faces_of, std::as_const(scratch_).view(), jump_outflow_.view()});
  exchange_ghosts(mesh_.domain(), jump_outflow_);
  for_each(executor_, transported_.range(),
           LessUpwindOnFace{cells_of, dimension, area, face_centroid, cell_centroid,
                            std::as_const(jump_outflow_).view(), volume, transported_.view()});
}

void Momentum::add_body_force(Real time, Vector3 uniform, DualCochain<Face>& circulation) {
  if (settings_.body_force && (!body_force_known_ || settings_.body_force->depends_on_time())) {
    body_force_.copy_from_host(average_on_cells(mesh_, *settings_.body_force, time));
    body_force_known_ = true;
  }
  if (!settings_.body_force && uniform == Vector3{}) return;
  for_each(executor_, body_force_.range(),
           AddUniformOnCell{uniform, std::as_const(body_force_).view(), interpolated_.view()});
  integration_.apply(interpolated_, circulation_);
  linear_combination(1, circulation_, 1, circulation);
}

void Momentum::add_pressure_force(const DualCochain<Cell>& p, DualCochain<Face>& circulation) const {
  exchange_ghosts(mesh_.domain(), p);
  for_each(executor_, circulation.range(),
           PressureForceOnFace{cells_of_face_.view(executor_.space()), p.view(), circulation.view()});
}

void Momentum::add_outside_pressure(DualCochain<Face>& circulation) const {
  const Field<BoundaryFace>& outside = boundaries_.outside_pressure();
  for_each(
      executor_, outside.range(),
      OutsidePressureOnBoundaryFace{boundaries_.first_boundary_face(), outside.view(), circulation.view()});
}

void Momentum::add_normal_part(Real factor, const FaceVelocity& force, DualCochain<Face>& circulation) const {
  for_each(
      executor_, force.range(),
      AddNormalPartOnFace{factor, geometry_.face_areas(executor_.space()), force.view(), circulation.view()});
}

SolveReport Momentum::solve(Real mass_factor, Real viscous_factor, const DualCochain<Face>& circulation,
                            FaceVelocity& velocity, bool of_step) {
  set_momentum_preconditioner(mass_factor, viscous_factor);
  const auto area = geometry_.face_areas(executor_.space());
  const auto hold = boundaries_.hold().view();
  const System system(*this, mass_factor, viscous_factor);
  // The reference is the residual of the given velocities alone.
  for_each(executor_, velocity.range(),
           HeldPartOnFace{hold, area, std::as_const(velocity).view(), transported_.view()});
  system.apply(transported_, force_);
  for_each(executor_, velocity.range(), InertiaOnFace{1, hold, area, circulation.view(), scratch_.view()});
  ResidualScale scale;
  scale.reference =
      std::sqrt(sum(executor_, velocity.owned(),
                    DifferenceSquaredOfFace{std::as_const(scratch_).view(), std::as_const(force_).view()}));
  scale.rounding = 4 * std::numeric_limits<Real>::epsilon() * scale.reference;
  const System mass(*this, 1, 0), viscous(*this, 0, 1);
  Recall<FaceVelocity> recall;
  if (of_step) recall = {&solve_history_, {{mass_factor, &mass}, {viscous_factor, &viscous}}};
  return momentum_solver_.solve(system, momentum_preconditioner_, scratch_, velocity, scale, nullptr, recall);
}

void Momentum::forget() {
  transposed_.fill(Vector3{});
  for (SolutionHistory<FaceVelocity>* history : {&solve_history_, &close_history_, &convection_history_})
    history->clear();
}

void Momentum::add_to(FlowState& state) const {
  const Domain& domain = mesh_.domain();
  store(domain, transposed_, guess_prefix + "convection", state);
  FaceVelocity change = alike(transposed_);
  store(domain, solve_history_, change, "momentum_change", state);
  store(domain, close_history_, change, "tangential_change", state);
  store(domain, convection_history_, change, "convection_change", state);
}

void Momentum::resume_from(const FlowState& state) {
  const Domain& domain = mesh_.domain();
  restore(domain, state, guess_prefix + "convection", transposed_);
  const System mass(*this, 1, 0), viscous(*this, 0, 1);
  const TangentialSystem tangential(*this);
  FaceVelocity change = alike(transposed_);
  const auto restore_history = [&](const char* name, SolutionHistory<FaceVelocity>& history,
                                   MatrixSum<FaceVelocity> matrix) {
    restore(domain, state, name, Recall<FaceVelocity>{&history, std::move(matrix)}, change, force_);
  };
  restore_history("momentum_change", solve_history_, {{1, &mass}, {1, &viscous}});
  restore_history("tangential_change", close_history_, {{1, &tangential}});
  restore_history("convection_change", convection_history_, {{1, &tangential}});
}

void Momentum::set_momentum_preconditioner(Real mass_factor, Real viscous_factor) {
  const std::pair<Real, Real> now{mass_factor, viscous_factor};
  if (preconditioner_for_ == now) return;
  std::vector<Real> normal(viscous_diagonal_.size()), tangential(viscous_diagonal_.size());
  for (std::size_t f = 0; f < normal.size(); ++f) {
    const Vector3 area = geometry_.face_areas()[f];
    const FaceHold hold = boundaries_.hold_of_face()[f];
    tangential[f] = hold == FaceHold::All ? 0 : viscous_factor * viscous_diagonal_[f];
    normal[f] = hold != FaceHold::Free ? 0
                                       : mass_factor * mass_diagonal_[f] * dot(area, area) +
                                             viscous_factor * viscous_diagonal_[f];
  }
  set_preconditioner(momentum_preconditioner_, std::move(normal), std::move(tangential));
  preconditioner_for_ = now;
}

void Momentum::set_preconditioner(FaceBlockJacobi& preconditioner, std::vector<Real> normal,
                                  std::vector<Real> tangential) const {
  if (settings_.momentum_preconditioning == Preconditioning::None) {
    for (std::vector<Real>* diagonal : {&normal, &tangential}) {
      for (Real& entry : *diagonal) entry = entry > 0 ? 1 : 0;
    }
  }
  preconditioner.set_diagonal(normal, tangential);
}

}  // namespace curlew
