// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/topology.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/import/face_matching.hpp"
#include "tests/mesh/incidence_matrix.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

class OnShelf : public testing::TestWithParam<ShelfMesh> {};

TEST_P(OnShelf, curl_then_divergence_is_exactly_zero) {
  const Mesh mesh(GetParam().raw);
  const Topology& t = mesh.topology();
  const IntegerMatrix d = matrix_of(t.faces_of_cell(), t.faces().size());
  const IntegerMatrix c = matrix_of(t.edges_of_face(), t.edges().size());
  const IntegerMatrix b = matrix_of(t.nodes_of_edge(), t.nodes().size());
  EXPECT_EQ(largest_entry(d * c), 0);
  EXPECT_EQ(largest_entry(c * b), 0);
  EXPECT_GT(c.nonZeros(), 0);
  EXPECT_EQ(largest_entry(matrix_of(t.cells_of_face(), t.cells().size()) - IntegerMatrix(d.transpose())), 0);
  EXPECT_EQ(largest_entry(matrix_of(t.faces_of_edge(), t.faces().size()) - IntegerMatrix(c.transpose())), 0);
  EXPECT_EQ(largest_entry(matrix_of(t.edges_of_node(), t.edges().size()) - IntegerMatrix(b.transpose())), 0);
}

TEST_P(OnShelf, faces_lie_between_a_lower_and_a_higher_cell_or_on_one_patch) {
  const Mesh mesh(GetParam().raw);
  const Topology& t = mesh.topology();
  for (const Id<Face> f : t.faces()) {
    const auto cells = t.cells_of_face()[f];
    ASSERT_EQ(cells.size(), t.interior_faces().contains(f) ? 2 : 1);
    EXPECT_EQ(cells[0].sign, 1);
    if (cells.size() > 1) {
      EXPECT_TRUE(cells[0].id < cells[1].id && cells[1].sign == -1);
    }
  }
  Index next = t.boundary_faces().first();
  for (const Patch& patch : t.patches()) {
    EXPECT_EQ(patch.faces.first(), next);
    EXPECT_FALSE(patch.faces.empty());
    next = patch.faces.last();
  }
  EXPECT_EQ(next, t.faces().last());
}

TEST_P(OnShelf, cells_are_closed_and_divide_the_volume) {
  const Mesh mesh(GetParam().raw);
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  Real volume = 0, node_volume = 0, boundary_volume = 0;
  for (const Id<Cell> c : t.cells()) {
    Vector3 sum{};
    Real size = 0;
    for (const auto [f, sign] : t.faces_of_cell()[c]) {
      sum += sign * g.face_areas()[at(f.value())];
      size += norm(g.face_areas()[at(f.value())]);
    }
    EXPECT_LE(norm(sum), 1e-15 * size);
    EXPECT_GT(g.cell_volumes()[at(c.value())], 0);
    volume += g.cell_volumes()[at(c.value())];
  }
  for (const Id<Node> n : t.nodes()) node_volume += g.node_volumes()[at(n.value())];
  for (const Id<Face> f : t.boundary_faces()) {
    boundary_volume += dot(g.face_areas()[at(f.value())], g.face_centroids()[at(f.value())]) / t.dimension();
  }
  EXPECT_NEAR(node_volume, volume, 1e-14 * volume);
  // Gauss's theorem over the boundary alone; exact where the boundary's faces are planar, as on the whole
  // shelf.
  EXPECT_NEAR(boundary_volume, volume, 1e-13 * volume);
}

TEST_P(OnShelf, normals_leave_the_lower_cell) {
  const Mesh mesh(GetParam().raw);
  const Topology& t = mesh.topology();
  for (const Id<Face> f : t.faces()) {
    EXPECT_GT(dot(mesh.geometry().dual_edge(t, f), mesh.geometry().face_areas()[at(f.value())]), 0);
  }
}

TEST_P(OnShelf, every_order_gives_the_same_complex_and_one_or_two_threads_the_same_numbers) {
  const auto faces_of = [](const Mesh& mesh) {
    std::vector<std::vector<Index>> rows;
    for (const Id<Cell> c : mesh.topology().cells()) {
      rows.emplace_back();
      for (const auto [f, sign] : mesh.topology().faces_of_cell()[c]) {
        rows.back().push_back(incidence_entry::make(f.value(), sign < 0));
      }
    }
    return rows;
  };
  const int threads = omp_get_max_threads();
  for (const CellOrder order : {CellOrder::AsRead, CellOrder::Hilbert, CellOrder::ReverseCuthillMcKee}) {
    omp_set_num_threads(1);
    const Mesh one(GetParam().raw, order);
    omp_set_num_threads(4);
    const Mesh four(GetParam().raw, order);
    omp_set_num_threads(threads);
    EXPECT_EQ(faces_of(one), faces_of(four));
    const Mesh as_read(GetParam().raw, CellOrder::AsRead);
    EXPECT_EQ(one.topology().faces().size(), as_read.topology().faces().size());
    EXPECT_EQ(one.topology().edges().size(), as_read.topology().edges().size());
    EXPECT_EQ(one.topology().interior_faces().size(), as_read.topology().interior_faces().size());
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, OnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(CellOrder, hilbert_steps_from_each_point_of_a_grid_to_a_neighbour) {
  for (const int dimension : {2, 3}) {
    std::vector<Vector3> points;
    for (int k = 0; k < (dimension == 2 ? 1 : 8); ++k) {
      for (int j = 0; j < 8; ++j) {
        for (int i = 0; i < 8; ++i) points.push_back({Real(3 * i), Real(3 * j), Real(3 * k)});
      }
    }
    const std::vector<Index> order = hilbert_order(points, dimension);
    for (std::size_t i = 1; i < order.size(); ++i) {
      EXPECT_EQ(norm(points[at(order[i])] - points[at(order[i - 1])]), 3) << dimension << " " << i;
    }
  }
}

TEST(CellOrder, cuthill_mckee_is_reversed) {
  // A star: from a tip over the centre to the other tips, then reversed, which leaves the smaller profile.
  const std::vector<Index> starts{0, 4, 5, 6, 7, 8}, neighbours{1, 2, 3, 4, 0, 0, 0, 0};
  const std::vector<Index> order = reverse_cuthill_mckee(starts, neighbours);
  ASSERT_EQ(order.size(), 5u);
  EXPECT_EQ(order[3], 0);
}

TEST(CellOrder, brings_neighbours_close_in_a_randomly_numbered_mesh) {
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron}) {
    RawMesh raw = make_box(type, {20, 20, 8});
    const RawMesh sorted = raw;
    std::vector<std::size_t> shuffled(raw.cell_types.size());
    std::iota(shuffled.begin(), shuffled.end(), std::size_t{0});
    std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
    const std::size_t corners = type == CellType::Triangle ? 3 : 4;
    for (std::size_t c = 0; c < shuffled.size(); ++c) {
      std::copy_n(sorted.cell_nodes.begin() + static_cast<std::ptrdiff_t>(corners * shuffled[c]), corners,
                  raw.cell_nodes.begin() + static_cast<std::ptrdiff_t>(corners * c));
    }
    const auto mean_distance = [&](CellOrder order) {
      const Mesh mesh(raw, order);
      Real sum = 0;
      for (const Id<Face> f : mesh.topology().interior_faces()) {
        const auto cells = mesh.topology().cells_of_face()[f];
        sum += cells[1].id.value() - cells[0].id.value();
      }
      return sum / mesh.topology().interior_faces().size();
    };
    const Real random = mean_distance(CellOrder::AsRead);
    EXPECT_LT(mean_distance(CellOrder::ReverseCuthillMcKee), random / 10);
    EXPECT_LT(mean_distance(CellOrder::Hilbert), random / 10);
  }
}

TEST(Topology, of_a_box_of_hexahedra_has_the_counts_of_a_grid) {
  const Mesh mesh(make_box(CellType::Hexahedron, {5, 4, 3}));
  EXPECT_EQ(mesh.topology().nodes().size(), 6 * 5 * 4);
  EXPECT_EQ(mesh.topology().edges().size(), 5 * 5 * 4 + 6 * 4 * 4 + 6 * 5 * 3);
  EXPECT_EQ(mesh.topology().faces().size(), 6 * 4 * 3 + 5 * 5 * 3 + 5 * 4 * 4);
  EXPECT_EQ(mesh.topology().cells().size(), 5 * 4 * 3);
  ASSERT_EQ(mesh.topology().patches().size(), 6u);
  EXPECT_EQ(mesh.topology().patches()[1].name, "right");
  EXPECT_EQ(mesh.topology().patches()[1].faces.size(), 4 * 3);
  for (const Id<Face> f : mesh.topology().patches()[1].faces) {
    EXPECT_NEAR(mesh.geometry().face_centroids()[at(f.value())].x, 1, 1e-15);
  }
}

TEST(Topology, turns_cells_that_are_listed_inside_out) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron,
                              CellType::Hexahedron, CellType::Prism, CellType::Pyramid}) {
    RawMesh raw = make_box(type, {2, 2, 2});
    for (Vector3& x : raw.nodes) x.y = -x.y;
    const Mesh mesh(raw);
    for (const Real volume : mesh.geometry().cell_volumes().host()) EXPECT_GT(volume, 0);
    ASSERT_FALSE(mesh.notes().empty());
    EXPECT_NE(mesh.notes().back().find("inside out"), std::string::npos);
  }
}

TEST(Topology, boundary_faces_in_no_group_form_a_patch_of_their_own) {
  RawMesh raw = make_box(CellType::Triangle, {3, 3, 0});
  raw.boundary_start.resize(4);  // three tagged sides are left
  const Mesh mesh(raw);
  ASSERT_EQ(mesh.topology().patches().back().name, unnamed_patch);
  EXPECT_EQ(mesh.topology().patches().back().faces.size(), 12 - 3);
}

TEST(Topology, boundary_faces_in_no_group_join_a_group_that_has_their_name) {
  RawMesh raw = make_box(CellType::Triangle, {3, 3, 0});
  raw.boundary_start.resize(4);
  raw.patch_names.front() = unnamed_patch;
  const Mesh mesh(raw);
  ASSERT_EQ(mesh.topology().patches().size(), 2u);
  EXPECT_EQ(mesh.topology().patches()[0].name, unnamed_patch);
  EXPECT_EQ(mesh.topology().patches()[0].faces.size(), 12 - 2);
  EXPECT_EQ(mesh.topology().patches()[1].name, "bottom");
}

TEST(Topology, refuses_meshes_that_are_no_complex) {
  EXPECT_THROW(Mesh{RawMesh{}}, InputError);
  RawMesh flat = make_box(CellType::Tetrahedron, {1, 1, 1});
  for (Vector3& x : flat.nodes) x.z = 0;
  EXPECT_THROW(Mesh{flat}, InputError);
  RawMesh twice = make_box(CellType::Triangle, {1, 1, 0});
  for (int k = 0; k < 3; ++k) twice.cell_nodes.push_back(twice.cell_nodes[at(k)]);
  twice.cell_start.push_back(9);
  twice.cell_types.push_back(CellType::Triangle);
  twice.cell_region.push_back(0);
  EXPECT_THROW(Mesh{twice}, InputError);
  RawMesh repeated = make_box(CellType::Quadrilateral, {1, 1, 0});
  repeated.cell_nodes[1] = repeated.cell_nodes[0];
  EXPECT_THROW(Mesh{repeated}, InputError);
}

TEST(Topology, refuses_cells_on_the_same_side_of_their_face) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron,
                              CellType::Hexahedron, CellType::Prism, CellType::Pyramid}) {
    const bool plane = is_planar(type);
    RawMesh folded = make_box(type, {4, 4, plane ? 0 : 4});
    // The node in the middle goes beyond its neighbours to the right, so that cells there turn over.
    const Vector3 middle{0.5, 0.5, plane ? 0 : 0.5};
    const auto node = std::ranges::find_if(folded.nodes, [&](Vector3 x) { return norm(x - middle) < 1e-9; });
    ASSERT_NE(node, folded.nodes.end());
    node->x += 1.9;
    try {
      Mesh{folded};
      ADD_FAILURE() << name(type);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("the mesh is folded")) << name(type);
    }
  }
}

TEST(Topology, refuses_faces_without_area_and_tells_where) {
  const auto refusal = [](CellType type, Real collapsed) {
    RawMesh raw = make_box(type, {3, 1, 2}, {3, 1, 1});
    for (Vector3& x : raw.nodes) {
      if (x.x == 3 && x.z == collapsed) x.z = 0.5;
    }
    try {
      const Mesh mesh(std::move(raw));
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(CellType::Hexahedron, 7), "");
  EXPECT_NE(refusal(CellType::Hexahedron, 1).find("the face at (3, 0.5, 0.5) has no area"),
            std::string::npos);
  EXPECT_NE(refusal(CellType::Prism, 0).find("has no area"), std::string::npos);

  RawMesh planar = make_box(CellType::Quadrilateral, {2, 1, 0}, {2, 1, 0});
  planar.nodes[2] = planar.nodes[5];
  EXPECT_THROW(Mesh{planar}, InputError);
}

TEST(Topology, refuses_cells_of_more_faces_than_can_be_counted) {
  // Polygons of 2^15 sides and of one less.
  for (const Index sides : {32768, 32767}) {
    RawMesh raw;
    raw.dimension = 2;
    raw.cell_types = {CellType::Polygon};
    raw.cell_start = {0, sides};
    raw.cell_region = {0};
    raw.region_names = {"fluid"};
    for (Index k = 0; k < sides; ++k) {
      raw.cell_nodes.push_back(k);
      const Real angle = 2 * std::numbers::pi * k / sides;
      raw.nodes.push_back({std::cos(angle), std::sin(angle), 0});
    }
    if (sides == 32767) {
      EXPECT_EQ(match_faces(raw).faces.size(), 32767u);
      continue;
    }
    try {
      match_faces(raw);
      ADD_FAILURE() << "no error";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("has more than 32767 faces"), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace curlew
