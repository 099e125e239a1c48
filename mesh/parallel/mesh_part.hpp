// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mesh/mesh.hpp"
#include "mesh/parallel/communicator.hpp"
#include "mesh/parallel/partition.hpp"

namespace curlew {

/// Of one kind of entity what a rank has: see Halo.
struct EntityPart {
  std::int64_t interior = 0, owned = 0, total = 0;
  std::vector<std::int64_t> global;
  std::vector<Index> ghost_ranks,
      ghost_starts;  ///< owners, and where the ghosts of each begin among all entities
  std::vector<Index> sent_ranks, sent_starts, sent;
};

struct TablePart {
  std::vector<Index> starts, entries;
};

struct PeriodicPart;

/// All that a rank needs of a mesh, with local numbers (docs/parallel-runs.md), as plain arrays.
struct MeshPart {
  std::int64_t rank = 0, ranks = 1, dimension = 3, interior_faces = 0;
  EntityPart nodes, edges, faces, cells;
  TablePart faces_of_cell, cells_of_face, edges_of_face, faces_of_edge, nodes_of_edge, edges_of_node,
      nodes_of_face, nodes_of_cell, cells_of_node;
  std::vector<std::uint8_t> cell_types;
  std::vector<Index> region_of_cell;
  std::vector<Index> patch_starts;         ///< patches + 1: where the faces of each begin
  std::vector<Index> patch_of_ghost_face;  ///< one per ghost face; -1: it is on none
  std::vector<std::string> region_names, patch_names;
  std::vector<Vector3> node_positions, face_areas, face_centroids, cell_centroids;
  std::vector<Real> cell_volumes, node_volumes;
  std::unique_ptr<PeriodicPart> periodic;  ///< null but on a periodic mesh, which has no node positions
};

/// What a rank needs besides of a periodic mesh.
struct PeriodicPart {
  std::int64_t faces = 0;  ///< how many of the interior faces that it owns are periodic, the last ones
  /// Its part of the mesh that the periodic one was made of: the same cells with the same numbers, though
  /// their ghosts be there only because they touch the rank's cells through a periodic face.
  MeshPart unfolded;
  std::vector<Index> unfolded_faces;  ///< Mesh::Unfolded::faces
  std::vector<Vector3> edge_vectors;  ///< GeometryParts::edge_vectors
};

/// Calls `visit(name, numbers or array)` for every member but `periodic`, which no mesh file holds: single
/// numbers (std::int64_t&), arrays of Index, int64, uint8, Real, Vector3, and lists of names.
template <class Part, class Visit>
void visit_members(Part& part, const Visit& visit) {
  const auto entity = [&](const std::string& name, auto& e) {
    visit(name + "_interior", e.interior);
    visit(name + "_owned", e.owned);
    visit(name + "_total", e.total);
    visit(name + "_global", e.global);
    visit(name + "_ghost_ranks", e.ghost_ranks);
    visit(name + "_ghost_starts", e.ghost_starts);
    visit(name + "_sent_ranks", e.sent_ranks);
    visit(name + "_sent_starts", e.sent_starts);
    visit(name + "_sent", e.sent);
  };
  const auto table = [&](const std::string& name, auto& t) {
    visit(name + "_starts", t.starts);
    visit(name + "_entries", t.entries);
  };
  visit("rank", part.rank);
  visit("ranks", part.ranks);
  visit("dimension", part.dimension);
  visit("interior_faces", part.interior_faces);
  entity("nodes", part.nodes);
  entity("edges", part.edges);
  entity("faces", part.faces);
  entity("cells", part.cells);
  table("faces_of_cell", part.faces_of_cell);
  table("cells_of_face", part.cells_of_face);
  table("edges_of_face", part.edges_of_face);
  table("faces_of_edge", part.faces_of_edge);
  table("nodes_of_edge", part.nodes_of_edge);
  table("edges_of_node", part.edges_of_node);
  table("nodes_of_face", part.nodes_of_face);
  table("nodes_of_cell", part.nodes_of_cell);
  table("cells_of_node", part.cells_of_node);
  visit("cell_types", part.cell_types);
  visit("region_of_cell", part.region_of_cell);
  visit("patch_starts", part.patch_starts);
  visit("patch_of_ghost_face", part.patch_of_ghost_face);
  visit("region_names", part.region_names);
  visit("patch_names", part.patch_names);
  visit("node_positions", part.node_positions);
  visit("face_areas", part.face_areas);
  visit("face_centroids", part.face_centroids);
  visit("cell_centroids", part.cell_centroids);
  visit("cell_volumes", part.cell_volumes);
  visit("node_volumes", part.node_volumes);
}

/// Cuts a whole mesh into what the ranks need of it.
class MeshDivider {
 public:
  /// Both must outlive it.
  MeshDivider(const Mesh& mesh, const Partition& partition);

  /// In time proportional to the part.
  MeshPart part(Index rank);

 private:
  /// The cells of a part, in the order of the whole mesh, and for each the ranks that have it, its owner
  /// included: only this one, if no other rank's cell touches it.
  struct Cells {
    std::vector<Index> list;
    std::vector<std::vector<Index>> holders;
  };

  Index owner_of(Id<Cell> c) const { return partition_.part_of_cell[at(c.value())]; }
  Cells cells_of(Index rank);
  /// The part of a mesh that has `cells`: the divider's own, or the one that it was made of.
  MeshPart cut(const Mesh& mesh, const Cells& cells, Index rank);
  /// PeriodicPart::unfolded_faces.
  std::vector<Index> unfolded_faces(const MeshPart& part, const MeshPart& unfolded);

  /// Brings a rank's entities of one kind into the order of their local numbers, and says who has which.
  template <class E>
  void number(const Topology& t, std::vector<Index>& list, const Cells& cells, Index rank,
              EntityPart& part) const;

  const Mesh& mesh_;
  const Partition& partition_;
  std::vector<Index> part_starts_, cells_of_part_;
  /// Of the present part: local number of each global entity, or none.
  std::vector<Index> local_node_, local_edge_, local_face_, local_cell_;
};

/// The mesh of a rank, with `notes` on the whole one. Takes part in nothing; the communicator is for those
/// who use the mesh.
Mesh make_mesh(MeshPart part, std::shared_ptr<const Communicator> communicator,
               std::vector<std::string> notes = {});

/// A part as one run of bytes, and back.
std::vector<std::byte> bytes_of(const MeshPart& part);
MeshPart part_from(std::span<const std::byte> bytes);

/// Rank 0 divides a mesh and sends every rank its part; the others give no mesh. Every rank gets its own.
MeshPart distribute(const Mesh* whole, const Partition* partition, const Communicator& communicator);

}  // namespace curlew
