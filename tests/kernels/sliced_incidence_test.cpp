// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/sliced_incidence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tests/kernels/signed_rows.hpp"

namespace curlew::signed_rows {
namespace {

template <class T>
class SlicedIncidenceOf : public testing::Test {};
using Precisions = testing::Types<float, Real>;
TYPED_TEST_SUITE(SlicedIncidenceOf, Precisions);

TYPED_TEST(SlicedIncidenceOf, gives_each_row_of_its_range_once_the_bits_of_its_sum_in_order) {
  using T = TypeParam;
  const std::vector<T> x = random_values<T>();
  for (const auto& [shortest, longest] : {std::pair<Index, Index>(0, 11), {3, 3}, {6, 6}, {9, 9}, {2, 3}}) {
    const SignedRows rows = random_rows(10'000, shortest, longest);
    const auto table = incidence_of(rows);
    for (const auto& range : {Range<Cell>(0, 10'000), Range<Cell>(37, 9'000), Range<Cell>(5, 6)}) {
      const SlicedIncidence<Cell, Face> sliced(table, range);
      ASSERT_EQ(sliced.whole_blocks_in(Range<Cell>(0, 10'000)), range);
      std::vector<int> seen(rows.size(), 0);
      for (const Id<RowSlice> s : sliced.slices_of(range)) {
        sliced.visit(s, View<Face, const T>(x.data(), faces), [&](Id<Cell> c, T sum) {
          const auto row = static_cast<std::size_t>(c.value());
          ++seen[row];
          EXPECT_TRUE(same_bits(sum, sum_of(rows[row], x))) << c.value();
        });
      }
      for (Index c = 0; c < 10'000; ++c)
        EXPECT_EQ(seen[static_cast<std::size_t>(c)], range.contains(Id<Cell>(c)));
    }
  }
}

TYPED_TEST(SlicedIncidenceOf, adds_up_the_terms_of_its_rows) {
  using T = TypeParam;
  const std::vector<T> x = random_values<T>();
  const SignedRows rows = random_rows(3'000, 0, 11);
  const SlicedIncidence<Cell, Face> sliced(incidence_of(rows), Range<Cell>(0, 3'000));
  const auto term = [](Id<Cell> c, T sum) { return static_cast<Real>(sum) / (1 + c.value()); };
  BinnedSum all;
  const Index count = sliced.slices_of(Range<Cell>(0, 3'000)).size();
  ASSERT_GT(count, 7);
  for (const auto& slices : {Range<RowSlice>(0, 3), Range<RowSlice>(3, 3), Range<RowSlice>(3, count)})
    all.add(sliced.sum(slices, View<Face, const T>(x.data(), faces), term));
  const BinnedSum expected = binned_sum(
      3'000, [&](Index c) { return term(Id<Cell>(c), sum_of(rows[static_cast<std::size_t>(c)], x)); });
  EXPECT_EQ(all.value(), expected.value());
}

/// Rows of a block are gone through once for each length, so that what they gather stays close by; rows of
/// one length in their own order.
TEST(SlicedIncidence, visits_blocks_one_after_the_other_by_length) {
  const SignedRows rows = random_rows(5'000, 0, 11);
  const std::vector<Real> x = random_values<Real>();
  std::vector<Index> order;
  const auto visit_all = [&](const SlicedIncidence<Cell, Face>& sliced) {
    order.clear();
    for (const Id<RowSlice> s : sliced.slices_of(Range<Cell>(0, 5'000)))
      sliced.visit(s, View<Face, const Real>(x.data(), faces),
                   [&](Id<Cell> c, Real) { order.push_back(c.value()); });
  };
  std::vector<Index> expected;
  for (Index first = 0; first < 5'000; first += sliced_incidence::rows_per_block) {
    for (std::size_t length = 0; length <= 11; ++length) {
      for (Index c = first; c < std::min(first + sliced_incidence::rows_per_block, Index{5'000}); ++c)
        if (rows[static_cast<std::size_t>(c)].size() == length) expected.push_back(c);
    }
  }
  visit_all(SlicedIncidence<Cell, Face>(incidence_of(rows), Range<Cell>(0, 5'000)));
  EXPECT_EQ(order, expected);

  std::iota(expected.begin(), expected.end(), 0);
  visit_all(SlicedIncidence<Cell, Face>(incidence_of(random_rows(5'000, 4, 4)), Range<Cell>(0, 5'000)));
  EXPECT_EQ(order, expected);
}

/// Of rows 100 to 2,099, in blocks of 512 and one of 464.
TEST(SlicedIncidence, has_whole_blocks_of_a_part) {
  const SignedRows rows = random_rows(3'000, 0, 11);
  const std::vector<Real> x = random_values<Real>();
  const SlicedIncidence<Cell, Face> sliced(incidence_of(rows), Range<Cell>(100, 2'100));
  const struct {
    Range<Cell> wanted, whole;
  } cases[] = {{Range<Cell>(0, 3'000), Range<Cell>(100, 2'100)},
               {Range<Cell>(100, 612), Range<Cell>(100, 612)},
               {Range<Cell>(101, 2'099), Range<Cell>(612, 1'636)},
               {Range<Cell>(700, 2'100), Range<Cell>(1'124, 2'100)}};
  for (const auto& [wanted, whole] : cases) {
    EXPECT_EQ(sliced.whole_blocks_in(wanted), whole);
    std::vector<int> seen(rows.size(), 0);
    for (const Id<RowSlice> s : sliced.slices_of(whole))
      sliced.visit(s, View<Face, const Real>(x.data(), faces),
                   [&](Id<Cell> c, Real) { ++seen[static_cast<std::size_t>(c.value())]; });
    for (Index c = 0; c < 3'000; ++c)
      EXPECT_EQ(seen[static_cast<std::size_t>(c)], whole.contains(Id<Cell>(c)));
  }
  for (const auto& wanted : {Range<Cell>(101, 1'123), Range<Cell>(0, 100), Range<Cell>(2'100, 3'000)}) {
    const Range<Cell> whole = sliced.whole_blocks_in(wanted);
    EXPECT_TRUE(whole.empty());
    EXPECT_EQ(whole.first(), wanted.first());
  }
}

TEST(SlicedIncidence, may_be_of_no_rows) {
  const SlicedIncidence<Cell, Face> sliced(incidence_of({{1}, {2, 3}}), Range<Cell>(1, 1));
  EXPECT_TRUE(sliced.whole_blocks_in(Range<Cell>(0, 2)).empty());
}

}  // namespace
}  // namespace curlew::signed_rows
