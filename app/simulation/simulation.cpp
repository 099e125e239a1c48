// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/simulation/simulation.hpp"

#include <fmt/format.h>

#include <utility>

#include "kernels/error.hpp"

namespace curlew {

namespace {

/// The sum of a number of each entity, with factors that follow from the entities' places in the order of the
/// whole mesh.
template <class E, class Value>
Real sum_in_order(const Mesh& mesh, const Value& value) {
  const Halo<E>& halo = mesh.domain().halo<E>();
  const BinnedSum own = binned_sum(halo.owned().size(), [&](Index k) {
    const Id<E> i(k);
    return static_cast<Real>(1 + halo.global(i) % 1000) * value(i);
  });
  return mesh.domain().communicator().sum(own).value();
}

Real different_by_direction(Vector3 x) {
  return x.x + 2 * x.y + 3 * x.z;
}

/// A number that tells meshes and the numberings of their nodes apart.
Real fingerprint(const Mesh& mesh) {
  const Mesh& unfolded = mesh.unfolded();
  const auto position = unfolded.geometry().node_positions(MemorySpace::Host);
  return sum_in_order<Node>(unfolded, [&](Id<Node> n) { return different_by_direction(position[n]); });
}

/// A number that tells apart the numberings of faces, which follow from how patches are named and joined,
/// too.
Real fingerprint_of_faces(const Mesh& mesh) {
  const auto area = mesh.geometry().face_areas(MemorySpace::Host);
  const Halo<Cell>& cells = mesh.domain().halo<Cell>();
  return sum_in_order<Face>(mesh, [&](Id<Face> f) {
    const GlobalIndex behind = cells.global(mesh.topology().cells_of_face()[f][0].id);
    return static_cast<Real>(1 + behind % 997) * different_by_direction(area[f]);
  });
}

constexpr const char* faces_name = "mesh_fingerprint_of_faces";

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
  checkpoint.numbers[faces_name] = fingerprint_of_faces(mesh);
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
  const Real expected_mark = fingerprint(mesh),
             of_faces = fingerprint_of_faces(mesh);  // by all ranks, whatever comes next
  const auto nodes = checkpoint.integers.find("nodes");
  const auto mark = checkpoint.numbers.find("mesh_fingerprint");
  if (nodes == checkpoint.integers.end() || nodes->second != mesh.domain().halo<Node>().total() ||
      mark == checkpoint.numbers.end() || mark->second != expected_mark) {
    throw InputError(
        fmt::format("{}: the checkpoint was written on another mesh, or with another [mesh] order; use "
                    "the mesh it was written on",
                    path));
  }
  const auto mark_of_faces = checkpoint.numbers.find(faces_name);
  if (mark_of_faces != checkpoint.numbers.end() && mark_of_faces->second != of_faces) {
    throw InputError(
        fmt::format("{}: the checkpoint was written on this mesh with other periodic patches, or with its "
                    "physical groups in another order: its values are of faces with other numbers; use the "
                    "mesh and the periodic patches that it was written with",
                    path));
  }
}

}  // namespace curlew
