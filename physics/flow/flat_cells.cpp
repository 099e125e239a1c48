// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/flat_cells.hpp"

#include <algorithm>
#include <limits>

#include "mesh/cell_shapes.hpp"

namespace curlew {

Real inverse_square_of_flattest(const Mesh& mesh) {
  constexpr Real flat = 4;
  const Topology& topology = mesh.topology();
  Real inverse_square = 0;
  for (const Id<Cell> c : mesh.domain().halo<Cell>().owned()) {
    if (is_simplex(topology.cell_type(c))) continue;
    Real least = std::numeric_limits<Real>::infinity(), most = 0;
    for (const auto [f, sign] : topology.faces_of_cell()[c]) {
      const Real length =
          mesh.geometry().cell_volumes()[at(c.value())] / norm(mesh.geometry().face_areas()[at(f.value())]);
      least = std::min(least, length);
      most = std::max(most, length);
    }
    if (most > flat * least) inverse_square = std::max(inverse_square, 1 / (least * least));
  }
  return mesh.domain().communicator().maximum(inverse_square);
}

}  // namespace curlew
