// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/memory.hpp"
#include "kernels/vector3.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/topology.hpp"

namespace curlew {

/// Where cells see the centroids of their faces [m]. A periodic face lies in two places: at one for the cell
/// behind it, at another for the cell ahead.
class FaceCentroidsOfCells {
 public:
  /// As in GeometryParts.
  FaceCentroidsOfCells(View<Face, const Vector3> centroids, std::optional<Index> first_periodic, Index faces)
      : centroids_(centroids),
        first_periodic_(first_periodic.value_or(std::numeric_limits<Index>::max())),
        further_(faces - first_periodic.value_or(0)) {}

  /// `sign`: of the face in the cell's row (and of the cell in the face's), +1 where the normal leaves the
  /// cell. The test by the face alone comes first, since it fails throughout on other meshes: a processor
  /// that foresees it has the address of the centroid without waiting for the sign.
  CURLEW_HOST_DEVICE Vector3 operator()(Id<Face> f, Real sign) const {
    if (f.value() >= first_periodic_) [[unlikely]] {
      return centroids_[Id<Face>(f.value() + static_cast<Index>(sign < 0) * further_)];
    }
    return centroids_[f];
  }

 private:
  View<Face, const Vector3> centroids_;
  Index first_periodic_, further_;
};

/// What a Geometry is made of; see its accessors.
struct GeometryParts {
  ConstantArray<Vector3> node_positions, face_areas, face_centroids, cell_centroids;
  ConstantArray<Real> cell_volumes, node_volumes;
  /// Of a periodic mesh, or a part of one: from this face on `face_centroids` has those that the cells ahead
  /// see too, after those of all faces; at least to the last periodic face, in any order of these and others.
  std::optional<Index> first_periodic_face;
  ConstantArray<Vector3> edge_vectors;  ///< of a periodic mesh in three dimensions alone
};

/// Positions and measures of the entities of a mesh. Immutable.
///
/// A face of more than three nodes may be curved: it is the fan of triangles from the mean of its nodes to
/// its sides. Its area vector is the sum of theirs, which does not depend on the point in the middle, so that
/// the area vectors of a cell always sum to zero; its centroid weights the triangles' centroids by their area
/// along the mean normal. A cell is the body within its fans; its volume and centroid are exact for that
/// body. In two dimensions areas are lengths and volumes are areas, per unit depth.
class Geometry {
 public:
  /// Throws InputError, with coordinates, for a face without area.
  Geometry(const Topology& topology, std::vector<Vector3> node_positions);
  explicit Geometry(GeometryParts parts) : parts_(std::move(parts)) {}

  /// [m], one per node. Throws Error on a periodic mesh, whose nodes may lie in several places.
  const ConstantArray<Vector3>& node_positions() const {
    REQUIRE(!parts_.first_periodic_face,
            "nodes of a periodic mesh have no one position; take the mesh that it was made of");
    return parts_.node_positions;
  }
  /// Area times unit normal [m2], one per face.
  const ConstantArray<Vector3>& face_areas() const { return parts_.face_areas; }
  /// [m], one per face; of a periodic face as the cell behind it sees it, and after all faces follow
  /// centroids as the cells ahead see them (GeometryParts).
  const ConstantArray<Vector3>& face_centroids() const { return parts_.face_centroids; }
  /// [m3], one per cell; positive.
  const ConstantArray<Real>& cell_volumes() const { return parts_.cell_volumes; }
  /// [m], one per cell.
  const ConstantArray<Vector3>& cell_centroids() const { return parts_.cell_centroids; }
  /// Volume of the median dual of a node [m3], one per node: within a cell the part nearer to the node than
  /// to others in the sense of tetrahedra spanned by edge midpoint, face mean and cell centroid.
  const ConstantArray<Real>& node_volumes() const { return parts_.node_volumes; }

  /// From the start of an edge to its end [m] (three dimensions only), on a periodic mesh too: all the places
  /// of an edge are one moved.
  Vector3 edge_vector(const Topology& topology, Id<Edge> e) const;

  /// From the centroid of the cell behind a face to that of the cell ahead [m] (on the boundary: to the
  /// face's centroid), through the face where it is periodic.
  Vector3 dual_edge(const Topology& topology, Id<Face> f) const;

  View<Node, const Vector3> node_positions(MemorySpace space) const {
    return view<Node>(node_positions(), space);
  }
  View<Face, const Vector3> face_areas(MemorySpace space) const {
    return view<Face>(parts_.face_areas, space);
  }
  FaceCentroidsOfCells face_centroids_of_cells(MemorySpace space) const {
    return FaceCentroidsOfCells(view<Face>(parts_.face_centroids, space), parts_.first_periodic_face,
                                static_cast<Index>(parts_.face_areas.size()));
  }
  View<Cell, const Real> cell_volumes(MemorySpace space) const {
    return view<Cell>(parts_.cell_volumes, space);
  }
  View<Cell, const Vector3> cell_centroids(MemorySpace space) const {
    return view<Cell>(parts_.cell_centroids, space);
  }
  View<Node, const Real> node_volumes(MemorySpace space) const {
    return view<Node>(parts_.node_volumes, space);
  }

 private:
  template <class E, class T>
  static View<E, const T> view(const ConstantArray<T>& values, MemorySpace space) {
    return View<E, const T>(values.data(space), static_cast<Index>(values.size()));
  }

  GeometryParts parts_;
};

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

/// The shares of all nodes in all cells that visit_corner_volumes gives [m3].
class CornerVolumes {
 public:
  CornerVolumes(const Topology& topology, const Geometry& geometry);
  Real operator()(Id<Cell> c, Id<Node> n) const { return shares_[place_of(c, n)]; }

 private:
  std::size_t place_of(Id<Cell> c, Id<Node> n) const {
    const auto nodes = nodes_of_cell_[c];
    Index k = 0;
    while (nodes[k].id != n) ++k;
    return at(nodes_of_cell_.start(c) + k);
  }

  Incidence<Cell, Node> nodes_of_cell_;
  std::vector<Real> shares_;
};

}  // namespace curlew
