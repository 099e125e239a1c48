// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/incidence_operator.hpp"

#include "operators/signed_sum_kernels.hpp"

namespace curlew {

namespace {

/// Stores a sum times a factor.
template <class To>
struct ScaledSumOnEntity {
  Real factor;
  View<To, Real> y;
  CURLEW_HOST_DEVICE void operator()(Id<To> i, Real sum) const { y[i] = factor * sum; }
};

}  // namespace

template <class X, class Y>
void IncidenceOperator<X, Y>::apply_on(Range<To> range, const X& x, Y& y) const {
  require_fits(x, columns_.table().rows(), executor_);
  require_fits(y, rows_.table().rows(), executor_);
  rows_.visit(range, x.view(), ScaledSumOnEntity<To>{factor_, y.view()});
}

template <class X, class Y>
void IncidenceOperator<X, Y>::apply_transpose(const Paired<Y>& y, Paired<X>& x) const {
  require_fits(y, rows_.table().rows(), executor_);
  require_fits(x, columns_.table().rows(), executor_);
  columns_.visit(x.range(), y.view(), ScaledSumOnEntity<From>{factor_, x.view()});
}

template class IncidenceOperator<PrimalCochain<Face>, PrimalCochain<Cell>>;
template class IncidenceOperator<DualCochain<Cell>, DualCochain<Face>>;
template class IncidenceOperator<PrimalCochain<Edge>, PrimalCochain<Face>>;
template class IncidenceOperator<DualCochain<Face>, DualCochain<Edge>>;
template class IncidenceOperator<PrimalCochain<Node>, PrimalCochain<Edge>>;

}  // namespace curlew
