// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/exact_fractional_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "kernels/parallel.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/harmonic_fluxes.hpp"
#include "solvers/auxiliary_space.hpp"

namespace curlew {

namespace {

template <class E>
struct MagnitudeOfEntity {
  View<E, const Real> value;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return value[i] < 0 ? -value[i] : value[i]; }
};

template <class F>
Real largest_of(const F& field) {
  return maximum(field.executor(), field.range(), MagnitudeOfEntity<typename F::Entity>{field.view()});
}

/// v = S U / A² + (A t) / A.
struct ChangeOfVelocityOnFace {
  View<Face, const Vector3> area;
  View<Face, const Real> flux;
  View<Face, const Vector3> scaled_tangential;
  View<Face, Vector3> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 s = area[f];
    velocity[f] = (flux[f] / dot(s, s)) * s + scaled_tangential[f] / norm(s);
  }
};

struct AddTangentialOnFace {
  View<Face, const Vector3> area, scaled_tangential;
  View<Face, Vector3> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    velocity[f] += scaled_tangential[f] / norm(area[f]);
  }
};

/// Splits the force on face velocities: a (M U) + b n.(K v) / A as a circulation, and b (K v)_t / A on faces
/// whose tangential velocity is free.
struct SplitForceOnFace {
  Real mass_factor, viscous_factor;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area, viscous_force;
  View<Face, Real> circulation;  // holds M U
  View<Face, Vector3> tangential;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    const Vector3 s = area[f], force = viscous_factor * viscous_force[f];
    const Real along = dot(force, s) / dot(s, s);
    circulation[f] = mass_factor * circulation[f] + along;
    tangential[f] = hold[f] == FaceHold::All ? Vector3{} : (force - along * s) / norm(s);
  }
};

struct FreePartOnEdge {
  View<Edge, const std::uint8_t> free;
  View<Edge, Real> value;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    if (!free[e]) value[e] = 0;
  }
};

struct RoundedOnEdge {
  Real quantum;
  View<Edge, Real> value;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const { value[e] = quantum * std::rint(value[e] / quantum); }
};

struct ScaledOnEdge {
  View<Edge, const Real> scale, from;
  View<Edge, Real> to;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const { to[e] = scale[e] * from[e]; }
};

struct ScaledOnFace {
  View<Face, const Real> scale;
  View<Face, const Vector3> from;
  View<Face, Vector3> to;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { to[f] = scale[f] * from[f]; }
};

struct ScaledSquareOfFace {
  View<Face, const Real> scale;
  View<Face, const Vector3> v;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const { return scale[f] * scale[f] * dot(v[f], v[f]); }
};

std::vector<bool> given_faces(const FlowBoundaries& boundaries) {
  std::vector<bool> given;
  for (const FaceHold hold : boundaries.hold_of_face()) given.push_back(hold != FaceHold::Free);
  return given;
}

}  // namespace

/// Diagonal scaling of both fields, and for the streamfunction the smooth part of the mass.
class ExactFractionalStep::StreamPreconditioner : public Preconditioner<StreamVelocity> {
 public:
  /// `smooth`: null for the diagonals alone.
  StreamPreconditioner(const Executor& executor, Index edges, Index faces,
                       std::unique_ptr<AuxiliarySpace> smooth)
      : stream_(executor, edges, "inverse diagonal", "1"),
        velocity_(executor, faces, "inverse diagonal", "1"),
        smooth_(std::move(smooth)) {}
  /// A diagonal of 0 stands for a value that is held; `mass_factor` is that of the mass in the system.
  void set(std::span<const Real> stream, std::span<const Real> velocity, Real mass_factor) {
    mass_factor_ = mass_factor;
    const auto invert = [](std::span<const Real> diagonal, auto& field) {
      std::vector<Real> inverse;
      for (const Real entry : diagonal) inverse.push_back(entry > 0 ? 1 / entry : 0);
      field.copy_from_host(inverse);
    };
    invert(stream, stream_);
    invert(velocity, velocity_);
  }
  void apply(const Paired<StreamVelocity>& r, StreamVelocity& z) const override {
    for_each(stream_.executor(), stream_.range(),
             ScaledOnEdge{stream_.view(), r.stream.view(), z.stream.view()});
    for_each(velocity_.executor(), velocity_.range(),
             ScaledOnFace{velocity_.view(), r.velocity.view(), z.velocity.view()});
    if (smooth_ && mass_factor_ > 0) smooth_->add(1 / mass_factor_, r.stream, z.stream);
  }

 private:
  Field<Edge> stream_;
  Field<Face> velocity_;
  std::unique_ptr<AuxiliarySpace> smooth_;
  Real mass_factor_ = 0;
};

/// [C Z]ᵀ (a M U + b K v) and the tangential part of b K v, U = [C Z] s.
class ExactFractionalStep::System : public Operator<StreamVelocity, Paired<StreamVelocity>> {
 public:
  System(ExactFractionalStep& step, Real a, Real b) : step_(step), a_(a), b_(b) {}
  void apply(const StreamVelocity& x, Paired<StreamVelocity>& y) const override {
    ExactFractionalStep& e = step_;
    const auto area = e.mesh_.geometry().face_areas(e.executor_.space());
    e.curl_->apply(x.stream, e.change_);
    for_each(
        e.executor_, x.velocity.range(),
        ChangeOfVelocityOnFace{area, std::as_const(e.change_).view(), x.velocity.view(), e.velocity_.view()});
    apply_to(e.change_, e.velocity_, y);
  }
  void apply_transpose(const StreamVelocity& x, Paired<StreamVelocity>& y) const override { apply(x, y); }

  /// The same from fluxes and face velocities.
  void apply_to(const PrimalCochain<Face>& flux, const FaceVelocity& velocity,
                Paired<StreamVelocity>& y) const {
    ExactFractionalStep& e = step_;
    e.momentum_.mass().apply(flux, e.circulation_);
    if (b_ != 0) e.momentum_.viscous_form().apply(velocity, e.force_);
    for_each(e.executor_, velocity.range(),
             SplitForceOnFace{a_, b_, e.boundaries_.hold().view(),
                              e.mesh_.geometry().face_areas(e.executor_.space()),
                              std::as_const(e.force_).view(), e.circulation_.view(), y.velocity.view()});
    rotation_of(e.circulation_, y.stream);
  }
  void rotation_of(const DualCochain<Face>& circulation, DualCochain<Edge>& rotation) const {
    step_.curl_->apply_transpose(circulation, rotation);
    for_each(step_.executor_, rotation.range(), FreePartOnEdge{step_.free_->view(), rotation.view()});
  }

 private:
  ExactFractionalStep& step_;
  Real a_, b_;
};

ExactFractionalStep::ExactFractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings)
    : FractionalStep(executor, mesh, std::move(settings), 1),
      tree_(mesh.topology(), given_faces(boundaries_)),
      change_(executor, mesh.topology().faces().size(), "change of flux", "m3/s"),
      circulation_(executor, change_.size(), "circulation", "m3/s2"),
      velocity_(executor, change_.size(), "change of velocity", "m/s"),
      force_(executor, change_.size(), "viscous force", "m3/s2"),
      friction_scale_(executor, change_.size(), "scale of friction", "1"),
      potential_(executor, mesh.topology().cells().size(), "potential", "m2/s") {
  find_curl();
  find_diagonals();
  const Index edges = static_cast<Index>(edge_is_free_.size());
  free_.emplace(executor, edges, "free", "1");
  free_->copy_from_host(edge_is_free_);
  unknown_.emplace(StreamVelocity{PrimalCochain<Edge>(executor, edges, "streamfunction", "m3/s"),
                                  FaceVelocity(executor, change_.size(), "tangential velocity", "m3/s")});
  right_hand_side_.emplace(
      Paired<StreamVelocity>{DualCochain<Edge>(executor, edges, "rotation", "m3/s2"),
                             FaceVelocity(executor, change_.size(), "tangential force", "m3/s2")});
  image_.emplace(alike(*right_hand_side_));
  last_change_.emplace(alike(unknown_->stream));
  solver_.emplace("streamfunction", settings_.streamfunction, alike(*right_hand_side_), alike(*unknown_));
  std::unique_ptr<AuxiliarySpace> smooth;
  const bool periodic = !mesh.topology().periodic_faces().empty();  // where nodes have no one position
  if (settings_.streamfunction_preconditioning == Preconditioning::Multigrid && !periodic)
    smooth = std::make_unique<AuxiliarySpace>(executor, mesh, edge_is_free_);
  preconditioner_ =
      std::make_unique<StreamPreconditioner>(executor, edges, change_.size(), std::move(smooth));
}

ExactFractionalStep::~ExactFractionalStep() = default;

void ExactFractionalStep::find_curl() {
  const Topology& topology = mesh_.topology();
  const auto loops = harmonic_fluxes(topology, tree_);
  loops_ = static_cast<Index>(loops.size());
  const Index edges = topology.edges().size();

  edge_is_free_.assign(at(edges + loops_), 1);
  for (const Id<Face> f : topology.faces()) {
    if (tree_.is_free(f)) continue;
    for (const auto [e, sign] : topology.edges_of_face()[f]) edge_is_free_[at(e.value())] = 0;
  }
  if (loops_ == 0) {
    edges_of_face_ = topology.edges_of_face();
    faces_of_edge_ = topology.faces_of_edge();
  } else {
    std::vector<Index> starts{0}, entries;
    for (const Id<Edge> e : topology.edges()) {
      for (const auto [f, sign] : topology.faces_of_edge()[e])
        entries.push_back(incidence_entry::make(f.value(), sign < 0));
      starts.push_back(static_cast<Index>(entries.size()));
    }
    for (const auto& loop : loops) {
      for (const auto& [f, sign] : loop) entries.push_back(incidence_entry::make(f.value(), sign < 0));
      starts.push_back(static_cast<Index>(entries.size()));
    }
    faces_of_edge_ = IncidenceTable<Edge, Face>(std::move(starts), std::move(entries));
    edges_of_face_ = transpose(faces_of_edge_, topology.faces().size());
  }
  curl_ = std::make_unique<CurlWithLoops>(executor_, edges_of_face_, faces_of_edge_);
}

/// The energies of unit values on each edge or loop, cell by cell.
void ExactFractionalStep::find_diagonals() {
  const Topology& topology = mesh_.topology();
  const auto areas = mesh_.geometry().face_areas().host();
  mass_diagonal_.assign(edge_is_free_.size(), 0);
  viscous_diagonal_ = mass_diagonal_;
  parallel_for(edge_is_free_.size(), [&](std::size_t e) {
    if (!edge_is_free_[e]) return;
    std::unordered_map<Index, Real> sign_of_face;
    std::vector<Index> cells;
    for (const auto [f, sign] : faces_of_edge_[Id<Edge>(static_cast<Index>(e))]) {
      sign_of_face[f.value()] += sign;
      for (const auto [c, side] : topology.cells_of_face()[f]) cells.push_back(c.value());
    }
    std::ranges::sort(cells);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    std::vector<Real> flux;
    std::vector<Vector3> velocity;
    for (const Index cell : cells) {
      const Id<Cell> c(cell);
      flux.clear();
      velocity.clear();
      for (const auto [f, outward] : topology.faces_of_cell()[c]) {
        const auto found = sign_of_face.find(f.value());
        const Real along = found == sign_of_face.end() ? 0 : found->second;
        const Vector3 area = areas[at(f.value())];
        flux.push_back(outward * along);
        velocity.push_back((along / dot(area, area)) * area);
      }
      mass_diagonal_[e] += momentum_.mass().energy_in_cell(c, flux);
      viscous_diagonal_[e] += momentum_.viscous_form().energy_in_cell(c, velocity);
    }
  });
  tangential_diagonal_ = momentum_.viscous_form().matrix().diagonal();
  std::vector<Real> friction(tangential_diagonal_.size());
  for (std::size_t f = 0; f < tangential_diagonal_.size(); ++f) {
    const bool held = boundaries_.hold_of_face()[f] == FaceHold::All;
    friction[f] = tangential_diagonal_[f] / norm(areas[f]);
    tangential_diagonal_[f] = held ? 0 : tangential_diagonal_[f] / dot(areas[f], areas[f]);
  }
  friction_scale_.copy_from_host(friction);
}

void ExactFractionalStep::set_preconditioner(Real a, Real b) {
  if (preconditioner_for_ == std::pair(a, b)) return;
  std::vector<Real> stream(mass_diagonal_.size()), tangential(tangential_diagonal_.size());
  const auto entry = [&](Real value) {
    return settings_.streamfunction_preconditioning != Preconditioning::None || !(value > 0) ? value
                                                                                             : Real(1);
  };
  for (std::size_t e = 0; e < stream.size(); ++e)
    stream[e] = entry(a * mass_diagonal_[e] + b * viscous_diagonal_[e]);
  for (std::size_t f = 0; f < tangential.size(); ++f) tangential[f] = entry(b * tangential_diagonal_[f]);
  preconditioner_->set(stream, tangential, a);
  preconditioner_for_ = {a, b};
}

void ExactFractionalStep::solve(Real a, Real b, const DualCochain<Face>& r, const PrimalCochain<Face>& flux,
                                FaceVelocity& velocity, FlowStepReport& report) {
  set_preconditioner(a, b);
  const System system(*this, a, b);
  momentum_.set_normal_part(flux, velocity);
  system.apply_to(flux, velocity, *image_);
  system.rotation_of(r, right_hand_side_->stream);
  // What drives the change: the reference keeps its size when the change becomes small.
  ResidualScale scale;
  scale.reference = std::sqrt(inner_product(right_hand_side_->stream, right_hand_side_->stream) +
                              inner_product(*image_, *image_));
  scale.rounding =
      4 * std::numeric_limits<Real>::epsilon() *
      std::max(scale.reference, b * std::sqrt(sum(executor_, velocity.range(),
                                                  ScaledSquareOfFace{std::as_const(friction_scale_).view(),
                                                                     std::as_const(velocity).view()})));
  linear_combination(-1, image_->stream, 1, right_hand_side_->stream);
  linear_combination(-1, image_->velocity, 0, right_hand_side_->velocity);
  add(report, "streamfunction",
      solver_->solve(system, *preconditioner_, *right_hand_side_, *unknown_, scale));
  for_each(executor_, velocity.range(),
           AddTangentialOnFace{mesh_.geometry().face_areas(executor_.space()),
                               std::as_const(unknown_->velocity).view(), velocity.view()});
}

void ExactFractionalStep::solve_step(Real a, Real b, DualCochain<Face>& r, Level& level, bool main,
                                     FlowStepReport& report) {
  make_divergence_free(level.flux, report);
  if (main) {
    copy(*last_change_, unknown_->stream);
    linear_combination(0, *last_change_, step_ratio(), unknown_->stream);
  } else {
    unknown_->stream.fill(0);
  }
  unknown_->velocity.fill(Vector3{});
  solve(a, b, r, level.flux, level.velocity, report);
  if (main) copy(unknown_->stream, *last_change_);
  if (widen_quantum(std::max(largest_of(unknown_->stream), largest_of(level.flux)))) settle(level.flux);
  if (quantum_ > 0) {
    for_each(executor_, unknown_->stream.range(), RoundedOnEdge{quantum_, unknown_->stream.view()});
  }
  curl_->apply(unknown_->stream, change_);
  linear_combination(1, change_, 1, level.flux);
}

void ExactFractionalStep::solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux,
                                     DualCochain<Cell>&, FlowStepReport& report) {
  unknown_->stream.fill(0);
  unknown_->velocity.fill(Vector3{});
  velocity_.fill(Vector3{});
  solve(1, 0, r, flux, velocity_, report);
  curl_->apply(unknown_->stream, change_);
  linear_combination(1, change_, 1, flux);
}

void ExactFractionalStep::make_divergence_free(PrimalCochain<Face>& flux, FlowStepReport& report) {
  const DivergenceNorms divergence = projection_.divergence_of(flux);
  if (divergence.max == 0) return;
  // A potential flow takes the larger part, so that little is left to go through few faces of the tree.
  constexpr Real little = 1e-10;
  if (divergence.l2 > little) {
    potential_.fill(0);
    add(report, "pressure", projection_.project(1, flux, potential_));
  }
  widen_quantum(largest_of(flux));
  settle(flux);
}

bool ExactFractionalStep::widen_quantum(Real largest) {
  // Sums stay exact below 2^53 quanta; a few bits are for the sums, a few for the flow to grow.
  constexpr int most_bits = 49, bits = 45;
  if (!(largest > 0) || !std::isfinite(largest)) return false;
  if (quantum_ > 0 && std::ldexp(quantum_, most_bits) > largest) return false;
  quantum_ = std::ldexp(Real(1), std::ilogb(largest) + 1 - bits);
  boundaries_.set_quantum(quantum_);
  return true;
}

void ExactFractionalStep::settle(PrimalCochain<Face>& flux) {
  // Given fluxes come from the boundary, rounded there.
  boundaries_.impose(flux, velocity_);
  std::vector<Real> values = flux.to_host();
  for (Real& value : values) value = quantum_ * std::rint(value / quantum_);
  tree_.balance(values);
  flux.copy_from_host(values);
}

void ExactFractionalStep::add_to(FlowState& state) const {
  state.numbers["quantum"] = quantum_;
  state.arrays["last_change"] = last_change_->to_host();
}

void ExactFractionalStep::resume_from(const FlowState& state) {
  const auto array = state.arrays.find("last_change");
  const auto number = state.numbers.find("quantum");
  if (array == state.arrays.end() || number == state.numbers.end() ||
      array->second.size() != at(last_change_->size())) {
    throw InputError("the earlier run was not one of the exact fractional step on this mesh");
  }
  last_change_->copy_from_host(array->second);
  quantum_ = number->second;
  boundaries_.set_quantum(quantum_);
}

}  // namespace curlew
