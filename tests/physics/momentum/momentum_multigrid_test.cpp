// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/momentum_multigrid.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <vector>

#include "mesh/box.hpp"
#include "operators/node_diffusion.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/periodic_boxes.hpp"
#include "tests/physics/flow_matrices.hpp"
#include "tests/physics/momentum/momentum_parts.hpp"

namespace curlew {
namespace {

constexpr Real far = 100;  ///< viscosity times time, in a box of one: it reaches everywhere

RawMesh distorted(CellType type, Index blocks) {
  RawMesh raw = make_box(type, {blocks, blocks, blocks});
  distort(raw, 0.1 / blocks);
  return raw;
}

/// Preconditioners of momentum on a mesh with walls and, where `mixed`, symmetry and an outlet in turn.
struct Systems : MomentumParts {
  Systems(const Mesh& on, bool mixed, const Executor& executor = Executor::serial())
      : MomentumParts(on, mixed ? walls_symmetry_and_outlets(on) : settings_with(on, Wall{}), executor),
        multigrid(matrices),
        jacobi(matrices, true, true) {}
  template <class T>
  FaceVectors<T> force(Real seed) const {
    return MomentumParts::force<T>(seed, false);
  }
  /// From an arbitrary velocity, for another's inertia.
  int iterations_with(const FaceJacobi& preconditioner, Real a, Real b) const {
    DualCochain<Face> circulation(Executor::serial(), like.size(), "circulation", "1");
    PrimalCochain<Face> flux(Executor::serial(), like.size(), "flux", "m3/s");
    flux.copy_from_host(arbitrary(like.size(), 8));
    mass.apply(flux, circulation);
    FaceVelocity velocity(Executor::serial(), like.size(), "velocity", "m/s");
    velocity.copy_from_host(arbitrary_vectors(mesh, velocity.size(), 5));
    RefinedConjugateGradient<FaceVelocity> solver(Executor::serial(), velocity.size(), {1e-8, 0, 2000});
    const MomentumSystem system(matrices, a, b, &circulation);
    return solver.solve("momentum", system, preconditioner, velocity, 0, {}).iterations;
  }

  MomentumMultigrid multigrid;
  FaceJacobi jacobi;
};

template <class T>
void expect_symmetric_and_positive(const Systems& of) {
  expect_symmetric_and_positive<T>(of.multigrid, [&](Real seed) { return of.force<T>(seed); });
}

class MomentumMultigridOnShelf : public testing::TestWithParam<ShelfMesh> {};

TEST_P(MomentumMultigridOnShelf, is_symmetric_and_positive_in_either_precision) {
  const Mesh mesh(GetParam().raw);
  Systems of(mesh, true);
  of.multigrid.set(1, far);
  expect_symmetric_and_positive<float>(of);
  expect_symmetric_and_positive<Real>(of);
}

INSTANTIATE_TEST_SUITE_P(SmallShelf, MomentumMultigridOnShelf, testing::ValuesIn(small_shelf()),
                         [](const auto& test) { return test.param.name; });

/// On so few nodes the cycle is a direct solve: z = D⁻¹ r + Π (a V + b (B + H))⁻¹ Πᵀ r, with H at nodes of
/// faces that are held, assembled here from the definitions.
TEST(MomentumMultigrid, corrects_by_velocities_at_nodes) {
  for (const CellType type : {CellType::Tetrahedron, CellType::Hexahedron, CellType::Prism}) {
    RawMesh raw = make_box(type, {2, 2, 2});
    distort(raw, 0.05);
    const Mesh mesh(raw);
    const Topology& t = mesh.topology();
    Systems of(mesh, true);
    const Real b = 64;  // a power of four
    of.multigrid.set(1, b);
    of.jacobi.set(1, b);

    const FlowMatrices m(mesh);
    const Eigen::Index nodes = t.nodes().size(), faces = t.faces().size();
    Eigen::MatrixXd mean = Eigen::MatrixXd::Zero(3 * faces, 3 * nodes),
                    held = Eigen::MatrixXd::Zero(3 * nodes, 3 * nodes);
    Eigen::MatrixXd scalar = Eigen::MatrixXd::Zero(nodes, nodes);
    const std::vector<Real> one(at(t.cells().size()), 1), diagonal = of.viscous.matrix().diagonal();
    const SymmetricMatrix between = NodeDiffusion(Executor::serial(), mesh, one).matrix();
    for (Eigen::Index n = 0; n < nodes; ++n) {
      const std::size_t i = static_cast<std::size_t>(n);
      scalar(n, n) = mesh.geometry().node_volumes()[i] + b * between.diagonal[i];
      for (Index k = between.off_diagonal.starts[i]; k < between.off_diagonal.starts[i + 1]; ++k)
        scalar(n, between.off_diagonal.columns[at(k)]) += b * between.off_diagonal.values[at(k)];
    }
    for (const Id<Face> f : t.faces()) {
      const FaceHold hold = of.boundaries.hold_of_face()[at(f.value())];
      const Vector3 s = mesh.geometry().face_areas()[at(f.value())];
      const Eigen::Vector3d normal = Eigen::Vector3d(s.x, s.y, s.z).normalized();
      const Eigen::Matrix3d all = Eigen::Matrix3d::Identity(), along = normal * normal.transpose();
      const Eigen::Matrix3d taken = hold == FaceHold::All      ? all
                                    : hold == FaceHold::Normal ? along
                                                               : all - all;
      const Real share = 1. / static_cast<Real>(t.nodes_of_face()[f].size());
      for (const auto [n, sign] : t.nodes_of_face()[f]) {
        mean.block<3, 3>(3 * f.value(), 3 * n.value()) = share * (all - taken);
        held.block<3, 3>(3 * n.value(), 3 * n.value()) += b * share * diagonal[at(f.value())] * taken;
      }
    }
    Eigen::MatrixXd system = held;
    for (Eigen::Index k = 0; k < 3; ++k)
      for (Eigen::Index i = 0; i < nodes; ++i)
        for (Eigen::Index j = 0; j < nodes; ++j) system(3 * i + k, 3 * j + k) += scalar(i, j);

    const FaceVectors<float> r = of.force<float>(3);
    FaceVectors<float> z = alike(r), by_jacobi = alike(r);
    of.multigrid.apply(r, z);
    of.jacobi.apply(r, by_jacobi);
    const auto column = [](const FaceVectors<float>& v) {
      std::vector<Vector3> values;
      for (const Vector4<float>& value : v.to_host()) values.push_back(widened(value));
      return column_of(values, 3);
    };
    const Eigen::VectorXd expected = column(by_jacobi) + mean * solved(system, mean.transpose() * column(r));
    EXPECT_LE((column(z) - expected).norm(), 1e-5 * expected.norm()) << static_cast<int>(type);
    for (const Id<Face> f : t.faces()) {
      const Vector4<float> v = z.to_host()[at(f.value())];
      const Vector3 s = mesh.geometry().face_areas()[at(f.value())];
      EXPECT_NEAR(v.fourth, dot(widened(v), s) / norm(s), 1e-5 * expected.norm());
    }
  }
}

/// Each mesh is twice as fine as the one before; so is how far viscosity reaches, counted in cells.
TEST(MomentumMultigrid, needs_iterations_that_do_not_grow_with_the_mesh) {
  struct Band {
    CellType type;
    std::vector<Index> blocks;
    int least, most;
  };
  for (const auto& [type, blocks, least, most] :
       {Band{CellType::Hexahedron, {4, 8, 16}, 18, 27}, Band{CellType::Tetrahedron, {3, 6, 12}, 30, 55},
        Band{CellType::Quadrilateral, {16, 32, 64}, 20, 28},
        Band{CellType::Triangle, {12, 24, 48}, 25, 35}}) {
    for (const bool mixed : {false, true}) {
      for (const Index n : blocks) {
        const Mesh mesh(distorted(type, n));
        Systems of(mesh, mixed);
        of.multigrid.set(1, 1);
        const int iterations = of.iterations_with(of.multigrid, 1, 1);
        EXPECT_GE(iterations, least) << static_cast<int>(type) << " " << n;
        EXPECT_LE(iterations, most) << static_cast<int>(type) << " " << n;
        if (n < blocks.back()) continue;
        of.jacobi.set(1, 1);
        EXPECT_LT(3 * iterations, of.iterations_with(of.jacobi, 1, 1)) << static_cast<int>(type);
      }
    }
  }
}

TEST(MomentumMultigrid, is_there_on_periodic_meshes) {
  for (const PeriodicBox& box : periodic_boxes()) {
    const Mesh mesh = make_periodic(Mesh(box.raw()), box.pairs()).mesh;
    Systems of(mesh, true);
    of.multigrid.set(1, far);
    expect_symmetric_and_positive<float>(of);
  }
}

TEST(MomentumMultigrid, needs_iterations_that_do_not_grow_with_a_periodic_mesh) {
  for (const int directions : {1, 3}) {
    for (const auto& [type, least, most] :
         {std::tuple(CellType::Hexahedron, 24, 43), {CellType::Tetrahedron, 45, 90}}) {
      for (const Index n : {4, 8, 16}) {
        const PeriodicBox box{"", type, {n, n, n}, directions, false};
        const Mesh mesh = make_periodic(Mesh(box.raw()), box.pairs()).mesh;
        Systems of(mesh, false);
        of.multigrid.set(1, 1);
        const int iterations = of.iterations_with(of.multigrid, 1, 1);
        EXPECT_GE(iterations, least) << static_cast<int>(type) << " " << n;
        EXPECT_LE(iterations, most) << static_cast<int>(type) << " " << n;
        if (n < 16) continue;
        of.jacobi.set(1, 1);
        EXPECT_LT(3 * iterations, of.iterations_with(of.jacobi, 1, 1)) << static_cast<int>(type);
      }
    }
  }
}

TEST(MomentumMultigrid, is_jacobi_where_viscosity_does_not_reach_across_cells) {
  const Mesh mesh(distorted(CellType::Hexahedron, 6));
  Systems of(mesh, true);
  const FaceVectors<float> r = of.force<float>(1);
  FaceVectors<float> z = alike(r), by_jacobi = alike(r);
  const auto is_jacobi = [&](Real a, Real b) {
    of.multigrid.set(a, b);
    of.jacobi.set(a, b);
    of.multigrid.apply(r, z);
    of.jacobi.apply(r, by_jacobi);
    return same_bits(z, by_jacobi);
  };
  const Real squared_width = 1. / 36;
  EXPECT_TRUE(is_jacobi(1, 0));
  EXPECT_TRUE(is_jacobi(1, squared_width));
  EXPECT_FALSE(is_jacobi(1, 10 * squared_width));
  EXPECT_TRUE(is_jacobi(10, squared_width));
}

TEST(MomentumMultigrid, has_the_same_bits_on_every_backend_whatever_came_before) {
  for (const CellType type : {CellType::Tetrahedron, CellType::Quadrilateral}) {
    const Mesh mesh(distorted(type, 9));
    Systems serial(mesh, true);
    serial.multigrid.set(1, 3);
    FaceVectors<float> expected = serial.force<float>(1);
    FaceVectors<Real> expected_double = serial.force<Real>(1);
    serial.multigrid.apply(serial.force<float>(2), expected);
    serial.multigrid.apply(serial.force<Real>(2), expected_double);
    for (const Executor& executor : backends_beside_serial()) {
      Systems of(mesh, true, executor);
      for (const Real before : {1e-9, 1000., 3.}) of.multigrid.set(1, before);
      FaceVectors<float> z = alike(of.like);
      FaceVectors<Real> z_double = of.force<Real>(1);
      of.multigrid.apply(of.force<float>(2), z);
      of.multigrid.apply(of.force<Real>(2), z_double);
      EXPECT_TRUE(same_bits(z, expected)) << executor.name();
      EXPECT_TRUE(same_bits(z_double, expected_double)) << executor.name();
    }
  }
}

}  // namespace
}  // namespace curlew
