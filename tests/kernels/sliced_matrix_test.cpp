// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/sliced_matrix.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <random>
#include <vector>

namespace curlew {
namespace {

struct Cell;

/// Rows whose lengths follow no pattern, with some that are empty and a few that are long.
struct Rows {
  std::vector<Index> starts{0}, columns;
  std::vector<Real> values;
};
Rows random_rows(Index count, Index longest) {
  std::mt19937 generator(7);
  std::uniform_int_distribution<Index> length(0, longest), column(0, count - 1);
  std::uniform_real_distribution<Real> value(-1, 1);
  Rows rows;
  for (Index row = 0; row < count; ++row) {
    const Index entries = row % 97 == 5 ? 20 * longest + length(generator) : length(generator);
    for (Index k = 0; k < entries; ++k) {
      rows.columns.push_back(column(generator));
      rows.values.push_back(value(generator));
    }
    rows.starts.push_back(static_cast<Index>(rows.columns.size()));
  }
  return rows;
}
template <class Coefficient>
SlicedMatrix<Cell, Cell, Coefficient> sliced(const Rows& rows, Index border = 0) {
  return {rows.starts, rows.columns, std::span<const Real>(rows.values), border};
}

template <class T>
T random_value(std::mt19937& generator) {
  std::uniform_real_distribution<float> value(-1, 1);
  return static_cast<T>(value(generator));
}
template <>
Vector4<float> random_value(std::mt19937& generator) {
  return {random_value<float>(generator), random_value<float>(generator), random_value<float>(generator), 0};
}
template <class T>
auto bits(const T& value) {
  return std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(value);
}

/// What rows are given, and how often.
template <class T>
struct Record {
  std::vector<T>& sums;
  std::vector<int>& visits;
  void operator()(Id<Cell> c, const T& sum) const {
    sums[at(c.value())] = sum;
    ++visits[at(c.value())];
  }
};

template <class T_, class Coefficient_>
struct Product {
  using T = T_;
  using Coefficient = Coefficient_;
};
template <class Product>
class SlicedMatrixOf : public testing::Test {};
using Products = testing::Types<Product<float, float>, Product<float, BFloat16>, Product<Real, Real>,
                                Product<Vector4<float>, float>, Product<Vector4<float>, BFloat16>>;
TYPED_TEST_SUITE(SlicedMatrixOf, Products);

TYPED_TEST(SlicedMatrixOf, gives_each_row_the_bits_of_its_sum_in_order) {
  using T = TypeParam::T;
  using Coefficient = TypeParam::Coefficient;
  for (const Index count : {1, 7, 8, 9, 64, 65, 1000}) {
    const Rows rows = random_rows(count, 9);
    std::mt19937 generator(11);
    std::vector<T> x(at(count)), sums(at(count));
    for (T& value : x) value = random_value<T>(generator);
    for (const Index border : {0, 1, count / 3, count}) {
      std::vector<int> visits(at(count), 0);
      const auto matrix = sliced<Coefficient>(rows, border);
      matrix.multiply(Executor::openmp(2), Range<Cell>(0, count), View<Cell, const T>(x.data(), count),
                      Record<T>{sums, visits});
      for (Index row = 0; row < count; ++row) {
        T expected{};
        for (Index k = rows.starts[at(row)]; k < rows.starts[at(row) + 1]; ++k)
          expected += static_cast<Coefficient>(rows.values[at(k)]) * x[at(rows.columns[at(k)])];
        ASSERT_EQ(visits[at(row)], 1) << row;
        ASSERT_EQ(bits(sums[at(row)]), bits(expected)) << row;
      }
    }
  }
}

/// On both sides of the range of 16 bits.
TEST(SlicedMatrix, reaches_columns_that_are_far_from_each_other) {
  constexpr Index columns = 200'000, base = 70'000;
  std::vector<float> x(columns);
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = static_cast<float>(k);
  std::vector<std::size_t> bytes;
  for (const Index reach : {0xFFFF, 0x10000, columns - 1 - base}) {
    Rows rows{{0, 1, 1, 4}, {base, base + reach, base + 1, base + 7}, {1, 10, 100, 1000}};
    const auto matrix = sliced<float>(rows);
    bytes.push_back(matrix.bytes());
    std::vector<float> sums(3);
    std::vector<int> visits(3, 0);
    matrix.multiply(Executor::serial(), Range<Cell>(0, 3), View<Cell, const float>(x.data(), columns),
                    Record<float>{sums, visits});
    EXPECT_EQ(sums, (std::vector<float>{x[base], 0,
                                        10 * x[at(base + reach)] + 100 * x[base + 1] + 1000 * x[base + 7]}));
  }
  EXPECT_LT(bytes[0], bytes[1]);
  EXPECT_EQ(bytes[1], bytes[2]);
}

TEST(SlicedMatrix, gives_each_row_the_bits_of_its_differences_in_order) {
  for (const Index longest : {0, 4, 9}) {
    const Index count = 500;
    const Rows rows = random_rows(count, longest);
    std::mt19937 generator(11);
    std::vector<Real> x(at(count)), sums(at(count));
    for (Real& value : x) value = random_value<Real>(generator);
    std::vector<int> visits(at(count), 0);
    const auto matrix = sliced<Real>(rows);
    const auto first = [](Id<Cell> c) { return Real(0.1) * c.value(); };
    matrix.add_differences(Executor::openmp(2), Range<Cell>(0, count),
                           View<Cell, const Real>(x.data(), count), first, Record<Real>{sums, visits});
    for (Index row = 0; row < count; ++row) {
      Real expected = first(Id<Cell>(row));
      for (Index k = rows.starts[at(row)]; k < rows.starts[at(row) + 1]; ++k)
        expected += rows.values[at(k)] * (x[at(row)] - x[at(rows.columns[at(k)])]);
      ASSERT_EQ(visits[at(row)], 1) << row;
      ASSERT_EQ(bits(sums[at(row)]), bits(expected)) << row;
    }
  }
}

/// Of all rows, and of those on one side of a border.
TEST(SlicedMatrix, sums_terms_that_are_given_the_differences) {
  const Index count = 500, border = 150;
  const Rows rows = random_rows(count, 9);
  const auto matrix = sliced<Real>(rows, border);
  std::mt19937 generator(11);
  std::vector<Real> x(at(count));
  for (Real& value : x) value = random_value<Real>(generator);
  const View<Cell, const Real> values(x.data(), count);
  const auto first = [](Id<Cell> c) { return Real(0.1) * c.value(); };
  std::vector<Real> sums(at(count));
  std::vector<int> visits(at(count), 0);
  for (const auto& [begin, end] : {std::pair(0, border), std::pair(border, count), std::pair(0, count)}) {
    const Range<Cell> range(begin, end);
    const BinnedSum sum =
        matrix.sum_of_differences(matrix.blocks_of(range), values, first, [&](Id<Cell> c, Real value) {
          ++visits[at(c.value())];
          return value * x[at(c.value())];
        });
    matrix.add_differences(Executor::serial(), range, values, first, Record<Real>{sums, visits});
    const BinnedSum expected = binned_sum(
        end - begin, [&, shift = begin](Index k) { return sums[at(shift + k)] * x[at(shift + k)]; });
    EXPECT_EQ(sum.value(), expected.value());
  }
  EXPECT_EQ(visits, std::vector<int>(at(count), 4));
}

/// What rows of equal length need no zeros for, nor others where as many of a length are within 64 rows.
TEST(SlicedMatrix, holds_few_zeros) {
  const auto bytes_of = [](const std::vector<Index>& starts) {
    const std::vector<Index> columns(at(starts.back()), 0);
    const std::vector<Real> values(columns.size(), 1);
    return SlicedMatrix<Cell, Cell, float>(starts, columns, std::span<const Real>(values)).bytes();
  };
  std::vector<Index> even{0}, odd{0}, none(641, 0);
  for (Index row = 0; row < 640; ++row) {
    even.push_back(even.back() + 6);
    odd.push_back(odd.back() + (row % 2 == 0 ? 3 : 9));
  }
  EXPECT_EQ(bytes_of(even) - bytes_of(none), 640 * 6 * (sizeof(std::uint16_t) + sizeof(float)));
  EXPECT_EQ(bytes_of(odd), bytes_of(even));
}

/// Also where a row without entries shares a slice with others.
TEST(SlicedMatrix, gathers_for_a_part_what_its_rows_name_alone) {
  const Rows rows{{0, 0, 2, 3, 3, 5}, {1, 2, 0, 4, 3}, {1, 1, 1, 1, 1}};
  std::vector<float> x(5, 1), sums(5);
  x[3] = x[4] = std::numeric_limits<float>::quiet_NaN();  // have not arrived yet
  std::vector<int> visits(5, 0);
  const auto matrix = sliced<float>(rows, 4);
  matrix.multiply(Executor::openmp(2), Range<Cell>(0, 4), View<Cell, const float>(x.data(), 5),
                  Record<float>{sums, visits});
  EXPECT_EQ(visits, (std::vector<int>{1, 1, 1, 1, 0}));
  EXPECT_EQ(sums, (std::vector<float>{0, 2, 1, 0, 0}));
}

TEST(SlicedMatrix, refuses_to_divide_a_block) {
  const auto matrix = sliced<float>(random_rows(200, 5), 70);
  const std::vector<float> x(200, 1);
  const auto visited = [&](Index first, Index last) {
    std::vector<float> sums(200);
    std::vector<int> visits(200, 0);
    matrix.multiply(Executor::serial(), Range<Cell>(first, last), View<Cell, const float>(x.data(), 200),
                    Record<float>{sums, visits});
    for (Index row = 0; row < 200; ++row) EXPECT_EQ(visits[at(row)], row >= first && row < last ? 1 : 0);
  };
  visited(0, 70);
  visited(70, 200);
  visited(64, 70);
  visited(70, 134);
  visited(13, 13);
  EXPECT_THROW(visited(0, 63), Error);
  EXPECT_THROW(visited(10, 200), Error);
  const auto whole_in = [&](Index first, Index last) {
    return matrix.whole_blocks_in(Range<Cell>(first, last));
  };
  EXPECT_EQ(whole_in(0, 200), Range<Cell>(0, 200));
  EXPECT_EQ(whole_in(1, 199), Range<Cell>(64, 198));
  EXPECT_EQ(whole_in(70, 140), Range<Cell>(70, 134));
  EXPECT_TRUE(whole_in(1, 63).empty());
  EXPECT_EQ(whole_in(1, 63).first(), 1);
}

TEST(SlicedMatrix, is_for_processors) {
  const auto matrix = sliced<float>(random_rows(8, 5));
  const std::vector<float> x(8, 1);
  std::vector<float> sums(8);
  std::vector<int> visits(8, 0);
  EXPECT_THROW(matrix.multiply(Executor::debug_device(), Range<Cell>(0, 8),
                               View<Cell, const float>(x.data(), 8), Record<float>{sums, visits}),
               Error);
}

}  // namespace
}  // namespace curlew
