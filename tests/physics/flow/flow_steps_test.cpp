// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <numbers>

#include "kernels/error.hpp"
#include "mesh/box.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/time_schemes.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow/distorted_channel.hpp"
#include "tests/physics/flow/flow_setup.hpp"
#include "tests/physics/kept_state.hpp"

namespace curlew {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using std::numbers::pi;

/// A box with everything that changes in time: an inlet, an outlet's pressure, a lid, a force.
class DrivenBox : public testing::Test {
 protected:
  static RawMesh raw() {
    RawMesh mesh = make_box(CellType::Triangle, {4, 4, 0});
    distort(mesh, 0.05);
    return mesh;
  }
  const Mesh mesh_{raw()};

  FlowSettings settings(FlowScheme scheme) const {
    FlowSettings settings = settings_with(mesh_, Wall{});
    settings.scheme = scheme;
    settings.viscosity = 0.025;
    const auto ramp = [](Real t) { return t * t * t * (4 - 3 * t); };
    boundary_of(settings, mesh_, "top") =
        Wall{analytic_vector([=](Vector3 x, Real t) {
               return Vector3{2 * ramp(t) * 16 * x.x * x.x * (1 - x.x) * (1 - x.x), 0, 0};
             }),
             {}};
    boundary_of(settings, mesh_, "left") = Inlet{analytic_vector([=](Vector3 x, Real t) {
                                                   return Vector3{4 * ramp(t) * x.y * (1 - x.y), 0, 0};
                                                 }),
                                                 {}};
    boundary_of(settings, mesh_, "right") =
        Outlet{analytic([=](Vector3 x, Real t) { return ramp(t) * x.y; })};
    settings.body_force = analytic_vector([=](Vector3 x, Real t) {
      return Vector3{ramp(t) * std::sin(3 * x.y), 2 * std::sin(4 * t) * std::sin(4 * t) * x.x, 0};
    });
    return settings;
  }

  /// With two kinds of convection, and where implicit steps look for their pressure.
  std::vector<FlowSettings> variants(FlowScheme scheme) const {
    std::vector<FlowSettings> variants(2, settings(scheme));
    variants[1].convection = ConvectionScheme::LinearUpwind;
    if (stage_count(scheme) == 0) {
      variants.push_back(settings(scheme));
      variants.back().viscosity = 25;
    }
    return variants;
  }

  struct Result {
    std::vector<Real> flux, pressure;
  };
  /// At time 1, after steps whose lengths go as 1 + spread sin(k).
  Result run(const FlowSettings& settings, int steps, Real spread = 0) const {
    ClassicalFractionalStep flow(Executor::serial(), mesh_, settings);
    flow.start(*uniform_vector({}), 0);
    std::vector<Real> lengths;
    Real total = 0;
    for (int k = 0; k < steps; ++k) {
      lengths.push_back(1 + spread * std::sin(2.5 * k));
      total += lengths.back();
    }
    for (const Real length : lengths) flow.advance(length / total);
    return {flow.flux().to_host(), flow.pressure().to_host()};
  }
  static Real distance(const std::vector<Real>& a, const std::vector<Real>& b) {
    Real sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    return std::sqrt(sum);
  }
};

TEST_F(DrivenBox, every_scheme_converges_to_the_same_flow_at_its_order_in_time) {
  FlowSettings reference_settings = settings(FlowScheme::SspRk4);
  const Result reference = run(reference_settings, 400);
  struct Expected {
    FlowScheme scheme;
    Real flux, pressure;
  };
  const bool print = std::getenv("CURLEW_PRINT") != nullptr;
  for (const auto& [scheme, flux_order, pressure_order] :
       {Expected{FlowScheme::Sbdf2, 1.8, 1.7}, Expected{FlowScheme::CrankNicolsonAb2, 1.8, 1.7},
        Expected{FlowScheme::Euler, 0.8, 0.7}, Expected{FlowScheme::SspRk2, 1.8, 1.8},
        Expected{FlowScheme::SspRk3, 2.7, 1.8}}) {
    for (const Real spread : {0., 0.4}) {
      const Result coarse = run(settings(scheme), 40, spread), fine = run(settings(scheme), 80, spread);
      const Real flux = distance(coarse.flux, reference.flux), finer = distance(fine.flux, reference.flux);
      const Real pressure = distance(coarse.pressure, reference.pressure),
                 finer_pressure = distance(fine.pressure, reference.pressure);
      if (print)
        std::cout << static_cast<int>(scheme) << " spread " << spread << " flux " << flux << " order "
                  << std::log2(flux / finer) << " pressure " << pressure << " order "
                  << std::log2(pressure / finer_pressure) << "\n";
      EXPECT_GE(std::log2(flux / finer), flux_order) << static_cast<int>(scheme) << " spread " << spread;
      EXPECT_GE(std::log2(pressure / finer_pressure), pressure_order)
          << static_cast<int>(scheme) << " spread " << spread;
      EXPECT_LE(finer, 0.03 * largest(reference.flux)) << static_cast<int>(scheme);
    }
  }
}

TEST_F(DrivenBox, a_resumed_run_goes_on_to_the_same_bits) {
  for (const auto& [name, scheme] : classical_schemes()) {
    for (FlowSettings with : variants(scheme)) {
      with.momentum.relative_tolerance = with.pressure.relative_tolerance = 1e-7;
      ClassicalFractionalStep whole(Executor::serial(), mesh_, with);
      whole.start(*uniform_vector({}), 0);
      FlowState third;
      for (int k = 0; k < 7; ++k) {
        if (k == 3) third = kept(whole.state());
        whole.advance(0.01 * (1 + 0.3 * k));
      }
      ClassicalFractionalStep resumed(Executor::serial(), mesh_, with);
      resumed.resume(third);
      EXPECT_EQ(resumed.time(), third.time);
      EXPECT_EQ(resumed.steps(), 3);
      // What is asked for in between must not change anything.
      resumed.boundary_forces();
      for (int k = 3; k < 7; ++k) resumed.advance(0.01 * (1 + 0.3 * k));
      const FlowState a = whole.state(), b = resumed.state();
      EXPECT_EQ(a.time, b.time);
      EXPECT_EQ(a.numbers, b.numbers) << name;
      for (const auto& [what, values] : a.arrays)
        EXPECT_TRUE(values == b.arrays.at(what)) << name << ": " << what;
      EXPECT_TRUE(a.singles == b.singles) << name;
      EXPECT_TRUE(whole.pressure().to_host() == resumed.pressure().to_host()) << name;
      const auto budget = whole.energy_budget(), again = resumed.energy_budget();
      EXPECT_EQ(budget.residual(), again.residual()) << name;
    }
  }
}

/// Steps condense convection where there is no viscosity, and states hold what they have.
TEST_F(DrivenBox, a_run_resumes_without_viscosity_as_with_next_to_none) {
  FlowSettings some = settings(FlowScheme::Sbdf2);
  some.viscosity = 1e-10;
  ClassicalFractionalStep whole(Executor::serial(), mesh_, some);
  whole.start(*uniform_vector({}), 0);
  for (int k = 0; k < 10; ++k) whole.advance(0.05);
  const FlowState state = kept(whole.state());
  FlowSettings none = some;
  none.viscosity = 0;
  ClassicalFractionalStep resumed(Executor::serial(), mesh_, none);
  resumed.resume(state);
  whole.advance(0.05);
  resumed.advance(0.05);
  const std::vector<Real> flux = whole.flux().to_host(), others = resumed.flux().to_host();
  // 0.018 where what is not condensed is taken for condensed; the convection of the earliest step is
  // forgotten.
  EXPECT_LE(distance(flux, others), 2e-3 * largest(flux));
}

TEST_F(DrivenBox, guesses_from_earlier_steps_keep_to_what_is_free) {
  // Single precision gives the changes that guesses are made of a part along the normals. No solve would ever
  // take it back, and from step to step it grew until the flow blew up.
  for (const auto& [scheme, solve] :
       {std::pair(FlowScheme::Sbdf2, "momentum"), std::pair(FlowScheme::SspRk3, "convection")}) {
    ClassicalFractionalStep flow(Executor::serial(), mesh_, settings(scheme));
    flow.start(*uniform_vector({}), 0);
    for (int k = 0; k < 30; ++k) flow.advance(0.02);
    const FlowState state = flow.state();
    const std::vector<Real> guess = state.arrays.at(guess_prefix + "convection").values();
    const auto areas = mesh_.geometry().face_areas().host();
    Real largest_guess = 0, largest_normal = 0;
    for (std::size_t f = 0; f < areas.size(); ++f) {
      const Vector3 x{guess[3 * f], guess[3 * f + 1], guess[3 * f + 2]};
      largest_guess = std::max(largest_guess, norm(x));
      largest_normal = std::max(largest_normal, std::abs(dot(x, areas[f])) / norm(areas[f]));
    }
    EXPECT_GT(largest_guess, 0) << solve;
    EXPECT_LE(largest_normal, 1e-12 * largest_guess) << solve;
    EXPECT_EQ(state.singles.count(guess_prefix + solve + "_change.3.change"), 1u);
  }
}

TEST_F(DrivenBox, a_run_asked_for_its_forces_goes_on_as_one_that_was_not) {
  for (const auto& [name, scheme] : classical_schemes()) {
    ClassicalFractionalStep watched(Executor::serial(), mesh_, settings(scheme)),
        alone(Executor::serial(), mesh_, settings(scheme));
    for (ClassicalFractionalStep* flow : {&watched, &alone}) {
      flow->start(*uniform_vector({}), 0);
      for (int k = 0; k < 4; ++k) {
        flow->advance(0.02);
        if (flow != &watched) continue;
        flow->boundary_forces();
        flow->energy_budget();
        flow->state();
      }
    }
    EXPECT_TRUE(watched.flux().to_host() == alone.flux().to_host()) << name;
    EXPECT_TRUE(watched.pressure().to_host() == alone.pressure().to_host()) << name;
  }
}

TEST_F(DrivenBox, resuming_on_another_mesh_or_from_half_a_state_is_an_error) {
  ClassicalFractionalStep flow(Executor::serial(), mesh_, settings(FlowScheme::Sbdf2));
  flow.start(*uniform_vector({}), 0);
  FlowState other = flow.state();
  std::vector<Real> too_few = other.arrays["previous_flux"].values();
  too_few.pop_back();
  other.arrays["previous_flux"] = too_few;
  EXPECT_THROW(flow.resume(other), InputError);
  other = flow.state();
  other.arrays.erase("rate");
  EXPECT_THROW(flow.resume(other), InputError);
  other = flow.state();
  other.numbers.erase("last_step");
  EXPECT_THROW(flow.resume(other), InputError);
}

TEST_F(DrivenBox, takes_the_same_bits_in_the_memory_of_a_device) {
  for (const auto& [name, scheme] : classical_schemes()) {
    for (FlowSettings with : variants(scheme)) {
      with.momentum.relative_tolerance = with.pressure.relative_tolerance = 1e-4;
      const auto result = [&](const Executor& executor) {
        ClassicalFractionalStep flow(executor, mesh_, with);
        flow.start(*uniform_vector({}), 0);
        for (int k = 0; k < 4; ++k) flow.advance(0.05);
        return kept(flow.state());
      };
      const FlowState expected = result(Executor::serial()), state = result(Executor::debug_device());
      EXPECT_TRUE(state == expected) << name;
    }
  }
}

// A symmetry plane carries what a pressure puts on it, of which rounding leaves something along its normal.
TEST(FlowStep, a_fluid_rests_on_a_symmetry_plane_however_it_is_divided) {
  for (const CellType type : {CellType::Triangle, CellType::Quadrilateral, CellType::Hexahedron}) {
    for (const Index n : {3, 5, 6}) {
      const Mesh mesh(make_box(type, {n, n, is_planar(type) ? 0 : n}));
      FlowSettings settings = settings_with(mesh, Wall{});
      settings.viscosity = 0.01;
      settings.body_force = uniform_vector({0, -10, 0});
      boundary_of(settings, mesh, "bottom") = Symmetry{};
      ClassicalFractionalStep under_weight(Executor::serial(), mesh, settings);
      under_weight.start(*uniform_vector({}), 0);
      for (int k = 0; k < 3; ++k) under_weight.advance(0.01);
      EXPECT_LE(largest(under_weight.flux().to_host()), 1e-12);

      settings.body_force = nullptr;
      boundary_of(settings, mesh, "right") = Outlet{constant(5)};
      boundary_of(settings, mesh, "top") = Symmetry{};
      ClassicalFractionalStep under_pressure(Executor::serial(), mesh, settings);
      under_pressure.start(*uniform_vector({}), 0);
      for (int k = 0; k < 3; ++k) under_pressure.advance(0.01);
      EXPECT_LE(largest(under_pressure.flux().to_host()), 1e-12);
    }
  }
}

// What is given may change by as much in a moment of the first step as it does in all of it.
TEST(FlowStep, an_inlet_that_opens_at_the_start_is_one_that_opens_later) {
  const Mesh mesh(make_box(CellType::Triangle, {6, 6, 0}));
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.01;
  boundary_of(settings, mesh, "right") = Outlet{};
  for (const auto& [name, scheme] : classical_schemes()) {
    settings.scheme = scheme;
    const auto energy_after_opening = [&](Real opening, Real duration) {
      boundary_of(settings, mesh, "left") =
          Inlet{analytic_vector([=](Vector3 x, Real t) {
                  return Vector3{std::clamp<Real>((t - opening) / duration, 0, 1) * (1 + x.y), 0, 0};
                }),
                {}};
      ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
      flow.start(*uniform_vector({}), 0);
      Real energy = 0;
      for (int k = 0; k < 40; ++k) energy = flow.advance(0.005).kinetic_energy;
      return energy;
    };
    const Real slowly = energy_after_opening(0, 0.005);
    for (const Real duration : {1e-3, 1e-5, 1e-9})
      EXPECT_NEAR(energy_after_opening(0, duration), slowly, 1e-3 * slowly) << name << ' ' << duration;
  }
}

// Where viscosity does next to nothing within a step, tangential velocities of momentum's system are large.
TEST(FlowStep, finds_fluxes_to_the_tolerance_however_small_viscosity_is) {
  RawMesh raw = make_box(CellType::Triangle, {8, 8, 0});
  distort(raw, 0.03);
  const Mesh mesh(raw);
  FlowSettings settings = settings_with(mesh, Symmetry{});
  settings.pressure.relative_tolerance = 1e-12;
  for (const Real viscosity : {1e-5, 1e-7, 1e-9, 1e-12, 1e-16}) {
    settings.viscosity = viscosity;
    std::vector<Real> flux[2];
    for (const bool tight : {false, true}) {
      settings.momentum.relative_tolerance = tight ? 1e-12 : 1e-8;
      ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
      flow.start(*steady_vector([](Vector3 x) {
        return Vector3{std::sin(3 * x.x) * std::cos(3 * x.y) + 0.5 * std::cos(7 * x.y),
                       -std::cos(3 * x.x) * std::sin(3 * x.y), 0};
      }),
                 0);
      for (int k = 0; k < 3; ++k) flow.advance(0.01);
      flux[tight ? 1 : 0] = flow.flux().to_host();
    }
    EXPECT_LE(largest(difference(flux[0], flux[1])), 1e-7 * largest(flux[1])) << viscosity;
  }
}

/// Normal parts of tangential velocities beside it are rounding, and all that a solve has before it.
TEST(FlowStep, without_viscosity_a_wall_that_moves_along_itself_drives_nothing) {
  const Mesh mesh(distorted_triangles(8));
  FlowSettings settings = settings_with(mesh, Wall{});
  boundary_of(settings, mesh, "top") = Wall{uniform_vector({1, 0, 0}), {}};
  settings.viscosity = 0;
  for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::CrankNicolsonAb2, FlowScheme::Euler}) {
    settings.scheme = scheme;
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({}), 0);
    for (int k = 0; k < 5; ++k) flow.advance(0.01);
    for (const Real flux : flow.flux().to_host()) EXPECT_NEAR(flux, 0, 1e-15);
  }
}

TEST(FlowStep, takes_the_same_bits_on_every_backend) {
  RawMesh raw = make_box(CellType::Triangle, {47, 47, 0});
  distort(raw, 0.005);
  const Mesh mesh(raw);  // large enough that threads share the work
  ASSERT_GT(mesh.topology().cells().size(), OpenMP::smallest_parallel_range);
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.01;
  settings.momentum.relative_tolerance = settings.pressure.relative_tolerance = 1e-2;
  settings.convection = ConvectionScheme::LinearUpwind;
  settings.body_force = steady_vector([](Vector3 x) { return Vector3{-x.y, x.x, 0}; });
  boundary_of(settings, mesh, "top") = Wall{uniform_vector({1, 0, 0}), {}};
  boundary_of(settings, mesh, "right") = Outlet{};
  boundary_of(settings, mesh, "left") = Symmetry{};
  for (const FlowScheme scheme : {FlowScheme::Sbdf2, FlowScheme::SspRk2}) {
    settings.scheme = scheme;
    const auto result = [&](const Executor& executor) {
      ClassicalFractionalStep flow(executor, mesh, settings);
      flow.start(*uniform_vector({}), 0);
      flow.advance(0.005);
      return kept(flow.state());
    };
    const FlowState expected = result(Executor::serial());
    for (const Executor& executor : backends_beside_serial()) {
      EXPECT_TRUE(result(executor) == expected) << executor.name();
    }
  }
}

TEST_F(DrivenBox, a_step_ends_at_the_time_that_it_is_told) {
  ClassicalFractionalStep flow(Executor::serial(), mesh_, settings(FlowScheme::Sbdf2));
  flow.start(*uniform_vector({}), 0);
  const Real end = std::nextafter(0.03, 1);
  flow.advance(0.03, end);
  EXPECT_EQ(flow.time(), end);
  EXPECT_THROW(flow.advance(0.03, end), Error);
  EXPECT_EQ(flow.steps(), 1);
}

TEST(FlowStep, boundaries_do_in_it_what_they_do_until_its_end) {
  const Mesh mesh(make_box(CellType::Triangle, {4, 4, 0}));
  const Real start = 0.6000000000000001, end = 0.7;  // where start + 0.1 is later
  ASSERT_GT(start + 0.1, end);
  for (const auto& [name, scheme] : classical_schemes()) {
    SCOPED_TRACE(name);
    Real latest = 0;
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.scheme = scheme;
    settings.viscosity = 0.01;
    boundary_of(settings, mesh, "top") = Wall{analytic_vector([&](Vector3, Real t) {
                                                latest = std::max(latest, t);
                                                return Vector3{t, 0, 0};
                                              }),
                                              {}};
    ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
    flow.start(*uniform_vector({}), 0.5);
    flow.advance(0.1, start);
    latest = 0;
    flow.advance(0.1, end);
    EXPECT_EQ(latest - end, 0);
  }
}

TEST_F(DrivenBox, a_step_that_fails_names_the_place_and_leaves_the_last_good_state) {
  for (const auto& [name, scheme] : classical_schemes()) {
    FlowSettings with = settings(scheme);
    const VectorFunctionPointer smooth = with.body_force;
    // From t = 0.08 on a force that is not a number in one corner.
    with.body_force = analytic_vector([](Vector3 x, Real t) {
      return t > 0.08 && x.x > 0.8 && x.y > 0.8 ? Vector3{std::nan(""), 0, 0} : Vector3{x.y, 0, 0};
    });
    ClassicalFractionalStep flow(Executor::serial(), mesh_, with);
    flow.start(*uniform_vector({}), 0);
    flow.advance(0.03);
    flow.advance(0.03);
    const FlowState before = kept(flow.state());
    const std::vector<Real> pressure = flow.pressure().to_host();
    try {
      flow.advance(0.06);
      ADD_FAILURE() << name << " went on with a force that is not a number";
    } catch (const DivergedError& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr("step 3"), HasSubstr("t = 0.12"), HasSubstr("in cell "),
                                      HasSubstr("near (")))
          << name;
    }
    EXPECT_EQ(flow.time(), 0.06);
    EXPECT_EQ(flow.steps(), 2);
    const FlowState after = flow.state();
    for (const auto& [what, value] : before.numbers) {
      if (what.starts_with(guess_prefix)) continue;
      EXPECT_EQ(after.numbers.at(what), value) << name << ": " << what;
    }
    for (const auto& [what, values] : before.arrays) {
      if (what.starts_with(guess_prefix)) continue;
      EXPECT_TRUE(values == after.arrays.at(what)) << name << ": " << what;
    }
    EXPECT_TRUE(pressure == flow.pressure().to_host()) << name;
  }
}

/// The values that forces, budgets and outlets tell of, one after the other.
std::vector<Real> reports_of(const IncompressibleFlow& flow) {
  const auto budget = flow.energy_budget();
  std::vector<Real> values{budget.kinetic_energy, budget.rate,       budget.dissipation,
                           budget.boundary_power, budget.body_power, flow.mean_flow_force(),
                           flow.courant_rate()};
  const auto forces = flow.boundary_forces();
  for (const auto* part : {&forces.pressure, &forces.viscous}) {
    for (const Vector3 force : *part) values.insert(values.end(), {force.x, force.y, force.z});
  }
  return values;
}

TEST(FlowStep, that_fails_changes_nothing_that_is_told) {
  // A mean flow that is held between a wall that moves faster and faster and an outlet of changing pressure.
  const PeriodicBox box{"", CellType::Quadrilateral, {6, 5, 1}, 1, false};
  const PeriodicMesh joined = make_periodic(Mesh(box.raw()), box.pairs());
  const Mesh& mesh = joined.mesh;
  FlowSettings settings = settings_with(mesh, Wall{});
  settings.viscosity = 0.05;
  settings.mean_flow = MeanFlow{{1, 0, 0}, 1};
  enum class Cause { Flow, Force, Wall };
  for (const auto& [name, scheme] : classical_schemes()) {
    settings.scheme = scheme;
    for (const Cause cause : {Cause::Flow, Cause::Force, Cause::Wall}) {
      for (const int steps : {0, 2}) {
        const std::string what_fails =
            fmt::format("{}, cause {}, step {}", name, static_cast<int>(cause), steps + 1);
        const Real end = 0.01 * steps + 0.004;
        settings.body_force = analytic_vector([=](Vector3 x, Real t) -> Vector3 {
          if (t > end && cause == Cause::Force) throw InputError("no value");
          return {t > end && cause == Cause::Flow ? std::nan("") : x.y * std::sin(90 * t), 0, 0};
        });
        boundary_of(settings, mesh, "top") = Wall{analytic_vector([=](Vector3, Real t) {
                                                    if (t > end && cause == Cause::Wall)
                                                      throw InputError("no value");
                                                    return Vector3{1 + 100 * t * t, 0, 0};
                                                  }),
                                                  {}};
        boundary_of(settings, mesh, "bottom") =
            Outlet{analytic([](Vector3 x, Real t) { return std::cos(90 * t) * x.x; })};
        ClassicalFractionalStep flow(Executor::serial(), mesh, settings);
        flow.start(*uniform_vector({1, 0, 0}), 0);
        for (int k = 0; k < steps; ++k) flow.advance(0.01);
        const std::vector<Real> told = reports_of(flow);
        FlowState before = kept(flow.state());
        if (cause == Cause::Flow) {
          EXPECT_THROW(flow.advance(0.01), DivergedError) << what_fails;
        } else {
          EXPECT_THROW(flow.advance(0.01), InputError) << what_fails;
        }
        const std::vector<Real> told_after = reports_of(flow);
        // Reports that solve for something start from no guess where the flow had failed.
        const bool exactly = cause != Cause::Flow;
        EXPECT_LE(largest(difference(told_after, told)), exactly ? 0 : 1e-8 * largest(told)) << what_fails;
        FlowState after = kept(flow.state());
        for (FlowState* state : {&before, &after}) {
          const auto is_guess = [](const auto& named) { return named.first.starts_with(guess_prefix); };
          std::erase_if(state->numbers, is_guess);
          std::erase_if(state->arrays, is_guess);
          std::erase_if(state->singles, is_guess);
        }
        EXPECT_TRUE(before == after) << what_fails;
      }
    }
  }
}

TEST_F(DrivenBox, an_explicit_step_far_too_long_ends_in_an_error_soon) {
  FlowSettings with = settings(FlowScheme::SspRk3);
  with.viscosity = 5;
  ClassicalFractionalStep flow(Executor::serial(), mesh_, with);
  flow.start(*steady_vector([](Vector3 x) { return Vector3{x.y * (1 - x.y), 0, 0}; }), 0.5);
  EXPECT_THAT(
      [&] {
        for (int k = 0; k < 200; ++k) flow.advance(0.5);
      },
      testing::ThrowsMessage<DivergedError>(
          AllOf(HasSubstr("the flow has blown up"), HasSubstr("try a smaller time step"))));
  for (const Vector3 v : flow.face_velocity().to_host()) EXPECT_TRUE(std::isfinite(norm(v)));
  for (const Real p : flow.pressure().to_host()) EXPECT_TRUE(std::isfinite(p));
}

}  // namespace
}  // namespace curlew
