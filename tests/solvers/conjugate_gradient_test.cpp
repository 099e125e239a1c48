// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/conjugate_gradient.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>
#include <tuple>

#include "mesh/entities.hpp"
#include "solvers/null_space.hpp"
#include "solvers/preconditioners.hpp"
#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

using Unknown = PrimalCochain<Node>;
using Residual = DualCochain<Node>;

/// A dense matrix on the host as an operator.
class MatrixOperator : public Operator<Unknown, Residual> {
 public:
  explicit MatrixOperator(Eigen::MatrixXd matrix) : matrix_(std::move(matrix)) {}
  void apply(const Unknown& x, Residual& y) const override {
    const std::vector<Real> values = x.to_host();
    const Eigen::VectorXd product =
        matrix_ * Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
    y.copy_from_host({product.data(), values.size()});
  }
  void apply_transpose(const Unknown& x, Residual& y) const override { apply(x, y); }

 private:
  Eigen::MatrixXd matrix_;
};

/// Symmetric positive definite with eigenvalues from 1 to `condition`.
Eigen::MatrixXd positive_definite(Index size, Real condition) {
  return random_symmetric(size, condition, 1);
}

struct Problem {
  Problem(Eigen::MatrixXd m, Eigen::VectorXd rhs, const Executor& on = Executor::serial())
      : executor(on),
        matrix(std::move(m)),
        right_hand_side(std::move(rhs)),
        op(matrix),
        b(executor, static_cast<Index>(right_hand_side.size()), "b", "W"),
        x(executor, b.size(), "x", "K") {
    b.copy_from_host({right_hand_side.data(), at(b.size())});
  }
  SolveReport solve(SolverControl control, const Preconditioner<Unknown>& preconditioner,
                    const NullSpace<Unknown>* null_space = nullptr, Real rounding = 0) {
    ConjugateGradient<Unknown> solver(executor, b.size(), "temperature", control);
    return solver.solve(op, preconditioner, b, x, {right_hand_side.norm(), rounding}, null_space);
  }
  Eigen::VectorXd solution() const {
    const std::vector<Real> values = x.to_host();
    return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
  }

  Executor executor;
  Eigen::MatrixXd matrix;
  Eigen::VectorXd right_hand_side;
  MatrixOperator op;
  Residual b;
  Unknown x;
};

JacobiPreconditioner<Unknown> jacobi_of(const Problem& problem) {
  JacobiPreconditioner<Unknown> jacobi(problem.executor, problem.b.size());
  Residual diagonal(problem.executor, problem.b.size(), "diagonal", "W/K");
  const Eigen::VectorXd values = problem.matrix.diagonal();
  diagonal.copy_from_host({values.data(), at(problem.b.size())});
  jacobi.set_diagonal(diagonal);
  return jacobi;
}

SolverControl to(Real tolerance, int max_iterations = 10000) {
  SolverControl control;
  control.relative_tolerance = tolerance;
  control.max_iterations = max_iterations;
  return control;
}

TEST(ConjugateGradient, takes_the_same_bits_on_every_backend) {
  const Eigen::MatrixXd matrix = positive_definite(150, 1e3);
  const Eigen::VectorXd rhs = Eigen::VectorXd::LinSpaced(150, -1, 2);
  const auto solve_on = [&](const Executor& executor) {
    Problem problem(matrix, rhs, executor);
    const SolveReport report = problem.solve({1e-10, 0, 1000}, jacobi_of(problem));
    return std::tuple(report.iterations, report.residual, problem.x.to_host());
  };
  const auto expected = solve_on(Executor::serial());
  for (const Executor& executor : backends_beside_serial())
    EXPECT_TRUE(solve_on(executor) == expected) << executor.name();
}

TEST(JacobiPreconditioner, forms_its_product_with_the_residual_in_the_same_pass) {
  const Eigen::MatrixXd matrix = positive_definite(150, 1e3);
  for (const Executor& executor : all_backends()) {
    Problem problem(matrix, Eigen::VectorXd::LinSpaced(150, -1, 2), executor);
    const JacobiPreconditioner<Unknown> jacobi = jacobi_of(problem);
    Unknown separate = alike(problem.x), fused = alike(problem.x);
    jacobi.apply(problem.b, separate);
    SumInParts product(executor);
    jacobi.apply_with_product(problem.b, fused, product);
    EXPECT_EQ(fused.to_host(), separate.to_host()) << executor.name();
    const Eigen::VectorXd scaled = matrix.diagonal().cwiseInverse().cwiseProduct(problem.right_hand_side);
    EXPECT_NEAR(product.value(), problem.right_hand_side.dot(scaled), 1e-13 * scaled.norm());
  }
}

TEST(ConjugateGradient, agrees_with_a_direct_solver_and_reports_the_true_residual) {
  Problem problem(positive_definite(60, 1e3), Eigen::VectorXd::LinSpaced(60, -1, 2));
  const SolveReport report = problem.solve(to(1e-11), IdentityPreconditioner<Unknown>());
  const Eigen::VectorXd exact = solved(problem.matrix, problem.right_hand_side);
  EXPECT_LE((problem.solution() - exact).norm(), 1e-7 * exact.norm());
  const Real residual =
      (problem.right_hand_side - problem.matrix * problem.solution()).norm() / problem.right_hand_side.norm();
  EXPECT_LE(residual, 1.1e-11);
  EXPECT_NEAR(report.residual, residual, 1e-13);
}

TEST(ConjugateGradient, needs_as_many_iterations_as_there_are_different_eigenvalues) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Identity(40, 40);
  for (int i = 0; i < 40; ++i) matrix(i, i) = 1 + i % 3;
  Problem problem(matrix, Eigen::VectorXd::LinSpaced(40, 1, 2));
  EXPECT_EQ(problem.solve(to(1e-12), IdentityPreconditioner<Unknown>()).iterations, 3);
  Problem again(matrix, Eigen::VectorXd::LinSpaced(40, 1, 2));
  EXPECT_EQ(again.solve(to(1e-12), jacobi_of(again)).iterations, 1);
}

TEST(ConjugateGradient, jacobi_undoes_bad_scaling) {
  Eigen::MatrixXd matrix = positive_definite(50, 10);
  Eigen::VectorXd scale(50);
  for (int i = 0; i < 50; ++i) scale(i) = std::pow(10.0, i % 4);
  matrix = (scale.asDiagonal() * matrix * scale.asDiagonal()).eval();
  Problem plain(matrix, Eigen::VectorXd::Ones(50)), scaled(matrix, Eigen::VectorXd::Ones(50));
  const int without = plain.solve(to(1e-8), IdentityPreconditioner<Unknown>()).iterations;
  const int with = scaled.solve(to(1e-8), jacobi_of(scaled)).iterations;
  EXPECT_LT(3 * with, without);
}

TEST(ConjugateGradient, solves_a_singular_system_up_to_its_null_space) {
  // The Laplacian of a ring of 30 nodes sees no constants; a right-hand side with a sum is not consistent.
  Eigen::MatrixXd ring = Eigen::MatrixXd::Zero(30, 30);
  for (int i = 0; i < 30; ++i) {
    ring(i, i) = 2;
    ring(i, (i + 1) % 30) = ring((i + 1) % 30, i) = -1;
  }
  const Eigen::VectorXd b = Eigen::VectorXd::LinSpaced(30, 0, 1);
  Problem problem(ring, b);
  const PiecewiseConstantNullSpace<Unknown> constants(problem.executor, 30, std::vector<Index>(30, 0));
  problem.solve(to(1e-12), jacobi_of(problem), &constants);
  const Eigen::VectorXd consistent = b.array() - b.mean();
  EXPECT_LE((ring * problem.solution() - consistent).norm(), 1e-11);

  Field<Node> weight(problem.executor, 30, "weight", "m3");
  weight.fill(2);
  Unknown wanted(problem.executor, 30, "wanted", "K");
  wanted.fill(7);
  constants.match_means(weight, wanted, problem.x);
  EXPECT_NEAR(problem.solution().mean(), 7, 1e-13);
}

TEST(ConjugateGradient, takes_a_solution_that_is_there_already) {
  Problem problem(positive_definite(10, 10), Eigen::VectorXd::Zero(10));
  EXPECT_EQ(problem.solve({}, IdentityPreconditioner<Unknown>()).iterations, 0);
}

std::string failure_of(Problem& problem, SolverControl control) {
  try {
    problem.solve(control, IdentityPreconditioner<Unknown>());
  } catch (const DivergedError& error) {
    return error.what();
  }
  return "no failure";
}

TEST(ConjugateGradient, comes_to_rest_where_there_is_nothing_to_reach) {
  Problem problem(positive_definite(20, 100), Eigen::VectorXd::Zero(20));
  problem.x.fill(1e-100);
  problem.solve({1e-8, 0, 1000}, jacobi_of(problem));
  EXPECT_LE(problem.solution().norm(), 1e-130);
}

TEST(ConjugateGradient, every_failure_names_the_unknown_and_the_cause) {
  Problem capped(positive_definite(60, 1e6), Eigen::VectorXd::Ones(60));
  EXPECT_NE(failure_of(capped, to(1e-10, 5)).find("raise max_iterations or tolerance"), std::string::npos);
  EXPECT_NE(failure_of(capped, to(1e-10, 5)).find("temperature did not converge after 5 iterations"),
            std::string::npos);
  Problem indefinite(-positive_definite(20, 10), Eigen::VectorXd::Ones(20));
  EXPECT_NE(failure_of(indefinite, {}).find("not positive definite"), std::string::npos);
  Problem poisoned(positive_definite(20, 10),
                   Eigen::VectorXd::Constant(20, std::numeric_limits<Real>::quiet_NaN()));
  EXPECT_NE(failure_of(poisoned, {}).find("not a number"), std::string::npos);
  Problem too_strict(positive_definite(40, 1e8), Eigen::VectorXd::Ones(40));
  EXPECT_NE(failure_of(too_strict, to(1e-30, 100000)).find("temperature"), std::string::npos);
}

TEST(ConjugateGradient, stops_where_only_rounding_is_left) {
  Problem problem(positive_definite(40, 1e8), Eigen::VectorXd::Ones(40));
  const SolveReport report = problem.solve(to(1e-30), IdentityPreconditioner<Unknown>(), nullptr, 1e-6);
  EXPECT_LE(report.residual, 1e-6);
}

}  // namespace
}  // namespace curlew
