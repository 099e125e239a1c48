// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/partition.hpp"

#include <fmt/format.h>
#include <metis.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "kernels/counted.hpp"
#include "kernels/error.hpp"
#include "mesh/disjoint_sets.hpp"

namespace curlew {

namespace {

/// Cells and how many faces each pair of them shares, as METIS wants it.
struct CellGraph {
  std::vector<idx_t> starts{0}, neighbours, weights;
};

CellGraph graph_of(const Topology& topology) {
  CellGraph graph;
  std::vector<idx_t> row;
  for (const Id<Cell> c : topology.cells()) {
    row.clear();
    for (const auto [f, sign] : topology.faces_of_cell()[c]) {
      for (const auto [other, outward] : topology.cells_of_face()[f]) {
        if (other != c) row.push_back(other.value());
      }
    }
    std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (k > 0 && row[k] == row[k - 1]) {  // a periodic mesh
        ++graph.weights.back();
      } else {
        graph.neighbours.push_back(row[k]);
        graph.weights.push_back(1);
      }
    }
    graph.starts.push_back(static_cast<idx_t>(graph.neighbours.size()));
  }
  return graph;
}

bool connected(const Topology& topology) {
  return connected_by(topology.cells_of_face(), topology.cells()).sets() == 1;
}

}  // namespace

Partition make_partition(const Topology& topology, Index parts, std::span<const Index> cost) {
  const Index cells = topology.cells().size();
  REQUIRE(parts >= 1, fmt::format("a mesh is divided into at least one part, not {}", parts));
  REQUIRE(cost.empty() || cost.size() == at(cells),
          fmt::format("the mesh has {} cells, got the cost of {}", cells, cost.size()));
  Partition partition{parts, std::vector<Index>(at(cells), 0)};
  if (parts == 1) return partition;
  if (parts >= cells) {
    std::iota(partition.part_of_cell.begin(), partition.part_of_cell.end(), 0);
    return partition;
  }
  CellGraph graph = graph_of(topology);
  std::vector<idx_t> weights(at(cells));
  for (const Id<Cell> c : topology.cells()) {
    weights[at(c.value())] = cost.empty() ? topology.faces_of_cell()[c].size() : cost[at(c.value())];
  }
  idx_t count = cells, constraints = 1, wanted = parts, cut = 0;
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_NUMBERING] = 0;
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_CONTIG] = connected(topology) ? 1 : 0;  // METIS refuses it on others
  static_assert(sizeof(idx_t) == sizeof(Index));
  const int status = METIS_PartGraphKway(&count, &constraints, graph.starts.data(), graph.neighbours.data(),
                                         weights.data(), nullptr, graph.weights.data(), &wanted, nullptr,
                                         nullptr, options, &cut, partition.part_of_cell.data());
  REQUIRE(status == METIS_OK,
          fmt::format("METIS could not divide the mesh into {} parts: status {}", parts, status));
  return partition;
}

PartitionQuality assess(const Topology& topology, const Partition& partition) {
  const auto part = [&](Id<Cell> c) { return at(partition.part_of_cell[at(c.value())]); };
  const std::size_t parts = at(partition.parts);
  PartitionQuality quality;
  quality.parts = partition.parts;
  std::vector<Index> cells(parts, 0), pieces(parts, 0), ghosts(parts, 0);
  for (const Id<Cell> c : topology.cells()) ++cells[part(c)];
  DisjointSets sets(at(topology.cells().size()));
  for (const Id<Face> f : topology.interior_faces()) {
    const auto two = topology.cells_of_face()[f];
    if (part(two[0].id) == part(two[1].id))
      sets.join(two[0].id.value(), two[1].id.value());
    else
      ++quality.cut_faces;
  }
  std::vector<std::set<std::size_t>> neighbours(parts);
  std::vector<std::size_t> about;
  for (const Id<Cell> c : topology.cells()) {
    about.clear();
    for (const auto [n, sign] : topology.nodes_of_cell()[c]) {
      for (const auto [other, outward] : topology.cells_of_node()[n]) {
        if (part(other) != part(c)) about.push_back(part(other));
      }
    }
    std::sort(about.begin(), about.end());
    about.erase(std::unique(about.begin(), about.end()), about.end());
    for (const std::size_t p : about) ++ghosts[p];
    neighbours[part(c)].insert(about.begin(), about.end());
  }
  for (const Id<Cell> c : topology.cells()) {
    if (sets.root(c.value()) == c.value()) ++pieces[part(c)];
  }
  quality.empty_parts = static_cast<Index>(std::ranges::count(cells, 0));
  quality.least_cells = std::ranges::min(cells);
  quality.most_cells = std::ranges::max(cells);
  quality.imbalance = static_cast<Real>(quality.most_cells) * static_cast<Real>(parts) /
                      static_cast<Real>(topology.cells().size());
  quality.cut = topology.interior_faces().empty() ? 0
                                                  : static_cast<Real>(quality.cut_faces) /
                                                        static_cast<Real>(topology.interior_faces().size());
  for (const auto& set : neighbours) {
    quality.most_neighbours = std::max(quality.most_neighbours, static_cast<Index>(set.size()));
    quality.mean_neighbours += static_cast<Real>(set.size()) / static_cast<Real>(parts);
  }
  quality.most_ghosts = std::ranges::max(ghosts);
  quality.most_pieces = std::ranges::max(pieces);
  return quality;
}

std::string description(const PartitionQuality& q) {
  return fmt::format(
      "{} of {} to {} cells (imbalance {:.3f}{}); {} cut ({:.2f} %); up to {} (mean "
      "{:.1f}) and "
      "{} ghost cells; {}",
      counted(q.parts, "part"), q.least_cells, q.most_cells, q.imbalance,
      q.empty_parts > 0 ? fmt::format(", {} empty", q.empty_parts) : std::string(),
      counted(q.cut_faces, "face"), 100 * q.cut, counted(q.most_neighbours, "neighbour"), q.mean_neighbours,
      q.most_ghosts,
      q.most_pieces <= 1 ? std::string("every part connected")
                         : fmt::format("up to {} separate pieces in a part", q.most_pieces));
}

}  // namespace curlew
