// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/refined_conjugate_gradient.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "tests/dense_algebra.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// The components of all faces, one after the other.
template <class V>
VectorXd numbers_of(const Field<Face, V>& field) {
  VectorXd numbers(3 * field.size());
  Eigen::Index k = 0;
  for (const V& v : field.to_host()) {
    for (const auto component : {v.x, v.y, v.z}) numbers(k++) = static_cast<Real>(component);
  }
  return numbers;
}
template <class V>
void set(Field<Face, V>& field, const VectorXd& numbers) {
  std::vector<V> values(at(field.size()));
  Eigen::Index k = 0;
  for (V& v : values) {
    for (auto* component : {&v.x, &v.y, &v.z})
      *component = static_cast<std::remove_pointer_t<decltype(component)>>(numbers(k++));
  }
  field.copy_from_host(values);
}

/// Adds them to a sum, from the host.
void add_terms(const VectorXd& terms, const Executor& executor, SumInParts& sum) {
  const BinnedSum of_all = binned_sum(static_cast<Index>(terms.size()), [&](Index k) { return terms(k); });
  sum.add_chunks(1, [&](auto, auto place) {
    copy_bytes(place.data(), executor.space(), &of_all, MemorySpace::Host, sizeof of_all);
  });
}

/// A dense matrix; what `factor` is not 1 of, its products in single precision are wrong by. It says that
/// they are wrong by `rounding` times what they are products with.
class DenseSystem : public RefinedSystem<FaceVelocity> {
 public:
  DenseSystem(MatrixXd matrix, VectorXd b, Real factor = 1,
              Real rounding = std::numeric_limits<Real>::infinity())
      : matrix_(std::move(matrix)), b_(std::move(b)), factor_(factor), rounding_(rounding) {}
  void apply(const FaceVectors<float>& x, FaceVectors<float>& y) const override {
    ++products_in_single;
    set(y, factor_ * (matrix_.cast<float>() * numbers_of(x).cast<float>()).cast<Real>());
  }
  void apply(const FaceVectors<Real>& x, FaceVectors<Real>& y) const override {
    ++products_in_double;
    set(y, matrix_ * numbers_of(x));
  }
  void apply_with_product(const FaceVectors<float>& x, FaceVectors<float>& y,
                          SumInParts& product) const override {
    apply(x, y);
    add_terms(numbers_of(x).cwiseProduct(numbers_of(y)), x.executor(), product);
  }
  void apply_with_product(const FaceVectors<Real>& x, FaceVectors<Real>& y,
                          SumInParts& product) const override {
    apply(x, y);
    add_terms(numbers_of(x).cwiseProduct(numbers_of(y)), x.executor(), product);
  }
  void set_residual(const FaceVelocity& x, FaceVelocity& r) const override {
    ++residuals;
    set(r, b_ - matrix_ * numbers_of(x));
  }
  void set_first_residual(const FaceVelocity& x, FaceVelocity& r, FaceVectors<float>&, FaceVectors<float>&,
                          SumInParts& squared) const override {
    set_residual(x, r);
    add_terms(b_.cwiseProduct(b_), x.executor(), squared);
  }
  Real rounding_of(const FaceVectors<float>& e) const override { return rounding_ * numbers_of(e).norm(); }
  void add(Real factor, const FaceVectors<float>& e, FaceVelocity& x) const override {
    set(x, numbers_of(x) + factor * numbers_of(e));
  }
  void add(Real factor, const FaceVectors<Real>& e, FaceVelocity& x) const override {
    set(x, numbers_of(x) + factor * numbers_of(e));
  }
  mutable int products_in_single = 0, products_in_double = 0, residuals = 0;

 private:
  MatrixXd matrix_;
  VectorXd b_;
  Real factor_, rounding_;
};

class NoPreconditioner : public RefinedPreconditioner<FaceVelocity> {
 public:
  void apply(const FaceVectors<float>& r, FaceVectors<float>& z) const override { set(z, numbers_of(r)); }
  void apply(const FaceVectors<Real>& r, FaceVectors<Real>& z) const override { set(z, numbers_of(r)); }
};

/// Symmetric with eigenvalues from 1 to `condition`.
MatrixXd positive_definite(Index faces, Real condition) {
  return random_symmetric(3 * faces, condition, 1);
}

struct Solve {
  explicit Solve(Index faces, SolverControl control, const Executor& executor = Executor::serial())
      : x(executor, faces, "velocity", "m/s"), solver(executor, faces, control) {}
  SolveReport operator()(const DenseSystem& system, Real noise = 0,
                         const Recall<FaceVectors<float>>& recall = {}) {
    return solver.solve("momentum", system, NoPreconditioner(), x, noise, recall);
  }
  std::string failure(const DenseSystem& system) {
    try {
      (*this)(system);
    } catch (const DivergedError& error) {
      return error.what();
    }
    return "none";
  }
  FaceVelocity x;
  RefinedConjugateGradient<FaceVelocity> solver;
};

TEST(RefinedConjugateGradient, agrees_with_a_direct_solver_far_beyond_single_precision) {
  constexpr Index faces = 30;
  const MatrixXd a = positive_definite(faces, 100);
  const VectorXd b = VectorXd::Random(3 * faces), expected = solved(a, b);
  std::vector<VectorXd> solutions;
  for (const Executor& executor : all_backends()) {
    Solve solve(faces, {1e-13, 0, 1000}, executor);
    const DenseSystem system(a, b);
    const SolveReport report = solve(system);
    solutions.push_back(numbers_of(solve.x));
    EXPECT_LT((solutions.back() - expected).norm(), 1e-11 * expected.norm());
    EXPECT_NEAR(report.residual, (b - a * solutions.back()).norm() / b.norm(), 1e-3 * report.residual);
    EXPECT_LE(report.residual, 1e-13);
    EXPECT_EQ(system.products_in_double, 0);
    EXPECT_EQ(solutions.back(), solutions.front()) << executor.name();
  }
}

TEST(RefinedConjugateGradient, goes_on_in_double_where_single_precision_does_not_hold_the_matrix) {
  constexpr Index faces = 10;
  const MatrixXd a = positive_definite(faces, 1e9);
  const VectorXd b = VectorXd::Random(3 * faces);
  Solve solve(faces, {1e-8, 0, 10000});
  const DenseSystem ill_conditioned(a, b);
  solve(ill_conditioned);
  EXPECT_LE((b - a * numbers_of(solve.x)).norm(), 1.0001e-8 * b.norm());
  EXPECT_GT(ill_conditioned.products_in_double, 0);
  // Corrections that do nothing, or harm, are given up at once; so are those that meet no curvature.
  const MatrixXd good = positive_definite(faces, 10);
  for (const Real factor : {30., 0.2, -1., std::numeric_limits<Real>::infinity()}) {
    const DenseSystem wrong(good, b, factor);
    solve.x.fill({});
    solve(wrong);
    EXPECT_LE((b - good * numbers_of(solve.x)).norm(), 1.0001e-8 * b.norm()) << factor;
    EXPECT_LT(wrong.products_in_single, 100) << factor;
    EXPECT_GT(wrong.products_in_double, 0) << factor;
  }
}

TEST(RefinedConjugateGradient, remembers_what_either_precision_found) {
  constexpr Index faces = 20;
  const MatrixXd a = positive_definite(faces, 50);
  const VectorXd b = VectorXd::Random(3 * faces), c = VectorXd::Random(3 * faces);
  for (const Real factor : {1., 30.}) {  // the second ends in double
    Solve solve(faces, {1e-5, 0, 10000});
    SolutionHistory<FaceVectors<float>> history(solve.solver.like().executor());
    const auto iterations = [&](const DenseSystem& system) {
      solve.x.fill({});
      return solve(system, 0, {&history}).iterations;
    };
    EXPECT_GT(iterations({a, b, factor}), 10);
    EXPECT_GT(iterations({a, c, factor}), 10);
    EXPECT_EQ(history.size(), 2u);
    EXPECT_LE(iterations({a, 3 * b - 2 * c}), 1) << factor;
    EXPECT_LE((3 * b - 2 * c - a * numbers_of(solve.x)).norm(), 1.0001e-5 * (3 * b - 2 * c).norm());
  }
}

TEST(RefinedConjugateGradient, forms_no_last_residual_where_rounding_cannot_matter) {
  constexpr Index faces = 20;
  const MatrixXd a = positive_definite(faces, 50);
  const VectorXd b = VectorXd::Random(3 * faces);
  const Real eps = static_cast<Real>(std::numeric_limits<float>::epsilon());
  struct Expected {
    Real tolerance, rounding;
    int residuals;
  };
  // From zero: one correction, with rounding far below the target; with rounding that is not known, or larger
  // than the target; two corrections, of which the first stops short of the target.
  for (const auto& [tolerance, rounding, residuals] : {Expected{1e-2, 10 * eps, 1},
                                                       Expected{1e-4, 10 * eps, 1},
                                                       {1e-4, std::numeric_limits<Real>::infinity(), 2},
                                                       {1e-4, 1e-2, 2},
                                                       {1e-10, 10 * eps, 2}}) {
    Solve solve(faces, {tolerance, 0, 1000});
    SolutionHistory<FaceVectors<float>> history(solve.solver.like().executor());
    // Something to be multiplied with what the solve changes: its residual, orthogonal to the solution, is
    // not to this.
    FaceVectors<float> change = alike(solve.solver.like()), image = alike(change);
    const VectorXd earlier = VectorXd::Random(3 * faces).cast<float>().cast<Real>();
    set(change, earlier);
    set(image, a * earlier);
    history.append({}, change, image);
    const DenseSystem system(a, b, 1, rounding);
    const SolveReport report = solve(system, 0, {&history});
    EXPECT_EQ(system.residuals, residuals) << tolerance << " " << rounding;
    const VectorXd found = numbers_of(solve.x), left = b - a * found;
    EXPECT_LE(left.norm(), tolerance * b.norm());
    EXPECT_NEAR(report.residual, left.norm() / b.norm(), 0.02 * report.residual);
    // What is remembered is the image all the same.
    ASSERT_EQ(history.size(), 2u);
    const std::vector<Real> products = history.known(1).products;
    EXPECT_NEAR(products[0], earlier.dot(a * found), 1e-6 * earlier.norm() * (a * found).norm());
    EXPECT_NEAR(products[1], found.dot(a * found), 1e-6 * found.norm() * (a * found).norm());
  }
  // A matrix that is another one in single precision by no more than is said.
  Solve solve(faces, {1e-4, 0, 1000});
  const DenseSystem inexact(a, b, 1.001, 0.05);
  solve(inexact);
  EXPECT_LE((b - a * numbers_of(solve.x)).norm(), 1e-4 * b.norm());
  EXPECT_EQ(inexact.residuals, 2);
}

TEST(RefinedConjugateGradient, remembers_no_change_whose_image_would_be_rounding) {
  constexpr Index faces = 20;
  const MatrixXd a = positive_definite(faces, 50);
  const VectorXd b = VectorXd::Random(3 * faces);
  for (const auto& [noise, remembered] : {std::pair<Real, std::size_t>{1e-7, 1}, {1e-5, 0}}) {
    Solve solve(faces, {1e-12, 0, 1000});
    SolutionHistory<FaceVectors<float>> history(solve.solver.like().executor());
    EXPECT_GT(solve({a, b}, noise * b.norm(), {&history}).iterations, 1);
    EXPECT_EQ(history.size(), remembered) << noise;
  }
}

TEST(RefinedConjugateGradient, every_failure_names_the_unknown_and_the_cause) {
  constexpr Index faces = 20;
  const VectorXd b = VectorXd::Ones(3 * faces);
  EXPECT_NE(Solve(faces, {1e-10, 0, 5})
                .failure({positive_definite(faces, 1e6), b})
                .find("momentum did not converge after 5 iterations"),
            std::string::npos);
  EXPECT_NE(Solve(faces, {}).failure({-positive_definite(faces, 10), b}).find("not positive definite"),
            std::string::npos);
  EXPECT_NE(Solve(faces, {})
                .failure({positive_definite(faces, 10), std::numeric_limits<Real>::quiet_NaN() * b})
                .find("not a number"),
            std::string::npos);
  EXPECT_NE(Solve(faces, {1e-30, 0, 100000})
                .failure({positive_definite(faces, 1e3), b})
                .find("momentum cannot come closer"),
            std::string::npos);
}

TEST(RefinedConjugateGradient, takes_what_is_there_and_stops_where_only_rounding_is_left) {
  constexpr Index faces = 20;
  const MatrixXd a = positive_definite(faces, 1e3);
  const VectorXd b = VectorXd::Random(3 * faces);
  Solve solve(faces, {1e-30, 0, 1000});
  const DenseSystem system(a, b);
  EXPECT_LE(solve(system, 1e-9 * b.norm()).residual, 1e-9);
  const VectorXd found = numbers_of(solve.x);
  EXPECT_EQ(solve(system, 1e-9 * b.norm()).iterations, 0);
  EXPECT_EQ(numbers_of(solve.x), found);
}

}  // namespace
}  // namespace curlew
