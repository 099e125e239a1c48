// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/incidence_operator.hpp"

#include "kernels/for_each.hpp"

namespace curlew {

namespace {

/// y_i = factor * sum_j s_ij x_j over the row of entity i.
template <class To, class From, class Rows>
struct SignedSumOnEntity {
  Rows rows;
  Real factor;
  View<From, const Real> x;
  View<To, Real> y;
  CURLEW_HOST_DEVICE void operator()(Id<To> i) const {
    Real net = 0;
    for (const auto [j, sign] : rows[i]) net += sign * x[j];
    y[i] = factor * net;
  }
};

template <class To, class From, class X, class Y>
void apply_signed_sum(const Executor& executor, const IncidenceTable<To, From>& table, Index columns,
                      Real factor, Range<To> wanted, const X& x, Y& y) {
  require_fits(x, columns, executor);
  require_fits(y, table.rows(), executor);
  table.visit_parts(executor.space(), wanted, [&](Range<To> range, auto rows) {
    for_each(executor, range, SignedSumOnEntity<To, From, decltype(rows)>{rows, factor, x.view(), y.view()});
  });
}

}  // namespace

template <class X, class Y>
void IncidenceOperator<X, Y>::apply_on(Range<typename Y::Entity> range, const X& x, Y& y) const {
  apply_signed_sum(executor_, rows_, columns_.rows(), factor_, range, x, y);
}

template <class X, class Y>
void IncidenceOperator<X, Y>::apply_transpose(const Paired<Y>& y, Paired<X>& x) const {
  apply_signed_sum(executor_, columns_, rows_.rows(), factor_, x.range(), y, x);
}

template class IncidenceOperator<PrimalCochain<Face>, PrimalCochain<Cell>>;
template class IncidenceOperator<DualCochain<Cell>, DualCochain<Face>>;
template class IncidenceOperator<PrimalCochain<Edge>, PrimalCochain<Face>>;
template class IncidenceOperator<DualCochain<Face>, DualCochain<Edge>>;
template class IncidenceOperator<PrimalCochain<Node>, PrimalCochain<Edge>>;

}  // namespace curlew
