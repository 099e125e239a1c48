// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mesh/domain.hpp"
#include "mesh/geometry.hpp"
#include "mesh/renumber.hpp"
#include "mesh/topology.hpp"

namespace curlew {

/// Name of the patch that the boundary faces belong to that no group of the file holds.
inline constexpr const char* unnamed_patch = "unnamed";

/// A cell complex with its geometry. Immutable.
class Mesh {
 public:
  /// Builds the complex from what a reader delivered: cells turned to positive volume, matched face to face,
  /// renumbered, oriented. Linear in the mesh and independent of the number of threads. Throws InputError,
  /// with coordinates, for cells without volume, faces without area or shared by more than two cells, or no
  /// cells at all.
  explicit Mesh(RawMesh raw, CellOrder order = CellOrder::ReverseCuthillMcKee);

  /// What a periodic mesh was made of, or a rank's part of that.
  struct Unfolded {
    std::shared_ptr<const Mesh> mesh;  ///< null: the mesh is not periodic
    /// For each face the one of `mesh` with the same normal and nodes; after them, from the first periodic
    /// face on, the other one that became it. -1 where there is none, on a rank that has not got its cell
    /// too.
    std::vector<Index> faces;
  };

  /// Of parts that belong together: a whole mesh, or a rank's part with the notes on the whole.
  Mesh(Topology topology, Geometry geometry, Domain domain, std::vector<std::string> notes,
       Unfolded unfolded = {})
      : topology_(std::move(topology)),
        geometry_(std::move(geometry)),
        domain_(std::make_shared<const Domain>(std::move(domain))),
        notes_(std::move(notes)),
        unfolded_(std::move(unfolded)) {}

  const Topology& topology() const { return topology_; }
  const Geometry& geometry() const { return geometry_; }
  /// What of the mesh this rank has.
  const Domain& domain() const { return *domain_; }
  /// What a user should know about how the mesh was read and changed, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// The mesh whose nodes have positions: this one, or the one that a periodic mesh was made of. Cells have
  /// the same numbers in both.
  const Mesh& unfolded() const { return unfolded_.mesh ? *unfolded_.mesh : *this; }
  /// The face of unfolded() that has the normal and nodes of `f`. (A rank has it for all faces but some of
  /// its ghosts.)
  Id<Face> unfolded_face(Id<Face> f) const {
    return unfolded_.mesh ? Id<Face>(unfolded_.faces[at(f.value())]) : f;
  }
  /// Calls `visit(face, sign)` for the faces of unfolded() that became `f`, of which a periodic one has two:
  /// with sign -1 the one whose normal is the opposite. Leaves out what the rank has not got.
  template <class Visit>
  void visit_unfolded(Id<Face> f, const Visit& visit) const {
    if (!unfolded_.mesh) return visit(f, Real(1));
    const std::vector<Index>& faces = unfolded_.faces;
    const Index first = topology_.periodic_faces().first();
    const std::size_t image = at(topology_.faces().size() + f.value() - first);
    if (faces[at(f.value())] >= 0) visit(Id<Face>(faces[at(f.value())]), Real(1));
    const bool twofold = f.value() >= first && image < faces.size();
    if (twofold && faces[image] >= 0) visit(Id<Face>(faces[image]), Real(-1));
  }

 private:
  struct Built;
  explicit Mesh(Built built);

  Topology topology_;
  Geometry geometry_;
  std::shared_ptr<const Domain> domain_;
  std::vector<std::string> notes_;
  Unfolded unfolded_;
};

}  // namespace curlew
