// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/cell_laplacian.hpp"

#include <string>
#include <utility>

#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"
#include "kernels/sliced_matrix_sum.hpp"

namespace curlew {

namespace {

struct CellNeighbour;  // entity tag: an entry of the table of neighbours

struct OutflowOnCell {
  Incidence<Cell, Cell> neighbours_of;
  View<CellNeighbour, const Real> coefficient;
  View<Cell, const Real> through_boundary, p;
  View<Cell, Real> outflow;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Real own = p[c];
    Id<CellNeighbour> entry(neighbours_of.start(c));
    Real sum = through_boundary[c] * own;
    for (const auto [other, sign] : neighbours_of[c]) {
      sum += coefficient[entry] * (own - p[other]);
      ++entry;
    }
    outflow[c] = sum;
  }
};

/// Sets the outflow, and gives p times it.
struct OutflowAndProductOfCell {
  OutflowOnCell set_outflow;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const {
    set_outflow(c);
    return set_outflow.p[c] * set_outflow.outflow[c];
  }
};

struct OutflowThroughBoundary {
  View<Cell, const Real> through_boundary, p;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const { return through_boundary[c] * p[c]; }
};

struct SetOutflow {
  View<Cell, Real> outflow;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c, Real sum) const { outflow[c] = sum; }
};

struct SetOutflowAndProduct {
  View<Cell, const Real> p;
  View<Cell, Real> outflow;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c, Real sum) const {
    outflow[c] = sum;
    return p[c] * sum;
  }
};

}  // namespace

CellLaplacian::CellLaplacian(const Executor& executor, const Topology& topology,
                             std::span<const Real> coefficient)
    : executor_(executor) {
  REQUIRE(coefficient.size() == at(topology.faces().size()),
          "the mesh has " + std::to_string(topology.faces().size()) + " faces, got " +
              std::to_string(coefficient.size()) + " coefficients");
  std::vector<Index> starts{0}, neighbours;
  std::vector<Real> of_entry, through_boundary(at(topology.cells().size()), 0);
  for (const Id<Cell> c : topology.cells()) {
    for (const auto [f, sign] : topology.faces_of_cell()[c]) {
      const auto cells = topology.cells_of_face()[f];
      const bool interior = cells.size() == 2;
      const Id<Cell> other = !interior ? c : cells[0].id == c ? cells[1].id : cells[0].id;
      neighbours.push_back(other.value());
      of_entry.push_back(interior ? coefficient[at(f.value())] : Real(0));
      if (!interior) through_boundary[at(c.value())] += coefficient[at(f.value())];
    }
    starts.push_back(static_cast<Index>(neighbours.size()));
  }
  if (executor.space() == MemorySpace::Host)
    sliced_ = SlicedMatrix<Cell, Cell, Real>(starts, neighbours, std::span<const Real>(of_entry));
  neighbours_of_cell_ = IncidenceTable<Cell, Cell>(std::move(starts), std::move(neighbours));
  coefficient_ = ConstantArray<Real>(std::move(of_entry));
  through_boundary_ = ConstantArray<Real>(std::move(through_boundary));
}

/// A product, and what its kernels are made of.
struct CellLaplacian::Kernels {
  const CellLaplacian& of;
  const DualCochain<Cell>& p;
  PrimalCochain<Cell>& outflow;

  Kernels(const CellLaplacian& laplacian, const DualCochain<Cell>& values, PrimalCochain<Cell>& result)
      : of(laplacian), p(values), outflow(result) {
    require_fits(p, of.neighbours_of_cell_.rows(), of.executor_);
    require_fits(outflow, of.neighbours_of_cell_.rows(), of.executor_);
  }
  MemorySpace space() const { return of.executor_.space(); }
  bool sliced(Range<Cell> cells) const { return space() == MemorySpace::Host && cells == p.range(); }
  View<Cell, const Real> through_boundary() const { return {of.through_boundary_.data(space()), p.size()}; }
  OutflowThroughBoundary first() const { return {through_boundary(), p.view()}; }
  OutflowOnCell by_table() const {
    return {of.neighbours_of_cell_.view(space()),
            View<CellNeighbour, const Real>(of.coefficient_.data(space()),
                                            static_cast<Index>(of.coefficient_.size())),
            through_boundary(), p.view(), outflow.view()};
  }
};

void CellLaplacian::apply_on(Range<Cell> cells, const DualCochain<Cell>& p,
                             PrimalCochain<Cell>& outflow) const {
  const Kernels kernels(*this, p, outflow);
  if (kernels.sliced(cells)) {
    sliced_.add_differences(executor_, cells, p.view(), kernels.first(), SetOutflow{outflow.view()});
  } else {
    for_each(executor_, cells, kernels.by_table());
  }
}

void CellLaplacian::apply_on(Range<Cell> cells, const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow,
                             detail::SumInParts& product) const {
  const Kernels kernels(*this, p, outflow);
  if (!kernels.sliced(cells)) return product.add(cells, OutflowAndProductOfCell{kernels.by_table()});
  add_differences(executor_, sliced_, cells, p.view(), kernels.first(),
                  SetOutflowAndProduct{p.view(), outflow.view()}, product);
}

void CellLaplacian::apply_with_product(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow,
                                       BinnedSum* product) const {
  detail::SumInParts sum(executor_, product);
  apply_on(p.range(), p, outflow, sum);
  sum.finish();
}

SymmetricMatrix CellLaplacian::matrix() const {
  SymmetricMatrix matrix;
  matrix.diagonal.assign(through_boundary_.host().begin(), through_boundary_.host().end());
  const auto table = neighbours_of_cell_.view(MemorySpace::Host);
  for (const Id<Cell> c : Range<Cell>(0, neighbours_of_cell_.rows())) {
    for (Index k = 0; k < table[c].size(); ++k) {
      const Real coefficient = coefficient_[at(table.start(c) + k)];
      matrix.diagonal[at(c.value())] += coefficient;
      matrix.off_diagonal.columns.push_back(table[c][k].id.value());
      matrix.off_diagonal.values.push_back(-coefficient);
    }
    matrix.off_diagonal.starts.push_back(static_cast<Index>(matrix.off_diagonal.columns.size()));
  }
  return matrix;
}

}  // namespace curlew
