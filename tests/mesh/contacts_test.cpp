// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/contacts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "mesh/box.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/mesh/side_by_side.hpp"

namespace curlew {
namespace {

class FacesInContact : public ::testing::TestWithParam<ShelfMesh> {};

TEST_P(FacesInContact, are_none_where_all_cells_are_connected) {
  const Mesh mesh(GetParam().raw);
  EXPECT_TRUE(faces_in_contact(mesh).empty());
  EXPECT_TRUE(overlapping_cells(mesh).empty());
}

INSTANTIATE_TEST_SUITE_P(Shelf, FacesInContact, ::testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

/// Boxes [0, 1]³ and, moved by `shift` along x, [1, 2] x [0, 1]²; or squares.
Mesh two_boxes(CellType type, int cells, int others, Real shift = 0) {
  const int depth = type == CellType::Triangle || type == CellType::Quadrilateral ? 0 : 1;
  return Mesh(side_by_side(make_box(type, {2, cells, cells * depth}),
                           make_box(type, {2, others, others * depth}), {1 + shift, 0, 0}, "second "));
}

/// Of the faces on x = 1.
std::set<Index> interface(const Mesh& mesh) {
  std::set<Index> faces;
  for (const Id<Face> f : mesh.topology().boundary_faces())
    if (std::abs(mesh.geometry().face_centroids()[at(f.value())].x - 1) < 1e-12) faces.insert(f.value());
  return faces;
}

std::set<Index> in_contact(const Mesh& mesh) {
  std::set<Index> faces;
  for (const Id<Face> f : faces_in_contact(mesh)) faces.insert(f.value());
  return faces;
}

TEST(FacesOfBodies, are_found_where_bodies_touch) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron,
                              CellType::Hexahedron, CellType::Prism, CellType::Pyramid}) {
    for (const int others : {3, 6, 4, 1}) {
      const Mesh mesh = two_boxes(type, 3, others);
      EXPECT_EQ(in_contact(mesh), interface(mesh)) << name(type) << ' ' << others;
      ASSERT_FALSE(mesh.notes().empty());
      EXPECT_NE(mesh.notes().back().find("Behind " + std::to_string(interface(mesh).size())),
                std::string::npos)
          << mesh.notes().back();
    }
  }
}

TEST(FacesOfBodies, are_free_where_there_is_a_gap_or_a_corner_in_common) {
  EXPECT_TRUE(faces_in_contact(two_boxes(CellType::Hexahedron, 3, 4, 1e-3)).empty());
  EXPECT_TRUE(two_boxes(CellType::Hexahedron, 3, 4, 1e-3).notes().empty());
  const RawMesh box = make_box(CellType::Hexahedron, {2, 2, 2});
  EXPECT_TRUE(faces_in_contact(Mesh(side_by_side(box, box, {1, 1, 0}, "second "))).empty());
}

TEST(FacesOfBodies, are_found_where_bodies_overlap) {
  const Mesh mesh = two_boxes(CellType::Hexahedron, 3, 3, -0.1);
  EXPECT_EQ(faces_in_contact(mesh).size(), 18u);
}

TEST(CellsOfBodies, are_found_where_bodies_overlap) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron,
                              CellType::Hexahedron, CellType::Prism, CellType::Pyramid}) {
    const int depth = type == CellType::Triangle || type == CellType::Quadrilateral ? 0 : 1;
    const RawMesh outer = make_box(type, {8, 8, 8 * depth});
    const RawMesh inner = make_box(type, {1, 1, depth}, {0.3, 0.3, 0.3 * depth});
    const Vector3 middle{0.37, 0.36, 0.35 * depth};
    // One within the other, whichever is listed first.
    for (const RawMesh& raw : {side_by_side(outer, inner, middle, "second "),
                               side_by_side(inner, outer, -1 * middle, "second ")}) {
      const Mesh mesh(raw);
      EXPECT_EQ(std::ssize(overlapping_cells(mesh)), std::ssize(inner.cell_types)) << name(type);
      ASSERT_FALSE(mesh.notes().empty()) << name(type);
      EXPECT_EQ(mesh.notes().front().find("Bodies overlap: "), 0u) << mesh.notes().front();
    }
    // By a part of a cell they need not be found, side by side they must not.
    EXPECT_TRUE(overlapping_cells(two_boxes(type, 3, 4)).empty()) << name(type);
    EXPECT_TRUE(overlapping_cells(two_boxes(type, 3, 4, 1e-3)).empty()) << name(type);
  }
}

TEST(FacesOfBodies, are_found_far_from_the_origin_and_on_flat_cells) {
  const RawMesh flat = make_box(CellType::Hexahedron, {3, 3, 4}, {1, 1, 1e-5});
  RawMesh raw = side_by_side(flat, flat, {0, 0, 1e-5}, "second ");
  EXPECT_EQ(faces_in_contact(Mesh(raw)).size(), 18u);
  for (Vector3& node : raw.nodes) node += Vector3{1e3, -1e3, 0};
  EXPECT_EQ(faces_in_contact(Mesh(raw)).size(), 18u);
}

}  // namespace
}  // namespace curlew
