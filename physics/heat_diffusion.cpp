// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat_diffusion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/parallel.hpp"
#include "kernels/reduction.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/exchange.hpp"
#include "operators/node_diffusion_kernels.hpp"
#include "physics/tied_parts.hpp"

namespace curlew {

namespace {

/// y = (C/dt) x + theta (H + K) x at nodes that are solved for, zero at held ones, given K x. Returns the
/// term of x . y.
struct HeatSystemOnNode {
  Real per_step, implicit_weight;  // 1/dt [1/s] (0: steady), theta
  View<Node, const Real> capacity, convection;
  View<Node, const std::uint8_t> held;
  View<Node, const Real> x;
  View<Node, Real> y;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n, Real outflow) const {
    const Real own = x[n], conducted = outflow + convection[n] * own;
    const Real image = held[n] ? Real(0) : per_step * capacity[n] * own + implicit_weight * conducted;
    y[n] = image;
    return own * image;
  }
};

/// Net heat into the dual volume from everything but a holding boundary.
struct InflowOnNode {
  View<Node, const Real> load, convection, temperature;
  View<Node, Real> inflow;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n, Real outflow) const {
    inflow[n] = load[n] - convection[n] * temperature[n] - outflow;
  }
};

struct RightHandSideOnNode {
  Real per_step, implicit_weight;
  View<Node, const Real> capacity, previous, load, previous_inflow;
  View<Node, const std::uint8_t> held;
  View<Node, Real> right_hand_side;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    right_hand_side[n] = held[n] ? Real(0)
                                 : per_step * capacity[n] * previous[n] + implicit_weight * load[n] +
                                       (1 - implicit_weight) * previous_inflow[n];
  }
};

/// What a holding boundary must supply: stored heat less the inflow from elsewhere, as the scheme weighs
/// them.
struct SuppliedOnNode {
  Real per_step, implicit_weight;
  View<Node, const Real> capacity, temperature, previous, inflow, previous_inflow;
  View<Node, Real> supplied;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    supplied[n] = per_step * capacity[n] * (temperature[n] - previous[n]) - implicit_weight * inflow[n] -
                  (1 - implicit_weight) * previous_inflow[n];
  }
};

struct HoldOnNode {
  View<Node, const std::uint8_t> held;
  View<Node, const Real> held_temperature;
  View<Node, Real> temperature;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    if (held[n]) temperature[n] = held_temperature[n];
  }
};

/// C x at nodes that are solved for, zero at held ones.
struct CapacityOnNode {
  View<Node, const Real> capacity;
  View<Node, const std::uint8_t> held;
  View<Node, const Real> x;
  View<Node, Real> y;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const { y[n] = held[n] ? Real(0) : capacity[n] * x[n]; }
};

struct StoredOfNode {
  View<Node, const Real> capacity, temperature, previous;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    return capacity[n] * (temperature[n] - previous[n]);
  }
};

struct ValueOfNode {
  View<Node, const Real> value;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const { return value[n]; }
};

struct SquaredResidualOfNode {
  View<Node, const Real> b, ax;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real r = b[n] - ax[n];
    return r * r;
  }
};

struct SquaredTermOfNode {
  View<Node, const Real> diagonal, temperature;
  CURLEW_HOST_DEVICE Real operator()(Id<Node> n) const {
    const Real term = diagonal[n] * temperature[n];
    return term * term;
  }
};

struct Listed;  // entity tag: a node in a patch's list

struct WeightedValueOfListed {
  View<Listed, const Index> node;
  View<Listed, const Real> weight;
  View<Node, const Real> value;
  CURLEW_HOST_DEVICE Real operator()(Id<Listed> k) const { return weight[k] * value[Id<Node>(node[k])]; }
};

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

std::vector<Real> evaluate(const FunctionPointer& function, const std::vector<Vector3>& points, Real time) {
  std::vector<Real> values(points.size());
  function->evaluate(points, time, values);
  return values;
}

std::vector<Vector3> centroids_of(const Mesh& mesh, const std::vector<Id<Face>>& faces) {
  std::vector<Vector3> centroids;
  for (const Id<Face> f : faces) centroids.push_back(mesh.geometry().face_centroids()[at(f.value())]);
  return centroids;
}

}  // namespace

void visit_face_shares(const Mesh& mesh, Id<Face> f, const std::function<void(Id<Node>, Real)>& visit) {
  const auto nodes = mesh.topology().nodes_of_face()[f];
  const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
  if (nodes.size() <= 3) {
    for (const auto [n, sign] : nodes) visit(n, norm(area) / static_cast<Real>(nodes.size()));
    return;
  }
  const Vector3 normal = area / norm(area);
  visit_fan(nodes, mesh.geometry().node_positions(MemorySpace::Host),
            [&](Vector3 apex, Id<Node> a, Id<Node> b, Vector3 xa, Vector3 xb) {
              const Real third = dot(cross(xa - apex, xb - apex), normal) / 6;
              visit(a, third);
              visit(b, third);
              for (const auto [n, sign] : nodes) visit(n, third / static_cast<Real>(nodes.size()));
            });
}

Real HeatBalance::imbalance() const {
  return source - stored - std::accumulate(outflow.begin(), outflow.end(), Real(0));
}

Real HeatBalance::throughput() const {
  Real sum = std::abs(source) + std::abs(stored);
  for (const Real heat : outflow) sum += std::abs(heat);
  return sum / 2;
}

/// Which nodes of a patch carry its heat, and with which weight: the patch's share of what is supplied at a
/// held node, or the node's h A where heat is convected.
struct HeatDiffusion::PatchNodes {
  PatchNodes(const Executor& executor, const std::vector<Index>& nodes)
      : node(executor, static_cast<Index>(nodes.size()), "nodes of patch", "1"),
        weight(executor, static_cast<Index>(nodes.size()), "weights of patch", "W/K") {
    node.copy_from_host(nodes);
  }
  template <class F>
  Real sum_of(const F& values) const {
    return sum(values.executor(), node.range(),
               WeightedValueOfListed{node.view(), weight.view(), values.view()});
  }

  Field<Listed, Index> node;
  Field<Listed> weight;
};

/// The matrix of one step, as an operator.
class HeatDiffusion::System : public FusedOperator<PrimalCochain<Node>> {
 public:
  System(const HeatDiffusion& heat, Real per_step, Real implicit_weight)
      : heat_(heat), per_step_(per_step), implicit_weight_(implicit_weight) {}
  void apply(const PrimalCochain<Node>& x, DualCochain<Node>& y) const override { apply_to(x, y, nullptr); }
  void apply_with_product(const PrimalCochain<Node>& x, DualCochain<Node>& y,
                          BinnedSum* product) const override {
    detail::SumInParts sum(heat_.executor_, product);
    apply_to(x, y, &sum);
    sum.finish();
  }
  void apply_transpose(const PrimalCochain<Node>& x, DualCochain<Node>& y) const override { apply(x, y); }

 private:
  void apply_to(const PrimalCochain<Node>& x, DualCochain<Node>& y, detail::SumInParts* product) const {
    const HeatSystemOnNode kernel{
        per_step_, implicit_weight_, heat_.capacity_.view(), heat_.convection_.view(), heat_.held_.view(),
        x.view(),  y.view()};
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
             CapacityOnNode{heat_.capacity_.view(), heat_.held_.view(), x.view(), y.view()});
  }
  void apply_transpose(const PrimalCochain<Node>& x, DualCochain<Node>& y) const override { apply(x, y); }

 private:
  const HeatDiffusion& heat_;
};

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
      held_(executor, temperature_.extent(), "held", "1"),
      held_temperature_(executor, temperature_.extent(), "held temperature", "K"),
      convection_(executor, temperature_.extent(), "convection", "W/K"),
      load_(executor, temperature_.extent(), "load", "W"),
      inflow_(executor, temperature_.extent(), "inflow", "W"),
      previous_inflow_(executor, temperature_.extent(), "previous inflow", "W"),
      right_hand_side_(executor, temperature_.extent(), "right-hand side", "W"),
      diagonal_(executor, temperature_.extent(), "diagonal", "W/K"),
      supplied_(executor, temperature_.extent(), "supplied heat", "W"),
      solver_(executor, temperature_.extent(), "temperature", settings_.solver) {
  REQUIRE(mesh_.domain().communicator().ranks() == 1 || executor_.ranks() != nullptr,
          "heat diffusion on a divided mesh needs an executor among its ranks");
  const Topology& topology = mesh_.topology();
  const std::size_t nodes = at(temperature_.size());
  std::vector<Real> capacity(nodes, 0);
  for (Index k = 0; k < topology.cells().size(); ++k) {
    const Id<Cell> c = topology.cell_in_order(k);
    const HeatMaterial& material = settings_.materials[at(topology.region_of_cell()[at(c.value())])];
    visit_corner_volumes(topology, mesh_.geometry(), c, [&](Id<Node> n, Real volume) {
      capacity[at(n.value())] += material.volumetric_heat_capacity * volume;
    });
  }
  capacity_.copy_from_host(capacity);
  const auto volumes = mesh_.geometry().node_volumes().host();
  volume_.copy_from_host(volumes);
  total_volume_ = sum(executor_, volume_.owned(), ValueOfNode{std::as_const(volume_).view()});

  // Where temperatures are held, and how heat supplied at a held node divides among the patches that hold it.
  const std::size_t patches = topology.patches().size();
  std::vector<Real> held_area(nodes, 0);
  std::vector<std::vector<Real>> area(patches);
  held_host_.assign(nodes, 0);
  patch_nodes_.resize(patches);
  for (std::size_t p = 0; p < patches; ++p) {
    if (std::holds_alternative<Insulated>(settings_.boundaries[p])) continue;
    area[p].assign(nodes, 0);
    const bool holds = std::holds_alternative<FixedTemperature>(settings_.boundaries[p]);
    for (const Id<Face> f : topology.faces_of_patch(p)) {
      visit_face_shares(mesh_, f, [&](Id<Node> n, Real share) {
        area[p][at(n.value())] += share;
        if (holds) {
          held_area[at(n.value())] += share;
          held_host_[at(n.value())] = 1;
        }
      });
    }
  }
  for (std::size_t p = 0; p < patches; ++p) {
    if (std::holds_alternative<Insulated>(settings_.boundaries[p])) continue;
    std::vector<Index> list;
    std::vector<Real> weights;
    for (std::size_t n = 0; n < at(temperature_.extent().owned); ++n) {
      if (area[p][n] == 0) continue;
      list.push_back(static_cast<Index>(n));
      weights.push_back(held_area[n] > 0 ? area[p][n] / held_area[n] : Real(0));
    }
    patch_nodes_[p] = std::make_unique<PatchNodes>(executor_, list);
    patch_nodes_[p]->weight.copy_from_host(weights);
  }
  held_.copy_from_host(held_host_);
  patch_outflow_.assign(patches, 0);
  previous_patch_outflow_ = patch_outflow_;
  balance_.outflow.assign(patches, 0);
}

HeatDiffusion::~HeatDiffusion() = default;

bool HeatDiffusion::depends_on_time() const {
  const auto varies = [](const FunctionPointer& f) { return f->depends_on_time(); };
  struct Varies {
    decltype(varies)& f;
    bool operator()(const Insulated&) const { return false; }
    bool operator()(const FixedTemperature& b) const { return f(b.value); }
    bool operator()(const HeatFlux& b) const { return f(b.value); }
    bool operator()(const Convection& b) const { return f(b.coefficient) || f(b.ambient); }
  };
  return std::any_of(settings_.materials.begin(), settings_.materials.end(),
                     [&](const HeatMaterial& material) { return varies(material.source); }) ||
         std::any_of(settings_.boundaries.begin(), settings_.boundaries.end(),
                     [&](const HeatBoundary& boundary) { return std::visit(Varies{varies}, boundary); });
}

/// Whether the matrix of a step changes in time, but for the step's length.
bool HeatDiffusion::convection_varies() const {
  return std::any_of(settings_.boundaries.begin(), settings_.boundaries.end(), [](const HeatBoundary& b) {
    const auto* convection = std::get_if<Convection>(&b);
    return convection != nullptr && convection->coefficient->depends_on_time();
  });
}

/// Boundary values and sources of `time`, on the host, then on the executor.
void HeatDiffusion::assemble(Real time) {
  if (assembled_ && !depends_on_time()) return;
  const Topology& topology = mesh_.topology();
  const Range<Cell> own_cells = mesh_.domain().halo<Cell>().owned();
  const Range<Face> own_faces = mesh_.domain().halo<Face>().owned();
  const std::size_t nodes = at(temperature_.size());
  std::vector<Real> load(nodes, 0), held_area(nodes, 0), held_sum(nodes, 0);
  convection_host_.assign(nodes, 0);
  given_outflow_.assign(topology.patches().size(), 0);
  std::vector<Real> sources;

  for (std::size_t r = 0; r < settings_.materials.size(); ++r) {
    std::vector<Index> cells;
    std::vector<Vector3> points;
    for (Index k = 0; k < topology.cells().size(); ++k) {
      const Id<Cell> c = topology.cell_in_order(k);
      if (at(topology.region_of_cell()[at(c.value())]) != r) continue;
      cells.push_back(c.value());
      points.push_back(mesh_.geometry().cell_centroids()[at(c.value())]);
    }
    const std::vector<Real> source = evaluate(settings_.materials[r].source, points, time);
    for (std::size_t k = 0; k < points.size(); ++k) {
      if (source[k] == 0) continue;
      const bool own = own_cells.contains(Id<Cell>(cells[k]));
      visit_corner_volumes(topology, mesh_.geometry(), Id<Cell>(cells[k]), [&](Id<Node> n, Real volume) {
        load[at(n.value())] += source[k] * volume;
        if (own) sources.push_back(source[k] * volume);
      });
    }
  }
  source_ = sum_of_terms(mesh_.domain().communicator(), sources);

  for (std::size_t p = 0; p < topology.patches().size(); ++p) {
    const std::vector<Id<Face>> faces = topology.faces_of_patch(p);
    std::vector<Real> outflows;
    if (const auto* fixed = std::get_if<FixedTemperature>(&settings_.boundaries[p])) {
      const std::vector<Index> list = patch_nodes_[p]->node.to_host();
      std::vector<Vector3> points;
      for (const Index n : list) points.push_back(mesh_.geometry().node_positions()[at(n)]);
      const std::vector<Real> value = evaluate(fixed->value, points, time);
      const std::vector<Real> weight = patch_nodes_[p]->weight.to_host();
      for (std::size_t k = 0; k < list.size(); ++k) {
        held_sum[at(list[k])] += weight[k] * value[k];
        held_area[at(list[k])] += weight[k];
      }
    } else if (const auto* flux = std::get_if<HeatFlux>(&settings_.boundaries[p])) {
      const std::vector<Real> value = evaluate(flux->value, centroids_of(mesh_, faces), time);
      for (std::size_t k = 0; k < faces.size(); ++k) {
        visit_face_shares(mesh_, faces[k], [&](Id<Node> n, Real share) {
          load[at(n.value())] += value[k] * share;
          if (own_faces.contains(faces[k])) outflows.push_back(-value[k] * share);
        });
      }
    } else if (const auto* convection = std::get_if<Convection>(&settings_.boundaries[p])) {
      const std::vector<Vector3> points = centroids_of(mesh_, faces);
      const std::vector<Real> coefficient = evaluate(convection->coefficient, points, time);
      const std::vector<Real> ambient = evaluate(convection->ambient, points, time);
      std::vector<Real> coupling(nodes, 0);
      for (std::size_t k = 0; k < faces.size(); ++k) {
        if (coefficient[k] < 0) {
          throw InputError(fmt::format(
              "the convection coefficient of patch '{}' is {} at ({:.6g}, {:.6g}, {:.6g}) and "
              "t = {:.6g}; it must not be negative",
              topology.patches()[p].name, coefficient[k], points[k].x, points[k].y, points[k].z, time));
        }
        visit_face_shares(mesh_, faces[k], [&](Id<Node> n, Real share) {
          coupling[at(n.value())] += coefficient[k] * share;
          load[at(n.value())] += coefficient[k] * share * ambient[k];
          if (own_faces.contains(faces[k])) outflows.push_back(-coefficient[k] * share * ambient[k]);
        });
      }
      const std::vector<Index> list = patch_nodes_[p]->node.to_host();
      std::vector<Real> weight;
      for (const Index n : list) weight.push_back(coupling[at(n)]);
      patch_nodes_[p]->weight.copy_from_host(weight);
      for (std::size_t n = 0; n < nodes; ++n) convection_host_[n] += coupling[n];
    }
    given_outflow_[p] = sum_of_terms(mesh_.domain().communicator(), outflows);
  }
  for (std::size_t n = 0; n < nodes; ++n) {
    if (held_host_[n]) held_sum[n] /= held_area[n];
  }
  load_.copy_from_host(load);
  convection_.copy_from_host(convection_host_);
  held_temperature_.copy_from_host(held_sum);
  if (!assembled_ || convection_varies()) {
    preconditioner_for_.reset();
    if (history_) history_->renew();
  }
  assembled_ = true;
}

void HeatDiffusion::start(const SpaceTimeFunction& temperature, Real time) {
  std::vector<Real> values(at(temperature_.size()));
  temperature.evaluate(mesh_.geometry().node_positions().host(), time, values);
  temperature_.copy_from_host(values);
  begin(time, 0);
}

void HeatDiffusion::begin(Real time, std::int64_t steps) {
  time_ = time;
  steps_ = steps;
  history_.reset();
  assemble(time);
  compute_inflow();
  balance_ = {patch_outflow_, source_, 0};
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
  if (history_) history_->add_to(state);
  return state;
}

void HeatDiffusion::resume(const RunState& state) {
  restore(mesh_.domain(), state, "temperature", temperature_);
  begin(state.time, state.steps);
  history().resume_from(state);
}

HeatHistory& HeatDiffusion::history() {
  if (!history_) {
    history_ =
        std::make_unique<HeatHistory>(mesh_.domain(), temperature_, held_, std::make_unique<Capacity>(*this),
                                      std::make_unique<System>(*this, 0, 1));
  }
  return *history_;
}

/// Inflow and the outflow through flux and convection patches at the present time and temperature.
void HeatDiffusion::compute_inflow() {
  exchange_ghosts(mesh_.domain(), temperature_);
  diffusion_.visit_outflow(temperature_.range(), temperature_,
                           InflowOnNode{std::as_const(load_).view(), std::as_const(convection_).view(),
                                        std::as_const(temperature_).view(), inflow_.view()});
  for (std::size_t p = 0; p < patch_nodes_.size(); ++p) {
    const bool convects = std::holds_alternative<Convection>(settings_.boundaries[p]);
    patch_outflow_[p] = given_outflow_[p] + (convects ? patch_nodes_[p]->sum_of(temperature_) : Real(0));
  }
}

/// The preconditioner changes with the step and with convection only. It takes the step to single precision:
/// steps that are to be of one length differ by what rounding does to the times between them.
void HeatDiffusion::set_preconditioner(Real per_step, Real implicit_weight) {
  per_step = static_cast<Real>(static_cast<float>(per_step));
  const std::pair<Real, Real> now{per_step, implicit_weight};
  if (preconditioner_for_ == now) return;
  SymmetricMatrix matrix = diffusion_.matrix();
  const std::vector<Real> capacity = capacity_.to_host();
  const auto is_free = [&](std::size_t n) { return !held_host_[n]; };
  parallel_for(capacity.size(), [&](std::size_t n) {
    matrix.diagonal[n] =
        !is_free(n) ? Real(0)
                    : per_step * capacity[n] + implicit_weight * (matrix.diagonal[n] + convection_host_[n]);
    for (Index k = matrix.off_diagonal.starts[n]; k < matrix.off_diagonal.starts[n + 1]; ++k) {
      const bool free = is_free(n) && is_free(at(matrix.off_diagonal.columns[at(k)]));
      matrix.off_diagonal.values[at(k)] *= free ? implicit_weight : Real(0);
    }
  });
  diagonal_.copy_from_host(matrix.diagonal);
  preconditioner_ = make_preconditioner<PrimalCochain<Node>>(settings_.preconditioning, executor_,
                                                             mesh_.domain(), std::move(matrix));
  preconditioner_for_ = now;
}

SolveReport HeatDiffusion::solve(Real per_step, Real implicit_weight,
                                 const NullSpace<PrimalCochain<Node>>* null_space) {
  for_each(executor_, temperature_.range(),
           RightHandSideOnNode{per_step, implicit_weight, std::as_const(capacity_).view(),
                               std::as_const(previous_).view(), std::as_const(load_).view(),
                               std::as_const(previous_inflow_).view(), std::as_const(held_).view(),
                               right_hand_side_.view()});
  if (null_space != nullptr) null_space->make_consistent(right_hand_side_);
  const System system(*this, per_step, implicit_weight);
  const HoldOnNode hold{std::as_const(held_).view(), std::as_const(held_temperature_).view(),
                        temperature_.view()};

  set_preconditioner(per_step, implicit_weight);

  // The residual of a uniform temperature, held nodes apart, is what the solve is about: unlike the
  // right-hand side it does not change when all temperatures are counted from another zero.
  ResidualScale scale;
  temperature_.fill(inner_product(volume_, previous_) / total_volume_);
  for_each(executor_, temperature_.range(), hold);
  system.apply(temperature_, supplied_);
  scale.reference = std::sqrt(
      sum(executor_, temperature_.owned(),
          SquaredResidualOfNode{std::as_const(right_hand_side_).view(), std::as_const(supplied_).view()}));
  scale.rounding =
      4 * std::numeric_limits<Real>::epsilon() *
      std::sqrt(sum(executor_, temperature_.owned(),
                    SquaredTermOfNode{std::as_const(diagonal_).view(), std::as_const(temperature_).view()}));

  copy(previous_, temperature_);
  for_each(executor_, temperature_.range(), hold);
  Recall<PrimalCochain<Node>> recall;
  if (per_step > 0) recall = history().recall(per_step, implicit_weight);
  return solver_.solve(system, *preconditioner_, right_hand_side_, temperature_, scale, null_space, recall);
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
  for (std::size_t p = 0; p < patch_nodes_.size(); ++p) {
    const bool holds = std::holds_alternative<FixedTemperature>(settings_.boundaries[p]);
    balance_.outflow[p] =
        holds ? -patch_nodes_[p]->sum_of(supplied_) : weighted(patch_outflow_[p], previous_patch_outflow_[p]);
  }
  balance_.source = weighted(source_, previous_source_);
  balance_.stored =
      per_step * sum(executor_, temperature_.owned(),
                     StoredOfNode{std::as_const(capacity_).view(), std::as_const(temperature_).view(),
                                  std::as_const(previous_).view()});
}

SolveReport HeatDiffusion::advance(Real time, Real implicit_weight) {
  const Real per_step = 1 / (time - time_);
  copy(temperature_, previous_);
  copy(inflow_, previous_inflow_);
  previous_patch_outflow_ = patch_outflow_;
  previous_source_ = source_;
  SolveReport report;
  try {
    assemble(time);
    report = solve(per_step, implicit_weight, nullptr);
  } catch (...) {
    copy(previous_, temperature_);
    throw;
  }
  time_ = time;
  compute_inflow();
  compute_balance(per_step, implicit_weight);
  return report;
}

SolveReport HeatDiffusion::advance_to(Real time) {
  REQUIRE(time > time_, fmt::format("a time step must go forward, from {} to {}", time_, time));
  SolveReport report;
  if (settings_.scheme == HeatScheme::BackwardEuler) {
    report = advance(time, 1);
  } else if (steps_ > 0) {
    report = advance(time, Real(0.5));
  } else {
    const Real start = time_;
    const std::vector<Real> initial = temperature_.to_host();
    const SolveReport first = advance(start + (time - start) / 2, 1);
    const HeatBalance first_balance = balance_;
    try {
      report = advance(time, 1);
    } catch (...) {
      temperature_.copy_from_host(initial);
      time_ = start;
      throw;
    }
    report.iterations += first.iterations;
    const auto mean = [](Real& a, Real b) { a = (a + b) / 2; };
    for (std::size_t p = 0; p < balance_.outflow.size(); ++p)
      mean(balance_.outflow[p], first_balance.outflow[p]);
    mean(balance_.source, first_balance.source);
    mean(balance_.stored, first_balance.stored);
  }
  ++steps_;
  return report;
}

SolveReport HeatDiffusion::solve_steady() {
  std::vector<std::uint8_t> tied = held_host_;
  for (std::size_t n = 0; n < tied.size(); ++n) tied[n] = tied[n] || convection_host_[n] > 0;
  std::vector<Index> parts(at(temperature_.size()), -1);
  if (mesh_.domain().communicator().ranks() > 1) {
    require_tied(mesh_.domain(), diffusion_.graph(), tied);
  } else {
    parts = floating_parts(diffusion_.graph(), tied);
  }
  const PiecewiseConstantNullSpace<PrimalCochain<Node>> null_space(executor_, temperature_.extent(), parts);
  const std::vector<Real> load = load_.to_host();
  for (Index part = 0; part < null_space.parts(); ++part) {
    Real total = 0, size = 0;
    for (std::size_t n = 0; n < load.size(); ++n) {
      if (parts[n] != part) continue;
      total += load[n];
      size += std::abs(load[n]);
    }
    if (std::abs(total) > 1e-10 * size) {
      throw InputError(
          fmt::format("there is no steady state: {:.6g} {} enter a part of the domain that has no patch of "
                      "type temperature or convection to leave through; add one, or run in time",
                      total, mesh_.topology().dimension() == 2 ? "W/m" : "W"));
    }
  }
  copy(temperature_, previous_);
  const SolveReport report = solve(0, 1, null_space.parts() > 0 ? &null_space : nullptr);
  null_space.match_means(volume_, previous_, temperature_);
  compute_inflow();
  compute_balance(0, 1);
  return report;
}

}  // namespace curlew
