// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/pressure_projection.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "kernels/entity_terms.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "solvers/preconditioners.hpp"

namespace curlew {

namespace {

/// The square of what flows through the faces of a cell; sets what flows out of it in all.
struct TotalSquaredOfCell {
  Incidence<Cell, Face> faces_of;
  View<Face, const Real> flux;
  View<Cell, Real> net_outflow;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const {
    Real net = 0, total = 0;
    for (const auto [f, sign] : faces_of[c]) {
      net += sign * flux[f];
      total += flux[f] < 0 ? -flux[f] : flux[f];
    }
    net_outflow[c] = net;
    return total * total;
  }
};

/// What the stability of a step with extrapolated pressure allows, below 4/3 by a margin: of the star over
/// the mass, and of the viscous part of the pressure over what viscosity makes of it.
constexpr Real allowed_ratio = 1.3;

struct NegatedOnCell {
  Real factor;
  View<Cell, Real> value;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { value[c] = -factor * value[c]; }
};

/// U += k (Dᵀ p) / a.
struct CorrectOnFace {
  Incidence<Face, Cell> cells_of;
  Real per_factor;
  View<Face, const Real> inverse_star;
  View<Cell, const Real> p;
  View<Face, Real> flux;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Real difference = 0;
    for (const auto [c, sign] : cells_of[f]) difference += sign * p[c];
    flux[f] += per_factor * inverse_star[f] * difference;
  }
};

/// r += factor Dᵀ p on free faces, 0 on the others.
struct AddDifferenceOnFace {
  Incidence<Face, Cell> cells_of;
  Real factor;
  View<Face, const Real> inverse_star;
  View<Cell, const Real> p;
  View<Face, Real> r;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Real difference = 0;
    for (const auto [c, sign] : cells_of[f]) difference += sign * p[c];
    r[f] = inverse_star[f] > 0 ? r[f] + factor * difference : Real(0);
  }
};

struct AddPerVolumeOnCell {
  Real factor;
  View<Cell, const Real> value, volume;
  View<Cell, Real> sum;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { sum[c] += factor * (value[c] / volume[c]); }
};

struct DividedByStarOnFace {
  View<Face, const Real> inverse_star, r;
  View<Face, Real> flux;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    if (inverse_star[f] > 0) flux[f] = inverse_star[f] * r[f];
  }
};

struct FreePartOnFace {
  View<Face, const Real> inverse_star;
  View<Face, Real> r;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    if (!(inverse_star[f] > 0)) r[f] = 0;
  }
};

std::vector<Real> volumes_of(const Mesh& mesh) {
  const auto volumes = mesh.geometry().cell_volumes().host();
  return {volumes.begin(), volumes.end()};
}

}  // namespace

/// M between fluxes that are free.
class PressureProjection::FreeMass : public Operator<PrimalCochain<Face>, DualCochain<Face>> {
 public:
  explicit FreeMass(const PressureProjection& projection) : projection_(projection) {}
  void apply(const PrimalCochain<Face>& flux, DualCochain<Face>& image) const override {
    const auto apply_on = [&](Range<Face> faces) {
      projection_.mass_.apply_on(faces, flux, image);
      for_each(flux.executor(), faces, FreePartOnFace{projection_.inverse_star_.view(), image.view()});
    };
    launch_with_ghosts(projection_.mesh_.domain(), flux.owned(), apply_on, flux);
  }
  void apply_transpose(const PrimalCochain<Face>& flux, DualCochain<Face>& image) const override {
    apply(flux, image);
  }

 private:
  const PressureProjection& projection_;
};

/// D S⁻¹ Dᵀ.
class PressureProjection::Laplacian : public FusedOperator<DualCochain<Cell>> {
 public:
  explicit Laplacian(const PressureProjection& projection) : projection_(projection) {}
  void apply(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow) const override {
    const auto apply_on = [&](Range<Cell> cells) { projection_.laplacian_->apply_on(cells, p, outflow); };
    launch_with_ghosts(projection_.mesh_.domain(), p.owned(), apply_on, p);
  }
  void apply_with_product(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow,
                          SumInParts& product) const override {
    const auto apply_on = [&](Range<Cell> cells) {
      projection_.laplacian_->apply_on(cells, p, outflow, &product);
    };
    launch_with_ghosts(projection_.mesh_.domain(), p.owned(), apply_on, p);
  }
  void apply_transpose(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow) const override {
    apply(p, outflow);
  }

 private:
  const PressureProjection& projection_;
};

/// S⁻¹ between fluxes without divergence. What a pressure balances of the residual goes from there to the
/// pressure: it would grow beside what is left of the rest, and its rounding with it.
class PressureProjection::ConstraintPreconditioner : public Preconditioner<PrimalCochain<Face>> {
 public:
  /// For the residual of the projection's iteration; `report` gets the iterations within.
  ConstraintPreconditioner(PressureProjection& projection, DualCochain<Cell>& p, SolveReport& report)
      : projection_(projection), p_(p), report_(report) {}
  void apply(const DualCochain<Face>& r, PrimalCochain<Face>& z) const override {
    DualCochain<Face>& residual = projection_.fluxes_->residual();
    REQUIRE(&r == &residual, "only the iteration's residual gives its gradient to the pressure");
    projection_.remove_gradient(residual, z, p_, report_);
  }

 private:
  PressureProjection& projection_;
  DualCochain<Cell>& p_;
  SolveReport& report_;
};

PressureProjection::PressureProjection(const Executor& executor, const Mesh& mesh,
                                       const FlowBoundaries& boundaries, const FluxMass& mass,
                                       SolverControl control, Preconditioning preconditioning)
    : executor_(executor),
      mesh_(mesh),
      boundaries_(boundaries),
      mass_(mass),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      inverse_star_(executor, mesh.domain().extent<Face>(), "inverse star", "m"),
      volume_(executor, mesh.domain().extent<Cell>(), "volume", "m3"),
      outflow_(executor, volume_.extent(), "net outflow", "m3/s"),
      zero_(executor, volume_.extent(), "zero", "m2/s2"),
      correction_(executor, volume_.extent(), "pressure correction", "m2/s2"),
      null_space_(executor, volume_.extent(), boundaries.closed_part_of_cell()),
      solver_(executor, volume_.extent(), "pressure", control) {
  volume_.copy_from_host(volumes_of(mesh));
  set_star();
  preconditioner_ =
      make_preconditioner<DualCochain<Cell>>(preconditioning, executor, mesh.domain(), laplacian_->matrix());
}

PressureProjection::~PressureProjection() = default;

void PressureProjection::set_star() {
  const Topology& topology = mesh_.topology();
  const Geometry& geometry = mesh_.geometry();
  const std::vector<Real> ratio = mass_.ratio_of_diagonal_star();
  const auto face_centroid = geometry.face_centroids_of_cells(MemorySpace::Host);
  std::vector<Real> inverse(at(topology.faces().size()), 0);
  for (const Id<Face> f : topology.faces()) {
    if (boundaries_.hold_of_face()[at(f.value())] != FaceHold::Free) continue;
    const Vector3 area = geometry.face_areas()[at(f.value())];
    Real star = 0;
    for (const auto [c, sign] : topology.cells_of_face()[f]) {
      const Vector3 arm = face_centroid(f, sign) - geometry.cell_centroids()[at(c.value())];
      // Where a cell's own ratio is larger its share is scaled down.
      const Real scale = std::min(Real(1), allowed_ratio / ratio[at(c.value())]);
      star += scale * sign * dot(arm, area) / dot(area, area);  // h / A
    }
    inverse[at(f.value())] = 1 / star;
  }
  inverse_star_.copy_from_host(inverse);
  laplacian_ = std::make_unique<CellLaplacian>(executor_, topology, inverse);
}

SolveReport PressureProjection::solve(ResidualScale scale, DualCochain<Cell>& p,
                                      SolutionHistory<DualCochain<Cell>>* history) {
  const bool closed = null_space_.parts() > 0;
  if (closed) null_space_.make_consistent(outflow_);
  const Laplacian laplacian(*this);
  const SolveReport report = solver_.solve(laplacian, *preconditioner_, outflow_, p, scale,
                                           closed ? &null_space_ : nullptr, {history});
  remove_means_of_closed_parts(p);
  return report;
}

SolveReport PressureProjection::project(Real a, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                                        SolutionHistory<DualCochain<Cell>>* history, bool may_be_poor) {
  ResidualScale scale;
  scale.zero_may_be_closer = may_be_poor;
  scale.reference = scale_of_outflow_ = a * set_outflow(flux);
  scale.rounding = 4 * std::numeric_limits<Real>::epsilon() * scale.reference;
  for_each(executor_, p.range(), NegatedOnCell{a, outflow_.view()});
  const SolveReport report = solve(scale, p, history);
  for_each(executor_, flux.range(),
           CorrectOnFace{cells_of_face_.view(executor_.space()), 1 / a, inverse_star_.view(),
                         std::as_const(p).view(), flux.view()});
  return report;
}

void PressureProjection::add_viscous_part(Real a, Real b, DualCochain<Cell>& p) const {
  // Of velocities v, V (D U / V)² is at most d V g : g of their gradient g, and that v . K v in every cell.
  const Real share = allowed_ratio / static_cast<Real>(mesh_.topology().dimension());
  // project() has left -a D U*.
  for_each(executor_, p.owned(),
           AddPerVolumeOnCell{share * b / a, outflow_.view(), volume_.view(), p.view()});
}

void PressureProjection::divide_by_star(const DualCochain<Face>& r, PrimalCochain<Face>& flux) const {
  for_each(executor_, flux.range(), DividedByStarOnFace{inverse_star_.view(), r.view(), flux.view()});
}

void PressureProjection::remove_gradient(DualCochain<Face>& r, PrimalCochain<Face>& z, DualCochain<Cell>& p,
                                         SolveReport& report) {
  z.fill(0);
  divide_by_star(r, z);
  ResidualScale scale;
  scale.reference = set_outflow(z);
  scale.rounding = 4 * std::numeric_limits<Real>::epsilon() * scale.reference;
  correction_.fill(0);
  report.iterations += solve(scale, correction_).iterations;
  for_each(executor_, r.range(),
           AddDifferenceOnFace{cells_of_face_.view(executor_.space()), -1, inverse_star_.view(),
                               std::as_const(correction_).view(), r.view()});
  linear_combination(-1, correction_, 1, p);
  divide_by_star(r, z);
}

SolveReport PressureProjection::solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux,
                                           DualCochain<Cell>& p, SolverControl control) {
  if (!fluxes_)
    fluxes_.emplace(DualCochain<Face>(executor_, inverse_star_.extent(), "residual of fluxes", "m2/s"),
                    PrimalCochain<Face>(executor_, inverse_star_.extent(), "search direction", "m3/s"));
  // r - M U + Dᵀ p on free faces
  DualCochain<Face>& residual = fluxes_->residual();
  exchange_ghosts(mesh_.domain(), flux, p);
  mass_.apply(flux, residual);
  // The energy of what is sought sets the scale: U and the force that changes it.
  const Real energy = inner_product(residual, flux);
  linear_combination(1, r, -1, residual);
  for_each(executor_, residual.range(),
           AddDifferenceOnFace{cells_of_face_.view(executor_.space()), 1, inverse_star_.view(),
                               std::as_const(p).view(), residual.view()});
  SolveReport report;
  const FreeMass free_mass(*this);
  const ConstraintPreconditioner preconditioner(*this, p, report);
  fluxes_->start({.residual = 0,
                  .target = control.relative_tolerance * std::sqrt(energy),
                  .iterations = 0,
                  .limit = control.max_iterations,
                  .norm = ResidualNorm::Energy,
                  .share_of_first = control.relative_tolerance});
  // The host waits for the end of the solve within an iteration anyway.
  ConjugateGradientState state;
  do {
    fluxes_->advance(free_mass, preconditioner, flux);
    state = fluxes_->state();
  } while (state.ending == Ending::None);
  const std::string unknown = "fluxes";
  const SolveGoal goal(unknown, control, {state.target / control.relative_tolerance});
  goal.require_progress(state, 1);
  report.residual = goal.relative(state.residual);
  exchange_ghosts(mesh_.domain(), flux);
  remove_means_of_closed_parts(p);
  return report;
}

void PressureProjection::remove_means_of_closed_parts(DualCochain<Cell>& p) {
  if (null_space_.parts() > 0) null_space_.match_means(volume_, zero_, p);
}

Real PressureProjection::set_outflow(const PrimalCochain<Face>& flux) {
  exchange_ghosts(mesh_.domain(), flux);
  return std::sqrt(
      sum(executor_, outflow_.owned(),
          TotalSquaredOfCell{faces_of_cell_.view(executor_.space()), flux.view(), outflow_.view()}));
}

DivergenceNorms PressureProjection::divergence_of(const PrimalCochain<Face>& flux) {
  const Real total = set_outflow(flux);
  if (!(total > 0)) return {};
  DivergenceNorms norms;
  norms.l2 = std::sqrt(inner_product(outflow_, outflow_)) / total;
  norms.max = maximum(executor_, outflow_.owned(), MagnitudeOfEntity<Cell>{std::as_const(outflow_).view()}) /
              (total / std::sqrt(static_cast<Real>(mesh_.domain().halo<Cell>().total())));
  return norms;
}

}  // namespace curlew
