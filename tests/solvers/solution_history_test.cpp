// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/solution_history.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "mesh/entities.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/least_energy.hpp"
#include "solvers/preconditioners.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using Unknown = DualCochain<Cell>;
using Image = PrimalCochain<Cell>;

class MatrixOperator : public Operator<Unknown, Image> {
 public:
  explicit MatrixOperator(MatrixXd matrix) : matrix_(std::move(matrix)) {}
  void apply(const Unknown& x, Image& y) const override {
    const std::vector<Real> values = x.to_host();
    const VectorXd product = matrix_ * Eigen::Map<const VectorXd>(values.data(), matrix_.cols());
    y.copy_from_host({product.data(), values.size()});
  }
  void apply_transpose(const Unknown& x, Image& y) const override { apply(x, y); }

 private:
  MatrixXd matrix_;
};

/// Symmetric, with eigenvalues from `least` to 1.
MatrixXd symmetric(Eigen::Index size, Real least, unsigned seed) {
  std::srand(seed);
  const MatrixXd q = Eigen::HouseholderQR<MatrixXd>(MatrixXd::Random(size, size)).householderQ();
  VectorXd eigenvalues(size);
  for (Eigen::Index i = 0; i < size; ++i)
    eigenvalues(i) = std::pow(least, static_cast<Real>(i) / static_cast<Real>(size - 1));
  const MatrixXd a = q * eigenvalues.asDiagonal() * q.transpose();
  return (a + a.transpose()) / 2;
}

template <class F>
void set(F& field, const VectorXd& values) {
  field.copy_from_host({values.data(), at(field.size())});
}
template <class F>
VectorXd get(const F& field) {
  const std::vector<Real> values = field.to_host();
  return Eigen::Map<const VectorXd>(values.data(), static_cast<Eigen::Index>(values.size()));
}

struct Vectors {
  explicit Vectors(const Executor& executor, Index size)
      : x(executor, size, "x", "1"), scratch(alike(x)), image(executor, size, "image", "1") {}
  Unknown x, scratch;
  Image image;
};

TEST(LeastEnergy, factors_solve_the_gram_system_of_independent_vectors) {
  const MatrixXd gram = symmetric(4, 1e-3, 1);
  const VectorXd projections = VectorXd::Random(4), expected = gram.fullPivLu().solve(projections);
  const std::vector<Real> factors = least_energy_factors({gram.data(), 16}, {projections.data(), 4});
  for (Eigen::Index i = 0; i < 4; ++i) EXPECT_NEAR(factors[at(i)], expected(i), 1e-10 * expected.norm());
}

TEST(LeastEnergy, vectors_of_very_different_size_count_alike) {
  const MatrixXd gram = symmetric(3, 0.1, 2);
  const VectorXd scale = VectorXd{{1, 1e-9, 1e7}}, projections = VectorXd::Random(3);
  const MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  const VectorXd of_scaled = scale.cwiseProduct(projections);
  const std::vector<Real> factors = least_energy_factors({scaled.data(), 9}, {of_scaled.data(), 3});
  const VectorXd expected = gram.fullPivLu().solve(projections);
  for (Eigen::Index i = 0; i < 3; ++i)
    EXPECT_NEAR(factors[at(i)] * scale(i), expected(i), 1e-10 * expected.norm());
}

TEST(LeastEnergy, dependent_vectors_and_those_that_are_not_finite_do_no_harm) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  // Twice the same vector, one of zero, one that is not a number; of the error (1) along the first all is
  // known.
  const std::vector<Real> gram{2, 2, 0, nan, 2, 2, 0, nan, 0, 0, 0, nan, nan, nan, nan, nan};
  const std::vector<Real> factors = least_energy_factors(gram, std::vector<Real>{2, 2, 0, nan});
  EXPECT_NEAR(factors[0] + factors[1], 1, 1e-12);
  EXPECT_LT(std::abs(factors[0]), 2);
  EXPECT_EQ(factors[2], 0);
  EXPECT_EQ(factors[3], 0);
}

TEST(SolutionHistory, a_solution_made_of_earlier_ones_is_found_at_once_for_any_factors_of_the_matrix) {
  for (const Executor& executor : all_backends()) {
    constexpr Index size = 40;
    const MatrixXd mass = symmetric(size, 1e-1, 3), stiffness = symmetric(size, 1e-4, 4);
    const MatrixOperator of_mass(mass), of_stiffness(stiffness);
    const auto matrix = [&](Real a, Real b) { return MatrixSum<Unknown>{{a, &of_mass}, {b, &of_stiffness}}; };
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor, 2);
    const MatrixXd changes = MatrixXd::Random(size, 6);
    for (Eigen::Index k = 0; k < changes.cols(); ++k) {
      set(v.x, changes.col(k));
      history.append(matrix(1, 2), v.x, v.image);
      EXPECT_EQ(history.size(), std::min<std::size_t>(at(k) + 1, solution_history_depth));
    }
    // The last four are kept.
    const VectorXd wanted = changes.rightCols(4) * VectorXd{{1, -4, 6, 3}};
    for (const auto& [a, b] : {std::pair<Real, Real>{1, 2}, {0.3, 50}}) {
      const MatrixXd whole = a * mass + b * stiffness;
      set(v.image, whole * wanted);
      const VectorXd guess = VectorXd::Random(size);
      set(v.image, whole * wanted);
      set(v.x, guess);
      history.improve(matrix(a, b), v.image, v.x, v.scratch);
      EXPECT_LT((get(v.x) - guess - wanted).norm(), 1e-5 * wanted.norm()) << executor.name();
      // What is orthogonal to all of them in energy adds nothing; an earlier one is forgotten.
      MatrixXd kept = changes.rightCols(4);
      const VectorXd forgotten = changes.col(0);
      const VectorXd left =
          forgotten -
          kept * (kept.transpose() * whole * kept).ldlt().solve(kept.transpose() * whole * forgotten);
      set(v.image, whole * left);
      set(v.x, VectorXd::Zero(size));
      history.improve(matrix(a, b), v.image, v.x, v.scratch);
      EXPECT_LT(get(v.x).norm(), 1e-5 * left.norm()) << executor.name();
    }
  }
}

TEST(SolutionHistory, one_that_is_read_and_appended_anew_has_the_same_bits_on_every_backend) {
  constexpr Index size = 30;
  const MatrixOperator matrix(symmetric(size, 1e-3, 5));
  const MatrixSum<Unknown> sum{{2, &matrix}};
  const MatrixXd changes = MatrixXd::Random(size, 5);
  const VectorXd residual = VectorXd::Random(size);
  VectorXd expected;
  for (const Executor& executor : all_backends()) {
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor, 1), again(executor, 1);
    for (Eigen::Index k = 0; k < changes.cols(); ++k) {
      set(v.x, changes.col(k));
      history.append(sum, v.x, v.image);
    }
    for (std::size_t k = 0; k < history.size(); ++k) {
      history.read(k, v.x);
      EXPECT_EQ(get(v.x), changes.col(static_cast<Eigen::Index>(k) + 1).cast<float>().cast<Real>());
      again.append(sum, v.x, v.image);
    }
    set(v.image, residual);
    for (SolutionHistory<Unknown>* one : {&history, &again}) {
      v.x.fill(0);
      one->improve(sum, v.image, v.x, v.scratch);
      if (expected.size() == 0) expected = get(v.x);
      EXPECT_GT(expected.norm(), 0);
      EXPECT_EQ(get(v.x), expected) << executor.name();
    }
    history.clear();
    v.x.fill(0);
    history.improve(sum, v.image, v.x, v.scratch);
    EXPECT_EQ(get(v.x), VectorXd::Zero(size));
  }
}

TEST(SolutionHistory, brings_the_products_with_all_changes_together_among_ranks_at_once) {
  struct FourRanks final : Ranks {
    int rank() const override { return 0; }
    int ranks() const override { return 4; }
    void sums(std::span<BinnedSum> mine) const override {
      ++calls;
      for (BinnedSum& sum : mine) {
        const BinnedSum own = sum;
        for (int others = 0; others < 3; ++others) sum.add(own);
      }
    }
    Real maximum(Real mine) const override { return mine; }
    mutable int calls = 0;
  };
  constexpr Index size = 30;
  const auto ranks = std::make_shared<FourRanks>();
  const MatrixOperator mass(symmetric(size, 1e-1, 8)), stiffness(symmetric(size, 1e-3, 9));
  const MatrixSum<Unknown> sum{{1, &mass}, {0.5, &stiffness}};
  std::vector<VectorXd> guesses;
  for (const Executor& executor : {Executor::serial(), Executor::serial().among(ranks)}) {
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor, 2);
    for (std::size_t k = 1; k <= solution_history_depth; ++k) {
      set(v.x, VectorXd::Unit(size, static_cast<Eigen::Index>(3 * k)));
      history.append(sum, v.x, v.image);
      EXPECT_EQ(std::exchange(ranks->calls, 0), executor.ranks() == nullptr ? 0 : 2);
    }
    set(v.image, VectorXd::LinSpaced(size, 1, 2));
    v.x.fill(0);
    history.improve(sum, v.image, v.x, v.scratch);
    EXPECT_EQ(std::exchange(ranks->calls, 0), executor.ranks() == nullptr ? 0 : 1);
    guesses.push_back(get(v.x));
  }
  // All have the same: four times the matrix and the right-hand side, which changes no bit of the guess.
  EXPECT_GT(guesses[0].norm(), 0.1);
  EXPECT_EQ(guesses[1], guesses[0]);
}

TEST(SolutionHistory, what_rounding_adds_to_a_change_is_taken_out) {
  constexpr Index size = 20;
  const MatrixOperator matrix(symmetric(size, 1e-1, 6));
  const MatrixSum<Unknown> sum{{1, &matrix}};
  Vectors v(Executor::serial(), size);
  // Free are vectors without a part along (1, …, 1), which rounding to single precision would give them.
  const auto without_mean = [](const VectorXd& x) { return VectorXd(x.array() - x.mean()); };
  SolutionHistory<Unknown> history(Executor::serial(), 1, [&](Unknown& x) { set(x, without_mean(get(x))); });
  for (int k = 0; k < 4; ++k) {
    set(v.x, without_mean(VectorXd::Random(size)));
    history.append(sum, v.x, v.image);
    EXPECT_LT(std::abs(get(v.x).mean()), 1e-15);
  }
  set(v.image, VectorXd::Random(size));
  v.x.fill(0);
  history.improve(sum, v.image, v.x, v.scratch);
  EXPECT_GT(get(v.x).norm(), 1e-2);
  EXPECT_LT(std::abs(get(v.x).mean()), 1e-15);
}

TEST(SolutionHistory, lets_conjugate_gradients_start_near_a_smooth_sequence_of_solutions) {
  constexpr Index size = 200;
  const MatrixXd matrix = symmetric(size, 1e-4, 7);
  const MatrixOperator op(matrix);
  const VectorXd first = VectorXd::Random(size), second = VectorXd::Random(size);
  const auto right_hand_side = [&](int step) {
    return VectorXd(std::cos(0.1 * step) * first + std::sin(0.17 * step) * second);
  };
  const auto iterations = [&](bool with_history) {
    Vectors v(Executor::serial(), size);
    SolutionHistory<Unknown> history(v.x.executor(), 1);
    ConjugateGradient<Unknown> solver(Executor::serial(), size, "pressure", {1e-8, 0, 1000});
    Image b(Executor::serial(), size, "b", "1");
    IdentityPreconditioner<Unknown> none;
    int last = 0;
    for (int step = 0; step < 12; ++step) {
      const VectorXd wanted = right_hand_side(step);
      set(b, wanted);
      Recall<Unknown> recall;
      if (with_history) recall = {&history, {{1, &op}}};
      last = solver.solve(op, none, b, v.x, {wanted.norm(), 0}, nullptr, recall).iterations;
      EXPECT_LT((matrix * get(v.x) - wanted).norm(), 1.0001e-8 * wanted.norm());
    }
    return last;
  };
  // All solutions lie in a plane: after a few only what single precision rounds away is left.
  EXPECT_LT(iterations(true), 0.5 * iterations(false));
}

}  // namespace
}  // namespace curlew
