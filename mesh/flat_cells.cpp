// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/flat_cells.hpp"

#include <algorithm>
#include <limits>

#include "kernels/reproducible_sum.hpp"
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
  const Index own = mesh.domain().halo<Cell>().owned().size();
  const Ranks& ranks = mesh.domain().communicator();
  const BinnedSum flat =
      binned_sum(own, [&](Index k) -> Real { return extents(mesh, Id<Cell>(k)).are_flat() ? 1 : 0; });
  const BinnedSum all = binned_sum(own, [](Index) -> Real { return 1; });
  return ranks.sum(flat).value() / ranks.sum(all).value();
}

}  // namespace curlew
