// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// Restarts under other conditions than those of the run before.
#include <gmock/gmock.h>

#include "mesh/box.hpp"
#include "physics/flow/classical_fractional_step.hpp"
#include "physics/flow/exact_fractional_step.hpp"
#include "tests/physics/flow/flow_setup.hpp"
#include "tests/physics/flow/total_force.hpp"

namespace curlew {
namespace {

template <class Step>
class ChangedRestart : public testing::Test {
 protected:
  FlowSettings settings() const {
    FlowSettings settings = settings_with(mesh, Wall{});
    settings.viscosity = 0.05;
    settings.streamfunction = settings.momentum;
    boundary_of(settings, mesh, "left") = Inlet{steady_vector([](Vector3 x) {
                                                  return Vector3{4 * x.y * (1 - x.y), 0, 0};
                                                }),
                                                nullptr};
    boundary_of(settings, mesh, "right") = Outlet{};
    return settings;
  }
  /// Becomes steady within a time of 8.
  static void run(Step& flow, int steps) {
    for (int k = 0; k < steps; ++k) flow.advance(0.05);
  }
  /// Expects a run by `before` that goes on by `after` to come to the flow that is reached by `after` alone.
  void expect_same_end(const FlowSettings& before, const FlowSettings& after, Real tolerance) const {
    Step earlier(Executor::serial(), mesh, before), resumed(Executor::serial(), mesh, after),
        fresh(Executor::serial(), mesh, after);
    earlier.start(*uniform_vector({}), 0);
    fresh.start(*uniform_vector({}), 0);
    run(earlier, 20);
    resumed.resume(earlier.state());
    run(resumed, 160);
    run(fresh, 180);
    const std::vector<Real> flux = resumed.flux().to_host(), expected = fresh.flux().to_host(),
                            pressure = resumed.pressure().to_host(),
                            expected_pressure = fresh.pressure().to_host();
    for (std::size_t f = 0; f < flux.size(); ++f) ASSERT_NEAR(flux[f], expected[f], tolerance) << f;
    for (std::size_t c = 0; c < pressure.size(); ++c)
      ASSERT_NEAR(pressure[c], expected_pressure[c], 100 * tolerance) << c;
    for (std::size_t p = 0; p < after.boundaries.size(); ++p) {
      if (!std::holds_alternative<Wall>(after.boundaries[p])) continue;
      const Range<Face> faces = mesh.topology().patches()[p].faces;
      EXPECT_LE(norm(total_on(resumed, faces).force - total_on(fresh, faces).force), 100 * tolerance) << p;
    }
  }

  const Mesh mesh{make_box(CellType::Quadrilateral, {8, 8, 0})};
};
using Steps = testing::Types<ClassicalFractionalStep, ExactFractionalStep>;
TYPED_TEST_SUITE(ChangedRestart, Steps);

TYPED_TEST(ChangedRestart, with_an_outlet_that_is_closed_lets_nothing_through_it) {
  for (const FlowBoundary& closed : {FlowBoundary(Wall{}), FlowBoundary(Symmetry{}),
                                     FlowBoundary(Inlet{uniform_vector({0, -0.3, 0}), nullptr})}) {
    FlowSettings before = this->settings(), after = before;
    boundary_of(before, this->mesh, "top") = Outlet{};
    boundary_of(after, this->mesh, "top") = closed;
    this->expect_same_end(before, after, 1e-6);
  }
}

TYPED_TEST(ChangedRestart, with_a_wall_where_fluid_slipped_has_its_friction) {
  FlowSettings before = this->settings(), after = before;
  boundary_of(before, this->mesh, "top") = Symmetry{};
  this->expect_same_end(before, after, 1e-6);
}

TYPED_TEST(ChangedRestart, with_a_wall_that_is_opened_lets_fluid_out) {
  FlowSettings before = this->settings();
  boundary_of(before, this->mesh, "right") = Wall{};
  boundary_of(before, this->mesh, "bottom") = Outlet{};
  FlowSettings after = before;  // between two outlets apart there is a loop
  boundary_of(after, this->mesh, "top") = Outlet{};
  this->expect_same_end(before, after, 1e-6);
}

TYPED_TEST(ChangedRestart, in_a_domain_that_is_closed_has_a_pressure_of_mean_zero) {
  FlowSettings before = settings_with(this->mesh, Wall{}), after = before;
  before.viscosity = after.viscosity = 0.05;
  for (FlowSettings* settings : {&before, &after})
    boundary_of(*settings, this->mesh, "top") = Wall{steady_vector([](Vector3 x) {
                                                       return Vector3{4 * x.x * (1 - x.x), 0, 0};
                                                     }),
                                                     std::nullopt};
  boundary_of(before, this->mesh, "right") = Outlet{constant(5)};
  this->expect_same_end(before, after, 1e-6);
}

TYPED_TEST(ChangedRestart, without_convection_has_none_from_the_first_step_on) {
  FlowSettings before = this->settings();
  boundary_of(before, this->mesh, "top") = Outlet{};
  FlowSettings after = before;
  after.convection = ConvectionScheme::None;
  TypeParam earlier(Executor::serial(), this->mesh, before), resumed(Executor::serial(), this->mesh, after),
      restarted(Executor::serial(), this->mesh, after);
  earlier.start(*uniform_vector({}), 0);
  this->run(earlier, 100);
  resumed.resume(earlier.state());
  const std::vector<Real> flux = earlier.flux().to_host();
  restarted.start(std::span(flux), earlier.time());
  // From one state by the same equations; the start of the one is by a step of Euler's.
  for (int k = 0; k < 3; ++k) {
    const Real energy = resumed.advance(0.05).kinetic_energy,
               expected = restarted.advance(0.05).kinetic_energy;
    EXPECT_NEAR(energy, expected, 4e-3 * expected) << k;
  }
}

}  // namespace
}  // namespace curlew
