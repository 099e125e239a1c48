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

}  // namespace

Real ViscousReach::faces_beyond(Real far) const {
  const MomentumMatrices& m = matrices_;
  return sum(m.executor(), m.mesh().domain().halo<Face>().owned(),
             IsReachedOfFace{ratio_, far, m.mass_diagonal(), m.viscous_diagonal(), m.hold()});
}

bool ViscousReach::is_beyond(Real far) const {
  const MomentumMatrices& m = matrices_;
  const Range<Face> faces = m.mesh().domain().halo<Face>().owned();
  return 2 * faces_beyond(far) > sum(m.executor(), faces, IsFreeOfFace{m.hold()});
}

bool ViscousReach::is_beyond_anywhere(Real far) const {
  return faces_beyond(far) > 0;
}

}  // namespace curlew
