// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/mesh_file.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "mesh/mesh.hpp"
#include "tests/app/output_directory.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class MeshFile : public testing::TestWithParam<ShelfMesh> {};

TEST_P(MeshFile, reads_back_as_it_was) {
  const OutputDirectory directory;
  const RawMesh& written = GetParam().raw;
  write_mesh_file(directory / "mesh.h5", written);
  EXPECT_EQ(directory.names(), "mesh.h5");
  const RawMesh read = read_mesh_file(directory / "mesh.h5");
  EXPECT_EQ(read.dimension, written.dimension);
  ASSERT_EQ(read.nodes.size(), written.nodes.size());
  for (std::size_t n = 0; n < read.nodes.size(); ++n) EXPECT_TRUE(read.nodes[n] == written.nodes[n]) << n;
  EXPECT_EQ(read.cell_types, written.cell_types);
  EXPECT_EQ(read.cell_start, written.cell_start);
  EXPECT_EQ(read.cell_nodes, written.cell_nodes);
  EXPECT_EQ(read.cell_region, written.cell_region);
  EXPECT_EQ(read.boundary_start, written.boundary_start);
  EXPECT_EQ(read.boundary_nodes, written.boundary_nodes);
  EXPECT_EQ(read.boundary_patch, written.boundary_patch);
  EXPECT_EQ(read.region_names, written.region_names);
  EXPECT_EQ(read.patch_names, written.patch_names);
}

/// Each part as the divider made it, read alone.
TEST_P(MeshFile, holds_parts_that_can_be_read_alone) {
  const OutputDirectory directory;
  const auto path = directory / "mesh.h5";
  const Mesh mesh(GetParam().raw);
  const StoredPartition stored{make_partition(mesh.topology(), 3), CellOrder::ReverseCuthillMcKee};
  write_mesh_file(path, GetParam().raw, mesh, stored);
  MeshDivider divider(mesh, stored.partition);
  for (Index rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(bytes_of(read_mesh_part(path, rank)), bytes_of(divider.part(rank))) << rank;
  }
  EXPECT_THROW(read_mesh_part(path, 3), InputError);
  const auto read = read_partition(path);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->partition.parts, 3);
  EXPECT_EQ(read->partition.part_of_cell, stored.partition.part_of_cell);
  EXPECT_EQ(read_mesh_file(path).cell_nodes, GetParam().raw.cell_nodes);
}

INSTANTIATE_TEST_SUITE_P(Shelf, MeshFile, testing::ValuesIn(shelf()),
                         [](const auto& mesh) { return mesh.param.name; });

/// Reads and builds the mesh in a file with these bytes; the message of the InputError, if there was one.
std::string outcome_of(const std::filesystem::path& path, const std::string& bytes) {
  write_text(path, bytes);
  return message_of<InputError>([&] { Mesh(read_mesh_file(path)); });
}

TEST(DamagedMeshFile, every_flipped_bit_is_an_input_error) {
  const OutputDirectory directory;
  const auto path = directory / "mesh.h5";
  write_mesh_file(path, make_box(CellType::Prism, {2, 2, 2}));
  const std::string whole = read_text(path);
  std::mt19937 generator(3);
  // Everywhere in the file, and again where its bookkeeping lies.
  for (const std::size_t range : {whole.size(), std::size_t{2048}}) {
    for (int k = 0; k < 1000; ++k) {
      std::string damaged = whole;
      const std::size_t place = generator() % range;
      damaged[place] = static_cast<char>(damaged[place] ^ (1 << (generator() % 8)));
      EXPECT_THAT(outcome_of(path, damaged), HasSubstr(path.string())) << "byte " << place;
    }
  }
}

TEST(DamagedMeshFile, a_part_with_a_flipped_bit_is_an_input_error) {
  const OutputDirectory directory;
  const auto path = directory / "mesh.h5";
  const RawMesh raw = make_box(CellType::Prism, {3, 3, 3});
  const Mesh mesh(raw);
  write_mesh_file(path, raw, mesh, {make_partition(mesh.topology(), 2), CellOrder::ReverseCuthillMcKee});
  const std::string whole = read_text(path);
  // The positions of part 0's nodes as they lie in the file.
  const Partition partition = make_partition(mesh.topology(), 2);
  const MeshPart part = MeshDivider(mesh, partition).part(0);
  const std::string positions(reinterpret_cast<const char*>(part.node_positions.data()),
                              part.node_positions.size() * sizeof(Vector3));
  const std::size_t place = whole.find(positions);
  ASSERT_NE(place, std::string::npos);
  std::string damaged = whole;
  damaged[place + 17] = static_cast<char>(damaged[place + 17] ^ 4);
  write_text(path, damaged);
  EXPECT_THAT(message_of<InputError>([&] { read_mesh_part(path, 0); }),
              AllOf(HasSubstr(path.string()), HasSubstr("part 0 is damaged")));
  EXPECT_NO_THROW(read_mesh_part(path, 1));
}

TEST(DamagedMeshFile, every_truncation_is_an_input_error) {
  const OutputDirectory directory;
  const auto path = directory / "mesh.h5";
  write_mesh_file(path, make_box(CellType::Prism, {2, 2, 2}));
  const std::string whole = read_text(path);
  std::mt19937 generator(4);
  for (int k = 0; k < 100; ++k) {
    const std::size_t length = k == 0 ? 0 : k == 1 ? whole.size() - 1 : generator() % whole.size();
    EXPECT_THAT(outcome_of(path, whole.substr(0, length)), HasSubstr(path.string())) << length;
  }
  EXPECT_THAT(outcome_of(path, "a text"), HasSubstr(path.string()));
}

}  // namespace
}  // namespace curlew::test
