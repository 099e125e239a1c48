// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/cell_laplacian.hpp"

#include <string>
#include <utility>

#include "kernels/sliced_differences.hpp"

namespace curlew {

namespace {

struct CellNeighbour;  // entity tag: an entry of the table of neighbours

/// Sets the outflow, and gives p times it.
struct SetOutflowOfCell {
  View<Cell, const Real> p;
  View<Cell, Real> outflow;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c, Real sum) const {
    outflow[c] = sum;
    return p[c] * sum;
  }
};

struct OutflowThroughBoundary {
  View<Cell, const Real> through_boundary, p;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const { return through_boundary[c] * p[c]; }
};

struct OutflowOfCell {
  Incidence<Cell, Cell> neighbours_of;
  View<CellNeighbour, const Real> coefficient;
  OutflowThroughBoundary through_boundary;
  SetOutflowOfCell set;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const {
    const Real own = set.p[c];
    Id<CellNeighbour> entry(neighbours_of.start(c));
    Real sum = through_boundary(c);
    for (const auto [other, sign] : neighbours_of[c]) {
      sum += coefficient[entry] * (own - set.p[other]);
      entry = neighbours_of.next(entry);
    }
    return set(c, sum);
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
  coefficient_ = neighbours_of_cell_.values(std::move(of_entry));
  through_boundary_ = ConstantArray<Real>(std::move(through_boundary));
}

void CellLaplacian::apply_on(Range<Cell> cells, const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow,
                             SumInParts* product) const {
  require_fits(p, neighbours_of_cell_.rows(), executor_);
  require_fits(outflow, neighbours_of_cell_.rows(), executor_);
  const MemorySpace space = executor_.space();
  const OutflowThroughBoundary through_boundary{
      View<Cell, const Real>(through_boundary_.data(space), p.size()), p.view()};
  const SetOutflowOfCell set{p.view(), outflow.view()};
  const View<CellNeighbour, const Real> coefficient(coefficient_.data(space),
                                                    static_cast<Index>(coefficient_.size(space)));
  visit_differences(executor_, sliced_, cells, p.view(), through_boundary, set,
                    OutflowOfCell{neighbours_of_cell_.view(space), coefficient, through_boundary, set},
                    product);
}

void CellLaplacian::apply_with_product(const DualCochain<Cell>& p, PrimalCochain<Cell>& outflow,
                                       SumInParts& product) const {
  apply_on(p.range(), p, outflow, &product);
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
