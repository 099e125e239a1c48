// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/quality.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mesh/box.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

void expect_all(const Statistic& statistic, Real value, Real tolerance) {
  EXPECT_NEAR(statistic.min, value, tolerance);
  EXPECT_NEAR(statistic.mean, value, tolerance);
  EXPECT_NEAR(statistic.max, value, tolerance);
}

Mesh single(CellType type, std::vector<Vector3> nodes) {
  RawMesh raw;
  raw.dimension = is_planar(type) ? 2 : 3;
  for (std::size_t n = 0; n < nodes.size(); ++n) raw.cell_nodes.push_back(static_cast<Index>(n));
  raw.nodes = std::move(nodes);
  raw.cell_types = {type};
  raw.cell_start = {0, static_cast<std::int64_t>(raw.cell_nodes.size())};
  raw.cell_region = {0};
  raw.region_names = {"single"};
  raw.boundary_start = {0};
  return Mesh(std::move(raw));
}

TEST(Quality, of_a_box_of_cubes_is_perfect) {
  const MeshQuality quality = measure_quality(Mesh(make_box(CellType::Hexahedron, {4, 4, 4})));
  expect_all(quality.non_orthogonality, 0, 1e-12);
  expect_all(quality.skewness, 0, 1e-14);
  expect_all(quality.volume_ratio, 1, 1e-14);
  expect_all(quality.aspect_ratio, 1, 1e-7);
  expect_all(quality.non_planarity, 0, 1e-14);
}

TEST(Quality, regular_cells_have_aspect_ratio_one_and_boxes_that_of_their_sides) {
  const Real h = std::sqrt(Real(3)) / 2;
  std::vector<Vector3> pentagon;
  for (int k = 0; k < 5; ++k) {
    const Real angle = 2 * std::numbers::pi * k / 5;
    pentagon.push_back({std::cos(angle), std::sin(angle), 0});
  }
  const auto aspect = [](const Mesh& mesh) { return measure_quality(mesh).aspect_ratio.max; };
  EXPECT_NEAR(aspect(single(CellType::Triangle, {{0, 0, 0}, {1, 0, 0}, {0.5, h, 0}})), 1, 1e-7);
  EXPECT_NEAR(aspect(single(CellType::Polygon, pentagon)), 1, 1e-7);
  EXPECT_NEAR(aspect(single(CellType::Tetrahedron, {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}})), 1,
              1e-7);
  EXPECT_NEAR(aspect(Mesh(make_box(CellType::Quadrilateral, {1, 1, 0}, {7, 1, 0}))), 7, 1e-12);
  EXPECT_NEAR(aspect(Mesh(make_box(CellType::Hexahedron, {1, 1, 1}, {3, 1, 2}))), 3, 1e-12);
  EXPECT_NEAR(aspect(Mesh(make_box(CellType::Hexahedron, {1, 1, 1}, {1000, 1, 1000}))), 1000, 1e-6);
}

TEST(Quality, aspect_ratios_of_prism_and_pyramid_with_equal_edges_follow_from_their_second_moments) {
  // Variances across and along the axis: 1/24 and 1/12; 1/20 and 3/80 of the squared height, 1/2.
  const Real h = std::sqrt(Real(3)) / 2, top = std::sqrt(Real(0.5));
  const Mesh prism =
      single(CellType::Prism, {{0, 0, 0}, {1, 0, 0}, {0.5, h, 0}, {0, 0, 1}, {1, 0, 1}, {0.5, h, 1}});
  const Mesh pyramid =
      single(CellType::Pyramid, {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {0.5, 0.5, top}});
  EXPECT_NEAR(measure_quality(prism).aspect_ratio.max, std::sqrt(Real(2)), 1e-12);
  EXPECT_NEAR(measure_quality(pyramid).aspect_ratio.max, std::sqrt(Real(8) / 3), 1e-12);
}

TEST(Quality, a_sheared_grid_is_non_orthogonal_by_the_angle_of_shear) {
  RawMesh raw = make_box(CellType::Quadrilateral, {5, 4, 0});
  for (Vector3& x : raw.nodes) x.x += 0.7 * x.y;
  const MeshQuality quality = measure_quality(Mesh(raw));
  EXPECT_NEAR(quality.non_orthogonality.max, std::atan(Real(0.7)) * 180 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(quality.non_orthogonality.min, std::atan(Real(0.7)) * 180 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(quality.skewness.max, 0, 1e-14);
}

TEST(Quality, of_two_cells_is_what_geometry_by_hand_gives) {
  // A unit square, and right of it a parallelogram of width w whose far side is raised by h.
  const Real w = 2.5, h = 0.6;
  RawMesh raw;
  raw.dimension = 2;
  raw.nodes = {{0, 0, 0}, {1, 0, 0}, {1 + w, h, 0}, {0, 1, 0}, {1, 1, 0}, {1 + w, 1 + h, 0}};
  raw.cell_types = {CellType::Quadrilateral, CellType::Quadrilateral};
  raw.cell_nodes = {0, 1, 4, 3, 1, 2, 5, 4};
  raw.cell_start = {0, 4, 8};
  raw.cell_region = {0, 0};
  raw.region_names = {"two"};
  raw.boundary_start = {0};
  const MeshQuality quality = measure_quality(Mesh(raw));
  const Real dx = (1 + w) / 2, dy = h / 2;
  EXPECT_NEAR(quality.non_orthogonality.max, std::atan2(dy, dx) * 180 / std::numbers::pi, 1e-12);
  EXPECT_NEAR(quality.skewness.max, dy * (0.5 / dx) / std::hypot(dx, dy), 1e-14);
  EXPECT_NEAR(quality.volume_ratio.max, w, 1e-14);
  EXPECT_NEAR(quality.skewness.where.x, 1, 1e-14);
  EXPECT_NEAR(quality.skewness.where.y, 0.5, 1e-14);
}

TEST(Quality, a_saddle_of_height_h_over_a_unit_square_is_non_planar_by_h) {
  const Real h = 0.1;
  const MeshQuality quality = measure_quality(single(CellType::Hexahedron, {{0, 0, 0},
                                                                            {1, 0, 0},
                                                                            {1, 1, 0},
                                                                            {0, 1, 0},
                                                                            {0, 0, 1 + h},
                                                                            {1, 0, 1 - h},
                                                                            {1, 1, 1 + h},
                                                                            {0, 1, 1 - h}}));
  EXPECT_NEAR(quality.non_planarity.max, h, 1e-14);
  EXPECT_NEAR(quality.non_planarity.where.z, 1, 1e-14);
  EXPECT_EQ(quality.non_planarity.min, 0);
  EXPECT_EQ(quality.skewness.max, 0);  // a single cell has no interior face
}

class QualityOnShelf : public testing::TestWithParam<ShelfMesh> {};

template <int d>
Real largest_condition(const Mesh& mesh, const Eigen::Matrix<Real, d, d>& regular) {
  const auto x = mesh.geometry().node_positions(MemorySpace::Host);
  Real largest = 0;
  for (const Id<Cell> c : mesh.topology().cells()) {
    const auto nodes = mesh.topology().nodes_of_cell()[c];
    Eigen::Matrix<Real, d, d> sides;
    for (int k = 0; k < d; ++k) {
      const Vector3 side = x[nodes[k + 1].id] - x[nodes[0].id];
      sides(0, k) = side.x;
      sides(1, k) = side.y;
      if constexpr (d == 3) sides(2, k) = side.z;
    }
    const Eigen::JacobiSVD<Eigen::Matrix<Real, d, d>> svd(sides * regular.inverse());
    largest = std::max(largest, svd.singularValues()(0) / svd.singularValues()(d - 1));
  }
  return largest;
}

TEST_P(QualityOnShelf, aspect_ratio_of_a_simplex_is_the_condition_of_the_map_from_the_regular_one) {
  const Mesh mesh(GetParam().raw);
  const auto& types = mesh.topology().cell_types();
  if (!std::all_of(types.begin(), types.end(), is_simplex)) return;
  Eigen::Matrix2d triangle;
  triangle << 1, 0.5, 0, std::sqrt(3) / 2;
  Eigen::Matrix3d tetrahedron;
  tetrahedron << 0, 1, 1, 1, 0, 1, 1, 1, 0;
  const Real expected = mesh.topology().dimension() == 2 ? largest_condition<2>(mesh, triangle)
                                                         : largest_condition<3>(mesh, tetrahedron);
  EXPECT_NEAR(measure_quality(mesh).aspect_ratio.max, expected, 1e-9 * expected);
}

TEST_P(QualityOnShelf, figures_are_in_range_and_do_not_depend_on_the_number_of_threads) {
  const Mesh mesh(GetParam().raw);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const MeshQuality one = measure_quality(mesh);
  omp_set_num_threads(4);
  const MeshQuality four = measure_quality(mesh);
  omp_set_num_threads(threads);
  const auto expect_sound = [](const Statistic& a, const Statistic& b, Real least) {
    EXPECT_GE(a.min, least);
    EXPECT_LE(a.min, a.mean * (1 + 1e-14));
    EXPECT_LE(a.mean, a.max * (1 + 1e-14));
    EXPECT_TRUE(a.min == b.min && a.mean == b.mean && a.max == b.max && a.where == b.where);
  };
  const Real ratio = mesh.topology().interior_faces().empty() ? 0 : 1;
  expect_sound(one.non_orthogonality, four.non_orthogonality, 0);
  expect_sound(one.skewness, four.skewness, 0);
  expect_sound(one.volume_ratio, four.volume_ratio, ratio);
  expect_sound(one.aspect_ratio, four.aspect_ratio, 1);
  expect_sound(one.non_planarity, four.non_planarity, 0);
}

INSTANTIATE_TEST_SUITE_P(Shelf, QualityOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew
