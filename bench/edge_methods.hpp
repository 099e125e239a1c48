// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Ways to find the fluxes of edge_solvers.cpp.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "edge_system.hpp"
#include "kernels/error.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/mesh.hpp"
#include "mesh/parallel/gathered_dual_tree.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/flux_mass.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/viscous_form.hpp"
#include "solvers/auxiliary_space/auxiliary_space.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/sparse_rows.hpp"
#include "solvers/null_space.hpp"
#include "solvers/preconditioners.hpp"

namespace curlew {

using Flux = PrimalCochain<Face>;
using Circulation = DualCochain<Face>;
using Pressure = DualCochain<Cell>;
using Outflow = PrimalCochain<Cell>;

template <class E>
struct ScaledOnEntity {
  View<E, const Real> scale, from;
  View<E, Real> to;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { to[i] = scale[i] * from[i]; }
};

template <class E, class From, class To>
void scale_by(const Field<E>& scale, const From& from, To& to) {
  for_each(scale.executor(), scale.range(), ScaledOnEntity<E>{scale.view(), from.view(), to.view()});
}

template <class E>
Field<E> field_of(const Executor& executor, const std::vector<Real>& values, const std::string& name) {
  Field<E> field(executor, static_cast<Index>(values.size()), name, "1");
  field.copy_from_host(values);
  return field;
}

/// y = S x.
class DiagonalStar : public RotationMassCurl::Star {
 public:
  DiagonalStar(const Executor& executor, const std::vector<Real>& diagonal)
      : diagonal_(field_of<Face>(executor, diagonal, "star")) {}
  void apply(const Flux& x, Circulation& y) const override { scale_by(diagonal_, x, y); }
  void apply_transpose(const Flux& x, Circulation& y) const override { apply(x, y); }

 private:
  Field<Face> diagonal_;
};

/// The diagonal star h/A as a matrix, whose other entries are zero.
inline FaceMatrix diagonal_star(const Mesh& mesh) {
  const auto centroid = mesh.geometry().face_centroids_of_cells(MemorySpace::Host);
  return {FaceStencil(mesh.topology()), mesh.topology(), [&](Id<Cell> c, Index k, std::span<Real> entries) {
            const auto [f, sign] = mesh.topology().faces_of_cell()[c][k];
            const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
            const Vector3 arm = centroid(f, sign) - mesh.geometry().cell_centroids()[at(c.value())];
            std::ranges::fill(entries, Real(0));
            entries[at(k)] = sign * dot(arm, area) / dot(area, area);
          }};
}

/// What all methods solve.
struct Problem {
  const Executor& executor;
  const Mesh& mesh;
  const std::vector<std::uint8_t>& edge_is_free;
  const std::vector<std::vector<SignedId<Face>>>& loops;
  const GatheredDualTree& tree;
  const RotationMassCurl::Star& mass;
  const FaceMatrix& mass_matrix;
  const FaceMatrix& viscous_matrix;
  const Field<Face>& inverse_star;  // of the diagonal of M; 0 on walls
  const RotationMassCurl& system;
  const Circulation& force;
};

/// Iterations towards the fluxes.
class Method {
 public:
  virtual ~Method() = default;
  virtual void start() = 0;
  virtual void advance() = 0;
  virtual void set_flux(Flux& flux) = 0;
  /// Iterations in which the error must halve.
  virtual int patience() const { return 500; }
  /// Of an iteration that solves within: to which tolerance, and how many cycles since the start.
  struct Inner {
    Real tolerance;
    int cycles;
  };
  virtual std::optional<Inner> inner() const { return {}; }
  /// Solves to a tenth of the tolerance from now on.
  virtual void tighten() {}
};

// --- Methods on edges

/// What stands for the inverse of R M C on edges.
using EdgePreconditioner = Preconditioner<PrimalCochain<Edge>>;

/// That, and the diagonal for loops.
class StreamPreconditioner : public Preconditioner<StreamVelocity> {
 public:
  StreamPreconditioner(const Problem& problem, std::unique_ptr<EdgePreconditioner> edges)
      : edges_(std::move(edges)),
        inverse_of_loops_(problem.executor, loops(problem), "inverse diagonal", "1") {
    StreamVelocity unit = stream_unknown(problem.executor, problem.mesh, problem.loops.size());
    Paired<StreamVelocity> image = stream_image(problem.executor, problem.mesh, problem.loops.size());
    std::vector<Real> inverse(problem.loops.size());
    for (std::size_t l = 0; l < inverse.size(); ++l) {
      std::vector<Real> one(inverse.size(), 0);
      one[l] = 1;
      unit.loop.copy_from_host(one);
      problem.system.apply(unit, image);
      inverse[l] = 1 / image.loop.to_host()[l];
    }
    inverse_of_loops_.copy_from_host(inverse);
  }
  void apply(const Paired<StreamVelocity>& r, StreamVelocity& z) const override {
    edges_->apply(r.stream, z.stream);
    scale_by(inverse_of_loops_, r.loop, z.loop);
  }

 private:
  static Index loops(const Problem& problem) { return static_cast<Index>(problem.loops.size()); }

  std::unique_ptr<EdgePreconditioner> edges_;
  Field<Loop> inverse_of_loops_;
};

/// Conjugate gradients for the streamfunction.
class StreamMethod : public Method {
 public:
  StreamMethod(const Problem& problem, std::unique_ptr<EdgePreconditioner> edges)
      : problem_(problem),
        preconditioner_(problem, std::move(edges)),
        x_(stream_unknown(problem.executor, problem.mesh, problem.loops.size())),
        iteration_(stream_image(problem.executor, problem.mesh, problem.loops.size()), alike(x_)) {}
  void start() override {
    x_.stream.fill(0);
    x_.loop.fill(0);
    problem_.system.rotation_of(problem_.force, iteration_.residual());
    iteration_.start({.residual = 1, .target = 0, .iterations = 0, .limit = std::numeric_limits<int>::max()});
  }
  void advance() override { iteration_.advance(problem_.system, preconditioner_, x_); }
  void set_flux(Flux& flux) override { problem_.system.curl_of(x_, flux); }

 private:
  const Problem& problem_;
  StreamPreconditioner preconditioner_;
  StreamVelocity x_;
  ConjugateGradientIteration<StreamVelocity> iteration_;
};

/// Of R M C.
inline std::vector<Real> diagonal_on_edges(const Problem& problem) {
  std::vector<Real> diagonal(problem.edge_is_free.size(), 0);
  for (const Id<Edge> e : problem.mesh.topology().edges()) {
    if (!problem.edge_is_free[at(e.value())]) continue;
    visit_row_of_rotation_mass_curl(problem.mesh.topology(), problem.mass_matrix, e,
                                    [&](Id<Edge> other, Real value) {
                                      if (other == e) diagonal[at(e.value())] += value;
                                    });
  }
  return diagonal;
}

inline std::unique_ptr<EdgePreconditioner> jacobi(const Problem& problem) {
  DualCochain<Edge> diagonal(problem.executor, problem.mesh.topology().edges().size(), "diagonal", "1");
  diagonal.copy_from_host(diagonal_on_edges(problem));
  auto preconditioner =
      std::make_unique<JacobiPreconditioner<PrimalCochain<Edge>>>(problem.executor, diagonal.size());
  preconditioner->set_diagonal(diagonal);
  return preconditioner;
}

/// The exact step's, as it is.
class AuxiliarySpacePreconditioner : public EdgePreconditioner {
 public:
  explicit AuxiliarySpacePreconditioner(const Problem& problem)
      : space_(problem.executor, problem.mesh, problem.mass_matrix, problem.viscous_matrix,
               problem.edge_is_free) {
    space_.set(1, 0);
  }
  void apply(const DualCochain<Edge>& r, PrimalCochain<Edge>& z) const override { space_.apply(r, z); }

 private:
  AuxiliarySpace space_;
};

inline std::unique_ptr<EdgePreconditioner> auxiliary_space(const Problem& problem) {
  return std::make_unique<AuxiliarySpacePreconditioner>(problem);
}

/// One cycle of smoothed aggregation for R M C + B W Bᵀ, B the gradient of values at nodes that are off the
/// walls. The other term holds gradients, which R M C does not see, and makes a vector Laplacian of it.
///
/// Of the edges e at a node sum_e e (e . ∇v) / 2 is t div v where they point everywhere alike, t = sum_e |e|²
/// / 6: with W = V / t², V the node's volume, s . B W Bᵀ s is the integral of (div v)² for smooth vectors v.
/// On a grid of cubes, spacing h, M and W are 1/h and components no longer depend on each other.
///
/// Smoothed aggregation takes smooth vectors to be constant within a group, and groups what is coupled by a
/// negative entry. So unknowns are means of the tangential component along edges, which all point into one
/// half of space.
class AugmentedMultigrid : public EdgePreconditioner {
 public:
  AugmentedMultigrid(const Executor& executor, const Domain& domain, const std::vector<Real>& scale,
                     SymmetricMatrix matrix)
      : scale_(field_of<Edge>(executor, scale, "lengths")),
        residual_(executor, scale_.extent(), "scaled residual", "1"),
        multigrid_(executor, domain, std::move(matrix)) {}
  void apply(const DualCochain<Edge>& r, PrimalCochain<Edge>& z) const override {
    scale_by(scale_, r, residual_);
    multigrid_.apply(residual_, z);
    scale_by(scale_, z, z);
  }

 private:
  Field<Edge> scale_;
  mutable DualCochain<Edge> residual_;
  Multigrid<PrimalCochain<Edge>> multigrid_;
};

inline std::unique_ptr<EdgePreconditioner> augmented(const Problem& problem) {
  const Topology& topology = problem.mesh.topology();
  const std::vector<std::uint8_t>& free = problem.edge_is_free;
  const std::vector<std::uint8_t> node_is_free = nodes_off_walls(topology);
  std::vector<Vector3> along(free.size());
  std::vector<Real> scale(free.size(), 0), weight(node_is_free.size(), 0);
  for (const Id<Edge> e : topology.edges()) {
    Vector3& vector = along[at(e.value())];
    for (const auto [n, sign] : topology.nodes_of_edge()[e])
      vector += sign * problem.mesh.geometry().node_positions()[at(n.value())];
    const Real length = norm(vector), rounding = 1e-9 * length;
    const bool turned = std::abs(vector.x) > rounding   ? vector.x < 0
                        : std::abs(vector.y) > rounding ? vector.y < 0
                                                        : vector.z < 0;
    if (free[at(e.value())]) scale[at(e.value())] = turned ? -length : length;
  }
  for (const Id<Node> n : topology.nodes()) {
    if (!node_is_free[at(n.value())]) continue;
    Real volume = 0, squares = 0;
    for (const auto [c, one] : topology.cells_of_node()[n])
      volume += problem.mesh.geometry().cell_volumes()[at(c.value())] / topology.nodes_of_cell()[c].size();
    for (const auto [e, sign] : topology.edges_of_node()[n])
      squares += dot(along[at(e.value())], along[at(e.value())]);
    weight[at(n.value())] = 36 * volume / (squares * squares);
  }
  const SparseRows rows = gather_rows(
      topology.edges().size(), topology.edges().size(), [&](Index i, RowAccumulator& accumulator) {
        const Id<Edge> e(i);
        if (!free[at(i)]) return;
        accumulator.add(i, 0);  // first, so that the diagonal is found
        const auto add = [&](Id<Edge> other, Real value) {
          const Real both = scale[at(i)] * scale[at(other.value())];
          if (both * value != 0) accumulator.add(other.value(), both * value);
        };
        visit_row_of_rotation_mass_curl(topology, problem.mass_matrix, e, add);
        for (const auto [n, sign] : topology.nodes_of_edge()[e]) {
          for (const auto [other, side] : topology.edges_of_node()[n])
            add(other, sign * side * weight[at(n.value())]);
        }
      });
  SymmetricMatrix matrix;
  for (Index i = 0; i < rows.rows(); ++i) {
    const Index first = rows.starts[at(i)], last = rows.starts[at(i) + 1];
    matrix.diagonal.push_back(first < last ? rows.values[at(first)] : 0);
    for (Index k = first + 1; k < last; ++k) {
      if (std::abs(rows.values[at(k)]) < 1e-13 * matrix.diagonal.back()) continue;  // rounding
      matrix.off_diagonal.columns.push_back(rows.columns[at(k)]);
      matrix.off_diagonal.values.push_back(rows.values[at(k)]);
    }
    matrix.off_diagonal.starts.push_back(static_cast<Index>(matrix.off_diagonal.columns.size()));
  }
  return std::make_unique<AugmentedMultigrid>(problem.executor, problem.mesh.domain(), scale,
                                              std::move(matrix));
}

// --- Methods between cells

/// U = S⁻¹ (f + G p).
struct FluxOnFace {
  View<Face, const Real> inverse_star, force, gradient;
  View<Face, Real> flux;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    flux[f] = inverse_star[f] * (force[f] + gradient[f]);
  }
};

struct FreePartOnFace {
  View<Face, const Real> inverse_star;
  View<Face, Real> value;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    if (!(inverse_star[f] > 0)) value[f] = 0;
  }
};

/// D S⁻¹ Dᵀ and what goes with it.
class Projection {
 public:
  explicit Projection(const Problem& problem)
      : problem_(problem),
        divergence_(problem.executor, problem.mesh.topology()),
        gradient_(problem.executor, problem.mesh.topology()),
        laplacian_(problem.executor, problem.mesh.topology(), problem.inverse_star.to_host()),
        multigrid_(problem.executor, problem.mesh.domain(), laplacian_.matrix()),
        null_space_(problem.executor, cells(), std::vector<Index>(at(cells()), 0)),
        gradient_of_p_(problem.executor, problem.inverse_star.extent(), "gradient", "m2/s") {}

  Index cells() const { return problem_.mesh.topology().cells().size(); }
  const CellLaplacian& laplacian() const { return laplacian_; }
  const Multigrid<Pressure>& multigrid() const { return multigrid_; }
  const NullSpace<Pressure>& null_space() const { return null_space_; }

  /// b = D S⁻¹ r. `flux`: to work with.
  void set_outflow(const Circulation& r, Flux& flux, Outflow& b) const {
    scale_by(problem_.inverse_star, r, flux);
    divergence_.apply(flux, b);
    null_space_.make_consistent(b);
  }
  /// U = S⁻¹ (f - Dᵀ p).
  void set_flux(const Circulation& f, const Pressure& p, Flux& flux) const {
    gradient_.apply(p, gradient_of_p_);
    for_each(problem_.executor, flux.range(),
             FluxOnFace{problem_.inverse_star.view(), f.view(), std::as_const(gradient_of_p_).view(),
                        flux.view()});
  }
  /// r -= Dᵀ p.
  void subtract_gradient(const Pressure& p, Circulation& r) const {
    gradient_.apply(p, gradient_of_p_);
    linear_combination(1, gradient_of_p_, 1, r);
  }
  void leave_free_part(Circulation& r) const {
    for_each(problem_.executor, r.range(), FreePartOnFace{problem_.inverse_star.view(), r.view()});
  }
  void set_divergence(const Flux& flux, Outflow& b) const { divergence_.apply(flux, b); }
  /// What is left over in cells goes along the tree.
  void balance(Flux& flux) const {
    std::vector<Real> values = flux.to_host();
    problem_.tree.balance(values);
    flux.copy_from_host(values);
  }

 private:
  const Problem& problem_;
  Divergence divergence_;
  Gradient gradient_;
  CellLaplacian laplacian_;
  Multigrid<Pressure> multigrid_;
  PiecewiseConstantNullSpace<Pressure> null_space_;
  mutable Circulation gradient_of_p_;
};

/// Where M is the diagonal star: D S⁻¹ Dᵀ p = D S⁻¹ f by conjugate gradients, U = S⁻¹ (f - Dᵀ p).
class PoissonMethod : public Method {
 public:
  PoissonMethod(const Problem& problem, bool balanced)
      : problem_(problem),
        balanced_(balanced),
        projection_(problem),
        p_(problem.executor, projection_.cells(), "pressure", "m2/s"),
        flux_(problem.executor, problem.inverse_star.extent(), "flux", "m3/s"),
        iteration_(Outflow(problem.executor, p_.extent(), "residual", "m3/s"), alike(p_)) {}
  void start() override {
    p_.fill(0);
    projection_.set_outflow(problem_.force, flux_, iteration_.residual());
    iteration_.start({.residual = 1, .target = 0, .iterations = 0, .limit = std::numeric_limits<int>::max()});
  }
  void advance() override { iteration_.advance(projection_.laplacian(), projection_.multigrid(), p_); }
  void set_flux(Flux& flux) override {
    projection_.set_flux(problem_.force, p_, flux);
    if (balanced_) projection_.balance(flux);
  }

 private:
  const Problem& problem_;
  bool balanced_;
  Projection projection_;
  Pressure p_;
  Flux flux_;
  ConjugateGradientIteration<Pressure> iteration_;
};

/// Conjugate gradients among divergence-free fluxes, preconditioned by the projection with the diagonal star,
/// each of which is a Poisson solve: Gould, Hribar & Nocedal, SIAM J. Sci. Comput. 23 (2001), algorithm 6.2
/// with the gradient that is found taken out of the residual.
///
/// Directions are only as free of divergence as that solve is good. As later ones add less to the fluxes,
/// they need not be solved for as well: the same absolute tolerance does for all.
class ProjectedMethod : public Method {
 public:
  struct Options {
    Real tolerance;         ///< of the Poisson solves, to begin with
    bool relative = false;  ///< to each right-hand side, else to the first
    bool balanced = false;  ///< the fluxes in the end, along the tree
  };
  ProjectedMethod(const Problem& problem, Options options)
      : problem_(problem),
        options_(options),
        projection_(problem),
        residual_(problem.executor, problem.inverse_star.extent(), "residual", "m2/s"),
        image_(alike(residual_)),
        flux_(problem.executor, residual_.extent(), "flux", "m3/s"),
        direction_(alike(flux_)),
        preconditioned_(alike(flux_)),
        p_(problem.executor, projection_.cells(), "pressure", "m2/s"),
        outflow_(problem.executor, p_.extent(), "outflow", "m3/s"),
        solver_(problem.executor, p_.extent(), "pressure", {.relative_tolerance = 1}) {}

  void start() override {
    cycles_ = 0;
    flux_.fill(0);
    copy(problem_.force, residual_);
    projection_.leave_free_part(residual_);
    reference_ = 0;
    precondition();
    copy(preconditioned_, direction_);
    energy_ = inner_product(residual_, preconditioned_);
  }
  void advance() override {
    problem_.mass.apply(direction_, image_);
    projection_.leave_free_part(image_);
    const Real alpha = energy_ / inner_product(image_, direction_);
    linear_combination(alpha, direction_, 1, flux_);
    linear_combination(-alpha, image_, 1, residual_);
    precondition();
    const Real energy = inner_product(residual_, preconditioned_);
    linear_combination(1, preconditioned_, energy / energy_, direction_);
    energy_ = energy;
  }
  void set_flux(Flux& flux) override {
    copy(flux_, flux);
    if (options_.balanced) projection_.balance(flux);
  }
  int patience() const override { return 20; }
  std::optional<Inner> inner() const override { return Inner{options_.tolerance, cycles_}; }
  void tighten() override { options_.tolerance /= 10; }

 private:
  /// Takes the gradient out of the residual; z = S⁻¹ r then.
  void precondition() {
    projection_.set_outflow(residual_, preconditioned_, outflow_);
    if (options_.relative || reference_ == 0) reference_ = std::sqrt(inner_product(outflow_, outflow_));
    p_.fill(0);
    cycles_ += solver_
                   .solve(projection_.laplacian(), projection_.multigrid(), outflow_, p_,
                          {.reference = options_.tolerance * reference_}, &projection_.null_space())
                   .iterations;
    projection_.subtract_gradient(p_, residual_);
    projection_.leave_free_part(residual_);
    scale_by(problem_.inverse_star, residual_, preconditioned_);
  }

  const Problem& problem_;
  Options options_;
  Projection projection_;
  Circulation residual_, image_;
  Flux flux_, direction_, preconditioned_;
  Pressure p_;
  Outflow outflow_;
  ConjugateGradient<Pressure> solver_;
  Real energy_ = 0, reference_ = 0;
  int cycles_ = 0;
};

/// Minimal residuals for M U - Dᵀ p = f, -D U = 0, preconditioned by the diagonal star and one cycle of
/// multigrid for D S⁻¹ Dᵀ: Elman, Silvester & Wathen, Finite Elements and Fast Iterative Solvers (2014),
/// algorithm 4.1. A single cycle is no projection, so that conjugate gradients have no use for it.
class SaddlePointMethod : public Method {
 public:
  explicit SaddlePointMethod(const Problem& problem)
      : problem_(problem),
        projection_(problem),
        x_(unknown()),
        z_(unknown()),
        w_(unknown()),
        last_w_(unknown()),
        v_(image()),
        last_v_(image()),
        next_v_(image()) {}
  void start() override {
    for (Unknown* x : {&x_, &w_, &last_w_}) {
      x->flux.fill(0);
      x->p.fill(0);
    }
    last_v_.circulation.fill(0);
    last_v_.outflow.fill(0);
    copy(problem_.force, v_.circulation);
    projection_.leave_free_part(v_.circulation);
    v_.outflow.fill(0);
    gamma_ = last_gamma_ = precondition(v_);
    eta_ = gamma_;
    sine_ = last_sine_ = 0;
    cosine_ = last_cosine_ = 1;
  }
  void advance() override {
    combine(0, z_, 1 / gamma_, z_);
    // K z
    problem_.mass.apply(z_.flux, next_v_.circulation);
    projection_.subtract_gradient(z_.p, next_v_.circulation);
    projection_.leave_free_part(next_v_.circulation);
    projection_.set_divergence(z_.flux, next_v_.outflow);
    linear_combination(0, next_v_.outflow, -1, next_v_.outflow);
    const Real delta = inner_product(next_v_.circulation, z_.flux) + inner_product(next_v_.outflow, z_.p);
    const auto add = [](Real a, const Image& x, Image& y) {
      linear_combination(a, x.circulation, 1, y.circulation);
      linear_combination(a, x.outflow, 1, y.outflow);
    };
    add(-delta / gamma_, v_, next_v_);
    add(-gamma_ / last_gamma_, last_v_, next_v_);
    std::swap(last_v_, v_);
    std::swap(v_, next_v_);
    const Real alpha_0 = cosine_ * delta - last_cosine_ * sine_ * gamma_;
    const Real alpha_2 = sine_ * delta + last_cosine_ * cosine_ * gamma_;
    const Real alpha_3 = last_sine_ * gamma_;
    combine(1, z_, -alpha_3, last_w_);
    combine(-alpha_2, w_, 1, last_w_);
    std::swap(last_w_, w_);
    last_gamma_ = gamma_;
    gamma_ = precondition(v_);
    const Real alpha_1 = std::hypot(alpha_0, gamma_);
    last_cosine_ = cosine_;
    last_sine_ = sine_;
    cosine_ = alpha_0 / alpha_1;
    sine_ = gamma_ / alpha_1;
    combine(0, w_, 1 / alpha_1, w_);
    combine(cosine_ * eta_, w_, 1, x_);
    eta_ = -sine_ * eta_;
  }
  void set_flux(Flux& flux) override { copy(x_.flux, flux); }

 private:
  struct Unknown {
    Flux flux;
    Pressure p;
  };
  struct Image {
    Circulation circulation;
    Outflow outflow;
  };
  Unknown unknown() const {
    return {Flux(problem_.executor, problem_.inverse_star.extent(), "flux", "m3/s"),
            Pressure(problem_.executor, projection_.cells(), "pressure", "m2/s")};
  }
  Image image() const {
    return {Circulation(problem_.executor, problem_.inverse_star.extent(), "circulation", "m2/s"),
            Outflow(problem_.executor, projection_.cells(), "outflow", "m3/s")};
  }
  static void combine(Real a, const Unknown& x, Real b, Unknown& y) {
    linear_combination(a, x.flux, b, y.flux);
    linear_combination(a, x.p, b, y.p);
  }
  /// z of v; the root of their product.
  Real precondition(Image& v) {
    scale_by(problem_.inverse_star, v.circulation, z_.flux);
    projection_.null_space().make_consistent(v.outflow);
    projection_.multigrid().apply(v.outflow, z_.p);
    return std::sqrt(inner_product(v.circulation, z_.flux) + inner_product(v.outflow, z_.p));
  }

  const Problem& problem_;
  Projection projection_;
  Unknown x_, z_, w_, last_w_;
  Image v_, last_v_, next_v_;
  Real gamma_ = 1, last_gamma_ = 1, eta_ = 0, sine_ = 0, last_sine_ = 0, cosine_ = 1, last_cosine_ = 1;
};

}  // namespace curlew
