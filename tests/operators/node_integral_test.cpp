// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/node_integral.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mesh/box.hpp"
#include "tests/kernels/backends.hpp"
#include "tests/mesh/shelf.hpp"

namespace curlew {
namespace {

std::vector<Real> integral_of(const Executor& executor, const Mesh& mesh, const std::vector<Real>& value) {
  Field<Cell> of_cells(executor, mesh.topology().cells().size(), "value", "1");
  of_cells.copy_from_host(value);
  DualCochain<Node> integral(executor, mesh.topology().nodes().size(), "integral", "m3");
  NodeIntegral(executor, mesh).apply(of_cells, integral);
  return integral.to_host();
}

TEST(NodeIntegral, of_one_is_the_volume_of_each_dual_and_of_all_is_that_over_the_cells) {
  for (const ShelfMesh& shelf_mesh : shelf()) {
    SCOPED_TRACE(shelf_mesh.name);
    const Mesh mesh(shelf_mesh.raw);
    const std::size_t cells = at(mesh.topology().cells().size());
    const std::span<const Real> volumes = mesh.geometry().node_volumes().host();
    EXPECT_EQ(integral_of(Executor::serial(), mesh, std::vector<Real>(cells, 1)),
              std::vector<Real>(volumes.begin(), volumes.end()));
    std::vector<Real> value(cells);
    Real over_cells = 0, magnitude = 0, over_nodes = 0;
    for (std::size_t c = 0; c < cells; ++c) {
      value[c] = std::sin(7 * static_cast<Real>(c));
      over_cells += value[c] * mesh.geometry().cell_volumes()[c];
      magnitude += std::abs(value[c]) * mesh.geometry().cell_volumes()[c];
    }
    const std::vector<Real> integral = integral_of(Executor::serial(), mesh, value);
    for (const Real of_node : integral) over_nodes += of_node;
    EXPECT_NEAR(over_nodes, over_cells, 1e-13 * magnitude);
    for (const Executor& executor : all_backends())
      EXPECT_EQ(integral_of(executor, mesh, value), integral) << executor.name();
  }
}

TEST(NodeIntegral, of_one_cell_is_divided_among_its_corners) {
  for (const auto& [type, corners] : {std::pair(CellType::Triangle, 3),
                                      {CellType::Quadrilateral, 4},
                                      {CellType::Tetrahedron, 4},
                                      {CellType::Hexahedron, 8}}) {
    const bool is_flat = corners == 3 || type == CellType::Quadrilateral;
    const Mesh mesh(make_box(type, {2, 2, is_flat ? 0 : 2}));
    for (const Id<Cell> c : mesh.topology().cells()) {
      std::vector<Real> value(at(mesh.topology().cells().size()), 0),
          expected(at(mesh.topology().nodes().size()), 0);
      value[at(c.value())] = 3;
      for (const auto [n, sign] : mesh.topology().nodes_of_cell()[c])
        expected[at(n.value())] = 3 * mesh.geometry().cell_volumes()[at(c.value())] / corners;
      const std::vector<Real> integral = integral_of(Executor::serial(), mesh, value);
      for (std::size_t n = 0; n < expected.size(); ++n) EXPECT_NEAR(integral[n], expected[n], 1e-15);
    }
  }
}

}  // namespace
}  // namespace curlew
