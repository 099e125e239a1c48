// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/box_tree.hpp"

#include <algorithm>
#include <array>

#include "kernels/parallel.hpp"

namespace curlew {

namespace {

constexpr Index most_members = 8;  // of a branch that is not divided

constexpr std::array<Real Vector3::*, 3> directions{&Vector3::x, &Vector3::y, &Vector3::z};

}  // namespace

BoxTree::BoxTree(Index count, const std::function<BoundingBox(Index)>& box_of) {
  if (count == 0) return;
  std::vector<Centre> centres(at(count));
  parallel_for(centres.size(), [&](std::size_t k) {
    const BoundingBox box = box_of(static_cast<Index>(k));
    centres[k] = {Real(0.5) * (box.low + box.high), static_cast<Index>(k)};
  });
  BoundingBox reach{centres[0].position, centres[0].position};
  for (const Centre& centre : centres) reach.include(centre.position);
  members_.resize(centres.size());
  divide(centres, 0, count, reach, box_of);
}

void BoxTree::divide(std::vector<Centre>& centres, Index begin, Index end, BoundingBox reach,
                     const std::function<BoundingBox(Index)>& box_of) {
  const std::size_t number = branches_.size();
  branches_.push_back({{}, 0, begin, end, 0});
  if (end - begin <= most_members) {
    for (Index k = begin; k < end; ++k) members_[at(k)] = centres[at(k)].member;
    std::sort(members_.begin() + begin, members_.begin() + end);
    BoundingBox box = box_of(members_[at(begin)]);
    for (Index k = begin; k < end; ++k) {
      const BoundingBox other = box_of(members_[at(k)]);
      box.include(other.low);
      box.include(other.high);
    }
    branches_[number].box = box;
    branches_[number].least = members_[at(begin)];
    return;
  }
  const Vector3 size = reach.high - reach.low;
  const auto along = std::ranges::max(directions, {}, [&](auto direction) { return size.*direction; });
  const Index middle = begin + (end - begin) / 2;
  std::nth_element(centres.begin() + begin, centres.begin() + middle, centres.begin() + end,
                   [&](const Centre& a, const Centre& b) { return a.position.*along < b.position.*along; });
  BoundingBox first = reach, second = reach;
  first.high.*along = second.low.*along = centres[at(middle)].position.*along;
  divide(centres, begin, middle, first, box_of);
  const std::size_t half = branches_.size();
  divide(centres, middle, end, second, box_of);
  Branch& branch = branches_[number];
  branch.second_half = static_cast<Index>(half);
  branch.box = branches_[number + 1].box;
  branch.box.include(branches_[half].box.low);
  branch.box.include(branches_[half].box.high);
  branch.least = std::min(branches_[number + 1].least, branches_[half].least);
}

}  // namespace curlew
