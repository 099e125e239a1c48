// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/for_each.hpp"
#include "mesh/mesh.hpp"
#include "operators/face_matrix.hpp"
#include "physics/streamfunction/curl_with_loops.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

/// 0 for edges of the boundary, all of which is wall.
inline std::vector<std::uint8_t> edges_off_walls(const Topology& topology) {
  std::vector<std::uint8_t> is_free(at(topology.edges().size()), 1);
  for (const Id<Face> f : topology.boundary_faces()) {
    for (const auto [e, sign] : topology.edges_of_face()[f]) is_free[at(e.value())] = 0;
  }
  return is_free;
}

inline std::vector<std::uint8_t> nodes_off_walls(const Topology& topology) {
  std::vector<std::uint8_t> is_free(at(topology.nodes().size()), 1);
  for (const Id<Face> f : topology.boundary_faces()) {
    for (const auto [n, sign] : topology.nodes_of_face()[f]) is_free[at(n.value())] = 0;
  }
  return is_free;
}

/// Along dual edges, of a force that varies smoothly.
inline std::vector<Real> smooth_force(const Mesh& mesh) {
  std::vector<Real> force;
  for (const Id<Face> f : mesh.topology().faces()) {
    const Vector3 x = mesh.geometry().face_centroids()[at(f.value())];
    force.push_back(norm(mesh.geometry().dual_edge(mesh.topology(), f)) *
                    std::sin(7 * x.x + 5 * x.y * x.z + 3 * x.z));
  }
  return force;
}

/// Calls `add(edge, value)` for terms of row e of R M C.
template <class Add>
void visit_row_of_rotation_mass_curl(const Topology& topology, const FaceMatrix& mass, Id<Edge> e,
                                     const Add& add) {
  const auto& faces_of_face = mass.stencil().faces_of_face();
  const auto entry = mass.entries(MemorySpace::Host);
  for (const auto [f, sign] : topology.faces_of_edge()[e]) {
    Id<FacePair> pair(faces_of_face.view(MemorySpace::Host).start(f));
    for (const auto [g, one] : faces_of_face[f]) {
      const Real value = sign * entry[pair];
      ++pair;
      for (const auto [other, turn] : topology.edges_of_face()[g]) add(other, value * turn);
    }
  }
}

/// Unknowns of streamfunction and loops, whose third field is empty.
inline StreamVelocity stream_unknown(const Executor& executor, const Mesh& mesh, std::size_t loops) {
  return {PrimalCochain<Edge>(executor, mesh.topology().edges().size(), "streamfunction", "m3/s"),
          PrimalCochain<Loop>(executor, static_cast<Index>(loops), "loops", "m3/s"),
          Field<Face, Vector3>(executor, 0, "velocity", "m/s")};
}
inline Paired<StreamVelocity> stream_image(const Executor& executor, const Mesh& mesh, std::size_t loops) {
  return {DualCochain<Edge>(executor, mesh.topology().edges().size(), "rotation", "m2/s"),
          DualCochain<Loop>(executor, static_cast<Index>(loops), "loops", "m2/s"),
          Field<Face, Vector3>(executor, 0, "velocity", "m/s")};
}

struct FreePartOnEdge {
  View<Edge, const std::uint8_t> free;
  View<Edge, Real> value;
  CURLEW_HOST_DEVICE void operator()(Id<Edge> e) const {
    if (!free[e]) value[e] = 0;
  }
};

/// R M C on edges that are free, and on loops. The solver is that of the streamfunction.
class RotationMassCurl : public Operator<StreamVelocity, Paired<StreamVelocity>> {
 public:
  using Star = Operator<PrimalCochain<Face>, DualCochain<Face>>;
  /// `mass` outlives this.
  RotationMassCurl(const Executor& executor, const Mesh& mesh, const Star& mass,
                   const std::vector<std::uint8_t>& edge_is_free,
                   const std::vector<std::vector<SignedId<Face>>>& loops = {})
      : executor_(executor),
        curl_(executor, mesh, loops),
        mass_(mass),
        flux_(executor, mesh.topology().faces().size(), "flux", "m3/s"),
        circulation_(executor, flux_.extent(), "circulation", "m2/s"),
        free_(executor, mesh.topology().edges().size(), "free", "1") {
    free_.copy_from_host(edge_is_free);
  }
  void apply(const StreamVelocity& x, Paired<StreamVelocity>& y) const override {
    curl_.apply(x.stream, x.loop, flux_);
    mass_.apply(flux_, circulation_);
    rotation_of(circulation_, y);
  }
  void apply_transpose(const StreamVelocity& x, Paired<StreamVelocity>& y) const override { apply(x, y); }
  void curl_of(const StreamVelocity& x, PrimalCochain<Face>& flux) const {
    curl_.apply(x.stream, x.loop, flux);
  }
  void rotation_of(const DualCochain<Face>& circulation, Paired<StreamVelocity>& y) const {
    curl_.apply_transpose(circulation, y.stream, y.loop);
    for_each(executor_, y.stream.range(), FreePartOnEdge{std::as_const(free_).view(), y.stream.view()});
  }

 private:
  Executor executor_;
  CurlWithLoops curl_;
  const Star& mass_;
  mutable PrimalCochain<Face> flux_;
  mutable DualCochain<Face> circulation_;
  Field<Edge, std::uint8_t> free_;
};

}  // namespace curlew
