// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/tangential_reconstruction.hpp"

#include <utility>
#include <vector>

#include "kernels/for_each.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/signed_sum_kernels.hpp"

namespace curlew {

namespace {

/// Kernel's part: the interpolation's weights (x_f - x_c) / V_c.
struct ArmsOfCells {
  FaceCentroidsOfCells face_centroid;
  View<Cell, const Vector3> cell_centroid;
  View<Cell, const Real> volume;
  CURLEW_HOST_DEVICE Vector4<float> operator()(Id<Cell> c, Id<Face> f, Real sign) const {
    return rounded<float>((sign / volume[c]) * (face_centroid(f, sign) - cell_centroid[c]));
  }
};

template <class T, class Rows>
struct ForceOnCell {
  Rows faces_of;
  View<Face, const float> share;
  View<Face, const Vector4<T>> force;
  View<Cell, Vector4<float>> sum_of_shares;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Vector4<float> sum{};
    for (const auto [f, sign] : faces_of[c]) sum += share[f] * in_precision<float>(force[f]);
    sum_of_shares[c] = sum;
  }
};

template <class Rows>
struct CirculationOnFace {
  Rows cells_of;
  ArmsOfCells arm;
  View<Cell, const Vector4<float>> force;
  View<Face, float> circulation;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    float sum = 0;
    for (const auto [c, sign] : cells_of[f]) sum += own_dot(arm(c, f, sign), force[c]);
    circulation[f] = sum;
  }
};

template <class Rows>
struct CurlOnFace {
  Rows edges_of;
  View<Edge, const float> s;
  View<Face, float> flux;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const { flux[f] = signed_sum(edges_of, s, f); }
};

template <class T, class Rows>
struct RotationOnEdge {
  Rows faces_of;
  View<Edge, const T> r;
  View<Face, const float> circulation;
  View<Edge, float> rotation;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    float sum = static_cast<float>(r[e]);
    for (const auto [f, sign] : faces_of[e]) sum += static_cast<float>(sign) * circulation[f];
    rotation[e] = sum;
  }
};

template <class Rows>
struct VelocityOnCell {
  Rows faces_of;
  ArmsOfCells arm;
  View<Face, const float> flux;
  View<Cell, Vector4<float>> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Vector4<float> sum{};
    for (const auto [f, sign] : faces_of[c]) sum += flux[f] * arm(c, f, sign);
    velocity[c] = sum;
  }
};

template <class T, class Rows>
struct AddVelocityOnFace {
  Rows cells_of;
  View<Face, const float> share;
  View<Face, const Vector4<float>> normal;
  View<Cell, const Vector4<float>> velocity;
  View<Face, Vector4<T>> z;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Vector4<float> sum{};
    for (const auto [c, sign] : cells_of[f]) sum += velocity[c];
    const Vector4<float> n = normal[f], tangential = share[f] * (sum - own_dot(sum, n) * n);
    z[f] += in_precision<T>(tangential);
  }
};

/// Of faces that the rank owns, of which it has the cells on both sides.
std::vector<float> shares_of_cells(const Mesh& mesh, const std::vector<FaceHold>& hold) {
  std::vector<float> shares(at(mesh.topology().faces().size()));
  for (const Id<Face> f : mesh.domain().halo<Face>().owned()) {
    const std::size_t i = at(f.value());
    if (hold[i] == FaceHold::All) continue;
    const auto cells = static_cast<Real>(mesh.topology().cells_of_face()[f].size());
    shares[i] = static_cast<float>(norm(mesh.geometry().face_areas()[i]) / cells);
  }
  return shares;
}

}  // namespace

TangentialReconstruction::TangentialReconstruction(const MomentumMatrices& matrices)
    : matrices_(matrices),
      share_(matrices.executor(), matrices.mesh().domain().extent<Face>(), "share of cells", "m2"),
      flux_(alike(share_)),
      velocity_(matrices.executor(), matrices.mesh().domain().extent<Cell>(), "velocity of cells", "1") {
  share_.copy_from_host(shares_of_cells(matrices.mesh(), matrices.hold_on_host()));
  exchange_ghosts(matrices.mesh().domain(), share_);
}

// Cells and faces are all those that the rank has: of its own edges and faces it has the cells about them
// with all their faces. What it gets for others nobody reads.

template <class T>
void TangentialReconstruction::set_rotation(const Field<Edge, T, Cochain::Dual>& r,
                                            const FaceVectors<T>& force, Field<Edge, float>& rotation) {
  const MomentumMatrices& m = matrices_;
  const Topology& topology = m.mesh().topology();
  const Geometry& geometry = m.mesh().geometry();
  const MemorySpace space = m.executor().space();
  const ArmsOfCells arm{geometry.face_centroids_of_cells(space), geometry.cell_centroids(space),
                        geometry.cell_volumes(space)};
  exchange_ghosts(m.mesh().domain(), force);
  topology.faces_of_cell().visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(
        m.executor(), range,
        ForceOnCell<T, decltype(rows)>{rows, std::as_const(share_).view(), force.view(), velocity_.view()});
  });
  topology.cells_of_face().visit_parts(space, [&](Range<Face> range, auto rows) {
    for_each(m.executor(), range,
             CirculationOnFace<decltype(rows)>{rows, arm, std::as_const(velocity_).view(), flux_.view()});
  });
  topology.faces_of_edge().visit_parts(space, rotation.owned(), [&](Range<Edge> range, auto rows) {
    for_each(m.executor(), range,
             RotationOnEdge<T, decltype(rows)>{rows, r.view(), std::as_const(flux_).view(), rotation.view()});
  });
}

template <class T>
void TangentialReconstruction::add(const Field<Edge, float>& s, const FaceVectors<T>& r, FaceVectors<T>& z,
                                   SumInParts* sum) {
  const MomentumMatrices& m = matrices_;
  const Topology& topology = m.mesh().topology();
  const Geometry& geometry = m.mesh().geometry();
  const MemorySpace space = m.executor().space();
  const ArmsOfCells arm{geometry.face_centroids_of_cells(space), geometry.cell_centroids(space),
                        geometry.cell_volumes(space)};
  topology.edges_of_face().visit_parts(space, [&](Range<Face> range, auto rows) {
    for_each(m.executor(), range, CurlOnFace<decltype(rows)>{rows, s.view(), flux_.view()});
  });
  topology.faces_of_cell().visit_parts(space, [&](Range<Cell> range, auto rows) {
    for_each(m.executor(), range,
             VelocityOnCell<decltype(rows)>{rows, arm, std::as_const(flux_).view(), velocity_.view()});
  });
  topology.cells_of_face().visit_parts(space, z.owned(), [&](Range<Face> range, auto rows) {
    for_each(
        m.executor(), range,
        AddVelocityOnFace<T, decltype(rows)>{rows, std::as_const(share_).view(), m.in<float>().normal.view(),
                                             std::as_const(velocity_).view(), z.view()});
  });
  // In a kernel with the other it would not fit into the registers of a GPU.
  if (sum != nullptr)
    sum->add(z.owned(), ProductOfEntity<Face, Vector4<T>>{r.view(), std::as_const(z).view()});
}

template void TangentialReconstruction::set_rotation(const Field<Edge, float, Cochain::Dual>&,
                                                     const FaceVectors<float>&, Field<Edge, float>&);
template void TangentialReconstruction::set_rotation(const Field<Edge, Real, Cochain::Dual>&,
                                                     const FaceVectors<Real>&, Field<Edge, float>&);
template void TangentialReconstruction::add(const Field<Edge, float>&, const FaceVectors<float>&,
                                            FaceVectors<float>&, SumInParts*);
template void TangentialReconstruction::add(const Field<Edge, float>&, const FaceVectors<Real>&,
                                            FaceVectors<Real>&, SumInParts*);

}  // namespace curlew
