// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/curved_patch.hpp"

#include <cstdint>
#include <vector>

namespace curlew {

bool is_curved(const Mesh& mesh, std::size_t patch) {
  constexpr Real sharp = 0.8, plane = 1 - 1e-6;  // cosines of the angle between faces that meet
  const Topology& topology = mesh.topology();
  const std::vector<Id<Face>> faces = topology.faces_of_patch(patch);
  std::vector<std::uint8_t> is_of_patch(at(topology.faces().size()), 0);
  for (const Id<Face> f : faces) is_of_patch[at(f.value())] = 1;
  const auto direction = [&](Id<Face> f) {
    const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
    return area / norm(area);
  };
  bool bent = false;
  for (const Id<Face> f : faces) {
    for (const auto [e, sign] : topology.edges_of_face()[f]) {
      for (const auto [g, other] : topology.faces_of_edge()[e]) {
        const Real cosine = is_of_patch[at(g.value())] != 0 ? dot(direction(f), direction(g)) : 1;
        bent = bent || (cosine > sharp && cosine < plane);
      }
    }
  }
  return mesh.domain().communicator().maximum(bent ? 1 : 0) > 0;
}

}  // namespace curlew
