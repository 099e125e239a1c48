// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "physics/flow/centroid_velocity.hpp"
#include "physics/flow/flow_fields.hpp"
#include "physics/flow/incompressible_flow.hpp"
#include "tests/mpi/parted.hpp"
#include "tests/physics/flow/flow_setup.hpp"

namespace curlew {

template <class T>
bool same_bits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

/// Flat cells that are tied (GradientJumps), dealt out.
inline Parted tied_cells(CellType type) {
  const RawMesh raw =
      is_planar(type) ? make_box(type, {7, 6, 0}, {21, 1, 0}) : make_box(type, {3, 2, 2}, {12, 8, 1});
  return divided(raw, dealt_out(Mesh(raw)));
}

/// Some of them beside so many other cells that there are ranks with these alone.
inline Parted tied_cells_beside_others() {
  return divided(side_by_side(make_box(CellType::Triangle, {7, 6, 0}, {21, 1, 0}),
                              make_box(CellType::Quadrilateral, {20, 20, 0}), {0, 3, 0}, "other "));
}

/// How many values of a rank differ in any bit from those of the whole mesh.
template <class E, class T>
Index differences(const Parted& mesh, Range<E> range, const std::vector<T>& mine,
                  const std::vector<T>& expected) {
  const Halo<E>& halo = mesh.domain().halo<E>();
  Index count = 0;
  for (const Id<E> i : range) {
    if (!same_bits(mine[at(i.value())], expected[at(halo.global(i))])) ++count;
  }
  return count;
}

template <class F>
Index differences(const Parted& mesh, const F& part, const F& whole) {
  return differences(mesh, part.range(), part.to_host(), whole.to_host());
}

inline Field<Cell, Vector3> at_centroids(const Mesh& mesh, const IncompressibleFlow& flow) {
  return CentroidVelocity(flow.face_velocity().executor(), mesh)(flow.face_velocity());
}

/// In the cells that the rank owns.
inline std::vector<Vector3> pressure_gradients(const IncompressibleFlow& flow) {
  std::vector<Index> cells(at(flow.mesh().domain().halo<Cell>().owned().size()));
  std::iota(cells.begin(), cells.end(), 0);
  return least_squares_gradient(flow.mesh(), flow.pressure(), cells);
}

/// Unknowns with their ghosts.
inline void expect_same_unknowns(const Parted& mesh, const IncompressibleFlow& part,
                                 const IncompressibleFlow& whole) {
  EXPECT_EQ(differences(mesh, part.flux(), whole.flux()), 0);
  EXPECT_EQ(differences(mesh, part.face_velocity(), whole.face_velocity()), 0);
  EXPECT_EQ(differences(mesh, part.pressure(), whole.pressure()), 0);
  EXPECT_TRUE(same_bits(part.courant_rate(), whole.courant_rate()));
  EXPECT_TRUE(same_bits(part.longest_viscous_step(), whole.longest_viscous_step()));
  EXPECT_TRUE(same_bits(part.mean_flow_force(), whole.mean_flow_force()));
}

inline void expect_same_report(const FlowStepReport& part, const FlowStepReport& whole) {
  ASSERT_EQ(part.solves.size(), whole.solves.size());
  for (const auto& [name, solve] : whole.solves) {
    EXPECT_EQ(part.solves.at(name).iterations, solve.iterations) << name;
    EXPECT_TRUE(same_bits(part.solves.at(name).residual, solve.residual)) << name;
  }
  EXPECT_TRUE(same_bits(part.divergence_max, whole.divergence_max));
  EXPECT_TRUE(same_bits(part.divergence_l2, whole.divergence_l2));
  EXPECT_TRUE(same_bits(part.courant, whole.courant));
  EXPECT_TRUE(same_bits(part.kinetic_energy, whole.kinetic_energy));
}

/// Forces on the boundary and the budget of energy.
inline void expect_same_balances(const Parted& mesh, const IncompressibleFlow& part,
                                 const IncompressibleFlow& whole) {
  const IncompressibleFlow::BoundaryForces mine = part.boundary_forces(), expected = whole.boundary_forces();
  const Range<Face> own = mesh.part.topology().boundary_faces();
  const Index first = mesh.whole.topology().boundary_faces().first();
  ASSERT_EQ(mine.pressure.size(), at(own.size()));
  Index differing = 0;
  for (const Id<Face> f : own) {
    const std::size_t k = at(f.value() - own.first());
    const std::size_t b = at(mesh.domain().halo<Face>().global(f) - first);
    if (!same_bits(mine.pressure[k], expected.pressure[b])) ++differing;
    if (!same_bits(mine.viscous[k], expected.viscous[b])) ++differing;
  }
  EXPECT_EQ(differing, 0) << "of " << 2 * own.size();
  const IncompressibleFlow::EnergyBudget a = part.energy_budget(), b = whole.energy_budget();
  EXPECT_TRUE(same_bits(a.kinetic_energy, b.kinetic_energy));
  EXPECT_TRUE(same_bits(a.rate, b.rate));
  EXPECT_TRUE(same_bits(a.dissipation, b.dissipation));
  EXPECT_TRUE(same_bits(a.boundary_power, b.boundary_power));
  EXPECT_TRUE(same_bits(a.body_power, b.body_power));
}

/// Settings with solves that take few iterations.
inline FlowSettings quick_settings(const Mesh& mesh, const FlowBoundary& boundary) {
  FlowSettings settings = settings_with(mesh, boundary);
  settings.viscosity = 0.02;
  settings.density = 1.7;
  settings.momentum.relative_tolerance = settings.pressure.relative_tolerance = 1e-5;
  settings.streamfunction.relative_tolerance = 1e-5;
  return settings;
}

/// A closed box under a turning force, one side of which slides along.
inline FlowSettings cavity(const Mesh& mesh) {
  const bool plane = mesh.topology().dimension() == 2;
  const FlowBoundary wall = Wall{};  // named, as GCC 12 warns of it otherwise
  FlowSettings settings = quick_settings(mesh, wall);
  settings.body_force = steady_vector([plane](Vector3 x) {
    return Vector3{std::sin(2 * x.y) + x.z, std::cos(3 * x.x), plane ? 0 : x.x * x.y};
  });
  if (mesh.topology().patches().size() >= 4)
    boundary_of(settings, mesh, "top") = Wall{uniform_vector({1, 0, 0}), {}};
  return settings;
}

/// Everything that a boundary can be, changing in time.
inline FlowSettings channel(const Mesh& mesh) {
  FlowSettings settings = cavity(mesh);
  boundary_of(settings, mesh, "left") =
      Inlet{{}, analytic([](Vector3, Real t) { return 1 + std::sin(3 * t); })};
  boundary_of(settings, mesh, "right") =
      Outlet{analytic([](Vector3 x, Real t) { return 0.5 * x.y + std::cos(2 * t); })};
  boundary_of(settings, mesh, "top") = Symmetry{};
  boundary_of(settings, mesh, "bottom") = Wall{{}, RigidRotation{{0.5, -2, 0}, {0, 0, 1}, constant(0.3)}};
  return settings;
}

/// Runs some steps on the whole mesh and on the parts and compares all bits.
template <class Method>
void expect_same_run(const Parted& mesh, const FlowSettings& of_whole, const FlowSettings& of_part,
                     const VectorFunction& start, int steps, const Executor& executor = Executor::serial()) {
  Method whole(Executor::serial(), mesh.whole, of_whole);
  Method part(executor.among(all_ranks()), mesh.part, of_part);
  expect_same_report(part.start(start, 0), whole.start(start, 0));
  expect_same_unknowns(mesh, part, whole);
  expect_same_balances(mesh, part, whole);
  const Real step = 0.2 / std::max(Real(5), whole.courant_rate());
  for (int k = 1; k <= steps; ++k) {
    SCOPED_TRACE("step " + std::to_string(k));
    expect_same_report(part.advance(k * step), whole.advance(k * step));
    expect_same_unknowns(mesh, part, whole);
    if (testing::Test::HasFailure()) return;
  }
  expect_same_balances(mesh, part, whole);
}

}  // namespace curlew
