// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/flat_cells.hpp"

#include <gtest/gtest.h>

#include "mesh/box.hpp"
#include "mesh/import/raw_mesh.hpp"

namespace curlew {
namespace {

TEST(FlatCells, are_more_than_four_times_as_long_as_high) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron, CellType::Prism,
                              CellType::Triangle, CellType::Tetrahedron}) {
    SCOPED_TRACE(static_cast<int>(type));
    const auto box = [type](Real height) {
      return is_planar(type) ? Mesh(make_box(type, {3, 3, 1}, {1, height, 1}))
                             : Mesh(make_box(type, {3, 3, 3}, {1, 1, height}));
    };
    EXPECT_EQ(share_of_flat_cells(box(0.5)), 0);
    EXPECT_EQ(share_of_flat_cells(box(0.1)), 1);
    EXPECT_EQ(inverse_square_of_flattest(box(0.5)), 0);
    const bool simplices = type == CellType::Triangle || type == CellType::Tetrahedron;
    EXPECT_NEAR(inverse_square_of_flattest(box(0.1)), simplices ? 0 : 900, 1e-9);
  }
}

TEST(FlatCells, are_counted_among_all) {
  // Two layers of four cells each, the lower one a ninth as high as the upper one.
  RawMesh raw = make_box(CellType::Hexahedron, {2, 2, 2});
  for (Vector3& x : raw.nodes)
    if (x.z == 0.5) x.z = 0.1;
  EXPECT_EQ(share_of_flat_cells(Mesh(raw)), 0.5);
  EXPECT_NEAR(inverse_square_of_flattest(Mesh(raw)), 100, 1e-9);
}

}  // namespace
}  // namespace curlew
