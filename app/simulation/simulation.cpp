// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/simulation.hpp"

#include <fmt/format.h>

#include <utility>

#include "kernels/error.hpp"

namespace curlew {

namespace {

/// A number that tells meshes and their numberings apart: the sum of all node coordinates, with factors that
/// follow from the nodes' places in the order of the whole mesh.
Real fingerprint(const Mesh& mesh) {
  const Halo<Node>& halo = mesh.domain().halo<Node>();
  const auto position = mesh.geometry().node_positions(MemorySpace::Host);
  const BinnedSum own = binned_sum(halo.owned().size(), [&](Index k) {
    const Id<Node> n(k);
    const Vector3 x = position[n];
    return static_cast<Real>(1 + halo.global(n) % 1000) * (x.x + 2 * x.y + 3 * x.z);
  });
  return mesh.domain().communicator().sum(own).value();
}

}  // namespace

Checkpoint make_checkpoint(const std::string& model, const Mesh& mesh, RunState state) {
  Checkpoint checkpoint;
  checkpoint.step = state.steps;
  checkpoint.time = state.time;
  checkpoint.numbers = std::move(state.numbers);
  checkpoint.arrays = std::move(state.arrays);
  checkpoint.singles = std::move(state.singles);
  checkpoint.texts["model"] = model;
  checkpoint.integers["nodes"] = mesh.domain().halo<Node>().total();
  checkpoint.numbers["mesh_fingerprint"] = fingerprint(mesh);
  return checkpoint;
}

RunState state_in(const Checkpoint& checkpoint) {
  return {checkpoint.time, checkpoint.step, checkpoint.numbers, checkpoint.arrays, checkpoint.singles};
}

void require_checkpoint_of(const std::string& model, const Mesh& mesh, const Checkpoint& checkpoint,
                           const std::string& path) {
  const auto written_by = checkpoint.texts.find("model");
  const std::string other = written_by == checkpoint.texts.end() ? "unknown" : written_by->second;
  if (other != model) {
    throw InputError(fmt::format(
        "{}: the model of the checkpoint is {}, and that of the case {}; give a checkpoint of the "
        "case's model",
        path, other, model));
  }
  const Real expected_mark = fingerprint(mesh);  // by all ranks, whatever comes next
  const auto nodes = checkpoint.integers.find("nodes");
  const auto mark = checkpoint.numbers.find("mesh_fingerprint");
  if (nodes == checkpoint.integers.end() || nodes->second != mesh.domain().halo<Node>().total() ||
      mark == checkpoint.numbers.end() || mark->second != expected_mark) {
    throw InputError(
        fmt::format("{}: the checkpoint was written on another mesh, or with another [mesh] order; use "
                    "the mesh it was written on",
                    path));
  }
}

}  // namespace curlew
