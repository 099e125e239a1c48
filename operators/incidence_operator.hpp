// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/mesh.hpp"
#include "operators/operator.hpp"
#include "operators/signed_sums.hpp"

namespace curlew {

/// y_i = factor * sum_j s_ij x_j with the signs of an incidence table: the part of discrete calculus that is
/// exact (numerics: only the mesh's connectivity enters, no metric). Gradient, divergence, curl, rotation and
/// node gradient are this operator on different tables.
template <class X, class Y>
class IncidenceOperator : public Operator<X, Y> {
 public:
  void apply(const X& x, Y& y) const override { apply_on(y.range(), x, y); }
  void apply_transpose(const Paired<Y>& y, Paired<X>& x) const override;

  /// y = A x on these entities alone.
  void apply_on(Range<typename Y::Entity> range, const X& x, Y& y) const;

  /// For kernels that go on with the sums of A, and of its transpose, without the factor of -1 that some
  /// have.
  const SignedSums<typename Y::Entity, typename X::Entity>& rows() const { return rows_; }
  const SignedSums<typename X::Entity, typename Y::Entity>& columns() const { return columns_; }

 protected:
  using From = typename X::Entity;
  using To = typename Y::Entity;

  /// `rows`: for each entity of y the entities of x to sum over; `columns`: its transpose; `factor`: +1 or
  /// -1.
  IncidenceOperator(const Executor& executor, IncidenceTable<To, From> rows, IncidenceTable<From, To> columns,
                    Real factor)
      : executor_(executor),
        rows_(executor, std::move(rows)),
        columns_(executor, std::move(columns)),
        factor_(factor) {}

 private:
  Executor executor_;
  SignedSums<To, From> rows_;
  SignedSums<From, To> columns_;
  Real factor_;
};

/// Divergence D: net outflow of each cell from face fluxes, (D U)_c = sum_f s_cf U_f [m3/s]; s_cf = +1 where
/// the face's normal leaves c. Exact. Perot & Subramanian, JCP 224 (2007).
class Divergence : public IncidenceOperator<PrimalCochain<Face>, PrimalCochain<Cell>> {
 public:
  Divergence(const Executor& executor, const Topology& topology)
      : IncidenceOperator(executor, topology.faces_of_cell(), topology.cells_of_face(), 1) {}
};

/// Gradient G = -Dᵀ: difference along each dual edge, (G p)_f = p_ahead - p_behind; on the boundary
/// -p_behind, to which a boundary value is added by who knows it. Exact.
class Gradient : public IncidenceOperator<DualCochain<Cell>, DualCochain<Face>> {
 public:
  Gradient(const Executor& executor, const Topology& topology)
      : IncidenceOperator(executor, topology.cells_of_face(), topology.faces_of_cell(), -1) {}
};

/// Curl C: circulation of edge integrals around each face, U_f = sum_e s_fe s_e; D C = 0 exactly.
class Curl : public IncidenceOperator<PrimalCochain<Edge>, PrimalCochain<Face>> {
 public:
  Curl(const Executor& executor, const Topology& topology)
      : IncidenceOperator(executor, topology.edges_of_face(), topology.faces_of_edge(), 1) {}
};

/// Rotation R = Cᵀ: circulation of dual-edge integrals around each dual face; R G = 0 exactly.
class Rotation : public IncidenceOperator<DualCochain<Face>, DualCochain<Edge>> {
 public:
  Rotation(const Executor& executor, const Topology& topology)
      : IncidenceOperator(executor, topology.faces_of_edge(), topology.edges_of_face(), 1) {}
};

/// Node gradient B: difference along each edge, from its lower to its higher node; C B = 0 exactly. Zero in
/// two dimensions, where edges are normal to the plane.
class NodeGradient : public IncidenceOperator<PrimalCochain<Node>, PrimalCochain<Edge>> {
 public:
  NodeGradient(const Executor& executor, const Topology& topology)
      : IncidenceOperator(executor, topology.nodes_of_edge(), topology.edges_of_node(), 1) {}
};

}  // namespace curlew
