// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "physics/flow/incompressible_flow.hpp"

namespace curlew {

/// Force and torque.
struct Total {
  Vector3 force{}, torque{};
};

/// Of the fluid on some boundary faces, about the origin.
inline Total total_on(const IncompressibleFlow& flow, Range<Face> faces) {
  const Mesh& mesh = flow.mesh();
  const IncompressibleFlow::BoundaryForces forces = flow.boundary_forces();
  Total total;
  for (const Id<Face> f : faces) {
    const std::size_t b = at(f.value() - mesh.topology().boundary_faces().first());
    const Vector3 force = forces.pressure[b] + forces.viscous[b];
    total.force += force;
    total.torque += cross(mesh.geometry().face_centroids()[at(f.value())], force);
  }
  return total;
}

}  // namespace curlew
