// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/centroid_velocity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mesh/box.hpp"
#include "mesh/import/periodic.hpp"
#include "mesh/quality.hpp"
#include "physics/flow/averages.hpp"
#include "physics/flow/flow_fields.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/analytic_vector.hpp"

namespace curlew {
namespace {

/// The field that has the means of a function over all faces.
Field<Face, Vector3> means_over_faces(const Executor& executor, const Mesh& mesh,
                                      std::function<Vector3(Vector3)> velocity) {
  const Range<Face> faces = mesh.topology().faces();
  Field<Face, Vector3> means(executor, faces.size(), "face velocity", "m/s");
  means.copy_from_host(average_on_faces(mesh, faces, *steady_vector(std::move(velocity)), 0).mean);
  return means;
}

std::vector<Vector3> at_centroids(const Mesh& mesh, const Field<Face, Vector3>& on_faces) {
  return CentroidVelocity(on_faces.executor(), mesh)(on_faces).to_host();
}

bool is_inside(const Mesh& mesh, Id<Cell> c) {
  for (const auto [f, sign] : mesh.topology().faces_of_cell()[c]) {
    if (mesh.topology().boundary_faces().contains(f)) return false;
  }
  return true;
}

class CentroidVelocityOnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const bool plane_ = mesh_.topology().dimension() == 2;
};

TEST_P(CentroidVelocityOnShelf, is_exact_for_a_linear_velocity_where_faces_are_planar) {
  if (measure_quality(mesh_).non_planarity.max > 1e-12) return;
  const auto velocity = [&](Vector3 x) {
    return plane_ ? Vector3{1 + x.x - 2 * x.y, 3 * x.x + 0.5 * x.y, 0}
                  : Vector3{1 + x.x - 2 * x.y + 4 * x.z, 3 * x.x - x.z, 0.5 * x.y - 2 * x.z};
  };
  const std::vector<Vector3> values =
      at_centroids(mesh_, means_over_faces(Executor::serial(), mesh_, velocity));
  for (std::size_t c = 0; c < values.size(); ++c)
    EXPECT_LE(norm(values[c] - velocity(mesh_.geometry().cell_centroids()[c])), 1e-11);
}

TEST_P(CentroidVelocityOnShelf, has_the_same_bits_on_every_backend) {
  const auto values = [&](const Executor& executor) {
    return at_centroids(mesh_, means_over_faces(executor, mesh_, [](Vector3 x) {
                          return Vector3{std::sin(3 * x.x), std::cos(2 * x.y + x.x), 0};
                        }));
  };
  const std::vector<Vector3> expected = values(Executor::serial());
  for (const Executor& executor : backends_beside_serial())
    EXPECT_TRUE(values(executor) == expected) << executor.name();
}

INSTANTIATE_TEST_SUITE_P(Shelf, CentroidVelocityOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(CentroidVelocity, is_exact_for_a_quadratic_velocity_inside_of_boxes_of_uneven_width) {
  const auto velocity = [](Vector3 x) {
    return Vector3{x.x * x.x - 3 * x.x * x.y + 0.5 * x.z * x.z, 2 * x.y * x.y - x.x * x.z + 1, x.y * x.z};
  };
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    RawMesh raw = make_box(type, {5, 4, type == CellType::Hexahedron ? 6 : 0});
    for (Vector3& x : raw.nodes) x = {std::exp(x.x), 0.2 * x.y + x.y * x.y, std::sin(x.z)};
    const Mesh mesh(raw);
    const std::vector<Vector3> values =
        at_centroids(mesh, means_over_faces(Executor::serial(), mesh, velocity));
    int inside = 0;
    for (const Id<Cell> c : mesh.topology().cells()) {
      if (!is_inside(mesh, c)) continue;
      ++inside;
      EXPECT_LE(norm(values[at(c.value())] - velocity(mesh.geometry().cell_centroids()[at(c.value())])),
                1e-12);
    }
    EXPECT_EQ(inside, type == CellType::Hexahedron ? 3 * 2 * 4 : 3 * 2);
  }
}

TEST(CentroidVelocity, of_a_periodic_box_is_that_in_the_middle_of_nine_or_twenty_seven) {
  const auto velocity = [](Vector3 x) {
    const Vector3 phase = (2 * std::numbers::pi) * x;
    return Vector3{std::sin(phase.x) * std::cos(phase.y), std::cos(phase.x + phase.z), 0};
  };
  for (const CellType type :
       {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron, CellType::Prism}) {
    const bool plane = is_planar(type);
    std::vector<PeriodicPair> pairs{{"left", "right"}, {"bottom", "top"}};
    if (!plane) pairs.push_back({"back", "front"});
    const Index n = 3, layers = plane ? 0 : 1;
    const Mesh periodic =
        make_periodic(Mesh(make_box(type, {n, n, n * layers}, {1, 1, Real(layers)})), pairs).mesh;
    const Mesh large(make_box(type, {3 * n, 3 * n, 3 * n * layers}, {3, 3, 3 * Real(layers)}));
    const std::vector<Vector3> values =
        at_centroids(periodic, means_over_faces(Executor::serial(), periodic, velocity));
    const std::vector<Vector3> expected =
        at_centroids(large, means_over_faces(Executor::serial(), large, velocity));
    const Vector3 middle{1, 1, Real(layers)};
    for (const Id<Cell> c : periodic.topology().cells()) {
      const Vector3 x = periodic.geometry().cell_centroids()[at(c.value())] + middle;
      const auto same = std::ranges::find_if(large.geometry().cell_centroids().host(),
                                             [&](Vector3 y) { return norm(y - x) < 1e-12; });
      const auto place = same - large.geometry().cell_centroids().host().begin();
      EXPECT_LE(norm(values[at(c.value())] - expected.at(static_cast<std::size_t>(place))), 1e-13)
          << name(type);
    }
  }
}

TEST(CentroidVelocity, of_tetrahedra_is_the_mean_of_their_faces) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {3, 3, 3}));
  const Field<Face, Vector3> on_faces = means_over_faces(Executor::serial(), mesh, [](Vector3 x) {
    return Vector3{x.y * x.y, std::sin(3 * x.z), x.x * x.y};
  });
  EXPECT_TRUE(at_centroids(mesh, on_faces) == mean_velocity(mesh, on_faces).to_host());
}

TEST(CentroidVelocity, asks_for_a_velocity_per_face) {
  const Mesh mesh(make_box(CellType::Triangle, {2, 2, 0}));
  const CentroidVelocity at_centroids(Executor::serial(), mesh);
  EXPECT_THROW(at_centroids(Field<Face, Vector3>(Executor::serial(), 3, "v", "m/s")), Error);
}

}  // namespace
}  // namespace curlew
