// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/momentum/viscous_reach.hpp"

#include "kernels/reduction.hpp"

namespace curlew {

namespace {

struct IsFreeOfFace {
  View<Face, const FaceHold> hold;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const { return hold[f] == FaceHold::All ? 0 : 1; }
};

struct IsReachedOfFace {
  Real ratio, far;
  View<Face, const float> mass, viscous;
  View<Face, const FaceHold> hold;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    const bool reached = ratio * static_cast<Real>(viscous[f]) > far * static_cast<Real>(mass[f]);
    return hold[f] != FaceHold::All && reached ? 1 : 0;
  }
};

struct ReachOfFace {
  View<Face, const float> mass, viscous;
  View<Face, const FaceHold> hold;
  View<Face, const Vector3> area;
  View<Face, const Real> inverse_star;
  CURLEW_HOST_DEVICE Real operator()(Id<Face> f) const {
    if (hold[f] == FaceHold::All) return 0;
    Real least = static_cast<Real>(mass[f]);
    if (const Real of_star = 2 * dot(area[f], area[f]); of_star < least * inverse_star[f])
      least = of_star / inverse_star[f];
    return static_cast<Real>(viscous[f]) / least;
  }
};

}  // namespace

bool ViscousReach::is_beyond(Real far) const {
  const MomentumMatrices& m = matrices_;
  const Range<Face> faces = m.mesh().domain().halo<Face>().owned();
  const Real reached = sum(m.executor(), faces,
                           IsReachedOfFace{ratio_, far, m.mass_diagonal(), m.viscous_diagonal(), m.hold()});
  return 2 * reached > sum(m.executor(), faces, IsFreeOfFace{m.hold()});
}

Real ViscousReach::largest(const MomentumMatrices& m, const Field<Face>& inverse_star) {
  return maximum(
      m.executor(), m.mesh().domain().halo<Face>().owned(),
      ReachOfFace{m.mass_diagonal(), m.viscous_diagonal(), m.hold(), m.area(), inverse_star.view()});
}

}  // namespace curlew
