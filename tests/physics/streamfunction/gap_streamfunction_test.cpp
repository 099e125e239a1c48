// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/auxiliary_space/gap_streamfunction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>

#include "mesh/box.hpp"
#include "operators/flux_mass.hpp"
#include "tests/mesh/incidence_matrix.hpp"
#include "tests/mesh/shelf.hpp"
#include "tests/physics/flow_matrices.hpp"

namespace curlew {
namespace {

/// Edges of faces on the boundary are held.
std::vector<std::uint8_t> free_edges_of(const Mesh& mesh) {
  std::vector<std::uint8_t> free(at(mesh.topology().edges().size()), 1);
  for (const Id<Face> f : mesh.topology().boundary_faces())
    for (const auto [e, sign] : mesh.topology().edges_of_face()[f]) free[at(e.value())] = 0;
  return free;
}

std::optional<GapStreamfunction> gaps_of(const Mesh& mesh) {
  return gap_streamfunction(mesh, FluxMass(Executor::serial(), mesh).matrix(), free_edges_of(mesh));
}

TEST(GapStreamfunction, rises_from_one_wall_to_the_other_whichever_way) {
  for (const auto& [apart, named] :
       {std::pair<Index, bool>(1, true), {2, true}, {3, true}, {1, false}, {2, false}}) {
    SCOPED_TRACE(std::to_string(apart) + (named ? " with patches" : " with none"));
    RawMesh raw = narrow_gaps(3 * apart, apart);
    if (!named) forget_patches(raw);
    const Mesh mesh(std::move(raw));
    const Topology& topology = mesh.topology();
    const auto gaps = gaps_of(mesh);
    ASSERT_TRUE(gaps);
    // What has these jumps along edges: walked through from one node.
    constexpr Real unknown = 1000;
    std::vector<Real> chi(at(topology.nodes().size()), unknown);
    chi[0] = 0;
    for (bool changed = true; std::exchange(changed, false);) {
      for (const Id<Edge> e : topology.edges()) {
        const Real jump = 2 * static_cast<Real>(gaps->share[at(e.value())]);
        for (const auto [n, sign] : topology.nodes_of_edge()[e]) {
          for (const auto [m, opposite] : topology.nodes_of_edge()[e]) {
            if (n == m || chi[at(m.value())] == unknown) continue;
            const Real reached = chi[at(m.value())] + sign * jump;
            if (chi[at(n.value())] == unknown) {
              changed = true;
              chi[at(n.value())] = reached;
            }
            EXPECT_EQ(chi[at(n.value())], reached);
          }
        }
      }
    }
    std::set<Real> on_case, on_void, anywhere(chi.begin(), chi.end());
    for (const Id<Face> f : topology.boundary_faces()) {
      const Vector3 x = mesh.geometry().face_centroids()[at(f.value())];
      const Real nearest = std::min({x.x, x.y, x.z, 1 - x.x, 1 - x.y, 1 - x.z});
      for (const auto [e, sign] : topology.edges_of_face()[f])
        for (const auto [n, end] : topology.nodes_of_edge()[e])
          (nearest < 0.1 ? on_case : on_void).insert(chi[at(n.value())]);
    }
    ASSERT_EQ(on_case.size(), 1u);
    ASSERT_EQ(on_void.size(), 1u);
    EXPECT_EQ(std::abs(*on_case.begin() - *on_void.begin()), 1);
    EXPECT_EQ(anywhere.size(), 2u);
  }
}

TEST(GapStreamfunction, has_the_energy_of_the_streamfunction_that_it_stands_for) {
  const Mesh mesh(narrow_gaps(4, 1));
  const Topology& topology = mesh.topology();
  const auto gaps = gaps_of(mesh);
  ASSERT_TRUE(gaps);
  const Index nodes = topology.nodes().size();
  Eigen::MatrixXd interpolation = Eigen::MatrixXd::Zero(topology.edges().size(), nodes);
  for (const Id<Edge> e : topology.edges())
    for (const auto [n, sign] : topology.nodes_of_edge()[e])
      interpolation(e.value(), n.value()) = static_cast<Real>(gaps->share[at(e.value())]);
  const Eigen::MatrixXd curl =
      matrix_of(topology.edges_of_face(), topology.edges().size()).cast<double>() * interpolation;
  const Eigen::MatrixXd expected = curl.transpose() * FlowMatrices(mesh, 2, false).mass * curl;
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(nodes, nodes);
  const SparseRows& rows = gaps->matrix.off_diagonal;
  for (Index i = 0; i < nodes; ++i) {
    matrix(i, i) = gaps->matrix.diagonal[at(i)];
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k)
      matrix(i, rows.columns[at(k)]) += rows.values[at(k)];
  }
  EXPECT_GT(expected.norm(), 0);
  EXPECT_LE((matrix - expected).norm(), 1e-13 * expected.norm());
}

TEST(GapStreamfunction, needs_walls_that_face_each_other_in_space) {
  EXPECT_FALSE(gaps_of(Mesh(make_box(CellType::Triangle, {8, 1, 0}))));
  // Walls that meet, and nothing between them.
  const Mesh block(make_box(CellType::Tetrahedron, {1, 1, 1}));
  const std::vector<std::uint8_t> held(at(block.topology().edges().size()), 0);
  EXPECT_FALSE(gap_streamfunction(block, FluxMass(Executor::serial(), block).matrix(), held));
}

}  // namespace
}  // namespace curlew
