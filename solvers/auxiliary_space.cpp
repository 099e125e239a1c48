// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/auxiliary_space.hpp"

#include <numeric>
#include <utility>

#include "kernels/for_each.hpp"
#include "mesh/exchange.hpp"
#include "operators/node_diffusion.hpp"

namespace curlew {

namespace {

CURLEW_HOST_DEVICE Real component_of(Vector3 v, int component) {
  return component == 0 ? v.x : component == 1 ? v.y : v.z;
}

struct RestrictedOnNode {
  Incidence<Node, Edge> edges_of;
  int component;
  View<Edge, const Vector3> share;
  View<Edge, const Real> residual;
  View<Node, Real> restricted;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    Real sum = 0;
    for (const auto [e, sign] : edges_of[n]) sum += component_of(share[e], component) * residual[e];
    restricted[n] = sum;
  }
};

struct AddProlongedOnEdge {
  Incidence<Edge, Node> nodes_of;
  int component;
  Real factor;
  View<Edge, const Vector3> share;
  View<Node, const Real> correction;
  View<Edge, Real> z;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    Real sum = 0;
    for (const auto [n, sign] : nodes_of[e]) sum += correction[n];
    z[e] += factor * component_of(share[e], component) * sum;
  }
};

/// Each row is the entity of the same number.
template <class From, class To>
IncidenceTable<From, To> identity(Index size) {
  std::vector<Index> starts(at(size) + 1), entries(at(size));
  std::iota(starts.begin(), starts.end(), 0);
  std::iota(entries.begin(), entries.end(), 0);
  return IncidenceTable<From, To>(std::move(starts), std::move(entries));
}

}  // namespace

AuxiliarySpace::AuxiliarySpace(const Executor& executor, const Mesh& mesh,
                               const std::vector<std::uint8_t>& edge_is_free)
    : executor_(executor),
      mesh_(mesh),
      first_component_(mesh.topology().dimension() == 2 ? 2 : 0),
      restricted_(executor, mesh.domain().extent<Node>(), "restricted residual", "1"),
      correction_(executor, restricted_.extent(), "correction", "1") {
  const Topology& topology = mesh.topology();
  const bool flat = topology.dimension() == 2;
  nodes_of_edge_ = flat ? identity<Edge, Node>(topology.edges().size()) : topology.nodes_of_edge();
  edges_of_node_ = flat ? identity<Node, Edge>(topology.edges().size()) : topology.edges_of_node();

  std::vector<Vector3> share(at(topology.edges().size()), Vector3{});
  std::vector<std::uint8_t> node_is_free(at(topology.nodes().size()), 1);
  for (const Id<Edge> e : topology.edges()) {
    const auto nodes = nodes_of_edge_[e];
    if (edge_is_free[at(e.value())] == 0) {
      for (const auto [n, sign] : nodes) node_is_free[at(n.value())] = 0;
    } else if (flat) {
      share[at(e.value())] = {0, 0, 1};
    } else {
      for (const auto [n, sign] : nodes)
        share[at(e.value())] += (sign / 2) * mesh.geometry().node_positions()[at(n.value())];
    }
  }
  share_ = ConstantArray<Vector3>(std::move(share));

  SymmetricMatrix matrix =
      NodeDiffusion(Executor::serial(), mesh, std::vector<Real>(at(topology.cells().size()), 1)).matrix();
  hold(matrix, [&](std::size_t n) { return node_is_free[n] == 0; });
  multigrid_ = std::make_unique<Multigrid<PrimalCochain<Node>>>(executor, mesh.domain(), std::move(matrix));
}

void AuxiliarySpace::add(Real factor, const DualCochain<Edge>& r, PrimalCochain<Edge>& z) {
  const MemorySpace space = executor_.space();
  const Range<Edge> edges(0, nodes_of_edge_.rows());
  const View<Edge, const Vector3> share(share_.data(space), edges.size());
  exchange_ghosts(mesh_.domain(), r);
  for (int component = first_component_; component < 3; ++component) {
    for_each(executor_, restricted_.range(),
             RestrictedOnNode{edges_of_node_.view(space), component, share, r.view(), restricted_.view()});
    multigrid_->apply(restricted_, correction_);
    exchange_ghosts(mesh_.domain(), correction_);
    for_each(executor_, edges,
             AddProlongedOnEdge{nodes_of_edge_.view(space), component, factor, share,
                                std::as_const(correction_).view(), z.view()});
  }
}

}  // namespace curlew
