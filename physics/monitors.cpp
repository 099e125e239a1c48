// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/monitors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/reduction.hpp"
#include "physics/overloaded.hpp"

namespace curlew {

namespace {

using NodeScalars = View<Node, const Real>;
using CellScalars = View<Cell, const Real>;
using CellVectors = View<Cell, const Vector3>;

Real change(Vector3 gradient, Vector3 offset) {
  return dot(gradient, offset);
}
Vector3 change(const Tensor3& gradient, Vector3 offset) {
  return gradient * offset;
}

/// Where the values of a point are in a sample.
struct PlaceInSample {
  const NodeInterpolation& interpolation;
  Vector3 offset;                // from the cell's centroid [m]
  std::size_t cell, first_node;  // in the lists of chosen ones
};

Real at_place(const NodeSample& sample, const PlaceInSample& place) {
  return place.interpolation(std::span(sample.value).subspan(place.first_node));
}
template <class T>
T at_place(const std::vector<T>& sample, const PlaceInSample& place) {
  return sample[place.cell];
}
template <class T, class Gradient>
T at_place(const LinearCellSample<T, Gradient>& sample, const PlaceInSample& place) {
  return sample.value[place.cell] + change(sample.gradient[place.cell], place.offset);
}

void append(std::vector<Real>& values, Real s) {
  values.push_back(s);
}
void append(std::vector<Real>& values, Vector3 v) {
  values.insert(values.end(), {v.x, v.y, v.z});
}

template <class E, class T>
std::vector<T> chosen_values(View<E, const T> values, const ConstantArray<Index>& entities) {
  std::vector<T> chosen;
  for (const Index i : entities.host()) chosen.push_back(values[Id<E>(i)]);
  return chosen;
}

std::string text(Vector3 x) {
  return fmt::format("({}, {}, {})", x.x, x.y, x.z);
}

/// For messages on points that are not there.
std::string extent(const PointLocator& locator) {
  return fmt::format("the mesh, which reaches from {} to {} m", text(locator.low()), text(locator.high()));
}

/// The largest of `value(id)` over all entities of all ranks; `position(id)` is asked for at the one that
/// counts, the lowest in the order of the whole mesh.
template <class E, class Value, class Position>
Extremum largest(const Domain& domain, const Value& value, const Position& position) {
  constexpr Real nothing = -std::numeric_limits<Real>::infinity();
  const Halo<E>& halo = domain.halo<E>();
  Real most = nothing;
  GlobalIndex first = halo.total();
  std::optional<Id<E>> place;
  for (const Id<E> i : halo.owned()) {
    const Real v = value(i);
    if (v > most || (v == most && halo.global(i) < first)) {
      most = v;
      first = halo.global(i);
      place = i;
    }
  }
  const Real own = most;
  const Communicator& communicator = domain.communicator();
  communicator.maxima({&most, 1});
  // Indices are exact as Real. That of the lowest of the ranks that have the largest value:
  Real order = place && own == most ? -static_cast<Real>(first) : nothing;
  communicator.maxima({&order, 1});
  std::array<Real, 4> result{};
  if (order == nothing) {
    result.fill(std::numeric_limits<Real>::quiet_NaN());
  } else if (place && own == most && first == static_cast<GlobalIndex>(-order)) {
    const Vector3 x = position(*place);
    result = {own, x.x, x.y, x.z};
  }
  communicator.share(result);
  return {result[0], {result[1], result[2], result[3]}};
}

template <class E, class Value, class Position>
Extrema extrema_over(const Domain& domain, const Value& value, const Position& position) {
  Extremum least = largest<E>(
      domain, [&](Id<E> i) { return -value(i); }, position);
  least.value = -least.value;
  return {least, largest<E>(domain, value, position)};
}

template <class E, class Value>
Real weighted_sum(const Domain& domain, const std::vector<Real>& weights, const Value& value) {
  const Range<E> range = domain.halo<E>().owned();
  std::vector<Real> terms;
  terms.reserve(at(range.size()));
  for (const Id<E> i : range) terms.push_back(weights[at(i.value())] * value(i));
  return sum_of_terms(domain.communicator(), terms);
}

}  // namespace

FieldSample sample(const FieldSnapshot& field, const ChosenCells& chosen) {
  return std::visit(
      Overloaded{
          [&](NodeScalars values) -> FieldSample { return NodeSample{chosen_values(values, chosen.nodes)}; },
          [&](const auto& values) -> FieldSample { return chosen_values(values, chosen.cells); }},
      field);
}

PointSampler::PointSampler(const PointLocator& locator, std::vector<Vector3> points)
    : points_(std::move(points)), communicator_(locator.mesh().domain().shared_communicator()) {
  const auto centroid = locator.mesh().geometry().cell_centroids(MemorySpace::Host);
  const Halo<Cell>& halo = locator.mesh().domain().halo<Cell>();
  std::vector<Real> own;  // cells, negative; indices are exact as Real
  for (const Vector3 point : points_) {
    places_.push_back(locator.locate(point));
    const auto& place = places_.back();
    offsets_.push_back(place ? point - centroid[place->cell] : Vector3{});
    own.push_back(place ? -static_cast<Real>(halo.global(place->cell))
                        : -std::numeric_limits<Real>::infinity());
  }
  std::vector<Real> lowest = own;
  communicator_->maxima(lowest);
  for (std::size_t k = 0; k < points_.size(); ++k) {
    inside_.push_back(lowest[k] <= 0 && std::isfinite(lowest[k]));
    if (own[k] != lowest[k]) places_[k].reset();  // another rank's cell comes first
  }
  std::vector<Index> cells, nodes;
  for (const auto& place : places_) {
    if (!place) continue;
    cells.push_back(place->cell.value());
    for (const auto [node, weight] : place->weights) nodes.push_back(node.value());
  }
  cells_ = {ConstantArray<Index>(std::move(cells)), ConstantArray<Index>(std::move(nodes))};
}

PointSampler PointSampler::at_points(const PointLocator& locator, const std::string& monitor,
                                     std::vector<Vector3> points) {
  PointSampler sampler(locator, std::move(points));
  std::string outside;
  for (std::size_t k = 0; k < sampler.points_.size(); ++k) {
    if (sampler.inside_[k]) continue;
    outside += fmt::format("{}point {} at {}", outside.empty() ? "" : ", ", k, text(sampler.points_[k]));
  }
  if (!outside.empty())
    throw InputError(fmt::format("monitor '{}': {} not in {}", monitor, outside, extent(locator)));
  return sampler;
}

PointSampler PointSampler::on_line(const PointLocator& locator, const std::string& monitor, Vector3 from,
                                   Vector3 to, std::int64_t count) {
  REQUIRE(count >= 2, fmt::format("monitor '{}': a line has at least 2 points, got {}", monitor, count));
  std::vector<Vector3> points;
  for (std::int64_t k = 0; k < count; ++k) {
    const Real s = static_cast<Real>(k) / static_cast<Real>(count - 1);
    points.push_back((1 - s) * from + s * to);
  }
  PointSampler sampler(locator, std::move(points));
  if (std::ranges::count(sampler.inside_, true) == 0) {
    throw InputError(fmt::format("monitor '{}': none of the {} points from {} to {} is in {}", monitor, count,
                                 text(from), text(to), extent(locator)));
  }
  return sampler;
}

std::string PointSampler::doubt() const {
  const auto first = std::ranges::find(inside_, false);
  if (first == inside_.end()) return "";
  return fmt::format("{} of its {} points are not in the mesh, the first of them at {}",
                     std::ranges::count(inside_, false), points_.size(),
                     text(points_[static_cast<std::size_t>(first - inside_.begin())]));
}

std::vector<Real> PointSampler::operator()(const FieldSample& field) const {
  std::vector<Real> values;
  std::size_t count = 0;
  std::visit(
      [&](const auto& sample) {
        using Value = decltype(at_place(sample, std::declval<PlaceInSample>()));
        count = std::is_same_v<Value, Vector3> ? 3 : 1;
        std::size_t cell = 0, node = 0;
        for (std::size_t k = 0; k < places_.size(); ++k) {
          if (!places_[k]) {
            append(values, Value{});  // another rank's
            continue;
          }
          append(values, at_place(sample, {*places_[k], offsets_[k], cell, node}));
          ++cell;
          node += places_[k]->weights.size();
        }
      },
      field);
  communicator_->share(values);
  for (std::size_t k = 0; k < places_.size(); ++k) {
    if (!inside_[k])
      std::fill_n(values.begin() + static_cast<std::ptrdiff_t>(k * count), count,
                  std::numeric_limits<Real>::quiet_NaN());
  }
  return values;
}

std::vector<Extrema> extrema(const Mesh& mesh, const FieldSnapshot& field) {
  const auto node_position = mesh.geometry().node_positions(MemorySpace::Host);
  const auto centroid = mesh.geometry().cell_centroids(MemorySpace::Host);
  const auto over_nodes = [&](const auto& value) {
    return extrema_over<Node>(mesh.domain(), value, [&](Id<Node> n) { return node_position[n]; });
  };
  const auto over_cells = [&](const auto& value) {
    return extrema_over<Cell>(mesh.domain(), value, [&](Id<Cell> c) { return centroid[c]; });
  };
  return std::visit(Overloaded{[&](NodeScalars values) -> std::vector<Extrema> {
                                 return {over_nodes([&](Id<Node> n) { return values[n]; })};
                               },
                               [&](CellScalars values) -> std::vector<Extrema> {
                                 return {over_cells([&](Id<Cell> c) { return values[c]; })};
                               },
                               [&](CellVectors values) -> std::vector<Extrema> {
                                 return {over_cells([&](Id<Cell> c) { return values[c].x; }),
                                         over_cells([&](Id<Cell> c) { return values[c].y; }),
                                         over_cells([&](Id<Cell> c) { return values[c].z; }),
                                         over_cells([&](Id<Cell> c) { return norm(values[c]); })};
                               }},
                    field);
}

VolumeAverage::VolumeAverage(const Mesh& mesh, const std::string& monitor,
                             const std::optional<std::string>& region)
    : mesh_(mesh) {
  const Topology& topology = mesh.topology();
  const std::vector<std::string>& names = topology.region_names();
  const auto found = region ? std::ranges::find(names, *region) : names.begin();
  if (found == names.end()) {
    std::string valid;
    for (const std::string& name : names) valid += (valid.empty() ? "" : ", ") + name;
    throw InputError(
        fmt::format("monitor '{}': the mesh has no region '{}', it has: {}", monitor, *region, valid));
  }
  node_volumes_.resize(at(topology.nodes().size()));
  cell_volumes_.resize(at(topology.cells().size()));
  for (Index k = 0; k < topology.cells().size(); ++k) {
    const Id<Cell> c = topology.cell_in_order(k);
    if (region && topology.region_of_cell()[at(c.value())] != found - names.begin()) continue;
    cell_volumes_[at(c.value())] = mesh.geometry().cell_volumes()[at(c.value())];
    visit_corner_volumes(topology, mesh.geometry(), c,
                         [&](Id<Node> n, Real volume) { node_volumes_[at(n.value())] += volume; });
  }
  volume_ = weighted_sum<Cell>(mesh.domain(), cell_volumes_, [](Id<Cell>) { return Real(1); });
}

std::vector<Real> VolumeAverage::operator()(const FieldSnapshot& field) const {
  const auto over_cells = [&](const auto& value) {
    return weighted_sum<Cell>(mesh_.domain(), cell_volumes_, value) / volume_;
  };
  return std::visit(Overloaded{[&](NodeScalars values) -> std::vector<Real> {
                                 return {weighted_sum<Node>(mesh_.domain(), node_volumes_,
                                                            [=](Id<Node> n) { return values[n]; }) /
                                         volume_};
                               },
                               [&](CellScalars values) -> std::vector<Real> {
                                 return {over_cells([=](Id<Cell> c) { return values[c]; })};
                               },
                               [&](CellVectors values) -> std::vector<Real> {
                                 return {over_cells([=](Id<Cell> c) { return values[c].x; }),
                                         over_cells([=](Id<Cell> c) { return values[c].y; }),
                                         over_cells([=](Id<Cell> c) { return values[c].z; })};
                               }},
                    field);
}

}  // namespace curlew
