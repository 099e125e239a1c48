// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/heat/heat_load.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/chosen_values.hpp"
#include "kernels/entity_terms.hpp"
#include "kernels/reduction.hpp"
#include "mesh/where.hpp"
#include "operators/cell_gradient.hpp"
#include "physics/overloaded.hpp"

namespace curlew {

namespace {

struct Listed;  // entity tag: an entry of a list of nodes

struct WeightedValueOfListed {
  View<Listed, const Index> node;
  View<Listed, const Real> weight;
  View<Node, const Real> value;
  CURLEW_HOST_DEVICE Real operator()(Id<Listed> k) const { return weight[k] * value[Id<Node>(node[k])]; }
};

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

class HeatLoad::WeightedSum {
 public:
  WeightedSum(const Executor& executor, const std::vector<Index>& nodes, const std::vector<Real>& weights)
      : node_(executor, static_cast<Index>(nodes.size()), "nodes of patch", "1"),
        weight_(executor, static_cast<Index>(nodes.size()), "weights of patch", "W/K") {
    node_.copy_from_host(nodes);
    set_weights(weights);
  }
  void set_weights(const std::vector<Real>& weights) { weight_.copy_from_host(weights); }
  template <class F>
  Real operator()(const F& values) const {
    return sum(values.executor(), node_.range(),
               WeightedValueOfListed{node_.view(), weight_.view(), values.view()});
  }

 private:
  Field<Listed, Index> node_;
  Field<Listed> weight_;
};

HeatLoad::HeatLoad(const Executor& executor, const Mesh& mesh, const HeatSettings& settings)
    : executor_(executor),
      mesh_(mesh),
      settings_(settings),
      held_(executor, mesh.domain().extent<Node>(), "held", "1"),
      held_temperature_(executor, held_.extent(), "held temperature", "K"),
      convection_(executor, held_.extent(), "convection", "W/K"),
      at_nodes_(executor, held_.extent(), "load", "W"),
      sources_(executor, mesh, settings.materials) {
  find_held_nodes();
  divide_shared_nodes();
}

HeatLoad::~HeatLoad() = default;

/// Where temperatures are given, and how what is supplied there divides among patches by area.
void HeatLoad::find_held_nodes() {
  const Topology& topology = mesh_.topology();
  const std::size_t patches = topology.patches().size(), nodes = at(held_.size());
  struct AreaOfNode {
    Index node;
    Real area;  // [m2]
  };
  std::vector<Real> held_area(nodes, 0), area_of_patch(nodes, 0);
  std::vector<std::vector<AreaOfNode>> areas(patches);
  held_on_host_.assign(nodes, 0);
  convection_on_host_.assign(nodes, 0);
  place_of_node_.assign(nodes, -1);
  std::vector<Index> boundary_nodes;
  for (std::size_t p = 0; p < patches; ++p) {
    if (std::holds_alternative<Insulated>(settings_.boundaries[p])) continue;
    const bool holds = std::holds_alternative<FixedTemperature>(settings_.boundaries[p]);
    for (const Id<Face> f : topology.faces_of_patch(p)) {
      visit_face_shares(mesh_, f, [&](Id<Node> n, Real share) {
        if (place_of_node_[at(n.value())] < 0) {
          place_of_node_[at(n.value())] = static_cast<Index>(boundary_nodes.size());
          boundary_nodes.push_back(n.value());
        }
        if (area_of_patch[at(n.value())] == 0) areas[p].push_back({n.value(), 0});
        area_of_patch[at(n.value())] += share;
        if (holds) {
          held_area[at(n.value())] += share;
          held_on_host_[at(n.value())] = 1;
        }
      });
    }
    for (AreaOfNode& entry : areas[p]) entry.area = std::exchange(area_of_patch[at(entry.node)], 0);
    std::ranges::sort(areas[p], {}, &AreaOfNode::node);
  }
  boundary_nodes_ = ConstantArray<Index>(std::move(boundary_nodes));
  held_.copy_from_host(held_on_host_);
  patch_load_.resize(patches);
  patch_places_.resize(patches);
  patch_nodes_.resize(patches);
  held_share_.resize(patches);
  held_sum_.resize(patches);
  temperature_sum_.resize(patches);
  for (std::size_t p = 0; p < patches; ++p) {
    if (std::holds_alternative<Insulated>(settings_.boundaries[p])) continue;
    for (const auto& [node, area] : areas[p]) {
      if (area == 0) continue;
      patch_places_[p].push_back(place_of_node_[at(node)]);
      if (node >= held_.extent().owned) continue;
      patch_nodes_[p].push_back(node);
      held_share_[p].push_back(held_area[at(node)] > 0 ? area / held_area[at(node)] : Real(0));
    }
    if (std::holds_alternative<FixedTemperature>(settings_.boundaries[p])) {
      held_sum_[p] = std::make_unique<WeightedSum>(executor_, patch_nodes_[p], held_share_[p]);
    } else if (std::holds_alternative<Convection>(settings_.boundaries[p])) {
      temperature_sum_[p] = std::make_unique<WeightedSum>(executor_, patch_nodes_[p],
                                                          std::vector<Real>(patch_nodes_[p].size(), 0));
    }
  }
}

/// Where patches of given temperature meet, each takes what is conducted through its own faces by the
/// gradient of their cells. What that leaves of the heat supplied at the node divides by area.
void HeatLoad::divide_shared_nodes() {
  const Topology& topology = mesh_.topology();
  struct Share {
    std::size_t patch;
    Real by_area;
  };
  std::vector<std::vector<Share>> shares(at(held_.size()));
  for (std::size_t p = 0; p < held_sum_.size(); ++p) {
    if (!held_sum_[p]) continue;
    for (std::size_t k = 0; k < patch_nodes_[p].size(); ++k)
      shares[at(patch_nodes_[p][k])].push_back({p, held_share_[p][k]});
  }
  struct Entries {
    std::vector<Index> nodes;
    std::vector<Real> weights;
  };
  std::vector<Entries> entries(held_sum_.size());
  std::vector<Vector3> gradient;
  for (std::size_t q = 0; q < held_sum_.size(); ++q) {
    if (!held_sum_[q]) continue;
    for (const Id<Face> f : topology.faces_of_patch(q)) {
      const Id<Cell> c = topology.cells_of_face()[f][0].id;
      const auto corners = topology.nodes_of_cell()[c];
      const Vector3 area = mesh_.geometry().face_areas()[at(f.value())];
      const Real conductivity =
          settings_.materials[at(topology.region_of_cell()[at(c.value())])].conductivity;
      gradient.clear();
      visit_face_shares(mesh_, f, [&](Id<Node> n, Real share) {
        if (shares[at(n.value())].size() < 2) return;
        if (gradient.empty()) {
          gradient.resize(at(corners.size()));
          gradient_weights(mesh_, c, gradient);
        }
        for (const auto& [p, by_area] : shares[at(n.value())]) {
          const Real part = (p == q ? 1 : 0) - by_area;
          for (Index k = 0; k < corners.size(); ++k) {
            entries[p].nodes.push_back(corners[k].id.value());
            entries[p].weights.push_back(-part * share * conductivity * dot(gradient[at(k)], area) /
                                         norm(area));
          }
        }
      });
    }
  }
  for (std::size_t p = 0; p < entries.size(); ++p) {
    if (held_sum_[p]) {
      temperature_sum_[p] = std::make_unique<WeightedSum>(executor_, entries[p].nodes, entries[p].weights);
    }
  }
}

bool HeatLoad::convection_depends_on_time() const {
  return std::ranges::any_of(settings_.boundaries, [](const HeatBoundary& boundary) {
    const auto* convection = std::get_if<Convection>(&boundary);
    return convection != nullptr && convection->coefficient->depends_on_time();
  });
}

bool HeatLoad::update(Real time) {
  const auto varies = Overloaded{
      [](const Insulated&) { return false; },
      [](const FixedTemperature& fixed) { return fixed.value->depends_on_time(); },
      [](const HeatFlux& flux) { return flux.value->depends_on_time(); },
      [](const Convection& convection) {
        return convection.coefficient->depends_on_time() || convection.ambient->depends_on_time();
      },
  };
  // All that may fail comes first.
  const bool sources_change = !updated_ || sources_.depend_on_time();
  std::vector<Real> source_in_cells;
  if (sources_change) source_in_cells = sources_.in_cells(time, source_in_cells_);
  std::vector<std::optional<PatchLoad>> changed(patch_load_.size());
  for (std::size_t p = 0; p < changed.size(); ++p) {
    const HeatBoundary& boundary = settings_.boundaries[p];
    if (!updated_ || std::visit(varies, boundary))
      changed[p] = std::visit([&](const auto& b) { return load_of(b, p, time); }, boundary);
  }
  bool loads_change = sources_change, convection_changes = false, temperatures_change = false;
  for (std::size_t p = 0; p < changed.size(); ++p) {
    if (!changed[p]) continue;
    const HeatBoundary& boundary = settings_.boundaries[p];
    patch_load_[p] = *std::move(changed[p]);
    (std::holds_alternative<FixedTemperature>(boundary) ? temperatures_change : loads_change) = true;
    const auto* convection = std::get_if<Convection>(&boundary);
    if (convection == nullptr || (updated_ && !convection->coefficient->depends_on_time())) continue;
    convection_changes = true;
    // Nodes of this rank come first.
    const auto end_of_own = patch_load_[p].convection.begin() + std::ssize(patch_nodes_[p]);
    temperature_sum_[p]->set_weights({patch_load_[p].convection.begin(), end_of_own});
  }
  if (sources_change) {
    sources_.integrate(source_in_cells, at_nodes_);
    source_ = sum(executor_, at_nodes_.owned(), ValueOfEntity<Node>{std::as_const(at_nodes_).view()});
    source_at_boundary_ = values_at(at_nodes_, boundary_nodes_);
    if (sources_.depend_on_time()) source_in_cells_ = std::move(source_in_cells);
  }
  const std::size_t nodes = boundary_nodes_.size();
  const auto set = [&](auto& field, const std::vector<Real>& values) {
    set_values_at(field, boundary_nodes_, std::span<const Real>(values));
  };
  const auto added = [&](std::vector<Real> values, auto of_patch) {
    for (std::size_t p = 0; p < patch_load_.size(); ++p) {
      const std::vector<Real>& more = patch_load_[p].*of_patch;
      for (std::size_t k = 0; k < more.size(); ++k) values[at(patch_places_[p][k])] += more[k];
    }
    return values;
  };
  if (loads_change) set(at_nodes_, added(source_at_boundary_, &PatchLoad::load));
  if (convection_changes) {
    const std::vector<Real> convection = added(std::vector<Real>(nodes, 0), &PatchLoad::convection);
    set(convection_, convection);
    for (std::size_t k = 0; k < nodes; ++k) convection_on_host_[at(boundary_nodes_[k])] = convection[k];
  }
  if (temperatures_change) {
    std::vector<Real> temperature(nodes, 0), area(nodes, 0);
    for (std::size_t p = 0; p < patch_load_.size(); ++p) {
      for (std::size_t k = 0; k < patch_load_[p].temperature.size(); ++k) {
        const std::size_t place = place_of(patch_nodes_[p][k]);
        temperature[place] += held_share_[p][k] * patch_load_[p].temperature[k];
        area[place] += held_share_[p][k];
      }
    }
    for (std::size_t k = 0; k < nodes; ++k)
      if (held_on_host_[at(boundary_nodes_[k])]) temperature[k] /= area[k];
    set(held_temperature_, temperature);
  }
  updated_ = true;
  return convection_changes;
}

HeatLoad::PatchLoad HeatLoad::load_of(const FixedTemperature& fixed, std::size_t patch, Real time) const {
  std::vector<Vector3> points;
  for (const Index n : patch_nodes_[patch]) points.push_back(mesh_.geometry().node_positions()[at(n)]);
  PatchLoad result;
  result.temperature = evaluate(fixed.value, points, time);
  return result;
}

HeatLoad::HeldChange HeatLoad::held_change(std::optional<Real> before, Real start, Real end) const {
  // 1 for each patch that jumps, that jumps late, that lacks a value.
  const std::size_t patches = patch_load_.size();
  std::vector<Real> found(3 * patches, 0);
  const std::span<Real> jumps = std::span(found).first(patches),
                        late = std::span(found).subspan(patches, patches),
                        lacks = std::span(found).last(patches);
  const auto look = [&](const FixedTemperature& fixed, std::size_t p) {
    const std::vector<Real>& now = patch_load_[p].temperature;
    const std::vector<Real> earlier = before ? load_of(fixed, p, *before).temperature : now,
                            between = load_of(fixed, p, start + (end - start) / 2).temperature,
                            later = load_of(fixed, p, end).temperature;
    for (std::size_t k = 0; k < now.size(); ++k) {
      const Real first = std::abs(between[k] - now[k]), second = std::abs(later[k] - between[k]),
                 last_step = std::abs(now[k] - earlier[k]);
      const auto [less, more] = std::minmax(first, second);
      if (more <= rounding_of_held * std::abs(now[k])) continue;
      // What is smooth changes in both halves of a step, but where it turns, and there by less than before.
      if ((less < 0.1 * more && more > 2 * last_step) || (less < 1e-3 * more && more > 0.5 * last_step)) {
        jumps[p] = 1;
        if (second > first) late[p] = 1;
      }
    }
  };
  for (std::size_t p = 0; p < patch_load_.size(); ++p) {
    const auto* fixed = std::get_if<FixedTemperature>(&settings_.boundaries[p]);
    if (fixed == nullptr || !fixed->value->depends_on_time()) continue;
    try {
      look(*fixed, p);
    } catch (const InputError&) {  // the step may not need this time
      lacks[p] = 1;
    }
  }
  mesh_.domain().communicator().maxima(found);
  HeldChange change;
  for (std::size_t p = 0; p < patches; ++p) {
    if (lacks[p] > 0) continue;  // on whatever rank
    change.jumps = change.jumps || jumps[p] > 0;
    change.jumps_late = change.jumps_late || late[p] > 0;
  }
  return change;
}

HeatLoad::PatchLoad HeatLoad::load_of(const HeatFlux& flux, std::size_t patch, Real time) const {
  const std::vector<Id<Face>> faces = mesh_.topology().faces_of_patch(patch);
  const Range<Face> own = mesh_.domain().halo<Face>().owned();
  const std::vector<Real> value = evaluate(flux.value, centroids_of(mesh_, faces), time);
  std::vector<Real> load(boundary_nodes_.size(), 0), outflows;
  for (std::size_t k = 0; k < faces.size(); ++k) {
    visit_face_shares(mesh_, faces[k], [&](Id<Node> n, Real share) {
      load[place_of(n.value())] += value[k] * share;
      if (own.contains(faces[k])) outflows.push_back(-value[k] * share);
    });
  }
  PatchLoad result;
  for (const Index place : patch_places_[patch]) result.load.push_back(load[at(place)]);
  result.outflow = sum_of_terms(mesh_.domain().communicator(), outflows);
  return result;
}

HeatLoad::PatchLoad HeatLoad::load_of(const Convection& convection, std::size_t patch, Real time) const {
  const std::vector<Id<Face>> faces = mesh_.topology().faces_of_patch(patch);
  const Range<Face> own = mesh_.domain().halo<Face>().owned();
  const std::vector<Vector3> points = centroids_of(mesh_, faces);
  const std::vector<Real> coefficient = evaluate(convection.coefficient, points, time);
  const std::vector<Real> ambient = evaluate(convection.ambient, points, time);
  std::vector<Real> load(boundary_nodes_.size(), 0), coupling(load), outflows;
  for (std::size_t k = 0; k < faces.size(); ++k) {
    if (coefficient[k] < 0) {
      convection.coefficient->refuse(fmt::format(
          "the convection coefficient of patch '{}' is {} at {} and t = {:.6g}; it must not be negative",
          mesh_.topology().patches()[patch].name, coefficient[k], where(points[k]), time));
    }
    visit_face_shares(mesh_, faces[k], [&](Id<Node> n, Real share) {
      coupling[place_of(n.value())] += coefficient[k] * share;
      load[place_of(n.value())] += coefficient[k] * share * ambient[k];
      if (own.contains(faces[k])) outflows.push_back(-coefficient[k] * share * ambient[k]);
    });
  }
  PatchLoad result;
  for (const Index place : patch_places_[patch]) {
    result.load.push_back(load[at(place)]);
    result.convection.push_back(coupling[at(place)]);
  }
  result.outflow = sum_of_terms(mesh_.domain().communicator(), outflows);
  return result;
}

std::vector<Real> HeatLoad::outflows(const PrimalCochain<Node>& temperature) const {
  std::vector<Real> outflows;
  for (std::size_t p = 0; p < patch_load_.size(); ++p) {
    outflows.push_back(patch_load_[p].outflow);
    if (temperature_sum_[p]) outflows[p] += (*temperature_sum_[p])(temperature);
  }
  return outflows;
}

Real HeatLoad::held_outflow(std::size_t patch, const DualCochain<Node>& supplied) const {
  return -(*held_sum_[patch])(supplied);
}

}  // namespace curlew
