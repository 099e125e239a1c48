// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/flow/centroid_velocity.hpp"

#include <vector>

#include "kernels/for_each.hpp"
#include "kernels/parallel.hpp"
#include "mesh/parallel/exchange.hpp"
#include "operators/cell_velocity.hpp"
#include "physics/flow/flow_fields.hpp"

namespace curlew {

namespace {

/// Mean over a face of (x - x_f)(x - x_f)ᵀ, x_f its centroid [m2].
Tensor3 moment_of_face(const Mesh& mesh, Id<Face> face) {
  const Mesh& unfolded = mesh.unfolded();
  const Id<Face> f = mesh.unfolded_face(face);
  const auto nodes = unfolded.topology().nodes_of_face()[f];
  const auto position = unfolded.geometry().node_positions(MemorySpace::Host);
  if (mesh.topology().dimension() == 2) {
    const Vector3 side = position[nodes[1].id] - position[nodes[0].id];
    return Real(1) / 12 * outer(side, side);
  }
  const Vector3 area = unfolded.geometry().face_areas()[at(f.value())];
  const Vector3 centroid = unfolded.geometry().face_centroids()[at(f.value())];
  Tensor3 moment{};
  visit_fan(nodes, position, [&](Vector3 apex, Id<Node>, Id<Node>, Vector3 second, Vector3 third) {
    const Vector3 a = apex - centroid, b = second - centroid, c = third - centroid;
    const Real share = dot(cross(b - a, c - a), area) / (2 * dot(area, area));
    for (const Vector3 r : {a, b, c, a + b + c}) moment += (share / 12) * outer(r, r);
  });
  return moment;
}

template <class Rows>
struct FromMeanToCentroidOnCell {
  Rows faces_of;
  Incidence<Face, Cell> cells_of;
  Arms arm;
  View<Face, const Vector3> area;
  View<Cell, const Real> volume;
  View<Cell, const Tensor3> gradient, moment;
  View<Cell, Vector3> velocity;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    Vector3 change{};
    for (const auto [f, sign] : faces_of[c]) {
      const Vector3 outward = sign * area[f];
      for (const auto [other, other_sign] : cells_of[f]) {
        if (other_sign == sign) continue;
        const Real here = dot(arm(c, f, sign), outward), there = -dot(arm(other, f, other_sign), outward);
        const Real share = here / (here + there);
        change += share * ((gradient[other] - gradient[c]) * (moment[c] * outward));
      }
    }
    velocity[c] -= change / (2 * volume[c]);
  }
};

}  // namespace

CentroidVelocity::CentroidVelocity(const Executor& executor, const Mesh& mesh)
    : mesh_(mesh), moment_(executor, mesh.domain().extent<Cell>(), "second moments of cells", "m2") {
  const auto areas = mesh.geometry().face_areas().host();
  const auto volumes = mesh.geometry().cell_volumes().host();
  const Real dimension = static_cast<Real>(mesh.topology().dimension());
  const Arms arm(mesh.geometry(), MemorySpace::Host);
  std::vector<Tensor3> moments(volumes.size());
  parallel_for(at(mesh.domain().halo<Cell>().owned().size()), [&](std::size_t k) {
    const Id<Cell> c(static_cast<Index>(k));
    if (mesh.topology().cell_type(c) == CellType::Tetrahedron) return;  // Q stays zero
    for (const auto [f, sign] : mesh.topology().faces_of_cell()[c]) {
      const Vector3 r = arm(c, f, sign);
      const Real share = sign * dot(r, areas[at(f.value())]) / (dimension * volumes[k]);
      moments[k] += share * outer(r, r);
      moments[k] += share * moment_of_face(mesh, f);
    }
  });
  moment_.copy_from_host(moments);
}

Field<Cell, Vector3> CentroidVelocity::operator()(const Field<Face, Vector3>& face_velocity) const {
  const Executor& executor = moment_.executor();
  const MemorySpace space = executor.space();
  const Geometry& geometry = mesh_.geometry();
  Field<Cell, Vector3> velocity = mean_velocity(mesh_, face_velocity);
  const Field<Cell, Tensor3> gradient = velocity_gradient(mesh_, face_velocity);
  mesh_.topology().faces_of_cell().visit_parts(space, velocity.owned(), [&](Range<Cell> range, auto rows) {
    for_each(executor, range,
             FromMeanToCentroidOnCell<decltype(rows)>{rows, mesh_.topology().cells_of_face().view(space),
                                                      Arms(geometry, space), geometry.face_areas(space),
                                                      geometry.cell_volumes(space), gradient.view(),
                                                      moment_.view(), velocity.view()});
  });
  exchange_ghosts(mesh_.domain(), velocity);
  return velocity;
}

}  // namespace curlew
