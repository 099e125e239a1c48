// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/gathered_topology.hpp"

#include <utility>

#include "kernels/reduction.hpp"
#include "mesh/parallel/gather.hpp"

namespace curlew {

namespace {

/// The rows of all ranks, in the order of the whole mesh.
template <class From, class To>
IncidenceTable<From, To> gathered_table(const Domain& domain, const IncidenceTable<From, To>& table) {
  const Halo<To>& halo = domain.halo<To>();
  const auto rows = table.view(MemorySpace::Host);
  Lists<Index> owned;
  for (const Id<From> i : domain.halo<From>().owned()) {
    for (const auto [j, sign] : rows[i])
      owned.entries.push_back(incidence_entry::make(static_cast<Index>(halo.global(j)), sign < 0));
    owned.starts.push_back(static_cast<std::int64_t>(owned.entries.size()));
  }
  Lists<Index> whole = gathered_lists<From>(domain, owned);
  std::vector<Index> starts;
  for (const std::int64_t start : whole.starts) starts.push_back(static_cast<Index>(start));
  return IncidenceTable<From, To>(std::move(starts), std::move(whole.entries));
}

}  // namespace

std::optional<Topology> gathered_topology(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  const Domain& domain = mesh.domain();
  const bool here = domain.communicator().rank() == 0;
  if (domain.communicator().ranks() == 1) return topology;
  TopologyParts whole;
  whole.dimension = topology.dimension();
  whole.nodes = static_cast<Index>(domain.halo<Node>().total());
  whole.edges = static_cast<Index>(domain.halo<Edge>().total());
  whole.faces_of_cell = gathered_table(domain, topology.faces_of_cell());
  whole.cells_of_face = gathered_table(domain, topology.cells_of_face());
  whole.edges_of_face = gathered_table(domain, topology.edges_of_face());
  whole.faces_of_edge = gathered_table(domain, topology.faces_of_edge());
  // Patches are consecutive in the whole mesh.
  const auto total = [&](Index mine) {
    const auto term = static_cast<Real>(mine);
    return static_cast<Index>(sum_of_terms(domain.communicator(), std::span(&term, 1)));
  };
  whole.interior_faces = total(topology.interior_faces().size());
  Index first = whole.interior_faces;
  for (const Patch& patch : topology.patches()) {
    const Index size = total(patch.faces.size());
    whole.patches.push_back({patch.name, Range<Face>(first, first + size)});
    first += size;
  }
  if (!here) return std::nullopt;
  return Topology(std::move(whole));
}

}  // namespace curlew
