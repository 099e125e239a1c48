// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/box_tree.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace curlew {
namespace {

/// Boxes around places that lie the closer the more of them there are, to a millionth of how far they reach.
std::vector<BoundingBox> crowded_boxes(int count) {
  std::mt19937_64 generator(3);
  std::uniform_real_distribution<Real> unit(-1, 1);
  std::vector<BoundingBox> boxes;
  for (int k = 0; k < count; ++k) {
    const Real size = std::pow(10., -6 * (1 + unit(generator)) / 2);
    const Vector3 centre{size * unit(generator), size * unit(generator), size * unit(generator)};
    const Real half = 0.03 * size;
    boxes.push_back({centre - Vector3{half, half, half}, centre + Vector3{half, half, half}});
  }
  return boxes;
}

TEST(BoxTree, finds_the_first_of_the_boxes_that_hold_a_point) {
  const std::vector<BoundingBox> boxes = crowded_boxes(3000);
  const BoxTree tree(static_cast<Index>(boxes.size()), [&](Index k) { return boxes[at(k)]; });
  int several = 0;
  for (const BoundingBox& box : boxes) {
    const Vector3 point = Real(0.3) * box.low + Real(0.7) * box.high;
    std::optional<Index> expected;
    int holding = 0;
    for (std::size_t k = boxes.size(); k-- > 0;) {
      if (!boxes[k].contains(point)) continue;
      expected = static_cast<Index>(k);
      ++holding;
    }
    several += holding > 1 ? 1 : 0;
    EXPECT_EQ(tree.first(point, [&](Index k) { return boxes[at(k)].contains(point); }), expected);
  }
  EXPECT_GT(several, 100);
  EXPECT_EQ(tree.first({2, 0, 0}, [](Index) { return true; }), std::nullopt);
  EXPECT_EQ(tree.first({std::nan(""), 0, 0}, [](Index) { return true; }), std::nullopt);
  EXPECT_EQ(BoxTree(0, [](Index) { return BoundingBox{}; }).first({}, [](Index) { return true; }),
            std::nullopt);
}

TEST(BoxTree, looks_at_few_boxes_however_unevenly_they_are_spread) {
  for (const int count : {1000, 30000}) {
    const std::vector<BoundingBox> boxes = crowded_boxes(count);
    const BoxTree tree(count, [&](Index k) { return boxes[at(k)]; });
    // Nothing is found, so that all are looked at that may be.
    std::int64_t looked_at = 0;
    for (const BoundingBox& box : boxes)
      tree.first(Real(0.5) * (box.low + box.high), [&](Index) { return ++looked_at, false; });
    EXPECT_LE(looked_at, 60 * count) << count;
  }
  // Boxes of one place cannot be told apart, and are divided all the same.
  const BoxTree same(100, [](Index) { return BoundingBox{{0, 0, 0}, {1, 1, 1}}; });
  EXPECT_EQ(same.first({.5, .5, .5}, [](Index k) { return k > 41; }), 42);
}

}  // namespace
}  // namespace curlew
