// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/point_location.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "mesh/box.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

/// The solid angle of a triangle seen from the origin (van Oosterom & Strackee 1983).
Real solid_angle(Vector3 a, Vector3 b, Vector3 c) {
  const Real la = norm(a), lb = norm(b), lc = norm(c);
  return 2 * std::atan2(dot(a, cross(b, c)), la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb);
}

class PointLocation : public ::testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Topology& t_ = mesh_.topology();
  const Geometry& g_ = mesh_.geometry();
  const PointLocator locator_{mesh_};
  std::mt19937_64 generator_{5};

  Vector3 position(Id<Node> n) const { return g_.node_positions()[at(n.value())]; }

  template <class Row>
  Vector3 mean(const Row& nodes) const {
    Vector3 sum{};
    for (const auto [n, sign] : nodes) sum += position(n);
    return sum / static_cast<Real>(nodes.size());
  }

  Real diagonal() const {
    Real largest = 0;
    for (const Vector3 a : g_.node_positions().host())
      for (const Vector3 b : g_.node_positions().host()) largest = std::max(largest, norm(a - b));
    return largest;
  }

  /// How often the boundary of a cell winds about a point: 1 inside, 0 outside.
  Real winding(Id<Cell> c, Vector3 point) const {
    Real angle = 0;
    for (const auto [f, sign] : t_.faces_of_cell()[c]) {
      const auto nodes = t_.nodes_of_face()[f];
      const Real outward = sign;
      if (t_.dimension() == 2) {
        const Vector3 a = position(nodes[0].id) - point, b = position(nodes[1].id) - point;
        angle += outward * std::atan2(cross(a, b).z, dot(a, b)) / (2 * std::numbers::pi);
      } else {
        visit_fan(nodes, g_.node_positions(MemorySpace::Host),
                  [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
                    angle +=
                        outward * solid_angle(apex - point, a - point, b - point) / (4 * std::numbers::pi);
                  });
      }
    }
    return angle;
  }

  /// Points all over the mesh and a little around it.
  std::vector<Vector3> random_points(int count) {
    const Real around = 0.1;
    Vector3 low = position(Id<Node>(0)), high = low;
    for (const Vector3 x : g_.node_positions().host()) {
      low = {std::min(low.x, x.x), std::min(low.y, x.y), std::min(low.z, x.z)};
      high = {std::max(high.x, x.x), std::max(high.y, x.y), std::max(high.z, x.z)};
    }
    std::uniform_real_distribution<Real> unit(-around, 1 + around);
    std::vector<Vector3> points;
    for (int k = 0; k < count; ++k) {
      const Vector3 size = high - low;
      points.push_back(
          low + Vector3{unit(generator_) * size.x, unit(generator_) * size.y, unit(generator_) * size.z});
    }
    return points;
  }

  void expect_linear_fields_exact(const NodeInterpolation& found, Vector3 point) const {
    Real sum = 0;
    Vector3 x{};
    for (const auto [n, weight] : found.weights) {
      sum += weight;
      x += weight * position(n);
    }
    EXPECT_NEAR(sum, 1, 1e-14);
    EXPECT_LE(norm(x - point), 1e-13);
  }
};

TEST_P(PointLocation, agrees_with_winding_numbers_of_all_cells) {
  int inside = 0;
  for (const Vector3 point : random_points(300)) {
    std::optional<Id<Cell>> expected;
    for (const Id<Cell> c : t_.cells()) {
      if (winding(c, point) > 0.5) expected = c;
    }
    const auto found = locator_.locate(point);
    ASSERT_EQ(found.has_value(), expected.has_value())
        << "(" << point.x << ", " << point.y << ", " << point.z << ")";
    if (!expected) continue;
    ++inside;
    EXPECT_EQ(found->cell, *expected);
    expect_linear_fields_exact(*found, point);
  }
  EXPECT_GE(inside, 20);
}

TEST_P(PointLocation, gives_shared_points_to_the_lowest_cell) {
  for (const Id<Node> n : t_.nodes()) {
    const auto found = locator_.locate(position(n));
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cell, t_.cells_of_node()[n][0].id);
    for (const auto [m, weight] : found->weights) EXPECT_NEAR(weight, m == n ? 1 : 0, 1e-13);
  }
  for (const Id<Face> f : t_.faces()) {
    const Vector3 point = mean(t_.nodes_of_face()[f]);
    const auto found = locator_.locate(point);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->cell, t_.cells_of_face()[f][0].id);
    expect_linear_fields_exact(*found, point);
  }
}

TEST_P(PointLocation, tells_round_off_from_points_outside) {
  for (const Id<Face> f : t_.boundary_faces()) {
    const Vector3 area = g_.face_areas()[at(f.value())], outward = area / norm(area);
    const Vector3 point = mean(t_.nodes_of_face()[f]);
    EXPECT_TRUE(locator_.locate(point + 0.5e-9 * diagonal() * outward));
    EXPECT_FALSE(locator_.locate(point + 3e-9 * diagonal() * outward));
  }
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_FALSE(locator_.locate({nan, 0, 0}));
}

TEST_P(PointLocation, interpolates_continuously_across_faces) {
  std::uniform_real_distribution<Real> unit(0, 1);
  std::vector<Real> values(at(t_.nodes().size()));
  for (Real& value : values) value = unit(generator_);
  const auto value = [&](const NodeInterpolation& place) {
    std::vector<Real> at_corners;
    for (const auto [n, sign] : t_.nodes_of_cell()[place.cell]) at_corners.push_back(values[at(n.value())]);
    return place(at_corners);
  };
  for (const Id<Face> f : t_.interior_faces()) {
    // A point of the fan, and two on either side of it next to it.
    const auto nodes = t_.nodes_of_face()[f];
    const Real r = 0.1 + 0.4 * unit(generator_),
               s = t_.dimension() == 2 ? 1 - r : 0.1 + 0.3 * unit(generator_);
    const Vector3 point = (1 - r - s) * mean(nodes) + r * position(nodes[0].id) + s * position(nodes[1].id);
    const Vector3 area = g_.face_areas()[at(f.value())];
    const Vector3 step = 1e-6 * area / norm(area);
    const auto behind = locator_.locate(point - step), ahead = locator_.locate(point + step);
    ASSERT_TRUE(behind && ahead);
    EXPECT_NE(behind->cell, ahead->cell);
    EXPECT_NEAR(value(*behind), value(*ahead), 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, PointLocation, ::testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(PointLocationInThePlane, finds_points_in_the_plane_only_wherever_it_lies) {
  for (const Real z : {0., -3.}) {
    RawMesh raw = make_box(CellType::Quadrilateral, {2, 2, 0});
    for (Vector3& node : raw.nodes) node.z = z;
    const Mesh mesh(raw);
    const PointLocator locator(mesh);
    for (const Real offset : {0., 1e-7, -1e-7}) EXPECT_TRUE(locator.locate({.3, .3, z + offset})) << offset;
    for (const Real offset : {1e-5, -1e-5, 5.}) EXPECT_FALSE(locator.locate({.3, .3, z + offset})) << offset;
  }
}

TEST(PointLocationInThinCells, finds_the_points) {
  const Mesh mesh(make_box(CellType::Hexahedron, {40, 40, 1}, {1, 1e-5, 1e-3}));
  const PointLocator locator(mesh);
  for (int k = 0; k < 100; ++k) {
    const Vector3 point{(k + .3) / 100, (99.6 - k) / 100 * 1e-5, .2e-3};
    const auto found = locator.locate(point);
    ASSERT_TRUE(found);
    Vector3 x{};
    for (const auto [n, weight] : found->weights)
      x += weight * mesh.geometry().node_positions()[at(n.value())];
    EXPECT_LE(norm(x - point), 1e-14);
  }
}

}  // namespace
}  // namespace curlew
