// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/monitors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mesh/box.hpp"
#include "operators/cell_gradient.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

template <class Call>
std::string input_error_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

/// A linear temperature, its gradient, and the cells' centroids as a vector field.
struct Fields {
  explicit Fields(const Mesh& mesh)
      : slope{1.5, -2, mesh.topology().dimension() == 2 ? 0 : 0.7}, nodes(mesh.topology().nodes().size()) {
    for (const Vector3 x : mesh.geometry().node_positions().host()) temperature.push_back(value(x));
    gradient = cell_gradients(mesh, temperature);
    const auto centroids = mesh.geometry().cell_centroids().host();
    centroid.assign(centroids.begin(), centroids.end());
  }
  Real value(Vector3 x) const { return 3 + dot(slope, x); }
  FieldSnapshot scalar() const { return View<Node, const Real>(temperature.data(), nodes); }
  static FieldSnapshot vector(const std::vector<Vector3>& values) {
    return View<Cell, const Vector3>(values.data(), static_cast<Index>(values.size()));
  }

  Vector3 slope;
  Index nodes;
  std::vector<Real> temperature;
  std::vector<Vector3> gradient, centroid;
};

/// Cells of the unit box left of x = 1/2 are region "left", the others "right".
RawMesh box_of_two(CellType type) {
  RawMesh raw = make_box(type, {4, 3, 3});
  raw.region_names = {"left", "right"};
  const Mesh whole(raw, CellOrder::AsRead);
  for (std::size_t c = 0; c < raw.cell_types.size(); ++c)
    raw.cell_region[c] = whole.geometry().cell_centroids()[c].x < 0.5 ? 0 : 1;
  return raw;
}

class Monitors : public ::testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const Fields fields_{mesh_};
  const PointLocator locator_{mesh_};
};

TEST_P(Monitors, probes_read_linear_fields_exactly) {
  const auto centroids = mesh_.geometry().cell_centroids().host();
  const auto probes = PointSampler::at_points(locator_, "p", {centroids.begin(), centroids.end()});
  const auto read = [&](const FieldSnapshot& field) { return probes(sample(field, probes.cells())); };
  const std::vector<Real> values = read(fields_.scalar());
  const std::vector<Real> gradients = read(Fields::vector(fields_.gradient));
  const std::vector<Real> cells = read(Fields::vector(fields_.centroid));
  ASSERT_EQ(values.size(), centroids.size());
  ASSERT_EQ(cells.size(), 3 * centroids.size());
  for (std::size_t k = 0; k < centroids.size(); ++k) {
    EXPECT_NEAR(values[k], fields_.value(centroids[k]), 1e-13);
    EXPECT_EQ(cells[3 * k], centroids[k].x);
    EXPECT_EQ(cells[3 * k + 1], centroids[k].y);
    EXPECT_EQ(cells[3 * k + 2], centroids[k].z);
    EXPECT_NEAR(gradients[3 * k + 1], fields_.slope.y, 1e-11);
  }
}

TEST_P(Monitors, cell_fields_with_gradients_are_linear_within_cells) {
  const std::size_t cells = fields_.centroid.size();
  const Tensor3 slopes{{1, 2, 0.5}, {-3, 0.25, 1}, {0, 4, -2}};
  std::vector<Vector3> points;
  // Half way from each centroid to a node of its cell, from the last cell to the first.
  for (std::size_t c = cells; c-- > 0;) {
    const Id<Node> n = mesh_.topology().nodes_of_cell()[Id<Cell>(static_cast<Index>(c))][0].id;
    points.push_back(0.5 * (fields_.centroid[c] + mesh_.geometry().node_positions()[at(n.value())]));
  }
  const auto probes = PointSampler::at_points(locator_, "p", points);
  std::vector<Real> scalars;
  std::vector<Vector3> vectors;
  for (const Index c : probes.cells().cells.host()) {
    scalars.push_back(fields_.value(fields_.centroid[at(c)]));
    vectors.push_back(slopes * fields_.centroid[at(c)]);
  }
  ASSERT_EQ(scalars.size(), cells);
  const std::vector<Real> plain = probes(scalars),
                          s = probes(LinearCellSample<Real, Vector3>{
                              scalars, std::vector<Vector3>(cells, fields_.slope)}),
                          v = probes(LinearCellSample<Vector3, Tensor3>{vectors,
                                                                        std::vector<Tensor3>(cells, slopes)});
  EXPECT_EQ(plain, scalars);
  ASSERT_EQ(s.size(), points.size());
  ASSERT_EQ(v.size(), 3 * points.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    EXPECT_NEAR(s[k], fields_.value(points[k]), 1e-13);
    EXPECT_NEAR(v[3 * k], (slopes * points[k]).x, 1e-13);
    EXPECT_NEAR(v[3 * k + 1], (slopes * points[k]).y, 1e-13);
    EXPECT_NEAR(v[3 * k + 2], (slopes * points[k]).z, 1e-13);
  }
}

TEST_P(Monitors, averages_are_exact_integrals) {
  const VolumeAverage average(mesh_, "a");
  const std::span<const Real> volumes = mesh_.geometry().cell_volumes().host();
  Real volume = 0, integral = 0;
  Vector3 moment{};
  for (std::size_t c = 0; c < volumes.size(); ++c) {
    volume += volumes[c];
    moment += volumes[c] * fields_.centroid[c];
    integral += volumes[c] * fields_.value(fields_.centroid[c]);
  }
  const std::vector<Real> centroid = average(Fields::vector(fields_.centroid));
  EXPECT_NEAR(centroid[0], moment.x / volume, 1e-14);
  EXPECT_NEAR(centroid[1], moment.y / volume, 1e-14);
  EXPECT_NEAR(centroid[2], moment.z / volume, 1e-14);

  const std::vector<Real> ones(fields_.temperature.size(), 1);
  EXPECT_NEAR(average(View<Node, const Real>(ones.data(), fields_.nodes))[0], 1, 1e-14);
  // Lumping at the nodes integrates linear fields exactly on simplices.
  bool simplices = true;
  for (const CellType type : mesh_.topology().cell_types()) simplices = simplices && is_simplex(type);
  EXPECT_NEAR(average(fields_.scalar())[0], integral / volume, simplices ? 1e-13 : 0.02);
}

TEST_P(Monitors, extrema_are_those_of_a_search) {
  const std::vector<Extrema> scalar = extrema(mesh_, fields_.scalar());
  ASSERT_EQ(scalar.size(), 1u);
  EXPECT_EQ(scalar[0].min.value, *std::ranges::min_element(fields_.temperature));
  EXPECT_EQ(scalar[0].max.value, *std::ranges::max_element(fields_.temperature));
  EXPECT_EQ(scalar[0].min.value, fields_.value(scalar[0].min.position));
  EXPECT_EQ(scalar[0].max.value, fields_.value(scalar[0].max.position));

  const std::vector<Extrema> vector = extrema(mesh_, Fields::vector(fields_.centroid));
  ASSERT_EQ(vector.size(), 4u);
  Real lowest_y = 1e300, largest = 0;
  for (const Vector3 x : fields_.centroid) {
    lowest_y = std::min(lowest_y, x.y);
    largest = std::max(largest, norm(x));
  }
  EXPECT_EQ(vector[1].min.value, lowest_y);
  EXPECT_EQ(vector[1].min.position.y, lowest_y);
  EXPECT_EQ(vector[3].max.value, largest);
  EXPECT_EQ(norm(vector[3].max.position), largest);
  EXPECT_EQ(vector[0].max.position.x, vector[0].max.value);
  EXPECT_EQ(vector[2].max.position.z, vector[2].max.value);
}

INSTANTIATE_TEST_SUITE_P(Shelf, Monitors, ::testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(MonitorsInABox, lines_have_both_ends_and_nothing_outside) {
  const Mesh mesh(make_box(CellType::Prism, {3, 3, 3}));
  const Fields fields(mesh);
  const auto line = PointSampler::on_line(PointLocator(mesh), "l", {0.5, 0.5, -0.5}, {0.5, 0.5, 1}, 7);
  ASSERT_EQ(line.points().size(), 7u);
  EXPECT_EQ(line.points().front(), (Vector3{0.5, 0.5, -0.5}));
  EXPECT_EQ(line.points().back(), (Vector3{0.5, 0.5, 1}));
  const std::vector<Real> values = line(sample(fields.scalar(), line.cells()));
  const std::vector<Real> vectors = line(sample(Fields::vector(fields.gradient), line.cells()));
  for (std::size_t k = 0; k < 7; ++k) {
    const Real z = -0.5 + 0.25 * static_cast<Real>(k);
    EXPECT_NEAR(line.points()[k].z, z, 1e-15);
    EXPECT_EQ(std::isnan(values[k]), k < 2);
    EXPECT_EQ(std::isnan(vectors[3 * k + 2]), k < 2);
    if (k < 2) continue;
    EXPECT_NEAR(values[k], fields.value({0.5, 0.5, z}), 1e-14);
    EXPECT_NEAR(vectors[3 * k + 2], 0.7, 1e-13);
  }
}

TEST(MonitorsInABox, averages_over_a_region) {
  for (const CellType type : {CellType::Tetrahedron, CellType::Hexahedron, CellType::Triangle}) {
    const Mesh mesh(box_of_two(type));
    const Fields fields(mesh);
    const Real z = is_planar(type) ? 0 : 0.5;
    EXPECT_NEAR(VolumeAverage(mesh, "a")(fields.scalar())[0], fields.value({.5, .5, z}), 1e-14);
    const VolumeAverage left(mesh, "a", "left"), right(mesh, "a", "right");
    EXPECT_NEAR(left(fields.scalar())[0], fields.value({.25, .5, z}), 1e-14);
    EXPECT_NEAR(right(fields.scalar())[0], fields.value({.75, .5, z}), 1e-14);
    EXPECT_NEAR(right(Fields::vector(fields.centroid))[0], .75, 1e-14);
    EXPECT_NEAR(right(Fields::vector(fields.centroid))[1], .5, 1e-14);
  }
}

TEST(MonitorsInABox, points_beside_the_plane_of_a_mesh_are_outside) {
  const Mesh mesh(make_box(CellType::Triangle, {2, 2, 0}));
  const PointLocator locator(mesh);
  EXPECT_THAT(input_error_of([&] {
                PointSampler::at_points(locator, "sensor", {{.5, .5, 0}, {.5, .5, .1}});
              }),
              HasSubstr("'sensor': point 1 at (0.5, 0.5, 0.1) not in the mesh, which reaches from (0, 0, 0) "
                        "to (1, 1, 0) m"));
  EXPECT_THAT(input_error_of([&] {
                PointSampler::on_line(locator, "centreline", {.5, 0, .1}, {.5, 1, .1}, 5);
              }),
              HasSubstr("'centreline': none of the 5 points"));
}

TEST(MonitorsInABox, errors_say_which_monitor_and_where) {
  const Mesh mesh(box_of_two(CellType::Hexahedron));
  const PointLocator locator(mesh);
  EXPECT_THAT(input_error_of([&] {
                PointSampler::at_points(locator, "sensor", {{.5, .5, .5}, {1.5, .5, .5}, {.5, .5, -1}});
              }),
              AllOf(HasSubstr("'sensor'"), HasSubstr("point 1 at (1.5, 0.5, 0.5)"),
                    HasSubstr("point 2 at (0.5, 0.5, -1)"), Not(HasSubstr("point 0")),
                    HasSubstr("(0, 0, 0) to (1, 1, 1)")));
  EXPECT_THAT(input_error_of([&] {
                PointSampler::on_line(locator, "centreline", {2, 0, 0}, {2, 1, 0}, 5);
              }),
              AllOf(HasSubstr("'centreline'"), HasSubstr("(2, 0, 0)"), HasSubstr("(2, 1, 0)")));
  EXPECT_THAT(input_error_of([&] { VolumeAverage(mesh, "mean", "middle"); }),
              AllOf(HasSubstr("'mean'"), HasSubstr("'middle'"), HasSubstr("left, right")));
}

}  // namespace
}  // namespace curlew
