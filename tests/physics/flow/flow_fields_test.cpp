// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flow_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "mesh/box.hpp"
#include "mesh/import/periodic.hpp"
#include "mesh/quality.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using std::numbers::pi;

/// v = offset + gradient x, in the plane where the mesh is.
struct LinearVelocity {
  explicit LinearVelocity(int dimension)
      : offset{0.5, -1, dimension == 2 ? 0.0 : 2},
        gradient(dimension == 2 ? Tensor3{{1, 2, 0}, {-3, 0.5, 0}, {}}
                                : Tensor3{{1, 2, -1}, {-3, 0.5, 4}, {0.25, -2, 1.5}}) {}
  Vector3 operator()(Vector3 x) const { return offset + gradient * x; }

  Vector3 offset;
  Tensor3 gradient;
};

void expect_near(Vector3 a, Vector3 b, Real tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

template <class Function>
Field<Face, Vector3> at_face_centroids(const Executor& executor, const Mesh& mesh, const Function& velocity) {
  std::vector<Vector3> values;
  for (const Vector3 x : mesh.geometry().face_centroids().host()) values.push_back(velocity(x));
  Field<Face, Vector3> field(executor, mesh.topology().faces().size(), "face velocity", "m/s");
  field.copy_from_host(values);
  return field;
}

/// Of values per cell, in all cells.
std::vector<Vector3> gradients_of(const Mesh& mesh, const std::vector<Real>& values) {
  DualCochain<Cell> field(Executor::serial(), static_cast<Index>(values.size()), "p", "Pa");
  field.copy_from_host(values);
  std::vector<Index> cells(values.size());
  std::iota(cells.begin(), cells.end(), 0);
  return least_squares_gradient(mesh, field, cells);
}

class FlowFields : public ::testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const int dimension_ = mesh_.topology().dimension();
  const bool planar_faces_ = measure_quality(mesh_).non_planarity.max < 1e-12;
};

TEST_P(FlowFields, of_a_linear_velocity_are_exact_where_faces_are_planar) {
  if (!planar_faces_) return;
  const LinearVelocity velocity(dimension_);
  const auto on_faces = at_face_centroids(Executor::serial(), mesh_, velocity);
  const std::vector<Vector3> means = mean_velocity(mesh_, on_faces).to_host();
  const Field<Cell, Tensor3> gradient = velocity_gradient(mesh_, on_faces);
  const std::vector<Tensor3> gradients = gradient.to_host();
  const std::vector<Vector3> vorticities = vorticity(gradient).to_host();
  const std::vector<Real> q = q_criterion(gradient).to_host();
  // By hand: curl = (dw/dy - dv/dz, du/dz - dw/dx, dv/dx - du/dy), Q = -1/2 g_ij g_ji.
  const Vector3 curl = dimension_ == 2 ? Vector3{0, 0, -5} : Vector3{-6, -1.25, -5};
  const Real q_exact =
      dimension_ == 2 ? -0.5 * (1 + 0.25 - 12) : -0.5 * (1 + 0.25 + 2.25 + 2 * (-6 - 0.25 - 8));
  for (std::size_t c = 0; c < means.size(); ++c) {
    expect_near(means[c], velocity(mesh_.geometry().cell_centroids()[c]), 1e-12);
    expect_near(gradients[c].x, velocity.gradient.x, 1e-10);
    expect_near(gradients[c].y, velocity.gradient.y, 1e-10);
    expect_near(gradients[c].z, velocity.gradient.z, 1e-10);
    expect_near(vorticities[c], curl, 1e-10);
    EXPECT_NEAR(q[c], q_exact, 1e-9);
  }
}

TEST_P(FlowFields, of_a_uniform_stream_are_exact_on_any_cells) {
  const Vector3 stream{0.5, -1, dimension_ == 2 ? 0.0 : 2};
  const auto on_faces = at_face_centroids(Executor::serial(), mesh_, [&](Vector3) { return stream; });
  const std::vector<Vector3> means = mean_velocity(mesh_, on_faces).to_host();
  const std::vector<Tensor3> gradients = velocity_gradient(mesh_, on_faces).to_host();
  for (std::size_t c = 0; c < means.size(); ++c) {
    expect_near(means[c], stream, planar_faces_ ? 1e-13 : 1e-2);
    for (const Vector3 row : {gradients[c].x, gradients[c].y, gradients[c].z}) expect_near(row, {}, 1e-11);
  }
}

TEST_P(FlowFields, divergence_is_the_trace_of_the_gradient) {
  const auto on_faces = at_face_centroids(Executor::serial(), mesh_, [](Vector3 x) {
    return Vector3{std::sin(x.x), x.x * x.y, 0};
  });
  const std::vector<Vector3> velocity = on_faces.to_host();
  std::vector<Real> through(velocity.size());
  for (std::size_t f = 0; f < through.size(); ++f)
    through[f] = dot(velocity[f], mesh_.geometry().face_areas()[f]);
  PrimalCochain<Face> flux(Executor::serial(), mesh_.topology().faces().size(), "flux", "m3/s");
  flux.copy_from_host(through);
  const std::vector<Real> divergences = divergence(mesh_, flux).to_host();
  const std::vector<Tensor3> gradients = velocity_gradient(mesh_, on_faces).to_host();
  for (std::size_t c = 0; c < divergences.size(); ++c)
    EXPECT_NEAR(divergences[c], gradients[c].x.x + gradients[c].y.y + gradients[c].z.z, 1e-10);
}

TEST_P(FlowFields, least_squares_find_the_slope_of_linear_values) {
  // The centroids of one block's cells, and of the hybrid's, lie in one plane (in two dimensions on a line).
  const std::string& name = GetParam().name;
  if ((name.ends_with("_one_block") && name != "pyramids_one_block") || name == "hybrid") return;
  const Vector3 slope{1.5, -2, dimension_ == 2 ? 0 : 0.7};
  std::vector<Real> values;
  for (const Vector3 x : mesh_.geometry().cell_centroids().host()) values.push_back(3 + dot(slope, x));
  for (const Vector3 gradient : gradients_of(mesh_, values)) expect_near(gradient, slope, 1e-9);
}

TEST_P(FlowFields, have_the_same_bits_on_every_backend) {
  const auto results = [&](const Executor& executor) {
    const auto on_faces = at_face_centroids(executor, mesh_, [](Vector3 x) {
      return Vector3{std::sin(3 * x.x), std::cos(2 * x.y + x.x), 0};
    });
    const auto gradient = velocity_gradient(mesh_, on_faces);
    PrimalCochain<Face> flux(executor, on_faces.size(), "flux", "m3/s");
    std::vector<Real> through;
    for (const Vector3 v : on_faces.to_host()) through.push_back(v.x);
    flux.copy_from_host(through);
    return std::tuple(mean_velocity(mesh_, on_faces).to_host(), vorticity(gradient).to_host(),
                      q_criterion(gradient).to_host(), divergence(mesh_, flux).to_host());
  };
  const auto expected = results(Executor::serial());
  for (const Executor& executor : backends_beside_serial())
    EXPECT_TRUE(results(executor) == expected) << executor.name();
}

INSTANTIATE_TEST_SUITE_P(Shelf, FlowFields, ::testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(LeastSquaresGradient, sees_both_neighbours_across_periodic_sides_however_few_cells_there_are) {
  const std::vector<PeriodicPair> pairs{{"left", "right"}, {"bottom", "top"}};
  for (const Index n : {2, 3, 5}) {
    const Mesh mesh = make_periodic(Mesh(make_box(CellType::Quadrilateral, {n, 4, 0})), pairs).mesh;
    const Real width = 1 / static_cast<Real>(n), height = 0.25;
    const auto value = [](Vector3 x) {
      return std::sin(2 * pi * x.x + 0.3) + 2 * std::cos(2 * pi * x.y + 0.1);
    };
    std::vector<Real> values;
    for (const Vector3 x : mesh.geometry().cell_centroids().host()) values.push_back(value(x));
    const std::vector<Vector3> gradients = gradients_of(mesh, values);
    for (std::size_t c = 0; c < values.size(); ++c) {
      const Vector3 x = mesh.geometry().cell_centroids()[c], right{width, 0, 0}, up{0, height, 0};
      expect_near(gradients[c],
                  {(value(x + right) - value(x - right)) / (2 * width),
                   (value(x + up) - value(x - up)) / (2 * height), 0},
                  1e-12);
    }
  }
}

TEST(LeastSquaresGradient, is_the_same_in_a_few_cells_on_every_backend) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {4, 4, 4}));
  std::vector<Real> values;
  for (const Vector3 x : mesh.geometry().cell_centroids().host()) values.push_back(std::sin(3 * x.x + x.y));
  const std::vector<Vector3> expected = gradients_of(mesh, values);
  const std::vector<Index> cells{301, 0, 77, 301};
  for (const Executor& executor : all_backends()) {
    DualCochain<Cell> field(executor, mesh.topology().cells().size(), "p", "Pa");
    field.copy_from_host(values);
    const std::vector<Vector3> gradients = least_squares_gradient(mesh, field, cells);
    ASSERT_EQ(gradients.size(), cells.size());
    for (std::size_t k = 0; k < cells.size(); ++k)
      EXPECT_EQ(gradients[k], expected[at(cells[k])]) << executor.name();
  }
}

TEST(LeastSquaresGradient, is_zero_in_directions_that_no_cell_tells) {
  const Mesh row(make_box(CellType::Quadrilateral, {4, 1, 0}));
  std::vector<Real> values;
  for (const Vector3 x : row.geometry().cell_centroids().host()) values.push_back(2 * x.x + 7 * x.y);
  for (const Vector3 gradient : gradients_of(row, values)) expect_near(gradient, {2, 0, 0}, 1e-13);
  const Mesh alone(make_box(CellType::Quadrilateral, {1, 1, 0}));
  expect_near(gradients_of(alone, {5})[0], {}, 0);
}

/// psi(x, y), and fluxes through sides that it gives exactly: u = dpsi/dy, v = -dpsi/dx.
Real psi_exact(Vector3 x) {
  return std::sin(2 * x.x) * std::cos(x.y) + x.x * x.y;
}
Vector3 velocity_of_psi(Vector3 x) {
  return {-std::sin(2 * x.x) * std::sin(x.y) + x.x, -2 * std::cos(2 * x.x) * std::cos(x.y) - x.y, 0};
}

/// Integral of a velocity over each side by Gauss' rule with three points.
template <class Velocity>
std::vector<Real> side_integrals(const Mesh& mesh, const Velocity& velocity) {
  std::vector<Real> flux;
  const auto position = mesh.geometry().node_positions(MemorySpace::Host);
  for (const Id<Face> f : mesh.topology().faces()) {
    const auto nodes = mesh.topology().nodes_of_face()[f];
    const Vector3 a = position[nodes[0].id], b = position[nodes[1].id];
    const Real s = std::sqrt(0.6) / 2;
    const Vector3 mean = (5 * velocity((0.5 + s) * a + (0.5 - s) * b) + 8 * velocity(0.5 * a + 0.5 * b) +
                          5 * velocity((0.5 - s) * a + (0.5 + s) * b)) /
                         18;
    flux.push_back(dot(mean, mesh.geometry().face_areas()[at(f.value())]));
  }
  return flux;
}

std::vector<ShelfMesh> planar_shelf() {
  std::vector<ShelfMesh> meshes;
  for (const ShelfMesh& mesh : shelf()) {
    if (mesh.raw.dimension == 2) meshes.push_back(mesh);
  }
  return meshes;
}

class Streamfunction : public ::testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
};

TEST_P(Streamfunction, has_the_sign_and_the_differences_of_the_flux) {
  const std::vector<Real> flux = side_integrals(mesh_, velocity_of_psi);
  const std::vector<Real> psi = streamfunction(mesh_, flux);
  const auto position = mesh_.geometry().node_positions().host();
  std::size_t lowest = 0;
  for (std::size_t n = 0; n < psi.size(); ++n) {
    if (std::pair(position[n].y, position[n].x) < std::pair(position[lowest].y, position[lowest].x))
      lowest = n;
  }
  EXPECT_EQ(psi[lowest], 0);
  for (std::size_t n = 0; n < psi.size(); ++n)  // but for the quadrature
    EXPECT_NEAR(psi[n], psi_exact(position[n]) - psi_exact(position[lowest]), 1e-3);
  for (const Id<Face> f : mesh_.topology().faces()) {
    Real circulation = 0;
    for (const auto [e, sign] : mesh_.topology().edges_of_face()[f]) circulation += sign * psi[at(e.value())];
    EXPECT_NEAR(circulation, flux[at(f.value())], 1e-3);
  }
}

TEST_P(Streamfunction, of_fluxes_without_divergence_is_exact) {
  const auto position = mesh_.geometry().node_positions().host();
  std::vector<Real> flux;
  for (const Id<Face> f : mesh_.topology().faces()) {
    // Start and end of the side with the lower cell, which the normal leaves, on the left.
    const auto nodes = mesh_.topology().nodes_of_face()[f];
    flux.push_back(psi_exact(position[at(nodes[1].id.value())]) -
                   psi_exact(position[at(nodes[0].id.value())]));
  }
  const std::vector<Real> psi = streamfunction(mesh_, flux);
  const Real offset = psi[0] - psi_exact(position[0]);
  for (std::size_t n = 0; n < psi.size(); ++n) EXPECT_NEAR(psi[n], psi_exact(position[n]) + offset, 1e-14);
}

INSTANTIATE_TEST_SUITE_P(Shelf, Streamfunction, ::testing::ValuesIn(planar_shelf()),
                         [](const auto& test) { return test.param.name; });

/// A square ring whose outer sides are patch "outside" and whose inner ones "island".
Mesh ring() {
  for (const ShelfMesh& mesh : shelf()) {
    if (mesh.name != "quadrilaterals_ring") continue;
    RawMesh raw = mesh.raw;
    const Mesh bare(raw, CellOrder::AsRead);
    raw.patch_names = {"outside", "island"};
    raw.boundary_start = {0};
    const auto position = bare.geometry().node_positions().host();
    const auto number_in_raw = [&](Vector3 x) {
      return static_cast<Index>(std::ranges::find(raw.nodes, x) - raw.nodes.begin());
    };
    for (const Id<Face> f : bare.topology().boundary_faces()) {
      for (const auto [n, sign] : bare.topology().nodes_of_face()[f])
        raw.boundary_nodes.push_back(number_in_raw(position[at(n.value())]));
      raw.boundary_start.push_back(static_cast<std::int64_t>(raw.boundary_nodes.size()));
      const Vector3 x = bare.geometry().face_centroids()[at(f.value())];
      const bool outside = std::min({x.x, x.y, 1 - x.x, 1 - x.y}) < 1e-12;
      raw.boundary_patch.push_back(outside ? 0 : 1);
    }
    return Mesh(raw);
  }
  throw Error("the shelf has no ring of quadrilaterals");
}

TEST(StreamfunctionAroundAHole, is_there_where_a_wall_that_turns_lets_its_rounding_through_a_fluid_at_rest) {
  const Mesh mesh = ring();
  const Topology& topology = mesh.topology();
  std::vector<Real> flux(at(topology.faces().size()));
  ASSERT_EQ(topology.patches()[1].name, "island");
  for (const Id<Face> f : topology.faces_of_patch(1)) flux[at(f.value())] = 1e-18;
  EXPECT_THROW(streamfunction(mesh, flux), InputError);
  EXPECT_NO_THROW(streamfunction(mesh, flux, 0.1));
  EXPECT_THROW(streamfunction(mesh, flux, 1e-9), InputError);
}

TEST(StreamfunctionAroundAHole, is_single_valued_in_a_vortex_and_refused_for_a_source) {
  const Mesh mesh = ring();
  const Vector3 centre{0.5, 0.5, 0};
  // A vortex with the streamfunction -|x|²/2, and fluid that comes out of the centre, 2 pi m2/s.
  const auto vortex = [&](Vector3 x) { return cross({0, 0, 1}, x - centre); };
  const auto source = [&](Vector3 x) { return (x - centre) / dot(x - centre, x - centre); };
  const std::vector<Real> psi = streamfunction(mesh, side_integrals(mesh, vortex));
  const auto position = mesh.geometry().node_positions().host();
  for (std::size_t n = 0; n < psi.size(); ++n)
    EXPECT_NEAR(psi[n], (0.5 - dot(position[n] - centre, position[n] - centre)) / 2, 1e-14);
  try {
    streamfunction(mesh, side_integrals(mesh, source));
    FAIL() << "a source in a hole was accepted";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("'streamfunction'"), HasSubstr("6.2"), HasSubstr("'island'"),
                                    Not(HasSubstr("'outside'"))));
  }
}

/// Plane shear between walls: the box's patches are walls below and above, open elsewhere.
struct ShearFlow {
  explicit ShearFlow(const Mesh& mesh, Real viscosity) {
    settings.density = 800;
    settings.viscosity = viscosity;
    for (const Patch& patch : mesh.topology().patches()) {
      const bool wall = patch.name == "bottom" || patch.name == "top";
      if (wall) {
        settings.boundaries.emplace_back(std::in_place_type<Wall>);
      } else {
        settings.boundaries.emplace_back(std::in_place_type<Outlet>);
      }
    }
    for (const Id<Face> f : mesh.topology().boundary_faces()) {
      const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
      // Friction of 0.04 m2/s2, along x below and against it above; a normal part must not count.
      forces.viscous.push_back(-0.04 * Vector3{area.y, 0, 0} + 5.0 * area);
      forces.pressure.push_back(3.0 * area);
    }
  }
  FlowSettings settings;
  IncompressibleFlow::BoundaryForces forces;
};

TEST(WallFriction, of_plane_shear_is_what_hand_calculation_says) {
  for (const CellType type : {CellType::Hexahedron, CellType::Quadrilateral}) {
    const Mesh mesh(make_box(type, {3, 4, 2}, {1, 0.4, 1}));
    const ShearFlow flow(mesh, 1e-3);
    const WallFriction friction = wall_friction(mesh, flow.settings, flow.forces);
    for (const Id<Cell> c : mesh.topology().cells()) {
      const Real y = mesh.geometry().cell_centroids()[at(c.value())].y;
      const Real drag = y < 0.1 ? 800 * 0.04 : y > 0.3 ? -800 * 0.04 : 0;
      expect_near(friction.shear_stress[at(c.value())], {drag, 0, 0}, 1e-11);
      // sqrt(0.04) * 0.05 / 1e-3
      EXPECT_NEAR(friction.y_plus[at(c.value())], drag == 0 ? 0 : 10, 1e-12);
    }
  }
}

TEST(WallFriction, of_two_walls_of_a_cell_is_their_mean_by_area) {
  const Mesh mesh(make_box(CellType::Quadrilateral, {1, 1, 0}, {3, 1, 0}));
  FlowSettings settings;
  settings.viscosity = 0.1;
  IncompressibleFlow::BoundaryForces forces;
  for (const Patch& patch : mesh.topology().patches()) {
    const bool wall = patch.name == "bottom" || patch.name == "left";
    if (wall) {
      settings.boundaries.emplace_back(std::in_place_type<Wall>);
    } else {
      settings.boundaries.emplace_back(std::in_place_type<Symmetry>);
    }
  }
  for (const Id<Face> f : mesh.topology().boundary_faces()) {
    const bool level = mesh.geometry().face_areas()[at(f.value())].x == 0;
    forces.viscous.push_back(level ? Vector3{3 * 4.0, 0, 0} : Vector3{0, 9.0, 0});
    forces.pressure.emplace_back();
  }
  const WallFriction friction = wall_friction(mesh, settings, forces);
  expect_near(friction.shear_stress[0], {12.0 / 4, 9.0 / 4, 0}, 1e-14);
  // u_tau 2 at height 0.5 over length 3, u_tau 3 at height 1.5 over length 1.
  EXPECT_NEAR(friction.y_plus[0], (3 * (2 * 0.5 / 0.1) + 3 * 1.5 / 0.1) / 4, 1e-12);
  settings.viscosity = 0;
  EXPECT_EQ(wall_friction(mesh, settings, forces).y_plus[0], 0);
}

TEST(FlowFieldsErrors, say_how_many_values_are_missing) {
  const Mesh mesh(make_box(CellType::Triangle, {2, 2, 0}));
  const Field<Face, Vector3> few(Executor::serial(), 3, "v", "m/s");
  EXPECT_THROW(mean_velocity(mesh, few), Error);
  EXPECT_THROW(velocity_gradient(mesh, few), Error);
  EXPECT_THROW(gradients_of(mesh, {1, 2, 3}), Error);
  EXPECT_THROW(streamfunction(mesh, std::vector<Real>(3)), Error);
  const Mesh solid(make_box(CellType::Hexahedron, {1, 1, 1}));
  EXPECT_THROW(streamfunction(solid, std::vector<Real>(6)), Error);
}

}  // namespace
}  // namespace curlew
