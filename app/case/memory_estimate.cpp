// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/memory_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/bfloat16.hpp"
#include "kernels/error.hpp"
#include "kernels/memory_use.hpp"
#include "kernels/tensor3.hpp"
#include "kernels/vector4.hpp"
#include "mesh/node_graph.hpp"
#include "operators/face_matrix.hpp"
#include "physics/flow/time_schemes.hpp"
#include "physics/momentum/convected_velocity.hpp"
#include "physics/momentum/tangential_approximate_inverse.hpp"
#include "solvers/solution_history.hpp"

namespace curlew {

namespace {

constexpr std::size_t scalar = sizeof(Real), vector = sizeof(Vector3), tensor = sizeof(Tensor3);
constexpr std::size_t rounded_scalar = sizeof(float), rounded_vector = sizeof(Vector4<float>);

std::size_t count(const auto& range) {
  return at(range.size());
}

/// What sums and the numbers of iterations take, about.
constexpr std::size_t sums = 16384;
/// How many vectors in single precision a SolutionHistory keeps: changes, and a residual.
constexpr std::size_t history = solution_history_depth + 1;

std::size_t averages_of(const CaseSettings& settings) {
  return static_cast<std::size_t>(
      std::ranges::count_if(settings.monitors, [](const MonitorSettings& monitor) {
        return std::holds_alternative<TimeAverageSettings>(monitor.what);
      }));
}

/// A matrix's table, with so many bytes for each of its entries besides.
template <class E>
std::size_t bytes_of_matrix(const IncidenceTable<E, E>& table, std::size_t of_entry, MemorySpace space) {
  const std::size_t places = table.places(space);
  return table.bytes() + (places - table.entries()) * sizeof(Index) + places * of_entry;
}

/// A multigrid hierarchy for a matrix of that many entries off the diagonal, which is known only when it is
/// made. Of what was seen, on the coarser levels are up to 4 entries and 0.2 unknowns for each of the finest,
/// and prolongations have 3 entries a row; in slices of a GPU half as many more (IncidenceTable; of an
/// emulated GPU runs on 5,832 hexahedra took 0.96 to 1.00 of what is estimated so). `of_unknown`: bytes of
/// its fields.
std::size_t bytes_of_multigrid(std::size_t unknowns, std::size_t entries, MemorySpace space,
                               std::size_t of_unknown = 4 * rounded_scalar) {
  const std::size_t halves = space == MemorySpace::Cuda ? 3 : 2;
  const std::size_t of_levels = (entries + 2 * halves * unknowns) * (sizeof(Index) + sizeof(BFloat16)),
                    of_transfers = 3 * halves * unknowns * (sizeof(Index) + rounded_scalar);
  const std::size_t fields = unknowns * 6 / 5 * (of_unknown + rounded_scalar + 3 * sizeof(Index));
  // A dense inverse: of the coarsest levels that were seen half of what the largest one takes is enough.
  const std::size_t coarsest = std::min<std::size_t>(unknowns, 128),
                    of_inverse = coarsest * coarsest / 2 * rounded_scalar;
  return of_levels + of_transfers + fields + of_inverse + unknowns * scalar;
}

/// Entries of matrices between nodes.
std::size_t node_pairs(const Topology& topology, MemorySpace space) {
  return NodeGraph(topology).neighbours_of_node().places(space);
}

std::size_t bytes_of(const HeatCase& settings, const Mesh& mesh, MemorySpace space) {
  const NodeGraph graph(mesh.topology());
  std::size_t tables = bytes_of_matrix(graph.neighbours_of_node(), scalar, space);
  if (settings.solver.preconditioner == Preconditioning::Multigrid) {
    tables +=
        bytes_of_multigrid(count(mesh.topology().nodes()), graph.neighbours_of_node().places(space), space);
  }
  // The model's fields, those of conjugate gradients and of their preconditioner; a mark per node.
  std::size_t per_node = (13 + 5 + 1) * scalar + 1;
  if (!settings.time.steady) per_node += history * rounded_scalar;
  const std::size_t patches = count(mesh.topology().boundary_faces()) * 2 * scalar;
  return tables + patches + count(mesh.topology().nodes()) * per_node;
}

/// Whether viscosity will reach so far that momentum's preconditioner, or the streamfunction's, has another
/// part between nodes: a guess from the sizes of cells that is right but for steps within a factor of about
/// four of those from which on it has.
bool expects_correction_between_nodes(const FlowCase& settings, const Mesh& mesh) {
  const bool exact = settings.method == FlowMethod::ExactFractionalStep;
  if ((exact ? settings.flow.streamfunction_preconditioning : settings.flow.momentum_preconditioning) !=
      Preconditioning::Multigrid)
    return false;
  if (stage_count(settings.flow.scheme) > 0) return false;  // explicit viscosity
  const Real step = settings.time.courant ? settings.time.max_step.value_or(0) : settings.time.step;
  const Real reach = settings.flow.viscosity * step;  // [m2]
  const Real power = 2 / static_cast<Real>(mesh.topology().dimension());
  const auto is_reached = [&](Real volume) { return reach > (exact ? 0.5 : 2) * std::pow(volume, power); };
  const std::span<const Real> volumes = mesh.geometry().cell_volumes().host();
  return 2 * std::ranges::count_if(volumes, is_reached) > std::ssize(volumes);
}

std::size_t bytes_of(const FlowCase& settings, const Mesh& mesh, MemorySpace space) {
  const Topology& t = mesh.topology();
  const bool exact = settings.method == FlowMethod::ExactFractionalStep;
  const std::size_t averages = averages_of(settings);

  std::size_t tables = t.faces_of_cell().bytes() + t.cells_of_face().bytes();
  tables += t.faces_of_cell().bytes() + t.faces_of_cell().entries() * scalar;  // the pressure's matrix
  const FaceStencil stencil(t, GradientJumps(mesh));                           // momentum's two matrices
  tables += bytes_of_matrix(stencil.faces_of_face(), 2 * (scalar + rounded_scalar), space);
  const bool inverts =
      settings.flow.momentum_preconditioning != Preconditioning::None && has_only_simplices(mesh);
  if (inverts) tables += count(t.faces()) * 2 * at(t.dimension() + 1) * (sizeof(Index) + rounded_scalar);
  if (settings.flow.pressure_preconditioning == Preconditioning::Multigrid) {
    tables += bytes_of_multigrid(count(t.cells()), t.faces_of_cell().entries(), space);
  }
  const bool reaches_far = expects_correction_between_nodes(settings, mesh);
  if (reaches_far && !exact) {
    tables += bytes_of_multigrid(count(t.nodes()), node_pairs(t, space), space, 5 * rounded_vector);
    tables += count(t.nodes()) * 2 * rounded_vector + count(t.faces()) * rounded_scalar;
    tables += 2 * t.nodes_of_face().bytes();
    tables += 126 * 126 * rounded_scalar;  // the inverse on the coarsest level
  }
  if (exact) tables += t.edges_of_face().bytes() + t.faces_of_edge().bytes();
  const bool by_multigrid =
      exact && settings.flow.streamfunction_preconditioning == Preconditioning::Multigrid;
  if (by_multigrid) {
    const std::size_t pairs = node_pairs(t, space);
    const std::size_t value = t.dimension() == 2 ? rounded_scalar : rounded_vector;
    tables += bytes_of_multigrid(count(t.nodes()), pairs, space, 5 * value) + count(t.nodes()) * 2 * value;
    tables += t.nodes_of_edge().bytes() + t.edges_of_node().bytes() + count(t.edges()) * value;
    tables += stencil.faces_of_face().places(space) * rounded_scalar + count(t.faces()) * 2 * rounded_scalar;
    tables += count(t.edges()) * (6 * rounded_scalar + 1);
    if (reaches_far) {
      tables += bytes_of_multigrid(count(t.nodes()), pairs, space, 5 * value) + count(t.nodes()) * value;
      tables +=
          2 * (count(t.edges()) + count(t.faces())) * rounded_scalar + count(t.cells()) * rounded_vector;
      tables += 126 * 126 * rounded_scalar;  // the inverse on the coarsest level
    }
  }

  std::size_t per_cell = vector + scalar;    // geometry
  per_cell += 3 * scalar + scalar + vector;  // three levels of time; pressure and velocity
  per_cell += 3 * vector;                    // momentum
  if (upwinds(settings.flow)) per_cell += 2 * vector;
  if (upwinds_linearly(settings.flow)) per_cell += 2 * tensor;
  per_cell += 11 * scalar + sizeof(Index);        // projection
  per_cell += scalar;                             // the method's
  per_cell += scalar + history * rounded_scalar;  // its guesses
  per_cell += averages * scalar;
  per_cell += 2 * tensor + vector;            // the velocity at centroids, where it is written
  std::size_t per_face = 2 * vector;          // geometry
  per_face += 3 * (3 * scalar + 2 * vector);  // three levels of time
  per_face += 5 * scalar + vector + 1;        // forces
  per_face += stage_count(settings.flow.scheme) * 2 * scalar;
  if (settings.flow.mean_flow) {  // its path, and a level for what a unit force does
    per_face += scalar + 3 * scalar + 2 * vector;
    per_cell += scalar;
  }
  per_face += scalar + 3 * vector;  // momentum
  if (upwinds(settings.flow)) per_face += vector;
  per_face += vector + sizeof(Vector4<Real>) + 7 * rounded_vector + 6 * rounded_scalar + 1;  // its solvers
  if (inverts) per_face += rounded_vector;
  // And their guesses: those of convection are of its first solve alone where momentum's condenses it, those
  // of velocities where the streamfunction's gives them. All share one residual.
  const bool condenses = exact || stage_count(settings.flow.scheme) > 0 || settings.flow.viscosity == 0;
  constexpr std::size_t depth = solution_history_depth;
  per_face += ((exact ? 0 : depth) + depth + (condenses ? depth : 1) + 1) * 3 * rounded_scalar;
  per_face += scalar;                                                           // projection
  if (!exact && stage_count(settings.flow.scheme) > 0) per_face += 4 * scalar;  // its solve in the norm of M
  if (!exact && stage_count(settings.flow.scheme) == 0) {  // where it looks for its pressure
    per_cell += 5 * scalar;
    per_face += scalar + vector;
  }
  if (exact) {  // the streamfunction's
    per_face += 4 * scalar + 3 * vector + 7 * rounded_vector + (2 + 3 * history) * rounded_scalar;
  }
  if (by_multigrid) per_face += 3 * rounded_vector + 2 * rounded_scalar;  // tangential velocities
  per_face += averages * vector;
  if (settings.time.steady) per_face += vector;  // the velocity of the step before
  if (!ConvectedVelocity::shares(mesh).empty()) {
    per_cell += vector + tensor;
    per_face += scalar + sizeof(ConvectedVelocity::FromCells) + vector;
  }
  const std::size_t per_edge = exact ? 4 * scalar + (6 + history) * rounded_scalar + 1 : 0;
  tables += count(t.boundary_faces()) * (2 * scalar + vector);  // what the boundary gives
  return tables + count(t.cells()) * per_cell + count(t.faces()) * per_face + count(t.edges()) * per_edge;
}

}  // namespace

std::size_t device_bytes(const LoadedCase& loaded, MemorySpace space) {
  return std::visit([&](const auto& settings) { return sums + bytes_of(settings, *loaded.mesh, space); },
                    loaded.settings);
}

void require_device_memory(const Executor& executor, const LoadedCase& loaded) {
  if (executor.space() == MemorySpace::Host) return;
  const Communicator& ranks = loaded.mesh->domain().communicator();
  // By rank: its device, or itself where that is its own, as bits; the bytes that it needs; its cells.
  std::vector<Real> devices(at(ranks.ranks())), bytes = devices, cells = devices;
  const std::size_t mine = at(ranks.rank());
  const std::string name = device_name(executor.space());
  devices[mine] = std::bit_cast<Real>(name.empty() ? mine : std::hash<std::string>()(name));
  bytes[mine] = static_cast<Real>(device_bytes(loaded, executor.space()));
  cells[mine] = static_cast<Real>(loaded.mesh->domain().halo<Cell>().owned().size());
  for (std::vector<Real>* values : {&devices, &bytes, &cells}) ranks.share(*values);
  int ranks_here = 0;
  Real bytes_here = 0, cells_here = 0;
  for (std::size_t rank = 0; rank < devices.size(); ++rank) {
    if (std::bit_cast<std::uint64_t>(devices[rank]) != std::bit_cast<std::uint64_t>(devices[mine])) continue;
    ++ranks_here;
    bytes_here += bytes[rank];
    cells_here += cells[rank];
  }
  const auto free = static_cast<Real>(device_memory(executor.space()).free);
  if (bytes_here <= free) return;
  const Real per_cell = bytes_here / cells_here;
  throw InputError(fmt::format(
      "the run needs {:.3g} GB of the device's memory{}, {:.0f} bytes per cell, and {:.3g} GB are free: a "
      "mesh of this kind may have {:.3g} cells, this one has {:.3g}; use a smaller mesh{} or --backend cpu",
      1e-9 * bytes_here, ranks_here > 1 ? fmt::format(" for the {} ranks that share it", ranks_here) : "",
      per_cell, 1e-9 * free, free / per_cell, cells_here, ranks.ranks() > 1 ? ", more GPUs" : ""));
}

}  // namespace curlew
