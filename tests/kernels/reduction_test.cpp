// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "kernels/sums_over_range.hpp"
#include "kernels/vector_kernels.hpp"
#include "tests/kernels/alike_ranks.hpp"
#include "tests/kernels/backends.hpp"

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

__extension__ using WideInteger = __int128;

/// Rounded once: the terms in a fixed-point number of 2^-200 to 2^200.
Real exact_sum(const std::vector<Real>& terms) {
  std::array<std::int64_t, 13> limbs{};  // limb k counts 2^(32 k - 200)
  for (const Real term : terms) {
    int exponent = 0;
    const auto mantissa = static_cast<std::int64_t>(std::ldexp(std::frexp(term, &exponent), 53));
    const int place = exponent - 53 + 200;
    const WideInteger shifted = static_cast<WideInteger>(mantissa) << (place % 32);
    const auto limb = static_cast<std::size_t>(place / 32);
    limbs[limb] += static_cast<std::int64_t>(shifted & 0xffffffff);
    limbs[limb + 1] += static_cast<std::int64_t>((shifted >> 32) & 0xffffffff);
    limbs[limb + 2] += static_cast<std::int64_t>(shifted >> 64);
  }
  for (std::size_t k = 0; k + 1 < limbs.size(); ++k) {
    limbs[k + 1] += limbs[k] >> 32;
    limbs[k] &= 0xffffffff;
  }
  long double sum = 0;
  bool negative = limbs.back() < 0;
  if (negative) {  // the magnitude, so that the limbs do not cancel
    std::int64_t carry = 1;
    for (std::size_t k = 0; k + 1 < limbs.size(); ++k) {
      limbs[k] = (limbs[k] ^ 0xffffffff) + carry;
      carry = limbs[k] >> 32;
      limbs[k] &= 0xffffffff;
    }
    limbs.back() = ~limbs.back() + carry;
  }
  for (std::size_t k = 0; k < limbs.size(); ++k) {
    sum += std::ldexp(static_cast<long double>(limbs[k]), 32 * static_cast<int>(k) - 200);
  }
  return static_cast<Real>(negative ? -sum : sum);
}

Real sum_of(const std::vector<Real>& values, const Executor& executor = Executor::serial()) {
  Field<Cell> x(executor, static_cast<Index>(values.size()), "x", "1"), one(executor, x.size(), "one", "1");
  x.copy_from_host(values);
  one.fill(1);
  return inner_product(x, one);
}

TEST(Sum, has_the_same_bits_on_every_backend_and_at_any_number_of_threads) {
  for (const std::size_t size : {1u, 31u, 63u, 64u, 65u, 2047u, 2048u, 2049u, 100003u, 4200000u}) {
    const std::vector<Real> values = random_values(size);
    const Real expected = sum_of(values);
    EXPECT_NEAR(expected, exact_sum(values), 2e-16 * std::abs(expected)) << size;
    for (const Executor& executor : backends_beside_serial()) {
      EXPECT_EQ(sum_of(values, executor), expected) << executor.name() << " " << size;
    }
  }
}

/// Terms of very different size that nearly cancel.
std::vector<Real> wild_values(std::size_t size) {
  std::mt19937_64 generator(size);
  std::uniform_real_distribution<Real> uniform(-1, 1);
  std::uniform_int_distribution<int> exponent(-90, 90);
  std::vector<Real> values(size);
  for (Real& value : values) value = std::ldexp(uniform(generator), exponent(generator));
  for (std::size_t i = 1; i < size; i += 2) values[i] = -values[i - 1] * (1 + std::ldexp(Real(1), -30));
  return values;
}

TEST(Sum, does_not_depend_on_the_order_of_its_terms) {
  for (const std::size_t size : {2u, 65u, 5000u, 70001u}) {
    for (std::vector<Real> values : {random_values(size), wild_values(size)}) {
      const Real expected = sum_of(values);
      std::mt19937_64 generator(7);
      for (int repeat = 0; repeat < 20; ++repeat) {
        std::shuffle(values.begin(), values.end(), generator);
        ASSERT_EQ(sum_of(values), expected) << size;
      }
      std::sort(values.begin(), values.end());
      EXPECT_EQ(sum_of(values), expected) << size;
      std::sort(values.begin(), values.end(), [](Real a, Real b) { return std::abs(a) < std::abs(b); });
      EXPECT_EQ(sum_of(values), expected) << size;
    }
  }
}

TEST(Sum, does_not_depend_on_how_its_terms_are_divided) {
  for (const std::vector<Real>& values : {random_values(30000), wild_values(30000)}) {
    const Real expected = sum_of(values);
    std::mt19937_64 generator(3);
    for (const std::size_t parts : {2u, 3u, 8u, 1000u, 30000u}) {
      std::vector<std::vector<Real>> terms(parts);
      for (const Real value : values) terms[generator() % parts].push_back(value);
      std::vector<BinnedSum> sums;
      for (const auto& part : terms) {
        sums.push_back(binned_sum(static_cast<Index>(part.size()), [&](Index k) { return part[at(k)]; }));
      }
      BinnedSum forward, backward;
      for (std::size_t p = 0; p < parts; ++p) {
        forward.add(sums[p]);
        backward.add(sums[parts - 1 - p]);
      }
      EXPECT_EQ(forward.value(), expected) << parts;
      EXPECT_EQ(backward.value(), expected) << parts;
    }
  }
}

TEST(Sum, of_more_terms_than_one_slicer_takes_is_exact) {
  constexpr Index terms = (1 << 24) + 12345;  // of 2^39 - 1 quanta each
  const Real term = std::ldexp(Real(1), 39) - 1;
  EXPECT_EQ(binned_sum(terms, [&](Index) { return term; }).value(), static_cast<Real>(terms) * term);
}

TEST(Sum, is_right_to_2_to_the_minus_80_of_the_largest_term) {
  for (const std::size_t size : {2u, 500u, 100000u}) {
    const std::vector<Real> values = wild_values(size);
    Real largest = 0;
    for (const Real value : values) largest = std::max(largest, std::abs(value));
    const Real exact = exact_sum(values);
    EXPECT_NEAR(sum_of(values), exact,
                static_cast<Real>(size) * std::ldexp(largest, -80) + 4e-16 * std::abs(exact));
  }
}

TEST(Sum, of_terms_around_every_power_of_two_is_their_sum) {
  for (int exponent = -960; exponent < 996; ++exponent) {
    const Real x = std::ldexp(Real(1), exponent), below = std::nextafter(x, Real(0)),
               above = std::nextafter(x, 2 * x);
    EXPECT_EQ(sum_of({x}), x);
    EXPECT_EQ(sum_of({below}), below);
    EXPECT_EQ(sum_of({above, x}), above + x) << exponent;
    EXPECT_EQ(sum_of({above, -x, below, -below, x, -above, x, -below}), x - below) << exponent;
    EXPECT_EQ(sum_of({x / 2, -above, x / 4, below, x / 4}), (x - above) + below) << exponent;
  }
}

TEST(Slicer, takes_the_terms_that_it_is_made_for) {
  for (int exponent = -1070; exponent < 999; ++exponent) {
    for (const Real mantissa : {1.0, 1.5, 2 - 1e-15}) {
      const std::int64_t magnitude = binning::magnitude_of(std::ldexp(mantissa, exponent));
      const binning::Slicer slicer(magnitude);
      EXPECT_LT(magnitude, slicer.limit()) << exponent;
      EXPECT_LE(slicer.top(), binning::highest_bin) << exponent;
    }
  }
  EXPECT_EQ(binning::Slicer(binning::magnitude_of(std::ldexp(Real(1), 999))).top(), binning::not_finite);
}

TEST(Sum, of_terms_that_are_not_finite_or_too_large_is_not_a_number) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity(),
                 nan = std::numeric_limits<Real>::quiet_NaN();
  for (const Real bad : {infinity, -infinity, nan, -nan, 1e301}) {
    for (const std::size_t place : {0u, 63u, 64u, 4999u}) {
      std::vector<Real> values = random_values(5000);
      values[place] = bad;
      EXPECT_TRUE(std::isnan(sum_of(values))) << bad << " at " << place;
    }
  }
  EXPECT_EQ(sum_of({1e300, 1e300}), 2e300);
}

TEST(Sum, of_terms_too_small_to_count_is_zero) {
  EXPECT_EQ(sum_of({std::numeric_limits<Real>::denorm_min(), -1e-320}), 0.0);
  EXPECT_EQ(sum_of({0.0, -0.0}), 0.0);
  EXPECT_EQ(sum_of({1e-290, 1e-320}), 1e-290);
}

struct Row;
struct TermOfCell {
  Real factor;
  View<Cell, const Real> value;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const { return factor * value[c]; }
};
struct TermsOfRows {
  View<Cell, const Real> value;
  CURLEW_HOST_DEVICE TermOfCell operator()(Id<Row> r) const {
    return {static_cast<Real>(r.value() + 1), value};
  }
};

TEST(SeveralSums, have_the_bits_of_one_sum_after_the_other_on_every_backend_and_among_many_ranks) {
  const Index chunk = reduction_shape::chunk;
  const std::vector<Real> values = random_values(70000);
  std::vector<Range<Cell>> one_chunk_each, all;
  for (Index k = 0; k < 40; ++k) one_chunk_each.emplace_back(37 * k, 37 * k + 1 + k % 5);
  one_chunk_each.emplace_back(7, 7 + chunk);
  all = one_chunk_each;
  for (const Range<Cell> range : {Range<Cell>(0, 20000), Range<Cell>(11, 11), Range<Cell>(5, 6 + chunk),
                                  Range<Cell>(3, 3 + 3 * chunk), Range<Cell>(0, 70000)})
    all.push_back(range);
  for (const std::vector<Range<Cell>>& ranges : {one_chunk_each, all, std::vector<Range<Cell>>{}}) {
    std::vector<Executor> executors = all_backends();
    executors.push_back(Executor::serial().among(std::make_shared<AlikeRanks>(3)));
    executors.push_back(Executor::debug_device().among(std::make_shared<AlikeRanks>(3)));
    for (const Executor& executor : executors) {
      Field<Cell> field(executor, 70000, "x", "1");
      field.copy_from_host(values);
      const SeveralSums<Row, Cell> sums(executor, ranges);
      const View<Cell, const Real> view = std::as_const(field).view();
      const View<Row, const BinnedSum> place = sums.make(TermsOfRows{view});
      std::vector<BinnedSum> made(ranges.size());
      copy_bytes(made.data(), MemorySpace::Host, place.data(), executor.space(),
                 made.size() * sizeof(BinnedSum));
      for (std::size_t k = 0; k < ranges.size(); ++k)
        EXPECT_EQ(made[k].value(), sum(executor, ranges[k], TermOfCell{static_cast<Real>(k + 1), view}))
            << executor.name() << " " << k;
    }
  }
}

struct TermsOfSums {
  View<Cell, const Real> value;
  CURLEW_HOST_DEVICE TermOfCell operator()(Index sum) const { return {static_cast<Real>(sum + 1), value}; }
};

/// A term by a kernel in two parts.
struct TermInTwoParts {
  View<Cell, const Real> value;
  CURLEW_HOST_DEVICE Real gather(Id<Cell> c) const { return value[c]; }
  CURLEW_HOST_DEVICE Real finish(Id<Cell>, Real gathered) const { return gathered; }
};
struct TermsInTwoParts {
  View<Cell, const Real> value;
  CURLEW_HOST_DEVICE TermInTwoParts operator()(Index) const { return {value}; }
};

TEST(SumsOverRange, have_the_bits_of_one_sum_after_the_other_on_every_backend) {
  const Index chunk = reduction_shape::chunk;
  const std::vector<Real> values = random_values(70000);
  for (const Executor& executor : all_backends()) {
    Field<Cell> field(executor, 70000, "x", "1");
    field.copy_from_host(values);
    const View<Cell, const Real> view = std::as_const(field).view();
    for (const Range<Cell> range :
         {Range<Cell>(11, 11), Range<Cell>(3, 4), Range<Cell>(5, 5 + chunk), Range<Cell>(5, 6 + chunk),
          Range<Cell>(0, 20000), Range<Cell>(0, 70000)}) {
      for (const Index count : {1, 3, 4}) {
        Buffer<BinnedSum> place(executor.space(), at(count));
        detail::own_sums(executor, range, count, TermsOfSums{view}, place.data());
        std::vector<BinnedSum> made(at(count));
        copy_bytes(made.data(), MemorySpace::Host, place.data(), executor.space(),
                   made.size() * sizeof(BinnedSum));
        for (Index k = 0; k < count; ++k)
          EXPECT_EQ(made[at(k)].value(), sum(executor, range, TermOfCell{static_cast<Real>(k + 1), view}))
              << executor.name() << " " << k << " of " << count << " over " << range.size();
        detail::own_sums(executor, range, count, TermsInTwoParts{view}, place.data());
        copy_bytes(made.data(), MemorySpace::Host, place.data(), executor.space(),
                   made.size() * sizeof(BinnedSum));
        for (Index k = 0; k < count; ++k)
          EXPECT_EQ(made[at(k)].value(), sum(executor, range, TermOfCell{1, view})) << executor.name();
      }
    }
  }
}

TEST(Sum, of_more_chunks_than_one_launch_brings_together_has_the_same_bits_on_every_backend) {
  constexpr Index terms = reduction_shape::lanes * (reduction_shape::sums_in_a_chunk(2) + 1) + 3;
  const std::vector<Real> values = random_values(at(terms));
  const Real expected = sum_of(values);
  for (const Executor& executor : all_backends()) {
    Field<Cell> field(executor, terms, "x", "1");
    field.copy_from_host(values);
    EXPECT_EQ(sum(executor, field.owned(), TermInTwoParts{std::as_const(field).view()}), expected)
        << executor.name();
  }
}

TEST(Sum, of_nothing_is_zero) {
  const Field<Cell> x(Executor::serial(), 0, "x", "1");
  EXPECT_EQ(inner_product(x, x), 0.0);
  for (const Executor& executor : all_backends()) EXPECT_EQ(SumInParts(executor).value(), 0.0);
}

/// Writes what is left of a sum beside another one.
struct SetDifference {
  const BinnedSum* other;
  Real* difference;
  CURLEW_HOST_DEVICE void operator()(const BinnedSum& sum) const {
    *difference = sum.value() - other->value();
  }
};

/// Of few chunks, of so many that there has to be more room, of more than one launch brings together (two
/// thirds of the terms are one a thread), and of few again.
TEST(SumInParts, goes_on_with_the_bits_of_one_sum_on_every_backend) {
  constexpr Index many = 2 * reduction_shape::lanes * (reduction_shape::sums_in_a_chunk(2) + 1) + 3;
  const std::vector<Real> values = random_values(at(many));
  std::vector<Executor> executors = all_backends();
  executors.push_back(Executor::serial().among(std::make_shared<AlikeRanks>(3)));
  executors.push_back(Executor::debug_device().among(std::make_shared<AlikeRanks>(3)));
  for (const Executor& executor : executors) {
    Field<Cell> field(executor, many, "x", "1");
    field.copy_from_host(values);
    const View<Cell, const Real> view = std::as_const(field).view();
    SumInParts sum_in_parts(executor);
    Buffer<BinnedSum> first(executor.space(), 1);
    Buffer<Real> difference(executor.space(), 1);
    for (const Index size : {300, 9000, many, 40}) {
      const Index third = size / 3;
      sum_in_parts.anew().add(Range<Cell>(0, third), TermOfCell{1, view});
      sum_in_parts.add(Range<Cell>(third, third), TermOfCell{1, view});
      sum_in_parts.add(Range<Cell>(third, size), TermInTwoParts{view});
      sum_in_parts.finish(first.data());
      const Real expected = sum(executor, Range<Cell>(0, size), TermOfCell{1, view});
      BinnedSum found;
      copy_bytes(&found, MemorySpace::Host, first.data(), executor.space(), sizeof found);
      EXPECT_EQ(found.value(), expected) << executor.name() << ' ' << size;
      sum_in_parts.anew().add(Range<Cell>(0, size), TermOfCell{3, view});
      sum_in_parts.finish(SetDifference{first.data(), difference.data()});
      Real left;
      copy_bytes(&left, MemorySpace::Host, difference.data(), executor.space(), sizeof left);
      EXPECT_EQ(left, sum(executor, Range<Cell>(0, size), TermOfCell{3, view}) - expected) << executor.name();
    }
  }
}

struct TenthOfCell {
  CURLEW_HOST_DEVICE float operator()(Id<Cell>) const { return 0.1f; }
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
