// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/node_diffusion.hpp"

#include <algorithm>

#include "kernels/for_each.hpp"
#include "kernels/parallel.hpp"
#include "mesh/cell_shapes.hpp"
#include "operators/cell_gradient.hpp"
#include "operators/node_diffusion_kernels.hpp"

namespace curlew {

namespace {

struct SetOutflowOfNode {
  View<Node, Real> outflow;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n, Real value) const { outflow[n] = value; }
};

/// Conductances between all pairs of a cell's nodes, for a conductivity of one [m].
class CellConductances {
 public:
  /// Calls `visit(i, j, conductance)` for all pairs i < j of the cell's local nodes.
  template <class Visit>
  void compute(const Mesh& mesh, Id<Cell> c, const Visit& visit) {
    const std::size_t count = at(mesh.topology().nodes_of_cell()[c].size());
    const Real volume = mesh.geometry().cell_volumes()[at(c.value())];
    weights_.resize(count);
    gradient_weights(mesh, c, weights_);
    form_.assign(count * count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j)
        form_[i * count + j] = volume * dot(weights_[i], weights_[j]);
    }
    if (!is_simplex(mesh.topology().cell_type(c))) add_deviations(mesh, c, volume);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j) visit(i, j, -form_[i * count + j]);
    }
  }

 private:
  /// What the differences along the cell's edges deviate from its mean gradient by.
  void add_deviations(const Mesh& mesh, Id<Cell> c, Real volume) {
    const std::size_t count = weights_.size();
    const auto dimension = static_cast<Real>(mesh.topology().dimension());
    // An edge that has all but collapsed would bind its ends as if they were one: it counts as half as long
    // as the cell is thick, by the gradient's weights.
    Real largest = 0;
    for (const Vector3& weight : weights_) largest = std::max(largest, dot(weight, weight));
    const Real shortest_square = 1 / (64 * largest);
    Real edges = 0, longest_square = 0;
    visit_edges(mesh.topology(), c, [&](std::size_t a, std::size_t b) {
      const Vector3 edge = position(mesh, c, b) - position(mesh, c, a);
      longest_square = std::max(longest_square, dot(edge, edge));
      ++edges;
    });
    deviation_.resize(count);
    visit_edges(mesh.topology(), c, [&](std::size_t a, std::size_t b) {
      const Vector3 edge = position(mesh, c, b) - position(mesh, c, a);
      for (std::size_t j = 0; j < count; ++j) deviation_[j] = -dot(edge, weights_[j]);
      deviation_[b] += 1;
      deviation_[a] -= 1;
      const Real square = std::max(dot(edge, edge), shortest_square);
      // As with bilinear elements, or in the stiff directions of flat cells as if only edges conducted.
      const Real share = std::max(1 / (6 * (dimension - 1)),
                                  dimension / edges * (1 - Real(4) / 3 * square / longest_square));
      const Real weight = volume * share / square;
      for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = i + 1; j < count; ++j)
          form_[i * count + j] += weight * deviation_[i] * deviation_[j];
      }
    });
  }

  /// Calls `visit(a, b)` for the local nodes of each of the cell's edges. Two faces of a cell go along an
  /// edge in opposite directions, seen from outside.
  template <class Visit>
  static void visit_edges(const Topology& topology, Id<Cell> c, const Visit& visit) {
    const auto nodes = topology.nodes_of_cell()[c];
    const auto place = [&](Id<Node> n) {
      Index k = 0;
      while (nodes[k].id != n) ++k;
      return at(k);
    };
    for (const auto [f, outward] : topology.faces_of_cell()[c]) {
      const auto corners = topology.nodes_of_face()[f];
      if (topology.dimension() == 2) {
        visit(place(corners[0].id), place(corners[1].id));
        continue;
      }
      for (Index k = 0; k < corners.size(); ++k) {
        const std::size_t a = place(corners[k].id), b = place(corners[k + 1 < corners.size() ? k + 1 : 0].id);
        if (outward > 0 ? a < b : b < a) visit(a, b);
      }
    }
  }

  static Vector3 position(const Mesh& mesh, Id<Cell> c, std::size_t k) {
    const Id<Node> n = mesh.topology().nodes_of_cell()[c][static_cast<Index>(k)].id;
    return mesh.geometry().node_positions()[at(n.value())];
  }

  std::vector<Vector3> weights_;
  std::vector<Real> form_;       // entries of nodes i < j
  std::vector<Real> deviation_;  // of one edge, by the values at the nodes
};

/// Sums the cells' conductances on the pairs, in the order of the cells, whatever the number of threads or
/// ranks: blocks of cells are computed side by side and added one after the other. Cells have their nodes in
/// the same order in the mesh that a periodic one was made of.
std::vector<Real> pair_conductances(const Mesh& mesh, const NodeGraph& graph,
                                    std::span<const Real> conductivity) {
  struct Share {
    Index pair;
    Real conductance;
  };
  constexpr Index block = 1 << 15, none = -1;
  const auto nodes_of_cell = mesh.topology().nodes_of_cell().view(MemorySpace::Host);
  std::vector<Real> conductances(at(graph.pairs().size()), 0);
  std::vector<Share> shares;
  std::vector<std::size_t> first(at(block) + 1);
  for (Index start = 0; start < mesh.topology().cells().size(); start += block) {
    const Index size = std::min(block, mesh.topology().cells().size() - start);
    first[0] = 0;
    for (Index k = 0; k < size; ++k) {
      const std::size_t count = at(nodes_of_cell[mesh.topology().cell_in_order(start + k)].size());
      first[at(k) + 1] = first[at(k)] + count * (count - 1) / 2;
    }
    shares.resize(first[at(size)]);
    parallel_for(at(size), [&](std::size_t k) {
      thread_local CellConductances cell_conductances;
      const Id<Cell> c = mesh.topology().cell_in_order(start + static_cast<Index>(k));
      const auto nodes = nodes_of_cell[c];
      std::size_t place = first[k];
      cell_conductances.compute(mesh.unfolded(), c, [&](std::size_t i, std::size_t j, Real conductance) {
        const Id<Node> a = nodes[static_cast<Index>(i)].id, b = nodes[static_cast<Index>(j)].id;
        const Index pair = a == b ? none : graph.find(std::min(a, b), std::max(a, b)).value();
        shares[place++] = {pair, conductivity[at(c.value())] * conductance};
      });
    });
    for (const Share& share : shares) {
      if (share.pair != none) conductances[at(share.pair)] += share.conductance;
    }
  }
  // The cells gave the pairs from the lower to the higher node; the others are the same.
  const auto neighbours_of = graph.neighbours_of_node().view(MemorySpace::Host);
  parallel_for(at(graph.neighbours_of_node().rows()), [&](std::size_t i) {
    const Id<Node> n(static_cast<Index>(i));
    Index pair = neighbours_of.start(n);
    for (const auto [m, sign] : neighbours_of[n]) {
      if (m < n) conductances[at(pair)] = conductances[at(graph.find(m, n).value())];
      ++pair;
    }
  });
  return conductances;
}

/// Sums of the conductances of each node.
std::vector<Real> diagonal_of(const NodeGraph& graph, std::span<const Real> conductances) {
  const auto neighbours_of = graph.neighbours_of_node().view(MemorySpace::Host);
  std::vector<Real> diagonal(at(graph.neighbours_of_node().rows()), 0);
  parallel_for(diagonal.size(), [&](std::size_t n) {
    const Id<Node> node(static_cast<Index>(n));
    std::size_t pair = at(neighbours_of.start(node));
    for (Index k = 0; k < neighbours_of[node].size(); ++k) diagonal[n] += conductances[pair++];
  });
  return diagonal;
}

SymmetricMatrix matrix_of(const NodeGraph& graph, std::span<const Real> conductances) {
  const auto neighbours_of = graph.neighbours_of_node().view(MemorySpace::Host);
  const Index nodes = graph.neighbours_of_node().rows();
  SymmetricMatrix matrix;
  matrix.off_diagonal.starts.resize(at(nodes) + 1);
  for (Index n = 0; n <= nodes; ++n) matrix.off_diagonal.starts[at(n)] = neighbours_of.start(Id<Node>(n));
  matrix.off_diagonal.columns.resize(conductances.size());
  matrix.off_diagonal.values.resize(conductances.size());
  matrix.diagonal = diagonal_of(graph, conductances);
  parallel_for(matrix.diagonal.size(), [&](std::size_t n) {
    const Id<Node> node(static_cast<Index>(n));
    std::size_t pair = at(neighbours_of.start(node));
    for (const auto [m, sign] : neighbours_of[node]) {
      matrix.off_diagonal.columns[pair] = m.value();
      matrix.off_diagonal.values[pair] = -conductances[pair];
      ++pair;
    }
  });
  return matrix;
}

}  // namespace

NodeDiffusion::NodeDiffusion(const Executor& executor, const Mesh& mesh, std::span<const Real> conductivity)
    : executor_(executor), graph_(mesh.topology()) {
  REQUIRE(conductivity.size() == at(mesh.topology().cells().size()),
          "conductivity needs one value per cell, got " + std::to_string(conductivity.size()));
  conductances_ = graph_.neighbours_of_node().values(pair_conductances(mesh, graph_, conductivity));
  if (executor.space() != MemorySpace::Host) return;
  const auto neighbours_of = graph_.neighbours_of_node().view(MemorySpace::Host);
  std::vector<Index> starts{0}, columns;
  columns.reserve(conductances_.size());
  for (const Id<Node> n : mesh.topology().nodes()) {
    for (const auto [m, sign] : neighbours_of[n]) columns.push_back(m.value());
    starts.push_back(static_cast<Index>(columns.size()));
  }
  sliced_ = SlicedMatrix<Node, Node, Real>(starts, columns, conductances_.host());
}

void NodeDiffusion::apply(const PrimalCochain<Node>& temperature, DualCochain<Node>& outflow) const {
  require_fits(temperature, graph_.neighbours_of_node().rows(), executor_);
  require_fits(outflow, graph_.neighbours_of_node().rows(), executor_);
  visit_outflow(outflow.range(), temperature, SetOutflowOfNode{outflow.view()});
}

SymmetricMatrix NodeDiffusion::matrix() const {
  return matrix_of(graph_, conductances_.host());
}

std::vector<Real> NodeDiffusion::diagonal() const {
  return diagonal_of(graph_, conductances_.host());
}

SymmetricMatrix diffusion_between_nodes(const Mesh& mesh) {
  return diffusion_between_nodes(mesh, std::vector<Real>(at(mesh.topology().cells().size()), 1));
}

SymmetricMatrix diffusion_between_nodes(const Mesh& mesh, std::span<const Real> conductivity) {
  const NodeGraph graph(mesh.topology());
  return matrix_of(graph, pair_conductances(mesh, graph, conductivity));
}

SymmetricMatrix inertia_and_diffusion_between_nodes(const Mesh& mesh, Real ratio) {
  SymmetricMatrix matrix = diffusion_between_nodes(mesh);
  for (std::size_t n = 0; n < matrix.diagonal.size(); ++n)
    matrix.diagonal[n] += mesh.geometry().node_volumes()[n] / ratio;
  return matrix;
}

}  // namespace curlew
