// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/point_location.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

namespace curlew {

namespace {

constexpr Real relative_tolerance = 1e-9;
/// Of the distance from the plane of the mesh: it may have been read from numbers of single precision.
constexpr Real relative_plane_tolerance = 1e-6;

using Triangle = std::array<Vector3, 3>;
using Tetrahedron = std::array<Vector3, 4>;

/// A point relative to a simplex.
template <std::size_t corners>
struct Barycentric {
  std::array<Real, corners> weights;
  Real depth;  ///< distance to the nearest of the planes of the simplex [m], negative outside
};

/// Flatter simplices than this, by their measure over that of the box of their edges, hold no point.
constexpr Real flat = 1e-13;

/// Of the origin in a counter-clockwise triangle in the plane; nothing if it is flat or clockwise.
std::optional<Barycentric<3>> barycentric(const Triangle& x) {
  Barycentric<3> result;
  Real area = 0;
  result.depth = std::numeric_limits<Real>::infinity();
  for (std::size_t k = 0; k < 3; ++k) {
    const Vector3 a = x[(k + 1) % 3], b = x[(k + 2) % 3];
    const Real part = a.x * b.y - a.y * b.x;
    result.weights[k] = part;
    result.depth = std::min(result.depth, part / std::hypot(b.x - a.x, b.y - a.y));
    area += part;
  }
  if (!(area > flat * norm(x[1] - x[0]) * norm(x[2] - x[0]))) return std::nullopt;
  for (Real& weight : result.weights) weight /= area;
  return result;
}

/// Of the origin in a tetrahedron with dot(x1 - x0, cross(x2 - x0, x3 - x0)) > 0; nothing
/// if it is flat or that is not so.
std::optional<Barycentric<4>> barycentric(const Tetrahedron& x) {
  // The triangle opposite to each corner, counter-clockwise seen from outside.
  constexpr std::size_t opposite[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
  Barycentric<4> result;
  Real volume = 0;
  result.depth = std::numeric_limits<Real>::infinity();
  for (std::size_t k = 0; k < 4; ++k) {
    const Vector3 a = x[opposite[k][0]], b = x[opposite[k][1]], c = x[opposite[k][2]];
    const Vector3 normal = cross(b - a, c - a);
    const Real part = dot(a, normal);
    result.weights[k] = part;
    result.depth = std::min(result.depth, part / norm(normal));
    volume += part;
  }
  if (!(volume > flat * norm(x[1] - x[0]) * norm(x[2] - x[0]) * norm(x[3] - x[0]))) return std::nullopt;
  for (Real& weight : result.weights) weight /= volume;
  return result;
}

std::vector<Id<Cell>> owned_cells_in_order(const Mesh& mesh) {
  std::vector<Id<Cell>> cells;
  for (Index k = 0; k < mesh.topology().cells().size(); ++k) {
    const Id<Cell> c = mesh.topology().cell_in_order(k);
    if (mesh.domain().halo<Cell>().owned().contains(c)) cells.push_back(c);
  }
  return cells;
}

}  // namespace

Real NodeInterpolation::operator()(std::span<const Real> values) const {
  Real sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k].weight * values[k];
  return sum;
}

PointLocator::PointLocator(const Mesh& mesh) : PointLocator(mesh, owned_cells_in_order(mesh)) {}

PointLocator::PointLocator(const Mesh& mesh, std::span<const Id<Cell>> cells)
    : mesh_(mesh),
      whole_(bounding_box(mesh)),
      tolerance_(relative_tolerance * norm(whole_.high - whole_.low)),
      cells_(cells.begin(), cells.end()),
      boxes_(static_cast<Index>(cells_.size()), [this](Index k) { return box_of(cells_[at(k)]); }) {}

BoundingBox PointLocator::box_of(Id<Cell> c) const {
  const auto positions = mesh_.geometry().node_positions(MemorySpace::Host);
  const auto nodes = mesh_.topology().nodes_of_cell()[c];
  BoundingBox box{positions[nodes[0].id], positions[nodes[0].id]};
  for (const auto [n, sign] : nodes) box.include(positions[n]);
  const Vector3 margin{tolerance_, tolerance_, tolerance_};
  return {box.low - margin, box.high + margin};
}

std::optional<NodeInterpolation> PointLocator::locate(Vector3 point,
                                                      const std::function<bool(Id<Cell>)>& is_wanted) const {
  if (mesh_.topology().dimension() == 2) {
    const Real beside = std::abs(point.z - whole_.low.z);
    if (!(beside <= relative_plane_tolerance * norm(whole_.high - whole_.low))) return std::nullopt;
    point.z = whole_.low.z;
  }
  std::optional<NodeInterpolation> place;
  boxes_.first(point, [&](Index k) {
    if (!is_wanted(cells_[at(k)])) return false;
    auto found = locate_in(cells_[at(k)], point);
    if (found) place = std::move(found);
    return found.has_value();
  });
  return place;
}

std::optional<NodeInterpolation> PointLocator::locate_in(Id<Cell> c, Vector3 point) const {
  if (!box_of(c).contains(point)) return std::nullopt;
  const Topology& topology = mesh_.topology();
  const auto positions = mesh_.geometry().node_positions(MemorySpace::Host);
  const auto nodes = topology.nodes_of_cell()[c];
  const auto from_point = [&](Id<Node> n) { return positions[n] - point; };

  // The position deepest inside a simplex of the cell is the one that round-off can say least against.
  bool found = false;
  Real deepest = -tolerance_;
  const auto is_deepest = [&](const auto& position) {
    if (!position || position->depth < deepest) return false;
    deepest = position->depth;
    return found = true;
  };
  std::vector<Real> weights(at(nodes.size()));
  const auto add_to = [&](Id<Node> n, Real weight) {
    Index k = 0;
    while (nodes[k].id != n) ++k;
    weights[at(k)] += weight;
  };
  const auto set_all = [&](Real mean) { std::ranges::fill(weights, mean / static_cast<Real>(nodes.size())); };

  if (is_simplex(topology.cell_type(c))) {
    const auto corner = [&](Index k) { return from_point(nodes[k].id); };
    if (topology.dimension() == 2) {
      const auto position = barycentric(Triangle{corner(0), corner(1), corner(2)});
      if (is_deepest(position)) std::ranges::copy(position->weights, weights.begin());
    } else {
      const auto position = barycentric(Tetrahedron{corner(0), corner(1), corner(2), corner(3)});
      if (is_deepest(position)) std::ranges::copy(position->weights, weights.begin());
    }
  } else {
    Vector3 centre{};
    for (const auto [n, sign] : nodes) centre += from_point(n);
    centre *= Real(1) / static_cast<Real>(nodes.size());
    for (const auto [f, outward] : topology.faces_of_cell()[c]) {
      const auto corners = topology.nodes_of_face()[f];
      const bool reversed = outward < 0;
      if (topology.dimension() == 2) {
        const Id<Node> a = corners[reversed ? 1 : 0].id, b = corners[reversed ? 0 : 1].id;
        const auto position = barycentric(Triangle{centre, from_point(a), from_point(b)});
        if (!is_deepest(position)) continue;
        set_all(position->weights[0]);
        add_to(a, position->weights[1]);
        add_to(b, position->weights[2]);
        continue;
      }
      visit_fan(corners, positions, [&](Vector3 apex, Id<Node> a, Id<Node> b, Vector3, Vector3) {
        if (reversed) std::swap(a, b);
        const auto position = barycentric(Tetrahedron{centre, apex - point, from_point(a), from_point(b)});
        if (!is_deepest(position)) return;
        set_all(position->weights[0]);
        for (const auto [n, sign] : corners)
          add_to(n, position->weights[1] / static_cast<Real>(corners.size()));
        add_to(a, position->weights[2]);
        add_to(b, position->weights[3]);
      });
    }
  }
  if (!found) return std::nullopt;
  NodeInterpolation result{c, {}};
  for (Index k = 0; k < nodes.size(); ++k) result.weights.push_back({nodes[k].id, weights[at(k)]});
  return result;
}

}  // namespace curlew
