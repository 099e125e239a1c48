// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/homology/homology.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "mesh/disjoint_sets.hpp"
#include "mesh/homology/dual_tree.hpp"

namespace curlew {

namespace {

Index connected_parts(const Topology& topology) {
  return connected_by(topology.nodes_of_cell(), topology.nodes()).sets();
}

struct Boundary {
  bool manifold;
  Index surfaces;  ///< connected through edges
};

/// A fan is a set of corners (a face and one of its nodes) joined through edges at the node; on a manifold
/// there are as many fans as nodes.
Boundary survey_boundary(const Topology& topology) {
  const auto nodes_of_face = topology.nodes_of_face().view(MemorySpace::Host);
  const auto edges_of_face = topology.edges_of_face().view(MemorySpace::Host);
  const auto nodes_of_edge = topology.nodes_of_edge().view(MemorySpace::Host);
  const Range<Face> faces = topology.boundary_faces();
  const Index first_corner = nodes_of_face.start(Id<Face>(faces.first()));
  const Index corners = nodes_of_face.start(Id<Face>(faces.last())) - first_corner;

  struct Side {
    Index face = -1;
    std::array<Index, 2> corners{};
    Index count = 0;
  };
  std::vector<Side> sides(at(topology.edges().size()));
  std::vector<bool> on_boundary(at(topology.nodes().size()), false);
  DisjointSets surfaces(at(faces.size())), fans(at(corners));
  for (const Id<Face> f : faces) {
    const auto nodes = nodes_of_face[f];
    for (const auto [n, sign] : nodes) on_boundary[at(n.value())] = true;
    const auto corner_at = [&, row = nodes](Id<Node> n) {
      Index k = 0;
      while (row[k].id != n) ++k;
      return nodes_of_face.start(f) - first_corner + k;
    };
    for (const auto [e, sign] : edges_of_face[f]) {
      const auto ends = nodes_of_edge[e];
      const std::array here{corner_at(ends[0].id), corner_at(ends[1].id)};
      Side& side = sides[at(e.value())];
      if (++side.count == 1) {
        side.face = f.value() - faces.first();
        side.corners = here;
      } else {
        surfaces.join(side.face, f.value() - faces.first());
        for (std::size_t k = 0; k < 2; ++k) fans.join(side.corners[k], here[k]);
      }
    }
  }
  const bool two_faces_at_edges = std::all_of(
      sides.begin(), sides.end(), [](const Side& side) { return side.count == 0 || side.count == 2; });
  const bool one_fan_at_nodes = fans.sets() == std::count(on_boundary.begin(), on_boundary.end(), true);
  return {two_faces_at_edges && one_fan_at_nodes, surfaces.sets()};
}

/// The dual tree of a complex of which all faces are free: it enters every cell through a face, but for the
/// first of each part that has no boundary.
DualTree tree_of_cells(const Topology& topology) {
  return DualTree(topology, std::vector<bool>(at(topology.faces().size()), false));
}

Index closed_parts(const DualTree& tree) {
  return static_cast<Index>(tree.closed_roots().size());
}

/// Removes, again and again, a face with an edge that no other face has. Returns how many.
Index collapse_faces(const Topology& topology, std::vector<bool>& collapsed) {
  const auto edges_of_face = topology.edges_of_face().view(MemorySpace::Host);
  const auto faces_of_edge = topology.faces_of_edge().view(MemorySpace::Host);
  std::vector<Index> faces_left(at(topology.edges().size()), 0), queue;
  for (const Id<Edge> e : topology.edges()) {
    for (const auto [f, sign] : faces_of_edge[e]) faces_left[at(e.value())] += !collapsed[at(f.value())];
    if (faces_left[at(e.value())] == 1) queue.push_back(e.value());
  }
  Index removed = 0;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    if (faces_left[at(queue[next])] != 1) continue;
    for (const auto [f, sign] : faces_of_edge[Id<Edge>(queue[next])]) {
      if (collapsed[at(f.value())]) continue;
      collapsed[at(f.value())] = true;
      ++removed;
      for (const auto [e, orientation] : edges_of_face[f]) {
        if (--faces_left[at(e.value())] == 1) queue.push_back(e.value());
      }
    }
  }
  return removed;
}

/// Rank modulo 2 of the columns of the faces that are left: each is reduced by earlier ones until its last
/// edge is its own or nothing is left of it.
Index rank_of_rest(const Topology& topology, const std::vector<bool>& collapsed) {
  std::vector<std::vector<Index>> columns;
  std::vector<Index> column_of_pivot(at(topology.edges().size()), -1);
  std::vector<Index> column, sum;
  for (const Id<Face> f : topology.faces()) {
    if (collapsed[at(f.value())]) continue;
    column.clear();
    for (const auto [e, sign] : topology.edges_of_face()[f]) {
      // An edge on both sides of a face, in a periodic mesh one block wide, counts for nothing.
      if (!column.empty() && column.back() == e.value()) {
        column.pop_back();
      } else {
        column.push_back(e.value());
      }
    }
    while (!column.empty() && column_of_pivot[at(column.back())] >= 0) {
      const std::vector<Index>& other = columns[at(column_of_pivot[at(column.back())])];
      sum.clear();
      std::set_symmetric_difference(column.begin(), column.end(), other.begin(), other.end(),
                                    std::back_inserter(sum));
      column.swap(sum);
    }
    if (column.empty()) continue;
    column_of_pivot[at(column.back())] = static_cast<Index>(columns.size());
    columns.push_back(column);
  }
  return static_cast<Index>(columns.size());
}

}  // namespace

BettiNumbers betti_numbers(const Topology& topology) {
  if (topology.dimension() == 2) {
    const Index b0 = connected_parts(topology);
    const Index b2 = topology.is_periodic() ? closed_parts(tree_of_cells(topology)) : 0;
    const Index characteristic = topology.nodes().size() - topology.faces().size() + topology.cells().size();
    return {b0, b0 + b2 - characteristic, b2};
  }
  if (topology.is_periodic()) return betti_numbers_by_rank(topology);
  const Boundary boundary = survey_boundary(topology);
  if (!boundary.manifold) return betti_numbers_by_rank(topology);
  const Index b0 = connected_parts(topology);
  const Index b2 = boundary.surfaces - b0;
  const Index characteristic =
      topology.nodes().size() - topology.edges().size() + topology.faces().size() - topology.cells().size();
  return {b0, b0 + b2 - characteristic, b2};
}

BettiNumbers betti_numbers_by_rank(const Topology& topology) {
  REQUIRE(topology.dimension() == 3, "ranks of boundary matrices are worked out in three dimensions only");
  const Index b0 = connected_parts(topology);
  const Index rank_of_edges = topology.nodes().size() - b0;
  const DualTree tree = tree_of_cells(topology);
  const Index rank_of_cells = topology.cells().size() - closed_parts(tree);
  std::vector<bool> collapsed;  // with a cell or, later on, an edge
  for (const Id<Face> f : topology.faces()) collapsed.push_back(tree.contains(f));
  Index rank_of_faces = collapse_faces(topology, collapsed);
  rank_of_faces += rank_of_rest(topology, collapsed);
  return {b0, topology.edges().size() - rank_of_edges - rank_of_faces,
          topology.faces().size() - rank_of_faces - rank_of_cells};
}

}  // namespace curlew
