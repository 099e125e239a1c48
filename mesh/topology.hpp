// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/incidence.hpp"
#include "mesh/entities.hpp"
#include "mesh/import/raw_mesh.hpp"

namespace curlew {

/// A named part of the boundary; its faces are consecutive.
struct Patch {
  std::string name;
  Range<Face> faces;
};

/// Whether a node comes before another in the order of the whole mesh.
class NodeOrder {
 public:
  NodeOrder() = default;
  /// `place`: of each node in that order; empty: local numbers have it.
  explicit NodeOrder(ConstantArray<Index> place) : place_(std::move(place)) {}
  bool operator()(Id<Node> a, Id<Node> b) const {
    return place_.size() == 0 ? a < b : place_[at(a.value())] < place_[at(b.value())];
  }

 private:
  ConstantArray<Index> place_;
};

/// What a Topology is made of; see its accessors.
struct TopologyParts {
  int dimension = 3;
  Index nodes = 0;
  Index edges = 0;
  std::vector<CellType> cell_types;
  IncidenceTable<Cell, Face> faces_of_cell;
  IncidenceTable<Face, Cell> cells_of_face;
  IncidenceTable<Face, Edge> edges_of_face;
  IncidenceTable<Edge, Face> faces_of_edge;
  IncidenceTable<Edge, Node> nodes_of_edge;
  IncidenceTable<Node, Edge> edges_of_node;
  IncidenceTable<Face, Node> nodes_of_face;
  IncidenceTable<Cell, Node> nodes_of_cell;
  IncidenceTable<Node, Cell> cells_of_node;
  Index interior_faces = 0;
  bool periodic = false;     ///< the whole mesh has periodic faces
  Index periodic_faces = 0;  ///< how many of the interior faces, the last ones
  std::vector<Patch> patches;
  std::vector<std::string> region_names;
  ConstantArray<Index> region_of_cell;
  /// Of a rank's part of a mesh, whose local numbers do not have the order of the whole mesh: cells in that
  /// order, and the place of each node in it. Empty: local numbers have it.
  std::vector<Index> cells_in_order;
  ConstantArray<Index> place_of_node;
  /// Of a rank's part: the faces of each patch, ghosts included, in the order of the whole mesh.
  std::vector<std::vector<Index>> faces_of_patches;
};

/// The oriented cell complex: which entity bounds which, with signs. Immutable.
///
/// Orientation: an edge runs from its lower to its higher node; a face's normal points from its lower to its
/// higher cell, and out of the domain on the boundary. Faces are numbered [interior | patch by patch]. Rows
/// of the signed tables are in ascending order. On a periodic mesh (periodic.hpp) two faces may lie between
/// the same cells and two edges between the same nodes, and where the mesh is one block wide a row may hold
/// an entity twice. In two dimensions an edge is the unit edge normal to the
/// plane at a node (entities.hpp): the tables between edges and faces connect nodes with sides, and those
/// between edges and nodes have empty rows, since nothing changes along the normal.
///
/// On several ranks a Topology holds a rank's part (docs/parallel-runs.md). Lower and ascending then refer to
/// the order of the whole mesh; faces are numbered [interior | patch by patch | ghosts], and the ranges of
/// interior and boundary faces and of patches hold what the rank owns.
class Topology {
 public:
  explicit Topology(TopologyParts parts) : parts_(std::move(parts)) {}

  int dimension() const { return parts_.dimension; }
  Range<Node> nodes() const { return Range<Node>(0, parts_.nodes); }
  Range<Edge> edges() const { return Range<Edge>(0, parts_.edges); }
  Range<Face> faces() const { return Range<Face>(0, parts_.cells_of_face.rows()); }
  Range<Cell> cells() const { return Range<Cell>(0, parts_.faces_of_cell.rows()); }
  Range<Face> interior_faces() const { return Range<Face>(0, parts_.interior_faces); }
  /// Whether patches of the whole mesh were joined (periodic.hpp); a rank's part may be without periodic
  /// faces.
  bool is_periodic() const { return parts_.periodic; }
  /// The last of the interior faces: those that periodic.hpp made of two boundary faces each.
  Range<Face> periodic_faces() const {
    return Range<Face>(parts_.interior_faces - parts_.periodic_faces, parts_.interior_faces);
  }
  Range<Face> boundary_faces() const {
    return Range<Face>(parts_.interior_faces,
                       patches().empty() ? parts_.interior_faces : patches().back().faces.last());
  }

  const std::vector<Patch>& patches() const { return parts_.patches; }
  const std::vector<std::string>& region_names() const { return parts_.region_names; }
  /// Index into region_names, one per cell.
  const ConstantArray<Index>& region_of_cell() const { return parts_.region_of_cell; }
  const std::vector<CellType>& cell_types() const { return parts_.cell_types; }
  CellType cell_type(Id<Cell> c) const { return parts_.cell_types[static_cast<std::size_t>(c.value())]; }

  /// The k-th cell in the order of the whole mesh. A sum over cells must follow it, or a row, where its bits
  /// are to be the same on any number of ranks.
  Id<Cell> cell_in_order(Index k) const {
    return Id<Cell>(parts_.cells_in_order.empty() ? k : parts_.cells_in_order[at(k)]);
  }
  /// The faces of a patch in the order of the whole mesh, of all ranks' those that this rank has: what to sum
  /// over for its nodes. (Patch::faces are those that it owns.)
  std::vector<Id<Face>> faces_of_patch(std::size_t patch) const {
    std::vector<Id<Face>> faces;
    if (parts_.faces_of_patches.empty()) {
      for (const Id<Face> f : parts_.patches[patch].faces) faces.push_back(f);
    } else {
      for (const Index f : parts_.faces_of_patches[patch]) faces.emplace_back(f);
    }
    return faces;
  }
  NodeOrder node_order() const { return NodeOrder(parts_.place_of_node); }

  /// Divergence matrix D by rows: +1 where the face's normal leaves the cell.
  const IncidenceTable<Cell, Face>& faces_of_cell() const { return parts_.faces_of_cell; }
  /// D by columns: the cell that the normal leaves (+1), then the one it enters (-1; none on the boundary).
  const IncidenceTable<Face, Cell>& cells_of_face() const { return parts_.cells_of_face; }
  /// Curl matrix C by rows: +1 where the edge runs counter-clockwise about the face's normal.
  const IncidenceTable<Face, Edge>& edges_of_face() const { return parts_.edges_of_face; }
  /// C by columns, the rotation matrix R by rows.
  const IncidenceTable<Edge, Face>& faces_of_edge() const { return parts_.faces_of_edge; }
  /// Node gradient matrix B by rows: -1 at the edge's start, +1 at its end.
  const IncidenceTable<Edge, Node>& nodes_of_edge() const { return parts_.nodes_of_edge; }
  const IncidenceTable<Node, Edge>& edges_of_node() const { return parts_.edges_of_node; }
  /// Nodes of a face, unsigned, counter-clockwise about its normal (two dimensions: start and end of the side
  /// with the lower cell on the left).
  const IncidenceTable<Face, Node>& nodes_of_face() const { return parts_.nodes_of_face; }
  /// Nodes of a cell, unsigned, in the order of RawMesh; ascending for a polyhedron.
  const IncidenceTable<Cell, Node>& nodes_of_cell() const { return parts_.nodes_of_cell; }
  const IncidenceTable<Node, Cell>& cells_of_node() const { return parts_.cells_of_node; }

 private:
  TopologyParts parts_;
};

}  // namespace curlew
