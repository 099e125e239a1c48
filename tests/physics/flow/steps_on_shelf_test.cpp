// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// What steps leave as it is on every kind of mesh.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "physics/flow/classical_fractional_step.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {
namespace {

class StepOnShelf : public testing::TestWithParam<ShelfMesh> {
 protected:
  const Mesh mesh_{GetParam().raw};
  const bool plane_ = mesh_.topology().dimension() == 2;
  const bool sheared_ = GetParam().name.find("sliver") != std::string::npos;
  bool has_sides() const { return mesh_.topology().patches().size() >= 4; }

  /// Takes ten steps of every scheme and expects the uniform stream to stay.
  void expect_uniform(FlowSettings settings, Vector3 stream) const {
    settings.viscosity = 1e-3;
    settings.momentum.relative_tolerance = settings.pressure.relative_tolerance = 1e-12;
    std::vector<Real> exact;
    Real area = 0;
    for (const Vector3 s : mesh_.geometry().face_areas().host()) {
      exact.push_back(dot(stream, s));
      area = std::max(area, norm(s));
    }
    for (const auto& [name, scheme] : classical_schemes()) {
      if (sheared_ && !plane_ && (scheme == FlowScheme::SspRk2 || scheme == FlowScheme::SspRk4)) continue;
      settings.scheme = scheme;
      ClassicalFractionalStep flow(Executor::serial(), mesh_, settings);
      flow.start(*uniform_vector(stream), 0);
      const Real step = 0.1 / flow.courant_rate();
      for (int k = 0; k < 10; ++k) flow.advance(step);
      EXPECT_LE(largest(difference(flow.flux().to_host(), exact)), 1e-12 * norm(stream) * area) << name;
      Real worst = 0;
      for (const Vector3 v : flow.face_velocity().to_host()) worst = std::max(worst, norm(v - stream));
      EXPECT_LE(worst, 1e-11 * norm(stream)) << name;
      EXPECT_LE(largest(flow.pressure().to_host()), 1e-9 * dot(stream, stream)) << name;
    }
  }
};

TEST_P(StepOnShelf, a_uniform_stream_through_a_given_boundary_stays_uniform) {
  if (!has_planar_faces(mesh_)) return;
  const Vector3 stream{1, -0.5, plane_ ? 0 : 0.7};
  for (const ConvectionScheme convection : {ConvectionScheme::Central, ConvectionScheme::LinearUpwind}) {
    FlowSettings settings = settings_with(mesh_, Inlet{uniform_vector(stream), {}});
    settings.convection = convection;
    expect_uniform(settings, stream);
  }
}

TEST_P(StepOnShelf, a_uniform_stream_stays_uniform_from_inlet_to_outlet_along_symmetry_and_moving_walls) {
  if (!has_planar_faces(mesh_) || !has_sides()) return;
  const Vector3 stream{2, 0, sheared_ && !plane_ ? 1. : 0};
  FlowSettings settings = settings_with(mesh_, Symmetry{});
  boundary_of(settings, mesh_, "left") = Inlet{uniform_vector(stream), {}};
  boundary_of(settings, mesh_, "right") = Outlet{};
  boundary_of(settings, mesh_, "top") = Wall{uniform_vector(stream), {}};
  if (!plane_) boundary_of(settings, mesh_, "front") = Wall{uniform_vector(stream), {}};
  expect_uniform(settings, stream);
}

TEST_P(StepOnShelf, a_fluid_under_its_weight_stays_at_rest) {
  if (!has_planar_faces(mesh_)) return;
  const Vector3 gravity{1, -9, plane_ ? 0 : 3.};
  Real area = 0;
  for (const Vector3 s : mesh_.geometry().face_areas().host()) area = std::max(area, norm(s));
  for (const bool open : {false, true}) {
    FlowSettings settings = settings_with(mesh_, Wall{});
    settings.viscosity = 1e-3;
    settings.density = 3;
    settings.momentum.relative_tolerance = settings.pressure.relative_tolerance = 1e-8;
    settings.body_force = uniform_vector(gravity);
    if (open) settings.boundaries[0] = Outlet{analytic([=](Vector3 x, Real) { return 3 * dot(gravity, x); })};
    Real offset = 0, volume = 0;
    for (std::size_t c = 0; c < at(mesh_.topology().cells().size()) && !open; ++c) {
      const Real v = mesh_.geometry().cell_volumes()[c];
      offset += v * dot(gravity, mesh_.geometry().cell_centroids()[c]);
      volume += v;
    }
    for (const auto& [name, scheme] : classical_schemes()) {
      // They solve for pressures many times, which takes long on slivers.
      if (sheared_ && !plane_ && scheme != FlowScheme::Sbdf2 && scheme != FlowScheme::SspRk3) continue;
      settings.scheme = scheme;
      ClassicalFractionalStep flow(Executor::serial(), mesh_, settings);
      flow.start(*uniform_vector({}), 0);
      for (int k = 0; k < (sheared_ ? 2 : 4); ++k) {
        flow.advance(1e-3);
        EXPECT_LE(largest(flow.flux().to_host()), 1e-13 * norm(gravity) * area) << name << " step " << k;
      }
      const std::vector<Real> p = flow.pressure().to_host();
      Real worst = 0;
      for (std::size_t c = 0; c < p.size(); ++c) {
        const Real hydrostatic = dot(gravity, mesh_.geometry().cell_centroids()[c]);
        worst = std::max(worst, std::abs(p[c] - hydrostatic + (open ? 0 : offset / volume)));
      }
      EXPECT_LE(worst, 1e-8) << name << (open ? " open" : " closed");
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shelf, StepOnShelf, testing::ValuesIn(shelf()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace curlew
