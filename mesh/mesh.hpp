// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>
#include <utility>
#include <vector>

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

  /// Of parts that belong together.
  Mesh(Topology topology, Geometry geometry, std::vector<std::string> notes)
      : topology_(std::move(topology)), geometry_(std::move(geometry)), notes_(std::move(notes)) {}

  const Topology& topology() const { return topology_; }
  const Geometry& geometry() const { return geometry_; }
  /// What a user should know about how the mesh was read and changed, a sentence each.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Built;
  explicit Mesh(Built built);

  Topology topology_;
  Geometry geometry_;
  std::vector<std::string> notes_;
};

}  // namespace curlew
