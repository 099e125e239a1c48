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
  Real size;
  View<One, Real> shift;
  CURLEW_HOST_DEVICE void operator()(const BinnedSum& total) const {
    shift[Id<One>(0)] = -total.value() / size;
  }
};

/// shift = difference / total.
struct MeanOnOne {
  View<One, const BinnedSum> difference;
  View<One, Real> shift;
  CURLEW_HOST_DEVICE void operator()(const BinnedSum& total) const {
    const Id<One> one(0);
    shift[one] = difference[one].value() / total.value();
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
    : part_(executor, extent, "part", "1"),
      sum_(executor),
      difference_(executor.space(), 1),
      shift_(executor.space(), 1) {
  part_.copy_from_host(part);
  const View<Entity, const Index> of_entity = std::as_const(part_).view();
  const Real count = maximum(executor, part_.owned(), PartsUpToEntity<Entity>{of_entity});
  for (Index p = 0; static_cast<Real>(p) < count; ++p)
    sizes_.push_back(sum(executor, part_.owned(), IsInPart<Entity>{p, of_entity}));
}

template <class X>
void PiecewiseConstantNullSpace<X>::make_consistent(Paired<X>& b) const {
  for (Index p = 0; p < parts(); ++p) {
    sum_.anew().add(b.owned(), ValueInPart<Entity>{p, part_.view(), std::as_const(b).view()});
    sum_.finish(MinusMeanOnOne{sizes_[at(p)], {shift_.data(), 1}});
    shift_part(p, b.range(), b.view());
  }
}

template <class X>
void PiecewiseConstantNullSpace<X>::match_means(const Field<Entity>& weight, const X& wanted, X& x) const {
  for (Index p = 0; p < parts(); ++p) {
    sum_.anew().add(x.owned(), WeightedDifferenceInPart<Entity>{p, part_.view(), weight.view(), wanted.view(),
                                                                std::as_const(x).view()});
    sum_.finish(difference_.data());
    sum_.anew().add(x.owned(), ValueInPart<Entity>{p, part_.view(), weight.view()});
    sum_.finish(MeanOnOne{{difference_.data(), 1}, {shift_.data(), 1}});
    shift_part(p, x.range(), x.view());
  }
}

template <class X>
void PiecewiseConstantNullSpace<X>::shift_part(Index p, Range<Entity> range,
                                               View<Entity, Real> values) const {
  for_each(part_.executor(), range, ShiftInPart<Entity>{p, part_.view(), {shift_.data(), 1}, values});
}

template class PiecewiseConstantNullSpace<PrimalCochain<Node>>;
template class PiecewiseConstantNullSpace<DualCochain<Cell>>;

}  // namespace curlew
