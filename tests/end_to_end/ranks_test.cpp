// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "app/files/hdf5_file.hpp"
#include "mesh/cell_shapes.hpp"
#include "tests/end_to_end/program.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// Changes a byte of an array in an HDF5 file: one of the first number's, or of the last (-1).
void damage(const std::filesystem::path& path, const char* name, int place) {
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t array = H5Dopen2(file, name, H5P_DEFAULT);
  const std::size_t start = H5Dget_offset(array), size = H5Dget_storage_size(array);
  H5Dclose(array);
  H5Fclose(file);
  std::string bytes = read_text(path);
  bytes.at(start + (place == 0 ? 1 : size - 1)) ^= 4;
  write_text(path, bytes);
}

struct Example {
  CellType type;
  Index blocks;
  std::vector<int> ranks;
  friend void PrintTo(const Example& example, std::ostream* out) {
    *out << name(example.type) << ", " << example.blocks;
  }
};

class RunOnRanks : public testing::TestWithParam<Example> {};

/// The pictures and plots of a report, which tell no times.
std::vector<std::string> drawings_of(const std::filesystem::path& directory) {
  std::vector<std::string> drawings;
  const std::string page = read_text(directory / "report.html");
  for (std::size_t start = 0; (start = page.find("<svg", start)) != std::string::npos; ++start)
    drawings.push_back(page.substr(start, page.find("</svg>", start) - start));
  return drawings;
}

TEST_P(RunOnRanks, leaves_the_files_of_a_serial_run) {
  const CaseFolder folder(GetParam().type, GetParam().blocks);
  folder.run_to("serial", 0);
  for (const int ranks : GetParam().ranks) {
    SCOPED_TRACE(ranks);
    const std::string directory = fmt::format("on_{}", ranks);
    folder.run_to(directory, ranks);
    expect_same_files(folder / "serial", folder / directory);
    const auto serial = nlohmann::json::parse(read_text(folder / "serial/summary.json"));
    const auto summary = nlohmann::json::parse(read_text(folder / directory / "summary.json"));
    EXPECT_EQ(summary["ranks"], ranks);
    EXPECT_EQ(summary["threads"], 1);
    for (const char* key : {"status", "steps", "cells", "faces", "edges", "nodes", "iterations", "monitors"})
      EXPECT_EQ(summary[key], serial[key]) << key;
    EXPECT_GT(drawings_of(folder / "serial").size(), 5u);
    EXPECT_TRUE(drawings_of(folder / directory) == drawings_of(folder / "serial"));
  }
}

INSTANTIATE_TEST_SUITE_P(Each, RunOnRanks,
                         testing::Values(Example{CellType::Triangle, 8, {1, 2, 3, 4, 8}},
                                         Example{CellType::Tetrahedron, 4, {2, 3}},
                                         Example{CellType::Pyramid, 2, {4}},
                                         // More ranks than cells: 2 of them.
                                         Example{CellType::Triangle, 1, {4}}));

TEST(RunOnRanks, of_a_steady_state_leaves_the_files_of_a_serial_run) {
  const OutputDirectory folder;
  const auto run = [&](const std::string& output, int ranks) {
    const Outcome outcome = run_curlew(folder.path(),
                                       {"run", CURLEW_CASES "/plate/heat.toml", "--quiet", "--output",
                                        (folder / output).string(), "--set", "mesh.size=0.02"},
                                       ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.error;
  };
  run("serial", 0);
  run("ranks", 3);
  expect_same_files(folder / "serial", folder / "ranks");
}

TEST(RunOnRanks, with_another_preconditioner_leaves_the_files_of_a_serial_run) {
  const JacobiCase folder;
  folder.run_to("serial", 0);
  folder.run_to("ranks", 3);
  expect_same_files(folder / "serial", folder / "ranks");
}

TEST(RunOnRanks, tells_of_its_steps_once) {
  const CaseFolder folder;
  const Outcome outcome = run_curlew(folder.path(), {"run", "case.toml", "--steps", "2"}, 3);
  EXPECT_EQ(outcome.status, 0);
  for (const char* text : {"3 parts", "step 2 ", "stopped after"}) {
    const auto first = outcome.error.find(text);
    EXPECT_NE(first, std::string::npos) << text << " in " << outcome.error;
    EXPECT_EQ(outcome.error.find(text, first + 1), std::string::npos) << text << " in " << outcome.error;
  }
  EXPECT_EQ(run_curlew(folder.path(), {"--version"}, 2).out, run_curlew(folder.path(), {"--version"}).out);
}

TEST(MeshInParts, is_read_by_each_rank_alone) {
  const CaseFolder folder(CellType::Tetrahedron, 4);
  folder.run_to("serial", 0);
  ASSERT_EQ(run_curlew(folder.path(), {"mesh", "convert", "box.h5", "parts.h5", "--partition", "3"}).status,
            0);
  const std::vector<std::string> parts{"--set", "mesh.file=\"parts.h5\""};
  folder.run_to("on_3", 3, parts);
  expect_same_files(folder / "serial", folder / "on_3");
  folder.run_to("on_2", 2, parts);  // the parts are not for two
  expect_same_files(folder / "serial", folder / "on_2");

  // Where the whole mesh is damaged its parts are not, and the other way round.
  damage(folder / "parts.h5", "/mesh/nodes", 0);
  EXPECT_EQ(folder.run(parts).status, 2);
  folder.run_to("on_3_again", 3, parts);
  damage(folder / "parts.h5", "/parts/node_positions", -1);
  std::vector<std::string> arguments = parts;
  arguments.insert(arguments.end(), {"--output", "never"});
  const Outcome refused = folder.run(arguments, 3);
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(error_lines(refused), ElementsAre(AllOf(StartsWith("error: rank 2: command line:"),
                                                      HasSubstr("parts.h5: part 2 is damaged"))));
  EXPECT_FALSE(std::filesystem::exists(folder / "never"));
}

struct Restarted {
  int first, second;  // ranks; 0: without mpirun
};

class RestartOnRanks : public testing::TestWithParam<Restarted> {};

TEST_P(RestartOnRanks, of_another_number_continues_to_the_same_bytes) {
  const auto [first, second] = GetParam();
  const CaseFolder folder;
  folder.run_to("whole", 0);
  folder.run_to("parts", first, {"--steps", "7"});
  folder.run_to("parts", second, {"--restart", "parts/checkpoint_7.h5"});
  expect_same_files(folder / "whole", folder / "parts");
}

INSTANTIATE_TEST_SUITE_P(Each, RestartOnRanks,
                         testing::Values(Restarted{2, 3}, Restarted{3, 0}, Restarted{0, 2}, Restarted{4, 1}));

}  // namespace
}  // namespace curlew::test
