// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>

#include "kernels/field.hpp"
#include "kernels/sum_in_parts.hpp"

namespace curlew {

/// The type of field that pairs with `F` in an inner product: a dual cochain with a primal one on the same
/// entity, any other field with itself.
template <class F>
struct PairedField {
  using type = F;
};
template <class E>
struct PairedField<PrimalCochain<E>> {
  using type = DualCochain<E>;
};
template <class E>
struct PairedField<DualCochain<E>> {
  using type = PrimalCochain<E>;
};
template <class F>
using Paired = typename PairedField<F>::type;

/// A linear map from fields of type X to fields of type Y, tied to one mesh and one executor.
template <class X, class Y>
class Operator {
 public:
  virtual ~Operator() = default;
  /// y = A x. Throws Error for fields of the wrong length or in another memory.
  virtual void apply(const X& x, Y& y) const = 0;
  /// x = Aᵀ y, so that the inner products (A x, y) and (x, Aᵀ y) agree.
  virtual void apply_transpose(const Paired<Y>& y, Paired<X>& x) const = 0;
};

/// A symmetric operator that forms an inner product in the pass that it takes anyway.
template <class X>
class FusedOperator : public Operator<X, Paired<X>> {
 public:
  /// y = A x, and x . y is added to `product`; what y is at ghosts has no meaning.
  virtual void apply_with_product(const X& x, Paired<X>& y, SumInParts& product) const = 0;
};

/// Throws unless `field` has `size` values in the memory of `executor`.
template <class F>
void require_fits(const F& field, Index size, const Executor& executor) {
  REQUIRE(field.size() == size, "field '" + field.name() + "' has " + std::to_string(field.size()) +
                                    " values, the operator expects " + std::to_string(size));
  REQUIRE(field.executor().space() == executor.space(), "field '" + field.name() + "' lives with executor " +
                                                            field.executor().name() + ", the operator with " +
                                                            executor.name());
}

}  // namespace curlew
