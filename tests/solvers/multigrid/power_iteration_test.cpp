// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/power_iteration.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/field.hpp"
#include "kernels/vector_kernels.hpp"

namespace curlew {
namespace {

/// A path's Laplacian scaled to a diagonal of one, whose eigenvalues fill (0, 2); apart from it, in the
/// middle, three unknowns with `coupling` between each two, of which the largest eigenvalue is 1 + 2
/// coupling.
struct PathWithTriple {
  Index unknowns;
  float coupling;

  std::vector<float> times(const std::vector<float>& x) const {
    std::vector<float> result = x;
    const std::size_t first = x.size() / 2, last = first + 3;
    const auto is_inside = [&](std::size_t i) { return i >= first && i < last; };
    for (std::size_t i = 0; i + 1 < x.size(); ++i) {
      if (is_inside(i) || is_inside(i + 1)) continue;
      result[i] -= x[i + 1] / 2;
      result[i + 1] -= x[i] / 2;
    }
    for (std::size_t i = first; i < last; ++i)
      for (std::size_t k = first; k < last; ++k)
        if (k != i) result[i] += coupling * x[k];
    return result;
  }
};

struct Estimate {
  Real eigenvalue;
  int products;
};

Estimate estimated(const PathWithTriple& matrix, Real bound) {
  const Executor executor = Executor::serial();
  Field<Unknown, float> x(executor, matrix.unknowns, "iterate", "1");
  std::vector<float> values(at(matrix.unknowns));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(hashed_number(static_cast<GlobalIndex>(i)));
  x.copy_from_host(values);
  int products = 0;
  const auto energy = [&] {
    return ProductOfEntity<Unknown, float>{std::as_const(x).view(), std::as_const(x).view()};
  };
  const auto multiply = [&](Real factor) {
    values = matrix.times(x.to_host());
    for (float& value : values) value *= static_cast<float>(factor);
    x.copy_from_host(values);
    ++products;
  };
  const Real eigenvalue = largest_eigenvalue_by_powers(executor, x, energy, multiply, bound);
  return {eigenvalue, products};
}

constexpr Real unbounded = std::numeric_limits<Real>::infinity();

TEST(PowerIteration, finds_an_eigenvalue_that_three_of_a_million_unknowns_have) {
  for (const float coupling : {0.8f, 0.9f, 0.99f}) {
    const Real exact = 1 + 2 * static_cast<Real>(coupling);
    const Real found = estimated({1000000, coupling}, unbounded).eigenvalue;
    EXPECT_GE(found, exact) << coupling;
    EXPECT_LE(found, 1.101 * exact) << coupling;
  }
}

TEST(PowerIteration, finds_one_that_modes_everywhere_have) {
  const Real found = estimated({1000000, 0}, unbounded).eigenvalue;
  EXPECT_GE(found, 2);
  EXPECT_LE(found, 2.2);
}

TEST(PowerIteration, ends_at_the_bound) {
  const Estimate estimate = estimated({1000, 0}, 1.5);
  EXPECT_EQ(estimate.eigenvalue, 1.5);
  EXPECT_LT(estimate.products, 6);
}

TEST(PowerIteration, a_matrix_of_zeros_has_none) {
  const Executor executor = Executor::serial();
  Field<Unknown, float> x(executor, 3, "iterate", "1");
  const auto energy = [&] {
    return ProductOfEntity<Unknown, float>{std::as_const(x).view(), std::as_const(x).view()};
  };
  const auto multiply = [&](Real) { x.fill(0); };
  x.fill(0);
  EXPECT_EQ(largest_eigenvalue_by_powers(executor, x, energy, multiply), 0);
  x.fill(1);
  EXPECT_EQ(largest_eigenvalue_by_powers(executor, x, energy, multiply), 0);
}

}  // namespace
}  // namespace curlew
