// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "kernels/tensor3.hpp"
#include "kernels/vector4.hpp"
#include "mesh/domain.hpp"
#include "operators/symmetric_matrix.hpp"
#include "solvers/linear_solver.hpp"

namespace curlew {

template <class T>
class MultigridCycle;

/// The power of four nearest to a ratio of viscosity to inertia [m2]: hierarchies are made for this one in
/// its place, so that they serve many steps and depend on nothing of the past.
Real ratio_of_hierarchy(Real ratio);

/// One symmetric V cycle of algebraic multigrid from a zero guess, z = B r: smoothed aggregation
/// (smoothed_aggregation.hpp), Chebyshev smoothing before and after the coarse correction, and the
/// pseudo-inverse on the coarsest level, so that singular systems (all of the boundary insulated or given
/// flux) need nothing special.
///
/// The hierarchy is made once from the matrix and works in single precision on residuals scaled to order one:
/// a preconditioner only has to be near, and half the bytes are half the time. Every level is scaled to a
/// diagonal of one. Symmetric positive (semi)definite up to single rounding; same bits on every backend and
/// any number of ranks: the hierarchy does not depend on how the mesh is divided.
template <class X>
class Multigrid : public Preconditioner<X> {
 public:
  /// `matrix`: the system on the host, with a row for each entity that this rank has, of which those of
  /// ghosts do not matter; where its diagonal is not positive, z = 0. On several ranks levels of at most
  /// `whole` unknowns are worked on by all of them alike, without messages: 1000 take about as long as the
  /// messages that they save.
  Multigrid(const Executor& executor, const Domain& domain, SymmetricMatrix matrix, Index whole = 1000);
  ~Multigrid() override;

  /// Ghosts of r are not read, those of z not written.
  void apply(const Paired<X>& r, X& z) const override;
  void apply_with_product(const Paired<X>& r, X& z, SumInParts& product) const override;

  int levels() const;
  /// Entries of the matrices of all levels over those of the finest.
  Real operator_complexity() const;
  /// What the kernels of a cycle move at least on this rank, each input read and each output written once
  /// [B].
  std::size_t bytes() const;

 private:
  std::unique_ptr<MultigridCycle<float>> cycle_;
};

/// The same cycle between values at nodes that are in single precision and of order one already: numbers, or
/// vectors, all of whose components the matrix couples alike, read once for the three.
template <class T>
class MultigridInSingle {
 public:
  /// `matrix`, `whole` as above. `stiffness`: none for numbers, and for vectors of each of the rank's own
  /// nodes a symmetric tensor b >= 0 that stands on the diagonal besides, so that what it is large for is
  /// held there. One of its three eigenvectors is told apart, the least or the stiffest, whichever is the
  /// more different; the other two are not.
  MultigridInSingle(const Executor& executor, const Domain& domain, SymmetricMatrix matrix,
                    std::optional<std::vector<Tensor3>> stiffness, Index whole = 1000);
  ~MultigridInSingle();

  /// z = B r. Ghosts of r are not read, those of z not written; fourth numbers of vectors stay zero.
  void apply(const Field<Node, T>& r, Field<Node, T>& z) const;

 private:
  std::unique_ptr<MultigridCycle<T>> cycle_;
};

}  // namespace curlew
