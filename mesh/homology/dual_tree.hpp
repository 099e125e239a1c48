// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <vector>

#include "mesh/topology.hpp"

namespace curlew {

/// A spanning forest of the dual graph: cells, and one vertex outside that every open face joins to its cell.
/// A face is given (on the boundary, its flux is known), open (on the boundary, its flux is not) or interior;
/// the latter two are free. The fluxes of free faces outside of the tree are coordinates of the fluxes
/// without divergence: `balance` finds those of the tree.
///
/// Breadth-first, so that the ways to the roots have the fewest faces, and the same whatever runs it. The
/// root of a part of the domain (connected through faces) is the outside where the part has an open face,
/// else its lowest cell: such a part is closed. Linear in the mesh.
class DualTree {
 public:
  /// One flag per face, false on interior faces (throws Error otherwise). `topology` must outlive the tree.
  DualTree(const Topology& topology, const std::vector<bool>& flux_is_given);

  bool is_free(Id<Face> f) const { return !flux_is_given_[at(f.value())]; }
  bool contains(Id<Face> f) const { return in_tree_[at(f.value())]; }

  /// A cell and the face through which the tree enters it, +1 where the face's normal leaves the cell.
  struct Step {
    Id<Cell> cell;
    SignedId<Face> face;
  };
  /// One per cell that is no root, from the roots outwards: a step comes after that of the cell it leaves.
  const std::vector<Step>& steps() const { return steps_; }
  /// The roots of closed parts, ascending.
  const std::vector<Id<Cell>>& closed_roots() const { return closed_roots_; }

  /// Sets the fluxes of the tree's faces so that nothing is left over in any cell; other fluxes stay as they
  /// are, one per face in all. In a closed part the net outflow of its given fluxes is left in the root.
  /// Exact where all fluxes are multiples of one power of two and sums stay below 2^53 of it.
  void balance(std::span<Real> flux) const;

  /// The unit flux along the normal of a free face that is not in the tree, and back through the tree: `f`
  /// first, then each face on the way once, in no particular order, with its flux. No cell has a net outflow.
  std::vector<SignedId<Face>> cycle(Id<Face> f) const;

 private:
  const Topology& topology_;
  std::vector<bool> flux_is_given_, in_tree_;
  std::vector<Step> steps_;
  std::vector<Index> step_of_cell_;  // -1 for a root
  std::vector<Index> depth_;         // faces on the way from the root of each cell
  std::vector<Id<Cell>> closed_roots_;
};

}  // namespace curlew
