// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/momentum.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/cell_velocity.hpp"
#include "physics/flow/averages.hpp"
#include "physics/momentum/free_parts.hpp"
#include "physics/momentum/viscous_reach.hpp"

namespace curlew {

namespace {

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

/// 1/2 [ S Nᵀ outflow - W ], W being zero where the velocity is given.
struct ConvectiveForceOnFace {
  Incidence<Face, Cell> cells_of;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, velocity;
  View<Face, const Real> flux;
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid, outflow, interpolated;
  View<Cell, const Real> volume;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const auto cells = cells_of[f];
    Real carried = 0;
    for (const auto [c, sign] : cells)
      carried += sign * dot(face_centroid(f, sign) - cell_centroid[c], outflow[c]) / volume[c];
    const Real u = flux[f];
    Vector3 transported{};
    if (cells.size() == 2) {
      transported = u * (interpolated[cells[0].id] - interpolated[cells[1].id]);
    } else if (hold[f] == FaceHold::Free) {
      transported = u * interpolated[cells[0].id] - (u > 0 ? u : Real(0)) * velocity[f];
    }
    force[f] = Real(0.5) * (carried * area[f] - transported);
  }
};

/// What upwinding takes through each face: b |U| (v_1 - v_2), with b the share that the scheme asks for.
struct UpwindJumpOnFace {
  Incidence<Face, Cell> cells_of;
  Real share;
  View<Face, const Real> flux;
  View<Cell, const Vector3> mean;
  View<Face, Vector3> jump;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const auto cells = cells_of[f];
    if (cells.size() < 2) {
      jump[f] = Vector3{};
      return;
    }
    const Real carried = flux[f] < 0 ? -flux[f] : flux[f];
    jump[f] = (share * carried) * (mean[cells[0].id] - mean[cells[1].id]);
  }
};

/// Kernel's part: from the centroid of a face's second cell to that of its first one, over the face, since
/// they may lie at opposite ends of a periodic mesh [m].
struct PathAcrossFace {
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  CURLEW_HOST_DEVICE Vector3 operator()(Id<Face> f, Id<Cell> first, Id<Cell> second) const {
    return (face_centroid(f, -1) - cell_centroid[second]) - (face_centroid(f, 1) - cell_centroid[first]);
  }
};

/// What linear upwinding takes through each face: |U| times the mean of J_1 and J_2, with
/// J_c = v_1 - v_2 - g_c (x_1 - x_2) the jump that is left where cell c's velocity is carried on linearly.
struct LinearUpwindJumpOnFace {
  Incidence<Face, Cell> cells_of;
  View<Face, const Real> flux;
  PathAcrossFace path;
  View<Cell, const Vector3> mean;
  View<Cell, const Tensor3> gradient;
  View<Face, Vector3> jump;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const auto cells = cells_of[f];
    if (cells.size() < 2) {
      jump[f] = Vector3{};
      return;
    }
    const Id<Cell> a = cells[0].id, b = cells[1].id;
    const Vector3 step = path(f, a, b);
    const Real carried = flux[f] < 0 ? -flux[f] : flux[f];
    jump[f] = carried * (mean[a] - mean[b] - Real(0.5) * (gradient[a] * step + gradient[b] * step));
  }
};

/// What linear upwinding takes through a cell's gradient: the negative of
/// sum_f |U|/2 J_c (x_1 - x_2)ᵀ.
struct JumpMomentOnCell {
  Incidence<Cell, Face> faces_of;
  Incidence<Face, Cell> cells_of;
  View<Face, const Real> flux;
  PathAcrossFace path;
  View<Cell, const Vector3> mean;
  View<Cell, const Tensor3> gradient;
  View<Cell, Tensor3> moment;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Tensor3 sum{};
    for (const auto [f, sign] : faces_of[c]) {
      const auto cells = cells_of[f];
      if (cells.size() < 2) continue;
      const Id<Cell> a = cells[0].id, b = cells[1].id;
      const Vector3 step = path(f, a, b);
      const Real half = Real(0.5) * (flux[f] < 0 ? flux[f] : -flux[f]);
      sum += outer(half * (mean[a] - mean[b] - gradient[c] * step), step);
    }
    moment[c] = sum;
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

/// The force gets half of what the mean hands on, the outflow of jumps.
struct AddUpwindOnFace {
  MeanVelocityTranspose by_mean;
  View<Face, Vector3> force;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { force[f] += Real(0.5) * by_mean(f); }
};

/// And half of what the gradient hands on, their moments.
struct AddLinearUpwindOnFace {
  AddUpwindOnFace add_upwind;
  VelocityGradientTranspose by_gradient;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    add_upwind(f);
    add_upwind.force[f] += Real(0.5) * by_gradient(f);
  }
};

/// d = v - x / b: convection acts by the negative of the force that x condenses. `per_viscosity`: -1 / b.
struct DisplacedOnFace {
  Real per_viscosity;
  View<Face, const Vector3> velocity, condensed;
  View<Face, Vector3> displaced;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    displaced[f] = velocity[f] + per_viscosity * condensed[f];
  }
};

/// v gets the normal part of d, and x is `viscosity`, -b, times what is left of d - v.
struct SeparateOnFace {
  Real viscosity;
  View<Face, const Vector3> area, displaced;
  View<Face, Vector3> velocity, condensed;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 difference = displaced[f] - velocity[f], normal = along(difference, area[f]);
    velocity[f] += normal;
    condensed[f] = viscosity * (difference - normal);
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

/// The entities of a field that not every scheme needs.
template <class E>
Extent extent_if(bool needed, const Mesh& mesh) {
  return needed ? mesh.domain().extent<E>() : Extent(0);
}

}  // namespace

Momentum::Momentum(const Executor& executor, const Mesh& mesh, const FlowSettings& settings,
                   const FlowBoundaries& boundaries, Real simplex_weight)
    : Momentum(executor, mesh, settings, boundaries, simplex_weight, GradientJumps(mesh)) {}

Momentum::Momentum(const Executor& executor, const Mesh& mesh, const FlowSettings& settings,
                   const FlowBoundaries& boundaries, Real simplex_weight, const GradientJumps& jumps)
    : executor_(executor),
      mesh_(mesh),
      settings_(settings),
      boundaries_(boundaries),
      mass_(executor, mesh, FaceStencil(mesh.topology(), jumps), simplex_weight),
      viscous_form_(executor, mesh, mass_.matrix().stencil(), jumps),
      integration_(executor, mesh),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      geometry_(mesh.geometry()),
      convected_(executor, mesh, boundaries.hold_of_face()),
      body_force_(executor, mesh.domain().extent<Cell>(), "body force", "m/s2"),
      outflow_(executor, mesh.domain().extent<Cell>(), "outflow of momentum", "m4/s2"),
      interpolated_(executor, mesh.domain().extent<Cell>(), "interpolated velocity", "m/s"),
      mean_(executor, extent_if<Cell>(upwinds(settings), mesh), "mean velocity", "m/s"),
      gradient_(executor, extent_if<Cell>(upwinds_linearly(settings), mesh), "velocity gradient", "1/s"),
      jump_outflow_(executor, mean_.extent(), "upwind outflow", "m4/s2"),
      jump_moment_(executor, gradient_.extent(), "upwind moment", "m5/s2"),
      condensed_(executor, mesh.domain().extent<Face>(), "condensed tangential velocity", "m3/s2"),
      handed_on_(executor, mesh.domain().extent<Face>(), "force that is handed on", "m4/s2"),
      displaced_(executor, mesh.domain().extent<Face>(), "displaced velocity", "m/s"),
      jump_(executor, extent_if<Face>(upwinds(settings), mesh), "upwind jump", "m4/s2"),
      circulation_(executor, mesh.domain().extent<Face>(), "circulation", "m2/s2"),
      solver_(executor, mesh, settings, boundaries, mass_, viscous_form_) {}

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
  return solver_.close(velocity);
}

void Momentum::convection(const PrimalCochain<Face>& flux, const FaceVelocity& velocity,
                          FaceVelocity& force) {
  if (settings_.convection == ConvectionScheme::None) {
    force.fill(Vector3{});
    return;
  }
  exchange_ghosts(mesh_.domain(), flux, velocity);
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto face_centroid = geometry_.face_centroids_of_cells(space);
  const auto cell_centroid = geometry_.cell_centroids(space);
  const auto volume = geometry_.cell_volumes(space);
  const auto cells_of = cells_of_face_.view(space);
  const auto hold = boundaries_.hold().view();
  const FaceVelocity& convected = convected_.of(velocity);
  faces_of_cell_.visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(
        executor_, range,
        MomentumOutflowOnCell<decltype(rows)>{rows, hold, flux.view(), convected.view(), area, face_centroid,
                                              cell_centroid, volume, outflow_.view(), interpolated_.view()});
  });
  for_each(executor_, force.range(),
           ConvectiveForceOnFace{cells_of, hold, area, convected.view(), flux.view(), face_centroid,
                                 cell_centroid, std::as_const(outflow_).view(),
                                 std::as_const(interpolated_).view(), volume, force.view()});
  convected_.add_held_back(flux, interpolated_, force);
  if (upwinds(settings_)) add_upwind_part(flux, velocity, force);
}

SolveReport Momentum::condense(const PrimalCochain<Face>& flux, const FaceVelocity& velocity,
                               FaceVelocity& force, bool of_step) {
  if (settings_.convection == ConvectionScheme::None) return {};
  FaceVelocity& x = of_step ? condensed_ : displaced_;
  if (!of_step) copy(condensed_, displaced_);
  // The force is a difference of what is as large as U v: in a uniform stream nothing but rounding.
  const Real size = std::sqrt(sum(executor_, flux.owned(), ScaledSquareOfFace{flux.view(), velocity.view()}));
  const SolveReport report = solver_.close_transposed(force, size, x, handed_on_, of_step);
  linear_combination(-1, handed_on_, 1, force);
  return report;
}

SolveReport Momentum::condense_negative(const PrimalCochain<Face>& flux, const FaceVelocity& velocity,
                                        FaceVelocity& force) {
  apply_viscous_form(condensed_, handed_on_);
  linear_combination(0, handed_on_, -1, force);
  const SolveReport report = condense(flux, velocity, force, true);
  linear_combination(0, handed_on_, -1, force);
  return report;
}

bool Momentum::condenses_by_the_way(Real mass_factor, Real viscous_factor) {
  const Real ratio = viscous_factor / mass_factor;
  if (ratio != reach_ratio_) {
    // x / b is some a m / (b k) times as large as v.
    const Real far = std::numeric_limits<Real>::epsilon() / settings_.momentum.relative_tolerance;
    condenses_by_the_way_ = ViscousReach(solver_.matrices(), ratio).is_beyond(far);
    reach_ratio_ = ratio;
  }
  return condenses_by_the_way_;
}

void Momentum::add_upwind_part(const PrimalCochain<Face>& flux, const FaceVelocity& velocity,
                               FaceVelocity& force) {
  const MemorySpace space = executor_.space();
  const auto area = geometry_.face_areas(space);
  const auto face_centroid = geometry_.face_centroids_of_cells(space);
  const auto cell_centroid = geometry_.cell_centroids(space);
  const auto volume = geometry_.cell_volumes(space);
  const Incidence<Cell, Face> faces_of = faces_of_cell_.view(space);
  const auto cells_of = cells_of_face_.view(space);
  const Real dimension = mesh_.topology().dimension();
  const bool linear = upwinds_linearly(settings_);
  const PathAcrossFace path{face_centroid, cell_centroid};
  const MeanVelocityOnCell<Incidence<Cell, Face>> set_mean{
      faces_of, dimension, velocity.view(), area, face_centroid, cell_centroid, volume, mean_.view()};
  if (linear) {
    for_each(executor_, mean_.range(),
             MeanAndGradientOnCell<Incidence<Cell, Face>>{
                 set_mean, {faces_of, velocity.view(), area, volume, gradient_.view()}});
    for_each(executor_, jump_.range(),
             LinearUpwindJumpOnFace{cells_of, flux.view(), path, std::as_const(mean_).view(),
                                    std::as_const(gradient_).view(), jump_.view()});
    for_each(executor_, jump_moment_.range(),
             JumpMomentOnCell{faces_of, cells_of, flux.view(), path, std::as_const(mean_).view(),
                              std::as_const(gradient_).view(), jump_moment_.view()});
  } else {
    for_each(executor_, mean_.range(), set_mean);
    const Real share = settings_.convection == ConvectionScheme::Upwind ? Real(1) : settings_.blend;
    for_each(executor_, jump_.range(),
             UpwindJumpOnFace{cells_of, share, flux.view(), std::as_const(mean_).view(), jump_.view()});
  }
  for_each(executor_, jump_outflow_.range(),
           JumpOutflowOnCell{faces_of, std::as_const(jump_).view(), jump_outflow_.view()});
  const AddUpwindOnFace add_upwind{
      {cells_of, dimension, Arms(geometry_, space), area, volume, std::as_const(jump_outflow_).view()},
      force.view()};
  if (linear) {
    exchange_ghosts(mesh_.domain(), jump_outflow_, jump_moment_);
    for_each(executor_, force.range(),
             AddLinearUpwindOnFace{add_upwind, {cells_of, area, volume, std::as_const(jump_moment_).view()}});
  } else {
    exchange_ghosts(mesh_.domain(), jump_outflow_);
    for_each(executor_, force.range(), add_upwind);
  }
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
  return solver_.solve(mass_factor, viscous_factor, circulation, nullptr, velocity, of_step);
}

SolveReport Momentum::solve_for_fluxes(Real mass_factor, Real viscous_factor,
                                       const DualCochain<Face>& circulation, const FaceVelocity& force,
                                       FaceVelocity& velocity) {
  for_each(executor_, velocity.range(),
           DisplacedOnFace{-1 / viscous_factor, std::as_const(velocity).view(),
                           std::as_const(condensed_).view(), displaced_.view()});
  const SolveReport report =
      solver_.solve(mass_factor, viscous_factor, circulation, &force, displaced_, true);
  for_each(executor_, velocity.range(),
           SeparateOnFace{-viscous_factor, geometry_.face_areas(executor_.space()),
                          std::as_const(displaced_).view(), velocity.view(), condensed_.view()});
  return report;
}

void Momentum::forget() {
  condensed_.fill(Vector3{});
  handed_on_.fill(Vector3{});
  solver_.forget();
}

void Momentum::add_to(FlowState& state) const {
  store(mesh_.domain(), condensed_, guess_prefix + "convection", state);
  solver_.add_to(state);
}

void Momentum::resume_from(const FlowState& state) {
  restore(mesh_.domain(), state, guess_prefix + "convection", condensed_);
  apply_viscous_form(condensed_, handed_on_);
  solver_.resume_from(state);
}

}  // namespace curlew
