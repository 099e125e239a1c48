// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/mesh_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "mesh/box.hpp"
#include "mesh/quality.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

using nlohmann::json;

class IdentitiesOnShelf : public testing::TestWithParam<ShelfMesh> {};

TEST_P(IdentitiesOnShelf, hold) {
  const Mesh mesh(GetParam().raw);
  const MeshIdentities identities = check_identities(mesh);
  EXPECT_EQ(identities.dc_nonzeros, 0);
  EXPECT_EQ(identities.rg_nonzeros, 0);
  EXPECT_LT(identities.adjointness, 1e-14);
  EXPECT_LT(identities.linear_field, 1e-12);
  if (measure_quality(mesh).non_planarity.max < 1e-14) {
    EXPECT_LT(identities.uniform_stream, 1e-12);
  } else {
    EXPECT_GT(identities.uniform_stream, 1e-6);
    EXPECT_LT(identities.uniform_stream, 0.5);
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, IdentitiesOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(MeshReport, of_a_box_holds_what_is_known_of_a_box) {
  const Mesh mesh(make_box(CellType::Hexahedron, {4, 3, 2}, {4, 6, 2}));
  const json report = json::parse(mesh_report(mesh, "box", true));
  EXPECT_EQ(report["dimension"], 3);
  EXPECT_EQ(report["counts"]["nodes"], 5 * 4 * 3);
  EXPECT_EQ(report["counts"]["edges"], 4 * 4 * 3 + 5 * 3 * 3 + 5 * 4 * 2);
  EXPECT_EQ(report["counts"]["faces"], 5 * 3 * 2 + 4 * 4 * 2 + 4 * 3 * 3);
  EXPECT_EQ(report["counts"]["cells"], 4 * 3 * 2);
  EXPECT_EQ(report["counts"]["cells_by_type"], (json{{"hexahedron", 4 * 3 * 2}}));
  ASSERT_EQ(report["patches"].size(), 6u);
  EXPECT_EQ(report["patches"][1]["name"], "right");
  EXPECT_EQ(report["patches"][1]["faces"], 3 * 2);
  EXPECT_NEAR(report["patches"][1]["area"].get<Real>(), 6 * 2, 1e-13);
  ASSERT_EQ(report["regions"].size(), 1u);
  EXPECT_EQ(report["regions"][0]["cells"], 4 * 3 * 2);
  EXPECT_NEAR(report["regions"][0]["volume"].get<Real>(), 4 * 6 * 2, 1e-13);
  EXPECT_EQ(report["extent"]["max"], (json{4.0, 6.0, 2.0}));
  EXPECT_NEAR(report["quality"]["aspect_ratio"]["max"].get<Real>(), 2, 1e-12);
  EXPECT_EQ(report["betti"], (json{{"b0", 1}, {"b1", 0}, {"b2", 0}}));
  EXPECT_EQ(report["identities"]["dc_nonzeros"], 0);
  EXPECT_EQ(report["identities"]["rg_nonzeros"], 0);
  for (const char* key : {"adjointness", "uniform_stream", "linear_field"}) {
    EXPECT_LT(report["identities"][key].get<Real>(), 1e-14) << key;
  }
  EXPECT_GT(report["memory"]["bytes_per_cell"].get<Real>(), 0);
}

TEST(MeshReport, counts_regions_apart) {
  RawMesh raw = make_box(CellType::Triangle, {2, 1, 0}, {2, 1, 0});
  raw.region_names = {"steel", "copper"};
  raw.cell_region = {0, 0, 1, 1};
  const json report = json::parse(mesh_report(Mesh(raw), "two metals", true));
  EXPECT_EQ(report["dimension"], 2);
  ASSERT_EQ(report["regions"].size(), 2u);
  EXPECT_EQ(report["regions"][1]["name"], "copper");
  EXPECT_EQ(report["regions"][1]["cells"], 2);
  EXPECT_NEAR(report["regions"][1]["volume"].get<Real>(), 1, 1e-15);
}

TEST(MeshReport, is_valid_json_whatever_the_file_is_called) {
  const json report =
      json::parse(mesh_report(Mesh(make_box(CellType::Triangle, {1, 1, 0})), "\xff.msh", true));
  EXPECT_EQ(report["mesh"], "\xEF\xBF\xBD.msh");
}

TEST(MeshReport, as_text_says_the_same_in_words) {
  RawMesh raw = make_box(CellType::Tetrahedron, {2, 2, 2});
  raw.notes = {"second-order nodes were dropped"};
  const std::string text = mesh_report(Mesh(raw), "box.msh", false);
  for (const char* expected : {"box.msh: three dimensions", "tetrahedron +48\n|tetrahedron +48 ",
                               "right +8 +1\n", "non-orthogonality", "connected parts +1 ", "tunnels +0 ",
                               "non-zeros of D C +0 ", "second-order nodes were dropped"}) {
    EXPECT_THAT(text, testing::ContainsRegex(expected));
  }
}

}  // namespace
}  // namespace curlew
