// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/filled_incidence.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/kernels/signed_rows.hpp"

namespace curlew::signed_rows {
namespace {

template <class T>
struct SumOnCell {
  FilledIncidence<Cell, Face> rows;
  View<Face, const T> x;
  View<Cell, T> sum;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { sum[c] = rows.sum(x, c); }
};

template <class T>
void expect_sums_in_order() {
  for (const auto& [shortest, longest] : {std::pair<Index, Index>(0, 11), {0, 1}, {5, 5}, {2, 3}}) {
    const SignedRows rows = random_rows(1'000, shortest, longest);
    const std::vector<T> values = random_values<T>();
    for (const Executor& executor : all_backends()) {
      Field<Face, T> x(executor, faces, "x", "1");
      x.copy_from_host(values);
      for (const auto& range :
           {Range<Cell>(0, 1'000), Range<Cell>(37, 901), Range<Cell>(5, 6), Range<Cell>(64, 96)}) {
        const FilledIncidenceRows<Cell, Face> filled(incidence_of(rows), range);
        // The rows of a part may be asked for in parts.
        for (const auto& wanted : {range, Range<Cell>((range.first() + range.last()) / 2, range.last())}) {
          Field<Cell, T> sum(executor, 1'000, "sum", "1");
          sum.fill(T(7));
          for_each(executor, wanted,
                   SumOnCell<T>{filled.view(executor.space()), std::as_const(x).view(), sum.view()});
          const std::vector<T> found = sum.to_host();
          for (Index c = 0; c < 1'000; ++c) {
            const std::size_t row = static_cast<std::size_t>(c);
            const T expected = wanted.contains(Id<Cell>(c)) ? sum_of(rows[row], values) : T(7);
            ASSERT_TRUE(same_bits(found[row], expected)) << executor.name() << ' ' << c;
          }
        }
      }
    }
  }
}

TEST(FilledIncidence, sums_have_the_bits_of_the_rows_order_on_all_backends) {
  expect_sums_in_order<float>();
  expect_sums_in_order<Real>();
}

}  // namespace
}  // namespace curlew::signed_rows
