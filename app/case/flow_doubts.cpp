// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/flow_doubts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>

#include "kernels/error.hpp"
#include "mesh/curved_patch.hpp"

namespace curlew {

std::string doubt_about_steadiness(const FlowCase& flow_case) {
  const FlowTimeSettings& time = flow_case.time;
  if (!time.steady || time.courant) return "";  // with a Courant number the steps are not known
  const Real left = change_left_by_solves(flow_case, time.step);
  if (time.tolerance >= left) return "";
  return fmt::format(
      "{}: the run may never be found steady: in steps of {} s its solves leave changes of "
      "{:.2g} of the size per second, and tolerance of [time] is {} 1/s; raise that, or lower "
      "tolerance of [solver.*] or take longer steps",
      time.tolerance_location.text(), time.step, left, time.tolerance);
}

namespace {

/// Nothing where the mesh has no such patch.
std::optional<std::size_t> patch_of(const FlowBoundarySettings& boundary, const Mesh& mesh) {
  const std::vector<Patch>& patches = mesh.topology().patches();
  const auto patch = std::ranges::find(patches, boundary.patch.name, &Patch::name);
  if (patch == patches.end()) return std::nullopt;
  return static_cast<std::size_t>(patch - patches.begin());
}

bool points_across(const VectorFunction& velocity, const Mesh& mesh, std::size_t patch, Real time) {
  constexpr Real across = 0.3;  // cosine of an angle; what turns with flat faces has less
  const auto centroid = mesh.geometry().face_centroids_of_cells(MemorySpace::Host);
  const std::vector<Id<Face>> faces = mesh.topology().faces_of_patch(patch);
  std::vector<Vector3> points, values(faces.size());
  for (const Id<Face> f : faces) points.push_back(centroid(f, 1));
  try {
    velocity.evaluate(points, time, values);
  } catch (const InputError&) {  // a run may never come to this time; where it does it tells of that
    values.assign(faces.size(), {});
  }
  bool found = false;
  for (std::size_t k = 0; k < faces.size(); ++k) {
    const Vector3 area = mesh.geometry().face_areas()[at(faces[k].value())];
    found = found || std::abs(dot(values[k], area)) > across * norm(values[k]) * norm(area);
  }
  return mesh.domain().communicator().maximum(found ? 1 : 0) > 0;
}

}  // namespace

std::vector<std::string> doubts_about_symmetry(const FlowCase& flow_case, const Mesh& mesh) {
  std::vector<std::string> doubts;
  for (const FlowBoundarySettings& boundary : flow_case.boundaries) {
    if (!std::holds_alternative<Symmetry>(boundary.condition)) continue;
    const std::optional<std::size_t> patch = patch_of(boundary, mesh);
    if (!patch || !is_curved(mesh, *patch)) continue;
    doubts.push_back(
        fmt::format("{}: the patch \"{}\" of type \"symmetry\" is not plane: the velocity along it will not "
                    "change across it, and that is without friction on planes alone",
                    boundary.patch.location.text(), boundary.patch.name));
  }
  return doubts;
}

std::vector<std::string> doubts_about_walls(const FlowCase& flow_case, const Mesh& mesh) {
  std::vector<std::string> doubts;
  for (const FlowBoundarySettings& boundary : flow_case.boundaries) {
    const auto* wall = std::get_if<Wall>(&boundary.condition);
    const std::optional<std::size_t> patch = patch_of(boundary, mesh);
    if (wall == nullptr || !patch) continue;
    const VectorFunctionPointer velocity =
        wall->rotation ? std::make_shared<const RotationVelocity>(*wall->rotation) : wall->velocity;
    if (velocity == nullptr) continue;
    const Real start = flow_case.time.start;
    if (!points_across(*velocity, mesh, *patch, start) &&
        !points_across(*velocity, mesh, *patch, start + flow_case.time.step))
      continue;
    const char* cause = wall->rotation
                            ? "it does not turn within itself: if origin and axis are right, the flow "
                              "is that of a moment in which it pushes fluid away"
                            : "its velocity points across it; \"inlet\" is for fluid that flows in or out";
    doubts.push_back(fmt::format("{}: fluid passes through the patch \"{}\" of type \"wall\", since {}",
                                 boundary.patch.location.text(), boundary.patch.name, cause));
  }
  return doubts;
}

}  // namespace curlew
