// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/preconditioners.hpp"

#include "kernels/vector_kernels.hpp"
#include "mesh/entities.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace curlew {

namespace {

template <class E>
struct InverseOnEntity {
  View<E, const Real> diagonal;
  View<E, Real> inverse;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    inverse[i] = diagonal[i] > 0 ? Real(1) / diagonal[i] : Real(0);
  }
};

template <class E>
struct ScaledOnEntity {
  View<E, const Real> scale, from;
  View<E, Real> to;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { to[i] = scale[i] * from[i]; }
};

/// The same, and what it adds to from . to.
template <class E>
struct ScaledAndProductOfEntity {
  ScaledOnEntity<E> set_scaled;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    set_scaled(i);
    return set_scaled.from[i] * set_scaled.to[i];
  }
};

}  // namespace

template <class X>
void IdentityPreconditioner<X>::apply(const Paired<X>& r, X& z) const {
  for_each(r.executor(), r.range(), CopyOnEntity<typename X::Entity, typename X::Value>{r.view(), z.view()});
}

template <class X>
void JacobiPreconditioner<X>::set_diagonal(const Paired<X>& diagonal) {
  require_fits(diagonal, inverse_diagonal_.size(), inverse_diagonal_.executor());
  for_each(diagonal.executor(), diagonal.range(),
           InverseOnEntity<typename X::Entity>{diagonal.view(), inverse_diagonal_.view()});
}

template <class X>
void JacobiPreconditioner<X>::apply(const Paired<X>& r, X& z) const {
  const X& inverse = inverse_diagonal_;
  for_each(r.executor(), r.range(), ScaledOnEntity<typename X::Entity>{inverse.view(), r.view(), z.view()});
}

template <class X>
void JacobiPreconditioner<X>::apply_with_product(const Paired<X>& r, X& z, SumInParts& product) const {
  using E = typename X::Entity;
  const X& inverse = inverse_diagonal_;
  const ScaledOnEntity<E> set_scaled{inverse.view(), r.view(), z.view()};
  product.add(r.owned(), ScaledAndProductOfEntity<E>{set_scaled});
  for_each(r.executor(), Range<E>(r.owned().last(), r.size()), set_scaled);
}

template <class X>
std::unique_ptr<Preconditioner<X>> make_preconditioner(Preconditioning preconditioning,
                                                       const Executor& executor, const Domain& domain,
                                                       SymmetricMatrix matrix) {
  if (preconditioning == Preconditioning::None) return std::make_unique<IdentityPreconditioner<X>>();
  if (preconditioning == Preconditioning::Multigrid) {
    return std::make_unique<Multigrid<X>>(executor, domain, std::move(matrix));
  }
  auto jacobi = std::make_unique<JacobiPreconditioner<X>>(executor, matrix.rows());
  Paired<X> diagonal(executor, matrix.rows(), "diagonal", "1");
  diagonal.copy_from_host(matrix.diagonal);
  jacobi->set_diagonal(diagonal);
  return jacobi;
}

template class IdentityPreconditioner<PrimalCochain<Node>>;
template class IdentityPreconditioner<DualCochain<Cell>>;
template class JacobiPreconditioner<PrimalCochain<Node>>;
template class JacobiPreconditioner<DualCochain<Cell>>;
template class JacobiPreconditioner<PrimalCochain<Edge>>;
template std::unique_ptr<Preconditioner<PrimalCochain<Node>>> make_preconditioner(Preconditioning,
                                                                                  const Executor&,
                                                                                  const Domain&,
                                                                                  SymmetricMatrix);
template std::unique_ptr<Preconditioner<DualCochain<Cell>>> make_preconditioner(Preconditioning,
                                                                                const Executor&,
                                                                                const Domain&,
                                                                                SymmetricMatrix);

}  // namespace curlew
