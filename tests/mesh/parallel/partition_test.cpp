// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/partition.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "mesh/mesh.hpp"
#include "mesh/parallel/mesh_part.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

TEST(Partition, of_a_box_is_balanced_connected_and_cut_little) {
  const Mesh mesh(make_box(CellType::Hexahedron, {16, 16, 16}));
  for (const Index parts : {2, 3, 8}) {
    const PartitionQuality quality = assess(mesh.topology(), make_partition(mesh.topology(), parts));
    EXPECT_EQ(quality.parts, parts);
    EXPECT_EQ(quality.empty_parts, 0);
    EXPECT_LT(quality.imbalance, 1.04);
    EXPECT_EQ(quality.most_pieces, 1);
    // Planes through the middle cut 256 faces each.
    EXPECT_LT(quality.cut_faces, parts == 8 ? 3 * 256 * 1.3 : (parts - 1) * 256 * 1.3) << parts;
    EXPECT_GE(quality.most_neighbours, 1);
    EXPECT_LT(quality.most_neighbours, parts);
  }
}

/// Two cells and four: what the numbers mean, by hand.
TEST(Partition, has_the_quality_that_one_counts_by_hand) {
  const Mesh mesh(make_box(CellType::Quadrilateral, {6, 1, 0}), CellOrder::AsRead);
  const PartitionQuality quality = assess(mesh.topology(), {3, {0, 0, 1, 1, 1, 0}});
  EXPECT_EQ(quality.empty_parts, 1);
  EXPECT_EQ(quality.least_cells, 0);
  EXPECT_EQ(quality.most_cells, 3);
  EXPECT_DOUBLE_EQ(quality.imbalance, 1.5);
  EXPECT_EQ(quality.cut_faces, 2);
  EXPECT_DOUBLE_EQ(quality.cut, 2.0 / 5);
  EXPECT_EQ(quality.most_neighbours, 1);
  EXPECT_DOUBLE_EQ(quality.mean_neighbours, 2.0 / 3);
  EXPECT_EQ(quality.most_ghosts, 2);
  EXPECT_EQ(quality.most_pieces, 2);
}

TEST(Partition, is_the_same_every_time) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {8, 8, 8}));
  EXPECT_EQ(make_partition(mesh.topology(), 7).part_of_cell, make_partition(mesh.topology(), 7).part_of_cell);
}

TEST(Partition, into_one_part_is_trivial) {
  const Mesh mesh(make_box(CellType::Triangle, {3, 3, 0}));
  const Partition partition = make_partition(mesh.topology(), 1);
  EXPECT_EQ(std::set<Index>(partition.part_of_cell.begin(), partition.part_of_cell.end()),
            std::set<Index>{0});
  EXPECT_THROW(make_partition(mesh.topology(), 0), Error);
}

TEST(Partition, into_more_parts_than_cells_leaves_some_empty) {
  const Mesh mesh(make_box(CellType::Hexahedron, {2, 2, 1}));
  const Partition partition = make_partition(mesh.topology(), 9);
  const PartitionQuality quality = assess(mesh.topology(), partition);
  EXPECT_EQ(quality.empty_parts, 5);
  EXPECT_EQ(quality.most_cells, 1);
  MeshDivider divider(mesh, partition);
  const Mesh none = make_mesh(divider.part(8), one_rank());
  EXPECT_TRUE(none.topology().cells().empty());
  EXPECT_EQ(none.topology().patches().size(), mesh.topology().patches().size());
}

TEST(Partition, of_any_mesh_gives_every_cell_a_part) {
  for (const ShelfMesh& shelf_mesh : shelf()) {
    const Mesh mesh(shelf_mesh.raw);
    for (const Index parts : {2, 5}) {
      const Partition partition = make_partition(mesh.topology(), parts);
      ASSERT_EQ(partition.part_of_cell.size(), at(mesh.topology().cells().size()));
      for (const Index part : partition.part_of_cell)
        EXPECT_TRUE(part >= 0 && part < parts) << shelf_mesh.name;
    }
  }
}

TEST(Partition, of_pieces_apart_from_each_other_works) {
  RawMesh raw = make_box(CellType::Hexahedron, {4, 2, 2});
  RawMesh apart = raw;
  apart.nodes.insert(apart.nodes.end(), raw.nodes.begin(), raw.nodes.end());
  for (std::size_t n = raw.nodes.size(); n < apart.nodes.size(); ++n) apart.nodes[n].x += 10;
  const auto shift = static_cast<Index>(raw.nodes.size());
  for (std::size_t c = 0; c < raw.cell_types.size(); ++c) {
    apart.cell_types.push_back(raw.cell_types[c]);
    apart.cell_region.push_back(0);
    for (std::int64_t k = raw.cell_start[c]; k < raw.cell_start[c + 1]; ++k) {
      apart.cell_nodes.push_back(raw.cell_nodes[at(k)] + shift);
    }
    apart.cell_start.push_back(static_cast<std::int64_t>(apart.cell_nodes.size()));
  }
  const Mesh mesh(apart);
  const PartitionQuality quality = assess(mesh.topology(), make_partition(mesh.topology(), 2));
  EXPECT_EQ(quality.empty_parts, 0);
  EXPECT_LT(quality.imbalance, 1.3);
}

TEST(Partition, balances_the_cost_that_is_asked_for) {
  const Mesh mesh(make_box(CellType::Hexahedron, {16, 4, 4}));
  std::vector<Index> cost;
  for (const Vector3 x : mesh.geometry().cell_centroids().host()) cost.push_back(x.x < 0.5 ? 1 : 7);
  const Partition partition = make_partition(mesh.topology(), 2, cost);
  Index sums[2] = {0, 0};
  for (std::size_t c = 0; c < cost.size(); ++c) sums[at(partition.part_of_cell[c])] += cost[c];
  EXPECT_LT(std::abs(sums[0] - sums[1]), 0.1 * (sums[0] + sums[1]));
}

TEST(Partition, of_a_periodic_mesh_counts_faces_between_the_same_cells) {
  const PeriodicBox& box = periodic_boxes().front();
  const Mesh mesh = make_periodic(Mesh(box.raw()), box.pairs()).mesh;
  EXPECT_EQ(assess(mesh.topology(), make_partition(mesh.topology(), 3)).empty_parts, 0);
}

TEST(MeshPart, comes_back_from_bytes_as_it_was) {
  const auto expect_back = [](const Mesh& mesh) {
    const Partition partition = make_partition(mesh.topology(), 3);
    MeshDivider divider(mesh, partition);
    for (Index rank = 0; rank < 3; ++rank) {
      const auto bytes = bytes_of(divider.part(rank));
      EXPECT_EQ(bytes_of(part_from(bytes)), bytes);
      EXPECT_EQ(bytes_of(divider.part(rank)), bytes);
    }
  };
  for (const ShelfMesh& mesh : shelf()) expect_back(Mesh(mesh.raw));
  for (const PeriodicBox& box : periodic_boxes())
    expect_back(make_periodic(Mesh(box.raw()), box.pairs()).mesh);
}

}  // namespace
}  // namespace curlew
