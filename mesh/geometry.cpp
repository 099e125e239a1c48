// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/geometry.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cmath>

#include "kernels/parallel.hpp"
#include "mesh/where.hpp"

namespace curlew {

namespace {

constexpr Real third = Real(1) / 3;

struct FaceGeometry {
  Vector3 area, centroid;
};

/// Right-hand normal of the side from a to b in the plane, of the side's length.
Vector3 side_normal(Vector3 a, Vector3 b) {
  return {b.y - a.y, a.x - b.x, 0};
}

template <class Row>
FaceGeometry polygon_geometry(const Row& nodes, View<Node, const Vector3> positions) {
  if (nodes.size() == 3) {
    const Vector3 a = positions[nodes[0].id], b = positions[nodes[1].id], c = positions[nodes[2].id];
    return {Real(0.5) * cross(b - a, c - a), third * (a + b + c)};
  }
  Vector3 area{};
  visit_fan(nodes, positions, [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
    area += Real(0.5) * cross(a - apex, b - apex);
  });
  Vector3 moment{};
  Real weight = 0;
  visit_fan(nodes, positions, [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
    const Real share = Real(0.5) * dot(cross(a - apex, b - apex), area);
    weight += share;
    moment += (share * third) * (apex + a + b);
  });
  return {area, moment / weight};
}

[[noreturn]] void refuse_face(const Topology& topology, View<Node, const Vector3> positions, Id<Face> f) {
  const auto nodes = topology.nodes_of_face()[f];
  Vector3 sum{};
  for (const auto [n, sign] : nodes) sum += positions[n];
  const Vector3 middle = sum / static_cast<Real>(nodes.size());
  throw InputError(fmt::format(
      "the face at {} has no area: its nodes lie in one place or on one line; make its cells of a type "
      "without that face, or remake the mesh",
      where(middle)));
}

struct CellGeometry {
  Real volume;
  Vector3 centroid;
};

/// Sums over pyramids from the mean of the face centroids to the triangles of the faces' fans.
CellGeometry cell_geometry(const Topology& topology, View<Node, const Vector3> positions,
                           const std::vector<Vector3>& face_centroids, Id<Cell> c) {
  const auto faces = topology.faces_of_cell()[c];
  Vector3 apex{};
  for (const auto [f, sign] : faces) apex += face_centroids[at(f.value())];
  apex *= Real(1) / static_cast<Real>(faces.size());
  Real volume = 0;
  Vector3 moment{};
  for (const auto [f, sign] : faces) {
    const auto nodes = topology.nodes_of_face()[f];
    const Real outward = sign;
    const auto add = [&](Real share, Vector3 base_centroid) {
      const Real d = static_cast<Real>(topology.dimension());
      volume += share;
      moment += (share * d / (d + 1)) * (base_centroid - apex);
    };
    if (topology.dimension() == 2) {
      const Vector3 a = positions[nodes[0].id], b = positions[nodes[1].id], middle = Real(0.5) * (a + b);
      add(outward * dot(side_normal(a, b), middle - apex) / 2, middle);
    } else if (nodes.size() == 3) {
      const Vector3 a = positions[nodes[0].id], b = positions[nodes[1].id], d = positions[nodes[2].id];
      add(outward * dot(cross(b - a, d - a), a - apex) / 6, third * (a + b + d));
    } else {
      visit_fan(nodes, positions, [&](Vector3 middle, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
        add(outward * dot(cross(a - middle, b - middle), middle - apex) / 6, third * (a + b + middle));
      });
    }
  }
  return {volume, apex + moment / volume};
}

}  // namespace

Geometry::Geometry(const Topology& topology, std::vector<Vector3> node_positions) {
  parts_.node_positions = ConstantArray<Vector3>(std::move(node_positions));
  const auto positions = this->node_positions(MemorySpace::Host);
  const std::size_t faces = at(topology.faces().size()), cells = at(topology.cells().size());

  std::vector<Vector3> areas(faces), centroids(faces);
  const auto nodes_of_face = topology.nodes_of_face().view(MemorySpace::Host);
  const auto none = static_cast<Index>(faces);
  std::atomic<Index> flat{none};
  parallel_for(faces, [&](std::size_t f) {
    const auto nodes = nodes_of_face[Id<Face>(static_cast<Index>(f))];
    if (topology.dimension() == 2) {
      const Vector3 a = positions[nodes[0].id], b = positions[nodes[1].id];
      areas[f] = side_normal(a, b);
      centroids[f] = Real(0.5) * (a + b);
    } else {
      const FaceGeometry face = polygon_geometry(nodes, positions);
      areas[f] = face.area;
      centroids[f] = face.centroid;
    }
    const Real square = dot(areas[f], areas[f]);
    if (!(square > 0) || !std::isfinite(square)) record_lowest(flat, static_cast<Index>(f));
  });
  if (flat < none) refuse_face(topology, positions, Id<Face>(flat));

  std::vector<Real> volumes(cells);
  std::vector<Vector3> cell_centroids(cells);
  parallel_for(cells, [&](std::size_t c) {
    const CellGeometry cell = cell_geometry(topology, positions, centroids, Id<Cell>(static_cast<Index>(c)));
    volumes[c] = cell.volume;
    cell_centroids[c] = cell.centroid;
  });
  parts_.face_areas = ConstantArray<Vector3>(std::move(areas));
  parts_.face_centroids = ConstantArray<Vector3>(std::move(centroids));
  parts_.cell_volumes = ConstantArray<Real>(std::move(volumes));
  parts_.cell_centroids = ConstantArray<Vector3>(std::move(cell_centroids));

  // A node adds its shares up in the order of its cells.
  const CornerVolumes corner_volume(topology, *this);
  std::vector<Real> node_volumes(at(topology.nodes().size()), 0);
  const auto cells_of_node = topology.cells_of_node().view(MemorySpace::Host);
  parallel_for(node_volumes.size(), [&](std::size_t i) {
    const Id<Node> n(static_cast<Index>(i));
    for (const auto [c, sign] : cells_of_node[n]) node_volumes[i] += corner_volume(c, n);
  });
  parts_.node_volumes = ConstantArray<Real>(std::move(node_volumes));
}

CornerVolumes::CornerVolumes(const Topology& topology, const Geometry& geometry)
    : nodes_of_cell_(topology.nodes_of_cell().view(MemorySpace::Host)),
      shares_(topology.nodes_of_cell().entries(), 0) {
  parallel_for(at(topology.cells().size()), [&](std::size_t i) {
    const Id<Cell> c(static_cast<Index>(i));
    visit_corner_volumes(topology, geometry, c,
                         [&](Id<Node> n, Real volume) { shares_[place_of(c, n)] += volume; });
  });
}

Vector3 Geometry::edge_vector(const Topology& topology, Id<Edge> e) const {
  if (parts_.first_periodic_face) return parts_.edge_vectors[at(e.value())];
  const auto ends = topology.nodes_of_edge()[e];
  return parts_.node_positions[at(ends[1].id.value())] - parts_.node_positions[at(ends[0].id.value())];
}

Vector3 Geometry::dual_edge(const Topology& topology, Id<Face> f) const {
  const auto face_centroid = face_centroids_of_cells(MemorySpace::Host);
  const auto cell_centroid = cell_centroids(MemorySpace::Host);
  const auto cells = topology.cells_of_face()[f];
  const Vector3 behind = cell_centroid[cells[0].id], middle = face_centroid(f, 1);
  if (cells.size() == 1) return middle - behind;
  return (cell_centroid[cells[1].id] - behind) + (middle - face_centroid(f, -1));
}

}  // namespace curlew
