// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/files/hdf5_file.hpp"
#include "app/output/checkpoint.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A transient case on "mesh.geo", a coarse plate.
class PlateFolder : public OutputDirectory {
 public:
  PlateFolder() {
    std::filesystem::copy_file(CURLEW_CASES "/plate/plate.geo", *this / "mesh.geo");
    write_text(*this / "case.toml", R"([mesh]
file = "mesh.geo"
[model]
type = "heat-diffusion"
[time]
end = 1.0
step = 0.1
[initial]
temperature = 0
[material.plate]
conductivity = 1
density = 1
heat_capacity = 1
[boundary.left]
type = "temperature"
value = "t + y"
[boundary.right]
type = "heat-flux"
value = 1
[boundary.bottom]
type = "insulated"
[boundary.top]
type = "insulated"
)");
  }
  /// Final state of the case on another mesh file.
  Checkpoint result_on(const std::vector<std::string>& settings) const {
    std::vector<std::string> arguments = {"run", "case.toml", "--quiet"};
    for (const std::string& setting : settings) arguments.insert(arguments.end(), {"--set", setting});
    const Outcome outcome = run_curlew(path(), arguments);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    return read_checkpoint(*this / "out/checkpoint_10.h5");
  }
  void convert(const std::vector<std::string>& arguments) const {
    std::vector<std::string> all = {"mesh", "convert"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const Outcome outcome = run_curlew(path(), all);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
    EXPECT_THAT(outcome.out, HasSubstr(" nodes, "));
  }
};

/// A unit square of those elements, with those groups.
std::string square_of(const std::string& elements,
                      const std::string& groups = "2\n1 1 \"side\"\n2 2 \"square\"\n") {
  return R"($MeshFormat
2.2 0 8
$EndMeshFormat
$PhysicalNames
)" + groups +
         R"($EndPhysicalNames
$Nodes
4
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
$EndNodes
$Elements
)" + elements +
         "$EndElements\n";
}

TEST(Groups, that_make_no_patch_are_told_with_the_error) {
  const CaseFolder folder;
  write_text(folder / "square.msh",
             square_of("6\n1 1 2 1 1 1 4\n2 1 2 2 2 2 3\n3 1 2 3 3 1 3\n4 1 2 4 4 1 4\n5 2 2 5 5 1 2 3\n"
                       "6 2 2 5 5 1 3 4\n",
                       "4\n1 1 \"left\"\n1 2 \"right\"\n1 3 \"baffle\"\n1 4 \"hidden\"\n"));
  folder.edit("box.h5", "square.msh");
  const Outcome outcome = folder.run({});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("note: 1 tagged faces, of \"baffle\", lie between two cells"),
                                   HasSubstr("note: The physical group \"hidden\" makes no patch"),
                                   Not(HasSubstr("\"left\" makes no")), HasSubstr("error: case.toml:")));
}

TEST(Convert, to_a_mesh_file_keeps_every_bit_of_a_run) {
  const PlateFolder folder;
  const Checkpoint original = folder.result_on({"mesh.size=0.2"});
  folder.convert({"mesh.geo", "whole.h5", "--size", "0.2"});
  EXPECT_EQ(folder.result_on({"mesh.file=\"whole.h5\""}), original);
  folder.convert({"whole.h5", "half.h5", "--scale", "0.5"});
  EXPECT_EQ(folder.result_on({"mesh.file=\"half.h5\""}),
            folder.result_on({"mesh.file=\"whole.h5\"", "mesh.scale=0.5"}));
  folder.convert({"half.h5", "again.h5"});
  EXPECT_EQ(read_text(folder / "again.h5"), read_text(folder / "half.h5"));
}

TEST(Convert, with_parts_says_how_good_they_are_and_keeps_every_bit_of_a_run_on_one_rank) {
  const PlateFolder folder;
  folder.convert({"mesh.geo", "whole.h5", "--size", "0.2"});
  const Outcome outcome =
      run_curlew(folder.path(), {"mesh", "convert", "whole.h5", "parts.h5", "--partition", "4"});
  EXPECT_EQ(outcome.status, 0) << outcome.error;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("4 parts of "), HasSubstr(" faces cut"), HasSubstr("neighbours")));
  EXPECT_EQ(folder.result_on({"mesh.file=\"parts.h5\""}), folder.result_on({"mesh.file=\"whole.h5\""}));

  const Outcome info = run_curlew(folder.path(), {"mesh", "info", "parts.h5", "--json"});
  const auto partition = nlohmann::json::parse(info.out).at("partition");
  EXPECT_EQ(partition.at("parts"), 4);
  EXPECT_EQ(partition.at("empty_parts"), 0);
  EXPECT_THAT(run_curlew(folder.path(), {"mesh", "info", "parts.h5", "--order", "hilbert"}).out,
              HasSubstr("4 parts of "));
  EXPECT_THAT(run_curlew(folder.path(), {"mesh", "info", "whole.h5"}).out, Not(HasSubstr("partition")));
}

TEST(Convert, with_parts_needs_a_mesh_file_to_write_and_a_cell_for_each) {
  const PlateFolder folder;
  const auto refused = [&](const std::string& output, const std::string& parts) {
    const Outcome outcome =
        run_curlew(folder.path(), {"mesh", "convert", "mesh.geo", output, "--partition", parts});
    EXPECT_EQ(outcome.status, 2);
    return outcome.error;
  };
  EXPECT_THAT(refused("out.hdf", "4"),
              HasSubstr("out.hdf: only a mesh file (.h5) can be divided into parts"));
  EXPECT_THAT(refused("out.h5", "100000"), HasSubstr("mesh.geo: --partition is 100000, and the mesh has "));
}

TEST(Convert, from_a_mesh_of_gmsh) {
  const OutputDirectory folder;
  const std::string msh = "square.msh";
  write_text(folder / msh, square_of("3\n1 1 2 1 1 1 2\n2 2 2 2 1 1 2 3\n3 2 2 2 1 1 3 4\n"));
  const Outcome converted = run_curlew(folder.path(), {"mesh", "convert", msh, "square.h5"});
  ASSERT_EQ(converted.status, 0) << converted.error;
  nlohmann::json reports[2];
  for (const int k : {0, 1}) {
    const Outcome outcome = run_curlew(folder.path(), {"mesh", "info", k == 0 ? msh : "square.h5", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.error;
    reports[k] = nlohmann::json::parse(outcome.out);
    reports[k].erase("mesh");
    reports[k].erase("notes");
  }
  EXPECT_EQ(reports[0], reports[1]);
}

TEST(Convert, to_vtkhdf_opens) {
  const PlateFolder folder;
  folder.convert({"mesh.geo", "plate.hdf", "--size", "0.2"});
  const Hdf5Reader file(folder / "plate.hdf");
  const auto types = file.read<std::uint8_t>("/VTKHDF/Types");
  ASSERT_FALSE(types.empty());
  EXPECT_EQ(types.front(), 5);  // VTK's number of a triangle
  EXPECT_EQ(file.read<double>("/VTKHDF/CellData/region"), std::vector<double>(types.size(), 0));
  EXPECT_EQ(file.read<std::int64_t>("/VTKHDF/Connectivity").size(), 3 * types.size());
}

TEST(Convert, names_the_mesh_that_is_wrong) {
  const OutputDirectory folder;
  write_text(folder / "square.msh", square_of("2\n1 2 2 0 1 1 2 3\n2 2 2 0 1 1 3 3\n"));
  for (const char* output : {"square.hdf", "square.h5"}) {
    std::vector<std::string> arguments{"mesh", "convert", "square.msh", output};
    if (std::string(output) == "square.h5") arguments.insert(arguments.end(), {"--partition", "2"});
    const Outcome outcome = run_curlew(folder.path(), arguments);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.error, StartsWith("error: square.msh: "));
  }
}

TEST(Convert, to_vtkhdf_turns_inverted_cells) {
  const OutputDirectory folder;
  write_text(folder / "square.msh", square_of("2\n1 2 2 0 1 1 3 2\n2 2 2 0 1 1 3 4\n"));
  const Outcome outcome = run_curlew(folder.path(), {"mesh", "convert", "square.msh", "square.hdf"});
  ASSERT_EQ(outcome.status, 0) << outcome.error;
  const Hdf5Reader file(folder / "square.hdf");
  const auto x = file.read<double>("/VTKHDF/Points");
  const auto nodes = file.read<std::int64_t>("/VTKHDF/Connectivity");
  ASSERT_EQ(nodes.size(), 6u);
  for (const std::size_t first : {0u, 3u}) {
    const auto arm = [&](std::size_t corner, std::size_t k) {
      return x[3 * static_cast<std::size_t>(nodes[first + corner]) + k] -
             x[3 * static_cast<std::size_t>(nodes[first]) + k];
    };
    EXPECT_EQ(arm(1, 0) * arm(2, 1) - arm(1, 1) * arm(2, 0), 1) << "twice its area";
  }
}

TEST(Info, has_the_promised_keys) {
  for (const auto& [type, dimension] :
       {std::pair(CellType::Triangle, 2), std::pair(CellType::Quadrilateral, 2),
        std::pair(CellType::Tetrahedron, 3), std::pair(CellType::Pyramid, 3)}) {
    const CaseFolder folder(type, 3);
    const Outcome outcome = run_curlew(folder.path(), {"mesh", "info", "box.h5", "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.error;
    const auto report = nlohmann::json::parse(outcome.out);
    EXPECT_EQ(report["dimension"], dimension);
    for (const char* key : {"nodes", "edges", "faces", "cells"}) EXPECT_GT(report["counts"][key], 0) << key;
    EXPECT_EQ(report["patches"].size(), dimension == 2 ? 4u : 6u);
    EXPECT_EQ(report["regions"].size(), 1u);
    EXPECT_EQ(report["betti"], nlohmann::json({{"b0", 1}, {"b1", 0}, {"b2", 0}}));
    EXPECT_EQ(report["identities"]["dc_nonzeros"], 0);
    EXPECT_EQ(report["identities"]["rg_nonzeros"], 0);
    for (const char* key : {"adjointness", "uniform_stream", "linear_field"}) {
      EXPECT_LT(report["identities"][key], 1e-12) << key;
    }
    EXPECT_TRUE(report.contains("quality"));

    const Outcome text = run_curlew(folder.path(), {"mesh", "info", "box.h5"});
    EXPECT_EQ(text.status, 0);
    EXPECT_THAT(text.out, HasSubstr("Betti"));
  }
}

TEST(DamagedMesh, is_named_by_every_command) {
  const CaseFolder folder;
  std::string bytes = read_text(folder / "box.h5");
  bytes[bytes.size() / 2] ^= 1;
  write_text(folder / "box.h5", bytes);
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"check", "case.toml"},
                                             {"run", "case.toml"},
                                             {"mesh", "info", "box.h5"},
                                             {"mesh", "convert", "box.h5", "b.h5"},
                                             {"bench", "box.h5"},
                                             {"compare", "case.toml"}}) {
    const Outcome outcome = run_curlew(folder.path(), arguments);
    EXPECT_EQ(outcome.status, 2) << arguments.front();
    EXPECT_THAT(outcome.error, testing::AllOf(HasSubstr("box.h5: it is damaged"), HasSubstr("convert")));
  }
}

}  // namespace
}  // namespace curlew::test
