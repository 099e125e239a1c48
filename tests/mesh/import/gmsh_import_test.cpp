// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/gmsh_import.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gmsh.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <numbers>
#include <numeric>
#include <utility>

#include "mesh/mesh.hpp"
#include "tests/mesh/import/gmsh_files.hpp"

namespace curlew {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

const std::filesystem::path source_folder = CURLEW_SOURCE_DIR;

void expect_same(const RawMesh& a, const RawMesh& b) {
  EXPECT_EQ(a.dimension, b.dimension);
  EXPECT_EQ(a.nodes, b.nodes);
  EXPECT_EQ(a.cell_types, b.cell_types);
  EXPECT_EQ(a.cell_start, b.cell_start);
  EXPECT_EQ(a.cell_nodes, b.cell_nodes);
  EXPECT_EQ(a.cell_region, b.cell_region);
  EXPECT_EQ(a.boundary_start, b.boundary_start);
  EXPECT_EQ(a.boundary_nodes, b.boundary_nodes);
  EXPECT_EQ(a.boundary_patch, b.boundary_patch);
  EXPECT_EQ(a.region_names, b.region_names);
  EXPECT_EQ(a.patch_names, b.patch_names);
}

std::vector<Vector3> coordinates(const RawMesh& mesh, const std::vector<Index>& nodes) {
  std::vector<Vector3> points;
  for (const Index node : nodes) points.push_back(mesh.nodes[static_cast<std::size_t>(node)]);
  return points;
}

/// Length or area of a patch.
Real measure(const RawMesh& mesh, const std::string& patch) {
  const auto number = static_cast<Index>(std::find(mesh.patch_names.begin(), mesh.patch_names.end(), patch) -
                                         mesh.patch_names.begin());
  Real sum = 0;
  for (std::size_t f = 0; f < mesh.boundary_patch.size(); ++f) {
    if (mesh.boundary_patch[f] != number) continue;
    const auto point = [&](std::int64_t k) {
      return mesh.nodes[static_cast<std::size_t>(
          mesh.boundary_nodes[static_cast<std::size_t>(mesh.boundary_start[f] + k)])];
    };
    if (mesh.dimension == 2) {
      sum += norm(point(1) - point(0));
    } else {
      for (std::int64_t k = 2; k < mesh.boundary_start[f + 1] - mesh.boundary_start[f]; ++k)
        sum += norm(cross(point(k - 1) - point(0), point(k) - point(0))) / 2;
    }
  }
  return sum;
}

/// Names of the patches of the complex: "unnamed" among them shows boundary faces outside every group.
std::vector<std::string> patches_of(RawMesh raw) {
  std::vector<std::string> names;
  const Mesh mesh(std::move(raw));
  for (const Patch& patch : mesh.topology().patches()) names.push_back(patch.name);
  return names;
}

// --- every element type, every format
// --------------------------------------------------------------------------

/// One cell of each standard type with one tagged face, by Gmsh's element numbers.
struct OneCell {
  std::string name;
  int dimension;
  int gmsh_type;
  CellType type;
  std::vector<double> coordinates;
  int face_type;
  std::vector<std::size_t> face;
};

const std::vector<OneCell> one_cells = {
    {"triangle", 2, 2, CellType::Triangle, {0, 0, 3, 1, 0, 3, 0, 1, 3}, 1, {2, 3}},
    {"quadrilateral", 2, 3, CellType::Quadrilateral, {0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 1, 0}, 1, {3, 4}},
    {"tetrahedron", 3, 4, CellType::Tetrahedron, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}, 2, {1, 3, 2}},
    {"hexahedron",
     3,
     5,
     CellType::Hexahedron,
     {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1},
     3,
     {1, 2, 6, 5}},
    {"prism", 3, 6, CellType::Prism, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1}, 3, {1, 2, 5, 4}},
    {"pyramid", 3, 7, CellType::Pyramid, {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1}, 3, {1, 2, 3, 4}}};

void build(const OneCell& cell) {
  gmsh::model::addDiscreteEntity(cell.dimension, 1);
  gmsh::model::addDiscreteEntity(cell.dimension - 1, 7);
  std::vector<std::size_t> tags(cell.coordinates.size() / 3);
  for (std::size_t n = 0; n < tags.size(); ++n) tags[n] = n + 1;
  gmsh::model::mesh::addNodes(cell.dimension, 1, tags, cell.coordinates);
  gmsh::model::mesh::addElementsByType(1, cell.gmsh_type, {1}, tags);
  gmsh::model::mesh::addElementsByType(7, cell.face_type, {2}, cell.face);
  gmsh::model::addPhysicalGroup(cell.dimension, {1}, 5);
  gmsh::model::setPhysicalName(cell.dimension, 5, "steel");
  gmsh::model::addPhysicalGroup(cell.dimension - 1, {7}, 9);
  gmsh::model::setPhysicalName(cell.dimension - 1, 9, "hot side");
}

TEST_F(GmshImport, reads_every_element_type_alike_from_every_format) {
  for (const OneCell& cell : one_cells) {
    SCOPED_TRACE(cell.name);
    RawMesh expected;
    expected.dimension = cell.dimension;
    for (std::size_t k = 0; k < cell.coordinates.size(); k += 3)
      expected.nodes.push_back({cell.coordinates[k], cell.coordinates[k + 1], cell.coordinates[k + 2]});
    expected.cell_types = {cell.type};
    for (std::size_t n = 0; n < expected.nodes.size(); ++n)
      expected.cell_nodes.push_back(static_cast<Index>(n));
    expected.cell_start = {0, static_cast<std::int64_t>(expected.nodes.size())};
    expected.cell_region = {0};
    expected.boundary_start = {0, static_cast<std::int64_t>(cell.face.size())};
    for (const std::size_t tag : cell.face) expected.boundary_nodes.push_back(static_cast<Index>(tag) - 1);
    expected.boundary_patch = {0};
    expected.region_names = {"steel"};
    expected.patch_names = {"hot side"};
    for (const double version : {2.2, 4.1}) {
      for (const bool binary : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {}", version, binary ? "binary" : "ASCII"));
        save(folder_ / "one.msh", version, binary, [&] { build(cell); });
        const RawMesh mesh = import_mesh(folder_ / "one.msh");
        expect_same(mesh, expected);
        EXPECT_THAT(mesh.notes, IsEmpty());
        EXPECT_THAT(patches_of(mesh), UnorderedElementsAre("hot side", "unnamed"));
      }
    }
  }
}

TEST_F(GmshImport, takes_one_statement_of_a_last_line_without_a_line_break) {
  const std::string start = "SetFactory(\"OpenCASCADE\");\nRectangle(1) = {0, 0, 0, 1, 1};\n";
  for (const std::string last :
       {"Physical Surface(\"fluid\") = {1};", "Physical Surface(\"fluid\") = {1}; // a; b",
        "Extrude {0, 0, 1} { Surface{1}; Layers{5}; Recombine; } ", "// a; b; c"}) {
    const RawMesh mesh = import_mesh(write("last.geo", start + last));
    EXPECT_EQ(mesh.region_names.front() == "fluid", last.starts_with("Physical")) << last;
    EXPECT_EQ(mesh.dimension, last.starts_with("Extrude") ? 3 : 2) << last;
  }
}

TEST_F(GmshImport, uses_the_corners_of_second_order_elements_and_says_so) {
  for (const OneCell& cell : one_cells) {
    for (const int incomplete : {0, 1}) {
      SCOPED_TRACE(fmt::format("{} incomplete {}", cell.name, incomplete));
      save(folder_ / "one.msh", 4.1, true, [&] { build(cell); });
      save(folder_ / "second.msh", 4.1, true, [&] {
        build(cell);
        gmsh::option::setNumber("Mesh.SecondOrderIncomplete", incomplete);
        gmsh::model::mesh::setOrder(2);
      });
      const RawMesh mesh = import_mesh(folder_ / "second.msh"), first = import_mesh(folder_ / "one.msh");
      EXPECT_EQ(mesh.cell_types, first.cell_types);
      EXPECT_EQ(mesh.nodes.size(), first.nodes.size());
      EXPECT_EQ(coordinates(mesh, mesh.cell_nodes), coordinates(first, first.cell_nodes));
      EXPECT_EQ(coordinates(mesh, mesh.boundary_nodes), coordinates(first, first.boundary_nodes));
      EXPECT_THAT(mesh.notes, ElementsAre(HasSubstr("second or higher order; only their corner nodes")));
    }
  }
}

const std::vector<std::string> hybrid_nodes = {"1 0 0 0",     "2 1 0 0",   "3 1 1 0",   "4 0 1 0",
                                               "5 0 0 1",     "6 1 0 1",   "7 1 1 1",   "8 0 1 1",
                                               "9 0.5 0.5 2", "10 2 .5 0", "11 2 .5 1", "12 2 .5 1.8"};

TEST_F(GmshImport, reads_cells_of_all_types_in_one_mesh) {
  const RawMesh mesh =
      import_mesh(write("hybrid.msh", msh22({}, hybrid_nodes,
                                            {"1 5 2 0 1 1 2 3 4 5 6 7 8", "2 7 2 0 1 5 6 7 8 9",
                                             "3 6 2 0 1 2 10 3 6 11 7", "4 4 2 0 1 6 7 9 12"})));
  EXPECT_EQ(mesh.nodes.size(), 12u);
  EXPECT_THAT(mesh.cell_types, UnorderedElementsAre(CellType::Hexahedron, CellType::Pyramid, CellType::Prism,
                                                    CellType::Tetrahedron));
  EXPECT_THAT(mesh.region_names, ElementsAre("domain"));
  // The complex has 6 + 5 + 5 + 4 cell faces, of which three pairs are one.
  EXPECT_EQ(Mesh(mesh).topology().faces().size(), 17);
}

// --- groups
// ----------------------------------------------------------------------------------------------------

const std::vector<std::string> square_nodes = {"1 0 0 0", "2 1 0 0", "3 1 1 0", "4 0 1 0"};

TEST_F(GmshImport, names_groups_merges_equal_names_and_numbers_the_nameless) {
  const RawMesh mesh = import_mesh(write(
      "names.msh",
      msh22({"1 1 \"wall\"", "1 2 \"wall\"", "2 8 \"left half\"", "1 77 \"empty\""}, square_nodes,
            {"1 1 2 1 1 1 2", "2 1 2 2 2 2 3", "3 1 2 3 3 3 4", "4 2 2 8 1 1 2 3", "5 2 2 0 2 1 3 4"})));
  EXPECT_EQ(mesh.dimension, 2);
  EXPECT_THAT(mesh.patch_names, ElementsAre("wall", "group_3"));
  EXPECT_THAT(mesh.boundary_patch, ElementsAre(0, 0, 1));
  EXPECT_THAT(mesh.region_names, ElementsAre("left half", "unnamed"));
  EXPECT_THAT(mesh.cell_region, ElementsAre(0, 1));
  EXPECT_THAT(mesh.notes, ElementsAre(HasSubstr("1 cells are in no physical group")));
}

TEST_F(GmshImport, tells_groups_of_one_entity_apart) {
  // Converters often write one elementary entity for everything; the groups still differ.
  const RawMesh mesh = import_mesh(write(
      "one_entity.msh", msh22({"2 4 \"a\"", "2 6 \"b\"", "1 1 \"low\"", "1 2 \"high\""}, square_nodes,
                              {"1 1 2 1 1 1 2", "2 1 2 2 1 3 4", "3 2 2 6 1 1 2 3", "4 2 2 4 1 1 3 4"})));
  EXPECT_THAT(mesh.region_names, ElementsAre("a", "b"));
  EXPECT_THAT(mesh.cell_region, ElementsAre(0, 1));
  EXPECT_THAT(mesh.cell_nodes, ElementsAre(0, 2, 3, 0, 1, 2));
  EXPECT_THAT(mesh.patch_names, ElementsAre("low", "high"));
  EXPECT_THAT(mesh.boundary_nodes, ElementsAre(0, 1, 2, 3));
}

TEST_F(GmshImport, elements_of_no_group_stay_out_of_the_group_of_their_entity) {
  const RawMesh mesh = import_mesh(
      write("no_group.msh",
            msh22({"2 4 \"a\"", "1 1 \"low\""}, {"1 0 0 0", "2 1 0 0", "3 1 1 0", "4 2 0 0", "5 2 1 0"},
                  {"1 1 2 1 1 1 2", "2 1 2 0 1 4 5", "3 2 2 4 1 1 2 3", "4 3 2 0 1 2 4 5 3"})));
  EXPECT_THAT(mesh.region_names, ElementsAre("a", "unnamed"));
  EXPECT_THAT(mesh.cell_types, ElementsAre(CellType::Quadrilateral, CellType::Triangle));
  EXPECT_THAT(mesh.cell_region, ElementsAre(1, 0));
  EXPECT_THAT(mesh.notes, ElementsAre(HasSubstr("1 cells are in no physical group")));
  EXPECT_THAT(mesh.patch_names, ElementsAre("low"));
  EXPECT_THAT(mesh.boundary_nodes, ElementsAre(0, 1));
}

TEST_F(GmshImport, the_sign_of_a_group_does_not_matter_and_is_refused_where_it_would) {
  const auto file_with = [&](const std::string& last) {
    return write("turned.msh", msh22({"2 4 \"a\"", "1 1 \"low\""}, square_nodes,
                                     {"1 1 2 1 1 1 2", "2 1 2 -1 1 3 2", "3 2 2 4 1 1 2 3", last}));
  };
  const RawMesh mesh = import_mesh(file_with("4 2 2 -4 2 1 4 3"));
  EXPECT_THAT(mesh.cell_region, ElementsAre(0, 0));
  EXPECT_THAT(mesh.boundary_patch, ElementsAre(0, 0));
  EXPECT_THAT(import_error(file_with("4 2 2 0 1 1 4 3")), HasSubstr("group 1 are listed with the number -1"));
}

TEST_F(GmshImport, lets_the_first_of_several_groups_count_in_every_format) {
  const auto build_shared = [] {
    build(one_cells[2]);
    gmsh::model::addPhysicalGroup(3, {1}, 6);
    gmsh::model::setPhysicalName(3, 6, "everything");
    gmsh::model::addPhysicalGroup(2, {7}, 10);
  };
  for (const auto& [version, binary] : {std::pair(2.2, false), std::pair(2.2, true), std::pair(4.1, false)}) {
    save(folder_ / "shared.msh", version, binary, build_shared);
    const RawMesh mesh = import_mesh(folder_ / "shared.msh");
    EXPECT_THAT(mesh.region_names, ElementsAre("steel"));
    EXPECT_THAT(mesh.cell_region, ElementsAre(0));
    EXPECT_THAT(mesh.patch_names, ElementsAre("hot side"));
    EXPECT_THAT(mesh.boundary_patch, ElementsAre(0));
    EXPECT_THAT(
        mesh.notes,
        ElementsAre(HasSubstr("in several physical groups"),
                    HasSubstr("The physical group \"everything\" makes no region: its elements are in "
                              "groups with lower numbers, too"),
                    HasSubstr("The physical group \"group_10\" makes no patch")));
  }
}

// --- leftovers
// -------------------------------------------------------------------------------------------------

TEST_F(GmshImport, leftovers_do_no_harm) {
  const std::vector<std::string> names = {"3 1 \"solid\"", "2 2 \"base\"", "1 3 \"edge\"", "0 4 \"corner\""};
  const std::vector<std::string> nodes = {"1 0 0 0", "2 1 0 0", "3 0 1 0", "4 0 0 1"};
  const std::vector<std::string> elements = {"1 4 2 1 1 1 2 3 4", "2 2 2 2 1 1 3 2"};
  const RawMesh clean = import_mesh(write("clean.msh", msh22(names, nodes, elements)));
  ASSERT_EQ(clean.boundary_patch.size(), 1u);

  std::vector<std::string> littered_nodes = nodes, littered = elements;
  littered_nodes.insert(littered_nodes.end(), {"900 5 5 5", "901 6 5 5", "902 6 6 5"});
  littered.insert(littered.end(), {"3 15 2 4 1 1", "4 1 2 3 1 1 2", "5 1 2 3 2 900 901",  // points and lines
                                   "6 2 2 2 1 2 1 3",                                     // the base again
                                   "7 2 2 0 3 1 2 4",                                     // in no group
                                   "8 2 2 2 1 900 901 902"});                             // on no cell
  const RawMesh mesh = import_mesh(write("littered.msh", msh22(names, littered_nodes, littered)));
  expect_same(mesh, clean);
  EXPECT_THAT(mesh.notes, UnorderedElementsAre(HasSubstr("3 nodes belong to no cell"),
                                               HasSubstr("1 boundary elements touch no cell")));
}

TEST_F(GmshImport, keeps_boundary_elements_between_two_cells_for_the_complex_to_judge) {
  const RawMesh mesh = import_mesh(
      write("inside.msh", msh22({}, square_nodes, {"1 1 2 1 1 1 3", "2 2 2 8 1 1 2 3", "3 2 2 8 1 1 3 4"})));
  EXPECT_THAT(mesh.boundary_nodes, ElementsAre(0, 2));
  EXPECT_THAT(patches_of(mesh), ElementsAre("unnamed"));
}

TEST_F(GmshImport, ignores_the_partition_of_a_file) {
  const RawMesh mesh =
      import_mesh(write("partitioned.msh", msh22({"2 8 \"plate\""}, square_nodes,
                                                 {"1 2 4 8 1 1 1 1 2 3", "2 2 4 8 1 1 2 1 3 4"})));
  EXPECT_THAT(mesh.region_names, ElementsAre("plate"));
  EXPECT_THAT(mesh.cell_nodes, ElementsAre(0, 1, 2, 0, 2, 3));
}

TEST_F(GmshImport, ignores_the_ghost_cells_of_a_partition) {
  const auto partitioned_box = [&](double version, bool ghost_cells) {
    save(folder_ / "box.msh", version, false, [&] {
      gmsh::model::occ::addBox(0, 0, 0, 2, 1, 1);
      gmsh::model::occ::synchronize();
      gmsh::model::addPhysicalGroup(3, {1}, 5);
      gmsh::model::addPhysicalGroup(2, {1}, 9);
      gmsh::option::setNumber("Mesh.PartitionCreateGhostCells", ghost_cells);
      gmsh::model::mesh::generate(3);
      gmsh::model::mesh::partition(2);
    });
    return import_mesh(folder_ / "box.msh");
  };
  for (const double version : {2.2, 4.1}) {
    SCOPED_TRACE(version);
    const RawMesh mesh = partitioned_box(version, true);
    expect_same(mesh, partitioned_box(version, false));
    EXPECT_NEAR(measure(mesh, "group_9"), 1, 1e-12);
    EXPECT_THAT(mesh.notes, IsEmpty());
  }
}

TEST_F(GmshImport, reads_sparse_node_numbers) {
  const RawMesh mesh =
      import_mesh(write("sparse.msh", msh22({}, {"2000000000 0 0 0", "7 1 0 0", "1000000 0 1 0"},
                                            {"1 2 2 0 1 2000000000 7 1000000"})));
  EXPECT_THAT(mesh.nodes, ElementsAre(Vector3{1, 0, 0}, Vector3{0, 1, 0}, Vector3{0, 0, 0}));
  EXPECT_THAT(mesh.cell_nodes, ElementsAre(2, 0, 1));
}

TEST_F(GmshImport, scales_coordinates) {
  const auto file = write("scaled.msh", msh22({}, square_nodes, {"1 3 2 0 1 1 2 3 4"}));
  EXPECT_EQ(import_mesh(file, {.scale = 0.001}).nodes[2], (Vector3{0.001, 0.001, 0}));
  EXPECT_THAT(import_error(file, {.scale = 0}), HasSubstr("scale is 0; a positive number is expected"));
  EXPECT_THAT(import_error(file, {.size = -1}), HasSubstr("size is -1"));
}

TEST_F(GmshImport, removes_noise_from_the_plane_of_a_two_dimensional_mesh) {
  const RawMesh mesh = import_mesh(
      write("noise.msh", msh22({}, {"1 0 0 2", "2 1 0 2.0000000000001", "3 0 1 2"}, {"1 2 2 0 1 1 2 3"})));
  for (const Vector3& p : mesh.nodes) EXPECT_EQ(p.z, 2);
}

// --- other formats and geometries
// --------------------------------------------------------------------------------

TEST_F(GmshImport, reads_meshes_of_other_formats) {
  const auto geometry = write("box.geo", box_script);
  const RawMesh meshed = import_mesh(geometry, {.size = 0.5});
  for (const std::string extension : {"unv", "vtk", "mesh", "bdf"}) {
    SCOPED_TRACE(extension);
    save(folder_ / ("box." + extension), 4.1, false, [&] {
      gmsh::open(geometry.string());
      gmsh::option::setNumber("Mesh.CharacteristicLengthMin", 0.5);
      gmsh::option::setNumber("Mesh.CharacteristicLengthMax", 0.5);
      gmsh::option::setNumber("Mesh.SaveAll", 1);
      gmsh::model::mesh::generate(3);
    });
    const RawMesh mesh = import_mesh(folder_ / ("box." + extension));
    EXPECT_EQ(mesh.nodes.size(), meshed.nodes.size());
    EXPECT_EQ(mesh.cell_types, meshed.cell_types);
    EXPECT_NO_THROW(Mesh{mesh});
    if (extension == "vtk") continue;  // which tells how many of each there are
    // Half of the file lacks cells, and what is left without the last line is whole but for that.
    const std::string whole = read(folder_ / ("box." + extension));
    for (const std::size_t length : {whole.size() / 2, whole.find_last_not_of(" \n") - 1})
      EXPECT_THAT(import_error(write("cut." + extension, whole.substr(0, length))),
                  HasSubstr("it is cut off"));
  }
}

TEST_F(GmshImport, numbers_of_elements_name_regions_and_patches_of_formats_without_names) {
  const auto nastran =
      write("numbers.bdf",
            "BEGIN BULK\nGRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,0.,0.,1.\n"
            "GRID,5,,1.,1.,1.\nCTETRA,1,3,1,2,3,4\nCTETRA,2,,2,3,4,5\nCTRIA3,3,9,1,2,3\nENDDATA\n");
  const auto medit = [&](int region) {
    return write(
        "numbers.mesh",
        fmt::format("MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"
                    "1 1 1 1\nTetrahedra\n2\n1 2 3 4 {}\n2 3 4 5 0\nTriangles\n2\n1 2 3 9\n1 2 4 0\nEnd\n",
                    region));
  };
  for (const auto& file : {nastran, medit(3)}) {
    SCOPED_TRACE(file);
    const RawMesh mesh = import_mesh(file);
    EXPECT_THAT(mesh.region_names, UnorderedElementsAre("group_3", "unnamed"));
    EXPECT_THAT(patches_of(mesh), UnorderedElementsAre("group_9", "unnamed"));
    EXPECT_NEAR(measure(mesh, "group_9"), 0.5, 1e-15);
  }
  EXPECT_THAT(import_error(medit(-3)), HasSubstr("group 3 are listed with the number -3"));
}

TEST_F(GmshImport, what_is_in_no_group_of_a_unv_file_is_unnamed) {
  const auto geometry = write("box.geo", box_script);
  save(folder_ / "box.unv", 4.1, false, [&] {
    gmsh::open(geometry.string());
    gmsh::option::setNumber("Mesh.SaveAll", 1);
    gmsh::model::mesh::generate(3);
  });
  const RawMesh mesh = import_mesh(folder_ / "box.unv");
  EXPECT_THAT(patches_of(mesh), UnorderedElementsAre("floor", "unnamed"));
  const auto note = HasSubstr("groups are in a dataset 2467");
  EXPECT_THAT(mesh.notes, Not(Contains(note)));
  // As Salome numbers them.
  std::string other = read(folder_ / "box.unv");
  const std::size_t dataset = other.find("2477");
  ASSERT_NE(dataset, std::string::npos);
  other.replace(dataset, 4, "2467");
  EXPECT_THAT(import_mesh(write("other.unv", other)).notes, Contains(note));
}

TEST_F(GmshImport, meshes_a_script_at_the_asked_size_the_same_each_time) {
  const auto file = write("a box.geo", box_script);
  const RawMesh coarse = import_mesh(file, {.size = 0.5}), fine = import_mesh(file, {.size = 0.25});
  EXPECT_GT(fine.cell_types.size(), 4 * coarse.cell_types.size());
  EXPECT_THAT(coarse.region_names, ElementsAre("box"));
  EXPECT_THAT(patches_of(coarse), UnorderedElementsAre("floor", "unnamed"));
  EXPECT_NEAR(measure(coarse, "floor"), 1, 1e-12);
  expect_same(coarse, import_mesh(file, {.size = 0.5}));
  // The size is in metres after scaling.
  EXPECT_EQ(import_mesh(file, {.scale = 0.1, .size = 0.05}).cell_nodes, coarse.cell_nodes);
}

TEST_F(GmshImport, meshes_surfaces_where_there_is_no_volume) {
  const auto file = write(
      "square.geo",
      "Mesh.CharacteristicLengthMax = 0.2;\nSetFactory(\"OpenCASCADE\");\nRectangle(1) = {0, 0, 0, 1, 1};");
  const RawMesh mesh = import_mesh(file);
  EXPECT_EQ(mesh.dimension, 2);
  EXPECT_GT(mesh.cell_types.size(), 40u);
  EXPECT_THAT(mesh.region_names, ElementsAre("domain"));
}

TEST_F(GmshImport, leaves_out_what_a_script_has_in_no_group_as_gmsh_does) {
  const std::string text =
      "Mesh.CharacteristicLengthMax = 0.3;\nSetFactory(\"OpenCASCADE\");\nRectangle(1) = {0, 0, 0, 3, 1};\n"
      "Rectangle(2) = {1, 0, 0, 1, 1};\nBooleanFragments{ Surface{1}; Delete; }{ Surface{2}; Delete; }\n"
      "Physical Surface(\"fluid\") = {3, 4};\n";
  const auto area = [](const RawMesh& raw) {
    const Mesh mesh(raw);
    const auto areas = mesh.geometry().cell_volumes().host();
    return std::accumulate(areas.begin(), areas.end(), Real(0));
  };
  const RawMesh mesh = import_mesh(write("channel.geo", text));
  EXPECT_NEAR(area(mesh), 2, 1e-12);
  EXPECT_THAT(mesh.region_names, ElementsAre("fluid"));
  EXPECT_THAT(mesh.notes, Contains(HasSubstr("are in no physical group and left out")));
  save(folder_ / "channel.msh", 4.1, false, [&] {
    gmsh::open((folder_ / "channel.geo").string());
    gmsh::model::mesh::generate(2);
  });
  EXPECT_NEAR(area(import_mesh(folder_ / "channel.msh")), 2, 1e-12);
  const RawMesh all = import_mesh(write("all.geo", text + "Mesh.SaveAll = 1;\n"));
  EXPECT_NEAR(area(all), 3, 1e-12);
  EXPECT_THAT(all.region_names, UnorderedElementsAre("fluid", "unnamed"));
}

TEST_F(GmshImport, tells_the_unit_of_step_files_that_a_script_merges) {
  const std::string merge =
      fmt::format("Merge \"{}\";\n", (source_folder / "tests/mesh/import/box.step").string());
  const auto note = Contains(HasSubstr("merges from a STEP file is in millimetres"));
  EXPECT_THAT(import_mesh(write("merged.geo", merge)).notes, note);
  EXPECT_THAT(import_mesh(write("metres.geo", "Geometry.OCCTargetUnit = \"M\";\n" + merge)).notes, Not(note));
}

TEST_F(GmshImport, meshes_step_brep_and_stl_geometries) {
  const auto build_box = [] {
    gmsh::model::occ::addBox(0, 0, 0, 1, 1, 2);
    gmsh::model::occ::synchronize();
  };
  save(folder_ / "box.brep", 4.1, false, build_box);
  for (const bool binary : {false, true})
    save(folder_ / (binary ? "binary.stl" : "ascii.stl"), 4.1, binary, [&] {
      build_box();
      gmsh::option::setNumber("Mesh.CharacteristicLengthMax", 0.5);
      gmsh::model::mesh::generate(2);
    });
  const auto volume = [](const RawMesh& raw) {
    const Mesh mesh(raw);
    Real sum = 0;
    const auto& volumes = mesh.geometry().cell_volumes();
    for (std::size_t c = 0; c < volumes.size(); ++c) sum += volumes[c];
    return sum;
  };
  // In millimetres; a file because OpenCASCADE writes in the unit in which this process last read.
  const RawMesh step = import_mesh(source_folder / "tests/mesh/import/box.step", {.size = 0.0005});
  EXPECT_NEAR(volume(step), 2e-9, 1e-15);
  EXPECT_THAT(step.notes, ElementsAre(HasSubstr("converted to metres")));
  EXPECT_NEAR(volume(import_mesh(folder_ / "box.brep", {.size = 0.5})), 2, 1e-9);
  EXPECT_NEAR(volume(import_mesh(folder_ / "ascii.stl")), 2, 1e-6);
  const RawMesh stl = import_mesh(folder_ / "binary.stl", {.size = 0.15});
  EXPECT_NEAR(volume(stl), 2, 1e-6);
  EXPECT_GT(stl.cell_types.size(), 2 * import_mesh(folder_ / "binary.stl").cell_types.size());
}

TEST_F(GmshImport, ignores_the_users_gmsh_settings) {
  write(".gmshrc", "Mesh.ElementOrder = 2;\n");
  write(".gmsh-options", "Mesh.ElementOrder = 2;\n");
  const char* const home = std::getenv("HOME");
  const std::string saved = home == nullptr ? "" : home;
  setenv("HOME", folder_.c_str(), 1);
  const RawMesh mesh = import_mesh(write("box.geo", box_script), {.size = 0.5});
  setenv("HOME", saved.c_str(), 1);
  EXPECT_THAT(mesh.notes, IsEmpty());
}

TEST_F(GmshImport, writes_nothing_to_the_terminal) {
  const auto good = write("box.geo", box_script), bad = write("bad.step", "this is no STEP file\n");
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  import_mesh(good, {.size = 0.5});
  const std::string message = import_error(bad);
  std::printf("still there");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "still there");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(message, HasSubstr("Incorrect syntax"));
}

// --- the geometries of the cases
// ---------------------------------------------------------------------------------

TEST_F(GmshImport, crankshaft_has_its_size_and_patches) {
  const RawMesh mesh = import_mesh(source_folder / "cases/crankshaft/crankshaft.geo");
  EXPECT_NEAR(static_cast<Real>(mesh.cell_types.size()), 178486, 0.05 * 178486);
  EXPECT_THAT(mesh.region_names, ElementsAre("steel"));
  EXPECT_THAT(patches_of(mesh),
              UnorderedElementsAre("nose_end", "flange_end", "main_journals", "crank_pins", "webs"));
  constexpr Real pi = std::numbers::pi;
  EXPECT_NEAR(measure(mesh, "nose_end"), pi * 0.018 * 0.018, 0.02 * pi * 0.018 * 0.018);
  EXPECT_NEAR(measure(mesh, "flange_end"), pi * 0.045 * 0.045, 0.01 * pi * 0.045 * 0.045);
  EXPECT_NEAR(measure(mesh, "main_journals"), 5 * pi * 0.055 * 0.028, 0.01 * 5 * pi * 0.055 * 0.028);
  EXPECT_NEAR(measure(mesh, "crank_pins"), 4 * pi * 0.048 * 0.026, 0.01 * 4 * pi * 0.048 * 0.026);
}

TEST_F(GmshImport, simple_cases_have_their_regions_and_patches) {
  const RawMesh plate = import_mesh(source_folder / "cases/plate/plate.geo");
  EXPECT_THAT(plate.region_names, ElementsAre("plate"));
  EXPECT_THAT(patches_of(plate), UnorderedElementsAre("left", "right", "bottom", "top"));
  for (const std::string side : {"left", "right", "bottom", "top"})
    EXPECT_NEAR(measure(plate, side), 1, 1e-12);

  const RawMesh wall = import_mesh(source_folder / "cases/conduction/plane_wall.geo");
  EXPECT_THAT(wall.region_names, ElementsAre("wall"));
  EXPECT_THAT(patches_of(wall), UnorderedElementsAre("left", "right", "sides"));
  EXPECT_NEAR(measure(wall, "left"), 0.1, 1e-12);
  EXPECT_NEAR(measure(wall, "sides"), 2, 1e-12);

  const RawMesh slab = import_mesh(source_folder / "cases/conduction/slab.geo");
  EXPECT_THAT(slab.region_names, ElementsAre("conductor", "insulator"));
  EXPECT_THAT(patches_of(slab), UnorderedElementsAre("hot", "cold", "sides"));  // no seam at the interface
  for (std::size_t c = 0; c < slab.cell_types.size(); ++c) {
    for (auto k = slab.cell_start[c]; k < slab.cell_start[c + 1]; ++k) {
      const Real x = slab.nodes[static_cast<std::size_t>(slab.cell_nodes[static_cast<std::size_t>(k)])].x;
      EXPECT_TRUE(slab.cell_region[c] == 0 ? x < 0.5 + 1e-12 : x > 0.5 - 1e-12);
    }
  }

  const RawMesh cube = import_mesh(source_folder / "cases/conduction/cube.geo");
  EXPECT_THAT(patches_of(cube), UnorderedElementsAre("symmetry", "surface"));
  EXPECT_NEAR(measure(cube, "symmetry"), 3, 1e-12);
  EXPECT_NEAR(measure(cube, "surface"), 3, 1e-12);

  const RawMesh sphere = import_mesh(source_folder / "cases/conduction/sphere.geo");
  EXPECT_THAT(sphere.region_names, ElementsAre("solid"));
  EXPECT_THAT(patches_of(sphere), UnorderedElementsAre("symmetry", "surface"));
  EXPECT_NEAR(measure(sphere, "surface"), std::numbers::pi / 2, 0.01);
}

}  // namespace
}  // namespace curlew
