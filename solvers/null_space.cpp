// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/null_space.hpp"

#include <utility>

#include "kernels/reduction.hpp"
#include "mesh/entities.hpp"

namespace curlew {

namespace {

template <class E>
struct IsInPart {
  Index wanted;
  View<E, const Index> part;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return part[i] == wanted ? Real(1) : Real(0); }
};

template <class E>
struct PartsUpToEntity {
  View<E, const Index> part;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return static_cast<Real>(part[i] + 1); }
};

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
PiecewiseConstantNullSpace<X>::PiecewiseConstantNullSpace(const Executor& executor, Extent extent,
                                                          const std::vector<Index>& part)
    : part_(executor, extent, "part", "1") {
  part_.copy_from_host(part);
  const View<Entity, const Index> of_entity = std::as_const(part_).view();
  const Real count = maximum(executor, part_.owned(), PartsUpToEntity<Entity>{of_entity});
  for (Index p = 0; static_cast<Real>(p) < count; ++p)
    sizes_.push_back(sum(executor, part_.owned(), IsInPart<Entity>{p, of_entity}));
}

template <class X>
void PiecewiseConstantNullSpace<X>::make_consistent(Paired<X>& b) const {
  for (Index p = 0; p < parts(); ++p) {
    const Real total =
        sum(b.executor(), b.owned(), ValueInPart<Entity>{p, part_.view(), std::as_const(b).view()});
    for_each(b.executor(), b.range(), ShiftInPart<Entity>{p, part_.view(), -total / sizes_[at(p)], b.view()});
  }
}

template <class X>
void PiecewiseConstantNullSpace<X>::match_means(const Field<Entity>& weight, const X& wanted, X& x) const {
  for (Index p = 0; p < parts(); ++p) {
    const Real difference = sum(x.executor(), x.owned(),
                                WeightedDifferenceInPart<Entity>{p, part_.view(), weight.view(),
                                                                 wanted.view(), std::as_const(x).view()});
    const Real total = sum(x.executor(), x.owned(), ValueInPart<Entity>{p, part_.view(), weight.view()});
    for_each(x.executor(), x.range(), ShiftInPart<Entity>{p, part_.view(), difference / total, x.view()});
  }
}

template class PiecewiseConstantNullSpace<PrimalCochain<Node>>;
template class PiecewiseConstantNullSpace<DualCochain<Cell>>;

}  // namespace curlew
