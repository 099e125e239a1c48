// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/solution_history.hpp"

#include <gtest/gtest.h>

#include <Eigen/Core>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "kernels/memory_use.hpp"
#include "mesh/entities.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/least_energy.hpp"
#include "solvers/preconditioners.hpp"
#include "tests/dense_algebra.hpp"
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
      : x(executor, size, "x", "1"), image(executor, size, "image", "1"), scratch(alike(image)) {}
  Unknown x;
  Image image, scratch;
};

TEST(LeastEnergy, factors_solve_the_gram_system_of_independent_vectors) {
  const MatrixXd gram = random_symmetric(4, 1e-3, 1);
  const VectorXd projections = VectorXd::Random(4), expected = solved(gram, projections);
  const std::vector<Real> factors = least_energy_factors({gram.data(), 16}, {projections.data(), 4});
  for (Eigen::Index i = 0; i < 4; ++i) EXPECT_NEAR(factors[at(i)], expected(i), 1e-10 * expected.norm());
}

TEST(LeastEnergy, vectors_of_very_different_size_count_alike) {
  const MatrixXd gram = random_symmetric(3, 0.1, 2);
  const VectorXd scale = VectorXd{{1, 1e-9, 1e7}}, projections = VectorXd::Random(3);
  const MatrixXd scaled = scale.asDiagonal() * gram * scale.asDiagonal();
  const VectorXd of_scaled = scale.cwiseProduct(projections);
  const std::vector<Real> factors = least_energy_factors({scaled.data(), 9}, {of_scaled.data(), 3});
  const VectorXd expected = solved(gram, projections);
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

/// What a history makes of A⁻¹ r.
VectorXd improvement(SolutionHistory<Unknown>& history, const StepMatrix<Unknown>& matrix,
                     const VectorXd& residual, Vectors& v) {
  set(v.image, residual);
  const std::vector<Real> factors = history.factors(matrix, v.image, v.x, v.scratch);
  v.x.fill(0);
  if (!factors.empty()) history.set_combination(factors, v.x);
  return get(v.x);
}

TEST(SolutionHistory, a_solution_made_of_earlier_ones_is_found_at_once_for_any_factors_of_the_matrix) {
  for (const Executor& executor : all_backends()) {
    constexpr Index size = 40;
    const MatrixXd mass = random_symmetric(size, 1e-1, 3), stiffness = random_symmetric(size, 1e-4, 4);
    const MatrixOperator of_mass(mass);
    const auto whole = [&](Real a, Real b) { return MatrixXd(a * mass + b * stiffness); };
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor);
    const MatrixXd changes = MatrixXd::Random(size, 6);
    for (Eigen::Index k = 0; k < changes.cols(); ++k) {
      // Of a step that is the longer the later.
      const Real a = 1 + static_cast<Real>(k / 2);
      set(v.x, changes.col(k));
      set(v.image, whole(a, 2) * changes.col(k));
      history.append({a, 2, &of_mass}, v.x, v.image);
      EXPECT_EQ(history.size(), std::min<std::size_t>(at(k) + 1, solution_history_depth));
    }
    // The last four are kept.
    const VectorXd wanted = changes.rightCols(4) * VectorXd{{1, -4, 6, 3}};
    for (const auto& [a, b] : {std::pair<Real, Real>{3, 2}, {0.3, 50}, {3, 2}, {0, 1}}) {
      const StepMatrix<Unknown> matrix{a, b, &of_mass};
      const VectorXd residual = whole(a, b) * wanted;
      EXPECT_LT((improvement(history, matrix, residual, v) - wanted).norm(), 1e-5 * wanted.norm())
          << executor.name();
      // What is orthogonal to all of them in energy adds nothing; an earlier one is forgotten.
      MatrixXd kept = changes.rightCols(4);
      const VectorXd forgotten = changes.col(0);
      const MatrixXd rows = kept.transpose() * whole(a, b);
      const VectorXd left = forgotten - kept * solved(rows * kept, rows * forgotten);
      EXPECT_LT(improvement(history, matrix, whole(a, b) * left, v).norm(), 1e-5 * left.norm())
          << executor.name();
    }
  }
}

TEST(SolutionHistory, steps_that_differ_by_rounding_are_of_one_length) {
  constexpr Index size = 20;
  const MatrixXd mass = random_symmetric(size, 1e-1, 14), stiffness = random_symmetric(size, 1e-2, 15);
  Vectors v(Executor::serial(), size);
  SolutionHistory<Unknown> history(v.x.executor());
  const VectorXd change = VectorXd::Random(size);
  set(v.x, change);
  set(v.image, (3 * mass + stiffness) * change);
  history.append({3, 1}, v.x, v.image);
  // Else the product with the mass, which is not there, would be asked for.
  const VectorXd found = improvement(history, {3 * (1 + 1e-15), 1}, (3 * mass + stiffness) * change, v);
  EXPECT_LT((found - change).norm(), 1e-5 * change.norm());
}

TEST(SolutionHistory, changes_by_a_matrix_that_lacked_a_part_are_forgotten) {
  constexpr Index size = 10;
  Vectors v(Executor::serial(), size);
  SolutionHistory<Unknown> history(v.x.executor());
  set(v.x, VectorXd::Ones(size));
  set(v.image, VectorXd::Ones(size));
  history.append({1, 0}, v.x, v.image);
  EXPECT_EQ(improvement(history, {1, 0}, VectorXd::Ones(size), v), VectorXd::Ones(size));
  EXPECT_EQ(improvement(history, {1, 1}, VectorXd::Ones(size), v), VectorXd::Zero(size));
  EXPECT_EQ(history.size(), 0u);
}

TEST(SolutionHistory, the_image_of_a_change_is_what_it_took_from_the_residual) {
  for (const Executor& executor : all_backends()) {
    constexpr Index size = 20;
    const MatrixXd matrix = random_symmetric(size, 1e-2, 10);
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor);
    const VectorXd change = VectorXd::Random(size), left = 1e-3 * VectorXd::Random(size);
    set(v.image, 0.25 * (matrix * change + left));
    history.begin(4, v.image);
    set(v.image, 8 * left);
    set(v.x, 2 * change);
    history.end({}, 0.5, v.x, 0.125, v.image);
    const std::vector<Real> products = history.known(0).products;
    history.read(0, v.x);
    EXPECT_EQ(get(v.x), change.cast<float>().cast<Real>());
    ASSERT_EQ(products.size(), 1u);
    const Real expected = change.dot(matrix * change);
    EXPECT_NEAR(products.front(), expected, 1e-6 * expected) << executor.name();
  }
}

TEST(SolutionHistory, those_that_take_turns_keep_one_residual_and_have_the_bits_of_others) {
  constexpr Index size = 1000;
  const Executor executor = Executor::debug_device();
  Vectors v(executor, size);
  using History = SolutionHistory<Unknown>;
  History first(executor), second(executor, nullptr, &first), alone(executor), another(executor);
  // Gives the bytes that begin() takes.
  const auto solve = [&](History& history, unsigned which) {
    std::srand(which);
    set(v.image, VectorXd::Random(size));
    const std::size_t before = device_memory(executor.space()).used;
    history.begin(1, v.image);
    const std::size_t taken = device_memory(executor.space()).used - before;
    set(v.image, VectorXd::Random(size));
    set(v.x, VectorXd::Random(size));
    history.end({}, 1, v.x, 1, v.image);
    return taken;
  };
  EXPECT_GE(solve(first, 1), size * sizeof(float));
  EXPECT_EQ(solve(second, 2), 0u);
  EXPECT_EQ(solve(first, 3), 0u);
  solve(alone, 1);
  EXPECT_GE(solve(another, 2), size * sizeof(float));
  solve(alone, 3);
  EXPECT_NE(alone.known(0).products, another.known(0).products);
  EXPECT_EQ(first.known(0).products, alone.known(0).products);
  EXPECT_EQ(first.known(1).products, alone.known(1).products);
  EXPECT_EQ(second.known(0).products, another.known(0).products);
}

TEST(SolutionHistory, products_are_made_anew_where_a_matrix_has_changed) {
  for (const Executor& executor : all_backends()) {
    constexpr Index size = 30;
    const MatrixXd mass = random_symmetric(size, 1e-1, 11), earlier = random_symmetric(size, 1e-3, 12),
                   present = random_symmetric(size, 1e-3, 13);
    const MatrixOperator of_mass(mass);
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor);
    const MatrixXd changes = MatrixXd::Random(size, 3);
    for (Eigen::Index k = 0; k < changes.cols(); ++k) {
      set(v.x, changes.col(k));
      set(v.image, (2 * mass + earlier) * changes.col(k));
      history.append({2, 1, &of_mass}, v.x, v.image);
    }
    const VectorXd wanted = changes * VectorXd{{2, 1, -1}}, residual = (2 * mass + present) * wanted;
    const StepMatrix<Unknown> matrix{2, 1, &of_mass};
    EXPECT_GT((improvement(history, matrix, residual, v) - wanted).norm(), 1e-2 * wanted.norm());
    history.renew(MatrixOperator(present), v.x, v.image);
    EXPECT_LT((improvement(history, matrix, residual, v) - wanted).norm(), 1e-5 * wanted.norm())
        << executor.name();
  }
}

TEST(SolutionHistory, one_that_is_read_and_appended_anew_has_the_same_bits_on_every_backend) {
  constexpr Index size = 30;
  const MatrixXd mass = random_symmetric(size, 1e-1, 5), stiffness = random_symmetric(size, 1e-3, 6);
  const MatrixOperator of_mass(mass);
  const MatrixXd changes = MatrixXd::Random(size, 5);
  const VectorXd residual = VectorXd::Random(size);
  VectorXd expected;
  for (const Executor& executor : all_backends()) {
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor), again(executor);
    for (Eigen::Index k = 0; k < changes.cols(); ++k) {
      const Real a = static_cast<Real>(k + 1);
      set(v.x, changes.col(k));
      set(v.image, (a * mass + stiffness) * changes.col(k));
      history.append({a, 1, &of_mass}, v.x, v.image);
      // For other factors than its own, before the oldest are forgotten.
      if (k == 3) improvement(history, {7, 1, &of_mass}, residual, v);
    }
    for (std::size_t k = 0; k < history.size(); ++k) {
      const auto known = history.known(k);
      history.read(k, v.x);
      EXPECT_EQ(known.mass_factor, static_cast<Real>(k) + 2);
      EXPECT_EQ(known.stiffness_factor, 1);
      EXPECT_EQ(get(v.x), changes.col(static_cast<Eigen::Index>(k) + 1).cast<float>().cast<Real>());
      again.append(known, v.x);
    }
    for (SolutionHistory<Unknown>* one : {&history, &again}) {
      const VectorXd found = improvement(*one, {3, 1, &of_mass}, residual, v);
      if (expected.size() == 0) expected = found;
      EXPECT_GT(expected.norm(), 0);
      EXPECT_EQ(found, expected) << executor.name();
    }
    history.clear();
    EXPECT_EQ(improvement(history, {3, 1, &of_mass}, residual, v), VectorXd::Zero(size));
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
  const MatrixXd matrix = random_symmetric(size, 1e-1, 8);
  std::vector<VectorXd> guesses;
  for (const Executor& executor : {Executor::serial(), Executor::serial().among(ranks)}) {
    Vectors v(executor, size);
    SolutionHistory<Unknown> history(executor);
    for (std::size_t k = 1; k <= solution_history_depth; ++k) {
      const VectorXd change = VectorXd::Unit(size, static_cast<Eigen::Index>(3 * k));
      set(v.x, change);
      set(v.image, matrix * change);
      history.append({}, v.x, v.image);
      EXPECT_EQ(std::exchange(ranks->calls, 0), executor.ranks() == nullptr ? 0 : 1);
    }
    guesses.push_back(improvement(history, {}, VectorXd::LinSpaced(size, 1, 2), v));
    EXPECT_EQ(std::exchange(ranks->calls, 0), executor.ranks() == nullptr ? 0 : 1);
  }
  // All have the same: four times the matrix and the right-hand side, which changes no bit of the guess.
  EXPECT_GT(guesses[0].norm(), 0.1);
  EXPECT_EQ(guesses[1], guesses[0]);
}

TEST(SolutionHistory, what_rounding_adds_to_a_change_is_taken_out) {
  constexpr Index size = 20;
  const MatrixXd matrix = random_symmetric(size, 1e-1, 6);
  Vectors v(Executor::serial(), size);
  // Free are vectors without a part along (1, …, 1), which rounding to single precision would give them.
  const auto without_mean = [](const VectorXd& x) { return VectorXd(x.array() - x.mean()); };
  SolutionHistory<Unknown> history(Executor::serial(), [&](Unknown& x) { set(x, without_mean(get(x))); });
  for (int k = 0; k < 4; ++k) {
    const VectorXd change = without_mean(VectorXd::Random(size));
    set(v.x, change);
    set(v.image, matrix * change);
    history.append({}, v.x, v.image);
  }
  const VectorXd found = improvement(history, {}, VectorXd::Random(size), v);
  EXPECT_GT(found.norm(), 1e-2);
  EXPECT_LT(std::abs(found.mean()), 1e-15);
}

TEST(SolutionHistory, lets_conjugate_gradients_start_near_a_smooth_sequence_of_solutions) {
  constexpr Index size = 200;
  const MatrixXd matrix = random_symmetric(size, 1e-4, 7);
  const MatrixOperator op(matrix);
  const VectorXd first = VectorXd::Random(size), second = VectorXd::Random(size);
  const auto right_hand_side = [&](int step) {
    return VectorXd(std::cos(0.1 * step) * first + std::sin(0.17 * step) * second);
  };
  const auto iterations = [&](bool with_history) {
    Vectors v(Executor::serial(), size);
    SolutionHistory<Unknown> history(v.x.executor());
    ConjugateGradient<Unknown> solver(Executor::serial(), size, "pressure", {1e-8, 0, 1000});
    Image b(Executor::serial(), size, "b", "1");
    IdentityPreconditioner<Unknown> none;
    int last = 0;
    for (int step = 0; step < 12; ++step) {
      const VectorXd wanted = right_hand_side(step);
      set(b, wanted);
      Recall<Unknown> recall;
      if (with_history) recall = {&history};
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
