// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flow_monitors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "mesh/box.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

void expect_near(Vector3 a, Vector3 b, Real tolerance) {
  EXPECT_NEAR(a.x, b.x, tolerance);
  EXPECT_NEAR(a.y, b.y, tolerance);
  EXPECT_NEAR(a.z, b.z, tolerance);
}

std::vector<std::size_t> all_patches(const Mesh& mesh) {
  std::vector<std::size_t> patches(mesh.topology().patches().size());
  std::iota(patches.begin(), patches.end(), 0);
  return patches;
}

class FlowMonitors : public ::testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const int dimension_ = mesh_.topology().dimension();
};

// Archimedes, seen from inside: a fluid at rest in a closed vessel weighs on it as if hung up at its
// centroid.
TEST_P(FlowMonitors, hydrostatic_pressure_on_a_closed_vessel_is_the_weight_of_what_it_holds) {
  const Vector3 gravity{1, -9, dimension_ == 2 ? 0.0 : 2}, origin{0.3, -2, dimension_ == 2 ? 5 : 0.1};
  const Real density = 800;
  IncompressibleFlow::BoundaryForces forces;
  for (const Id<Face> f : mesh_.topology().boundary_faces()) {
    const Real pressure = 12 + dot(gravity, mesh_.geometry().face_centroids()[at(f.value())]);
    forces.pressure.push_back(pressure * mesh_.geometry().face_areas()[at(f.value())]);
    forces.viscous.push_back({0.5, 0.25, 0});
  }
  Real volume = 0;
  for (const Real part : mesh_.geometry().cell_volumes().host()) volume += part;
  const BodyForces body = forces_on_patches(mesh_, density, forces, all_patches(mesh_), origin);
  expect_near(body.pressure, density * volume * gravity, 1e-9);
  const Real faces = mesh_.topology().boundary_faces().size();
  expect_near(body.viscous, density * faces * Vector3{0.5, 0.25, 0}, 1e-9);
  expect_near(body.force(), body.pressure + body.viscous, 0);

  // Even pressure neither pushes nor turns.
  for (std::size_t k = 0; k < forces.pressure.size(); ++k) {
    forces.pressure[k] =
        12 * mesh_.geometry().face_areas()[k + at(mesh_.topology().boundary_faces().first())];
    forces.viscous[k] = {};
  }
  const BodyForces even = forces_on_patches(mesh_, density, forces, all_patches(mesh_), origin);
  expect_near(even.force(), {}, 1e-9);
  expect_near(even.moment, {}, 1e-9);
}

TEST_P(FlowMonitors, outflows_of_a_uniform_stream_are_areas_and_sum_to_zero) {
  const Vector3 stream{1.5, -2, 0.5};
  std::vector<Real> through;
  for (const Vector3 area : mesh_.geometry().face_areas().host()) through.push_back(dot(stream, area));
  Real total = 0, size = 0;
  for (const Executor& executor : {Executor::serial(), Executor::openmp(2), Executor::debug_device()}) {
    PrimalCochain<Face> flux(executor, mesh_.topology().faces().size(), "flux", "m3/s");
    flux.copy_from_host(through);
    const std::vector<Real> outflows = patch_outflows(mesh_, flux);
    ASSERT_EQ(outflows.size(), mesh_.topology().patches().size());
    for (const Real outflow : outflows) {
      total += outflow;
      size += std::abs(outflow);
    }
    EXPECT_NEAR(total, 0, 1e-13 * (1 + size));
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, FlowMonitors, ::testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

/// Index of a patch of the box.
std::size_t patch_named(const Mesh& mesh, const std::string& name) {
  const std::vector<Patch>& patches = mesh.topology().patches();
  return static_cast<std::size_t>(std::ranges::find(patches, name, &Patch::name) - patches.begin());
}

TEST(FlowMonitorsInABox, a_force_on_one_side_turns_about_the_origin) {
  for (const CellType type : {CellType::Tetrahedron, CellType::Prism, CellType::Quadrilateral}) {
    RawMesh raw = make_box(type, {3, 2, 2});
    if (is_planar(type)) {
      for (Vector3& x : raw.nodes) x.z = 0.7;
    }
    const Mesh mesh(raw);
    IncompressibleFlow::BoundaryForces forces;
    for (const Id<Face> f : mesh.topology().boundary_faces()) {
      const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
      forces.pressure.push_back(3.0 * area);
      forces.viscous.push_back(norm(area) * Vector3{0, 4, 0});
    }
    const std::vector<std::size_t> right{patch_named(mesh, "right")};
    const Vector3 origin{0.25, 1, 0};
    const BodyForces body = forces_on_patches(mesh, 10, forces, right, origin);
    expect_near(body.pressure, {30, 0, 0}, 1e-12);
    expect_near(body.viscous, {0, 40, 0}, 1e-12);
    // Force (30, 40, 0) acts at (1, 1/2) (and z = 1/2): arm (3/4, -1/2, 1/2).
    const Real turn = 0.75 * 40 + 0.5 * 30;
    expect_near(body.moment, is_planar(type) ? Vector3{0, 0, turn} : Vector3{-0.5 * 40, 0.5 * 30, turn},
                1e-12);

    const ForceCoefficients c =
        force_coefficients(body, {.density = 10, .velocity = 2, .area = 0.5, .length = 3});
    expect_near(c.force, {3, 4, 0}, 1e-12);
    EXPECT_NEAR(c.moment.z, turn / 30, 1e-12);

    std::vector<Real> through(at(mesh.topology().faces().size()));
    for (const Id<Face> f : mesh.topology().patches()[right[0]].faces) through[at(f.value())] = 2;
    PrimalCochain<Face> flux(Executor::serial(), mesh.topology().faces().size(), "flux", "m3/s");
    flux.copy_from_host(through);
    const std::vector<Real> outflows = patch_outflows(mesh, flux);
    for (std::size_t p = 0; p < outflows.size(); ++p)
      EXPECT_EQ(outflows[p], p == right[0] ? 2 * mesh.topology().patches()[p].faces.size() : 0);
  }
}

TEST(ForceCoefficients, need_positive_references) {
  const ForceReference fine{.density = 1, .velocity = 1, .area = 1, .length = 1};
  for (Real ForceReference::*member : {&ForceReference::density, &ForceReference::velocity,
                                       &ForceReference::area, &ForceReference::length}) {
    ForceReference bad = fine;
    bad.*member = 0;
    EXPECT_THROW(force_coefficients({}, bad), InputError);
  }
}

TEST(EnergyValues, follow_their_columns) {
  IncompressibleFlow::EnergyBudget budget;
  budget.kinetic_energy = 1;
  budget.rate = 2;
  budget.dissipation = 4;
  budget.boundary_power = 8;
  budget.body_power = 16;
  const auto values = energy_values(budget, 10);
  EXPECT_THAT(values, ::testing::ElementsAre(10, 40, 80, 160, 10 * (8 + 16 - 4 - 2), 20));
  EXPECT_STREQ(energy_columns[1], "dissipation");
  EXPECT_STREQ(energy_columns[4], "residual");
  EXPECT_STREQ(energy_columns[5], "rate");
}

}  // namespace
}  // namespace curlew
