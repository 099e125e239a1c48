// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/flat_cells.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "kernels/reduction.hpp"
#include "mesh/cell_shapes.hpp"

namespace curlew {

namespace {

/// Of the lengths of a cell.
struct Extents {
  Real least, most;
  bool are_flat() const { return most > 4 * least; }
};

Extents extents(const Mesh& mesh, Id<Cell> c) {
  Extents result{std::numeric_limits<Real>::infinity(), 0};
  for (const auto [f, sign] : mesh.topology().faces_of_cell()[c]) {
    const Real length =
        mesh.geometry().cell_volumes()[at(c.value())] / norm(mesh.geometry().face_areas()[at(f.value())]);
    result.least = std::min(result.least, length);
    result.most = std::max(result.most, length);
  }
  return result;
}

}  // namespace

Real inverse_square_of_flattest(const Mesh& mesh) {
  Real inverse_square = 0;
  for (const Id<Cell> c : mesh.domain().halo<Cell>().owned()) {
    if (is_simplex(mesh.topology().cell_type(c))) continue;
    const Extents of_cell = extents(mesh, c);
    if (of_cell.are_flat()) inverse_square = std::max(inverse_square, 1 / (of_cell.least * of_cell.least));
  }
  return mesh.domain().communicator().maximum(inverse_square);
}

Real share_of_flat_cells(const Mesh& mesh) {
  std::vector<Real> is_flat;
  for (const Id<Cell> c : mesh.domain().halo<Cell>().owned())
    is_flat.push_back(extents(mesh, c).are_flat() ? 1 : 0);
  const Communicator& ranks = mesh.domain().communicator();
  const std::vector<Real> ones(is_flat.size(), 1);
  return sum_of_terms(ranks, is_flat) / sum_of_terms(ranks, ones);
}

}  // namespace curlew
