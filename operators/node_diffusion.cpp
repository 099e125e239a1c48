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
    const Topology& topology = mesh.topology();
    const auto nodes = topology.nodes_of_cell()[c];
    const std::size_t count = at(nodes.size());
    const Real volume = mesh.geometry().cell_volumes()[at(c.value())];
    weights_.resize(count);
    gradient_weights(mesh, c, weights_);
    const bool simplex = is_simplex(topology.cell_type(c));
    Real stiffness = 0;
    if (!simplex) {
      Vector3 mean{};
      for (const auto [n, sign] : nodes) mean += mesh.geometry().node_positions()[at(n.value())];
      mean *= Real(1) / static_cast<Real>(count);
      residue_.resize(count * count);
      Real squares = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const Vector3 arm =
            mesh.geometry().node_positions()[at(nodes[static_cast<Index>(i)].id.value())] - mean;
        squares += dot(weights_[i], weights_[i]);
        for (std::size_t j = 0; j < count; ++j) {
          residue_[i * count + j] =
              (i == j ? Real(1) : Real(0)) - Real(1) / static_cast<Real>(count) - dot(arm, weights_[j]);
        }
      }
      stiffness = Real(4) / 3 * volume * squares / static_cast<Real>(count);
    }
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = i + 1; j < count; ++j) {
        Real entry = volume * dot(weights_[i], weights_[j]);
        if (!simplex) {
          Real overlap = 0;
          for (std::size_t k = 0; k < count; ++k) {
            overlap += residue_[k * count + i] * residue_[k * count + j];
          }
          entry += stiffness * overlap;
        }
        visit(i, j, -entry);
      }
    }
  }

 private:
  std::vector<Vector3> weights_;
  std::vector<Real> residue_;  // row i: how far node i's value is from the linear field of the cell
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

SymmetricMatrix matrix_of(const NodeGraph& graph, std::span<const Real> conductances) {
  const auto neighbours_of = graph.neighbours_of_node().view(MemorySpace::Host);
  const Index nodes = graph.neighbours_of_node().rows();
  SymmetricMatrix matrix;
  matrix.off_diagonal.starts.resize(at(nodes) + 1);
  for (Index n = 0; n <= nodes; ++n) matrix.off_diagonal.starts[at(n)] = neighbours_of.start(Id<Node>(n));
  matrix.off_diagonal.columns.resize(conductances.size());
  matrix.off_diagonal.values.resize(conductances.size());
  matrix.diagonal.assign(at(nodes), 0);
  parallel_for(matrix.diagonal.size(), [&](std::size_t n) {
    const Id<Node> node(static_cast<Index>(n));
    std::size_t pair = at(neighbours_of.start(node));
    for (const auto [m, sign] : neighbours_of[node]) {
      matrix.off_diagonal.columns[pair] = m.value();
      matrix.off_diagonal.values[pair] = -conductances[pair];
      matrix.diagonal[n] += conductances[pair];
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

SymmetricMatrix diffusion_between_nodes(const Mesh& mesh) {
  const NodeGraph graph(mesh.topology());
  return matrix_of(graph,
                   pair_conductances(mesh, graph, std::vector<Real>(at(mesh.topology().cells().size()), 1)));
}

SymmetricMatrix inertia_and_diffusion_between_nodes(const Mesh& mesh, Real ratio) {
  SymmetricMatrix matrix = diffusion_between_nodes(mesh);
  for (std::size_t n = 0; n < matrix.diagonal.size(); ++n)
    matrix.diagonal[n] += mesh.geometry().node_volumes()[n] / ratio;
  return matrix;
}

}  // namespace curlew
