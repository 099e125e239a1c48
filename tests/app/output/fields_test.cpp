// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// What python.read_vtkhdf does not see: restarts, errors, and a disk that fills up.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "app/output/field_series.hpp"
#include "kernels/error.hpp"
#include "tests/app/output_directory.hpp"

namespace curlew::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Triangles {
  std::vector<Vector3> nodes = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  std::vector<CellType> types = {CellType::Triangle, CellType::Triangle};
  std::vector<std::int64_t> start = {0, 3, 6};
  std::vector<Index> cell_nodes = {0, 1, 2, 0, 2, 3};
  MeshView view() const { return {nodes, types, start, cell_nodes}; }
};

std::vector<double> times_of(const std::filesystem::path& series) {
  std::vector<double> times;
  const auto json = nlohmann::json::parse(std::ifstream(series));
  for (const auto& file : json["files"]) times.push_back(file["time"]);
  return times;
}

TEST(FieldSeries, a_restart_keeps_the_entries_up_to_its_time) {
  const OutputDirectory directory;
  const VtkhdfWriter writer(Triangles().view());
  const auto write = [&](FieldSeries& series, int first, int last) {
    for (int step = first; step <= last; ++step) series.write(step, 0.1 * step, {}, {});
  };
  FieldSeries killed(directory.path(), "plate", writer);
  write(killed, 0, 9);
  EXPECT_EQ(killed.path(), directory / "plate.hdf.series");
  FieldSeries restarted(directory.path(), "plate", writer, 0.1 * 3);
  write(restarted, 3, 5);  // the first in place of the one that is kept
  EXPECT_EQ(times_of(killed.path()), (std::vector<double>{0, 0.1, 0.1 * 2, 0.1 * 3, 0.1 * 4, 0.1 * 5}));
  FieldSeries fresh(directory.path(), "plate", writer);
  write(fresh, 0, 0);
  EXPECT_EQ(times_of(killed.path()), std::vector<double>{0});
}

TEST(FieldSeries, files_that_a_run_replaces_are_removed_and_nothing_else) {
  const OutputDirectory directory;
  const VtkhdfWriter writer(Triangles().view());
  FieldSeries before(directory.path(), "plate", writer);
  for (int step = 0; step <= 3; ++step) before.write(step, 0.1 * step, {}, {});
  // Not listed, and listed though it is no file of a run.
  const auto mine = directory / "fields/plate_000009.hdf", other = directory / "fields/plate_3.hdf";
  write_text(mine, "");
  write_text(other, "");
  auto series = nlohmann::json::parse(std::ifstream(before.path()));
  for (const char* name : {"fields/plate_3.hdf", "fields/../plate_000003.hdf", "plate.hdf.series"})
    series["files"].push_back({{"name", name}, {"time", 7.0}});
  write_text(before.path(), series.dump());

  FieldSeries restarted(directory.path(), "plate", writer, 0.1);
  restarted.remove_replaced();
  EXPECT_EQ(times_of(before.path()), (std::vector<double>{0, 0.1}));
  const auto there = [&](int step) {
    return std::filesystem::exists(directory / fmt::format("fields/plate_{:06}.hdf", step));
  };
  EXPECT_TRUE(there(1));
  EXPECT_FALSE(there(2) || there(3));
  FieldSeries fresh(directory.path(), "plate", writer);
  fresh.remove_replaced();
  EXPECT_FALSE(there(0) || there(1));
  EXPECT_TRUE(times_of(before.path()).empty());
  EXPECT_TRUE(std::filesystem::exists(mine) && std::filesystem::exists(other));
}

TEST(FieldSeries, a_series_that_cannot_be_continued_is_named) {
  const OutputDirectory directory;
  for (const char* text :
       {"{\"files\": [{\"name\": ", "", "[]", "{\"files\": [{\"name\": 1, \"time\": 0}]}"}) {
    write_text(directory / "plate.hdf.series", text);
    EXPECT_THAT(message_of<InputError>(
                    [&] { FieldSeries(directory.path(), "plate", VtkhdfWriter(Triangles().view()), 1.0); }),
                AllOf(HasSubstr("cannot continue the series '" + (directory / "plate.hdf.series").string()),
                      HasSubstr("remove it"), testing::Not(HasSubstr("json"))));
  }
}

TEST(FieldSeries, a_directory_that_cannot_be_made_is_named) {
  EXPECT_THAT(message_of<Error>([] { FieldSeries("/proc/out", "plate", VtkhdfWriter(Triangles().view())); }),
              AllOf(HasSubstr("cannot create the directory '/proc/out/fields'"), HasSubstr("No such file")));
}

TEST(VtkhdfWriter, a_full_disk_is_an_error_and_leaves_nothing) {
  const OutputDirectory directory;
  const Triangles mesh;
  const VtkhdfWriter writer(mesh.view());
  for (const std::size_t bytes : {0u, 100u, 1000u, 5000u}) {
    const FullDisk full(bytes);
    EXPECT_THAT(
        message_of<Error>([&] { writer.write(directory / "a.hdf", 0, {}, {}); }),
        AllOf(HasSubstr("cannot write '" + (directory / "a.hdf").string()), HasSubstr("File too large")))
        << bytes;
  }
  EXPECT_EQ(directory.names(), "");
}

TEST(VtkhdfWriter, a_field_of_the_wrong_size_is_named) {
  const OutputDirectory directory;
  const VtkhdfWriter writer(Triangles().view());
  const std::vector<double> three(3);
  EXPECT_THAT(message_of<Error>([&] {
                writer.write(directory / "a.hdf", 0, std::vector<FieldView>{{"temperature", three}}, {});
              }),
              AllOf(HasSubstr("'temperature'"), HasSubstr("3 values"), HasSubstr("the mesh 2 cells")));
  EXPECT_EQ(directory.names(), "");
}

TEST(VtkhdfWriter, a_malformed_mesh_is_refused) {
  const auto message = [](auto spoil) {
    Triangles mesh;
    spoil(mesh);
    return message_of<Error>([&] { const VtkhdfWriter writer(mesh.view()); });
  };
  EXPECT_THAT(message([](Triangles& m) { m.start.pop_back(); }),
              HasSubstr("2 cells needs 3 cell offsets, got 2"));
  EXPECT_THAT(message([](Triangles& m) { m.start[2] = 7; }), HasSubstr("cell 1"));
  EXPECT_THAT(message([](Triangles& m) { m.start[1] = 2; }), HasSubstr("cell 0 of VTK type 5 has 2 nodes"));
  EXPECT_THAT(message([](Triangles& m) { m.cell_nodes[4] = 4; }),
              HasSubstr("cell 1 names node 4 of a mesh of 4"));
  EXPECT_THAT(message([](Triangles& m) { m.types[1] = CellType::Polyhedron; }), HasSubstr("polyhedron 1"));
}

}  // namespace
}  // namespace curlew::test
