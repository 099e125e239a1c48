// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/curved_patch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "mesh/box.hpp"
#include "mesh/mesh.hpp"

namespace curlew {
namespace {

std::size_t patch_of(const Mesh& mesh, const std::string& name) {
  const std::vector<Patch>& patches = mesh.topology().patches();
  return static_cast<std::size_t>(std::ranges::find(patches, name, &Patch::name) - patches.begin());
}

TEST(CurvedPatch, is_no_patch_of_a_box) {
  for (const CellType type :
       {CellType::Quadrilateral, CellType::Triangle, CellType::Hexahedron, CellType::Tetrahedron}) {
    const Mesh mesh(make_box(type, {3, 4, 2}));
    for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) EXPECT_FALSE(is_curved(mesh, p)) << p;
  }
}

TEST(CurvedPatch, is_no_plane_whose_nodes_are_rounded) {
  RawMesh raw = make_box(CellType::Triangle, {40, 4, 1});
  for (Vector3& x : raw.nodes) {
    const auto rounded = [](Real value) { return static_cast<Real>(static_cast<float>(value)); };
    x = {rounded(std::cos(0.7) * x.x - std::sin(0.7) * x.y),
         rounded(std::sin(0.7) * x.x + std::cos(0.7) * x.y), 0};
  }
  const Mesh mesh(std::move(raw));
  for (std::size_t p = 0; p < mesh.topology().patches().size(); ++p) EXPECT_FALSE(is_curved(mesh, p)) << p;
}

TEST(CurvedPatch, is_one_that_bends_but_not_one_of_planes) {
  for (const CellType type :
       {CellType::Quadrilateral, CellType::Triangle, CellType::Hexahedron, CellType::Prism}) {
    const bool in_space = type == CellType::Hexahedron || type == CellType::Prism;
    // The box becomes half a ring; its long sides are arcs of so many faces.
    const auto half_ring = [&](Index faces) {
      RawMesh raw = make_box(type, {faces, 2, in_space ? 2 : 1});
      for (Vector3& x : raw.nodes) {
        const Real angle = std::numbers::pi * x.x, radius = 2 - x.y;
        x = {radius * std::cos(angle), radius * std::sin(angle), x.z};
      }
      return Mesh(std::move(raw));
    };
    const Mesh fine = half_ring(40), coarse = half_ring(3);  // 3: edges of 60 degrees
    for (const char* arc : {"bottom", "top"}) {
      EXPECT_TRUE(is_curved(fine, patch_of(fine, arc))) << arc;
      EXPECT_FALSE(is_curved(coarse, patch_of(coarse, arc))) << arc;
    }
    for (const char* end : {"left", "right"}) EXPECT_FALSE(is_curved(fine, patch_of(fine, end))) << end;
  }
}

}  // namespace
}  // namespace curlew
