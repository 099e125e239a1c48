// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/tangential_approximate_inverse.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "mesh/box.hpp"
#include "physics/momentum/face_jacobi.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/physics/flow_matrices.hpp"
#include "tests/physics/momentum/momentum_parts.hpp"

namespace curlew {
namespace {

std::vector<ShelfMesh> simplices() {
  std::vector<ShelfMesh> meshes;
  for (const ShelfMesh& mesh : small_shelf())
    if (has_only_simplices(Mesh(mesh.raw))) meshes.push_back(mesh);
  return meshes;
}

/// The approximate inverse on one mesh.
struct Inverse : MomentumParts {
  explicit Inverse(const Mesh& on, const Executor& executor = Executor::serial())
      : MomentumParts(on, walls_symmetry_and_outlets(on), executor), inverse(matrices) {}
  template <class T>
  FaceVectors<T> force(Real seed) const {
    return MomentumParts::force<T>(seed, true);
  }
  TangentialApproximateInverse inverse;
};

class ApproximateInverse : public testing::TestWithParam<ShelfMesh> {
 protected:
  bool has_slivers() const { return GetParam().name.find("sliver") != std::string::npos; }
  const Mesh mesh_{GetParam().raw};
  const int d_ = mesh_.topology().dimension();
  const Index faces_ = mesh_.topology().faces().size();
};

TEST_P(ApproximateInverse, is_symmetric_and_positive_in_either_precision) {
  const Inverse of(mesh_);
  expect_symmetric_and_positive<float>(of.inverse, [&](Real seed) { return of.force<float>(seed); });
  expect_symmetric_and_positive<Real>(of.inverse, [&](Real seed) { return of.force<Real>(seed); });
}

TEST_P(ApproximateInverse, has_the_factor_of_least_energy) {
  if (has_slivers()) return;  // of which single precision keeps too little
  const Inverse of(mesh_);
  const FlowMatrices m(mesh_);
  const Eigen::MatrixXd tangents = FreeUnknowns(mesh_, of.boundaries).tangents;
  const Eigen::Index size = tangents.cols(), across = d_ - 1;
  if (size == 0) return;
  Eigen::MatrixXd inverse(size, size);
  FaceVectors<Real> r(Executor::serial(), faces_, "r", "1"), z = alike(r);
  for (Eigen::Index j = 0; j < size; ++j) {
    std::vector<Vector4<Real>> values(at(faces_));
    for (Index f = 0; f < faces_; ++f) {
      const auto part = tangents.col(j).segment(d_ * f, d_);
      values[at(f)] = {part[0], part[1], d_ == 3 ? part[2] : 0, 0};
    }
    r.copy_from_host(values);
    of.inverse.apply(r, z);
    std::vector<Vector3> images;
    for (const Vector4<Real>& v : z.to_host()) images.push_back(widened(v));
    inverse.col(j) = tangents.transpose() * column_of(images, d_);
    EXPECT_LE((tangents * inverse.col(j) - column_of(images, d_)).norm(), 1e-12 * inverse.col(j).norm());
  }
  // GᵀG with a triangular G of positive diagonal has one such factor: Cholesky's, from the last row on.
  const Eigen::MatrixXd backwards = inverse.reverse();
  ASSERT_GT(eigenvalues(backwards)(0), 0);
  const Eigen::MatrixXd lower = cholesky(backwards);
  const Eigen::MatrixXd g = lower.transpose().reverse();

  const Eigen::MatrixXd rows = tangents.transpose() * m.viscous, k = rows * tangents, g_k = g * k;
  const Eigen::MatrixXd energy = g_k * g.transpose();
  std::vector<Index> face;  // of each pair of tangents
  for (Index f = 0; f < faces_; ++f)
    if (of.boundaries.hold_of_face()[at(f)] != FaceHold::All) face.push_back(f);
  const auto blocks = static_cast<Index>(face.size());
  ASSERT_EQ(size, blocks * across);
  const auto block = [&](const Eigen::MatrixXd& matrix, Index i, Index j) -> Eigen::MatrixXd {
    return matrix.block(across * i, across * j, across, across);
  };
  const auto turn = [&](Index i, Index j) -> Eigen::MatrixXd {  // P_f P_h
    return tangents.block(d_ * face[at(i)], across * i, d_, across).transpose() *
           tangents.block(d_ * face[at(j)], across * j, d_, across);
  };
  const auto are_neighbours = [&](Index i, Index j) {
    for (const auto [c, side] : mesh_.topology().cells_of_face()[Id<Face>(face[at(i)])])
      for (const auto [h, sign] : mesh_.topology().faces_of_cell()[c])
        if (h.value() == face[at(j)]) return true;
    return false;
  };
  const auto is_coupled = [&](Index i, Index j) {
    return block(g, i, j).norm() > 1e-6 * block(g, i, i).norm();
  };
  const auto can_couple = [&](Index i, Index j) {
    return are_neighbours(i, j) && block(k, i, j).norm() > 1e-3 * block(k, i, i).norm();
  };
  for (Index i = 0; i < blocks; ++i) {
    EXPECT_NEAR(block(energy, i, i).trace(), d_ - 1, 1e-5);
    Index before = 0, after = 0;
    for (Index j = 0; j < blocks; ++j) {
      if (j < i && is_coupled(i, j)) {
        ++before;
        EXPECT_TRUE(are_neighbours(i, j));
        // One number times P_f P_h, and the energy does not change with it.
        const Real number = block(g, i, j).cwiseProduct(turn(i, j)).sum() / turn(i, j).squaredNorm();
        EXPECT_LE((block(g, i, j) - number * turn(i, j)).norm(), 1e-6 * block(g, i, i).norm());
        EXPECT_NEAR(block(g_k, i, j).cwiseProduct(turn(i, j)).sum(), 0,
                    1e-5 * block(g, i, i).norm() * block(k, j, j).norm());
      }
      if (j > i && is_coupled(j, i)) ++after;
    }
    EXPECT_LE(before, d_ + 1);
    EXPECT_LE(after, d_ + 1);
    for (Index j = 0; j < i; ++j) {
      if (is_coupled(i, j) || !can_couple(i, j)) continue;
      Index before_i = 0, after_j = 0;
      for (Index other = 0; other < blocks; ++other) {
        before_i += other < i && are_neighbours(i, other);
        after_j += other > j && are_neighbours(j, other);
      }
      EXPECT_TRUE(before_i > d_ + 1 || after_j > d_ + 1) << face[at(i)] << " " << face[at(j)];
    }
  }
}

TEST_P(ApproximateInverse, leaves_faces_alone_that_are_held) {
  const Inverse of(mesh_);
  FaceVectors<float> z = alike(of.like);
  of.inverse.apply(of.force<float>(4), z);
  const auto values = z.to_host();
  for (std::size_t f = 0; f < values.size(); ++f) {
    EXPECT_EQ(norm(widened(values[f])) == 0, of.boundaries.hold_of_face()[f] == FaceHold::All) << f;
  }
}

INSTANTIATE_TEST_SUITE_P(SmallShelf, ApproximateInverse, testing::ValuesIn(simplices()),
                         [](const auto& test) { return test.param.name; });

RawMesh distorted_box(CellType type, std::array<Index, 3> blocks) {
  RawMesh raw = make_box(type, blocks);
  distort(raw, 0.02);
  return raw;
}

TEST(ApproximateInverse, has_the_bits_of_the_serial_one_on_every_backend) {
  for (const auto& raw :
       {distorted_box(CellType::Tetrahedron, {6, 5, 7}), distorted_box(CellType::Triangle, {14, 12, 0})}) {
    const Mesh mesh(raw);
    const auto values_on = [&]<class T>(const Executor& executor, T) {
      const Inverse of(mesh, executor);
      const FaceVectors<T> r = of.force<T>(3);
      FaceVectors<T> z = alike(r);
      of.inverse.apply(r, z);
      return z.to_host();
    };
    const auto serial = values_on(Executor::serial(), 0.f);
    const auto serial_double = values_on(Executor::serial(), Real(0));
    for (const Executor& executor : backends_beside_serial()) {
      const auto values = values_on(executor, 0.f);
      EXPECT_EQ(std::memcmp(values.data(), serial.data(), values.size() * sizeof values[0]), 0)
          << executor.name();
      const auto doubles = values_on(executor, Real(0));
      EXPECT_EQ(std::memcmp(doubles.data(), serial_double.data(), doubles.size() * sizeof doubles[0]), 0)
          << executor.name();
    }
  }
}

TEST(ApproximateInverse, is_for_meshes_of_simplices_alone) {
  EXPECT_TRUE(has_only_simplices(Mesh(make_box(CellType::Triangle, {2, 2, 0}))));
  EXPECT_TRUE(has_only_simplices(Mesh(make_box(CellType::Tetrahedron, {2, 2, 2}))));
  EXPECT_FALSE(has_only_simplices(Mesh(make_box(CellType::Quadrilateral, {2, 2, 0}))));
  EXPECT_FALSE(has_only_simplices(Mesh(make_box(CellType::Prism, {2, 2, 2}))));
}

TEST(ApproximateInverse, halves_iterations_on_tetrahedra_of_any_size) {
  for (const auto& [n, most] : {std::pair<Index, int>{4, 22}, {8, 25}, {12, 29}}) {
    const Mesh mesh(distorted_box(CellType::Tetrahedron, {n, n, n}));
    const Inverse of(mesh);
    FaceJacobi jacobi(of.matrices, false, true);
    jacobi.set(0, 1);
    const auto iterations_with = [&](const RefinedPreconditioner<FaceVelocity>& preconditioner) {
      FaceVelocity velocity(Executor::serial(), of.like.size(), "velocity", "m/s");
      velocity.copy_from_host(arbitrary_vectors(mesh, velocity.size(), 5));
      RefinedConjugateGradient<FaceVelocity> solver(Executor::serial(), velocity.size(), {1e-8, 0, 1000});
      return solver
          .solve("tangential velocity", TangentialSystem(of.matrices), preconditioner, velocity, 0, {})
          .iterations;
    };
    const int iterations = iterations_with(of.inverse);
    EXPECT_LE(iterations, most) << n;
    EXPECT_LE(iterations, 0.55 * iterations_with(jacobi)) << n;
  }
}

}  // namespace
}  // namespace curlew
