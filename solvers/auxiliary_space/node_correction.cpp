// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/auxiliary_space/node_correction.hpp"

#include <numeric>
#include <utility>

#include "kernels/for_each.hpp"
#include "kernels/vector4.hpp"
#include "mesh/parallel/exchange.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace curlew {

namespace {

// Between nodes there are numbers in the plane, and vectors in space.
CURLEW_HOST_DEVICE float product(float a, float b) {
  return a * b;
}
CURLEW_HOST_DEVICE float product(Vector4<float> a, Vector4<float> b) {
  return own_dot(a, b);
}

template <class T>
struct RestrictedOnNode {
  Incidence<Node, Edge> edges_of;
  View<Edge, const T> share;
  View<Edge, const float> residual;
  View<Node, T> restricted;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    T sum{};
    for (const auto [e, sign] : edges_of[n]) sum += residual[e] * share[e];
    restricted[n] = sum;
  }
};

template <class T>
struct AddCorrectionOnEdge {
  Incidence<Edge, Node> nodes_of;
  View<Edge, const T> share;
  View<Node, const T> correction;
  View<Edge, float> x;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    T sum{};
    for (const auto [n, sign] : nodes_of[e]) sum += correction[n];
    x[e] += product(share[e], sum);
  }
};

template <class T>
struct InterpolatedOnEdge {
  Incidence<Edge, Node> nodes_of;
  float factor;
  View<Edge, const T> share;
  View<Node, const T> value;
  View<Edge, float> x;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    T sum{};
    for (const auto [n, sign] : nodes_of[e]) sum += value[n];
    x[e] = factor * product(share[e], sum);
  }
};

/// V y.
template <class T>
struct InertiaOnNode {
  View<Node, const Real> volume;
  View<Node, const T> y;
  View<Node, T> inertia;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const { inertia[n] = static_cast<float>(volume[n]) * y[n]; }
};

/// V (y + factor c).
template <class T>
struct InertiaOfSumOnNode {
  View<Node, const Real> volume;
  float factor;
  View<Node, const T> y, c;
  View<Node, T> inertia;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    inertia[n] = static_cast<float>(volume[n]) * (y[n] + factor * c[n]);
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

template <class T>
class CorrectionBy : public NodeCorrection {
 public:
  /// `share`: of an edge, to each of its nodes [m]; 0 where it is held.
  CorrectionBy(const Executor& executor, const Mesh& mesh, IncidenceTable<Edge, Node> nodes_of_edge,
               IncidenceTable<Node, Edge> edges_of_node, std::vector<T> share, NodeSystem diffusion)
      : executor_(executor),
        mesh_(mesh),
        nodes_of_edge_(std::move(nodes_of_edge)),
        edges_of_node_(std::move(edges_of_node)),
        share_(std::move(share)),
        restricted_(executor, mesh.domain().extent<Node>(), "restricted residual", "1"),
        correction_(alike(restricted_)),
        diffusion_(executor, mesh.domain(), std::move(diffusion.matrix), std::move(diffusion.stiffness)) {}

  void add(const Field<Edge, float>& r, Field<Edge, float>& x) override {
    restrict_to_nodes(r);
    diffusion_.apply(restricted_, correction_);
    exchange_ghosts(mesh_.domain(), correction_);
    for_each(executor_, x.owned(),
             AddCorrectionOnEdge<T>{nodes_of_edge_.view(executor_.space()), share(),
                                    std::as_const(correction_).view(), x.view()});
  }

  void couple(Real ratio, NodeSystem system) override {
    coupling_.emplace(mesh_.domain(), restricted_, ratio, std::move(system));
  }
  void uncouple() override { coupling_.reset(); }

  /// L⁻¹ = G (V + V B⁻¹ V / ratio) G with G = (V / ratio + B)⁻¹: three cycles, of which nothing is taken
  /// away, so that they leave it positive.
  void set_coupled(float factor, const Field<Edge, float>& r, Field<Edge, float>& x) override {
    Coupling& own = *coupling_;
    const View<Node, const Real> volume = mesh_.geometry().node_volumes(executor_.space());
    const auto y = std::as_const(own.response).view(), c = std::as_const(correction_).view();
    restrict_to_nodes(r);
    own.both.apply(restricted_, own.response);
    for_each(executor_, restricted_.owned(), InertiaOnNode<T>{volume, y, restricted_.view()});
    diffusion_.apply(restricted_, correction_);
    for_each(executor_, restricted_.owned(),
             InertiaOfSumOnNode<T>{volume, own.inverse_ratio, y, c, restricted_.view()});
    own.both.apply(restricted_, correction_);
    exchange_ghosts(mesh_.domain(), correction_);
    for_each(executor_, x.range(),
             InterpolatedOnEdge<T>{nodes_of_edge_.view(executor_.space()), factor, share(), c, x.view()});
  }

 private:
  struct Coupling {
    Coupling(const Domain& domain, const Field<Node, T>& like, Real ratio, NodeSystem system)
        : inverse_ratio(static_cast<float>(1 / ratio)),
          response(alike(like)),
          both(like.executor(), domain, std::move(system.matrix), std::move(system.stiffness)) {}
    float inverse_ratio;
    Field<Node, T> response;
    MultigridInSingle<T> both;  // G
  };

  View<Edge, const T> share() const {
    return View<Edge, const T>(share_.data(executor_.space()), static_cast<Index>(share_.size()));
  }
  void restrict_to_nodes(const Field<Edge, float>& r) {
    exchange_ghosts(mesh_.domain(), r);
    for_each(
        executor_, restricted_.owned(),
        RestrictedOnNode<T>{edges_of_node_.view(executor_.space()), share(), r.view(), restricted_.view()});
  }

  Executor executor_;
  const Mesh& mesh_;
  IncidenceTable<Edge, Node> nodes_of_edge_;
  IncidenceTable<Node, Edge> edges_of_node_;
  ConstantArray<T> share_;
  Field<Node, T> restricted_, correction_;
  MultigridInSingle<T> diffusion_;  // B
  std::optional<Coupling> coupling_;
};

/// What nodes lose at held edges. `diagonal`: of R M C, of all edges of the rank's own nodes.
std::vector<Tensor3> stiffness_of_held_edges(const Mesh& mesh, const std::vector<std::uint8_t>& edge_is_free,
                                             const std::vector<float>& diagonal) {
  const Topology& topology = mesh.topology();
  std::vector<Tensor3> stiffness(at(mesh.domain().extent<Node>().owned));
  for (std::size_t n = 0; n < stiffness.size(); ++n) {
    for (const auto [e, sign] : topology.edges_of_node()[Id<Node>(static_cast<Index>(n))]) {
      const std::size_t i = at(e.value());
      if (edge_is_free[i] != 0) continue;
      const Vector3 along = mesh.geometry().edge_vector(topology, e);
      stiffness[n] += Real(diagonal[i]) / 2 * outer(along, along);
    }
  }
  return stiffness;
}

}  // namespace

NodeSystem held_between_nodes(const Mesh& mesh, const std::vector<std::uint8_t>& edge_is_free,
                              const std::vector<float>& diagonal, SymmetricMatrix matrix) {
  if (mesh.topology().dimension() == 3)
    return {std::move(matrix), stiffness_of_held_edges(mesh, edge_is_free, diagonal)};
  hold(matrix, [&](std::size_t n) { return edge_is_free[n] == 0; });
  return {std::move(matrix), std::nullopt};
}

std::unique_ptr<NodeCorrection> make_node_correction(const Executor& executor, const Mesh& mesh,
                                                     const std::vector<std::uint8_t>& edge_is_free,
                                                     NodeSystem diffusion) {
  const Topology& topology = mesh.topology();
  const Index edges = topology.edges().size();
  if (topology.dimension() == 2) {
    return std::make_unique<CorrectionBy<float>>(
        executor, mesh, identity<Edge, Node>(edges), identity<Node, Edge>(edges),
        std::vector<float>(edge_is_free.begin(), edge_is_free.end()), std::move(diffusion));
  }
  std::vector<Vector4<float>> share(at(edges));
  for (const Id<Edge> e : topology.edges()) {
    if (edge_is_free[at(e.value())] != 0)
      share[at(e.value())] = rounded<float>(0.5 * mesh.geometry().edge_vector(topology, e));
  }
  return std::make_unique<CorrectionBy<Vector4<float>>>(executor, mesh, topology.nodes_of_edge(),
                                                        topology.edges_of_node(), std::move(share),
                                                        std::move(diffusion));
}

std::unique_ptr<NodeCorrection> make_node_correction(const Executor& executor, const Mesh& mesh,
                                                     GapStreamfunction gaps) {
  return std::make_unique<CorrectionBy<float>>(executor, mesh, mesh.topology().nodes_of_edge(),
                                               mesh.topology().edges_of_node(), std::move(gaps.share),
                                               NodeSystem{std::move(gaps.matrix), std::nullopt});
}

}  // namespace curlew
