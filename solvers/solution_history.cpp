// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/solution_history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "kernels/sums_over_range.hpp"
#include "mesh/entities.hpp"
#include "solvers/face_velocity.hpp"
#include "solvers/least_energy.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

namespace {

struct Owner;  // entity tag: what numbers are the value of

constexpr std::size_t most_changes = solution_history_depth;
constexpr std::size_t most_fields = 3;  // that a vector is made of

/// What the values of a field are made of, so many numbers each, of which the first ones are kept.
template <class T>
struct Parts {
  using Scalar = Real;
  static constexpr Index all = sizeof(T) / sizeof(Real), kept = all;
};
template <>
struct Parts<float> {
  using Scalar = float;
  static constexpr Index all = 1, kept = 1;
};
/// The fourth number follows from the others and the face's normal.
template <class T>
struct Parts<Vector4<T>> {
  using Scalar = T;
  static constexpr Index all = 4, kept = 3;
};

/// The numbers of a field.
template <class T, class PartsOfValue>
struct Numbers {
  using Scalar = typename PartsOfValue::Scalar;
  using Parts = PartsOfValue;
  T* data;
  Extent entities;
  View<Number, T> view() const { return View<Number, T>(data, Parts::all * entities.all); }
  Range<Owner> range() const { return Range<Owner>(0, entities.all); }
};

template <class E, class T, Cochain kind>
auto numbers_of(Field<E, T, kind>& field) {
  using N = typename Parts<T>::Scalar;
  return Numbers<N, Parts<T>>{reinterpret_cast<N*>(field.view().data()), field.extent()};
}
template <class E, class T, Cochain kind>
auto numbers_of(const Field<E, T, kind>& field) {
  using N = const typename Parts<T>::Scalar;
  return Numbers<N, Parts<T>>{reinterpret_cast<N*>(field.view().data()), field.extent()};
}

/// Calls `visit(number of field, its numbers)` for the fields that a vector is made of.
template <class E, class T, Cochain kind>
void visit_numbers(Field<E, T, kind>& x, const auto& visit) {
  visit(0, numbers_of(x));
}
template <class E, class T, Cochain kind>
void visit_numbers(const Field<E, T, kind>& x, const auto& visit) {
  visit(0, numbers_of(x));
}
template <class T, class V, Cochain kind>
void visit_numbers(StreamAndFaceValues<T, V, kind>& x, const auto& visit) {
  visit(0, numbers_of(x.stream));
  visit(1, numbers_of(x.loop));
  visit(2, numbers_of(x.velocity));
}
template <class T, class V, Cochain kind>
void visit_numbers(const StreamAndFaceValues<T, V, kind>& x, const auto& visit) {
  visit(0, numbers_of(x.stream));
  visit(1, numbers_of(x.loop));
  visit(2, numbers_of(x.velocity));
}

// Kernels of one entity, whose numbers are P: of a vector's all, of one that is kept the first ones.

/// A change times a vector, whose numbers `y` gives.
template <class P, class Y>
struct ProductOfNumber {
  View<Number, const float> change;
  Y y;
  CURLEW_HOST_DEVICE Real operator()(Id<Owner> i) const {
    Real product = 0;
    for (Index k = 0; k < P::kept; ++k)
      product += static_cast<Real>(change[Id<Number>(P::kept * i.value() + k)]) * y(i, k);
    return product;
  }
};

/// The same for one after the other of the changes.
template <class P, class Y>
struct ProductsOfEntity {
  View<Number, const float> change[most_changes];
  Y y;
  CURLEW_HOST_DEVICE ProductOfNumber<P, Y> operator()(Index number) const {
    // A place that is looked up would send the views through memory.
    View<Number, const float> chosen = change[0];
    for (std::size_t k = 1; k < most_changes; ++k) {
      if (static_cast<Index>(k) == number) chosen = change[k];
    }
    return {chosen, y};
  }
};

/// Number `k` of an entity's.
template <class P>
struct PartOfVector {
  View<Number, const typename P::Scalar> vector;
  CURLEW_HOST_DEVICE Real operator()(Id<Owner> i, Index k) const {
    return static_cast<Real>(vector[Id<Number>(P::all * i.value() + k)]);
  }
};

/// The same of first - factor last.
template <class P>
struct PartOfDifference {
  View<Number, const float> first;
  Real factor;
  PartOfVector<P> last;
  CURLEW_HOST_DEVICE Real operator()(Id<Owner> i, Index k) const {
    return static_cast<Real>(first[Id<Number>(P::kept * i.value() + k)]) - factor * last(i, k);
  }
};

/// Sum of factor times change; unused ones have no factor.
template <class P>
struct CombinationOnEntity {
  using T = typename P::Scalar;
  View<Number, const float> change[most_changes];
  Real factor[most_changes];
  View<Number, T> x;
  CURLEW_HOST_DEVICE void operator()(Id<Owner> i) const {
    for (Index part = 0; part < P::kept; ++part) {
      const Id<Number> from(P::kept * i.value() + part), to(P::all * i.value() + part);
      Real sum = 0;
      for (std::size_t k = 0; k < most_changes; ++k) sum += factor[k] * static_cast<Real>(change[k][from]);
      x[to] = static_cast<T>(sum);
    }
  }
};

template <class P>
struct RoundOnEntity {
  using T = typename P::Scalar;
  Real factor;
  View<Number, const T> x;
  View<Number, float> scaled;
  CURLEW_HOST_DEVICE void operator()(Id<Owner> i) const {
    for (Index part = 0; part < P::kept; ++part)
      scaled[Id<Number>(P::kept * i.value() + part)] =
          static_cast<float>(factor * static_cast<Real>(x[Id<Number>(P::all * i.value() + part)]));
  }
};

template <class P>
struct WidenOnEntity {
  using T = typename P::Scalar;
  View<Number, const float> rounded;
  View<Number, T> x;
  CURLEW_HOST_DEVICE void operator()(Id<Owner> i) const {
    for (Index part = 0; part < P::kept; ++part)
      x[Id<Number>(P::all * i.value() + part)] =
          static_cast<T>(rounded[Id<Number>(P::kept * i.value() + part)]);
  }
};

template <class N>
using PartsOf = typename std::remove_cvref_t<N>::Parts;

/// Makes room for the numbers of a vector where there is none.
template <class X, class Rounded>
void make_room(const Executor& executor, const X& like, Rounded& numbers) {
  if (!numbers.empty()) return;
  visit_numbers(like, [&](std::size_t, const auto& of_field) {
    numbers.emplace_back(executor, PartsOf<decltype(of_field)>::kept * of_field.entities.all,
                         "number of a vector", "1");
  });
}

/// factor x, rounded.
template <class X, class Rounded>
void round_to(const Executor& executor, Real factor, const X& x, Rounded& rounded) {
  make_room(executor, x, rounded);
  visit_numbers(x, [&](std::size_t field, const auto& numbers) {
    for_each(executor, numbers.range(),
             RoundOnEntity<PartsOf<decltype(numbers)>>{factor, numbers.view(), rounded[field].view()});
  });
}

template <class X, class Rounded>
void widen(const Executor& executor, const Rounded& rounded, X& x) {
  visit_numbers(x, [&](std::size_t field, const auto& numbers) {
    for_each(executor, numbers.range(),
             WidenOnEntity<PartsOf<decltype(numbers)>>{rounded[field].view(), numbers.view()});
  });
}

}  // namespace

template <class X>
SolutionHistory<X>::SolutionHistory(const Executor& executor, std::function<void(X&)> make_free,
                                    const SolutionHistory* other)
    : executor_(executor),
      make_free_(std::move(make_free)),
      first_residual_(other != nullptr ? other->first_residual_ : std::make_shared<Rounded>()),
      sums_(executor_.space(), most_fields * most_changes) {}

template <class X>
template <class PartOf>
auto SolutionHistory<X>::products_with(const Paired<X>& y, std::size_t last, const PartOf& part_of) -> Row {
  const auto count = static_cast<Index>(last) + 1;
  std::size_t fields = 0;
  visit_numbers(y, [&](std::size_t field, const auto& numbers) {
    using P = PartsOf<decltype(numbers)>;
    const auto part = part_of(field, PartOfVector<P>{numbers.view()});
    ProductsOfEntity<P, std::remove_const_t<decltype(part)>> products{{}, part};
    for (std::size_t k = 0; k < most_changes; ++k)
      products.change[k] = entries_[kept_[std::min(k, last)]].change[field].view();
    detail::own_sums(executor_, Range<Owner>(0, numbers.entities.owned), count, products,
                     sums_.data() + field * at(count));
    fields = field + 1;
  });
  const std::size_t total = fields * at(count);
  detail::sum_over_ranks(executor_, sums_.data(), total);
  std::array<BinnedSum, most_fields * most_changes> sums;
  copy_bytes(sums.data(), MemorySpace::Host, sums_.data(), sums_.space(), total * sizeof(BinnedSum));
  Row products{};
  for (std::size_t k = 0; k <= last; ++k) {
    for (std::size_t field = 1; field < fields; ++field) sums[k].add(sums[field * at(count) + k]);
    products[kept_[k]] = sums[k].value();
  }
  return products;
}

template <class X>
auto SolutionHistory<X>::products_with(const Paired<X>& y, std::size_t last) -> Row {
  return products_with(y, last, [](std::size_t, const auto& part) { return part; });
}

template <class X>
auto SolutionHistory<X>::shares(const StepMatrix<X>& matrix, const Entry& entry) -> Shares {
  const Real a = entry.mass_factor, b = entry.stiffness_factor;
  const Real own = matrix.stiffness_factor == b ? 1 : matrix.stiffness_factor / b;
  const Real mass = matrix.mass_factor - own * a;
  // Steps of one length differ by rounding.
  const bool is_rounding = std::abs(mass) <= std::numeric_limits<float>::epsilon() * std::abs(own * a);
  return {own, is_rounding ? 0 : mass};
}

template <class X>
std::vector<Real> SolutionHistory<X>::factors(const StepMatrix<X>& matrix, const Paired<X>& residual,
                                              X& change, Paired<X>& image) {
  const auto lacks_stiffness = [&](std::size_t place) { return entries_[place].stiffness_factor == 0; };
  if (matrix.stiffness_factor != 0 && std::ranges::any_of(kept_, lacks_stiffness)) clear();
  const std::size_t count = kept_.size();
  if (count == 0) return {};
  std::vector<Real> gram(count * count);
  for (std::size_t i = 0; i < count; ++i) {
    Entry& entry = entries_[kept_[i]];
    const auto [own, mass] = shares(matrix, entry);
    if (mass != 0 && !entry.by_mass) {
      set_free_change(i, change);
      matrix.mass->apply(change, image);
      entry.by_mass = products_with(image, i);
    }
    for (std::size_t j = 0; j <= i; ++j) {
      const Real by_mass = mass != 0 ? mass * (*entry.by_mass)[kept_[j]] : 0;
      gram[i * count + j] = gram[j * count + i] = own * entry.by_image[kept_[j]] + by_mass;
    }
  }
  const Row products = products_with(residual, count - 1);
  std::vector<Real> in_order;
  for (const std::size_t place : kept_) in_order.push_back(products[place]);
  return least_energy_factors(gram, in_order);
}

template <class X>
void SolutionHistory<X>::set_combination(std::span<const Real> factors, X& x) const {
  visit_numbers(x, [&](std::size_t field, const auto& numbers) {
    CombinationOnEntity<PartsOf<decltype(numbers)>> combination{{}, {}, numbers.view()};
    for (std::size_t k = 0; k < most_changes; ++k) {
      const bool used = k < kept_.size();
      combination.change[k] = entries_[kept_[used ? k : 0]].change[field].view();
      combination.factor[k] = used ? factors[k] : 0;
    }
    for_each(executor_, numbers.range(), combination);
  });
  if (make_free_) make_free_(x);
}

template <class X>
void SolutionHistory<X>::begin(Real scale, const Paired<X>& residual) {
  round_to(executor_, scale, residual, *first_residual_);
}

template <class X>
void SolutionHistory<X>::end(const StepMatrix<X>& matrix, Real change_factor, const X& change,
                             Real residual_factor, const Paired<X>& residual) {
  Entry& entry = append_rounded(change_factor, change, matrix.mass_factor, matrix.stiffness_factor);
  entry.by_image =
      products_with(residual, kept_.size() - 1, [&]<class P>(std::size_t field, PartOfVector<P> last) {
        return PartOfDifference<P>{std::as_const(*first_residual_)[field].view(), residual_factor, last};
      });
}

template <class X>
auto SolutionHistory<X>::append_rounded(Real factor, const X& change, Real mass_factor, Real stiffness_factor)
    -> Entry& {
  std::size_t place = kept_.size();
  if (place == most_changes) {
    place = kept_.front();
    kept_.erase(kept_.begin());
  }
  kept_.push_back(place);
  if (place == entries_.size()) entries_.emplace_back();
  Entry& entry = entries_[place];
  round_to(executor_, factor, change, entry.change);
  entry.mass_factor = mass_factor;
  entry.stiffness_factor = stiffness_factor;
  entry.by_mass.reset();
  return entry;
}

template <class X>
void SolutionHistory<X>::append(const StepMatrix<X>& matrix, const X& change, const Paired<X>& image) {
  Entry& entry = append_rounded(1, change, matrix.mass_factor, matrix.stiffness_factor);
  entry.by_image = products_with(image, kept_.size() - 1);
}

template <class X>
void SolutionHistory<X>::append(const Known& known, const X& change) {
  Entry& entry = append_rounded(1, change, known.mass_factor, known.stiffness_factor);
  REQUIRE(known.products.size() == kept_.size(), "a change has a product with each that is kept");
  for (std::size_t j = 0; j < kept_.size(); ++j) entry.by_image[kept_[j]] = known.products[j];
}

template <class X>
void SolutionHistory<X>::set_free_change(std::size_t k, X& change) const {
  widen(executor_, entries_[kept_[k]].change, change);
  if (make_free_) make_free_(change);
}

template <class X>
void SolutionHistory<X>::renew(const Operator<X, Paired<X>>& stiffness, X& change, Paired<X>& image) {
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    set_free_change(k, change);
    stiffness.apply(change, image);
    Entry& entry = entries_[kept_[k]];
    entry.mass_factor = 0;
    entry.stiffness_factor = 1;
    entry.by_image = products_with(image, k);
  }
}

template <class X>
auto SolutionHistory<X>::known(std::size_t k) const -> Known {
  const Entry& entry = entries_[kept_.at(k)];
  Known known{entry.mass_factor, entry.stiffness_factor, {}};
  for (std::size_t j = 0; j <= k; ++j) known.products.push_back(entry.by_image[kept_[j]]);
  return known;
}

template <class X>
void SolutionHistory<X>::read(std::size_t k, X& change) const {
  widen(executor_, entries_[kept_.at(k)].change, change);
}

template class SolutionHistory<PrimalCochain<Node>>;
template class SolutionHistory<FaceVectors<float>>;
template class SolutionHistory<DualCochain<Cell>>;
template class SolutionHistory<StreamVelocity>;
template class SolutionHistory<StreamVectors<float>>;

}  // namespace curlew
