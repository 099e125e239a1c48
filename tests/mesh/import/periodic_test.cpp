// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/periodic.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/homology/homology.hpp"
#include "mesh/import/gmsh_import.hpp"
#include "mesh/point_location.hpp"
#include "mesh/quality.hpp"
#include "tests/mesh/incidence_matrix.hpp"
#include "tests/mesh/periodic_boxes.hpp"

namespace curlew {
namespace {

using testing::HasSubstr;

/// nodes - edges + faces - cells, in two dimensions nodes - sides + cells.
Index euler_characteristic(const Topology& t) {
  if (t.dimension() == 2) return t.nodes().size() - t.faces().size() + t.cells().size();
  return t.nodes().size() - t.edges().size() + t.faces().size() - t.cells().size();
}

/// What holds on any mesh that periodic.hpp makes.
void expect_sound(const Mesh& original, const PeriodicMesh& periodic) {
  const Topology& t = periodic.mesh.topology();
  const Geometry& g = periodic.mesh.geometry();

  // Exactly, as integers.
  const IntegerMatrix d = matrix_of(t.faces_of_cell(), t.faces().size());
  const IntegerMatrix c = matrix_of(t.edges_of_face(), t.edges().size());
  const IntegerMatrix b = matrix_of(t.nodes_of_edge(), t.nodes().size());
  EXPECT_GT(c.nonZeros(), 0);
  EXPECT_EQ(largest_entry(d * c), 0);
  EXPECT_EQ(largest_entry(c * b), 0);
  const IntegerMatrix gradient = -matrix_of(t.cells_of_face(), t.cells().size());
  EXPECT_EQ(largest_entry(gradient + IntegerMatrix(d.transpose())), 0);
  const IntegerMatrix rotation = matrix_of(t.faces_of_edge(), t.faces().size());
  EXPECT_EQ(largest_entry(rotation - IntegerMatrix(c.transpose())), 0);
  EXPECT_EQ(largest_entry(rotation * gradient), 0);
  EXPECT_EQ(largest_entry(matrix_of(t.edges_of_node(), t.edges().size()) - IntegerMatrix(b.transpose())), 0);
  EXPECT_EQ(t.cells_of_node().entries(), t.nodes_of_cell().entries());

  // Numbering and orientation are those of every mesh.
  EXPECT_EQ(t.cells().size(), original.topology().cells().size());
  EXPECT_EQ(t.periodic_faces().last(), t.interior_faces().last());
  Index next = original.topology().interior_faces().last();
  for (const PeriodicConnection& connection : periodic.connections) {
    EXPECT_EQ(connection.faces.first(), next);
    next = connection.faces.last();
  }
  EXPECT_EQ(t.periodic_faces().first(), original.topology().interior_faces().last());
  EXPECT_EQ(next, t.interior_faces().last());
  for (const Patch& patch : t.patches()) {
    EXPECT_EQ(patch.faces.first(), next);
    next = patch.faces.last();
  }
  EXPECT_EQ(next, t.faces().last());
  const auto expect_ascending = [](const auto& row) {
    for (Index k = 1; k < row.size(); ++k) EXPECT_FALSE(row[k].id < row[k - 1].id);
  };
  for (const Id<Cell> cell : t.cells()) expect_ascending(t.faces_of_cell()[cell]);
  for (const Id<Face> f : t.faces()) {
    expect_ascending(t.edges_of_face()[f]);
    const auto cells = t.cells_of_face()[f];
    ASSERT_EQ(cells.size(), t.interior_faces().contains(f) ? 2 : 1);
    EXPECT_EQ(cells[0].sign, 1);
    if (cells.size() > 1) {
      EXPECT_TRUE(cells[0].id < cells[1].id && cells[1].sign == -1);
    }
  }
  for (const Id<Edge> e : t.edges()) {
    const auto ends = t.nodes_of_edge()[e];
    ASSERT_EQ(ends.size(), t.dimension() == 2 ? 0 : 2);
    if (ends.size() == 0) continue;
    EXPECT_FALSE(ends[1].id < ends[0].id);
    EXPECT_TRUE(ends[0].sign == -1 && ends[1].sign == 1);
  }

  // Edges of a face are its sides, counter-clockwise.
  for (const Id<Face> f : t.faces()) {
    const auto nodes = t.nodes_of_face()[f];
    std::multiset<std::pair<Index, Index>> sides, edges;
    for (Index k = 0; k < nodes.size(); ++k) {
      sides.emplace(nodes[k].id.value(), nodes[k + 1 < nodes.size() ? k + 1 : 0].id.value());
    }
    for (const auto [e, sign] : t.edges_of_face()[f]) {
      const auto ends = t.nodes_of_edge()[e];
      if (ends.size() == 0) continue;
      edges.emplace(ends[sign > 0 ? 0 : 1].id.value(), ends[sign > 0 ? 1 : 0].id.value());
    }
    if (t.dimension() == 3) {
      EXPECT_EQ(edges, sides);
    }
  }

  // Areas close each cell; centroids are where the cell has its faces.
  const auto face_centroid = g.face_centroids_of_cells(MemorySpace::Host);
  const auto cell_centroid = g.cell_centroids(MemorySpace::Host);
  std::vector<std::vector<Vector3>> original_arms(at(t.cells().size()));
  Real volume = 0, node_volume = 0;
  for (const Id<Cell> cell : t.cells()) {
    Vector3 sum{}, sum_of_centroids{}, expected{};
    Real size = 0;
    for (const auto [f, sign] : t.faces_of_cell()[cell]) {
      sum += sign * g.face_areas()[at(f.value())];
      size += norm(g.face_areas()[at(f.value())]);
      sum_of_centroids += face_centroid(f, sign);
      EXPECT_GT(sign * dot(face_centroid(f, sign) - cell_centroid[cell], g.face_areas()[at(f.value())]), 0);
    }
    for (const auto [f, sign] : original.topology().faces_of_cell()[cell]) {
      expected += original.geometry().face_centroids()[at(f.value())];
    }
    EXPECT_LE(norm(sum), 1e-11 * size);
    EXPECT_LE(norm(sum_of_centroids - expected), 1e-11 * norm(expected));
    volume += g.cell_volumes()[at(cell.value())];
  }
  for (const Real share : g.node_volumes().host()) node_volume += share;
  EXPECT_NEAR(node_volume, volume, 1e-13 * volume);
  for (const PeriodicConnection& connection : periodic.connections) {
    for (const Id<Face> f : connection.faces) {
      const Vector3 jump = face_centroid(f, 1) - face_centroid(f, -1);
      EXPECT_LE(std::min(norm(jump - connection.translation), norm(jump + connection.translation)),
                1e-11 * norm(connection.translation));
      const auto cells = t.cells_of_face()[f];
      EXPECT_LE(norm(g.dual_edge(t, f) - jump - (cell_centroid[cells[1].id] - cell_centroid[cells[0].id])),
                1e-13 * norm(connection.translation));
    }
  }

  // Nodes are one where a sum of translations leads from one to the other.
  ASSERT_EQ(std::ssize(periodic.node_of_original), original.topology().nodes().size());
  std::vector<Index> first(at(t.nodes().size()), -1);
  const auto& x = original.geometry().node_positions();
  for (std::size_t n = 0; n < periodic.node_of_original.size(); ++n) {
    Index& known = first[at(periodic.node_of_original[n].value())];
    if (known < 0) known = static_cast<Index>(n);
    Real nearest = norm(x[n] - x[at(known)]);
    for (int code = 0; code < 27; ++code) {
      Vector3 moved = x[n] - x[at(known)];
      int digits = code;
      for (const PeriodicConnection& connection : periodic.connections) {
        moved += static_cast<Real>(digits % 3 - 1) * connection.translation;
        digits /= 3;
      }
      nearest = std::min(nearest, norm(moved));
    }
    EXPECT_LE(nearest, 1e-11);
  }
  EXPECT_EQ(std::ranges::count(first, -1), 0);
}

class OnPeriodicBox : public testing::TestWithParam<PeriodicBox> {
 protected:
  const Mesh original_{GetParam().raw()};
  const PeriodicMesh periodic_ = make_periodic(original_, GetParam().pairs());
  const Topology& t_ = periodic_.mesh.topology();
};

TEST_P(OnPeriodicBox, complex_and_geometry_are_sound) {
  expect_sound(original_, periodic_);
}

TEST_P(OnPeriodicBox, counts_are_those_of_the_grid) {
  const PeriodicBox& box = GetParam();
  Index nodes = 1;
  for (int i = 0; i < t_.dimension(); ++i) nodes *= box.blocks[at(i)] + (i < box.directions ? 0 : 1);
  if (box.type == CellType::Pyramid) nodes += box.blocks[0] * box.blocks[1] * box.blocks[2];
  EXPECT_EQ(t_.nodes().size(), nodes);
  EXPECT_EQ(euler_characteristic(t_), 0);
  EXPECT_EQ(t_.patches().size(), at(2 * (t_.dimension() - box.directions)));
  EXPECT_EQ(t_.boundary_faces().empty(), box.directions == t_.dimension());
  EXPECT_EQ(t_.faces().size() + t_.periodic_faces().size(), original_.topology().faces().size());
}

TEST_P(OnPeriodicBox, edges_have_the_vectors_of_the_sides_that_became_them) {
  if (t_.dimension() == 2) return;
  const auto x = original_.geometry().node_positions(MemorySpace::Host);
  for (const Id<Face> f : t_.faces()) {
    periodic_.mesh.visit_unfolded(f, [&](Id<Face> original, Real orientation) {
      const auto nodes = original_.topology().nodes_of_face()[original];
      struct Side {
        Id<Node> start, end;
        Vector3 along;
      };
      std::vector<Side> sides;
      for (Index k = 0; k < nodes.size(); ++k) {
        Id<Node> a = nodes[k].id, b = nodes[k + 1 < nodes.size() ? k + 1 : 0].id;
        if (orientation < 0) std::swap(a, b);
        sides.push_back({periodic_.node_of_original[at(a.value())], periodic_.node_of_original[at(b.value())],
                         x[b] - x[a]});
      }
      for (const auto [e, sign] : t_.edges_of_face()[f]) {
        const auto ends = t_.nodes_of_edge()[e];
        const Vector3 along = sign * periodic_.mesh.geometry().edge_vector(t_, e);
        const auto side = std::ranges::find_if(sides, [&](const Side& s) {
          return s.start == ends[sign > 0 ? 0 : 1].id && s.end == ends[sign > 0 ? 1 : 0].id &&
                 norm(s.along - along) <= 1e-12 * norm(along);
        });
        ASSERT_NE(side, sides.end());
        sides.erase(side);
      }
      EXPECT_TRUE(sides.empty());
    });
  }
}

TEST_P(OnPeriodicBox, betti_numbers_are_those_of_the_torus) {
  // Of circles times an interval or a disc: binomial coefficients of the number of circles.
  const BettiNumbers expected[] = {{1, 1, 0}, {1, 2, 1}, {1, 3, 3}};
  EXPECT_EQ(betti_numbers(t_), expected[GetParam().directions - 1]);
}

INSTANTIATE_TEST_SUITE_P(Boxes, OnPeriodicBox, testing::ValuesIn(periodic_boxes()),
                         [](const auto& test) { return test.param.name; });

TEST(Periodic, faces_with_a_side_that_is_shorter_than_the_tolerance_are_joined) {
  // A side as long as half of what two places may differ by to count as one.
  RawMesh raw = make_box(CellType::Hexahedron, {3, 1, 1});
  for (Vector3& x : raw.nodes)
    if (x.y == 0 && x.z == 1) x.y = 1 - 5e-5;
  const Mesh mesh(raw);
  const PeriodicMesh periodic = make_periodic(mesh, std::vector<PeriodicPair>{{"left", "right"}});
  expect_sound(mesh, periodic);
  EXPECT_EQ(periodic.mesh.topology().periodic_faces().size(), 1);
  EXPECT_EQ(periodic.mesh.topology().nodes().size(), 12);
}

TEST(Periodic, betti_numbers_count_holes_and_voids_of_a_torus) {
  // One cell missing: the torus's cells then have a boundary, and nothing else has changed.
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    RawMesh raw = make_box(type, {4, 4, 4});
    const std::size_t corners = type == CellType::Hexahedron ? 8 : 4;
    const std::ptrdiff_t missing = type == CellType::Hexahedron ? 21 : 5;
    raw.cell_types.pop_back();
    raw.cell_region.pop_back();
    raw.cell_start.pop_back();
    const auto first = raw.cell_nodes.begin() + missing * static_cast<std::ptrdiff_t>(corners);
    raw.cell_nodes.erase(first, first + static_cast<std::ptrdiff_t>(corners));
    std::vector<PeriodicPair> pairs{{"left", "right"}, {"bottom", "top"}};
    if (corners == 8) pairs.push_back({"back", "front"});
    const PeriodicMesh periodic = make_periodic(Mesh(raw), pairs);
    EXPECT_EQ(betti_numbers(periodic.mesh.topology()),
              corners == 8 ? (BettiNumbers{1, 3, 3}) : (BettiNumbers{1, 2, 0}));
  }
}

TEST(Periodic, different_edges_may_join_the_same_nodes) {
  const PeriodicBox box{"", CellType::Hexahedron, {2, 2, 2}, 3, false};
  const PeriodicMesh periodic = make_periodic(Mesh(box.raw()), box.pairs());
  const Topology& t = periodic.mesh.topology();
  EXPECT_EQ(t.nodes().size(), 8);
  EXPECT_EQ(t.edges().size(), 24);
  EXPECT_EQ(t.faces().size(), 24);
  EXPECT_EQ(t.cells().size(), 8);
}

/// The message of the error that make_periodic gives; empty where it gives none.
std::string refusal(const RawMesh& raw, std::vector<PeriodicPair> pairs) {
  try {
    make_periodic(Mesh(raw), pairs);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Periodic, refuses_what_does_not_match_and_says_where) {
  const RawMesh plane = make_box(CellType::Triangle, {3, 4, 0}, {2, 1, 0});
  EXPECT_EQ(refusal(plane, {{"left", "right"}}), "");
  const std::string unknown = refusal(plane, {{"left", "rihgt"}});
  EXPECT_THAT(unknown, HasSubstr("'rihgt'"));
  EXPECT_THAT(unknown, HasSubstr("'left', 'right', 'bottom', 'top'"));
  EXPECT_THAT(refusal(plane, {{"left", "right"}, {"top", "left"}}), HasSubstr("'left' is named twice"));
  EXPECT_THAT(refusal(plane, {{"left", "left"}}), HasSubstr("'left' is named twice"));

  RawMesh moved = plane;
  for (Vector3& x : moved.nodes) {
    if (x.x == 2 && x.y == 0.25) x.y = 0.2501;
  }
  const std::string message = refusal(moved, {{"left", "right"}});
  EXPECT_THAT(message, HasSubstr("'left' (4 faces)"));
  EXPECT_THAT(message, HasSubstr("'right' (4 faces)"));
  EXPECT_THAT(message, HasSubstr("at (0, "));
  EXPECT_THAT(message, HasSubstr("Periodic Curve"));
  for (Vector3& x : moved.nodes) {
    if (x.x == 2 && x.y == 0.2501) x.y = 0.250001;
  }
  EXPECT_EQ(refusal(moved, {{"left", "right"}}), "");

  // Faces without a partner on the second patch alone.
  RawMesh fewer = plane;
  const auto tag = std::ranges::find(fewer.boundary_patch, Index{0});
  *tag = 2;
  EXPECT_THAT(refusal(fewer, {{"left", "right"}}), HasSubstr("(3 faces)"));
  EXPECT_THAT(refusal(fewer, {{"right", "left"}}), HasSubstr("(3 faces)"));

  const RawMesh space = make_box(CellType::Tetrahedron, {2, 2, 2});
  EXPECT_THAT(refusal(space, {{"left", "top"}}), HasSubstr("Periodic Surface"));
  EXPECT_THAT(refusal(make_box(CellType::Hexahedron, {2, 1, 3}), {{"left", "right"}, {"bottom", "top"}}),
              HasSubstr("one cell wide between the periodic patches 'bottom' and 'top'"));
}

TEST(Periodic, refuses_patches_that_face_the_same_way) {
  // Two blocks apart with a patch on the left side of each.
  RawMesh raw = make_box(CellType::Quadrilateral, {2, 2, 0});
  const RawMesh other = raw;
  const auto nodes = static_cast<Index>(raw.nodes.size());
  for (const Vector3 x : other.nodes) raw.nodes.push_back(x + Vector3{3, 0, 0});
  const auto cell_nodes = static_cast<std::int64_t>(raw.cell_nodes.size());
  for (const Index n : other.cell_nodes) raw.cell_nodes.push_back(n + nodes);
  for (std::size_t c = 0; c < other.cell_types.size(); ++c) {
    raw.cell_types.push_back(other.cell_types[c]);
    raw.cell_region.push_back(0);
    raw.cell_start.push_back(cell_nodes + other.cell_start[c + 1]);
  }
  const auto boundary_nodes = static_cast<std::int64_t>(raw.boundary_nodes.size());
  for (const Index n : other.boundary_nodes) raw.boundary_nodes.push_back(n + nodes);
  for (std::size_t b = 0; b < other.boundary_patch.size(); ++b) {
    raw.boundary_patch.push_back(other.boundary_patch[b] + 4);
    raw.boundary_start.push_back(boundary_nodes + other.boundary_start[b + 1]);
  }
  for (const std::string& name : other.patch_names) raw.patch_names.push_back("other " + name);
  EXPECT_THAT(refusal(raw, {{"left", "other left"}}), HasSubstr("faces the other way"));
  EXPECT_EQ(refusal(raw, {{"left", "other right"}, {"right", "other left"}}), "");
}

TEST(Periodic, meshes_refuse_what_needs_node_positions) {
  const PeriodicMesh periodic =
      make_periodic(Mesh(make_box(CellType::Tetrahedron, {2, 2, 2})), {{{"left", "right"}}});
  const Mesh& mesh = periodic.mesh;
  EXPECT_THROW(mesh.geometry().node_positions(), Error);
  EXPECT_THROW(mesh.geometry().node_positions(MemorySpace::Host), Error);
  EXPECT_THROW(measure_quality(mesh), Error);
  EXPECT_THROW(PointLocator{mesh}, Error);
  EXPECT_THROW(make_periodic(mesh, {{{"bottom", "top"}}}), Error);
}

class GmshPeriodic : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(file_); }
  Mesh read(const std::string& geometry) {
    std::ofstream(file_) << geometry;
    return Mesh(import_mesh(file_));
  }
  const std::filesystem::path file_ =
      std::filesystem::temp_directory_path() /
      fmt::format("curlew_{}_{}.geo", testing::UnitTest::GetInstance()->current_test_info()->name(),
                  getpid());
};

TEST_F(GmshPeriodic, meshes_of_a_plane_become_a_torus_with_a_hole) {
  const Mesh mesh = read(R"(
    Point(1) = {0, 0, 0, 0.2}; Point(2) = {1, 0, 0, 0.1}; Point(3) = {1.3, 1, 0, 0.2}; Point(4) = {0.3, 1, 0, 0.1};
    Line(1) = {1, 2}; Line(2) = {2, 3}; Line(3) = {4, 3}; Line(4) = {1, 4};
    Point(5) = {0.65, 0.5, 0, 0.1}; Point(6) = {0.85, 0.5, 0, 0.1}; Point(7) = {0.45, 0.5, 0, 0.1};
    Circle(5) = {6, 5, 7}; Circle(6) = {7, 5, 6};
    Curve Loop(1) = {1, 2, -3, -4}; Curve Loop(2) = {5, 6};
    Plane Surface(1) = {1, 2};
    Periodic Curve {2} = {4} Translate {1, 0, 0};
    Periodic Curve {3} = {1} Translate {0.3, 1, 0};
    Physical Curve("left") = {4}; Physical Curve("right") = {2};
    Physical Curve("bottom") = {1}; Physical Curve("top") = {3}; Physical Curve("cylinder") = {5, 6};
    Physical Surface("fluid") = {1};)");
  const PeriodicMesh periodic = make_periodic(mesh, {{{"left", "right"}, {"bottom", "top"}}});
  expect_sound(mesh, periodic);
  EXPECT_LE(norm(periodic.connections[1].translation - Vector3{0.3, 1, 0}), 1e-12);
  ASSERT_EQ(periodic.mesh.topology().patches().size(), 1u);
  EXPECT_EQ(periodic.mesh.topology().patches()[0].name, "cylinder");
  EXPECT_EQ(betti_numbers(periodic.mesh.topology()), (BettiNumbers{1, 2, 0}));
}

TEST_F(GmshPeriodic, meshes_of_a_box_become_a_torus) {
  const Mesh mesh = read(R"(
    SetFactory("OpenCASCADE");
    Box(1) = {0, 0, 0, 1, 1.2, 0.8};
    MeshSize {:} = 0.3;
    Periodic Surface {2} = {1} Translate {1, 0, 0};
    Periodic Surface {4} = {3} Translate {0, 1.2, 0};
    Periodic Surface {6} = {5} Translate {0, 0, 0.8};
    Physical Surface("left") = {1}; Physical Surface("right") = {2}; Physical Surface("bottom") = {3};
    Physical Surface("top") = {4}; Physical Surface("back") = {5}; Physical Surface("front") = {6};
    Physical Volume("fluid") = {1};)");
  const PeriodicMesh periodic =
      make_periodic(mesh, {{{"left", "right"}, {"bottom", "top"}, {"back", "front"}}});
  expect_sound(mesh, periodic);
  EXPECT_TRUE(periodic.mesh.topology().patches().empty());
  EXPECT_EQ(euler_characteristic(periodic.mesh.topology()), 0);
  EXPECT_EQ(betti_numbers(periodic.mesh.topology()), (BettiNumbers{1, 3, 3}));
}

}  // namespace
}  // namespace curlew
