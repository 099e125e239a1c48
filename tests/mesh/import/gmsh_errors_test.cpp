// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gmsh.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "tests/mesh/import/gmsh_files.hpp"

namespace curlew {
namespace {

using testing::HasSubstr;

struct BadMesh {
  std::string file;
  std::string content;
  std::string message;  ///< a fragment
};

TEST_F(GmshImport, every_bad_mesh_gets_its_message) {
  const std::vector<std::string> triangle = {"1 0 0 0", "2 1 0 0", "3 0 1 0"};
  const std::string header = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
  const std::vector<BadMesh> corpus = {
      {"empty.msh", "", "the file is empty"},
      {"text.msh", "hello\n", "a .msh file starts with $MeshFormat"},
      {"fluent.msh", "(0 \"GAMBIT to Fluent File\")\n(2 3)\n", "Other programs use .msh too"},
      {"zeros.msh", std::string(1000, '\0'), "a .msh file starts with $MeshFormat"},
      {"header.msh", "$MeshFormat\n", "a .msh file starts with $MeshFormat"},
      {"future.msh", "$MeshFormat\n9.5 0 8\n$EndMeshFormat\n", "format 9.5; formats 2.2 and 4.1 are read"},
      {"nothing.msh", header, "it has no cells"},
      {"no_elements.msh", msh22({}, triangle, {}), "it has no cells"},
      {"points.msh", msh22({}, triangle, {"1 15 2 0 1 1"}), "it has no cells"},
      {"lines.msh", msh22({}, triangle, {"1 1 2 0 1 1 2"}), "it has no cells"},
      {"node.msh", msh22({}, triangle, {"1 2 2 0 1 1 2 4"}),
       "an element uses node 4; the nodes are numbered from 1 to 3"},
      {"negative_node.msh", msh22({}, triangle, {"1 2 2 0 1 1 2 -3"}), "uses node -3"},
      {"node_gap.msh", msh22({}, {"1 0 0 0", "2 1 0 0", "9 0 1 0"}, {"1 2 2 0 1 1 2 5"}), "Gmsh reports"},
      {"count.msh", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n7\n1 0 0 0\n$EndNodes\n", "it is damaged"},
      {"node_0.msh", msh22({}, {"0 0 0 0", "1 1 0 0", "2 0 1 0"}, {"1 2 2 0 1 0 1 2"}),
       "it has a node with the number 0; nodes are numbered from 1 on"},
      {"node_0_of_41.msh",
       "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 3 0 2\n2 1 0 3\n0\n1\n2\n0 0 0\n1 0 0\n0 1 "
       "0\n$EndNodes\n"
       "$Elements\n1 1 1 1\n2 1 2 1\n1 0 1 2\n$EndElements\n",
       "it has a node with the number 0; nodes are numbered from 1 on"},
      {"elements.msh",
       header + "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 1 1 0\n$EndNodes\n$Elements\n1\n1 2 2 0 1 1 2 3\n"
                "2 2 2 0 1 2 4 3\n$EndElements\n",
       "it is damaged"},
      {"names.msh", msh22({"5 7 \"steel\""}, triangle, {"1 2 2 0 1 1 2 3"}), "physical group of dimension 5"},
      {"latin_1.msh", msh22({"2 7 \"h\xE4lf\""}, triangle, {"1 2 2 7 1 1 2 3"}),
       "the name of the physical group 7, \"h\\xE4lf\", is not in UTF-8"},
      {"cut_off.msh", msh22({"2 7 \"h\xC3\""}, triangle, {"1 2 2 7 1 1 2 3"}), "\"h\\xC3\", is not in UTF-8"},
      {"type.msh", msh22({}, triangle, {"1 999 2 0 1 1 2 3"}), "Gmsh reports"},
      {"nan.msh", msh22({}, {"1 0 0 0", "2 nan 0 0", "3 0 1 0"}, {"1 2 2 0 1 1 2 3"}),
       "no finite coordinates"},
      {"infinite.msh", msh22({}, {"1 0 0 0", "2 1e999 0 0", "3 0 1 0"}, {"1 2 2 0 1 1 2 3"}),
       "no finite coordinates"},
      {"duplicate.msh", msh22({}, triangle, {"1 2 2 0 1 1 2 3", "2 2 2 0 1 3 1 2"}),
       "two cells have the same nodes"},
      {"orders.msh",
       msh22({}, {"1 0 0 0", "2 1 0 0", "3 0 1 0", "4 1 1 0", "5 .5 .5 0", "6 1 .5 0", "7 .5 1 0"},
             {"1 2 2 0 1 1 2 3", "2 9 2 0 1 2 4 3 6 7 5"}),
       "of one order"},
      {"orders_41.msh",
       "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 7 1 7\n2 1 0 7\n1\n2\n3\n4\n5\n6\n7\n0 0 0\n1 0 0\n0 "
       "1 "
       "0\n1 1 0\n.5 .5 0\n1 .5 0\n.5 1 0\n$EndNodes\n"
       "$Elements\n2 2 1 2\n2 1 2 1\n1 1 2 3\n2 1 9 1\n2 2 4 3 6 7 5\n$EndElements\n",
       "of one order"},
      {"orders.bdf",
       "BEGIN BULK\nGRID,1,,0.,0.,0.\nGRID,2,,1.,0.,0.\nGRID,3,,0.,1.,0.\nGRID,4,,1.,1.,0.\n"
       "GRID,5,,.5,.5,0.\nGRID,6,,1.,.5,0.\nGRID,7,,.5,1.,0.\nCTRIA3,1,1,1,2,3\nCTRIA6,2,1,2,4,3,6,7,5\n"
       "ENDDATA\n",
       "of one order"},
      {"prisms.mesh",
       "MeshVersionFormatted 2\nDimension 3\nVertices\n3\n0 0 0 1\n1 0 0 1\n0 1 0 1\nTriangles\n1\n1 2 3 1\n"
       "Prisms\n1\n1 2 3 1 2 3 1\nEnd\n",
       "it has Prisms, which Gmsh does not read"},
      {"pyramids.bdf", "GRID,1,,0.,0.,0.\nCPYRA,1,1,1,2,3,4,5\nENDDATA\n",
       "it has CPYRA, which Gmsh does not read"},
      {"included.bdf", "BEGIN BULK\nINCLUDE 'rest.bdf'\nENDDATA\n", "it includes another file"},
      {"small.bdf", "BEGIN BULK\ngrid,1,,0.,0.,0.\nENDDATA\n", "it has cards in small letters (\"grid\")"},
      {"quoted.bdf", "begin bulk\n  INCLUDE'rest.bdf'\nENDDATA\n", "it includes another file"},
      {"mixed.bdf", "SOL 101\ngridforce=all\nBEGIN BULK\nCtetra,1,2,1,2,3,4\nENDDATA\n",
       "it has cards in small letters (\"Ctetra\")"},
      {"system.bdf", "BEGIN BULK\nGRID,1,0,0.,0.,0.\nGRID,2,5,1.,0.,0.\nENDDATA\n",
       "it has points in the coordinate system 5"},
      {"wide.bdf", "BEGIN BULK\nGRID*                  1               7             0.0\nENDDATA\n",
       "it has points in the coordinate system 7"},
      {"fixed.bdf", "BEGIN BULK\nGRDSET                 6\nENDDATA\n", "in the coordinate system 6"},
      {"more.mesh",
       "MeshVersionFormatted 2\nDimension 3\nVertices\n4\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n# solid\n"
       "Tetrahedra\n2\n1 2 3 4 1\nTriangles\n1\n1 2 3 9\nEnd\n",
       "it says that it has 2 Tetrahedra and lists 1"},
      {"less.mesh",
       "MeshVersionFormatted 2\nDimension 3\nVertices 3\n0 0 0 1\n1 0 0 1\n0 1 0 1\n0 0 1 1\n"
       "Tetrahedra\n1\n1 2 3 4 1\nEnd\n",
       "it says that it has 3 Vertices and lists 4"},
      {"tilted.msh", msh22({}, {"1 0 0 0", "2 1 0 0", "3 0 1 1"}, {"1 2 2 0 1 1 2 3"}), "plane z = constant"},
      {"upright.msh", msh22({}, {"1 0 0 0", "2 0 1 0", "3 0 1 1"}, {"1 2 2 0 1 1 2 3"}),
       "plane z = constant"},
      {"mesh.xyz", "hello\n", "the extension '.xyz' is none that a mesh is read from"},
      {"mesh", "hello\n", "the extension '' is none"},
      {"mesh.su2", "NDIME= 2\n", "Convert the file to .msh"},
      {"mesh.vtk", "hello\n", "Gmsh reports"},
      {"mesh.vtk", "# vtk DataFile Version 5.1\nvtk output\nBINARY\nDATASET UNSTRUCTURED_GRID\n",
       "version 5.1; versions up to 4.2"},
      {"mesh.unv", "hello\n", "its last line is not -1"},
      {"empty.unv", "    -1\n  2411\n    -1\n", "it has no cells"},
      {"solid.stl", "hello\n", "it has no triangles"},
      {"open.stl",
       "solid s\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
       "0\nendloop\nendfacet\n"
       "endsolid s\n",
       "one closed surface"},
      {"part.step", "hello\n", "Gmsh reports"},
      {"part.brep", "hello\n", "it has no cells"},
      {"unfinished.geo", "Point(1) = {0, 0;\n", "line 1: syntax error"},
      {"unknown.geo", "\nPoint(1) = {a, 0, 0};\n", "line 2: Unknown variable 'a'"},
      {"missing_curve.geo", "Curve Loop(1) = {1, 2, 3};\nPlane Surface(1) = {1};\n", "Gmsh reports"},
      {"scaled.geo", "Point(1) = {0, 0, 0};\nMesh.ScalingFactor = 0.001;\n", "give scale = 0.001 in [mesh]"},
      {"points_only.geo", "Point(1) = {0, 0, 0};\n", "it has no cells"},
      {"last_line.geo",
       "SetFactory(\"OpenCASCADE\");\nRectangle(1) = {0, 0, 0, 1, 1}; Disk(2) = {3, 0, 0, 1};",
       "its last line has no line break"},
      {"error.geo", "Error(\"wheel and rim do not meet\");\n", "wheel and rim do not meet"},
  };
  for (const BadMesh& bad : corpus) {
    SCOPED_TRACE(bad.file);
    const std::string message = import_error(write(bad.file, bad.content));
    EXPECT_THAT(message, HasSubstr(bad.message));
    EXPECT_THAT(message, HasSubstr((folder_ / bad.file).string()));
  }
  EXPECT_THAT(import_error(folder_ / "absent.msh"), HasSubstr("no such file"));
  EXPECT_THAT(import_error(folder_ / "absent"), HasSubstr("no such file"));
  std::filesystem::create_directory(folder_ / "folder.msh");
  EXPECT_THAT(import_error(folder_ / "folder.msh"), HasSubstr("not a regular file"));
}

TEST_F(GmshImport, a_script_that_ends_the_program_is_told_of) {
  write("included.geo", "Exit;\n");
  for (const char* script : {"Exit;\n", "If(1)Exit;EndIf\n", "Exit\n;\n", "Include \"included.geo\";\n"}) {
    const auto file = write("exit.geo", script);
    EXPECT_EXIT(import_mesh(file), testing::ExitedWithCode(2), "error: .*exit.geo: a statement Exit")
        << script;
  }
  EXPECT_THAT(import_error(write("comment.geo", "/* Exit; */\nPoint(1) = {0, 0, 0};\n")),
              HasSubstr("it has no cells"));
}

/// Gmsh 4.8's reader of this format looks up the nodes of an element that has none.
TEST_F(GmshImport, a_mesh_that_gmsh_crashes_over_is_told_of) {
  const auto file = write("element.unv",
                          "    -1\n"
                          "  2411\n"
                          "         1         1         1        11\n"
                          "   0.0000000000000000D+00   0.0000000000000000D+00   0.0000000000000000D+00\n"
                          "    -1\n"
                          "    -1\n"
                          "  2412\n"
                          "         1       111         1         0         7         0\n"
                          "    -1\n");
  EXPECT_EXIT(
      {
        try {
          import_mesh(file);
        } catch (const InputError& error) {  // as other versions might throw
          std::cerr << "error: " << error.what();
          std::exit(2);
        }
      },
      testing::ExitedWithCode(2), "error: .*element.unv: ");
}

TEST_F(GmshImport, a_truncated_mesh_is_an_error_or_still_a_mesh) {
  const auto geometry = write("box.geo", box_script);
  for (const double version : {2.2, 4.1}) {
    for (const bool binary : {false, true}) {
      SCOPED_TRACE(fmt::format("{} {}", version, binary ? "binary" : "ASCII"));
      save(folder_ / "whole.msh", version, binary, [&] {
        gmsh::open(geometry.string());
        gmsh::option::setNumber("Mesh.CharacteristicLengthMax", 0.5);
        gmsh::model::mesh::generate(3);
      });
      const RawMesh whole = import_mesh(folder_ / "whole.msh");
      const std::string content = read(folder_ / "whole.msh");
      std::size_t errors = 0, cuts = 0;
      for (std::size_t length = 0; length < content.size(); length += 1 + content.size() / 120) {
        SCOPED_TRACE(fmt::format("{} of {} bytes", length, content.size()));
        const auto file = write("cut.msh", content.substr(0, length));
        ++cuts;
        const std::string message = import_error(file);  // another exception fails the test
        errors += message.empty() ? 0u : 1u;
        if (message.empty()) {
          EXPECT_EQ(import_mesh(file).cell_nodes, whole.cell_nodes);
        }
      }
      EXPECT_GE(errors, cuts - 2);  // the end mark of the last section is all that may be missing
    }
  }
}

TEST_F(GmshImport, a_size_that_no_mesh_can_have_is_refused) {
  const auto file = write("box.geo", box_script);
  EXPECT_THAT(import_error(file, {.size = 1e-10}),
              HasSubstr("size is 1e-10 m, and the geometry reaches over 2.45 m"));
  EXPECT_THAT(import_error(file, {.scale = 1e-3, .size = 1e-12}), HasSubstr("reaches over 0.00245 m"));
  EXPECT_EQ(import_error(file, {.scale = 1e-10, .size = 1e-10}), "");
  EXPECT_THAT(import_error(write("empty.geo", "a = 1;\n"), {.size = 1e-10}), HasSubstr("it has no cells"));
}

TEST_F(GmshImport, recovers_after_an_error) {
  EXPECT_THAT(import_error(write("bad.geo", "Point(1) = {0, 0")), HasSubstr("syntax error"));
  EXPECT_EQ(import_mesh(write("box.geo", box_script), {.size = 0.5}).region_names.size(), 1u);
}

}  // namespace
}  // namespace curlew
