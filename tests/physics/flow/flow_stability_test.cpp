// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// How long steps may be.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "mesh/box.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "physics/flow/time_schemes.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow/flow_setup.hpp"
#include "tests/physics/flow/total_force.hpp"

namespace curlew {
namespace {

using std::numbers::pi;

// A vortex that the equation of Euler keeps, and waves about as short as the mesh resolves.
TEST(FlowStability, what_nothing_damps_does_not_grow_by_sbdf2) {
  const VectorFunctionPointer velocity = steady_vector([](Vector3 x) {
    const Real wave = 0.02 * std::sin(23 * x.x + 17 * x.y);
    return Vector3{std::sin(pi * x.x) * std::cos(pi * x.y) + wave,
                   -std::cos(pi * x.x) * std::sin(pi * x.y) + wave, 0};
  });
  for (const CellType type : {CellType::Quadrilateral, CellType::Triangle}) {
    const Mesh mesh(make_box(type, {12, 12, 0}));
    FlowSettings settings = settings_with(mesh, Symmetry{});
    settings.viscosity = 0;
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    const Real start = flow.start(*velocity, 0).kinetic_energy;
    for (int k = 0; k < 300; ++k) {
      const Real energy = flow.advance(0.45 / flow.courant_rate()).kinetic_energy;
      ASSERT_LE(energy, 1.00001 * start) << k;
      ASSERT_GE(energy, 0.99 * start) << k;
    }
  }
}

class Convection : public testing::TestWithParam<ShelfMesh> {};

TEST_P(Convection, is_as_fast_as_the_courant_number_says_or_as_viscosity_lets_it_be) {
  const Mesh mesh(GetParam().raw);
  const auto shear = steady_vector([](Vector3 x) { return Vector3{1 + x.y, 0, 0}; });
  FlowSettings settings = settings_with(mesh, Inlet{shear, {}});
  const auto rates = [&](Real viscosity, FlowScheme scheme) {
    settings.viscosity = viscosity;
    settings.scheme = scheme;
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*shear, 0);
    const std::vector<Vector3> velocity = flow.face_velocity().to_host();
    const std::vector<Real> flux = flow.flux().to_host();
    Real expected = 0;
    for (const Id<Cell> c : mesh.topology().cells()) {
      Real through = 0, squares = 0;
      Index faces = 0;
      for (const auto [f, sign] : mesh.topology().faces_of_cell()[c]) {
        through += std::abs(flux[at(f.value())]);
        squares += dot(velocity[at(f.value())], velocity[at(f.value())]);
        ++faces;
      }
      const Real courant = through / (2 * mesh.geometry().cell_volumes().host()[at(c.value())]);
      expected = std::max(expected, std::min(courant, squares / (static_cast<Real>(faces) * viscosity)));
    }
    return std::array{flow.convection_rate(), expected, flow.courant_rate()};
  };
  for (const Real viscosity : {1e-6, 0.1, 1e3}) {
    const auto [rate, expected, courant] = rates(viscosity, FlowScheme::Sbdf2);
    EXPECT_NEAR(rate, expected, 1e-12 * expected) << viscosity;
  }
  const auto [rate, expected, courant] = rates(1e3, FlowScheme::SspRk3);
  EXPECT_EQ(rate, courant);
  EXPECT_LT(expected, courant);
}

INSTANTIATE_TEST_SUITE_P(Shelf, Convection, testing::ValuesIn(shelf()),
                         [](const auto& shelf) { return shelf.param.name; });

/// Without what viscosity adds to the pressure fluxes are off by 0.04 to 1.7 after as many steps.
TEST(FlowStability, a_creeping_flow_comes_to_the_steady_one_however_far_viscosity_reaches) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Triangle, CellType::Hexahedron}) {
    const bool plane = type != CellType::Hexahedron;
    const Mesh mesh(make_box(type, plane ? std::array{12, 12, 0} : std::array{6, 6, 6}));
    FlowSettings settings = settings_with(mesh, Wall{});
    // The last has Courant numbers that no flow stands whose convection viscosity does not hold back.
    for (const auto& [viscosity, speed] : {std::pair(1., 1.), {1e5, 1.}, {1e7, 1e3}}) {
      boundary_of(settings, mesh, "top") =
          Wall{steady_vector([speed = speed](Vector3 x) {
                 return Vector3{16 * speed * x.x * x.x * (1 - x.x) * (1 - x.x), 0, 0};
               }),
               {}};
      settings.viscosity = viscosity;
      const auto run = [](IncompressibleFlow& flow, int steps) {
        flow.start(*uniform_vector({}), 0);
        for (int k = 0; k < steps; ++k) flow.advance(1);
        return flow.flux().to_host();
      };
      ExactFractionalStep exact(Executor::serial(), mesh, settings);
      ClassicalFractionalStep classical(Executor::serial(), mesh, settings);
      const std::vector<Real> steady = run(exact, 10), flux = run(classical, 40);
      Real size = 0, error = 0;
      for (std::size_t f = 0; f < flux.size(); ++f) {
        size = std::max(size, std::abs(steady[f]));
        error = std::max(error, std::abs(flux[f] - steady[f]));
      }
      EXPECT_LE(error, 0.05 * size) << viscosity;
      if (speed > 1) {
        EXPECT_GT(classical.courant_rate(), 1000);
      }
    }
  }
}

/// What viscosity and inertia say of the pressure apart is off by thousands of times what walls that start at
/// once need, and by more than it in gaps, whose pressure would settle at 1/8 H² / (nu dt) a step.
TEST(FlowStability,
     walls_that_start_at_once_have_the_forces_and_energies_of_the_exact_method_from_the_first_step) {
  struct Example {
    CellType type;
    std::array<Index, 3> blocks;
    Vector3 extent;
    Real reach;  // nu dt over the square of a block's height
  };
  for (const auto& [type, blocks, extent, reach] :
       {Example{CellType::Quadrilateral, {8, 8, 0}, {4, 1, 0}, 1000},
        {CellType::Quadrilateral, {8, 8, 0}, {40, 1, 0}, 1e4},
        {CellType::Quadrilateral, {80, 8, 0}, {20, 1, 0}, 640},  // a gap
        {CellType::Triangle, {8, 8, 0}, {15, 1, 0}, 1000},
        {CellType::Hexahedron, {6, 6, 4}, {20, 1, 10}, 100},
        {CellType::Prism, {6, 6, 4}, {20, 1, 10}, 100},
        {CellType::Pyramid, {4, 4, 2}, {4, 1, 4}, 100}}) {
    const Mesh mesh(make_box(type, blocks, extent));
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 1;
    settings.convection = ConvectionScheme::None;
    boundary_of(settings, mesh, "top") = Wall{uniform_vector({1, 0, 0}), {}};
    const Real step = reach / std::pow(static_cast<Real>(blocks[1]), 2);
    for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::CrankNicolsonAb2, FlowScheme::Euler}) {
      settings.scheme = scheme;
      ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
      ExactFractionalStep exact(Executor::serial(), mesh, settings);
      flow.start(*uniform_vector({}), 0);
      exact.start(*uniform_vector({}), 0);
      for (int k = 1; k <= 3; ++k) {
        const Real energy = flow.advance(step).kinetic_energy, expected = exact.advance(step).kinetic_energy;
        EXPECT_NEAR(energy, expected, 0.01 * expected) << extent.x << ' ' << k;
        for (const char* patch : {"top", "bottom"}) {
          const Real drag = total_on(flow, faces_of_patch(mesh, patch)).force.x,
                     its = total_on(exact, faces_of_patch(mesh, patch)).force.x;
          EXPECT_NEAR(drag, its, 0.02 * std::abs(total_on(exact, faces_of_patch(mesh, "top")).force.x))
              << static_cast<int>(type) << ' ' << extent.x << ' ' << patch << ' ' << k;
        }
      }
    }
  }
}

/// Where steps do not look for their pressure friction is off by 54, 1 and 7 % of its largest value here.
TEST(FlowStability, inlets_that_pulse_have_the_friction_of_the_exact_method) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Triangle, CellType::Prism}) {
    const bool plane = is_planar(type);
    const Mesh mesh(plane ? make_box(type, {6, 16, 0}, {15, 1, 0}) : make_box(type, {6, 2, 8}, {8, 1, 1}));
    FlowSettings settings = settings_with(mesh, Symmetry{});
    settings.viscosity = 1;
    settings.convection = ConvectionScheme::None;
    const std::array walls = plane ? std::array{"bottom", "top"} : std::array{"back", "front"};
    for (const char* patch : walls) boundary_of(settings, mesh, patch) = Wall{};
    boundary_of(settings, mesh, "left") =
        Inlet{analytic_vector([plane](Vector3 x, Real t) {
                const Real y = plane ? x.y : x.z;
                return Vector3{6 * y * (1 - y) * (1 + 0.8 * std::sin(2 * pi * t / 8)), 0, 0};
              }),
              {}};
    boundary_of(settings, mesh, "right") = Outlet{};
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    ExactFractionalStep exact(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({}), 0);
    exact.start(*uniform_vector({}), 0);
    Real error = 0, size = 0;
    for (int k = 1; k <= 50; ++k) {
      flow.advance(0.2);
      exact.advance(0.2);
      if (k <= 3) continue;  // an inlet that starts at once
      for (const char* patch : walls) {
        const Real friction = total_on(flow, faces_of_patch(mesh, patch)).force.x,
                   its = total_on(exact, faces_of_patch(mesh, patch)).force.x;
        error = std::max(error, std::abs(friction - its));
        size = std::max(size, std::abs(its));
      }
    }
    EXPECT_LE(error, 0.005 * size) << static_cast<int>(type);
  }
}

/// A twentieth of the pressure of the reversal is more than all that goes before: were it left, friction
/// would be off by 0.8 and 0.5 % here, and by a multiple of itself on walls further away.
TEST(FlowStability, a_lid_that_reverses_at_once_has_the_friction_of_the_exact_method) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Triangle}) {
    const Mesh mesh(make_box(type, {8, 8, 0}, {4, 1, 0}));
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 1;
    settings.convection = ConvectionScheme::None;
    const Real step = 16, reversal = 5.5 * step;
    boundary_of(settings, mesh, "top") = Wall{analytic_vector([reversal](Vector3, Real t) {
                                                return Vector3{t < reversal ? 1. : -1., 0, 0};
                                              }),
                                              {}};
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    ExactFractionalStep exact(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({}), 0);
    exact.start(*uniform_vector({}), 0);
    for (int k = 1; k <= 10; ++k) {
      flow.advance(step);
      exact.advance(step);
      const auto friction = [&mesh](const IncompressibleFlow& of, const char* patch) {
        return total_on(of, faces_of_patch(mesh, patch)).force.x;
      };
      for (const char* patch : {"top", "bottom"})
        EXPECT_NEAR(friction(flow, patch), friction(exact, patch), 0.001 * std::abs(friction(exact, "top")))
            << static_cast<int>(type) << ' ' << patch << ' ' << k;
    }
  }
}

// Creeping cavities whose cells are so many times as long as high, from rest.
TEST(FlowStability, flat_cells_do_not_turn_the_pressure_against_the_velocity) {
  struct Example {
    CellType type;
    Real aspect, reach;  // nu dt over the square of the height
  };
  for (const auto& [type, aspect, reach] : {Example{CellType::Quadrilateral, 8, 3},
                                            {CellType::Quadrilateral, 30, 10},
                                            {CellType::Quadrilateral, 100, 100},
                                            {CellType::Hexahedron, 15, 10},
                                            {CellType::Prism, 15, 10},
                                            {CellType::Triangle, 30, 10},
                                            {CellType::Tetrahedron, 15, 10},
                                            {CellType::Pyramid, 15, 10}}) {
    const Mesh mesh(make_box(type, {8, 8, 2}, {aspect, 1, aspect * 2 / 8}));
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 1;
    settings.convection = ConvectionScheme::None;
    boundary_of(settings, mesh, "top") = Wall{uniform_vector({1, 0, 0}), {}};
    const Real step = reach / (8 * 8);
    const auto energy = [&](FlowScheme scheme, int steps) {
      settings.scheme = scheme;
      ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
      FlowStepReport report = flow.start(*uniform_vector({}), 0);
      for (int k = 0; k < steps; ++k) report = flow.advance(step);
      return report.kinetic_energy;
    };
    const Real expected = energy(FlowScheme::Euler, 100);  // which guesses no pressure
    for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::CrankNicolsonAb2})
      EXPECT_NEAR(energy(scheme, 100), expected, 0.01 * expected) << aspect << ' ' << reach;
  }
}

TEST(FlowStability, explicit_viscosity_stands_the_longest_step_and_no_much_longer_one) {
  const auto check = [](IncompressibleFlow& flow) {
    const std::vector<Real> waves = arbitrary(flow.mesh().topology().faces().size());
    for (const Real share : {1., 1.25}) {
      const Real start = flow.start(waves, 0).kinetic_energy;
      ASSERT_TRUE(std::isfinite(flow.longest_viscous_step()));
      Real energy = start;
      for (int k = 0; k < 30; ++k) energy = flow.advance(share * flow.longest_viscous_step()).kinetic_energy;
      if (share == 1) {
        EXPECT_LT(energy, start);
      } else {
        EXPECT_GT(energy, start);
      }
    }
  };
  for (const CellType type :
       {CellType::Quadrilateral, CellType::Triangle, CellType::Hexahedron, CellType::Tetrahedron}) {
    const bool plane = type == CellType::Quadrilateral || type == CellType::Triangle;
    const Mesh mesh(make_box(type, plane ? std::array{7, 6, 0} : std::array{4, 3, 3}));
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.convection = ConvectionScheme::None;
    settings.viscosity = 0.3;
    settings.momentum.relative_tolerance = settings.pressure.relative_tolerance = 1e-8;
    for (const FlowScheme scheme : {FlowScheme::SspRk2, FlowScheme::SspRk3, FlowScheme::SspRk4}) {
      SCOPED_TRACE(testing::Message()
                   << "cells of type " << static_cast<int>(type) << ", " << stage_count(scheme) << " stages");
      settings.scheme = scheme;
      ClassicalFractionalStep classical(Executor::serial(), mesh, settings);
      check(classical);
      ExactFractionalStep exact(Executor::serial(), mesh, settings);
      check(exact);
    }
    settings.scheme = FlowScheme::Sbdf2;
    ClassicalFractionalStep implicit(Executor::serial(), mesh, settings);
    implicit.start(*uniform_vector({}), 0);
    EXPECT_EQ(implicit.longest_viscous_step(), std::numeric_limits<Real>::infinity());
  }
}

/// Of 1 + z + ... + z^k/k! the real axis leaves at 2 and 2.5127 (k = 2, 3).
TEST(FlowStability, regions_of_runge_kutta_schemes_end_where_they_are_known_to) {
  EXPECT_NEAR(longest_stable_decay(FlowScheme::SspRk2), 2, 1e-5);
  EXPECT_NEAR(longest_stable_decay(FlowScheme::SspRk3), 2.5127, 1e-4);
}

}  // namespace
}  // namespace curlew
