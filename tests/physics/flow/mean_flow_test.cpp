// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gmock/gmock.h>

#include <numbers>
#include <type_traits>

#include "operators/interpolation.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "tests/physics/flow/distorted_channel.hpp"
#include "tests/physics/flow/flow_setup.hpp"
#include "tests/physics/flow/total_force.hpp"

namespace curlew {
namespace {

using std::numbers::pi;

Real mean_along_x(const Mesh& mesh, const PrimalCochain<Face>& flux) {
  Field<Cell, Vector3> at_cells(Executor::serial(), mesh.topology().cells().size(), "N U", "m/s");
  Interpolation(Executor::serial(), mesh).apply(flux, at_cells);
  Real mean = 0;
  const std::vector<Vector3> v = at_cells.to_host();
  for (std::size_t c = 0; c < v.size(); ++c) mean += mesh.geometry().cell_volumes()[c] * v[c].x;
  return mean;
}

TEST(MeanFlowHeld, a_held_mean_flow_is_exact_in_every_step_and_its_force_is_the_friction_of_the_walls) {
  const Mesh mesh = periodic_channel(8);
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.1;
  settings.mean_flow = MeanFlow{{3, 0, 0}, 0.7};
  for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::CrankNicolsonAb2, FlowScheme::Euler}) {
    settings.scheme = scheme;
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({0.7, 0, 0}), 0);
    for (int k = 0; k < 120; ++k) {
      flow.advance(0.04);
      if (k % 20 > 2) continue;
      EXPECT_NEAR(mean_along_x(mesh, flow.flux()), 0.7, 1e-12);
    }
    // dp/dx = 12 nu U / h^2, over a volume of 1.
    const Real exact = 12 * 0.1 * 0.7;
    EXPECT_NEAR(flow.mean_flow_force(), exact, 0.06 * exact);
    const Total walls = total_on(flow, mesh.topology().boundary_faces());
    EXPECT_NEAR(walls.force.x, flow.mean_flow_force(), 1e-6);
    EXPECT_NEAR(flow.energy_budget().residual(), 0, 1e-6);
  }
}

/// What the force that holds it adds to a step has a pressure of its own, which viscosity makes as far off as
/// that of walls that start at once.
TEST(MeanFlowHeld, takes_the_force_of_the_exact_method_past_what_is_in_its_way_from_the_first_step) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Hexahedron}) {
    RawMesh raw = make_box(type, is_planar(type) ? std::array{12, 8, 0} : std::array{8, 6, 3});
    for (Vector3& x : raw.nodes) x.y *= 1 - 0.5 * std::pow(std::sin(pi * x.x), 2);
    const PeriodicPair pair{"left", "right"};
    const Mesh mesh = make_periodic(Mesh(raw), std::span(&pair, 1)).mesh;
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 1;
    settings.convection = ConvectionScheme::None;
    settings.mean_flow = MeanFlow{{1, 0, 0}, 0.7};
    for (const Real step : {0.1, 10.}) {
      ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
      ExactFractionalStep exact(Executor::serial(), mesh, settings);
      flow.start(*uniform_vector({0.7, 0, 0}), 0);
      exact.start(*uniform_vector({0.7, 0, 0}), 0);
      for (int k = 1; k <= 6; ++k) {
        flow.advance(step);
        exact.advance(step);
        const Real expected = exact.mean_flow_force();
        EXPECT_NEAR(flow.mean_flow_force(), expected, (k < 3 ? 0.01 : 1e-3) * expected)
            << static_cast<int>(type) << ' ' << step << ' ' << k;
      }
    }
  }
}

TEST(MeanFlowHeld, takes_poiseuilles_force_on_cells_as_long_as_the_channel_is_wide) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Tetrahedron,
                              CellType::Pyramid, CellType::Prism, CellType::Hexahedron}) {
    const bool plane = is_planar(type);
    const Mesh box(plane ? make_box(type, {3, 8, 0}, {3, 1, 0}) : make_box(type, {3, 3, 8}, {3, 3, 1}));
    std::vector<PeriodicPair> pairs{{"left", "right"}};
    if (!plane) pairs.push_back({"bottom", "top"});
    const Mesh mesh = make_periodic(box, pairs).mesh;
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 0.1;
    settings.convection = ConvectionScheme::None;
    settings.scheme = FlowScheme::Euler;
    settings.mean_flow = MeanFlow{{1, 0, 0}, 0.7};
    ExactFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({0.7, 0, 0}), 0);
    for (int k = 0; k < 5; ++k) flow.advance(1e3);
    const Real share = flow.mean_flow_force() / (12 * 0.1 * 0.7);
    EXPECT_LT(share, 1) << name(type);
    EXPECT_GT(share, 0.82) << name(type);
  }
}

TEST(MeanFlowHeld, the_force_that_holds_a_mean_flow_converges_to_poiseuilles) {
  Real error[2];
  for (const int level : {0, 1}) {
    const Mesh mesh = periodic_channel(level == 0 ? 6 : 12);
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 0.1;
    settings.momentum.relative_tolerance = settings.pressure.relative_tolerance = 1e-8;
    settings.mean_flow = MeanFlow{{1, 0, 0}, 0.7};
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*steady_vector([](Vector3 x) { return Vector3{4.2 * x.y * (1 - x.y), 0, 0}; }), 0);
    for (int k = 0; k < 60; ++k) flow.advance(0.04);
    error[level] = std::abs(flow.mean_flow_force() - 0.84);
  }
  EXPECT_LE(error[1], error[0] / 3);
}

// Slow flows, to which a unit force would add as much as 1e6 times what there is.
TEST(MeanFlowHeld, the_force_that_holds_a_slow_mean_flow_is_as_steady_as_the_flow) {
  const Mesh mesh = periodic_channel(4);
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 1e-6;
  settings.mean_flow = MeanFlow{{1, 0, 0}, 1e-6};
  settings.streamfunction.relative_tolerance = 1e-10;
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  flow.start(*steady_vector([](Vector3 x) { return Vector3{6e-6 * x.y * (1 - x.y), 0, 0}; }), 0);
  for (int k = 0; k < 80; ++k) flow.advance(2e4);
  const Real force = flow.mean_flow_force();
  EXPECT_NEAR(force, 12e-12, 2.5e-12);
  for (int k = 0; k < 5; ++k) {
    flow.advance(2e4);
    EXPECT_NEAR(flow.mean_flow_force(), force, 1e-7 * force);
  }
}

TEST(MeanFlowHeld, midpoint_holds_a_mean_flow_by_the_force_of_the_other_schemes) {
  const Mesh mesh = periodic_channel(6);
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.1;
  settings.mean_flow = MeanFlow{{1, 0, 0}, 0.7};
  Real force[2];
  for (const bool midpoint : {false, true}) {
    settings.scheme = midpoint ? FlowScheme::Midpoint : FlowScheme::Sbdf2;
    ExactFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*steady_vector([](Vector3 x) { return Vector3{4.2 * x.y * (1 - x.y), 0, 0}; }), 0);
    for (int k = 0; k < 150; ++k) {
      flow.advance(0.04);
      EXPECT_NEAR(mean_along_x(mesh, flow.flux()), 0.7, 1e-12);
    }
    force[midpoint ? 1 : 0] = flow.mean_flow_force();
  }
  EXPECT_NEAR(force[1], force[0], 1e-6);
}

TEST(MeanFlowHeld, a_mean_flow_against_walls_is_an_error) {
  const Mesh mesh = periodic_channel(4);
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.mean_flow = MeanFlow{{0, 2, 0}, 0.7};
  try {
    ClassicalFractionalStep(Executor::serial(), mesh, settings).start(*uniform_vector({}), 0);
    ADD_FAILURE() << "no error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("no mean flow along [0, 2, 0] can be held"));
  }
}

TEST(MeanFlowHeld, a_mean_flow_through_one_outlet_alone_is_an_error) {
  const auto start = [](const Mesh& mesh, std::initializer_list<const char*> outlets, Vector3 direction) {
    FlowSettings settings = settings_with(mesh, Wall{});
    for (const char* outlet : outlets) boundary_of(settings, mesh, outlet) = Outlet{};
    settings.mean_flow = MeanFlow{direction, 0.7};
    ClassicalFractionalStep(Executor::serial(), mesh, settings).start(*uniform_vector({}), 0);
  };
  const Mesh box(distorted_triangles(4)), channel = periodic_channel(4);
  // Out and in again.
  EXPECT_THROW(start(box, {"right"}, {0, 1, 0}), InputError);
  EXPECT_THROW(start(box, {"right"}, {1, 0, 0}), InputError);
  EXPECT_THROW(start(channel, {"top"}, {0, 1, 0}), InputError);
  // Nor does a run go on with one.
  FlowSettings settings = settings_with(channel, Wall{});
  ClassicalFractionalStep before(Executor::serial(), channel, settings);
  before.start(*uniform_vector({}), 0);
  settings.mean_flow = MeanFlow{{0, 1, 0}, 0.7};
  ClassicalFractionalStep after(Executor::serial(), channel, settings);
  EXPECT_THROW(after.resume(before.state()), MeanFlowError);
  // From one to the other, round through periodic patches.
  EXPECT_NO_THROW(start(box, {"left", "right"}, {1, 0, 0}));
  EXPECT_NO_THROW(start(channel, {"top"}, {1, 0, 0}));
}

template <class Step>
class MeanFlowOf : public testing::Test {};
using Steps = testing::Types<ClassicalFractionalStep, ExactFractionalStep>;
TYPED_TEST_SUITE(MeanFlowOf, Steps);

TYPED_TEST(MeanFlowOf, a_run_resumes_to_the_same_bits) {
  const Mesh mesh = periodic_channel(4);
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.mean_flow = MeanFlow{{1, 0, 0}, 0.7};
  settings.convection = ConvectionScheme::Blended;
  for (const auto& [viscosity, scheme] : {std::pair(0.1, FlowScheme::Sbdf2),
                                          {0.1, FlowScheme::CrankNicolsonAb2},
                                          {0.1, FlowScheme::Euler},
                                          {0.1, FlowScheme::SspRk2},
                                          {0.1, FlowScheme::SspRk3},
                                          {0.1, FlowScheme::SspRk4},
                                          {0.1, FlowScheme::Midpoint},
                                          {100., FlowScheme::Sbdf2},
                                          {100., FlowScheme::Euler}}) {
    if (scheme == FlowScheme::Midpoint && std::is_same_v<TypeParam, ClassicalFractionalStep>) continue;
    settings.viscosity = viscosity;
    settings.scheme = scheme;
    TypeParam whole(Executor::serial(), mesh, settings), resumed(Executor::serial(), mesh, settings);
    whole.start(*steady_vector([](Vector3 x) { return Vector3{0.7, std::sin(2 * pi * x.x), 0}; }), 0);
    for (int k = 0; k < 3; ++k) whole.advance(0.01);
    resumed.resume(whole.state());
    EXPECT_EQ(whole.mean_flow_force(), resumed.mean_flow_force()) << static_cast<int>(scheme);
    for (int k = 0; k < 3; ++k) {
      const FlowStepReport one = whole.advance(0.01), other = resumed.advance(0.01);
      for (const auto& [name, solve] : one.solves) {
        EXPECT_EQ(solve.iterations, other.solves.at(name).iterations) << name << static_cast<int>(scheme);
        EXPECT_EQ(solve.residual, other.solves.at(name).residual) << name << static_cast<int>(scheme);
      }
    }
    EXPECT_TRUE(whole.state() == resumed.state()) << static_cast<int>(scheme);
    EXPECT_EQ(whole.mean_flow_force(), resumed.mean_flow_force());
    EXPECT_NE(whole.mean_flow_force(), 0);
  }
}

// Without friction the force that holds a uniform stream is the body force's opposite.
TYPED_TEST(MeanFlowOf, force_and_budget_are_those_of_the_moment) {
  const Mesh mesh = periodic_channel(4);
  FlowSettings settings = settings_with(mesh, Symmetry{});
  settings.mean_flow = MeanFlow{{2, 0, 0}, 0.7};
  const auto push = [](Real t) { return 5 * std::cos(7 * t); };
  settings.body_force = analytic_vector([=](Vector3, Real t) { return Vector3{push(t), 0, 0}; });
  for (const FlowScheme scheme :
       {FlowScheme::Sbdf2, FlowScheme::CrankNicolsonAb2, FlowScheme::Euler, FlowScheme::SspRk2,
        FlowScheme::SspRk3, FlowScheme::SspRk4, FlowScheme::Midpoint}) {
    if (scheme == FlowScheme::Midpoint && std::is_same_v<TypeParam, ClassicalFractionalStep>) continue;
    settings.scheme = scheme;
    const bool in_the_middle = scheme == FlowScheme::CrankNicolsonAb2 || scheme == FlowScheme::Midpoint;
    Real error[2];
    for (const int level : {0, 1}) {
      TypeParam flow(Executor::serial(), mesh, settings);
      flow.start(*uniform_vector({0.7, 0, 0}), 0);
      EXPECT_NEAR(flow.mean_flow_force(), -push(0), 1e-9) << static_cast<int>(scheme);
      EXPECT_NEAR(flow.energy_budget().residual(), 0, 1e-9) << static_cast<int>(scheme);
      const int steps = level == 0 ? 20 : 40;
      for (int k = 0; k < steps; ++k) flow.advance(0.4 / steps);
      error[level] = std::abs(flow.mean_flow_force() + push(0.4));
      EXPECT_NEAR(flow.energy_budget().residual(), 0, 1.01 * 0.7 * error[level] + 1e-8)
          << static_cast<int>(scheme);
      for (const Real p : flow.pressure().to_host())
        EXPECT_NEAR(p, 0, 0.2 * error[level] + 1e-8) << static_cast<int>(scheme);
    }
    EXPECT_LE(error[1], in_the_middle ? error[0] / 3.5 : 1e-8) << static_cast<int>(scheme);
  }
}

}  // namespace
}  // namespace curlew
