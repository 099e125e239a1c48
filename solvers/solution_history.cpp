// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/solution_history.hpp"

#include <array>
#include <type_traits>
#include <utility>

#include "kernels/reduction.hpp"
#include "mesh/entities.hpp"
#include "solvers/face_velocity.hpp"
#include "solvers/least_energy.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

namespace {

struct Owner;  // entity tag: what numbers are the value of

constexpr std::size_t most_changes = solution_history_depth;

/// What the values of a field are made of.
template <class T>
struct ScalarOf {
  using type = Real;
};
template <class T>
struct ScalarOf<Vector4<T>> {
  using type = T;
};

/// The numbers of a field, so many an entity.
template <class T, Index components_per_entity>
struct Numbers {
  using Scalar = std::remove_const_t<T>;
  static constexpr Index components = components_per_entity;
  T* data;
  Extent entities;
  View<Number, T> view() const { return View<Number, T>(data, components * entities.all); }
};

template <class E, class T, Cochain kind>
auto numbers_of(Field<E, T, kind>& field) {
  using N = typename ScalarOf<T>::type;
  return Numbers<N, sizeof(T) / sizeof(N)>{reinterpret_cast<N*>(field.view().data()), field.extent()};
}
template <class E, class T, Cochain kind>
auto numbers_of(const Field<E, T, kind>& field) {
  using N = typename ScalarOf<T>::type;
  return Numbers<const N, sizeof(T) / sizeof(N)>{reinterpret_cast<const N*>(field.view().data()),
                                                 field.extent()};
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
template <Cochain kind>
void visit_numbers(StreamAndFaceValues<kind>& x, const auto& visit) {
  visit(0, numbers_of(x.stream));
  visit(1, numbers_of(x.loop));
  visit(2, numbers_of(x.velocity));
}
template <Cochain kind>
void visit_numbers(const StreamAndFaceValues<kind>& x, const auto& visit) {
  visit(0, numbers_of(x.stream));
  visit(1, numbers_of(x.loop));
  visit(2, numbers_of(x.velocity));
}

/// Of one entity; a sum has fewer terms so.
template <class T, Index components>
struct ProductOfEntity {
  View<Number, const float> change;
  View<Number, const T> y;
  CURLEW_HOST_DEVICE Real operator()(Id<Owner> i) const {
    Real product = 0;
    for (Index k = 0; k < components; ++k) {
      const Id<Number> number(components * i.value() + k);
      product += static_cast<Real>(change[number]) * static_cast<Real>(y[number]);
    }
    return product;
  }
};

/// Sum of factor times change; unused ones have no factor.
template <class T>
struct CombinationOnNumber {
  View<Number, const float> change[most_changes];
  Real factor[most_changes];
  View<Number, T> x;
  CURLEW_HOST_DEVICE void operator()(Id<Number> i) const {
    Real sum = 0;
    for (std::size_t k = 0; k < most_changes; ++k) sum += factor[k] * static_cast<Real>(change[k][i]);
    x[i] = static_cast<T>(sum);
  }
};

template <class T>
struct RoundOnNumber {
  View<Number, T> x;
  View<Number, float> rounded;
  CURLEW_HOST_DEVICE void operator()(Id<Number> i) const {
    rounded[i] = static_cast<float>(x[i]);
    x[i] = static_cast<T>(rounded[i]);
  }
};

template <class T>
struct AddOnNumber {
  View<Number, const T> change;
  View<Number, T> x;
  CURLEW_HOST_DEVICE void operator()(Id<Number> i) const { x[i] += change[i]; }
};

template <class T>
struct WidenOnNumber {
  View<Number, const float> rounded;
  View<Number, T> x;
  CURLEW_HOST_DEVICE void operator()(Id<Number> i) const { x[i] = static_cast<T>(rounded[i]); }
};

}  // namespace

template <class X>
SolutionHistory<X>::SolutionHistory(const Executor& executor, std::size_t parts,
                                    std::function<void(X&)> make_free)
    : executor_(executor),
      make_free_(std::move(make_free)),
      gram_(parts, std::vector<Real>(most_changes * most_changes, 0)),
      sums_(executor_.space(), most_changes) {}

template <class X>
std::vector<Real> SolutionHistory<X>::products_with(const Paired<X>& y) {
  for (std::size_t k = 0; k < kept_.size(); ++k) {
    BinnedSum* const result = sums_.data() + k;
    visit_numbers(y, [&](std::size_t field, const auto& numbers) {
      using Numbers = std::remove_cvref_t<decltype(numbers)>;
      using Product = ProductOfEntity<typename Numbers::Scalar, Numbers::components>;
      const Product product{std::as_const(changes_[kept_[k]][field]).view(), numbers.view()};
      const Range<Owner> owned(0, numbers.entities.owned);
      if (field == 0) {
        detail::own_sum(executor_, owned, product, result);
      } else {
        detail::add_own_sum(executor_, owned, product, result);
      }
    });
  }
  detail::sum_over_ranks(executor_, sums_.data(), kept_.size());
  std::array<BinnedSum, most_changes> sums;
  copy_bytes(sums.data(), MemorySpace::Host, sums_.data(), sums_.space(), kept_.size() * sizeof(BinnedSum));
  std::vector<Real> products;
  for (std::size_t k = 0; k < kept_.size(); ++k) products.push_back(sums[k].value());
  return products;
}

template <class X>
void SolutionHistory<X>::improve(const MatrixSum<X>& matrix, const Paired<X>& residual, X& x, X& scratch) {
  REQUIRE(matrix.size() == gram_.size(), "the matrix is not made of the parts that the history knows");
  if (kept_.empty()) return;
  std::vector<Real> gram;
  for (const std::size_t i : kept_) {
    for (const std::size_t j : kept_) {
      Real energy = 0;
      for (std::size_t part = 0; part < matrix.size(); ++part)
        energy += matrix[part].first * gram_[part][i * most_changes + j];
      gram.push_back(energy);
    }
  }
  const std::vector<Real> factors = least_energy_factors(gram, products_with(residual));
  visit_numbers(scratch, [&](std::size_t field, const auto& numbers) {
    CombinationOnNumber<typename std::remove_cvref_t<decltype(numbers)>::Scalar> combination{
        {}, {}, numbers.view()};
    for (std::size_t k = 0; k < most_changes; ++k) {
      const bool used = k < kept_.size();
      combination.change[k] = std::as_const(changes_[kept_[used ? k : 0]][field]).view();
      combination.factor[k] = used ? factors[k] : 0;
    }
    for_each(executor_, changes_[0][field].range(), combination);
  });
  if (make_free_) make_free_(scratch);
  visit_numbers(x, [&](std::size_t field, const auto& numbers) {
    using T = typename std::remove_cvref_t<decltype(numbers)>::Scalar;
    visit_numbers(std::as_const(scratch), [&](std::size_t other, const auto& combined) {
      if constexpr (std::is_same_v<typename std::remove_cvref_t<decltype(combined)>::Scalar, T>) {
        if (other == field)
          for_each(executor_, changes_[0][field].range(), AddOnNumber<T>{combined.view(), numbers.view()});
      }
    });
  });
}

template <class X>
void SolutionHistory<X>::append(const MatrixSum<X>& matrix, X& change, Paired<X>& image) {
  REQUIRE(matrix.size() == gram_.size(), "the matrix is not made of the parts that the history knows");
  std::size_t place = kept_.size();
  if (place == most_changes) {
    place = kept_.front();
    kept_.erase(kept_.begin());
  }
  kept_.push_back(place);
  if (place == changes_.size()) {
    Change room;
    visit_numbers(change, [&](std::size_t, const auto& numbers) {
      room.emplace_back(executor_, numbers.components * numbers.entities.all, "change", "1");
    });
    changes_.push_back(std::move(room));
  }
  visit_numbers(change, [&](std::size_t field, const auto& numbers) {
    Field<Number, float>& rounded = changes_[place][field];
    for_each(executor_, rounded.range(), RoundOnNumber{numbers.view(), rounded.view()});
  });
  if (make_free_) make_free_(change);
  for (std::size_t part = 0; part < matrix.size(); ++part) {
    matrix[part].second->apply(change, image);
    const std::vector<Real> products = products_with(image);
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      gram_[part][place * most_changes + kept_[k]] = products[k];
      gram_[part][kept_[k] * most_changes + place] = products[k];
    }
  }
}

template <class X>
void SolutionHistory<X>::read(std::size_t k, X& change) const {
  visit_numbers(change, [&](std::size_t field, const auto& numbers) {
    const Field<Number, float>& rounded = changes_[kept_.at(k)][field];
    for_each(executor_, rounded.range(), WidenOnNumber{rounded.view(), numbers.view()});
  });
}

template class SolutionHistory<PrimalCochain<Node>>;
template class SolutionHistory<FaceVectors<float>>;
template class SolutionHistory<DualCochain<Cell>>;
template class SolutionHistory<StreamVelocity>;

}  // namespace curlew
