// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/auxiliary_space/auxiliary_space.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kernels/entity_terms.hpp"
#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/node_diffusion.hpp"
#include "operators/signed_sum_kernels.hpp"
#include "solvers/auxiliary_space/node_correction.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "solvers/multigrid/multigrid_kernels.hpp"
#include "solvers/multigrid/power_iteration.hpp"

namespace curlew {

namespace {

using multigrid::Scaling;

/// Where a step of refinement leaves more than this of a residual, gaps are looked for: in wide domains it is
/// at most 0.54, in narrow gaps that turn 0.65 and more (docs/multigrid.md).
constexpr Real slow = 0.6;

/// Viscosity is felt where it outweighs this much of inertia in any cell.
constexpr Real felt = 1;

/// Of a correction of both fields together: with all of it the largest eigenvalues, of what slides along
/// walls, are more than twice as large, and iterations a fifth more (docs/multigrid.md).
constexpr Real coupled_share = 0.4;

/// a M + b K between normal parts of face velocities.
template <class Rows>
struct CombinedOnFace {
  Rows faces_of;
  Real mass_factor, viscous_factor;
  View<FacePair, const Real> mass, viscous;
  View<Face, const Vector3> area;
  View<FacePair, float> entry;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 normal = area[f] / dot(area[f], area[f]);
    Id<FacePair> pair(faces_of.start(f));
    Real diagonal = 0;
    for (const auto [g, sign] : faces_of[f]) {
      Real sum = mass_factor * mass[pair];
      if (viscous_factor > 0)
        sum += viscous_factor * viscous[pair] * (dot(normal, area[g]) / dot(area[g], area[g]));
      if (g == f) diagonal = sum;  // the first of them
      entry[pair] = static_cast<float>(without_rounding(sum, diagonal));
      pair = faces_of.next(pair);
    }
  }
};

struct AreaOfFace {
  View<Face, const Vector3> area;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const { return norm(area[f]); }
};

/// Of R F C, from rows of F that are whole.
struct DiagonalOnEdge {
  Incidence<Edge, Face> faces_of_edge;
  Incidence<Face, Face> faces_of_face;
  View<FacePair, const float> entry;
  View<Edge, float> diagonal;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    Real sum = 0;
    for (const auto [f, sign_of_f] : faces_of_edge[e]) {
      Id<FacePair> pair(faces_of_face.start(f));
      for (const auto [g, one] : faces_of_face[f]) {
        for (const auto [h, sign_of_h] : faces_of_edge[e])
          if (h == g) sum += sign_of_f * sign_of_h * static_cast<Real>(entry[pair]);
        pair = faces_of_face.next(pair);
      }
    }
    diagonal[e] = static_cast<float>(sum);
  }
};

struct CombinedDiagonalOnEdge {
  View<Edge, const float> mass;
  float ratio;
  View<Edge, const float> viscous;
  View<Edge, float> diagonal;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const { diagonal[e] = mass[e] + ratio * viscous[e]; }
};

struct InverseOnEdge {
  View<Edge, const std::uint8_t> free;
  Real ratio;
  View<Edge, const float> mass, viscous;
  View<Edge, float> inverse;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    const Real sum = static_cast<Real>(mass[e]) + ratio * static_cast<Real>(viscous[e]);
    inverse[e] = free[e] && sum > 0 ? static_cast<float>(1 / sum) : 0.f;
  }
};

template <class Rows>
struct CirculationOnFace {
  Rows faces_of;
  View<FacePair, const float> entry;
  View<Face, const float> flux;
  View<Face, float> circulation;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    circulation[f] = row_times(faces_of, entry, flux, f);
  }
};

/// The residual rounded to single precision at order one.
struct RoundedOnEdge {
  View<One, const Scaling> scaling;
  View<Edge, const Real> residual;
  View<Edge, float> rounded;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    rounded[e] = static_cast<float>(scaling[Id<One>(0)].there * residual[e]);
  }
};

struct WidenedOnEdge {
  View<One, const Scaling> scaling;
  View<Edge, const float> x;
  View<Edge, Real> z;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    z[e] = scaling[Id<One>(0)].back * static_cast<Real>(x[e]);
  }
};

/// The first smoothing step from zero.
struct StartedOnEdge {
  float damping;
  View<Edge, const float> right_hand_side, inverse_diagonal;
  View<Edge, float> x;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    x[e] = damping * (inverse_diagonal[e] * right_hand_side[e]);
  }
};

// Kernels that are given the product R F C x of an edge.

struct FluxOnFace {
  View<Face, float> flux;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f, float curl) const { flux[f] = curl; }
};

struct ResidualOnEdge {
  View<Edge, const float> right_hand_side;
  View<Edge, float> residual;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e, float product) const {
    residual[e] = right_hand_side[e] - product;
  }
};

/// The last smoothing step, and the term of an inner product with the right-hand side.
struct FinishedOnEdge {
  float factor, damping;
  View<Edge, const float> inverse_diagonal, right_hand_side, x;
  View<Edge, float> z;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e, float product) const {
    const float b = right_hand_side[e], rest = b - product;
    const float last = factor * (x[e] + damping * (inverse_diagonal[e] * rest));
    z[e] = last;
    return static_cast<Real>(b) * static_cast<Real>(last);
  }
};

/// x = D⁻¹ R F C x, for the largest eigenvalue.
struct ScaledProductOnEdge {
  float factor;
  View<Edge, const float> inverse_diagonal;
  View<Edge, float> x;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e, float product) const {
    x[e] = factor * (inverse_diagonal[e] * product);
  }
};

struct EnergyOfEdge {
  View<Edge, const float> inverse_diagonal, x;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e) const {
    const Real value = static_cast<Real>(x[e]);
    return inverse_diagonal[e] > 0 ? value * value / static_cast<Real>(inverse_diagonal[e]) : 0;
  }
};

struct ProductOnEdge {
  View<Edge, float> product;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e, float value) const { product[e] = value; }
};

struct ScaledSquareOnEdge {
  View<Edge, const float> scale, value;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e) const {
    return static_cast<Real>(scale[e]) * static_cast<Real>(value[e]) * static_cast<Real>(value[e]);
  }
};

/// z of smoothing and of a correction side by side, and the term of an inner product with the right-hand
/// side.
template <class T>
struct SmoothedOnEdge {
  float damping;
  View<Edge, const float> inverse_diagonal, correction;
  View<Edge, const T> right_hand_side;
  View<Edge, T> z;
  CURLEW_HOST_DEVICE Real operator()(Id<Edge> e) const {
    const T b = right_hand_side[e];
    const float sum = correction[e] + damping * (inverse_diagonal[e] * static_cast<float>(b));
    z[e] = static_cast<T>(sum);
    return static_cast<Real>(b) * static_cast<Real>(sum);
  }
};

}  // namespace

class AuxiliarySpace::Implementation {
 public:
  Implementation(const Executor& executor, const Mesh& mesh, const FaceMatrix& mass,
                 const FaceMatrix& viscous, const std::vector<std::uint8_t>& edge_is_free)
      : executor_(executor.among(mesh.domain().shared_communicator())),
        mesh_(mesh),
        mass_(mass),
        viscous_(viscous),
        curl_(executor_, mesh.topology()),
        entries_(executor.space(), mass.stencil().faces_of_face().places(executor.space())),
        scaling_(executor.space(), 1),
        free_(executor, mesh.domain().extent<Edge>(), "free", "1"),
        inverse_diagonal_(executor, free_.extent(), "inverse diagonal", "1"),
        right_hand_side_(alike(inverse_diagonal_)),
        x_(alike(inverse_diagonal_)),
        residual_(alike(inverse_diagonal_)),
        flux_(executor, mesh.domain().extent<Face>(), "flux", "1"),
        circulation_(alike(flux_)) {
    free_.copy_from_host(edge_is_free);
    by_mass_.emplace(part(1, 0));
    if (!may_have_gaps() || left_by_a_step() < slow) return;
    gaps_ = gap_streamfunction(mesh, mass, edge_is_free);
    if (gaps_) gap_correction_ = make_node_correction(executor, mesh, *gaps_);
  }

  void set(Real a, Real b, bool coupled) {
    REQUIRE(a > 0 && b >= 0, "the auxiliary space needs a mass");
    factor_ = static_cast<float>(1 / a);
    const Real ratio = b / a;
    if (ratio > 0 && !by_viscosity_) by_viscosity_.emplace(part(0, 1));
    set_between_nodes(ratio > 0 ? ratio_of_hierarchy(ratio) : 0, coupled);
    if (coupled) coupled_factor_ = static_cast<float>(coupled_share / b);
    if (ratio_ == ratio) return;
    ratio_ = ratio;
    combine(1, ratio_);
    invert(by_mass_->diagonal, ratio_, (ratio_ > 0 ? by_viscosity_ : by_mass_)->diagonal);
    const Real largest =
        std::max(by_mass_->largest_eigenvalue, ratio_ > 0 ? by_viscosity_->largest_eigenvalue : Real(0));
    // Smallest on the upper three quarters of the eigenvalues; there are none where all edges are held.
    damping_ = largest > 0 ? static_cast<float>(2 / (1.25 * largest)) : 0.f;
  }

  void apply(View<Edge, const Real> r, View<Edge, Real> z) {
    const Range<Edge> edges = x_.owned();
    const View<One, Scaling> scaling(scaling_.data(), 1);
    maximum(executor_, edges, MagnitudeOfEntity<Edge>{r}, &scaling_.data()->largest);
    for_each(executor_, Range<One>(0, 1), multigrid::ScalingFromLargest{scaling});
    for_each(executor_, edges, RoundedOnEdge{scaling, r, right_hand_side_.view()});
    apply(std::as_const(right_hand_side_).view(), residual_.view(), nullptr);
    for_each(executor_, edges, WidenedOnEdge{scaling, std::as_const(residual_).view(), z});
  }
  void apply(View<Edge, const float> r, View<Edge, float> z, SumInParts* sum) {
    const auto inverse = std::as_const(inverse_diagonal_).view();
    for_each(executor_, x_.owned(), StartedOnEdge{damping_, r, inverse, x_.view()});
    visit_product(ResidualOnEdge{r, residual_.view()});
    correction_->add(residual_, x_);
    if (gap_correction_) gap_correction_->add(residual_, x_);
    visit_product(FinishedOnEdge{factor_, damping_, inverse, r, std::as_const(x_).view(), z}, sum);
  }
  void set_coupled(const Field<Edge, float>& r, Field<Edge, float>& x) {
    correction_->set_coupled(coupled_factor_, r, x);
  }
  template <class T>
  void smooth(View<Edge, const T> r, View<Edge, const float> x, View<Edge, T> z, SumInParts* sum) {
    const SmoothedOnEdge<T> smoothed{factor_ * damping_, std::as_const(inverse_diagonal_).view(), x, r, z};
    run_and_add(executor_, x_.owned(), smoothed, sum);
  }
  bool has_gaps() const { return gaps_.has_value(); }
  Index size() const { return x_.size(); }
  const Executor& executor() const { return executor_; }

 private:
  /// What depends on one of the two matrices.
  struct Part {
    Field<Edge, float> diagonal;
    Real largest_eigenvalue;  ///< of R F C scaled to a diagonal of one
  };

  /// Whether the boundary is larger than that of a channel six times as long as wide, for as much volume.
  bool may_have_gaps() const {
    if (mesh_.topology().dimension() != 3) return false;
    const MemorySpace space = executor_.space();
    const Real area =
        sum(executor_, mesh_.topology().boundary_faces(), AreaOfFace{mesh_.geometry().face_areas(space)});
    const Real volume = sum(executor_, mesh_.domain().halo<Cell>().owned(),
                            ValueOfEntity<Cell>{mesh_.geometry().cell_volumes(space)});
    return area > 8 * std::pow(volume, Real(2) / 3);
  }

  /// Share of a residual by M that a step of refinement by this preconditioner leaves, after some steps.
  Real left_by_a_step() {
    constexpr int steps = 10;
    set(1, 0, false);
    const auto rest = right_hand_side_.view();
    const auto length = [&] {
      const auto inverse = std::as_const(inverse_diagonal_).view();
      return std::sqrt(
          sum(executor_, x_.owned(), ScaledSquareOnEdge{inverse, std::as_const(right_hand_side_).view()}));
    };
    start_from_noise();
    visit_product(ProductOnEdge{rest});
    Real before = length(), after = before;
    for (int step = 0; step < steps && after > 0; ++step) {
      before = std::exchange(after, 0);
      apply(std::as_const(right_hand_side_).view(), residual_.view(), nullptr);
      std::swap(x_, residual_);
      visit_product(ResidualOnEdge{std::as_const(right_hand_side_).view(), rest});
      after = length();
    }
    return before > 0 ? after / before : 0;
  }
  /// x is a number without pattern on each edge that depends on its name alone.
  void start_from_noise() {
    const Halo<Edge>& halo = mesh_.domain().halo<Edge>();
    std::vector<float> start(at(x_.size()));
    for (const Id<Edge> e : x_.owned())
      start[at(e.value())] = static_cast<float>(hashed_number(halo.global(e)));
    x_.copy_from_host(start);
  }

  /// k_c, of all cells that the rank has.
  void find_viscous_ratios() {
    const Executor host = Executor::serial();
    Field<Face, Real> of_face(host, flux_.extent(), "viscous ratio", "1/m2");
    const std::vector<Real> mass = mass_.diagonal(), viscous = viscous_.diagonal();
    const auto area = mesh_.geometry().face_areas();
    for (const Id<Face> f : of_face.owned()) {
      const std::size_t i = at(f.value());
      of_face.view()[f] = viscous[i] / (dot(area[i], area[i]) * mass[i]);
    }
    exchange_ghosts(mesh_.domain(), of_face);
    Field<Cell, Real> of_cell(host, mesh_.domain().extent<Cell>(), "viscous ratio", "1/m2");
    for (const Id<Cell> c : of_cell.owned()) {
      const auto faces = mesh_.topology().faces_of_cell()[c];
      Real sum = 0;
      for (const auto [f, sign] : faces) sum += of_face.view()[f];
      of_cell.view()[c] = sum / faces.size();
    }
    exchange_ghosts(mesh_.domain(), of_cell);
    viscous_ratios_ = of_cell.to_host();
    Real largest = 0;
    for (const Real of_own : *viscous_ratios_) largest = std::max(largest, of_own);
    largest_viscous_ratio_ = mesh_.domain().communicator().maximum(largest);
  }

  /// For the ratio of viscous form to mass, rounded. Corrections are made anew where others are asked for
  /// than there are.
  void set_between_nodes(Real ratio, bool coupled) {
    if (ratio > 0 && !coupled) {
      if (!viscous_ratios_) find_viscous_ratios();
      if (ratio * largest_viscous_ratio_ < felt) ratio = 0;
    }
    if (correction_ && ratio == correction_ratio_ && coupled == coupled_) return;
    // Hierarchies go before the next take their memory.
    if (correction_ && coupled && coupled_) {
      correction_->uncouple();
    } else {
      correction_.reset();
      correction_ =
          make_node_correction(executor_, mesh_, free_.to_host(), diffusion_of(coupled ? 0 : ratio));
    }
    if (coupled)
      correction_->couple(ratio, between_nodes(inertia_and_diffusion_between_nodes(mesh_, ratio), 0));
    if (gaps_ && !coupled && ratio != gap_ratio_) {
      gap_ratio_ = ratio;
      gap_correction_.reset();
      gap_correction_ = make_node_correction(executor_, mesh_, gaps_with(ratio));
    }
    correction_ratio_ = ratio;
    coupled_ = coupled;
  }

  /// What flows along gaps, with the energy that viscosity adds where ψ is: the largest share of a node's
  /// cells.
  GapStreamfunction gaps_with(Real ratio) const {
    GapStreamfunction gaps = *gaps_;
    if (ratio == 0) return gaps;
    Field<Node, Real> factor(Executor::serial(), mesh_.domain().extent<Node>(), "factor", "1");
    for (const Id<Node> n : factor.owned()) {
      Real largest = 0;
      for (const auto [c, sign] : mesh_.topology().cells_of_node()[n])
        largest = std::max(largest, (*viscous_ratios_)[at(c.value())]);
      factor.view()[n] = 1 + ratio * largest;
    }
    exchange_ghosts(mesh_.domain(), factor);
    scale(gaps.matrix, factor.to_host());
    return gaps;
  }

  /// L for this ratio.
  NodeSystem diffusion_of(Real ratio) const {
    if (ratio == 0) return between_nodes(diffusion_between_nodes(mesh_), 0);
    std::vector<Real> conductivity;
    for (const Real of_cell : *viscous_ratios_) conductivity.push_back(1 + ratio * of_cell);
    return between_nodes(diffusion_between_nodes(mesh_, conductivity), ratio);
  }

  /// Held as the diagonals of mass + ratio viscous have it.
  NodeSystem between_nodes(SymmetricMatrix matrix, Real ratio) const {
    Field<Edge, float> diagonal = alike(by_mass_->diagonal);
    for_each(executor_, diagonal.owned(),
             CombinedDiagonalOnEdge{std::as_const(by_mass_->diagonal).view(), static_cast<float>(ratio),
                                    std::as_const((ratio > 0 ? by_viscosity_ : by_mass_)->diagonal).view(),
                                    diagonal.view()});
    exchange_ghosts(mesh_.domain(), diagonal);
    return held_between_nodes(mesh_, free_.to_host(), diagonal.to_host(), std::move(matrix));
  }

  View<FacePair, const float> entries() const {
    return View<FacePair, const float>(entries_.data(), static_cast<Index>(entries_.size()));
  }

  /// F = a M + b K.
  void combine(Real a, Real b) {
    const MemorySpace space = executor_.space();
    mass_.stencil().visit_parts(space, flux_.range(), [&](Range<Face> range, auto rows) {
      for_each(
          executor_, range,
          CombinedOnFace<decltype(rows)>{
              rows, a, b, mass_.entries(space), viscous_.entries(space), mesh_.geometry().face_areas(space),
              View<FacePair, float>(entries_.data(), static_cast<Index>(entries_.size()))});
    });
  }

  /// Of mass + ratio viscous.
  void invert(const Field<Edge, float>& mass, Real ratio, const Field<Edge, float>& viscous) {
    for_each(executor_, inverse_diagonal_.owned(),
             InverseOnEdge{std::as_const(free_).view(), ratio, mass.view(), viscous.view(),
                           inverse_diagonal_.view()});
  }

  /// Of F = a M + b K.
  Part part(Real a, Real b) {
    const MemorySpace space = executor_.space();
    combine(a, b);
    Part part{alike(inverse_diagonal_), 0};
    for_each(executor_, part.diagonal.owned(),
             DiagonalOnEdge{mesh_.topology().faces_of_edge().view(space),
                            mass_.stencil().faces_of_face().view(space), entries(), part.diagonal.view()});
    invert(part.diagonal, 0, part.diagonal);
    start_from_noise();
    const auto inverse = std::as_const(inverse_diagonal_).view();
    const auto energy = [&] { return EnergyOfEdge{inverse, std::as_const(x_).view()}; };
    const auto multiply = [&](Real factor) {
      visit_product(ScaledProductOnEdge{static_cast<float>(factor), inverse, x_.view()});
    };
    part.largest_eigenvalue = largest_eigenvalue_by_powers(executor_, x_, energy, multiply);
    return part;
  }

  /// Runs `kernel(e, (R F C x)_e)` for the rank's own edges; what it returns is added to `sum`, null for
  /// nothing. Rows of F are whole for those: the rank has the cells on both sides of them with all their
  /// faces. Circulations of ghosts are brought where rows reach further.
  template <class Kernel>
  void visit_product(const Kernel& kernel, SumInParts* sum = nullptr) {
    const MemorySpace space = executor_.space();
    const auto curl = [&](Range<Face> wanted) {
      curl_.rows().visit(wanted, std::as_const(x_).view(), FluxOnFace{flux_.view()});
    };
    launch_with_ghosts(mesh_.domain(), flux_.range(), curl, x_);
    const bool brings = mass_.stencil().reaches_further();
    const Range<Face> wanted = brings ? flux_.owned() : flux_.range();
    mass_.stencil().visit_parts(space, wanted, [&](Range<Face> range, auto rows) {
      for_each(executor_, range,
               CirculationOnFace<decltype(rows)>{rows, entries(), std::as_const(flux_).view(),
                                                 circulation_.view()});
    });
    if (brings) exchange_ghosts(mesh_.domain(), circulation_);
    curl_.columns().visit(x_.owned(), std::as_const(circulation_).view(), kernel, sum);
  }

  Executor executor_;
  const Mesh& mesh_;
  const FaceMatrix &mass_, &viscous_;
  Curl curl_;
  Buffer<float> entries_;  // of F
  Buffer<Scaling> scaling_;
  Field<Edge, std::uint8_t> free_;
  Field<Edge, float> inverse_diagonal_;  // of R F C; 0 where edges are held
  Field<Edge, float> right_hand_side_, x_, residual_;
  Field<Face, float> flux_, circulation_;
  std::optional<Part> by_mass_, by_viscosity_;                   // the latter once it is needed
  std::unique_ptr<NodeCorrection> correction_, gap_correction_;  // the latter where it is needed
  std::optional<GapStreamfunction> gaps_;                        // by inertia alone; as well
  std::optional<std::vector<Real>> viscous_ratios_;              // k_c; the same
  Real largest_viscous_ratio_ = 0;
  Real ratio_ = -1;                            // of the viscous form to the mass in F
  Real correction_ratio_ = 0, gap_ratio_ = 0;  // the same in L and for gaps, rounded
  bool coupled_ = false;
  float factor_ = 1, coupled_factor_ = 1;
  float damping_ = 0;
};

AuxiliarySpace::AuxiliarySpace(const Executor& executor, const Mesh& mesh, const FaceMatrix& mass,
                               const FaceMatrix& viscous, const std::vector<std::uint8_t>& edge_is_free)
    : implementation_(std::make_unique<Implementation>(executor, mesh, mass, viscous, edge_is_free)) {}

AuxiliarySpace::~AuxiliarySpace() = default;

void AuxiliarySpace::set(Real a, Real b, bool coupled) {
  implementation_->set(a, b, coupled);
}

bool AuxiliarySpace::has_gaps() const {
  return implementation_->has_gaps();
}

void AuxiliarySpace::apply(const DualCochain<Edge>& r, PrimalCochain<Edge>& z) const {
  require_fits(r, implementation_->size(), implementation_->executor());
  require_fits(z, implementation_->size(), implementation_->executor());
  implementation_->apply(r.view(), z.view());
}
void AuxiliarySpace::apply(const Field<Edge, float, Cochain::Dual>& r, Field<Edge, float, Cochain::Primal>& z,
                           SumInParts* sum) const {
  require_fits(r, implementation_->size(), implementation_->executor());
  require_fits(z, implementation_->size(), implementation_->executor());
  implementation_->apply(r.view(), z.view(), sum);
}

void AuxiliarySpace::set_coupled(const Field<Edge, float>& r, Field<Edge, float>& x) const {
  implementation_->set_coupled(r, x);
}
template <class T>
void AuxiliarySpace::smooth(const Field<Edge, T, Cochain::Dual>& r, const Field<Edge, float>& x,
                            Field<Edge, T, Cochain::Primal>& z, SumInParts* sum) const {
  implementation_->smooth(r.view(), x.view(), z.view(), sum);
}
template void AuxiliarySpace::smooth(const Field<Edge, float, Cochain::Dual>&, const Field<Edge, float>&,
                                     Field<Edge, float, Cochain::Primal>&, SumInParts*) const;
template void AuxiliarySpace::smooth(const DualCochain<Edge>&, const Field<Edge, float>&,
                                     PrimalCochain<Edge>&, SumInParts*) const;

}  // namespace curlew
