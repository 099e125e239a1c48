// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/exact_fractional_step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "mesh/box.hpp"
#include "mesh/import/periodic.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/block_shapes.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow/flow_setup.hpp"
#include "tests/physics/kept_state.hpp"

namespace curlew {
namespace {

using std::numbers::pi;

const std::vector<std::pair<const char*, FlowScheme>>& schemes() {
  static const std::vector<std::pair<const char*, FlowScheme>> all{
      {"sbdf2", FlowScheme::Sbdf2},   {"cnab2", FlowScheme::CrankNicolsonAb2},
      {"euler", FlowScheme::Euler},   {"ssprk2", FlowScheme::SspRk2},
      {"ssprk3", FlowScheme::SspRk3}, {"midpoint", FlowScheme::Midpoint}};
  return all;
}

/// The largest net outflow of a cell, summed here by itself.
Real largest_outflow(const Mesh& mesh, const std::vector<Real>& flux) {
  Real largest = 0;
  for (const Id<Cell> c : mesh.topology().cells()) {
    Real net = 0;
    for (const auto [f, sign] : mesh.topology().faces_of_cell()[c]) net += sign * flux[at(f.value())];
    largest = std::max(largest, std::abs(net));
  }
  return largest;
}

Real distance(const std::vector<Real>& a, const std::vector<Real>& b) {
  Real sum = 0, size = 0;
  for (std::size_t k = 0; k < a.size(); ++k) {
    sum += (a[k] - b[k]) * (a[k] - b[k]);
    size += b[k] * b[k];
  }
  return std::sqrt(sum / size);
}

/// Takes steps until the fluxes stay; the classical method's pressure takes its time where steps are viscous.
void advance_until_steady(IncompressibleFlow& flow, Real step) {
  std::vector<Real> flux, earlier;
  for (int k = 0; k < 6000; ++k) {
    flow.advance(step);
    if (k % 50 != 0) continue;
    earlier = std::exchange(flux, flow.flux().to_host());
    if (k > 0 && (largest(flux) < 1e-9 || distance(earlier, flux) < 1e-8)) return;
  }
  ADD_FAILURE() << "not steady";
}

/// A flow that everything drives: a force that turns, and where there are sides an inlet that swells, an
/// outlet and a symmetry plane.
FlowSettings driven(const Mesh& mesh, bool open) {
  const bool plane = mesh.topology().dimension() == 2;
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.02;
  settings.body_force = steady_vector([plane](Vector3 x) {
    return Vector3{std::sin(2 * x.y) + x.z, std::cos(3 * x.x), plane ? 0 : x.x * x.y};
  });
  if (open) {
    boundary_of(settings, mesh, "left") = Inlet{analytic_vector([](Vector3 x, Real t) {
                                                  return Vector3{(1 + t) * (1 + 0.3 * x.y), 0.1, 0};
                                                }),
                                                {}};
    boundary_of(settings, mesh, "right") = Outlet{constant(0.5)};
    boundary_of(settings, mesh, "top") = Symmetry{};
  }
  return settings;
}

class ExactOnShelf : public testing::TestWithParam<ShelfMesh> {};

TEST_P(ExactOnShelf, no_cell_has_any_net_outflow_at_any_tolerance_in_any_scheme) {
  const Mesh mesh(GetParam().raw);
  for (const bool open : {false, true}) {
    if (open && mesh.topology().patches().size() < 4) continue;
    for (const auto& [name, scheme] : schemes()) {
      for (const Real tolerance : {1e-2, 1e-7, 1e-11}) {
        if (tolerance != 1e-2 && scheme != FlowScheme::Sbdf2) continue;
        FlowSettings settings = driven(mesh, open);
        settings.scheme = scheme;
        settings.streamfunction.relative_tolerance = tolerance;
        ExactFractionalStep flow(Executor::serial(), mesh, settings);
        flow.start(*uniform_vector({}), 0);
        EXPECT_EQ(largest_outflow(mesh, flow.flux().to_host()), 0) << name << " at the start";
        for (int k = 0; k < 3; ++k) {
          const FlowStepReport report = flow.advance(std::min(0.005, flow.longest_viscous_step()));
          EXPECT_EQ(largest_outflow(mesh, flow.flux().to_host()), 0) << name << ", tolerance " << tolerance;
          EXPECT_EQ(report.divergence_max, 0);
          if (mesh.topology().cells().size() <= 16) continue;  // too few for anything to move
          EXPECT_GT(report.kinetic_energy, 0);
        }
      }
    }
  }
}

// Circulations without rotation: all that drives the streamfunction is rounding.
TEST_P(ExactOnShelf, a_uniform_stream_stays_uniform) {
  const Mesh mesh(GetParam().raw);
  if (!has_planar_faces(mesh)) return;
  const bool sheared = GetParam().name.find("sliver") != std::string::npos;
  const Vector3 stream{2, 0, sheared && mesh.topology().dimension() == 3 ? 1. : 0};
  std::vector<Real> exact;
  for (const Vector3 s : mesh.geometry().face_areas().host()) exact.push_back(dot(stream, s));
  for (const auto& [name, scheme] : schemes()) {
    FlowSettings settings = settings_with(mesh, Inlet{uniform_vector(stream), {}});
    settings.scheme = scheme;
    settings.viscosity = 0.01;
    settings.streamfunction.relative_tolerance = 1e-9;
    for (const bool open : {false, true}) {
      if (open) {
        if (mesh.topology().patches().size() < 4) continue;
        boundary_of(settings, mesh, "right") = Outlet{};
        boundary_of(settings, mesh, "bottom") = Symmetry{};
      }
      ExactFractionalStep flow(Executor::serial(), mesh, settings);
      flow.start(*uniform_vector(stream), 0);
      const Real step = 0.1 / flow.courant_rate();
      for (int k = 0; k < 4; ++k) flow.advance(step);
      EXPECT_LE(distance(flow.flux().to_host(), exact), 1e-11) << name << (open ? " open" : " closed");
    }
  }
}

TEST_P(ExactOnShelf, a_fluid_under_its_weight_stays_at_rest) {
  const Mesh mesh(GetParam().raw);
  if (!has_planar_faces(mesh)) return;
  const Vector3 gravity{1, -9, mesh.topology().dimension() == 2 ? 0 : 3.};
  Real area = 0;
  for (const Vector3 s : mesh.geometry().face_areas().host()) area = std::max(area, norm(s));
  for (const auto& [name, scheme] : schemes()) {
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.scheme = scheme;
    settings.viscosity = 0.01;
    settings.body_force = uniform_vector(gravity);
    for (const bool open : {false, true}) {
      if (open) settings.boundaries[0] = Outlet{analytic([=](Vector3 x, Real) { return dot(gravity, x); })};
      ExactFractionalStep flow(Executor::serial(), mesh, settings);
      flow.start(*uniform_vector({}), 0);
      for (int k = 0; k < 4; ++k) flow.advance(1e-3);
      EXPECT_LE(largest(flow.flux().to_host()), 1e-14 * norm(gravity) * area)
          << name << (open ? " open" : " closed");
    }
  }
}

TEST_P(ExactOnShelf, its_steady_state_is_that_of_the_classical_step) {
  const Mesh mesh(GetParam().raw);
  // The sheared box is so large that it takes long to become steady.
  if (GetParam().name.find("sliver") != std::string::npos) return;
  FlowSettings settings = driven(mesh, false);
  settings.viscosity = 0.5;
  settings.scheme = FlowScheme::Euler;
  settings.streamfunction.relative_tolerance = 1e-10;
  ExactFractionalStep exact(Executor::serial(), mesh, settings);
  ClassicalFractionalStep classical(Executor::serial(), mesh, settings);
  exact.start(*uniform_vector({}), 0);
  classical.start(*uniform_vector({}), 0);
  advance_until_steady(exact, 0.1);
  advance_until_steady(classical, 0.02);
  const std::vector<Real> expected = classical.flux().to_host();
  if (largest(expected) < 1e-9) return;  // a mesh too coarse to let anything move
  EXPECT_LE(distance(exact.flux().to_host(), expected), 1e-5);
  EXPECT_LE(distance(exact.pressure().to_host(), classical.pressure().to_host()), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Shelf, ExactOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

TEST(ExactStep, agrees_with_the_classical_step_to_second_order_in_time) {
  RawMesh raw = make_box(CellType::Triangle, {5, 5, 0});
  distort(raw, 0.04);
  const Mesh mesh(std::move(raw));
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.05;
  settings.streamfunction.relative_tolerance = 1e-11;
  const auto ramp = [](Real t) { return t * t * t * (4 - 3 * t); };
  boundary_of(settings, mesh, "left") = Inlet{analytic_vector([=](Vector3 x, Real t) {
                                                return Vector3{4 * ramp(t) * x.y * (1 - x.y), 0, 0};
                                              }),
                                              {}};
  boundary_of(settings, mesh, "right") = Outlet{analytic([=](Vector3 x, Real t) { return ramp(t) * x.y; })};
  settings.body_force = analytic_vector([=](Vector3 x, Real t) {
    return Vector3{ramp(t) * std::sin(3 * x.y), ramp(t) * x.x, 0};
  });
  for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::CrankNicolsonAb2}) {
    settings.scheme = scheme;
    std::vector<Real> difference, pressure;
    for (const int steps : {40, 80}) {
      ExactFractionalStep exact(Executor::serial(), mesh, settings);
      ClassicalFractionalStep classical(Executor::serial(), mesh, settings);
      exact.start(*uniform_vector({}), 0);
      classical.start(*uniform_vector({}), 0);
      for (int k = 0; k < steps; ++k) {
        exact.advance(1. / steps);
        classical.advance(1. / steps);
      }
      difference.push_back(distance(exact.flux().to_host(), classical.flux().to_host()));
      pressure.push_back(distance(exact.pressure().to_host(), classical.pressure().to_host()));
    }
    EXPECT_LE(difference[1], 1e-3);
    EXPECT_GE(std::log2(difference[0] / difference[1]), 1.7) << difference[0];
    EXPECT_LE(pressure[1], 1e-2);
    EXPECT_GE(std::log2(pressure[0] / pressure[1]), 1.4) << pressure[0];
  }
}

// Each stage of a Runge-Kutta scheme is the same projection, in the norm of the mass, by both methods.
TEST(ExactStep, takes_the_stages_of_runge_kutta_schemes_as_the_classical_step_does) {
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron}) {
    const bool plane = is_planar(type);
    RawMesh raw = make_box(type, {4, 4, plane ? 0 : 2});
    distort(raw, 0.04);
    const Mesh mesh(std::move(raw));
    FlowSettings settings = driven(mesh, true);
    settings.streamfunction.relative_tolerance = 1e-11;
    // From rest: the methods make different fluxes that do not fit free of divergence.
    boundary_of(settings, mesh, "left") = Inlet{analytic_vector([](Vector3 x, Real t) {
                                                  return Vector3{4 * t * (1 + x.y), 0.1 * t, 0};
                                                }),
                                                {}};
    for (const FlowScheme scheme : {FlowScheme::SspRk2, FlowScheme::SspRk3, FlowScheme::SspRk4}) {
      settings.scheme = scheme;
      ExactFractionalStep exact(Executor::serial(), mesh, settings);
      ClassicalFractionalStep classical(Executor::serial(), mesh, settings);
      exact.start(*uniform_vector({}), 0);
      classical.start(*uniform_vector({}), 0);
      for (int k = 0; k < 10; ++k) {
        exact.advance(0.01);
        classical.advance(0.01);
      }
      EXPECT_LE(distance(exact.flux().to_host(), classical.flux().to_host()), 1e-7);
      EXPECT_GE(largest(exact.flux().to_host()), 0.01);
    }
  }
}

/// Without viscosity in closed and in periodic boxes.
struct Vessel {
  const char* name;
  CellType type;
  bool periodic;
  friend void PrintTo(const Vessel& vessel, std::ostream* out) { *out << vessel.name; }
};

class Inviscid : public testing::TestWithParam<Vessel> {};

TEST_P(Inviscid, midpoint_keeps_kinetic_energy_to_round_off_over_1000_steps) {
  const bool plane = is_planar(GetParam().type);
  const Index n = plane ? 4 : 2;
  RawMesh raw = make_box(GetParam().type, {n, n, plane ? 0 : n});
  distort(raw, plane ? 0.03 : 0.08);
  std::vector<PeriodicPair> pairs{{"left", "right"}, {"bottom", "top"}};
  if (!plane) pairs.push_back({"back", "front"});
  const Mesh box(std::move(raw));
  const Mesh mesh = GetParam().periodic ? make_periodic(box, pairs).mesh : box;
  FlowSettings settings = settings_with(mesh, Symmetry{});
  settings.viscosity = 0;
  settings.scheme = FlowScheme::Midpoint;
  settings.streamfunction.relative_tolerance = settings.momentum.relative_tolerance = 1e-14;
  const Real spin = plane ? 0 : 1;
  const auto velocity = steady_vector([spin](Vector3 x) {
    return Vector3{std::sin(2 * pi * x.x) * std::cos(2 * pi * x.y) + 0.3 * std::cos(2 * pi * x.y),
                   -std::cos(2 * pi * x.x) * std::sin(2 * pi * x.y), spin * std::sin(2 * pi * x.x)};
  });
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  const Real energy = flow.start(*velocity, 0).kinetic_energy;
  EXPECT_GT(energy, 0.01);
  const std::vector<Real> start = flow.flux().to_host();
  Real drift = 0, change = 0;
  for (int k = 0; k < 1000; ++k) {
    const FlowStepReport report = flow.advance(0.01);
    drift = std::max(drift, std::abs(report.kinetic_energy / energy - 1));
    change = std::max(change, distance(flow.flux().to_host(), start));
    ASSERT_EQ(report.divergence_max, 0);
  }
  EXPECT_LE(drift, 2e-11);
  // The flow does change: it is no steady state that would keep its energy anyway.
  EXPECT_GE(change, 0.1);
}

INSTANTIATE_TEST_SUITE_P(Vessels, Inviscid,
                         testing::Values(Vessel{"tetrahedra_closed", CellType::Tetrahedron, false},
                                         Vessel{"tetrahedra_periodic", CellType::Tetrahedron, true},
                                         Vessel{"triangles_closed", CellType::Triangle, false},
                                         Vessel{"triangles_periodic", CellType::Triangle, true},
                                         Vessel{"hexahedra_periodic", CellType::Hexahedron, true}),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ExactStep, midpoint_lets_as_much_through_as_is_given_in_every_step) {
  RawMesh raw = make_box(CellType::Triangle, {6, 4, 0});
  distort(raw, 0.05);
  const Mesh mesh(raw);
  FlowSettings settings = settings_with(mesh, Symmetry{});
  settings.viscosity = 0.1;
  settings.scheme = FlowScheme::Midpoint;
  settings.streamfunction.relative_tolerance = 1e-9;
  boundary_of(settings, mesh, "left") = Inlet{analytic_vector([](Vector3, Real t) {
                                                return Vector3{t * (1 + t), 0, 0};
                                              }),
                                              {}};
  boundary_of(settings, mesh, "right") = Outlet{};
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  flow.start(*uniform_vector({}), 0);
  for (int k = 1; k <= 6; ++k) {
    const Real t = 0.02 * k;
    flow.advance(0.02);
    std::vector<Real> exact;
    for (const Vector3 s : mesh.geometry().face_areas().host()) exact.push_back(t * (1 + t) * s.x);
    EXPECT_LE(distance(flow.flux().to_host(), exact), 1e-9) << "step " << k;
    EXPECT_EQ(largest_outflow(mesh, flow.flux().to_host()), 0);
  }
}

TEST(ExactStep, midpoint_ends_where_nothing_but_rounding_is_left_of_a_flow) {
  const Mesh mesh(make_box(CellType::Quadrilateral, {8, 8, 0}));
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 1;
  settings.scheme = FlowScheme::Midpoint;
  settings.streamfunction.relative_tolerance = 1e-12;
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  const Real start = flow.start(*steady_vector([](Vector3 x) {
                           return Vector3{x.y - 0.5, 0.5 - x.x, 0};
                         }),
                                0)
                         .kinetic_energy;
  Real energy = start;
  for (int k = 0; k < 150; ++k) energy = flow.advance(0.02).kinetic_energy;
  EXPECT_LT(energy, 1e-20 * start);
}

TEST(ExactStep, finds_the_pressure_where_forces_end) {
  const Mesh mesh(make_box(CellType::Hexahedron, {3, 3, 3}));
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.01;
  settings.body_force = analytic_vector([](Vector3, Real t) { return Vector3{t < 0.05 ? 1. : 0., 0, 0}; });
  ExactFractionalStep flow(Executor::serial(), mesh, settings);
  flow.start(*uniform_vector({}), 0);
  EXPECT_NEAR(largest(flow.pressure().to_host()), 1. / 3, 1e-9);
  for (int k = 0; k < 4; ++k) {
    flow.advance(0.02);
    EXPECT_NEAR(largest(flow.pressure().to_host()), k < 2 ? 1. / 3 : 0, 1e-9);
  }
}

// Sums of multiples of the quantum are exact up to 2^53 of it only: it must grow with the flow.
TEST(ExactStep, has_no_divergence_while_a_flow_grows_by_twelve_orders_of_magnitude) {
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron}) {
    const Mesh mesh(make_box(type, {3, 3, is_planar(type) ? 0 : 3}));
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 1;
    settings.convection = ConvectionScheme::None;
    settings.streamfunction.relative_tolerance = 1e-6;
    boundary_of(settings, mesh, "left") =
        Inlet{analytic_vector([](Vector3 x, Real t) {
                return Vector3{1e-6 * std::pow(100, t) * (1 + 0.37 * x.y), 0, 0};
              }),
              {}};
    boundary_of(settings, mesh, "right") = Outlet{constant(0)};
    ExactFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({1e-6, 0, 0}), 0);
    for (int k = 1; k <= 6; ++k) {
      flow.advance(1);
      const std::vector<Real> flux = flow.flux().to_host();
      EXPECT_EQ(largest_outflow(mesh, flux), 0) << k;
      EXPECT_GE(largest(flux), 1e-8 * std::pow(100, k)) << k;
    }
  }
}

TEST(ExactStep, flows_through_tunnels_as_the_classical_step_does) {
  for (const BlockShape& shape : block_shapes()) {
    if (shape.expected.b1 == 0) continue;
    const Mesh mesh = blocks(CellType::Hexahedron, shape.count, shape.is_kept);
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 1;
    // A force that drives fluid round: not a gradient.
    settings.body_force = steady_vector([](Vector3 x) { return Vector3{-x.y + x.z, x.x - x.z, x.y - x.x}; });
    settings.scheme = FlowScheme::Euler;
    settings.streamfunction.relative_tolerance = 1e-10;
    ExactFractionalStep exact(Executor::serial(), mesh, settings);
    ClassicalFractionalStep classical(Executor::serial(), mesh, settings);
    exact.start(*uniform_vector({}), 0);
    classical.start(*uniform_vector({}), 0);
    EXPECT_LE(exact.loops(), shape.expected.b1) << shape.name;
    advance_until_steady(exact, 0.2);
    advance_until_steady(classical, 0.02);
    if (largest(classical.flux().to_host()) < 1e-9) continue;  // closed at an edge: nothing flows
    EXPECT_LE(distance(exact.flux().to_host(), classical.flux().to_host()), 1e-5) << shape.name;
  }
}

TEST(ExactStep, flows_through_tunnels_with_the_same_bits_on_every_backend) {
  for (const BlockShape& shape : block_shapes()) {
    if (shape.expected.b1 < 2) continue;
    const Mesh mesh = blocks(CellType::Hexahedron, shape.count, shape.is_kept);
    for (const Preconditioning preconditioning : {Preconditioning::Multigrid, Preconditioning::Jacobi}) {
      FlowSettings settings = settings_with(mesh, Wall{});
      settings.viscosity = 0.1;
      settings.body_force = steady_vector([](Vector3 x) {
        return Vector3{-x.y + x.z, x.x - x.z, x.y - x.x};
      });
      settings.streamfunction_preconditioning = preconditioning;
      const auto run = [&](const Executor& executor) {
        ExactFractionalStep flow(executor, mesh, settings);
        flow.start(*uniform_vector({}), 0);
        for (int k = 0; k < 3; ++k) flow.advance(0.05);
        return kept(flow.state());
      };
      const auto expected = run(Executor::serial());
      for (const Executor& executor : backends_beside_serial())
        EXPECT_TRUE(run(executor) == expected) << shape.name << " " << executor.name();
    }
  }
}

TEST(ExactStep, takes_as_many_iterations_round_a_hole_on_fine_meshes_as_on_coarse_ones) {
  for (const auto& [type, sizes] : {std::pair(CellType::Quadrilateral, std::array{12, 24, 48}),
                                    std::pair(CellType::Hexahedron, std::array{6, 9, 12})}) {
    for (const int n : sizes) {
      const bool plane = type == CellType::Quadrilateral;
      const Mesh mesh = blocks(type, {n, n, plane ? 1 : n / 3}, [n](int i, int j, int) {
        return 3 * i < n || 3 * i >= 2 * n || 3 * j < n || 3 * j >= 2 * n;
      });
      FlowSettings settings = settings_with(mesh, Wall{});
      settings.viscosity = 1e-3;
      settings.body_force = steady_vector([](Vector3 x) { return Vector3{-x.y, x.x, 0}; });
      settings.scheme = FlowScheme::Euler;
      ExactFractionalStep flow(Executor::serial(), mesh, settings);
      EXPECT_EQ(flow.loops(), 1);
      flow.start(*uniform_vector({}), 0);
      const FlowStepReport report = flow.advance(0.01);
      EXPECT_LE(report.solves.at("streamfunction").iterations, 11) << n;
    }
  }
}

TEST(ExactStep, splits_a_flow_between_two_outlets_as_the_classical_step_does) {
  const Mesh mesh(make_box(CellType::Triangle, {6, 6, 0}));
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.1;
  settings.scheme = FlowScheme::Euler;
  const auto upwards = steady_vector([](Vector3 x) { return Vector3{0, x.x * (1 - x.x), 0}; });
  boundary_of(settings, mesh, "bottom") = Inlet{upwards, {}};
  boundary_of(settings, mesh, "right") = Outlet{constant(0.02)};
  boundary_of(settings, mesh, "left") = Outlet{constant(0)};
  settings.streamfunction.relative_tolerance = 1e-10;
  ExactFractionalStep exact(Executor::serial(), mesh, settings);
  ClassicalFractionalStep classical(Executor::serial(), mesh, settings);
  EXPECT_EQ(exact.loops(), 1);
  exact.start(*uniform_vector({}), 0);
  classical.start(*uniform_vector({}), 0);
  advance_until_steady(exact, 0.05);
  advance_until_steady(classical, 0.05);
  EXPECT_LE(distance(exact.flux().to_host(), classical.flux().to_host()), 1e-6);
  const auto through = [&](const IncompressibleFlow& flow, const char* patch) {
    const std::vector<Real> flux = flow.flux().to_host();
    Real sum = 0;
    for (const Id<Face> f : faces_of_patch(mesh, patch)) sum += flux[at(f.value())];
    return sum;
  };
  EXPECT_NEAR(through(exact, "right") + through(exact, "left"), 1. / 6, 1e-12);
  EXPECT_NEAR(through(exact, "right"), through(classical, "right"), 1e-7);
}

TEST(ExactStep, resumes_and_runs_on_every_backend_to_the_same_bits) {
  const Mesh mesh(make_box(CellType::Tetrahedron, {2, 2, 2}));
  for (const auto& [name, scheme] : schemes()) {
    FlowSettings settings = driven(mesh, true);
    settings.scheme = scheme;
    settings.streamfunction.relative_tolerance = 1e-6;
    const auto run = [&](const Executor& executor) {
      ExactFractionalStep flow(executor, mesh, settings);
      flow.start(*uniform_vector({}), 0);
      for (int k = 0; k < 5; ++k) flow.advance(0.01 * (1 + 0.2 * k));
      return kept(flow.state());
    };
    const FlowState whole = run(Executor::serial());
    for (const Executor& executor : backends_beside_serial())
      EXPECT_TRUE(run(executor) == whole) << name << " " << executor.name();

    ExactFractionalStep first(Executor::serial(), mesh, settings);
    first.start(*uniform_vector({}), 0);
    for (int k = 0; k < 2; ++k) first.advance(0.01 * (1 + 0.2 * k));
    ExactFractionalStep second(Executor::serial(), mesh, settings);
    second.resume(first.state());
    for (int k = 2; k < 5; ++k) second.advance(0.01 * (1 + 0.2 * k));
    EXPECT_TRUE(second.state() == whole) << name;
  }
}

// Its fluxes stay multiples of what fitted the flow at its strongest.
TEST(ExactStep, that_fails_leaves_the_state_that_it_began_with) {
  const Mesh mesh(make_box(CellType::Triangle, {5, 5, 0}));
  for (const auto& [name, scheme] : schemes()) {
    for (const int steps : {0, 2}) {
      // An inlet that grows beyond what the quantum of fluxes allows for, and a force that ends.
      const Real end = 0.01 * steps + 0.002;
      FlowSettings settings = driven(mesh, true);
      settings.scheme = scheme;
      boundary_of(settings, mesh, "left") =
          Inlet{analytic_vector([end](Vector3 x, Real t) {
                  return Vector3{(t > end ? 1e3 : 1 + t) * x.y * (1 - x.y), 0, 0};
                }),
                {}};
      settings.body_force = analytic_vector([end](Vector3 x, Real t) {
        return Vector3{t > end ? std::nan("") : x.y, 0, 0};
      });
      ExactFractionalStep flow(Executor::serial(), mesh, settings);
      flow.start(*uniform_vector({}), 0);
      for (int k = 0; k < steps; ++k) flow.advance(0.01);
      FlowState before = kept(flow.state());
      EXPECT_THROW(flow.advance(0.01), DivergedError) << name;
      FlowState after = kept(flow.state());
      for (FlowState* state : {&before, &after}) {
        const auto is_guess = [](const auto& named) {
          return named.first.starts_with(guess_prefix) || named.first == "last_change";
        };
        std::erase_if(state->numbers, is_guess);
        std::erase_if(state->arrays, is_guess);
        std::erase_if(state->singles, is_guess);
      }
      EXPECT_EQ(before.numbers, after.numbers) << name << ", step " << steps + 1;
      EXPECT_TRUE(before == after) << name << ", step " << steps + 1;
    }
  }
}

TEST(ExactStep, of_a_flow_that_dies_resumes_to_the_same_bits) {
  const Mesh mesh(make_box(CellType::Triangle, {4, 4, 0}));
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 1;
  settings.scheme = FlowScheme::Euler;
  settings.streamfunction.relative_tolerance = 1e-6;
  ExactFractionalStep whole(Executor::serial(), mesh, settings);
  whole.start(*steady_vector([](Vector3 x) { return Vector3{x.y - 0.5, 0.5 - x.x, 0}; }), 0);
  const Real strongest = largest(whole.flux().to_host());
  for (int k = 0; k < 4; ++k) whole.advance(0.1);
  EXPECT_LE(largest(whole.flux().to_host()), strongest / 20);
  ExactFractionalStep resumed(Executor::serial(), mesh, settings);
  resumed.resume(whole.state());
  for (int k = 0; k < 2; ++k) {
    whole.advance(0.1);
    resumed.advance(0.1);
  }
  EXPECT_TRUE(resumed.state() == whole.state());
}

}  // namespace
}  // namespace curlew
