// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace curlew {

namespace {

/// A number that tells meshes apart: the sum of all node coordinates, in their order.
Real fingerprint(const Mesh& mesh) {
  Real sum = 0, factor = 1;
  for (const Vector3 x : mesh.geometry().node_positions().host()) {
    sum += factor * (x.x + 2 * x.y + 3 * x.z);
    factor = factor > 1e3 ? 1 : factor + 1;
  }
  return sum;
}

}  // namespace

Checkpoint make_checkpoint(const std::string& model, const Mesh& mesh, std::int64_t step, Real time) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.time = time;
  checkpoint.texts["model"] = model;
  checkpoint.integers["nodes"] = mesh.topology().nodes().size();
  checkpoint.numbers["mesh_fingerprint"] = fingerprint(mesh);
  return checkpoint;
}

void require_checkpoint_of(const std::string& model, const Mesh& mesh, const Checkpoint& checkpoint,
                           const std::string& path) {
  const auto written_by = checkpoint.texts.find("model");
  if (written_by == checkpoint.texts.end() || written_by->second != model) {
    throw InputError(
        fmt::format("{}: the checkpoint is not of a {} run; restart from one that is", path, model));
  }
  const auto nodes = checkpoint.integers.find("nodes");
  const auto mark = checkpoint.numbers.find("mesh_fingerprint");
  if (nodes == checkpoint.integers.end() || nodes->second != mesh.topology().nodes().size() ||
      mark == checkpoint.numbers.end() || mark->second != fingerprint(mesh)) {
    throw InputError(
        fmt::format("{}: the checkpoint was written on another mesh, or with another [mesh] order; restart "
                    "with the mesh it was written on",
                    path));
  }
}

}  // namespace curlew
