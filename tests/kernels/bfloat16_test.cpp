// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/bfloat16.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace curlew {
namespace {

float stored(Real value) {
  return BFloat16(value);
}

TEST(BFloat16, keeps_numbers_of_eight_binary_digits) {
  for (const Real value : {0.0, 1.0, -1.0, 1.5, 255.0, -0.9921875, std::ldexp(129.0, -130)})
    EXPECT_EQ(stored(value), static_cast<float>(value));
  EXPECT_EQ(sizeof(BFloat16), 2u);
  EXPECT_EQ(static_cast<float>(BFloat16()), 0.f);
}

/// Between 1 and 2 neighbours are 2⁻⁷ apart.
TEST(BFloat16, rounds_to_the_nearest_and_ties_to_even) {
  const Real unit = std::ldexp(1.0, -7);
  EXPECT_EQ(stored(1 + 0.49 * unit), 1.f);
  EXPECT_EQ(stored(1 + 0.51 * unit), static_cast<float>(1 + unit));
  EXPECT_EQ(stored(1 + 0.5 * unit), 1.f);
  EXPECT_EQ(stored(1 + 1.5 * unit), static_cast<float>(1 + 2 * unit));
  EXPECT_EQ(stored(-1 - 0.51 * unit), static_cast<float>(-1 - unit));
  EXPECT_EQ(stored(2 - 0.1 * unit), 2.f);  // carries into the exponent
}

TEST(BFloat16, errs_by_a_part_in_256_at_most_over_the_range_of_single_precision) {
  Real largest_error = 0;
  for (Real value = 1.3e-37; value < 1e37; value *= 1.0373) {
    largest_error = std::max(largest_error, std::abs(static_cast<Real>(stored(value)) / value - 1));
    ASSERT_EQ(stored(-value), -stored(value));
  }
  EXPECT_LE(largest_error, 1 / 256.0);
  EXPECT_GE(largest_error, 0.9 / 256);
}

}  // namespace
}  // namespace curlew
