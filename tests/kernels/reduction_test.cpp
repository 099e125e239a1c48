// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/reduction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/vector_kernels.hpp"

namespace curlew {
namespace {

struct Cell;

std::vector<Real> random_values(std::size_t size) {
  std::mt19937_64 generator(size);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  std::vector<Real> values(size);
  for (Real& value : values) value = uniform(generator);
  return values;
}

/// The documented shape, written another way: recursion over whole arrays padded with zeros.
Real sum_by_definition(std::vector<Real> terms) {
  while (true) {
    std::vector<Real> sums;
    for (std::size_t first = 0; first < terms.size(); first += 2048) {
      std::vector<Real> lanes(256, 0.0);
      for (std::size_t i = first; i < std::min(first + 2048, terms.size()); ++i) {
        lanes[(i - first) % 256] += terms[i];
      }
      for (std::size_t half = 128; half > 0; half /= 2) {
        for (std::size_t i = 0; i < half; ++i) lanes[i] += lanes[i + half];
      }
      sums.push_back(lanes[0]);
    }
    if (sums.size() == 1) return sums[0];
    terms = sums;
  }
}

TEST(Sum, has_the_same_bits_on_every_backend_and_at_any_number_of_threads) {
  for (const std::size_t size : {1u, 31u, 255u, 256u, 257u, 2047u, 2048u, 2049u, 100003u, 4200000u}) {
    const std::vector<Real> values = random_values(size);
    const Real expected = sum_by_definition(values);
    for (const Executor& executor : {Executor::serial(), Executor::openmp(1), Executor::openmp(2),
                                     Executor::openmp(4), Executor::debug_device()}) {
      Field<Cell> x(executor, static_cast<Index>(size), "x", "1"), one(executor, x.size(), "one", "1");
      x.copy_from_host(values);
      one.fill(1);
      EXPECT_EQ(inner_product(x, one), expected) << executor.name() << " " << size;
    }
  }
}

TEST(Sum, of_nothing_is_zero) {
  const Field<Cell> x(Executor::serial(), 0, "x", "1");
  EXPECT_EQ(inner_product(x, x), 0.0);
}

struct TenthOfCell {
  float operator()(Id<Cell>) const { return 0.1f; }
};

TEST(Sum, of_a_million_single_precision_terms_is_far_more_accurate_than_a_running_sum) {
  constexpr Index terms = 1000000;
  const double exact = static_cast<double>(terms) * static_cast<double>(0.1f);
  float running = 0;
  for (Index i = 0; i < terms; ++i) running += 0.1f;
  const float fixed = sum(Executor::openmp(2), Range<Cell>(0, terms), TenthOfCell{});
  EXPECT_GT(std::abs(static_cast<double>(running) - exact), 500.0);
  EXPECT_LT(std::abs(static_cast<double>(fixed) - exact), 0.1);
}

}  // namespace
}  // namespace curlew
