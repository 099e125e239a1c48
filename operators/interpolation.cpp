// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "operators/interpolation.hpp"

#include <type_traits>

#include "kernels/for_each.hpp"

namespace curlew {

namespace {

/// Calls `launch` with whether there is to be a division by volumes, known when kernels are compiled: a load
/// that waits for that to be decided comes too late.
template <class Launch>
void launch_for(bool per_volume, const Launch& launch) {
  if (per_volume) {
    launch(std::true_type{});
  } else {
    launch(std::false_type{});
  }
}

template <class Rows, bool per_volume>
struct FluxMomentOnCell {
  Rows faces_of;
  View<Face, const Real> flux;              // integral of u.n over the face [m3/s]
  FaceCentroidsOfCells face_centroid;       // [m]
  View<Cell, const Vector3> cell_centroid;  // [m]
  View<Cell, const Real> volume;            // [m3]
  View<Cell, Vector3> v;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const Vector3 centre = cell_centroid[c];
    Vector3 moment{};
    for (const auto [f, sign] : faces_of[c]) moment += (sign * flux[f]) * (face_centroid(f, sign) - centre);
    v[c] = per_volume ? moment / volume[c] : moment;
  }
};

template <class Rows, bool per_volume>
struct PathIntegralOnFace {
  Rows cells_of;
  View<Cell, const Vector3> v;
  FaceCentroidsOfCells face_centroid;       // [m]
  View<Cell, const Vector3> cell_centroid;  // [m]
  View<Cell, const Real> volume;            // [m3]
  View<Face, Real> integral;
  CURLEW_HOST_DEVICE void operator()(Id<Face> f) const {
    Real sum = 0;
    for (const auto [c, sign] : cells_of[f]) {
      const Real along = dot(face_centroid(f, sign) - cell_centroid[c], v[c]);
      sum += sign * (per_volume ? along / volume[c] : along);
    }
    integral[f] = sum;
  }
};

}  // namespace

void ReconstructionTables::gather_on_cells(const PrimalCochain<Face>& flux, bool per_volume,
                                           Field<Cell, Vector3>& v) const {
  require_fits(flux, faces(), executor_);
  require_fits(v, cells(), executor_);
  const MemorySpace space = executor_.space();
  faces_of_cell_.visit_parts(space, [&](Range<Cell> range, auto rows) {
    launch_for(per_volume, [&](auto divided) {
      for_each(executor_, range,
               FluxMomentOnCell<decltype(rows), divided>{
                   rows, flux.view(), geometry_.face_centroids_of_cells(space),
                   geometry_.cell_centroids(space), geometry_.cell_volumes(space), v.view()});
    });
  });
}

void ReconstructionTables::gather_on_faces(const Field<Cell, Vector3>& v, bool per_volume,
                                           DualCochain<Face>& c) const {
  require_fits(v, cells(), executor_);
  require_fits(c, faces(), executor_);
  const MemorySpace space = executor_.space();
  cells_of_face_.visit_parts(space, [&](Range<Face> range, auto rows) {
    launch_for(per_volume, [&](auto divided) {
      for_each(executor_, range,
               PathIntegralOnFace<decltype(rows), divided>{
                   rows, v.view(), geometry_.face_centroids_of_cells(space), geometry_.cell_centroids(space),
                   geometry_.cell_volumes(space), c.view()});
    });
  });
}

}  // namespace curlew
