// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/null_space.hpp"

#include <algorithm>
#include <utility>

#include "kernels/reduction.hpp"

namespace curlew {

namespace {

template <class E>
struct ValueInPart {
  Index wanted;
  View<E, const Index> part;
  View<E, const Real> values;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return part[i] == wanted ? values[i] : Real(0); }
};

template <class E>
struct WeightedDifferenceInPart {
  Index wanted;
  View<E, const Index> part;
  View<E, const Real> weight, a, b;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    return part[i] == wanted ? weight[i] * (a[i] - b[i]) : Real(0);
  }
};

template <class E>
struct ShiftInPart {
  Index wanted;
  View<E, const Index> part;
  Real shift;
  View<E, Real> values;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    if (part[i] == wanted) values[i] += shift;
  }
};

}  // namespace

template <class X>
PiecewiseConstantNullSpace<X>::PiecewiseConstantNullSpace(const Executor& executor,
                                                          const std::vector<Index>& part)
    : part_(executor, static_cast<Index>(part.size()), "part", "1") {
  part_.copy_from_host(part);
  for (const Index p : part) {
    if (p < 0) continue;
    if (p >= parts()) sizes_.resize(at(p) + 1, 0);
    ++sizes_[at(p)];
  }
}

template <class X>
void PiecewiseConstantNullSpace<X>::make_consistent(Paired<X>& b) const {
  for (Index p = 0; p < parts(); ++p) {
    const Real total =
        sum(b.executor(), b.range(), ValueInPart<Entity>{p, part_.view(), std::as_const(b).view()});
    for_each(b.executor(), b.range(),
             ShiftInPart<Entity>{p, part_.view(), -total / static_cast<Real>(sizes_[at(p)]), b.view()});
  }
}

template <class X>
void PiecewiseConstantNullSpace<X>::match_means(const Field<Entity>& weight, const X& wanted, X& x) const {
  for (Index p = 0; p < parts(); ++p) {
    const Real difference = sum(x.executor(), x.range(),
                                WeightedDifferenceInPart<Entity>{p, part_.view(), weight.view(),
                                                                 wanted.view(), std::as_const(x).view()});
    const Real total = sum(x.executor(), x.range(), ValueInPart<Entity>{p, part_.view(), weight.view()});
    for_each(x.executor(), x.range(), ShiftInPart<Entity>{p, part_.view(), difference / total, x.view()});
  }
}

template class PiecewiseConstantNullSpace<PrimalCochain<Node>>;
template class PiecewiseConstantNullSpace<DualCochain<Cell>>;

}  // namespace curlew
