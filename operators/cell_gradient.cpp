// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/cell_gradient.hpp"

#include <algorithm>
#include <string>

#include "kernels/parallel.hpp"

namespace curlew {

namespace {

/// `value(k)`: at the cell's k-th node.
template <class Value>
Vector3 cell_gradient(const Mesh& mesh, Id<Cell> c, const Value& value) {
  thread_local std::vector<Vector3> weights;
  weights.resize(at(mesh.topology().nodes_of_cell()[c].size()));
  gradient_weights(mesh, c, weights);
  Vector3 gradient{};
  for (std::size_t k = 0; k < weights.size(); ++k) gradient += value(k) * weights[k];
  return gradient;
}

void require_node_positions(const Topology& topology) {
  REQUIRE(!topology.is_periodic(),
          "gradients of node values on a periodic mesh are those on the mesh that it was made of");
}

}  // namespace

void gradient_weights(const Mesh& mesh, Id<Cell> c, std::span<Vector3> weights) {
  const Topology& topology = mesh.topology();
  const auto positions = mesh.geometry().node_positions(MemorySpace::Host);
  const auto nodes = topology.nodes_of_cell()[c];
  REQUIRE(weights.size() == static_cast<std::size_t>(nodes.size()),
          "cell " + std::to_string(c.value()) + " has " + std::to_string(nodes.size()) +
              " nodes, got room for the weights of " + std::to_string(weights.size()));
  std::ranges::fill(weights, Vector3{});
  const auto weight_of = [&](Id<Node> n) -> Vector3& {
    Index k = 0;
    while (nodes[k].id != n) ++k;
    return weights[at(k)];
  };
  const Real per_volume = 1 / mesh.geometry().cell_volumes()[at(c.value())];
  for (const auto [f, outward] : topology.faces_of_cell()[c]) {
    const auto corners = topology.nodes_of_face()[f];
    if (topology.dimension() == 2) {
      const Vector3 half = (outward * per_volume / 2) * mesh.geometry().face_areas()[at(f.value())];
      for (const auto [n, sign] : corners) weight_of(n) += half;
      continue;
    }
    Vector3 share_of_mean{};
    visit_fan(corners, positions, [&](Vector3 apex, Id<Node> a, Id<Node> b, Vector3 xa, Vector3 xb) {
      const Vector3 third = (outward * per_volume / 6) * cross(xa - apex, xb - apex);
      weight_of(a) += third;
      weight_of(b) += third;
      share_of_mean += third;
    });
    share_of_mean *= Real(1) / static_cast<Real>(corners.size());
    for (const auto [n, sign] : corners) weight_of(n) += share_of_mean;
  }
}

std::vector<Vector3> cell_gradients(const Mesh& mesh, std::span<const Real> node_values) {
  const Topology& topology = mesh.topology();
  REQUIRE(node_values.size() == at(topology.nodes().size()),
          "the mesh has " + std::to_string(topology.nodes().size()) + " nodes, got " +
              std::to_string(node_values.size()) + " values to take the gradient of");
  require_node_positions(topology);
  std::vector<Vector3> gradients(at(topology.cells().size()));
  parallel_for(gradients.size(), [&](std::size_t i) {
    const Id<Cell> c(static_cast<Index>(i));
    const auto nodes = topology.nodes_of_cell()[c];
    gradients[i] = cell_gradient(
        mesh, c, [&](std::size_t k) { return node_values[at(nodes[static_cast<Index>(k)].id.value())]; });
  });
  return gradients;
}

std::vector<Vector3> cell_gradients(const Mesh& mesh, std::span<const Index> cells,
                                    std::span<const Real> corner_values) {
  require_node_positions(mesh.topology());
  std::vector<Vector3> gradients;
  std::size_t first = 0;
  for (const Index cell : cells) {
    const Id<Cell> c(cell);
    const auto corners = corner_values.subspan(first, at(mesh.topology().nodes_of_cell()[c].size()));
    gradients.push_back(cell_gradient(mesh, c, [&](std::size_t k) { return corners[k]; }));
    first += corners.size();
  }
  return gradients;
}

}  // namespace curlew
