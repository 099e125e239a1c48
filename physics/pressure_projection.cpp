// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/pressure_projection.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>

#include "kernels/vector_kernels.hpp"
#include "mesh/exchange.hpp"

namespace curlew {

namespace {

struct OutflowOfCell {
  Incidence<Cell, Face> faces_of;
  View<Face, const Real> flux;
  CURLEW_HOST_DEVICE Real net(Id<Cell> c) const {
    Real sum = 0;
    for (const auto [f, sign] : faces_of[c]) sum += sign * flux[f];
    return sum;
  }
  CURLEW_HOST_DEVICE Real total(Id<Cell> c) const {
    Real sum = 0;
    for (const auto [f, sign] : faces_of[c]) sum += flux[f] < 0 ? -flux[f] : flux[f];
    return sum;
  }
};

struct NetSquaredOfCell {
  OutflowOfCell outflow;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const { return outflow.net(c) * outflow.net(c); }
};

struct TotalSquaredOfCell {
  OutflowOfCell outflow;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const { return outflow.total(c) * outflow.total(c); }
};

struct NetMagnitudeOfCell {
  OutflowOfCell outflow;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const {
    const Real net = outflow.net(c);
    return net < 0 ? -net : net;
  }
};

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
class PressureProjection::Laplacian : public Operator<DualCochain<Cell>, PrimalCochain<Cell>> {
 public:
  explicit Laplacian(const PressureProjection& projection) : projection_(projection) {}
  void apply(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow) const override {
    const auto apply_on = [&](Range<Cell> cells) { projection_.laplacian_->apply_on(cells, p, outflow); };
    launch_with_ghosts(projection_.mesh_.domain(), p.owned(), apply_on, p);
  }
  void apply_transpose(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow) const override {
    apply(p, outflow);
  }

 private:
  const PressureProjection& projection_;
};

PressureProjection::PressureProjection(const Executor& executor, const Mesh& mesh,
                                       const FlowBoundaries& boundaries, const FluxMass& mass,
                                       SolverControl control, Preconditioning preconditioning)
    : executor_(executor),
      mesh_(mesh),
      boundaries_(boundaries),
      mass_(mass),
      divergence_(executor, mesh.topology()),
      faces_of_cell_(mesh.topology().faces_of_cell()),
      cells_of_face_(mesh.topology().cells_of_face()),
      inverse_star_(executor, mesh.domain().extent<Face>(), "inverse star", "1"),
      volume_(executor, mesh.domain().extent<Cell>(), "volume", "m3"),
      outflow_(executor, volume_.extent(), "net outflow", "m3/s"),
      zero_(executor, volume_.extent(), "zero", "m2/s2"),
      correction_(executor, volume_.extent(), "pressure correction", "m2/s2"),
      residual_(executor, inverse_star_.extent(), "residual of fluxes", "m2/s2"),
      image_(executor, inverse_star_.extent(), "image of search direction", "m2/s2"),
      direction_(executor, inverse_star_.extent(), "search direction", "m3/s"),
      preconditioned_(executor, inverse_star_.extent(), "preconditioned residual", "m3/s"),
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
  // Below 4/3 by a margin; where a cell's own ratio is larger its share is scaled down.
  constexpr Real allowed = 1.3;
  const std::vector<Real> ratio = mass_.ratio_of_diagonal_star();
  const auto face_centroid = geometry.face_centroids_of_cells(MemorySpace::Host);
  std::vector<Real> inverse(at(topology.faces().size()), 0);
  for (const Id<Face> f : topology.faces()) {
    if (boundaries_.hold_of_face()[at(f.value())] != FaceHold::Free) continue;
    const Vector3 area = geometry.face_areas()[at(f.value())];
    Real star = 0;
    for (const auto [c, sign] : topology.cells_of_face()[f]) {
      const Vector3 arm = face_centroid(f, sign) - geometry.cell_centroids()[at(c.value())];
      const Real scale = std::min(Real(1), allowed / ratio[at(c.value())]);
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
  if (closed) null_space_.match_means(volume_, zero_, p);
  return report;
}

SolveReport PressureProjection::project(Real a, PrimalCochain<Face>& flux, DualCochain<Cell>& p,
                                        SolutionHistory<DualCochain<Cell>>* history) {
  exchange_ghosts(mesh_.domain(), flux);
  const OutflowOfCell outflow{faces_of_cell_.view(executor_.space()), std::as_const(flux).view()};
  ResidualScale scale;
  scale.reference = a * std::sqrt(sum(executor_, p.owned(), TotalSquaredOfCell{outflow}));
  scale.rounding = 4 * std::numeric_limits<Real>::epsilon() * scale.reference;
  divergence_.apply(flux, outflow_);
  for_each(executor_, p.range(), NegatedOnCell{a, outflow_.view()});
  const SolveReport report = solve(scale, p, history);
  for_each(executor_, flux.range(),
           CorrectOnFace{cells_of_face_.view(executor_.space()), 1 / a, inverse_star_.view(),
                         std::as_const(p).view(), flux.view()});
  return report;
}

void PressureProjection::divide_by_star(const DualCochain<Face>& r, PrimalCochain<Face>& flux) const {
  for_each(executor_, flux.range(), DividedByStarOnFace{inverse_star_.view(), r.view(), flux.view()});
}

SolveReport PressureProjection::solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux,
                                           DualCochain<Cell>& p, SolverControl control) {
  const auto cells_of = cells_of_face_.view(executor_.space());
  const auto inverse_star = std::as_const(inverse_star_).view();
  SolveReport report;
  // Takes from the residual the gradient that a pressure balances, and gives it to p; z = S⁻¹ r after that.
  const auto remove_gradient = [&](const ResidualScale& scale) {
    preconditioned_.fill(0);
    divide_by_star(residual_, preconditioned_);
    exchange_ghosts(mesh_.domain(), preconditioned_);
    divergence_.apply(preconditioned_, outflow_);
    correction_.fill(0);
    report.iterations += solve(scale, correction_).iterations;
    for_each(
        executor_, residual_.range(),
        AddDifferenceOnFace{cells_of, -1, inverse_star, std::as_const(correction_).view(), residual_.view()});
    linear_combination(-1, correction_, 1, p);
    divide_by_star(residual_, preconditioned_);
  };
  const auto scale_of_residual = [&] {
    preconditioned_.fill(0);
    divide_by_star(residual_, preconditioned_);
    exchange_ghosts(mesh_.domain(), preconditioned_);
    const OutflowOfCell outflow{faces_of_cell_.view(executor_.space()),
                                std::as_const(preconditioned_).view()};
    ResidualScale scale;
    scale.reference = std::sqrt(sum(executor_, p.owned(), TotalSquaredOfCell{outflow}));
    scale.rounding = 4 * std::numeric_limits<Real>::epsilon() * scale.reference;
    return scale;
  };

  // r - M U + Dᵀ p on free faces
  exchange_ghosts(mesh_.domain(), flux, p);
  mass_.apply(flux, residual_);
  linear_combination(1, r, -1, residual_);
  for_each(executor_, residual_.range(),
           AddDifferenceOnFace{cells_of, 1, inverse_star, std::as_const(p).view(), residual_.view()});
  remove_gradient(scale_of_residual());
  // The energy of what is sought sets the scale: U and the force that changes it.
  mass_.apply(flux, image_);
  Real rz = inner_product(residual_, preconditioned_);
  const Real reference = std::max(rz, inner_product(image_, flux));
  const Real target = control.relative_tolerance * control.relative_tolerance * reference;
  copy(preconditioned_, direction_);
  int iterations = 0;
  const FreeMass free_mass(*this);
  while (rz > target) {
    if (++iterations > control.max_iterations || !std::isfinite(rz)) {
      throw DivergedError(
          fmt::format("the solve for fluxes {} after {} iterations: the energy of its residual is {:.3g} of "
                      "the reference",
                      std::isfinite(rz) ? "did not converge" : "met a value that is not a number",
                      iterations - 1, rz / reference));
    }
    free_mass.apply(direction_, image_);
    const Real alpha = rz / inner_product(image_, direction_);
    for_each(
        executor_, flux.range(),
        ConjugateGradientStepOnEntity<Face>{alpha, std::as_const(direction_).view(),
                                            std::as_const(image_).view(), flux.view(), residual_.view()});
    remove_gradient(scale_of_residual());
    const Real next = inner_product(residual_, preconditioned_);
    linear_combination(1, preconditioned_, next / rz, direction_);
    rz = next;
  }
  report.residual = reference > 0 ? std::sqrt(rz / reference) : 0;
  if (null_space_.parts() > 0) null_space_.match_means(volume_, zero_, p);
  return report;
}

DivergenceNorms PressureProjection::divergence_of(const PrimalCochain<Face>& flux) {
  exchange_ghosts(mesh_.domain(), flux);
  const OutflowOfCell outflow{faces_of_cell_.view(executor_.space()), flux.view()};
  const Range<Cell> cells = outflow_.owned();
  const Real total = std::sqrt(sum(executor_, cells, TotalSquaredOfCell{outflow}));
  if (!(total > 0)) return {};
  DivergenceNorms norms;
  norms.l2 = std::sqrt(sum(executor_, cells, NetSquaredOfCell{outflow})) / total;
  norms.max = maximum(executor_, cells, NetMagnitudeOfCell{outflow}) /
              (total / std::sqrt(static_cast<Real>(mesh_.domain().halo<Cell>().total())));
  return norms;
}

}  // namespace curlew
