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

TEST(ConvectedVelocity, is_that_of_the_faces_but_of_flat_boxes) {
  const Executor serial = Executor::serial();
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron})
    EXPECT_TRUE(ConvectedVelocity(serial, Mesh(make_box(type, {7, 7, 7}))).is_given());
  for (const CellType type : {CellType::Triangle, CellType::Tetrahedron, CellType::Prism, CellType::Pyramid})
    EXPECT_TRUE(ConvectedVelocity(serial, Mesh(make_box(type, {4, 4, 4}, {9, 1, 3}))).is_given());
  for (const CellType type : {CellType::Quadrilateral, CellType::Hexahedron})
    EXPECT_FALSE(ConvectedVelocity(serial, Mesh(make_box(type, {4, 4, 4}, {9, 1, 3}))).is_given());
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
    ConvectedVelocity convected(Executor::serial(), mesh);
    if (convected.is_given()) continue;
    ++flat;
    const std::vector<Vector3> found = convected.of(velocity).to_host();
    for (std::size_t f = 0; f < found.size(); ++f)
      EXPECT_LE(norm(found[f] - linear[f]), 1e-12 * (1 + norm(linear[f]))) << shelf_mesh.name;
  }
  EXPECT_GE(flat, 5);
}

/// Of velocities across cells that are uniform across them and a cosine along them, those of all waves: the
/// largest tangential velocity at the short sides, for fluxes of amplitude 1.
struct Amplification {
  Real of_faces = 0, convected = 0;
};
Amplification amplification(CellType type, Real ratio) {
  constexpr Index cells = 24;
  const Mesh mesh(make_box(type, {cells, 2, 2}, {cells * ratio, 2, 2 * ratio}));
  const FlowBoundary symmetry = Symmetry{};
  FlowSettings settings = settings_with(mesh, symmetry);
  boundary_of(settings, mesh, "bottom") = Outlet{};
  boundary_of(settings, mesh, "top") = Outlet{};
  MomentumBench bench(mesh, settings);
  ConvectedVelocity convected(Executor::serial(), mesh);
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
      for (const Id<Face> f : mesh.topology().interior_faces()) {
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
      ConvectedVelocity convected(executor, mesh);
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
