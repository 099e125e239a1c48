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

/// Name of the patch made of the boundary faces that no group of the file holds.
inline constexpr const char* unnamed_patch = "unnamed";

/// A cell complex with its geometry. Immutable.
class Mesh {
 public:
  /// Builds the complex from what a reader delivered: cells turned to positive volume, matched face to face,
  /// renumbered, oriented. Linear in the mesh and independent of the number of threads. Throws InputError,
  /// with coordinates, for cells without volume, faces shared by more than two cells, or no cells at all.
  explicit Mesh(RawMesh raw, CellOrder order = CellOrder::ReverseCuthillMcKee);

  /// Of parts that belong together: a periodic mesh, the one that it was made of, for each face the one of
  /// that mesh with the same normal and nodes, and after them the images of the periodic ones.
  Mesh(Topology topology, Geometry geometry, const Mesh& unfolded, std::vector<Id<Face>> unfolded_faces)
      : topology_(std::move(topology)),
        geometry_(std::move(geometry)),
        domain_(std::make_shared<const Domain>(topology_)),
        notes_(unfolded.notes()),
        unfolded_(std::make_shared<const Mesh>(unfolded)),
        unfolded_faces_(std::move(unfolded_faces)) {}

  /// A rank's part of a mesh, with the notes on the whole.
  Mesh(Topology topology, Geometry geometry, Domain domain, std::vector<std::string> notes)
      : topology_(std::move(topology)),
        geometry_(std::move(geometry)),
        domain_(std::make_shared<const Domain>(std::move(domain))),
        notes_(std::move(notes)) {}

  const Topology& topology() const { return topology_; }
  const Geometry& geometry() const { return geometry_; }
  /// What of the mesh this rank has.
  const Domain& domain() const { return *domain_; }
  /// What a user should know about how the mesh was read and changed, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

  /// The mesh whose nodes have positions: this one, or the one that a periodic mesh was made of. Cells have
  /// the same numbers in both.
  const Mesh& unfolded() const { return unfolded_ ? *unfolded_ : *this; }
  /// The face of unfolded() that has the normal and nodes of `f`.
  Id<Face> unfolded_face(Id<Face> f) const { return unfolded_ ? unfolded_faces_[at(f.value())] : f; }
  /// The other face of unfolded() that became the periodic face `f`; its normal is the opposite.
  Id<Face> unfolded_image(Id<Face> f) const {
    return unfolded_faces_[at(topology_.faces().size() + f.value() - topology_.periodic_faces().first())];
  }

 private:
  struct Built;
  explicit Mesh(Built built);

  Topology topology_;
  Geometry geometry_;
  std::shared_ptr<const Domain> domain_;
  std::vector<std::string> notes_;
  std::shared_ptr<const Mesh> unfolded_;  // null but on a periodic mesh
  std::vector<Id<Face>> unfolded_faces_;
};

}  // namespace curlew
