// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/incidence_operator.hpp"

#include <type_traits>

#include "kernels/for_each.hpp"

namespace curlew {

namespace {

/// y_i = factor * sum_j s_ij x_j over the row of entity i.
template <class To, class From>
struct SignedSum {
  Real factor;
  View<From, const Real> x;
  View<To, Real> y;
  template <class Row>
  CURLEW_HOST_DEVICE void operator()(Id<To> i, const Row& row) const {
    Real net = 0;
    for (const auto [j, sign] : row) net += sign * x[j];
    y[i] = factor * net;
  }
};

template <class To, class From, class Rows>
struct SignedSumOnEntity {
  Rows rows;
  SignedSum<To, From> sum;
  CURLEW_HOST_DEVICE void operator()(Id<To> i) const { sum(i, rows[i]); }
};

template <class To, class From>
struct SignedSumsOnSlice {
  SortedIncidence<To, From> rows;
  SignedSum<To, From> sum;
  CURLEW_HOST_DEVICE void operator()(Id<RowSlice> s) const { rows.visit(s, sum); }
};

/// Whether visit_parts has no kernel for one length for these rows.
template <class To, class From, class Rows>
constexpr bool lengths_vary = std::is_same_v<Rows, Incidence<To, From>>;

}  // namespace

template <class To, class From>
SignedSums<To, From>::SignedSums(const Executor& executor, IncidenceTable<To, From> table)
    : executor_(executor), table_(std::move(table)) {
  if (executor.space() != MemorySpace::Host) return;
  table_.visit_parts(MemorySpace::Host, [&]<class Rows>(Range<To> part, const Rows&) {
    if constexpr (lengths_vary<To, From, Rows>) sorted_.emplace_back(table_, part);
  });
}

template <class To, class From>
void SignedSums<To, From>::apply_on(Range<To> wanted, Real factor, View<From, const Real> x,
                                    View<To, Real> y) const {
  const MemorySpace space = executor_.space();
  const SignedSum<To, From> sum{factor, x, y};
  table_.visit_parts(space, wanted, [&]<class Rows>(Range<To> part, const Rows& rows) {
    if constexpr (lengths_vary<To, From, Rows>) {
      for (const SortedRows<To, From>& sorted : sorted_) {
        if (sorted.range() != part) continue;
        for_each(executor_, sorted.slices(), SignedSumsOnSlice<To, From>{sorted.view(space), sum});
        return;
      }
    }
    for_each(executor_, part, SignedSumOnEntity<To, From, Rows>{rows, sum});
  });
}

template <class X, class Y>
void IncidenceOperator<X, Y>::apply_on(Range<To> range, const X& x, Y& y) const {
  require_fits(x, columns_.table().rows(), executor_);
  require_fits(y, rows_.table().rows(), executor_);
  rows_.apply_on(range, factor_, x.view(), y.view());
}

template <class X, class Y>
void IncidenceOperator<X, Y>::apply_transpose(const Paired<Y>& y, Paired<X>& x) const {
  require_fits(y, rows_.table().rows(), executor_);
  require_fits(x, columns_.table().rows(), executor_);
  columns_.apply_on(x.range(), factor_, y.view(), x.view());
}

template class SignedSums<Cell, Face>;
template class SignedSums<Face, Cell>;
template class SignedSums<Face, Edge>;
template class SignedSums<Edge, Face>;
template class SignedSums<Edge, Node>;
template class SignedSums<Node, Edge>;
template class IncidenceOperator<PrimalCochain<Face>, PrimalCochain<Cell>>;
template class IncidenceOperator<DualCochain<Cell>, DualCochain<Face>>;
template class IncidenceOperator<PrimalCochain<Edge>, PrimalCochain<Face>>;
template class IncidenceOperator<DualCochain<Face>, DualCochain<Edge>>;
template class IncidenceOperator<PrimalCochain<Node>, PrimalCochain<Edge>>;

}  // namespace curlew
