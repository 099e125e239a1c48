// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/heat_diffusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/entity_terms.hpp"
#include "kernels/parallel.hpp"
#include "kernels/reduction.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "mesh/where.hpp"
#include "operators/node_diffusion_kernels.hpp"
#include "physics/heat/heat_diffusion_kernels.hpp"
#include "physics/heat/tied_parts.hpp"
#include "solvers/null_space.hpp"
#include "solvers/preconditioners.hpp"

namespace curlew {

namespace {

const std::string convection_in_state = guess_prefix + "preconditioner_convection";

std::vector<Real> conductivity_of_cells(const Mesh& mesh, const HeatSettings& settings) {
  REQUIRE(settings.materials.size() == mesh.topology().region_names().size(),
          "a heat model needs one material per region of the mesh");
  REQUIRE(settings.boundaries.size() == mesh.topology().patches().size(),
          "a heat model needs one boundary condition per patch of the mesh");
  std::vector<Real> conductivity(at(mesh.topology().cells().size()));
  for (std::size_t c = 0; c < conductivity.size(); ++c) {
    conductivity[c] = settings.materials[at(mesh.topology().region_of_cell()[c])].conductivity;
  }
  return conductivity;
}

}  // namespace

Real HeatBalance::imbalance() const {
  return source - stored - std::accumulate(outflow.begin(), outflow.end(), Real(0));
}

Real HeatBalance::throughput() const {
  Real sum = std::abs(source) + std::abs(stored);
  for (const Real heat : outflow) sum += std::abs(heat);
  return sum / 2;
}

/// The matrix of one step, as an operator.
class HeatDiffusion::System : public FusedOperator<PrimalCochain<Node>> {
 public:
  System(const HeatDiffusion& heat, Real per_step, Real implicit_weight)
      : heat_(heat), per_step_(per_step), implicit_weight_(implicit_weight) {}
  void apply(const PrimalCochain<Node>& x, DualCochain<Node>& y) const override { apply_to(x, y, nullptr); }
  void apply_with_product(const PrimalCochain<Node>& x, DualCochain<Node>& y,
                          SumInParts& product) const override {
    apply_to(x, y, &product);
  }
  void apply_transpose(const PrimalCochain<Node>& x, DualCochain<Node>& y) const override { apply(x, y); }

 private:
  void apply_to(const PrimalCochain<Node>& x, DualCochain<Node>& y, SumInParts* product) const {
    const HeatSystemOnNode kernel{per_step_,
                                  implicit_weight_,
                                  heat_.capacity_.view(),
                                  heat_.load_.convection().view(),
                                  heat_.load_.held().view(),
                                  x.view(),
                                  y.view()};
    const auto apply_on = [&](Range<Node> nodes) {
      heat_.diffusion_.visit_outflow(nodes, x, kernel, product);
    };
    launch_with_ghosts(heat_.mesh_.domain(), x.owned(), apply_on, x);
  }

  const HeatDiffusion& heat_;
  Real per_step_, implicit_weight_;
};

/// The matrix's part that goes with 1/dt, as an operator.
class HeatDiffusion::Capacity : public Operator<PrimalCochain<Node>, DualCochain<Node>> {
 public:
  explicit Capacity(const HeatDiffusion& heat) : heat_(heat) {}
  void apply(const PrimalCochain<Node>& x, DualCochain<Node>& y) const override {
    for_each(heat_.executor_, x.owned(),
             CapacityOnNode{heat_.capacity_.view(), heat_.load_.held().view(), x.view(), y.view()});
  }
  void apply_transpose(const PrimalCochain<Node>& x, DualCochain<Node>& y) const override { apply(x, y); }

 private:
  const HeatDiffusion& heat_;
};

void require_cells_to_conduct(const Mesh& mesh) {
  constexpr Real flattest = 1e8;
  const Topology& topology = mesh.topology();
  const auto positions = mesh.geometry().node_positions(MemorySpace::Host);
  const auto nodes_of_cell = topology.nodes_of_cell().view(MemorySpace::Host);
  for (const Id<Cell> c : topology.cells()) {
    const CellType type = topology.cell_type(c);
    if (type != CellType::Quadrilateral && type != CellType::Hexahedron && type != CellType::Prism) continue;
    std::array<Vector3, 8> corners;
    std::size_t count = 0;
    for (const auto [n, sign] : nodes_of_cell[c]) corners[count++] = positions[n];
    Real shortest = std::numeric_limits<Real>::infinity(), longest = 0;  // squares [m2]
    for (std::size_t a = 0; a < count; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Vector3 side = corners[a] - corners[b];
        shortest = std::min(shortest, dot(side, side));
        longest = std::max(longest, dot(side, side));
      }
    }
    if (longest > flattest * flattest * shortest)
      throw InputError(fmt::format(
          "the cell at {} is {:.1e} times as long as high: too flat for what heat is conducted along it to "
          "be computed; make it less than {:.0e} times as long, or of triangles or tetrahedra",
          where(mesh.geometry().cell_centroids()[at(c.value())]), std::sqrt(longest / shortest), flattest));
  }
}

HeatDiffusion::HeatDiffusion(const Executor& executor, const Mesh& mesh, HeatSettings settings)
    : executor_(executor),
      mesh_(mesh),
      settings_(std::move(settings)),
      conductivity_(conductivity_of_cells(mesh, settings_)),
      diffusion_(executor, mesh, conductivity_),
      temperature_(executor, mesh.domain().extent<Node>(), "temperature", "K"),
      previous_(executor, temperature_.extent(), "previous temperature", "K"),
      capacity_(executor, temperature_.extent(), "heat capacity", "J/K"),
      volume_(executor, temperature_.extent(), "dual volume", "m3"),
      load_(executor, mesh, settings_),
      inflow_(executor, temperature_.extent(), "inflow", "W"),
      previous_inflow_(executor, temperature_.extent(), "previous inflow", "W"),
      change_(executor, temperature_.extent(), "change", "K"),
      sought_(executor, temperature_.extent(), "heat sought", "W"),
      conductance_(executor, temperature_.extent(), "conductance", "W/K"),
      diagonal_(executor, temperature_.extent(), "diagonal", "W/K"),
      left_over_(executor, temperature_.extent(), "heat left over", "J"),
      supplied_(executor, temperature_.extent(), "supplied heat", "W"),
      solver_(executor, temperature_.extent(), "temperature", settings_.solver) {
  REQUIRE(mesh_.domain().communicator().ranks() == 1 || executor_.ranks() != nullptr,
          "heat diffusion on a divided mesh needs an executor among its ranks");
  require_cells_to_conduct(mesh);
  std::vector<Real> capacity;  // of each cell [J/(m3 K)]
  for (const Index region : mesh_.topology().region_of_cell().host())
    capacity.push_back(settings_.materials[at(region)].volumetric_heat_capacity);
  Field<Cell> capacity_of_cells(executor, mesh.domain().extent<Cell>(), "heat capacity", "J/(m3 K)");
  capacity_of_cells.copy_from_host(capacity);
  NodeIntegral(executor, mesh).apply(capacity_of_cells, capacity_);
  conductance_.copy_from_host(diffusion_.diagonal());
  const auto volumes = mesh_.geometry().node_volumes().host();
  volume_.copy_from_host(volumes);
  total_volume_ = sum(executor_, volume_.owned(), ValueOfEntity<Node>{std::as_const(volume_).view()});

  balance_.outflow.assign(mesh_.topology().patches().size(), 0);
}

HeatDiffusion::~HeatDiffusion() = default;

void HeatDiffusion::start(const SpaceTimeFunction& temperature, Real time) {
  std::vector<Real> values(at(temperature_.size()));
  temperature.evaluate(mesh_.geometry().node_positions().host(), time, values);
  temperature_.copy_from_host(values);
  left_over_.fill(0);
  last_step_ = 0;
  held_jumped_late_ = false;
  begin(time, 0);
}

/// Boundary values and sources of `time`.
void HeatDiffusion::take_load(Real time) {
  if (!load_.update(time)) return;
  diagonal_for_.reset();
  if (history_) history_->renew();
}

void HeatDiffusion::begin(Real time, std::int64_t steps) {
  time_ = time;
  steps_ = steps;
  forget_guesses();
  take_load(time);
  compute_inflow();
  previous_patch_outflow_ = patch_outflow_;
  balance_ = {patch_outflow_, load_.source(), 0};
  for (std::size_t p = 0; p < balance_.outflow.size(); ++p) {
    if (std::holds_alternative<FixedTemperature>(settings_.boundaries[p]))
      balance_.outflow[p] = std::numeric_limits<Real>::quiet_NaN();
  }
}

RunState HeatDiffusion::state() const {
  RunState state;
  state.time = time_;
  state.steps = steps_;
  store(mesh_.domain(), temperature_, "temperature", state);
  store(mesh_.domain(), left_over_, "heat_left_over", state);
  state.numbers["last_step"] = last_step_;
  state.numbers["held_jumped_late"] = held_jumped_late_ ? 1 : 0;
  if (convection_preconditioned_ && load_.convection_depends_on_time())
    store(mesh_.domain(), *convection_preconditioned_, convection_in_state, state);
  if (history_) history_->add_to(state);
  return state;
}

void HeatDiffusion::resume(const RunState& state) {
  restore(mesh_.domain(), state, "temperature", temperature_);
  if (state.arrays.contains("heat_left_over"))
    restore(mesh_.domain(), state, "heat_left_over", left_over_);
  else
    left_over_.fill(0);
  begin(state.time, state.steps);
  const auto number = [&](const char* name) {
    const auto found = state.numbers.find(name);
    return found == state.numbers.end() ? 0 : found->second;
  };
  last_step_ = number("last_step");
  // Temperatures that are given now may be others than those that the earlier run ended with.
  const Real jump = maximum(executor_, temperature_.owned(),
                            DistanceFromHeldOnNode{load_.held().view(), load_.held_temperature().view(),
                                                   std::as_const(temperature_).view()});
  held_jumped_late_ = number("held_jumped_late") != 0 || jump > 0;
  if (state.arrays.contains(convection_in_state)) {
    convection_preconditioned_.emplace(executor_, temperature_.extent(), "convection", "W/K");
    restore(mesh_.domain(), state, convection_in_state, *convection_preconditioned_);
  }
  history().resume_from(state);
}

HeatHistory& HeatDiffusion::history() {
  if (!history_) {
    history_ = std::make_unique<HeatHistory>(mesh_.domain(), temperature_, load_.held(),
                                             std::make_unique<Capacity>(*this),
                                             std::make_unique<System>(*this, 0, 1));
  }
  return *history_;
}

/// Inflow at the present time and temperature.
void HeatDiffusion::set_inflow() {
  exchange_ghosts(mesh_.domain(), temperature_);
  diffusion_.visit_outflow(temperature_.range(), temperature_,
                           InflowOnNode{load_.at_nodes().view(), load_.convection().view(),
                                        std::as_const(temperature_).view(), inflow_.view()});
}

/// The same, and the outflow through patches, as far as it follows from the temperatures.
void HeatDiffusion::compute_inflow() {
  set_inflow();
  patch_outflow_ = load_.outflows(temperature_);
}

/// The preconditioner changes with the step and with convection only. It takes the step to single precision:
/// steps of one length differ by rounding where their length is not given. Convection that changes a little
/// in every step is not worth a new one: conduction being the same, and positive semidefinite, the condition
/// number grows no more than by the ratio of the greatest to the smallest factor by which storage and
/// convection of a node have changed.
void HeatDiffusion::set_preconditioner(Real per_step, Real implicit_weight, bool singular) {
  per_step =
      static_cast<Real>(static_cast<float>(std::min<Real>(per_step, std::numeric_limits<float>::max())));
  const std::pair<Real, Real> now{per_step, implicit_weight};
  if (diagonal_for_ != now) {
    for_each(
        executor_, diagonal_.range(),
        DiagonalOnNode{per_step, implicit_weight, std::as_const(capacity_).view(), load_.convection().view(),
                       std::as_const(conductance_).view(), load_.held().view(), diagonal_.view()});
    diagonal_for_ = now;
    constexpr Real most_of_condition = 2;
    if (!convection_preconditioned_ ||
        !(change_of_convection(per_step, implicit_weight) <= most_of_condition)) {
      convection_preconditioned_.emplace(executor_, temperature_.extent(), "convection", "W/K");
      copy(load_.convection(), *convection_preconditioned_);
      preconditioner_for_.reset();
    }
  }
  if (preconditioner_for_ == now) return;
  SymmetricMatrix matrix = diffusion_.matrix();
  const std::vector<Real> capacity = capacity_.to_host(), convection = convection_preconditioned_->to_host();
  const auto is_free = [&](std::size_t n) { return !load_.held_on_host()[n]; };
  parallel_for(capacity.size(), [&](std::size_t n) {
    matrix.diagonal[n] =
        !is_free(n) ? Real(0)
                    : per_step * capacity[n] + implicit_weight * (matrix.diagonal[n] + convection[n]);
    for (Index k = matrix.off_diagonal.starts[n]; k < matrix.off_diagonal.starts[n + 1]; ++k) {
      const bool free = is_free(n) && is_free(at(matrix.off_diagonal.columns[at(k)]));
      matrix.off_diagonal.values[at(k)] *= free ? implicit_weight : Real(0);
    }
  });
  // Of a body that hardly anything ties to a temperature the lowest eigenvalue, in a long step, is lost in
  // the rounding of the rest: it is for conjugate gradients to find.
  constexpr Real least_eigenvalue = 1e-9;
  for (Real& entry : matrix.diagonal) entry *= singular ? 1 : 1 + least_eigenvalue;
  preconditioner_.reset();  // the old one goes before the new one takes its memory
  preconditioner_ = make_preconditioner<PrimalCochain<Node>>(settings_.preconditioning, executor_,
                                                             mesh_.domain(), std::move(matrix));
  preconditioner_for_ = now;
}

Real HeatDiffusion::change_of_convection(Real per_step, Real implicit_weight) const {
  const auto most = [&](const Field<Node>& of, const Field<Node>& to) {
    return maximum(executor_, capacity_.owned(),
                   RatioWithConvectionOnNode{per_step, implicit_weight, capacity_.view(), load_.held().view(),
                                             of.view(), to.view()});
  };
  return most(load_.convection(), *convection_preconditioned_) *
         most(*convection_preconditioned_, load_.convection());
}

SolveReport HeatDiffusion::solve(Real per_step, Real implicit_weight,
                                 const NullSpace<PrimalCochain<Node>>* null_space) {
  const System system(*this, per_step, implicit_weight);
  set_preconditioner(per_step, implicit_weight, null_space != nullptr);
  const View<Node, const std::uint8_t> held = load_.held().view();
  const View<Node, const Real> capacity = std::as_const(capacity_).view(),
                               convection = load_.convection().view(), load = load_.at_nodes().view(),
                               sought = std::as_const(sought_).view(),
                               temperature = std::as_const(temperature_).view(),
                               previous = std::as_const(previous_).view();
  const LackOfNode lack{per_step,
                        implicit_weight,
                        capacity,
                        previous,
                        std::as_const(previous_inflow_).view(),
                        std::as_const(left_over_).view()};
  const auto hold = [&] {
    for_each(executor_, temperature_.range(),
             HoldOnNode{held, load_.held_temperature().view(), temperature_.view()});
  };
  const auto set_sought = [&] {
    set_inflow();
    for_each(executor_, temperature_.range(),
             SoughtOnNode{lack, temperature, std::as_const(inflow_).view(), held, sought_.view()});
    if (null_space != nullptr) null_space->make_consistent(sought_);
  };

  // Where nothing but convection and given temperatures tell a steady temperature how high it is, and tell it
  // weakly, its level is what takes longest to find: it is set beforehand, so that all heat balances.
  Real whole = 0;  // what leaves where all that is solved for is one kelvin [W/K]
  if (per_step == 0 && null_space == nullptr) {
    for_each(executor_, change_.range(), SolvedForOnNode{held, change_.view()});
    system.apply(change_, supplied_);
    whole = sum(executor_, supplied_.owned(), ValueOfEntity<Node>{std::as_const(supplied_).view()});
  }
  const auto set_level = [&]() -> Real {
    set_sought();
    if (whole <= 0) return 0;
    const Real rise = sum(executor_, sought_.owned(), ValueOfEntity<Node>{sought}) / whole;
    for_each(executor_, temperature_.range(), RaiseOnNode{rise, temperature_.view()});
    hold();
    set_sought();
    return rise;
  };

  // What a uniform temperature, held nodes apart, lacks is what the solve is about: unlike a right-hand side
  // it does not change when all temperatures are counted from another zero. What convection alone answers is
  // no part of it: its coefficient may be so large as to hold a temperature.
  ResidualScale scale;
  Real level = inner_product(volume_, previous_) / total_volume_;
  temperature_.fill(level);
  hold();
  level += set_level();
  const ShareFeltOfNode share_felt{implicit_weight, convection, std::as_const(diagonal_).view()};
  const auto norm_of_sought = [&] {
    return std::sqrt(sum(executor_, sought_.owned(), SquaredShareOfNode{share_felt, sought}));
  };
  scale.reference = norm_of_sought();
  constexpr Real rounding = 4 * std::numeric_limits<Real>::epsilon();
  scale.rounding = rounding * std::sqrt(sum(executor_, temperature_.owned(),
                                            SquaredTermOfNode{per_step, implicit_weight, share_felt, capacity,
                                                              convection, load, temperature}));
  // Solved for is the change: conduction by differences that are small beside the temperatures would drown in
  // the rounding of the latter, in a thin film of a good conductor for instance.
  const auto begin_with_previous = [&] {
    copy(previous_, temperature_);
    hold();
    set_level();
  };
  begin_with_previous();
  const bool is_levelled_out = scale.reference <= scale.rounding;
  if (is_levelled_out) scale.reference = norm_of_sought();
  change_.fill(0);
  scale.from_zero = true;
  scale.rounding_at_the_end = [&] {
    return rounding * std::sqrt(sum(executor_, change_.owned(),
                                    SquaredProductOfNode{std::as_const(diagonal_).view(),
                                                         std::as_const(change_).view()}));
  };
  Recall<PrimalCochain<Node>> recall;
  if (per_step > 0) recall = history().recall(per_step, implicit_weight);
  SolveReport report = solver_.solve(system, *preconditioner_, sought_, change_, scale, null_space, recall);
  const auto take_change = [&] {
    linear_combination(1, change_, 1, temperature_);
    compute_inflow();
    compute_balance(per_step, implicit_weight);
  };
  take_change();

  // What a uniform temperature lacks beside given ones, through a good conductor or thin cells, may exceed by
  // far all the heat that flows in the end: of that no more is left than this many times the tolerance.
  constexpr Real most_of_heat = 1000;
  constexpr int most_solves = 10;  // heat is known better with each
  for (int solves = 1; !is_levelled_out && solves < most_solves; ++solves) {
    const Real left = report.residual * scale.reference, most = left / settings_.solver.relative_tolerance;
    if (most <= most_of_heat * least_heat_of_held_nodes()) break;
    const Real heat =
        std::sqrt(sum(executor_, temperature_.owned(),
                      SquaredHeatOfNode{per_step, implicit_weight, held, capacity, convection, load,
                                        temperature, previous, std::as_const(supplied_).view()}));
    const Real without_conduction =
        std::sqrt(sum(executor_, temperature_.owned(),
                      SquaredLackWithoutConductionOfNode{lack, share_felt, level, convection, load}));
    const Real reference = std::hypot(2 * without_conduction, most_of_heat * heat);
    if (most <= reference) break;
    begin_with_previous();
    scale.reference = reference;
    scale.from_zero = false;
    SolveReport further{0, left / reference};
    try {
      further = solver_.solve(system, *preconditioner_, sought_, change_, scale, null_space, {});
    } catch (const DivergedError&) {  // the report tells what was reached
    }
    report = {report.iterations + further.iterations, further.residual};
    take_change();
    if (further.iterations == 0) break;  // the rest is rounding
  }
  return report;
}

Real HeatDiffusion::least_heat_of_held_nodes() const {
  Real most = 0;
  bool any = false;
  for (std::size_t p = 0; p < balance_.outflow.size(); ++p) {
    if (!std::holds_alternative<FixedTemperature>(settings_.boundaries[p])) continue;
    any = true;
    most = std::max(most, std::abs(balance_.outflow[p]));
  }
  if (!any) return std::numeric_limits<Real>::infinity();
  return most / std::sqrt(static_cast<Real>(mesh_.domain().halo<Node>().total()));
}

void HeatDiffusion::compute_balance(Real per_step, Real implicit_weight) {
  for_each(executor_, temperature_.range(),
           SuppliedOnNode{per_step, implicit_weight, std::as_const(capacity_).view(),
                          std::as_const(temperature_).view(), std::as_const(previous_).view(),
                          std::as_const(inflow_).view(), std::as_const(previous_inflow_).view(),
                          supplied_.view()});
  const auto weighted = [&](Real now, Real before) {
    return implicit_weight * now + (1 - implicit_weight) * before;
  };
  for (std::size_t p = 0; p < balance_.outflow.size(); ++p) {
    balance_.outflow[p] = weighted(patch_outflow_[p], previous_patch_outflow_[p]);
    if (std::holds_alternative<FixedTemperature>(settings_.boundaries[p]))
      balance_.outflow[p] += load_.held_outflow(p, supplied_);
  }
  balance_.source = weighted(load_.source(), previous_source_);
  balance_.stored =
      per_step * sum(executor_, temperature_.owned(),
                     StoredOfNode{std::as_const(capacity_).view(), std::as_const(temperature_).view(),
                                  std::as_const(previous_).view()});
}

SolveReport HeatDiffusion::advance(Real step, Real time, Real implicit_weight) {
  const Real per_step = 1 / step;
  copy(temperature_, previous_);
  copy(inflow_, previous_inflow_);
  previous_patch_outflow_ = patch_outflow_;
  previous_source_ = load_.source();
  take_load(time);
  const SolveReport report = solve(per_step, implicit_weight, nullptr);
  time_ = time;
  for_each(executor_, left_over_.owned(),
           LeftOverOnNode{step, load_.held().view(), std::as_const(supplied_).view(), left_over_.view()});
  return report;
}

SolveReport HeatDiffusion::advance_to(Real time, Real step) {
  REQUIRE(time > time_, fmt::format("a time step must go forward, from {} to {}", time_, time));
  HeatLoad::HeldChange change;
  if (settings_.scheme == HeatScheme::CrankNicolson)
    change =
        load_.held_change(last_step_ > 0 ? std::optional(time_ - last_step_) : std::nullopt, time_, time);
  const bool in_halves =
      settings_.scheme == HeatScheme::CrankNicolson && (steps_ == 0 || change.jumps || held_jumped_late_);
  Start start{time_, balance_, {}, {}};
  if (in_halves) {
    start.temperature = temperature_.to_host();
    start.left_over = left_over_.to_host();
  }
  const bool alone = mesh_.domain().communicator().ranks() == 1;
  SolveReport report;
  try {
    report = in_halves ? advance_in_halves(step, time)
                       : advance(step, time, settings_.scheme == HeatScheme::BackwardEuler ? 1 : Real(0.5));
  } catch (const DivergedError&) {
    forget_guesses();  // what was learnt may be the very thing that failed
    go_back(start, true);
    throw;
  } catch (...) {  // an expression without a value, on this rank perhaps alone
    if (time_ > start.time) forget_guesses();
    go_back(start, alone);
    throw;
  }
  ++steps_;
  last_step_ = step;
  held_jumped_late_ = change.jumps_late;
  return report;
}

SolveReport HeatDiffusion::advance_in_halves(Real step, Real time) {
  const SolveReport first = advance(step / 2, time_ + (time - time_) / 2, 1);
  const HeatBalance first_balance = balance_;
  SolveReport report = advance(step / 2, time, 1);
  report.iterations += first.iterations;
  const auto mean = [](Real& a, Real b) { a = (a + b) / 2; };
  for (std::size_t p = 0; p < balance_.outflow.size(); ++p)
    mean(balance_.outflow[p], first_balance.outflow[p]);
  mean(balance_.source, first_balance.source);
  mean(balance_.stored, first_balance.stored);
  return report;
}

void HeatDiffusion::go_back(const Start& start, bool with_others) {
  if (start.temperature.empty()) {
    copy(previous_, temperature_);
  } else {
    temperature_.copy_from_host(start.temperature);
    left_over_.copy_from_host(start.left_over);
  }
  time_ = start.time;
  balance_ = start.balance;
  if (!with_others) return;
  load_.update(start.time);
  compute_inflow();
}

void HeatDiffusion::forget_guesses() {
  history_.reset();
  convection_preconditioned_.reset();  // it may be that of another time
  diagonal_for_.reset();
  preconditioner_for_.reset();
}

bool HeatDiffusion::has_one_steady_state() const {
  return FloatingParts(mesh_.domain(), diffusion_.graph(), tied_nodes(load_)).count() == 0;
}

SolveReport HeatDiffusion::solve_steady() {
  const FloatingParts floating(mesh_.domain(), diffusion_.graph(), tied_nodes(load_));
  floating.require_balance(mesh_, load_);
  const PiecewiseConstantNullSpace<PrimalCochain<Node>> null_space(executor_, temperature_.extent(),
                                                                   floating.part_of_node());
  copy(temperature_, previous_);
  const SolveReport report = solve(0, 1, null_space.parts() > 0 ? &null_space : nullptr);
  left_over_.fill(0);
  if (null_space.parts() > 0) {
    null_space.match_means(volume_, previous_, temperature_);
    compute_inflow();
    compute_balance(0, 1);
  }
  return report;
}

}  // namespace curlew
