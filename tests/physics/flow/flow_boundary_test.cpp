// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flow_boundary.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <numeric>
#include <set>

#include "mesh/box.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {
namespace {

struct Imposed {
  std::vector<Real> flux;
  std::vector<Vector3> velocity;
};

/// What boundaries leave of a flow that holds `flux` and `velocity` on every face.
Imposed impose(FlowBoundaries& boundaries, const Mesh& mesh, Real time, Real flux = 0, Vector3 velocity = {},
               const Executor& executor = Executor::serial()) {
  const Index faces = mesh.topology().faces().size();
  PrimalCochain<Face> u(executor, faces, "flux", "m3/s");
  Field<Face, Vector3> v(executor, faces, "velocity", "m/s");
  u.fill(flux);
  v.fill(velocity);
  boundaries.update(time);
  boundaries.impose(u, v);
  return {u.to_host(), v.to_host()};
}

TEST(FlowBoundaries, give_the_mean_of_two_times_in_whole_quanta_that_leave_nothing_in_closed_parts) {
  const Mesh mesh(make_box(CellType::Triangle, {3, 3, 0}));
  const auto pushed = [](Vector3 x, Real t) { return Vector3{t * t * (1 + x.y), t, 0}; };
  FlowSettings settings = settings_with(mesh, Inlet{analytic_vector(pushed), {}});
  FlowBoundaries boundaries(Executor::serial(), mesh, settings);
  EXPECT_TRUE(boundaries.depend_on_time());
  const Imposed first = impose(boundaries, mesh, 1), last = impose(boundaries, mesh, 3);
  const Real quantum = std::ldexp(1., -10);
  boundaries.set_quantum(quantum);
  PrimalCochain<Face> u(Executor::serial(), mesh.topology().faces().size(), "flux", "m3/s");
  Field<Face, Vector3> v(Executor::serial(), u.size(), "velocity", "m/s");
  boundaries.update_to_mean(1, 3);
  boundaries.impose(u, v);
  Real net = 0;
  for (const Id<Face> f : mesh.topology().boundary_faces()) {
    const std::size_t i = at(f.value());
    const Real flux = u.to_host()[i];
    EXPECT_NEAR(flux, (first.flux[i] + last.flux[i]) / 2, 3 * quantum);
    EXPECT_EQ(flux, quantum * std::rint(flux / quantum));
    EXPECT_LE(norm(v.to_host()[i] - (first.velocity[i] + last.velocity[i]) / 2), 1e-14);
    net += flux;
  }
  EXPECT_EQ(net, 0);
}

class FlowBoundariesOnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const bool plane_ = mesh_.topology().dimension() == 2;
};

TEST_P(FlowBoundariesOnShelf, a_turning_wall_gives_the_fluxes_and_mean_velocities_of_a_rigid_rotation) {
  const Vector3 origin{0.3, -0.2, 0}, axis = plane_ ? Vector3{0, 0, 2} : Vector3{1, 2, -2};
  const Real rate = 3;
  const Vector3 omega = rate / norm(axis) * axis;
  const FlowSettings settings = settings_with(mesh_, Wall{{}, RigidRotation{origin, axis, constant(rate)}});
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings);
  const Imposed held = impose(boundaries, mesh_, 0, 7, {1, 1, 1});
  const bool planar = has_planar_faces(mesh_);
  const auto x = mesh_.geometry().node_positions(MemorySpace::Host);
  for (const Id<Face> f : mesh_.topology().interior_faces()) {
    EXPECT_EQ(held.flux[at(f.value())], 7);
    EXPECT_EQ(held.velocity[at(f.value())], (Vector3{1, 1, 1}));
  }
  Real net = 0;
  for (const Id<Face> f : mesh_.topology().boundary_faces()) {
    const Vector3 area = mesh_.geometry().face_areas()[at(f.value())];
    const Vector3 there = cross(omega, mesh_.geometry().face_centroids()[at(f.value())] - origin);
    const Real scale = norm(omega) * norm(area);
    // A linear velocity: on each triangle that of its centroid.
    Real flux = 0;
    if (plane_) {
      flux = dot(there, area);
    } else {
      visit_fan(mesh_.topology().nodes_of_face()[f], x,
                [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 a, Vector3 b) {
                  flux += dot(cross(omega, (apex + a + b) / 3 - origin), 0.5 * cross(a - apex, b - apex));
                });
    }
    EXPECT_NEAR(held.flux[at(f.value())], flux, 1e-12 * scale);
    EXPECT_NEAR(dot(held.velocity[at(f.value())], area), held.flux[at(f.value())], 1e-12 * scale);
    if (planar) {
      EXPECT_LE(norm(held.velocity[at(f.value())] - there), 1e-11);
    }
    net += held.flux[at(f.value())];
  }
  for (const Vector3 of_patch : boundaries.angular_velocity()) EXPECT_LE(norm(of_patch - omega), 1e-14);
  EXPECT_NEAR(net, 0, 1e-13);
  EXPECT_THAT(boundaries.closed_part_of_cell(), testing::Each(0));
}

TEST_P(FlowBoundariesOnShelf, symmetry_takes_the_normal_part_alone_and_an_outlet_takes_nothing) {
  const Vector3 velocity{2, -1, plane_ ? 0. : 0.5};
  FlowBoundaries symmetry(Executor::serial(), mesh_, settings_with(mesh_, Symmetry{}));
  const Imposed held = impose(symmetry, mesh_, 0, 7, velocity);
  FlowBoundaries outlet(Executor::serial(), mesh_, settings_with(mesh_, Outlet{}));
  const Imposed open = impose(outlet, mesh_, 0, 7, velocity);
  for (const Id<Face> f : mesh_.topology().boundary_faces()) {
    const std::size_t i = at(f.value());
    const Vector3 area = mesh_.geometry().face_areas()[i], normal = area / norm(area);
    EXPECT_EQ(held.flux[i], 0);
    EXPECT_NEAR(dot(held.velocity[i], normal), 0, 1e-14);
    EXPECT_LE(norm(cross(held.velocity[i] - velocity, normal)), 1e-14);
    EXPECT_EQ(open.flux[i], 7);
    EXPECT_EQ(open.velocity[i], velocity);
  }
  EXPECT_THAT(symmetry.closed_part_of_cell(), testing::Each(0));
  EXPECT_THAT(outlet.closed_part_of_cell(), testing::Each(-1));
}

INSTANTIATE_TEST_SUITE_P(Shelf, FlowBoundariesOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

class InABox : public testing::Test {
 protected:
  const Mesh mesh_{make_box(CellType::Triangle, {4, 3, 0}, {2, 1.5, 0})};
  FlowSettings settings_ = settings_with(mesh_, Wall{});
  FlowBoundary& on(const std::string& patch) { return boundary_of(settings_, mesh_, patch); }
};

TEST_F(InABox, a_flow_rate_enters_along_the_normal_evenly_and_follows_time) {
  on("left") = Inlet{{}, analytic([](Vector3, Real t) { return 3 * t; })};
  on("right") = Outlet{analytic([](Vector3 x, Real t) { return 8 * x.y + t; })};
  settings_.density = 4;
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings_);
  for (const Real time : {1.0, 2.0}) {
    const Imposed held = impose(boundaries, mesh_, time);
    Real entering = 0;
    for (const Id<Face> f : faces_of_patch(mesh_, "left")) {
      entering -= held.flux[at(f.value())];
      EXPECT_LE(norm(held.velocity[at(f.value())] - Vector3{3 * time / 1.5, 0, 0}), 1e-13);
    }
    EXPECT_NEAR(entering, 3 * time, 1e-13);
    const std::vector<Real> outside = boundaries.outside_pressure().to_host();
    for (const Id<Face> f : mesh_.topology().boundary_faces()) {
      const Vector3 x = mesh_.geometry().face_centroids()[at(f.value())];
      EXPECT_NEAR(outside[at(f.value() - boundaries.first_boundary_face())],
                  x.x > 2 - 1e-9 ? (8 * x.y + time) / 4 : 0, 1e-13);
    }
  }
}

TEST_F(InABox, knows_the_courant_number_of_what_it_will_give_and_gives_the_same_as_before) {
  on("left") = Inlet{{}, analytic([](Vector3, Real t) { return 3 * t; })};
  on("right") = Outlet{};
  on("top") = Inlet{steady_vector([](Vector3) { return Vector3{0, -100, 0}; }), {}};
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings_);
  const Imposed before = impose(boundaries, mesh_, 1);
  // Triangles of 0.5 x 0.5 / 2, of which 0.5 of 1.5 m in height lets in 3 t.
  EXPECT_NEAR(boundaries.courant_rate_at(7), 3 * 7 * 0.5 / 1.5 / 0.125, 1e-12 * 56);
  PrimalCochain<Face> flux(Executor::serial(), mesh_.topology().faces().size(), "flux", "m3/s");
  Field<Face, Vector3> velocity(Executor::serial(), flux.size(), "velocity", "m/s");
  flux.fill(0);
  velocity.fill({});
  boundaries.impose(flux, velocity);
  EXPECT_TRUE(flux.to_host() == before.flux && velocity.to_host() == before.velocity);
}

TEST_F(InABox, holds_the_same_bits_on_every_backend) {
  for (FlowBoundary& boundary : settings_.boundaries)
    boundary = Wall{steady_vector([](Vector3 x) { return Vector3{x.y, std::sin(x.x), 0}; }), {}};
  on("right") = Outlet{};
  on("top") = Symmetry{};
  const auto result = [&](const Executor& executor) {
    FlowBoundaries boundaries(executor, mesh_, settings_);
    return impose(boundaries, mesh_, 0, 0.5, {1, 2, 0}, executor);
  };
  const Imposed expected = result(Executor::serial());
  for (const Executor& executor : backends_beside_serial()) {
    const Imposed held = result(executor);
    EXPECT_TRUE(held.flux == expected.flux && held.velocity == expected.velocity) << executor.name();
  }
}

TEST_F(InABox, evaluates_what_does_not_change_once) {
  std::atomic<int> calls = 0;
  on("left") = Wall{steady_vector([&](Vector3) {
                      ++calls;
                      return Vector3{0, 1, 0};
                    }),
                    {}};
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings_);
  boundaries.update(0);
  const int once = calls;
  EXPECT_GT(once, 0);
  boundaries.update(1);
  EXPECT_EQ(calls, once);
}

TEST_F(InABox, evaluates_a_patch_that_does_not_change_once_beside_one_that_does) {
  std::atomic<int> calls = 0;
  on("left") = Inlet{steady_vector([&](Vector3 x) {
                       ++calls;
                       return Vector3{x.y, 0, 0};
                     }),
                     {}};
  on("right") = Inlet{analytic_vector([](Vector3 x, Real t) { return Vector3{x.y, t, 0}; }), {}};
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings_);
  boundaries.update(0);
  const int once = calls;
  EXPECT_GT(once, 0);
  const Imposed held = impose(boundaries, mesh_, 3);
  EXPECT_EQ(calls, once);
  FlowBoundaries begun_then(Executor::serial(), mesh_, settings_);
  const Imposed expected = impose(begun_then, mesh_, 3);
  EXPECT_TRUE(held.flux == expected.flux && held.velocity == expected.velocity);
}

TEST_F(InABox, evaluates_what_a_time_gives_once_until_it_is_another_time_or_a_mean) {
  std::atomic<int> evaluations = 0;
  Real refused = -1;
  on("right") = Outlet{};
  on("left") = Inlet{analytic_vector([&](Vector3, Real t) {
                       ++evaluations;
                       if (t == refused) throw InputError("no value");
                       return Vector3{t, 0, 0};
                     }),
                     {}};
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings_);
  const auto evaluates = [&](const auto& update) {
    const int before = evaluations;
    update();
    return evaluations > before;
  };
  const auto at_time = [&](Real time) { return [&boundaries, time] { boundaries.update(time); }; };
  EXPECT_TRUE(evaluates(at_time(1)));
  EXPECT_FALSE(evaluates(at_time(1)));
  EXPECT_TRUE(evaluates(at_time(2)));
  EXPECT_TRUE(evaluates([&] { boundaries.update_to_mean(1, 2); }));
  EXPECT_TRUE(evaluates(at_time(2)));
  refused = 3;
  EXPECT_THROW(boundaries.update(3), InputError);
  EXPECT_TRUE(evaluates(at_time(2)));
}

TEST_F(InABox, a_net_inflow_of_a_closed_domain_is_an_error_that_prints_it) {
  on("left") = Inlet{uniform_vector({0.5, 0, 0}), {}};
  on("right") = Inlet{uniform_vector({0.3, 0, 0}), {}};
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings_);
  try {
    boundaries.update(0);
    FAIL() << "0.75 m2/s enter, 0.45 m2/s leave";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(),
                testing::AllOf(testing::HasSubstr("0.3 m2/s enter a closed part"),
                               testing::HasSubstr("is 1.2 m2/s"), testing::HasSubstr("outlet")));
  }
  on("left") = Inlet{uniform_vector({0.1, 0, 0}), {}};
  FlowBoundaries leaving(Executor::serial(), mesh_, settings_);
  try {
    leaving.update(0);
    FAIL() << "0.15 m2/s enter, 0.45 m2/s leave";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("0.3 m2/s leave a closed part"));
  }
}

TEST_F(InABox, a_wall_that_moves_along_itself_is_no_net_inflow) {
  // Its fluxes are what rounding leaves: far from zero in sum against their sizes.
  for (Vector3 tilt : {Vector3{1, 1, 0}, Vector3{0.3, 0.7, 0}, Vector3{0.1, 0.9, 0}}) {
    RawMesh raw = make_box(CellType::Triangle, {5, 3, 0});
    const Vector3 along = tilt / norm(tilt), across{-along.y, along.x, 0};
    for (Vector3& x : raw.nodes) x = x.x * along + x.y * across;
    const Mesh mesh(raw);
    FlowSettings settings = settings_with(mesh, Wall{});
    boundary_of(settings, mesh, "top") = Wall{uniform_vector(3 * along), {}};
    FlowBoundaries boundaries(Executor::serial(), mesh, settings);
    EXPECT_NO_THROW(boundaries.update(0));
  }
}

TEST_F(InABox, a_small_imbalance_is_spread_over_the_flow_through_the_boundary) {
  const Real excess = 1.5e-4;  // of the flow in: 0.75e-4 of the sum
  on("left") = Inlet{uniform_vector({1 + excess, 0.2, 0}), {}};
  on("right") = Inlet{uniform_vector({1, 0.2, 0}), {}};
  FlowBoundaries boundaries(Executor::serial(), mesh_, settings_);
  const Imposed held = impose(boundaries, mesh_, 0);
  Real net = 0;
  for (const Id<Face> f : mesh_.topology().boundary_faces()) {
    const std::size_t i = at(f.value());
    const Vector3 area = mesh_.geometry().face_areas()[i];
    net += held.flux[i];
    EXPECT_NEAR(dot(held.velocity[i], area), held.flux[i], 1e-14);
    const Real x = mesh_.geometry().face_centroids()[i].x;
    if (x < 1e-9 || x > 2 - 1e-9) {
      // Both sides meet half-way, nearly.
      EXPECT_NEAR(held.velocity[i].x, 1 + excess / 2, 1e-8);
      EXPECT_NEAR(held.velocity[i].y, 0.2, 1e-14);
    } else {
      EXPECT_EQ(held.flux[i], 0);
    }
  }
  EXPECT_NEAR(net, 0, 1e-14);
  on("left") = Inlet{uniform_vector({1 + 3e-4, 0.2, 0}), {}};
  FlowBoundaries too_much(Executor::serial(), mesh_, settings_);
  EXPECT_THROW(too_much.update(0), InputError);
}

TEST(ClosedParts, are_the_pieces_of_the_domain_without_an_outlet) {
  const RawMesh box = make_box(CellType::Quadrilateral, {2, 2, 0});
  const Mesh mesh(side_by_side(side_by_side(box, box, {3, 0, 0}, "open_"), box, {0, 5, 0}, "upper_"));
  FlowSettings settings = settings_with(mesh, Wall{});
  boundary_of(settings, mesh, "open_left") = Outlet{};
  FlowBoundaries boundaries(Executor::serial(), mesh, settings);
  std::set<Index> lower, upper;
  for (const Id<Cell> c : mesh.topology().cells()) {
    const Vector3 x = mesh.geometry().cell_centroids()[at(c.value())];
    const Index part = boundaries.closed_part_of_cell()[at(c.value())];
    if (x.x > 2.5) {
      EXPECT_EQ(part, -1);
    } else {
      (x.y > 2.5 ? upper : lower).insert(part);
    }
  }
  ASSERT_EQ(lower.size(), 1);
  ASSERT_EQ(upper.size(), 1);
  EXPECT_EQ(*lower.begin() + *upper.begin(), 1);
}

}  // namespace
}  // namespace curlew
