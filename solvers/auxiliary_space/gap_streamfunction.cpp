// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/auxiliary_space/gap_streamfunction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/field.hpp"
#include "mesh/parallel/exchange.hpp"
#include "mesh/parallel/gather.hpp"
#include "mesh/parallel/lowest_labels.hpp"
#include "solvers/multigrid/divided_unknowns.hpp"
#include "solvers/multigrid/sparse_rows.hpp"

namespace curlew {

namespace {

/// Walls are told apart by a number that depends on the whole mesh alone; this is none.
constexpr GlobalIndex none = -1;

/// Faces on the boundary all of whose edges are held, patch by patch and in the order of the whole mesh, with
/// the wall that each is part of.
struct Walls {
  std::vector<Id<Face>> faces;  ///< of all ranks' those that this rank has
  Field<Face, GlobalIndex> wall;
};

/// Each patch is one wall.
Walls patches_of_walls(const Mesh& mesh, const std::vector<std::uint8_t>& edge_is_free) {
  const Topology& topology = mesh.topology();
  Walls walls{{}, {Executor::serial(), mesh.domain().extent<Face>(), "wall", "1"}};
  const View<Face, GlobalIndex> wall_of = walls.wall.view();
  for (const Id<Face> f : walls.wall.range()) wall_of[f] = none;
  for (std::size_t p = 0; p < topology.patches().size(); ++p) {
    for (const Id<Face> f : topology.faces_of_patch(p)) {
      bool is_wall = true;
      for (const auto [e, sign] : topology.edges_of_face()[f])
        is_wall = is_wall && edge_is_free[at(e.value())] == 0;
      if (!is_wall) continue;
      walls.faces.push_back(f);
      wall_of[f] = static_cast<GlobalIndex>(p);
    }
  }
  return walls;
}

/// What goes on without a sharp edge is one wall, named by the lowest of its faces.
void join_smooth_walls(const Mesh& mesh, Walls& walls) {
  constexpr Real sharp = 0.5;  // cosine of the angle
  const Topology& topology = mesh.topology();
  const Halo<Face>& halo = mesh.domain().halo<Face>();
  const View<Face, GlobalIndex> wall_of = walls.wall.view();
  const auto direction = [&](Id<Face> f) {
    const Vector3 area = mesh.geometry().face_areas()[at(f.value())];
    return area / norm(area);
  };
  DisjointSets sets(at(walls.wall.size()));  // of what is connected on this rank
  for (const Id<Face> f : walls.faces) {
    for (const auto [e, sign] : topology.edges_of_face()[f]) {
      for (const auto [g, other] : topology.faces_of_edge()[e]) {
        if (wall_of[g] != none && dot(direction(f), direction(g)) > sharp) sets.join(f.value(), g.value());
      }
    }
  }
  for (const Id<Face> f : walls.faces) wall_of[f] = halo.global(f);
  spread_lowest(mesh.domain(), std::move(sets), walls.wall);
}

/// The wall that is nearest to each node, counted in edges, the lowest of those as near, and its direction
/// out of the domain.
class NearestWalls {
 public:
  NearestWalls(const Mesh& mesh, const Walls& walls)
      : mesh_(mesh),
        wall_(Executor::serial(), mesh.domain().extent<Node>(), "nearest wall", "1"),
        normal_(Executor::serial(), wall_.extent(), "its direction", "1") {
    const Topology& topology = mesh.topology();
    for (const Id<Node> n : wall_.range()) wall_.view()[n] = none;
    for (const Id<Face> f : walls.faces) {
      for (const auto [e, sign] : topology.edges_of_face()[f]) {
        for (const auto [n, end] : topology.nodes_of_edge()[e])
          reach(n, walls.wall.view()[f], mesh.geometry().face_areas()[at(f.value())]);
      }
    }
    while (spread()) {
    }
  }

  GlobalIndex wall(Id<Node> n) const { return wall_.view()[n]; }
  /// Zero where parts of one wall have their backs to each other.
  Vector3 normal(Id<Node> n) const {
    const Vector3 sum = normal_.view()[n];
    const Real length = norm(sum);
    return length > 0 ? sum / length : Vector3{};
  }

 private:
  void reach(Id<Node> n, GlobalIndex wall, Vector3 normal) {
    if (wall_.view()[n] != none && wall_.view()[n] < wall) return;
    normal_.view()[n] = wall_.view()[n] == wall ? normal_.view()[n] + normal : normal;
    wall_.view()[n] = wall;
  }

  /// To what is one edge further away. Whether anything was.
  bool spread() {
    const Topology& topology = mesh_.topology();
    exchange_ghosts(mesh_.domain(), wall_, normal_);
    const std::vector<GlobalIndex> before = wall_.to_host();
    Index reached = 0;
    for (const Id<Node> n : wall_.owned()) {
      if (before[at(n.value())] != none) continue;
      for (const auto [e, sign] : topology.edges_of_node()[n]) {
        for (const auto [m, end] : topology.nodes_of_edge()[e])
          if (before[at(m.value())] != none) reach(n, before[at(m.value())], normal(m));
      }
      if (wall_.view()[n] != none) ++reached;
    }
    return total_over(mesh_.domain().communicator(), reached) > 0;
  }

  const Mesh& mesh_;
  Field<Node, GlobalIndex> wall_;
  Field<Node, Vector3> normal_;
};

/// Two walls, and how much they face each other: a sum over the edges from a node that is nearest to one to a
/// node that is nearest to the other. An edge counts +1 where the walls look at each other, 0 where they
/// stand at right angles and -1 where they look the same way; a held edge, where they meet, counts -1.
struct Facing {
  GlobalIndex first, second, count;
};

std::vector<Facing> facing_walls(const Mesh& mesh, const std::vector<std::uint8_t>& edge_is_free,
                                 const NearestWalls& nearest) {
  std::map<std::pair<GlobalIndex, GlobalIndex>, GlobalIndex> counts;
  for (const Id<Edge> e : mesh.domain().halo<Edge>().owned()) {
    const auto ends = mesh.topology().nodes_of_edge()[e];
    const Id<Node> n = ends[0].id, m = ends[1].id;
    const auto [low, high] = std::minmax({nearest.wall(n), nearest.wall(m)});
    if (low == high || low == none) continue;
    counts[{low, high}] -=
        edge_is_free[at(e.value())] == 0 ? 1 : std::lround(dot(nearest.normal(n), nearest.normal(m)));
  }
  const auto list = [&] {
    std::vector<Facing> result;
    for (const auto& [walls, count] : counts) result.push_back({walls.first, walls.second, count});
    return result;
  };
  const Communicator& ranks = mesh.domain().communicator();
  std::vector<Communicator::Letter> letters;
  if (ranks.rank() > 0) {
    Packer packer;
    packer << list();
    letters.push_back({0, std::move(packer.bytes)});
  }
  for (const Communicator::Letter& letter : ranks.deliver(std::move(letters))) {
    std::vector<Facing> theirs;
    Unpacker unpacker(letter.bytes);
    unpacker >> theirs;
    for (const Facing& f : theirs) counts[{f.first, f.second}] += f.count;
  }
  std::vector<Facing> all = list();
  broadcast(ranks, all);
  return all;
}

/// Walls on one of two sides so that those that face each other differ and those that do the reverse do not:
/// what counts most first, as far as that leaves a choice.
std::map<GlobalIndex, int> two_sides(std::vector<Facing> facing) {
  std::ranges::sort(facing, [](const Facing& a, const Facing& b) {
    return std::tuple(-std::abs(a.count), a.first, a.second) <
           std::tuple(-std::abs(b.count), b.first, b.second);
  });
  std::map<GlobalIndex, Index> number;
  for (const Facing& f : facing)
    for (const GlobalIndex wall : {f.first, f.second})
      number.emplace(wall, static_cast<Index>(number.size()));
  // Of each wall itself and its opposite: sets of what must be on one side.
  DisjointSets sets(2 * number.size());
  for (const Facing& f : facing) {
    const Index a = 2 * number[f.first], b = 2 * number[f.second], other = f.count > 0 ? 1 : 0;
    if (f.count == 0 || sets.root(a) == sets.root(b) || sets.root(a) == sets.root(b + 1)) continue;
    sets.join(a, b + other);
    sets.join(a + 1, b + 1 - other);
  }
  std::map<GlobalIndex, int> side;
  for (const auto& [wall, k] : number) side[wall] = sets.root(2 * k) < sets.root(2 * k + 1) ? 0 : 1;
  return side;
}

/// Half of what χ rises by along each edge; none if there is but one side.
std::optional<std::vector<float>> half_jumps(const Mesh& mesh, const std::vector<std::uint8_t>& edge_is_free,
                                             const Walls& walls) {
  const NearestWalls nearest(mesh, walls);
  const std::map<GlobalIndex, int> side = two_sides(facing_walls(mesh, edge_is_free, nearest));
  if (std::ranges::none_of(side, [](const auto& wall) { return wall.second == 1; })) return std::nullopt;
  std::vector<float> half(edge_is_free.size(), 0);
  for (const Id<Edge> e : mesh.topology().edges()) {
    if (edge_is_free[at(e.value())] == 0) continue;
    Real jump = 0;
    for (const auto [n, sign] : mesh.topology().nodes_of_edge()[e]) {
      // There is none where a part of the domain has no walls, or one that is alone.
      const auto wall = side.find(nearest.wall(n));
      if (wall != side.end()) jump += sign * wall->second;
    }
    half[at(e.value())] = static_cast<float>(jump / 2);
  }
  return half;
}

/// Πᵀ R M C Π, Π the shares.
SymmetricMatrix energy(const Mesh& mesh, const FaceMatrix& mass, const std::vector<float>& share) {
  const Topology& topology = mesh.topology();
  const Halo<Face>& halo = mesh.domain().halo<Face>();
  const Index nodes = topology.nodes().size(), faces = topology.faces().size();
  const SparseRows curl = gather_rows(faces, nodes, [&](Index f, RowAccumulator& row) {
    for (const auto [e, sign] : topology.edges_of_face()[Id<Face>(f)]) {
      if (share[at(e.value())] == 0) continue;
      for (const auto [n, end] : topology.nodes_of_edge()[e])
        row.add(n.value(), sign * static_cast<Real>(share[at(e.value())]));
    }
  });
  const auto faces_of_face = mass.stencil().faces_of_face().view(MemorySpace::Host);
  const auto entry = mass.entries(MemorySpace::Host);
  const SparseRows circulation = gather_rows(faces, nodes, [&](Index f, RowAccumulator& row) {
    if (curl.starts[at(f)] == curl.starts[at(f) + 1]) return;
    Id<FacePair> pair(faces_of_face.start(Id<Face>(f)));
    const Real diagonal = entry[pair];  // the first of a row
    for (const auto [g, one] : faces_of_face[Id<Face>(f)]) {
      const Real value = without_rounding(entry[pair], diagonal);
      if (value != 0) row.add_row(curl, g.value(), value);
      ++pair;
    }
  });
  std::vector<GlobalIndex> names;
  for (const Id<Face> f : halo.all()) names.push_back(halo.global(f));
  const SparseRows rotation = transpose(curl, nodes, in_order_of_names(faces, names));
  const Index owned = mesh.domain().extent<Node>().owned;
  return split(gather_rows(nodes, nodes, [&](Index n, RowAccumulator& row) {
    if (n >= owned) return;
    for (Index k = rotation.starts[at(n)]; k < rotation.starts[at(n) + 1]; ++k)
      row.add_row(circulation, rotation.columns[at(k)], rotation.values[at(k)]);
  }));
}

}  // namespace

std::optional<GapStreamfunction> gap_streamfunction(const Mesh& mesh, const FaceMatrix& mass,
                                                    const std::vector<std::uint8_t>& edge_is_free) {
  if (mesh.topology().dimension() != 3) return std::nullopt;
  Walls walls = patches_of_walls(mesh, edge_is_free);
  std::optional<std::vector<float>> share = half_jumps(mesh, edge_is_free, walls);
  if (!share) {
    join_smooth_walls(mesh, walls);
    share = half_jumps(mesh, edge_is_free, walls);
  }
  if (!share) return std::nullopt;
  SymmetricMatrix matrix = energy(mesh, mass, *share);
  return GapStreamfunction{std::move(*share), std::move(matrix)};
}

}  // namespace curlew
