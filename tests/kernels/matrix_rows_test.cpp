// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "kernels/incidence.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

struct Node;
struct Entry;

/// A matrix with rows of those lengths and numbers of one digit, whose products are exact.
class Matrix {
 public:
  explicit Matrix(const std::vector<Index>& lengths) {
    std::mt19937 random(7);
    const auto number = [&](Index below) {
      return std::uniform_int_distribution<Index>(0, below - 1)(random);
    };
    std::vector<Index> starts{0}, entries;
    std::vector<Real> values;
    const Index rows = static_cast<Index>(lengths.size());
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      x_.push_back(static_cast<Real>(number(10)));
      product_.push_back(0);
    }
    for (std::size_t row = 0; row < lengths.size(); ++row) {
      for (Index k = 0; k < lengths[row]; ++k) {
        const Index column = number(rows), value = number(10);
        const bool negative = number(2) == 1;
        entries.push_back(incidence_entry::make(column, negative));
        values.push_back(static_cast<Real>(value));
        product_[row] += (negative ? -1 : 1) * values.back() * x_[at(column)];
      }
      starts.push_back(static_cast<Index>(entries.size()));
    }
    table_ = IncidenceTable<Node, Node>(std::move(starts), std::move(entries));
    values_ = table_.values(std::move(values));
  }

  const IncidenceTable<Node, Node>& table() const { return table_; }
  const ConstantArray<Real>& values() const { return values_; }
  const std::vector<Real>& x() const { return x_; }
  const std::vector<Real>& product() const { return product_; }

 private:
  IncidenceTable<Node, Node> table_;
  ConstantArray<Real> values_;
  std::vector<Real> x_, product_;
};

/// Adds each row's product, and what its size and its last entry say of it.
template <class Rows>
struct AddProductOnNode {
  Rows rows;
  View<Entry, const Real> value;
  View<Node, const Real> x;
  View<Node, Real> y, lengths, last;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    Id<Entry> entry(rows.start(n));
    for (const auto [m, sign] : rows[n]) {
      y[n] += sign * value[entry] * x[m];
      entry = rows.next(entry);
    }
    const auto row = rows[n];
    lengths[n] += static_cast<Real>(row.size());
    if (row.size() > 0) last[n] = x[row[row.size() - 1].id];
  }
};

class MatrixRows : public testing::TestWithParam<std::vector<Index>> {};

TEST_P(MatrixRows, have_their_product_in_parts_and_as_a_whole_on_every_backend) {
  const Matrix matrix(GetParam());
  const Index rows = matrix.table().rows();
  std::vector<Real> lengths, last;
  for (const Id<Node> n : Range<Node>(0, rows)) {
    const auto row = matrix.table()[n];
    lengths.push_back(static_cast<Real>(row.size()));
    last.push_back(row.size() > 0 ? matrix.x()[at(row[row.size() - 1].id.value())] : 0);
  }
  for (const Executor& executor : all_backends()) {
    const MemorySpace space = executor.space();
    Field<Node> x(executor, rows, "x", "1"), y(executor, rows, "y", "1"), of_length(executor, rows, "l", "1"),
        of_last(executor, rows, "e", "1");
    x.copy_from_host(matrix.x());
    const View<Entry, const Real> value(matrix.values().data(space),
                                        static_cast<Index>(matrix.values().size(space)));
    EXPECT_EQ(matrix.values().size(space), matrix.table().places(space));
    const auto launch = [&]<class Rows>(Range<Node> range, const Rows& of) {
      for_each(executor, range,
               AddProductOnNode<Rows>{of, value, std::as_const(x).view(), y.view(), of_length.view(),
                                      of_last.view()});
    };
    const auto expect_product = [&](const char* how) {
      EXPECT_EQ(y.to_host(), matrix.product()) << executor.name() << " " << how;
      EXPECT_EQ(of_length.to_host(), lengths) << executor.name() << " " << how;
      EXPECT_EQ(of_last.to_host(), last) << executor.name() << " " << how;
      for (Field<Node>* field : {&y, &of_length, &of_last}) field->fill(0);
    };
    launch(x.range(), matrix.table().view(space));
    expect_product("as a whole");
    matrix.table().visit_parts(space, launch);
    expect_product("in parts");
    const Index border = rows / 3 + 5;
    if (border >= rows) continue;
    matrix.table().visit_parts(space, Range<Node>(border, rows), launch);
    matrix.table().visit_parts(space, Range<Node>(0, border), launch);
    expect_product("in parts of two ranges");
  }
}

std::vector<Index> repeated(const std::vector<std::pair<Index, Index>>& counts_and_lengths) {
  std::vector<Index> lengths;
  for (const auto& [count, length] : counts_and_lengths) lengths.insert(lengths.end(), at(count), length);
  return lengths;
}
std::vector<Index> irregular(Index rows) {
  std::vector<Index> lengths;
  for (Index row = 0; row < rows; ++row) lengths.push_back(row * row % 13);
  return lengths;
}
std::vector<Index> joined(std::vector<Index> lengths, const std::vector<Index>& more) {
  lengths.insert(lengths.end(), more.begin(), more.end());
  return lengths;
}

INSTANTIATE_TEST_SUITE_P(
    Lengths, MatrixRows,
    testing::Values(irregular(1), irregular(31), irregular(32), irregular(3000), repeated({{50, 3}}),
                    repeated({{1000, 4}, {333, 6}}), repeated({{5, 6}, {3, 2}}), repeated({{64, 1}, {2, 0}}),
                    joined(irregular(37), joined(repeated({{1300, 4}}), irregular(70))),
                    joined(repeated({{1100, 6}, {1200, 2}, {3, 9}, {1500, 3}}), irregular(20))));

}  // namespace
}  // namespace curlew
