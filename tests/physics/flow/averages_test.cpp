// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/averages.hpp"

#include <gtest/gtest.h>

#include "mesh/box.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {
namespace {

/// Mean of the power of a linear function over a simplex, from its values at the corners: the complete
/// homogeneous symmetric polynomial of that degree over the number of its terms.
Real mean_of_power(std::vector<Real> corners, int power) {
  std::vector<Real> sum(at(power) + 1, 0);
  sum[0] = 1;
  Real terms = 1;
  for (std::size_t k = 0; k < corners.size(); ++k) {
    for (std::size_t q = 1; q < sum.size(); ++q) sum[q] += corners[k] * sum[q - 1];
    if (k > 0) terms = terms * static_cast<Real>(at(power) + k) / static_cast<Real>(k);
  }
  return sum.back() / terms;
}

/// direction (slope . x + 0.3)^power.
class LinearToThePower : public VectorFunction {
 public:
  LinearToThePower(Vector3 direction, Vector3 slope, int power)
      : direction_(direction), slope_(slope), power_(power) {}
  void evaluate(std::span<const Vector3> points, Real, std::span<Vector3> values) const override {
    for (std::size_t i = 0; i < points.size(); ++i)
      values[i] = std::pow(linear(points[i]), power_) * direction_;
  }
  bool depends_on_time() const override { return false; }
  bool depends_on_space() const override { return true; }
  Real linear(Vector3 x) const { return dot(slope_, x) + 0.3; }

 private:
  Vector3 direction_, slope_;
  int power_;
};

class Averages : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const bool plane_ = mesh_.topology().dimension() == 2;
  const std::vector<Vector3> slopes_{
      {1, 0, 0}, {0, 1, 0}, {0.6, -0.8, 0}, {0.5, 0.5, plane_ ? 0 : -0.7}, {-0.4, 0.2, plane_ ? 0 : 0.9}};
  const Vector3 direction_{1, -2, plane_ ? 0. : 0.5};
};

TEST_P(Averages, over_faces_are_exact_for_polynomials_of_degree_five) {
  const auto x = mesh_.geometry().node_positions(MemorySpace::Host);
  const bool planar = has_planar_faces(mesh_);
  for (const Vector3 slope : slopes_) {
    for (const int power : {0, 1, 2, 3, 4, 5}) {
      const LinearToThePower function(direction_, slope, power);
      const FaceAverages averages = average_on_faces(mesh_, mesh_.topology().faces(), function, 0);
      ASSERT_EQ(averages.flux.size(), at(mesh_.topology().faces().size()));
      for (const Id<Face> f : mesh_.topology().faces()) {
        const auto nodes = mesh_.topology().nodes_of_face()[f];
        const Vector3 area = mesh_.geometry().face_areas()[at(f.value())];
        Real flux = 0, mean = 0;
        if (plane_) {
          mean = mean_of_power({function.linear(x[nodes[0].id]), function.linear(x[nodes[1].id])}, power);
          flux = mean * dot(direction_, area);
        } else if (nodes.size() == 3) {
          mean = mean_of_power({function.linear(x[nodes[0].id]), function.linear(x[nodes[1].id]),
                                function.linear(x[nodes[2].id])},
                               power);
          flux = mean * dot(direction_, area);
        } else {
          visit_fan(nodes, x, [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
            const Vector3 part = 0.5 * cross(a - apex, b - apex);
            const Real share =
                mean_of_power({function.linear(apex), function.linear(a), function.linear(b)}, power);
            flux += share * dot(direction_, part);
            mean += share * dot(part, area) / dot(area, area);
          });
        }
        EXPECT_NEAR(averages.flux[at(f.value())], flux, 1e-13 * (norm(area) + std::abs(flux)))
            << "degree " << power;
        if (!planar) continue;
        EXPECT_LE(norm(averages.mean[at(f.value())] - mean * direction_), 1e-12 * (1 + std::abs(mean)))
            << "degree " << power;
      }
    }
  }
}

TEST_P(Averages, of_a_solenoidal_polynomial_of_degree_five_leave_no_net_outflow_on_curved_faces_either) {
  const VectorFunctionPointer solenoidal = steady_vector([&](Vector3 x) {
    // The curl of (0, 0, x^3 y^3 + x^2 z^4), and of (x, y) alone in the plane.
    return plane_ ? Vector3{3 * x.x * x.x * x.x * x.y * x.y, -3 * x.x * x.x * x.y * x.y * x.y, 0}
                  : Vector3{3 * x.x * x.x * x.x * x.y * x.y,
                            -3 * x.x * x.x * x.y * x.y * x.y - 2 * x.x * x.z * x.z * x.z * x.z, 0};
  });
  const std::vector<Real> flux = average_on_faces(mesh_, mesh_.topology().faces(), *solenoidal, 0).flux;
  for (const Id<Cell> c : mesh_.topology().cells()) {
    Real net = 0, total = 0;
    for (const auto [f, sign] : mesh_.topology().faces_of_cell()[c]) {
      net += sign * flux[at(f.value())];
      total += std::abs(flux[at(f.value())]);
    }
    EXPECT_NEAR(net, 0, 1e-13 * (total + 1e-3));
  }
}

TEST_P(Averages, over_cells_are_exact_for_polynomials_of_degree_two_where_faces_are_planar) {
  if (!has_planar_faces(mesh_)) return;
  const auto x = mesh_.geometry().node_positions(MemorySpace::Host);
  for (const Vector3 slope : slopes_) {
    for (const int power : {0, 1, 2}) {
      const LinearToThePower function(direction_, slope, power);
      const std::vector<Vector3> means = average_on_cells(mesh_, function, 0);
      for (const Id<Cell> c : mesh_.topology().cells()) {
        // Simplices from the cell's first node to its faces, with their sign.
        const Vector3 corner = x[mesh_.topology().nodes_of_cell()[c][0].id];
        Real volume = 0, integral = 0;
        for (const auto [f, sign] : mesh_.topology().faces_of_cell()[c]) {
          const auto nodes = mesh_.topology().nodes_of_face()[f];
          const Vector3 first = x[nodes[0].id];
          for (Index k = 1; k + (plane_ ? 0 : 1) < nodes.size(); ++k) {
            const Vector3 second = x[nodes[k].id];
            std::vector<Real> values{function.linear(corner), function.linear(first),
                                     function.linear(second)};
            Real part = cross(first - corner, second - corner).z / 2;
            if (!plane_) {
              const Vector3 third = x[nodes[k + 1].id];
              values.push_back(function.linear(third));
              part = dot(cross(second - first, third - first), first - corner) / 6;
            }
            volume += sign * part;
            integral += sign * part * mean_of_power(values, power);
          }
        }
        EXPECT_LE(norm(means[at(c.value())] - (integral / volume) * direction_), 1e-11) << "degree " << power;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, Averages, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

std::vector<ShelfMesh> sheared_boxes() {
  std::vector<ShelfMesh> meshes;
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    RawMesh raw = make_box(type, {3, 4, 5});
    for (Vector3& x : raw.nodes) {
      x.x += 0.4 * x.y - 0.2 * x.z;
      x.y += 0.3 * x.z;
    }
    meshes.push_back({name(type), raw});
  }
  return meshes;
}
INSTANTIATE_TEST_SUITE_P(Sheared, Averages, testing::ValuesIn(sheared_boxes()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew
