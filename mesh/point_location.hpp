// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "mesh/bounding_box.hpp"
#include "mesh/box_tree.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// Where a point lies and how values at nodes combine to the value there.
struct NodeInterpolation {
  struct Weight {
    Id<Node> node;
    Real weight;
  };

  Id<Cell> cell;                ///< that holds the point
  std::vector<Weight> weights;  ///< one per node of the cell, in the order of nodes_of_cell; their sum is 1

  /// The value at the point, from one per node of the cell in the order of the weights.
  Real operator()(std::span<const Real> values) const;
};

/// Finds the cells that hold given points, by a tree of their boxes. Searches may run side by side. The mesh
/// must outlive it.
///
/// Within a cell values are linear on each simplex: the cell itself where it is one, else those spanned by
/// the mean of the cell's nodes and its sides (two dimensions) or the triangles of its faces' fans, the means
/// having the means of their nodes' values. That is continuous over the mesh and exact for linear fields. It
/// wants cells that are star-shaped about the mean of their nodes; where the simplices of another overlap,
/// the point goes to one of them.
///
/// On a mesh divided among ranks each searches the cells that it owns; the one that holds a point, if several
/// do, is the one with the lowest global index of all ranks'.
class PointLocator {
 public:
  /// By all ranks together. Throws Error on a periodic mesh, which has no node positions: search the mesh
  /// that it was made of.
  explicit PointLocator(const Mesh& mesh);
  /// Searches no other cells than these; of several that share a point the first one is found.
  PointLocator(const Mesh& mesh, std::span<const Id<Cell>> cells);

  const Mesh& mesh() const { return mesh_; }
  /// Corners of the bounding box of the whole mesh [m].
  Vector3 low() const { return whole_.low; }
  Vector3 high() const { return whole_.high; }

  /// The cell that holds `point` (of several that share it the one with the lowest global index) with the
  /// weights of its nodes; nothing for a point further outside than 1e-9 of the diagonal of the mesh's box.
  /// In two dimensions it may be 1e-6 of that beside the plane of the mesh, which counts as in it.
  std::optional<NodeInterpolation> locate(Vector3 point) const {
    return locate(point, [](Id<Cell>) { return true; });
  }
  /// The same among the cells for which `is_wanted` holds.
  std::optional<NodeInterpolation> locate(Vector3 point,
                                          const std::function<bool(Id<Cell>)>& is_wanted) const;

 private:
  /// Of the cell, widened by the tolerance.
  BoundingBox box_of(Id<Cell> c) const;
  std::optional<NodeInterpolation> locate_in(Id<Cell> c, Vector3 point) const;

  const Mesh& mesh_;
  BoundingBox whole_;            // of all ranks' nodes
  Real tolerance_;               // [m]
  std::vector<Id<Cell>> cells_;  // in the order of the search
  BoxTree boxes_;                // of these
};

}  // namespace curlew
