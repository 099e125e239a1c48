// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/momentum_multigrid.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/for_each.hpp"
#include "kernels/reduction.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/node_diffusion.hpp"
#include "physics/momentum/free_parts.hpp"
#include "physics/momentum/viscous_reach.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace curlew {

namespace {

/// Πᵀ r: of each face of a node its share. Nothing is held here: residuals are zero where velocities are.
template <class T>
struct RestrictedOnNode {
  Incidence<Node, Face> faces_of;
  View<Face, const float> share;
  View<Face, const Vector4<T>> residual;
  View<Node, Vector4<float>> restricted;
  CURLEW_HOST_DEVICE void operator()(Id<Node> n) const {
    Vector4<float> sum{};
    for (const auto [f, sign] : faces_of[n]) sum += share[f] * in_precision<float>(residual[f]);
    restricted[n] = sum;
  }
};

/// z = D⁻¹ r + factor Π v, and r . z of a face.
template <class T, class Rows>
struct CorrectedOnFace {
  Rows nodes_of;
  View<Face, const float> share;
  float factor;
  View<Node, const Vector4<float>> correction;
  FaceDivision<T> divided;
  View<Face, const FaceHold> hold;
  View<Face, const Vector4<T>> r;
  View<Face, Vector4<T>> z;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    Vector4<float> sum{};
    for (const auto [n, sign] : nodes_of[f]) sum += correction[n];
    const Vector4<T> normal = divided.normal[f], residual = r[f];
    const Vector4<T> smooth = free_part(in_precision<T>((factor * share[f]) * sum), hold[f], normal);
    const Vector4<T> own = divided(f, residual), whole = own + smooth;
    const Vector4<T> result = whole.with_fourth(hold[f] == FaceHold::Free ? own_dot(whole, normal) : T(0));
    z[f] = result;
    return dot(residual, result);
  }
};

/// Diffusion has to outweigh inertia so far that fewer iterations are worth what the correction costs: on
/// tetrahedra they take twice as long (docs/multigrid.md).
constexpr Real correction_reach = 16;

/// For the nodes that the rank owns, in the order of the whole mesh.
IncidenceTable<Node, Face> faces_of_nodes(const Mesh& mesh) {
  const Halo<Face>& halo = mesh.domain().halo<Face>();
  std::vector<std::vector<Index>> rows(at(mesh.domain().extent<Node>().owned));
  for (const Id<Face> f : mesh.topology().faces()) {
    for (const auto [n, sign] : mesh.topology().nodes_of_face()[f])
      if (at(n.value()) < rows.size()) rows[at(n.value())].push_back(f.value());
  }
  std::vector<Index> starts{0}, entries;
  for (std::vector<Index>& row : rows) {
    std::ranges::sort(row, {}, [&](Index f) { return halo.global(Id<Face>(f)); });
    for (const Index f : row) entries.push_back(incidence_entry::make(f, false));
    starts.push_back(static_cast<Index>(entries.size()));
  }
  return {std::move(starts), std::move(entries)};
}

std::vector<float> shares_of_faces(const Topology& topology) {
  std::vector<float> shares;
  for (const Id<Face> f : topology.faces())
    shares.push_back(1.f / static_cast<float>(topology.nodes_of_face()[f].size()));
  return shares;
}

}  // namespace

/// Π L⁻¹ Πᵀ, with L = V / ratio + B.
class MomentumMultigrid::NodeCorrection {
 public:
  NodeCorrection(const MomentumMatrices& matrices, Real ratio)
      : matrices_(matrices),
        nodes_of_face_(matrices.mesh().topology().nodes_of_face()),
        faces_of_node_(faces_of_nodes(matrices.mesh())),
        share_(shares_of_faces(matrices.mesh().topology())),
        restricted_(matrices.executor(), matrices.mesh().domain().extent<Node>(), "restricted residual", "1"),
        correction_(alike(restricted_)),
        multigrid_(matrices.executor(), matrices.mesh().domain(),
                   inertia_and_diffusion_between_nodes(matrices.mesh(), ratio), stiffness()) {}

  /// z = D⁻¹ r + factor Π L⁻¹ Πᵀ r. `launch(range, kernel)` is called for kernels with the terms of r . z.
  template <class T, class Launch>
  void apply(const FaceVectors<T>& r, float factor, const FaceDivision<T>& divided, FaceVectors<T>& z,
             const Launch& launch) {
    const MomentumMatrices& m = matrices_;
    const MemorySpace space = m.executor().space();
    const View<Face, const float> share(share_.data(space), r.size());
    exchange_ghosts(m.mesh().domain(), r);
    for_each(m.executor(), restricted_.owned(),
             RestrictedOnNode<T>{faces_of_node_.view(space), share, r.view(), restricted_.view()});
    multigrid_.apply(restricted_, correction_);
    exchange_ghosts(m.mesh().domain(), correction_);
    nodes_of_face_.visit_parts(space, r.owned(), [&](Range<Face> range, auto rows) {
      launch(range, CorrectedOnFace<T, decltype(rows)>{rows, share, factor, std::as_const(correction_).view(),
                                                       divided, m.hold(), r.view(), z.view()});
    });
  }

 private:
  std::vector<Tensor3> stiffness() const {
    const auto area = matrices_.mesh().geometry().face_areas(MemorySpace::Host);
    const std::vector<Real> diagonal = matrices_.viscous_form().diagonal();
    const std::vector<FaceHold> hold = matrices_.hold_on_host();
    std::vector<Tensor3> stiffness(at(restricted_.extent().owned));
    for (std::size_t n = 0; n < stiffness.size(); ++n) {
      for (const auto [f, sign] : faces_of_node_[Id<Node>(static_cast<Index>(n))]) {
        const std::size_t i = at(f.value());
        const Real k = static_cast<Real>(share_[i]) * diagonal[i];
        if (hold[i] == FaceHold::All) stiffness[n] += Tensor3{{k, 0, 0}, {0, k, 0}, {0, 0, k}};
        if (hold[i] == FaceHold::Normal) stiffness[n] += k / dot(area[f], area[f]) * outer(area[f], area[f]);
      }
    }
    return stiffness;
  }

  const MomentumMatrices& matrices_;
  const IncidenceTable<Face, Node>& nodes_of_face_;
  IncidenceTable<Node, Face> faces_of_node_;
  ConstantArray<float> share_;  // of a face's force for each of its nodes
  Field<Node, Vector4<float>> restricted_, correction_;
  MultigridInSingle<Vector4<float>> multigrid_;
};

MomentumMultigrid::MomentumMultigrid(const MomentumMatrices& matrices) : FaceJacobi(matrices, true, true) {}

MomentumMultigrid::~MomentumMultigrid() = default;

void MomentumMultigrid::set(Real mass_factor, Real viscous_factor) {
  if (std::pair(mass_factor, viscous_factor) == factors()) return;
  FaceJacobi::set(mass_factor, viscous_factor);
  const Real wanted = viscous_factor / mass_factor;
  if (!ViscousReach(matrices_, wanted).is_beyond(correction_reach)) {
    correction_.reset();
    return;
  }
  scale_ = static_cast<float>(1 / viscous_factor);
  const Real ratio = ratio_of_hierarchy(wanted);
  if (correction_ && ratio == ratio_) return;
  ratio_ = ratio;
  correction_.reset();  // before the next one takes its memory
  correction_ = std::make_unique<NodeCorrection>(matrices_, ratio);
}

void MomentumMultigrid::apply(const FaceVectors<float>& r, FaceVectors<float>& z) const {
  apply_in(r, z);
}
void MomentumMultigrid::apply(const FaceVectors<Real>& r, FaceVectors<Real>& z) const {
  apply_in(r, z);
}
template <class T>
void MomentumMultigrid::apply_in(const FaceVectors<T>& r, FaceVectors<T>& z) const {
  if (!correction_) return FaceJacobi::apply(r, z);
  correction_->apply(r, scale_, division<T>(), z,
                     [&](Range<Face> range, const auto& kernel) { for_each(r.executor(), range, kernel); });
}

void MomentumMultigrid::apply_with_product(const FaceVectors<float>& r, FaceVectors<float>& z,
                                           SumInParts& product) const {
  apply_with_product_in(r, z, product);
}
void MomentumMultigrid::apply_with_product(const FaceVectors<Real>& r, FaceVectors<Real>& z,
                                           SumInParts& product) const {
  apply_with_product_in(r, z, product);
}
template <class T>
void MomentumMultigrid::apply_with_product_in(const FaceVectors<T>& r, FaceVectors<T>& z,
                                              SumInParts& product) const {
  if (!correction_) return FaceJacobi::apply_with_product(r, z, product);
  correction_->apply(r, scale_, division<T>(), z,
                     [&](Range<Face> range, const auto& kernel) { product.add(range, kernel); });
}

}  // namespace curlew
