// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/memory.hpp"
#include "kernels/vector3.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/topology.hpp"

namespace curlew {

/// Positions and measures of the entities of a mesh. Immutable.
///
/// A face of more than three nodes may be curved: it is the fan of triangles from the mean of its nodes to
/// its sides. Its area vector is the sum of theirs, which does not depend on the point in the middle, so that
/// the area vectors of a cell always sum to zero; its centroid weights the triangles' centroids by their area
/// along the mean normal. A cell is the body within its fans; its volume and centroid are exact for that
/// body. In two dimensions areas are lengths and volumes are areas, per unit depth.
class Geometry {
 public:
  Geometry(const Topology& topology, std::vector<Vector3> node_positions);

  /// [m], one per node.
  const ConstantArray<Vector3>& node_positions() const { return node_positions_; }
  /// Area times unit normal [m2], one per face.
  const ConstantArray<Vector3>& face_areas() const { return face_areas_; }
  /// [m], one per face.
  const ConstantArray<Vector3>& face_centroids() const { return face_centroids_; }
  /// [m3], one per cell; positive.
  const ConstantArray<Real>& cell_volumes() const { return cell_volumes_; }
  /// [m], one per cell.
  const ConstantArray<Vector3>& cell_centroids() const { return cell_centroids_; }
  /// Volume of the median dual of a node [m3], one per node: within a cell the part nearer to the node than
  /// to others in the sense of tetrahedra spanned by edge midpoint, face mean and cell centroid.
  const ConstantArray<Real>& node_volumes() const { return node_volumes_; }

  /// From the centroid of the cell behind a face to that of the cell ahead [m] (on the boundary: to the
  /// face's centroid).
  Vector3 dual_edge(const Topology& topology, Id<Face> f) const;

  View<Node, const Vector3> node_positions(MemorySpace space) const {
    return view<Node>(node_positions_, space);
  }
  View<Face, const Vector3> face_areas(MemorySpace space) const { return view<Face>(face_areas_, space); }
  View<Face, const Vector3> face_centroids(MemorySpace space) const {
    return view<Face>(face_centroids_, space);
  }
  View<Cell, const Real> cell_volumes(MemorySpace space) const { return view<Cell>(cell_volumes_, space); }
  View<Cell, const Vector3> cell_centroids(MemorySpace space) const {
    return view<Cell>(cell_centroids_, space);
  }
  View<Node, const Real> node_volumes(MemorySpace space) const { return view<Node>(node_volumes_, space); }

 private:
  template <class E, class T>
  static View<E, const T> view(const ConstantArray<T>& values, MemorySpace space) {
    return View<E, const T>(values.data(space), static_cast<Index>(values.size()));
  }

  ConstantArray<Vector3> node_positions_, face_areas_, face_centroids_, cell_centroids_;
  ConstantArray<Real> cell_volumes_, node_volumes_;
};

/// Area vectors of the dual faces [m2], one per edge and along it: triangles spanned by the edge's midpoint,
/// face means and cell centroids (three dimensions only).
std::vector<Vector3> dual_face_areas(const Topology& topology, const Geometry& geometry);

/// Triangles of a face's fan (a triangle itself for three nodes), with the face's orientation: calls
/// `visit(apex, a, b, position_a, position_b)` with the mean point of the face and two of its nodes. Three
/// dimensions only.
template <class Row, class Visit>
void visit_fan(const Row& nodes, View<Node, const Vector3> positions, const Visit& visit) {
  Vector3 apex{};
  for (const auto [n, sign] : nodes) apex += positions[n];
  apex *= Real(1) / static_cast<Real>(nodes.size());
  for (Index k = 0; k < nodes.size(); ++k) {
    const Id<Node> a = nodes[k].id, b = nodes[k + 1 < nodes.size() ? k + 1 : 0].id;
    visit(apex, a, b, positions[a], positions[b]);
  }
}

/// Splits a cell into its nodes' shares of volume: calls `visit(node, volume)`, several times for a node.
template <class Visit>
void visit_corner_volumes(const Topology& topology, const Geometry& geometry, Id<Cell> c,
                          const Visit& visit) {
  const auto positions = geometry.node_positions(MemorySpace::Host);
  const Vector3 centre = geometry.cell_centroids()[at(c.value())];
  if (is_simplex(topology.cell_type(c))) {
    const auto nodes = topology.nodes_of_cell()[c];
    const Real share = geometry.cell_volumes()[at(c.value())] / static_cast<Real>(nodes.size());
    for (const auto [n, sign] : nodes) visit(n, share);
    return;
  }
  for (const auto [f, sign] : topology.faces_of_cell()[c]) {
    const Real outward = sign;
    if (topology.dimension() == 2) {
      const auto side = topology.nodes_of_face()[f];
      const Vector3 normal = cross(positions[side[0].id] - centre, positions[side[1].id] - centre);
      const Real half = outward * normal.z / 4;
      visit(side[0].id, half);
      visit(side[1].id, half);
    } else {
      visit_fan(topology.nodes_of_face()[f], positions,
                [&](Vector3 apex, Id<Node> a, Id<Node> b, Vector3 xa, Vector3 xb) {
                  const Real half = outward * dot(cross(xa - apex, xb - apex), apex - centre) / 12;
                  visit(a, half);
                  visit(b, half);
                });
    }
  }
}

}  // namespace curlew
