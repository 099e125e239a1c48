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

/// shift = -total / size.
struct MinusMeanOnOne {
  View<One, const BinnedSum> total;
  Real size;
  View<One, Real> shift;
  CURLEW_HOST_DEVICE void operator()(Id<One> one) const { shift[one] = -total[one].value() / size; }
};

/// shift = difference / total.
struct MeanOnOne {
  View<One, const BinnedSum> difference, total;
  View<One, Real> shift;
  CURLEW_HOST_DEVICE void operator()(Id<One> one) const {
    shift[one] = difference[one].value() / total[one].value();
  }
};

template <class E>
struct ShiftInPart {
  Index wanted;
  View<E, const Index> part;
  View<One, const Real> shift;
  View<E, Real> values;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    if (part[i] == wanted) values[i] += shift[Id<One>(0)];
  }
};

}  // namespace

template <class X>
PiecewiseConstantNullSpace<X>::PiecewiseConstantNullSpace(const Executor& executor, Extent extent,
                                                          const std::vector<Index>& part)
    : part_(executor, extent, "part", "1"), sums_(executor.space(), 2), shift_(executor.space(), 1) {
  part_.copy_from_host(part);
  const View<Entity, const Index> of_entity = std::as_const(part_).view();
  const Real count = maximum(executor, part_.owned(), PartsUpToEntity<Entity>{of_entity});
  for (Index p = 0; static_cast<Real>(p) < count; ++p)
    sizes_.push_back(sum(executor, part_.owned(), IsInPart<Entity>{p, of_entity}));
}

template <class X>
void PiecewiseConstantNullSpace<X>::make_consistent(Paired<X>& b) const {
  for (Index p = 0; p < parts(); ++p) {
    sum(b.executor(), b.owned(), ValueInPart<Entity>{p, part_.view(), std::as_const(b).view()}, sums_.data());
    for_each(b.executor(), Range<One>(0, 1), MinusMeanOnOne{sum_view(0), sizes_[at(p)], {shift_.data(), 1}});
    shift_part(p, b.range(), b.view());
  }
}

template <class X>
void PiecewiseConstantNullSpace<X>::match_means(const Field<Entity>& weight, const X& wanted, X& x) const {
  for (Index p = 0; p < parts(); ++p) {
    sum(x.executor(), x.owned(),
        WeightedDifferenceInPart<Entity>{p, part_.view(), weight.view(), wanted.view(),
                                         std::as_const(x).view()},
        sums_.data());
    sum(x.executor(), x.owned(), ValueInPart<Entity>{p, part_.view(), weight.view()}, sums_.data() + 1);
    for_each(x.executor(), Range<One>(0, 1), MeanOnOne{sum_view(0), sum_view(1), {shift_.data(), 1}});
    shift_part(p, x.range(), x.view());
  }
}

template <class X>
View<One, const BinnedSum> PiecewiseConstantNullSpace<X>::sum_view(int number) const {
  return {sums_.data() + number, 1};
}

template <class X>
void PiecewiseConstantNullSpace<X>::shift_part(Index p, Range<Entity> range,
                                               View<Entity, Real> values) const {
  for_each(part_.executor(), range, ShiftInPart<Entity>{p, part_.view(), {shift_.data(), 1}, values});
}

template class PiecewiseConstantNullSpace<PrimalCochain<Node>>;
template class PiecewiseConstantNullSpace<DualCochain<Cell>>;

}  // namespace curlew
