// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mesh/bounding_box.hpp"

namespace curlew {

/// Boxes that are halved again and again by the medians of their centres, in the directions in which they
/// reach farthest: what holds a point is found among however unevenly spread boxes in a time that grows as
/// the logarithm of their number, as far as few overlap (Rubin & Whitted, SIGGRAPH 1980).
class BoxTree {
 public:
  /// `box_of(k)` for k from 0 to count - 1; called twice for each.
  BoxTree(Index count, const std::function<BoundingBox(Index)>& box_of);

  /// The least k, of boxes that may hold the point (they and some around it), for which `is_wanted(k)`.
  template <class IsWanted>
  std::optional<Index> first(Vector3 point, const IsWanted& is_wanted) const {
    std::optional<Index> found;
    if (!branches_.empty()) search(0, point, is_wanted, found);
    return found;
  }

 private:
  struct Branch {
    BoundingBox box;
    Index least;        ///< of its members
    Index begin, end;   ///< of members_
    Index second_half;  ///< a branch; the first half is the next one; 0: it is not divided
  };
  struct Centre {
    Vector3 position;
    Index member;
  };

  void divide(std::vector<Centre>& centres, Index begin, Index end, BoundingBox reach,
              const std::function<BoundingBox(Index)>& box_of);

  template <class IsWanted>
  void search(Index number, Vector3 point, const IsWanted& is_wanted, std::optional<Index>& found) const {
    const Branch& branch = branches_[at(number)];
    if (!branch.box.contains(point) || (found && branch.least >= *found)) return;
    if (branch.second_half != 0) {
      search(number + 1, point, is_wanted, found);
      search(branch.second_half, point, is_wanted, found);
      return;
    }
    for (Index k = branch.begin; k < branch.end; ++k) {
      const Index member = members_[at(k)];
      if (found && member >= *found) return;
      if (is_wanted(member)) found = member;
    }
  }

  std::vector<Branch> branches_;
  std::vector<Index> members_;  // ascending within a branch that is not divided
};

}  // namespace curlew
