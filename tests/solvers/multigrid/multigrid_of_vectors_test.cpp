// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cmath>
#include <random>

#include "mesh/box.hpp"
#include "operators/node_diffusion.hpp"
#include "solvers/multigrid/multigrid.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

using Vectors = Field<Node, Vector4<float>>;

/// What of vectors is held on the sides of a box.
enum class Held { AllButOne, One };

/// Diffusion of the three components between the nodes of a box, on whose sides vectors are held in one
/// direction each, or in all others: the side's normal or, if oblique, any.
struct Problem {
  Problem(CellType type, Index blocks, Held held, bool oblique)
      : mesh(make_box(type, {blocks, blocks, blocks})) {
    const std::size_t nodes = at(mesh.topology().nodes().size());
    const std::vector<Real> one(at(mesh.topology().cells().size()), 1);
    matrix = NodeDiffusion(Executor::serial(), mesh, one).matrix();
    std::mt19937 generator(3);
    std::normal_distribution<Real> normal;
    std::vector<Eigen::Triplet<Real>> entries;
    stiffness.resize(nodes);
    for (std::size_t n = 0; n < nodes; ++n) {
      const Vector3 x = mesh.geometry().node_positions()[n];
      Eigen::Matrix3d b = Eigen::Matrix3d::Zero();
      Eigen::Vector3d random(normal(generator), normal(generator), normal(generator));
      int side = -1;
      const Real position[] = {x.x, x.y, x.z};
      for (int k = 0; k < 3; ++k) {
        if (position[k] < 1e-9 || position[k] > 1 - 1e-9) side = k;
      }
      if (side >= 0) {
        const Eigen::Vector3d direction =
            oblique ? random.normalized() : Eigen::Vector3d(Eigen::Vector3d::Unit(side));
        const Eigen::Matrix3d along = direction * direction.transpose(),
                              others = Eigen::Matrix3d::Identity() - along;
        b = 5 * matrix.diagonal[n] * (held == Held::One ? along : others);
      }
      stiffness[n] = {{b(0, 0), b(0, 1), b(0, 2)}, {b(1, 0), b(1, 1), b(1, 2)}, {b(2, 0), b(2, 1), b(2, 2)}};
      const int row = static_cast<int>(n);
      for (int k = 0; k < 3; ++k) {
        entries.emplace_back(3 * row + k, 3 * row + k, matrix.diagonal[n]);
        for (int l = 0; l < 3; ++l) entries.emplace_back(3 * row + k, 3 * row + l, b(k, l));
        for (Index j = matrix.off_diagonal.starts[n]; j < matrix.off_diagonal.starts[n + 1]; ++j)
          entries.emplace_back(3 * row + k, 3 * matrix.off_diagonal.columns[at(j)] + k,
                               matrix.off_diagonal.values[at(j)]);
      }
    }
    system.resize(static_cast<Eigen::Index>(3 * nodes), static_cast<Eigen::Index>(3 * nodes));
    system.setFromTriplets(entries.begin(), entries.end());
  }
  MultigridInSingle<Vector4<float>> multigrid(const Executor& executor) const {
    return {executor, mesh.domain(), matrix, stiffness};
  }
  /// B r, through order one.
  Eigen::VectorXd apply(const Executor& executor, const MultigridInSingle<Vector4<float>>& multigrid,
                        const Eigen::VectorXd& r) const {
    const Real size = r.lpNorm<Eigen::Infinity>();
    Vectors residual(executor, mesh.topology().nodes().size(), "r", "1"), z = alike(residual);
    std::vector<Vector4<float>> values;
    for (Eigen::Index n = 0; n < r.size() / 3; ++n)
      values.push_back(rounded<float>({r[3 * n] / size, r[3 * n + 1] / size, r[3 * n + 2] / size}));
    residual.copy_from_host(values);
    multigrid.apply(residual, z);
    Eigen::VectorXd result(r.size());
    Eigen::Index row = 0;
    for (const Vector4<float>& value : z.to_host()) {
      EXPECT_EQ(value.fourth, 0);
      const Vector3 v = widened(value);
      result.segment<3>(row) = size * Eigen::Vector3d(v.x, v.y, v.z);
      row += 3;
    }
    return result;
  }

  Mesh mesh;
  SymmetricMatrix matrix;
  std::vector<Tensor3> stiffness;
  Eigen::SparseMatrix<Real> system;
};

TEST(MultigridOfVectors, takes_a_fixed_part_of_the_error_in_each_cycle) {
  for (const CellType type : {CellType::Tetrahedron, CellType::Hexahedron}) {
    for (const auto& [held, oblique] : std::vector<std::pair<Held, bool>>{
             {Held::AllButOne, false}, {Held::AllButOne, true}, {Held::One, false}, {Held::One, true}}) {
      const Problem problem(type, 9, held, oblique);
      const auto multigrid = problem.multigrid(Executor::serial());
      const Eigen::SimplicialLLT<Eigen::SparseMatrix<Real>> direct(problem.system);
      std::srand(5);
      const Eigen::VectorXd b = Eigen::VectorXd::Random(problem.system.rows()), exact = direct.solve(b);
      const auto energy = [&](const Eigen::VectorXd& e) { return std::sqrt(e.dot(problem.system * e)); };
      Eigen::VectorXd x = Eigen::VectorXd::Zero(b.size());
      Real before = energy(exact);
      for (int cycle = 0; cycle < 12; ++cycle) {
        x += problem.apply(Executor::serial(), multigrid, b - problem.system * x);
        const Real after = energy(x - exact);
        EXPECT_LE(after, 0.65 * before) << "cycle " << cycle << ", type " << static_cast<int>(type)
                                        << ", held " << static_cast<int>(held) << ", oblique " << oblique;
        before = after;
      }
    }
  }
}

TEST(MultigridOfVectors, is_symmetric_and_has_the_same_bits_on_every_backend) {
  for (const Held held : {Held::AllButOne, Held::One}) {
    const Problem problem(CellType::Tetrahedron, 9, held, true);
    const auto multigrid = problem.multigrid(Executor::serial());
    std::srand(7);
    const Eigen::VectorXd x = Eigen::VectorXd::Random(problem.system.rows()),
                          y = Eigen::VectorXd::Random(problem.system.rows());
    const Eigen::VectorXd bx = problem.apply(Executor::serial(), multigrid, x),
                          by = problem.apply(Executor::serial(), multigrid, y);
    EXPECT_GT(x.dot(bx), 0);
    EXPECT_NEAR(y.dot(bx), x.dot(by), 1e-5 * std::sqrt(x.dot(bx) * y.dot(by)));
    for (const Executor& executor : backends_beside_serial())
      EXPECT_EQ(problem.apply(executor, problem.multigrid(executor), x), bx) << executor.name();
  }
}

}  // namespace
}  // namespace curlew
