// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/exact_fractional_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <unordered_map>

#include "kernels/entity_terms.hpp"
#include "kernels/parallel.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "mesh/parallel/slabs.hpp"
#include "physics/streamfunction/stream_preconditioner.hpp"
#include "solvers/auxiliary_space/auxiliary_space.hpp"

namespace curlew {

namespace {

template <class F>
Real largest_of(const F& field) {
  return maximum(field.executor(), field.owned(), MagnitudeOfEntity<typename F::Entity>{field.view()});
}

struct AddScaledTangentialOnFace {
  View<Face, const Vector3> area, scaled_tangential;
  View<Face, Vector3> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    velocity[f] += scaled_tangential[f] / norm(area[f]);
  }
};

template <class E>
struct RoundedOnEntity {
  Real quantum;
  View<E, Real> value;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { value[i] = quantum * std::rint(value[i] / quantum); }
};

template <class F>
void round_to_multiples(Real quantum, F& field) {
  for_each(field.executor(), field.range(), RoundedOnEntity<typename F::Entity>{quantum, field.view()});
}

/// Beyond so many loops their flows would take more memory and time than they are worth.
constexpr std::size_t most_harmonic_flows = 16;
/// More exact ones save no iterations (docs/multigrid.md).
constexpr Real harmonic_tolerance = 1e-3;

Extent loop_extent(const Mesh& mesh, std::size_t loops) {
  const Index count = static_cast<Index>(loops);
  return {count, mesh.domain().communicator().rank() == 0 ? count : 0};
}

StreamVelocity make_unknown(const Executor& executor, const Mesh& mesh, std::size_t loops) {
  return {PrimalCochain<Edge>(executor, mesh.domain().extent<Edge>(), "streamfunction", "m3/s"),
          PrimalCochain<Loop>(executor, loop_extent(mesh, loops), "harmonic flux", "m3/s"),
          FaceVelocity(executor, mesh.domain().extent<Face>(), "tangential velocity", "m3/s")};
}

Paired<StreamVelocity> make_residual(const Executor& executor, const Mesh& mesh, std::size_t loops) {
  return {DualCochain<Edge>(executor, mesh.domain().extent<Edge>(), "rotation", "m2/s2"),
          DualCochain<Loop>(executor, loop_extent(mesh, loops), "circulation round loops", "m2/s2"),
          FaceVelocity(executor, mesh.domain().extent<Face>(), "tangential force", "m2/s2")};
}

std::string name_of_loop(std::size_t loop) {
  return "last_change_of_loop_" + std::to_string(loop + 1);
}

std::vector<bool> given_faces(const FlowBoundaries& boundaries) {
  std::vector<bool> given;
  for (const FaceHold hold : boundaries.hold_of_face()) given.push_back(hold != FaceHold::Free);
  return given;
}

/// 0 for those of faces whose flux is given.
std::vector<std::uint8_t> free_edges(const Mesh& mesh, const FlowBoundaries& boundaries) {
  const Topology& topology = mesh.topology();
  Field<Edge, std::uint8_t> is_free(Executor::serial(), mesh.domain().extent<Edge>(), "free", "1");
  is_free.fill(1);
  for (const Id<Face> f : topology.faces()) {
    if (boundaries.hold_of_face()[at(f.value())] == FaceHold::Free) continue;
    for (const auto [e, sign] : topology.edges_of_face()[f]) is_free.view()[e] = 0;
  }
  // Of a ghost the rank may not have the face.
  exchange_ghosts(mesh.domain(), is_free);
  return is_free.to_host();
}

}  // namespace

ExactFractionalStep::ExactFractionalStep(const Executor& executor, const Mesh& mesh, FlowSettings settings)
    : FractionalStep(executor, mesh, std::move(settings), 1),
      tree_(mesh, given_faces(boundaries_)),
      loops_(tree_.harmonic_fluxes()),
      curl_(executor, mesh, loops_),
      edge_is_free_(free_edges(mesh, boundaries_)),
      matrices_(momentum_.matrices(), curl_, edge_is_free_),
      unknown_(make_unknown(executor, mesh, loops_.size())),
      last_change_(alike(unknown_.stream)),
      last_loops_(alike(unknown_.loop)),
      changes_(executor,
               [this](StreamVectors<float>& change) {
                 momentum_.matrices().keep_free_tangential_part(change.velocity);
               }),
      solver_(make_residual(executor, mesh, loops_.size()), settings_.streamfunction),
      change_(executor, mesh.domain().extent<Face>(), "change of flux", "m3/s"),
      velocity_(executor, change_.extent(), "change of velocity", "m/s"),
      potential_(executor, mesh.domain().extent<Cell>(), "potential", "m2/s") {
  const bool smooth = settings_.streamfunction_preconditioning == Preconditioning::Multigrid;
  find_diagonals(!smooth);
  if (smooth) {
    auto edges = std::make_unique<AuxiliarySpace>(executor, mesh, momentum_.mass().matrix(),
                                                  momentum_.viscous_form().matrix(), edge_is_free_);
    preconditioner_ =
        std::make_unique<StreamPreconditioner>(unknown_, momentum_.matrices(), std::move(edges));
  } else {
    preconditioner_ = std::make_unique<StreamPreconditioner>(unknown_);
  }
  if (smooth && !loops_.empty() && loops_.size() <= most_harmonic_flows) find_harmonic_flows();
}

ExactFractionalStep::~ExactFractionalStep() = default;

template <class SignOf>
std::pair<Real, Real> ExactFractionalStep::energies_in_cell(Id<Cell> c, const SignOf& sign_of) const {
  std::vector<Real> flux;
  std::vector<Vector3> velocity;
  for (const auto [f, outward] : mesh_.topology().faces_of_cell()[c]) {
    const Real along = sign_of(f);
    const Vector3 area = mesh_.geometry().face_areas()[at(f.value())];
    flux.push_back(outward * along);
    velocity.push_back((along / dot(area, area)) * area);
  }
  return {momentum_.mass().energy_in_cell(c, flux), momentum_.viscous_form().energy_in_cell(c, velocity)};
}

/// The energies of unit values on each edge or loop, cell by cell.
void ExactFractionalStep::find_diagonals(bool of_edges) {
  const Topology& topology = mesh_.topology();
  const Halo<Cell>& cells_of_rank = mesh_.domain().halo<Cell>();
  // Of a row of faces: what the sum through each is, and the cells about it in the order of the whole mesh.
  const auto visit_cells_about = [&](const auto& row, const auto& visit) {
    std::unordered_map<Index, Real> sign_of_face;
    std::vector<Id<Cell>> cells;
    for (const auto [f, sign] : row) {
      sign_of_face[f.value()] += sign;
      for (const auto [c, side] : topology.cells_of_face()[f]) cells.push_back(c);
    }
    std::ranges::sort(cells, {}, [&](Id<Cell> c) { return cells_of_rank.global(c); });
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    const auto sign_of = [&](Id<Face> f) {
      const auto found = sign_of_face.find(f.value());
      return found == sign_of_face.end() ? Real(0) : found->second;
    };
    for (const Id<Cell> c : cells) visit(c, sign_of);
  };
  edge_diagonal_.mass.assign(of_edges ? edge_is_free_.size() : 0, 0);
  edge_diagonal_.viscous = edge_diagonal_.mass;
  parallel_for(of_edges ? at(unknown_.stream.extent().owned) : 0, [&](std::size_t e) {
    if (!edge_is_free_[e]) return;
    visit_cells_about(topology.faces_of_edge()[Id<Edge>(static_cast<Index>(e))],
                      [&](Id<Cell> c, const auto& sign_of) {
                        const auto [mass, viscous] = energies_in_cell(c, sign_of);
                        edge_diagonal_.mass[e] += mass;
                        edge_diagonal_.viscous[e] += viscous;
                      });
  });
  for (const auto& loop : loops_) {
    std::vector<Real> mass, viscous;
    visit_cells_about(loop, [&](Id<Cell> c, const auto& sign_of) {
      if (!cells_of_rank.owned().contains(c)) return;
      const auto [by_mass, by_viscosity] = energies_in_cell(c, sign_of);
      mass.push_back(by_mass);
      viscous.push_back(by_viscosity);
    });
    loop_diagonal_.mass.push_back(sum_of_terms(mesh_.domain().communicator(), mass));
    loop_diagonal_.viscous.push_back(sum_of_terms(mesh_.domain().communicator(), viscous));
  }
  const auto areas = mesh_.geometry().face_areas().host();
  tangential_diagonal_ = momentum_.viscous_form().matrix().diagonal();
  for (std::size_t f = 0; f < tangential_diagonal_.size(); ++f) {
    const bool held = boundaries_.hold_of_face()[f] == FaceHold::All;
    tangential_diagonal_[f] = held ? 0 : tangential_diagonal_[f] / dot(areas[f], areas[f]);
  }
}

void ExactFractionalStep::find_harmonic_flows() {
  const SolverControl control{harmonic_tolerance, 0, settings_.streamfunction.max_iterations};
  RefinedConjugateGradient<StreamVelocity> solver(zero_like<Paired<StreamVelocity>>(unknown_), control);
  set_preconditioner(1, 0);
  const DualCochain<Face> circulation(executor_, change_.extent(), "circulation", "m2/s");
  auto harmonic = std::make_unique<HarmonicFlows>(unknown_);
  auto round_loop = zero_like<DualCochain<Loop>>(unknown_.loop);
  for (const Id<HarmonicFlow> k : harmonic->range()) {
    std::vector<Real> unit(loops_.size(), 0);
    unit[at(k.value())] = 1;
    round_loop.copy_from_host(unit);
    const StreamSystem::Sources sources{circulation, change_, velocity_, &round_loop};
    set_to_zero(unknown_);
    solver.solve("harmonic flux", StreamSystem(matrices_, 1, 0, &sources), *preconditioner_, unknown_, 0, {});
    harmonic->set(k, unknown_);
  }
  auto flow = zero_like<StreamVectors<float>>(unknown_);
  auto image = zero_like<Paired<StreamVectors<float>>>(unknown_);
  harmonic->set_energies(StreamSystem(matrices_, 1, 0), StreamSystem(matrices_, 0, 1), flow, image);
  preconditioner_->set_harmonic(std::move(harmonic));
  preconditioner_for_ = {-1, -1};
}

void ExactFractionalStep::set_preconditioner(Real a, Real b) {
  if (preconditioner_for_ == std::pair(a, b)) return;
  std::vector<Real> tangential(tangential_diagonal_.size());
  const auto entry = [&](Real value) {
    return settings_.streamfunction_preconditioning != Preconditioning::None || !(value > 0) ? value
                                                                                             : Real(1);
  };
  const auto combined = [&](const StreamDiagonal& diagonal) {
    std::vector<Real> sum;
    for (std::size_t k = 0; k < diagonal.mass.size(); ++k)
      sum.push_back(entry(a * diagonal.mass[k] + b * diagonal.viscous[k]));
    return sum;
  };
  for (std::size_t f = 0; f < tangential.size(); ++f) tangential[f] = entry(b * tangential_diagonal_[f]);
  preconditioner_->set(combined(edge_diagonal_), combined(loop_diagonal_), tangential, a, b);
  preconditioner_for_ = {a, b};
}

void ExactFractionalStep::solve(Real a, Real b, const DualCochain<Face>& r, const PrimalCochain<Face>& flux,
                                FaceVelocity& velocity, bool of_step, FlowStepReport& report) {
  set_preconditioner(a, b);
  exchange_ghosts(mesh_.domain(), flux, velocity, r);
  const StreamSystem::Sources sources{r, flux, velocity};
  const StreamSystem mass(matrices_, 1, 0);
  Recall<StreamVectors<float>> recall;
  if (of_step) recall = {&changes_, {a, b, &mass}};
  // Curls of circulations that are gradients, as by a uniform force, are rounding and nothing else: that of a
  // face goes to up to four edges.
  constexpr Real rounding = 8 * std::numeric_limits<Real>::epsilon();
  add(report, "streamfunction",
      solver_.solve("streamfunction", StreamSystem(matrices_, a, b, &sources), *preconditioner_, unknown_,
                    rounding * momentum_.matrices().norm_of_circulation(a, b, r, flux, velocity), recall));
  for_each(executor_, velocity.range(),
           AddScaledTangentialOnFace{mesh_.geometry().face_areas(executor_.space()),
                                     std::as_const(unknown_.velocity).view(), velocity.view()});
}

void ExactFractionalStep::solve_step(Real a, Real b, DualCochain<Face>& r, FaceVelocity*, Level& level,
                                     SolveOf of, FlowStepReport& report) {
  const bool of_step = of == SolveOf::Step;
  if (of != SolveOf::UnitForce) make_divergence_free(level.flux, report);
  if (of_step) {
    copy(last_change_, unknown_.stream);
    copy(last_loops_, unknown_.loop);
    linear_combination(0, last_change_, step_ratio(), unknown_.stream);
    linear_combination(0, last_loops_, step_ratio(), unknown_.loop);
  } else {
    unknown_.stream.fill(0);
    unknown_.loop.fill(0);
  }
  unknown_.velocity.fill(Vector3{});
  solve(a, b, r, level.flux, level.velocity, of_step, report);
  if (of_step) {
    copy(unknown_.stream, last_change_);
    copy(unknown_.loop, last_loops_);
  }
  // A response to a unit force may be larger than all flow: its multiples are rounded where they are added.
  if (of != SolveOf::UnitForce) {
    const Real largest =
        std::max({largest_of(unknown_.stream), largest_of(unknown_.loop), largest_of(level.flux)});
    if (widen_quantum(largest)) settle(level.flux);
    if (quantum_ > 0) {
      round_to_multiples(quantum_, unknown_.stream);
      round_to_multiples(quantum_, unknown_.loop);
    }
  }
  curl_.apply(unknown_.stream, unknown_.loop, change_);
  linear_combination(1, change_, 1, level.flux);
}

void ExactFractionalStep::solve_mass(const DualCochain<Face>& r, PrimalCochain<Face>& flux,
                                     DualCochain<Cell>&, FlowStepReport& report) {
  set_to_zero(unknown_);
  velocity_.fill(Vector3{});
  solve(1, 0, r, flux, velocity_, false, report);
  curl_.apply(unknown_.stream, unknown_.loop, change_);
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
  if (quantum_ > 0) settle(flux);  // else the potential flow took all there was
}

bool ExactFractionalStep::widen_quantum(Real largest) {
  // Sums stay exact below 2^53 quanta; a few bits are for the sums, a few for the flow to grow.
  constexpr int most_bits = 49, bits = 45;
  if (!(largest > 0) || !std::isfinite(largest)) return false;
  if (quantum_ > 0 && std::ldexp(quantum_, most_bits) > largest) return false;
  set_quantum(std::ldexp(Real(1), std::ilogb(largest) + 1 - bits));
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

void ExactFractionalStep::forget() {
  changes_.clear();
  last_change_.fill(0);
  last_loops_.fill(0);
}

void ExactFractionalStep::set_quantum(Real quantum) {
  quantum_ = quantum;
  boundaries_.set_quantum(quantum);
}

void ExactFractionalStep::add_to(FlowState& state) const {
  state.numbers["quantum"] = quantum_;
  store(mesh_.domain(), last_change_, "last_change", state);
  const std::vector<Real> loops = last_loops_.to_host();
  for (std::size_t l = 0; l < loops.size(); ++l) state.numbers[name_of_loop(l)] = loops[l];
  store(
      mesh_.domain(), changes_, [this] { return alike(solver_.like()); }, "streamfunction_change", state);
}

void ExactFractionalStep::resume_from(const FlowState& state) {
  const auto array = state.arrays.find("last_change");
  bool fits = array != state.arrays.end();
  const auto number = [&](const std::string& name) {
    const auto found = state.numbers.find(name);
    fits = fits && found != state.numbers.end();
    return fits ? found->second : Real(0);
  };
  const Real quantum = number("quantum");
  std::vector<Real> loops;
  for (std::size_t l = 0; l < loops_.size(); ++l) {  // more of them where a wall has become an outlet
    const auto found = state.numbers.find(name_of_loop(l));
    loops.push_back(found == state.numbers.end() ? 0 : found->second);
  }
  if (!fits) throw InputError("the earlier run was not one of the exact fractional step on this mesh");
  numbers_from_slabs(mesh_.domain(), array->second.values(), last_change_);
  last_loops_.copy_from_host(loops);
  set_quantum(quantum);
  StreamVectors<float> change = alike(solver_.like());
  restore(mesh_.domain(), state, "streamfunction_change", changes_, change);
}

}  // namespace curlew
