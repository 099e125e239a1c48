// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/convected_velocity.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/physics/momentum/momentum_bench.hpp"

namespace curlew {
namespace {

FaceVelocity on_faces(const Executor& executor, const std::vector<Vector3>& values) {
  FaceVelocity velocity(executor, static_cast<Index>(values.size()), "velocity", "m/s");
  velocity.copy_from_host(values);
  return velocity;
}

ConvectedVelocity convected_on(const Executor& executor, const Mesh& mesh, FaceHold on_boundary) {
  std::vector<FaceHold> hold(at(mesh.topology().faces().size()), FaceHold::Free);
  for (const Id<Face> f : mesh.topology().boundary_faces()) hold[at(f.value())] = on_boundary;
  return ConvectedVelocity(executor, mesh, hold);
}

TEST(ConvectedVelocity, is_that_of_the_faces_but_of_flat_boxes) {
  const auto is_given = [](CellType type, std::array<Index, 3> cells, Vector3 size = {1, 1, 1}) {
    const Mesh mesh(make_box(type, cells, size));
    return convected_on(Executor::serial(), mesh, FaceHold::Free).is_given();
  };
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron})
    EXPECT_TRUE(is_given(type, {7, 7, 7}));
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron, CellType::Prism, CellType::Pyramid})
    EXPECT_TRUE(is_given(type, {4, 4, 4}, {9, 1, 3}));
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron})
    EXPECT_FALSE(is_given(type, {4, 4, 4}, {9, 1, 3}));
}

TEST(ConvectedVelocity, leaves_linear_velocities_as_they_are) {
  int flat = 0;
  for (const ShelfMesh& shelf_mesh : shelf()) {
    const Mesh mesh(shelf_mesh.raw);
    if (!has_planar_faces(mesh)) continue;
    std::vector<Vector3> linear;
    for (const Vector3 x : mesh.geometry().face_centroids().host())
      linear.push_back({1 + 2 * x.x - 3 * x.y + x.z, 4 * x.x + x.y - 2 * x.z, x.x - x.y + 3 * x.z});
    const FaceVelocity velocity = on_faces(Executor::serial(), linear);
    ConvectedVelocity convected = convected_on(Executor::serial(), mesh, FaceHold::Normal);
    if (convected.is_given()) continue;
    ++flat;
    const std::vector<Vector3> found = convected.of(velocity).to_host();
    for (std::size_t f = 0; f < found.size(); ++f)
      EXPECT_LE(norm(found[f] - linear[f]), 1e-12 * (1 + norm(linear[f]))) << shelf_mesh.name;
  }
  EXPECT_GE(flat, 5);
}

/// At free boundaries those that do not change along the normal, whatever the others are; at the others all.
TEST(ConvectedVelocity, on_free_boundaries_is_that_of_the_cell_at_the_same_place_across_the_face) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    RawMesh raw = make_box(type, {4, 4, 4}, {9, 1, 3});
    for (Vector3& x : raw.nodes) x.y += 0.02 * x.x;  // what is nearest in the cell is not its centroid
    const Mesh mesh(raw);
    const Topology& topology = mesh.topology();
    const std::vector<Vector3> given = arbitrary_vectors(mesh, topology.faces().size(), 3);
    std::vector<Vector3> across;
    for (const Vector3 x : mesh.geometry().face_centroids().host())
      across.push_back({1 + 2 * x.y - x.z, 3 * x.y + x.z, x.z - x.y});
    const auto convected = [&](FaceHold on_boundary, const std::vector<Vector3>& v) {
      return convected_on(Executor::serial(), mesh, on_boundary)
          .of(on_faces(Executor::serial(), v))
          .to_host();
    };
    const std::vector<Vector3> free = convected(FaceHold::Free, given),
                               held = convected(FaceHold::All, given),
                               of_across = convected(FaceHold::Free, across);
    int drawn = 0;
    for (const Id<Face> f : topology.boundary_faces()) {
      const std::size_t k = at(f.value());
      const Vector3 area = mesh.geometry().face_areas()[k];
      EXPECT_EQ(norm(held[k] - given[k]), 0);
      EXPECT_NEAR(dot(free[k] - given[k], area), 0, 1e-14);
      drawn += norm(free[k] - given[k]) > 0;
      if (std::abs(area.x) == norm(area)) {
        EXPECT_GT(norm(free[k] - given[k]), 0);
        EXPECT_LE(norm(of_across[k] - across[k]), 1e-12);
      }
    }
    EXPECT_LT(drawn, topology.boundary_faces().size());
  }
}

/// Of velocities across cells that are uniform across them and a cosine along them, those of all waves: the
/// largest tangential velocity at the short sides and outlets, for fluxes of amplitude 1.
struct Amplification {
  Real of_faces = 0, convected = 0;
};
Amplification amplification(CellType type, Real ratio) {
  constexpr Index cells = 24;
  const Mesh mesh(make_box(type, {cells, 2, 2}, {cells * ratio, 2, 2 * ratio}));
  const FlowBoundary symmetry = Symmetry{};
  FlowSettings settings = settings_with(mesh, symmetry);
  for (const char* patch : {"left", "right", "bottom", "top"}) boundary_of(settings, mesh, patch) = Outlet{};
  MomentumBench bench(mesh, settings);
  ConvectedVelocity convected(Executor::serial(), mesh, bench.boundaries.hold_of_face());
  Amplification largest;
  for (Index wave = 1; wave < cells; ++wave) {
    std::vector<Real> flux;
    for (const Id<Face> f : mesh.topology().faces()) {
      const Real along = mesh.geometry().face_centroids()[at(f.value())].x / (cells * ratio);
      flux.push_back(std::cos(wave * std::numbers::pi * along) *
                     mesh.geometry().face_areas()[at(f.value())].y);
    }
    bench.set(flux, std::vector<Vector3>(flux.size()));
    bench.momentum.close(bench.velocity);
    const auto at_short_sides = [&](const FaceVelocity& v) {
      Real amplitude = 0;
      const std::vector<Vector3> values = v.to_host();
      for (const Id<Face> f : mesh.topology().faces()) {
        const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
        if (std::abs(area.x) > 0.9 * norm(area))
          amplitude = std::max(amplitude, std::abs(values[at(f.value())].y));
      }
      return amplitude;
    };
    largest.of_faces = std::max(largest.of_faces, at_short_sides(bench.velocity));
    largest.convected = std::max(largest.convected, at_short_sides(convected.of(bench.velocity)));
  }
  return largest;
}

TEST(ConvectedVelocity, of_waves_along_flat_boxes_is_hardly_larger_than_fluxes) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    for (const Real ratio : {2., 5., 20.}) {
      const Amplification found = amplification(type, ratio);
      EXPECT_GT(found.of_faces, 0.45 * ratio) << name(type);
      EXPECT_LT(found.convected, 1.15) << name(type) << ' ' << ratio;
    }
  }
  // Others need nothing.
  EXPECT_LT(amplification(CellType::Prism, 20).of_faces, 1.5);
}

TEST(ConvectedVelocity, has_the_same_bits_on_all_backends) {
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron}) {
    RawMesh raw = make_box(type, {9, 5, 4}, {9, 1, 3});
    distort(raw, 0.1);
    const Mesh mesh(raw);
    const Index faces = mesh.topology().faces().size(), cells = mesh.topology().cells().size();
    const auto results = [&](const Executor& executor) {
      ConvectedVelocity convected = convected_on(executor, mesh, FaceHold::Free);
      std::vector<Vector3> all =
          convected.of(on_faces(executor, arbitrary_vectors(mesh, faces, 3))).to_host();
      PrimalCochain<Face> flux(executor, faces, "flux", "m3/s");
      flux.copy_from_host(arbitrary(faces, 5));
      Field<Cell, Vector3> u(executor, cells, "N U", "m/s");
      u.copy_from_host(arbitrary_vectors(mesh, cells, 7));
      FaceVelocity force = on_faces(executor, arbitrary_vectors(mesh, faces, 9));
      convected.add_held_back(flux, u, force);
      const std::vector<Vector3> forces = force.to_host();
      all.insert(all.end(), forces.begin(), forces.end());
      return all;
    };
    const std::vector<Vector3> wanted = results(Executor::serial());
    for (const Executor& executor : backends_beside_serial()) {
      const std::vector<Vector3> found = results(executor);
      ASSERT_EQ(found.size(), wanted.size());
      EXPECT_EQ(std::memcmp(found.data(), wanted.data(), wanted.size() * sizeof wanted[0]), 0)
          << executor.name() << ' ' << name(type);
    }
  }
}

}  // namespace
}  // namespace curlew
