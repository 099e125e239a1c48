// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/gather.hpp"

#include <algorithm>
#include <utility>

#include "kernels/reduction.hpp"

namespace curlew {

namespace {

/// The rows of all ranks, in the order of the whole mesh.
template <class From, class To>
IncidenceTable<From, To> gather_table(const Domain& domain, const IncidenceTable<From, To>& table) {
  const Communicator& ranks = domain.communicator();
  const Halo<To>& halo = domain.halo<To>();
  const auto rows = table.view(MemorySpace::Host);
  std::vector<Index> lengths(at(domain.halo<From>().all().size()), 0), entries;
  for (const Id<From> i : domain.halo<From>().owned()) {
    lengths[at(i.value())] = rows[i].size();
    for (const auto [j, sign] : rows[i])
      entries.push_back(incidence_entry::make(static_cast<Index>(halo.global(j)), sign < 0));
  }
  const Gathering<From> gathering(domain);
  const std::vector<Index> all_lengths = gathering.gather(std::span<const Index>(lengths));
  if (ranks.rank() > 0) {
    ranks.send(0, std::as_bytes(std::span(entries)));
    return {};
  }
  std::vector<Index> starts{0};
  for (const Index length : all_lengths) starts.push_back(starts.back() + length);
  std::vector<Index> all_entries(at(starts.back()));
  for (int rank = 0; rank < ranks.ranks(); ++rank) {
    if (rank > 0) entries = receive_values<Index>(ranks, rank);
    auto next = entries.begin();
    for (const GlobalIndex i : gathering.owned_by(rank)) {
      const Index length = all_lengths[at(i)];
      std::copy_n(next, length, all_entries.begin() + starts[at(i)]);
      next += length;
    }
  }
  return IncidenceTable<From, To>(std::move(starts), std::move(all_entries));
}

}  // namespace

std::optional<Topology> gather_topology(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  const Domain& domain = mesh.domain();
  const bool here = domain.communicator().rank() == 0;
  if (domain.communicator().ranks() == 1) return topology;
  TopologyParts whole;
  whole.dimension = topology.dimension();
  whole.nodes = static_cast<Index>(domain.halo<Node>().total());
  whole.edges = static_cast<Index>(domain.halo<Edge>().total());
  whole.faces_of_cell = gather_table(domain, topology.faces_of_cell());
  whole.cells_of_face = gather_table(domain, topology.cells_of_face());
  whole.edges_of_face = gather_table(domain, topology.edges_of_face());
  whole.faces_of_edge = gather_table(domain, topology.faces_of_edge());
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
