// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/periodic.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/parallel.hpp"
#include "mesh/disjoint_sets.hpp"
#include "mesh/where.hpp"

namespace curlew {

namespace {

/// How far a node may be from its image, relative to the size of the face.
constexpr Real tolerance = 1e-4;

/// The two patches of a pair.
struct Sides {
  const Patch *first, *second;
};

const Patch& find_patch(const Topology& topology, const std::string& name) {
  const auto& patches = topology.patches();
  const auto found = std::ranges::find(patches, name, &Patch::name);
  if (found != patches.end()) return *found;
  std::vector<std::string> names;
  for (const Patch& patch : patches) names.push_back(patch.name);
  throw InputError(fmt::format("the mesh has no patch '{}' to make periodic; its patches are '{}'", name,
                               fmt::join(names, "', '")));
}

std::vector<Sides> find_sides(const Topology& topology, std::span<const PeriodicPair> pairs) {
  std::vector<Sides> sides;
  std::vector<const Patch*> taken;
  const auto take = [&](const std::string& name) {
    const Patch* patch = &find_patch(topology, name);
    if (std::ranges::find(taken, patch) != taken.end()) {
      throw InputError(fmt::format(
          "patch '{}' is named twice among the periodic pairs; a patch has one partner, and not itself",
          name));
    }
    taken.push_back(patch);
    return patch;
  };
  for (const PeriodicPair& pair : pairs) {
    const Patch* first = take(pair.first);
    sides.push_back({first, take(pair.second)});
  }
  return sides;
}

/// Two boundary faces that become one, each as one of the two cells sees it.
struct JoinedFaces {
  Id<Face> behind;              ///< of the lower cell: its normal is that of the joined face
  Id<Face> ahead;               ///< of the higher cell
  std::vector<Id<Node>> image;  ///< for each node of `behind`, in its order, the node of `ahead`
};

/// Finds the images of faces of one mesh.
class FaceMatcher {
 public:
  explicit FaceMatcher(const Mesh& mesh)
      : topology_(mesh.topology()),
        positions_(mesh.geometry().node_positions(MemorySpace::Host)),
        areas_(mesh.geometry().face_areas(MemorySpace::Host)),
        centroids_(mesh.geometry().face_centroids_of_cells(MemorySpace::Host)) {}

  Vector3 translation(const Sides& sides) const {
    return centroid(sides.second->faces) - centroid(sides.first->faces);
  }

  /// Appends the pairs of faces in the order of the first patch.
  void match(const Sides& sides, std::vector<JoinedFaces>& joined) const {
    const Vector3 shift = translation(sides);
    struct Candidate {
      Real place;  // along a direction in which the faces of no ordinary mesh line up
      Id<Face> face;
      bool taken = false;
    };
    const auto place_of = [](Vector3 x) { return dot(x, {1, 0.7548776662466927, 0.5698402909980532}); };
    std::vector<Candidate> candidates;
    for (const Id<Face> f : sides.second->faces) candidates.push_back({place_of(middle(f)), f});
    std::ranges::sort(candidates, {}, &Candidate::place);

    for (const Id<Face> f : sides.first->faces) {
      const Real place = place_of(middle(f) + shift), reach = 2 * tolerance * size(f);
      auto candidate = std::ranges::lower_bound(candidates, place - reach, {}, &Candidate::place);
      std::vector<Id<Node>> image;
      for (; candidate != candidates.end() && candidate->place <= place + reach; ++candidate) {
        if (candidate->taken) continue;
        image = image_of_nodes(f, candidate->face, shift);
        if (!image.empty()) break;
      }
      if (image.empty()) fail(sides, *sides.first, *sides.second, f, shift);
      candidate->taken = true;
      joined.push_back(oriented(sides, f, candidate->face, std::move(image)));
    }
    for (const Candidate& candidate : candidates) {
      if (!candidate.taken) fail(sides, *sides.second, *sides.first, candidate.face, -shift);
    }
  }

 private:
  Vector3 middle(Id<Face> f) const { return centroids_(f, 1); }
  /// Of its sides [m].
  Real size(Id<Face> f) const {
    const Real area = norm(areas_[f]);
    return topology_.dimension() == 2 ? area : std::sqrt(area);
  }
  Vector3 centroid(Range<Face> faces) const {
    Real area = 0;
    Vector3 moment{};
    for (const Id<Face> f : faces) {
      area += norm(areas_[f]);
      moment += norm(areas_[f]) * middle(f);
    }
    return moment / area;
  }

  /// For each node of face f, the node of face g that lies where it is moved to; nothing unless g is the
  /// image of f and faces the other way.
  std::vector<Id<Node>> image_of_nodes(Id<Face> f, Id<Face> g, Vector3 shift) const {
    const auto nodes = topology_.nodes_of_face()[f], others = topology_.nodes_of_face()[g];
    if (nodes.size() != others.size() || dot(areas_[f], areas_[g]) >= 0) return {};
    std::vector<Id<Node>> image;
    for (const auto [n, unsigned_entry] : nodes) {
      // Of nodes closer to each other than the tolerance the nearest.
      Real nearest = tolerance * size(f);
      std::optional<Id<Node>> found;
      for (const auto [m, unsigned_too] : others) {
        const Real distance = norm(positions_[n] + shift - positions_[m]);
        if (distance > nearest) continue;
        nearest = distance;
        found = m;
      }
      if (!found || std::ranges::find(image, *found) != image.end()) return {};
      image.push_back(*found);
    }
    return image;
  }

  JoinedFaces oriented(const Sides& sides, Id<Face> f, Id<Face> g, std::vector<Id<Node>> image) const {
    const Id<Cell> cell = topology_.cells_of_face()[f][0].id, other = topology_.cells_of_face()[g][0].id;
    if (cell == other) {
      throw InputError(fmt::format(
          "the mesh is one cell wide between the periodic patches '{}' and '{}' at {}, where a cell would be "
          "its own neighbour; make it two cells wide or more",
          sides.first->name, sides.second->name, where(middle(f))));
    }
    if (cell < other) return {f, g, std::move(image)};
    std::vector<Id<Node>> reversed;
    const auto nodes = topology_.nodes_of_face()[f];
    for (const auto [m, sign] : topology_.nodes_of_face()[g]) {
      reversed.push_back(nodes[static_cast<Index>(std::ranges::find(image, m) - image.begin())].id);
    }
    return {g, f, std::move(reversed)};
  }

  [[noreturn]] void fail(const Sides& sides, const Patch& own, const Patch& other, Id<Face> f,
                         Vector3 shift) const {
    throw InputError(fmt::format(
        "patches '{}' ({} faces) and '{}' ({} faces) are not periodic: moved by {}, the face of '{}' at {} "
        "does not lie on a face of '{}' that faces the other way, within {:g} of its size; give both sides "
        "the "
        "same mesh, in Gmsh by `Periodic {} {{...}} = {{...}} Translate {{...}};`",
        sides.first->name, sides.first->faces.size(), sides.second->name, sides.second->faces.size(),
        where(shift), own.name, where(middle(f)), other.name, tolerance,
        topology_.dimension() == 2 ? "Curve" : "Surface"));
  }

  const Topology& topology_;
  View<Node, const Vector3> positions_;
  View<Face, const Vector3> areas_;
  FaceCentroidsOfCells centroids_;
};

/// Calls `visit(start, end)` for the sides of a face, by the places of their nodes in its row.
template <class Visit>
void visit_sides(Index nodes, const Visit& visit) {
  for (Index k = 0; k < nodes; ++k) visit(k, k + 1 < nodes ? k + 1 : 0);
}

/// The edge of face f that joins two of its nodes.
Id<Edge> edge_between(const Topology& topology, Id<Face> f, Id<Node> a, Id<Node> b) {
  for (const auto [e, sign] : topology.edges_of_face()[f]) {
    const auto ends = topology.nodes_of_edge()[e];
    if (ends[0].id == std::min(a, b) && ends[1].id == std::max(a, b)) return e;
  }
  throw Error(
      fmt::format("face {} has no edge between its nodes {} and {}", f.value(), a.value(), b.value()));
}

/// New numbers of entities of which some have become one: in the order of the lowest of each.
struct Numbering {
  std::vector<Index> number;  ///< one per old entity
  std::vector<Index> lowest;  ///< one per new entity

  explicit Numbering(DisjointSets sets, std::size_t count) : number(count) {
    lowest.reserve(at(sets.sets()));
    for (std::size_t i = 0; i < count; ++i) {
      const Index root = sets.root(static_cast<Index>(i));
      if (at(root) == i) {
        number[i] = static_cast<Index>(lowest.size());
        lowest.push_back(root);
      } else {
        number[i] = number[at(root)];
      }
    }
  }
};

/// The chosen rows of a table, each entry changed by `change(id, sign)`, which gives an incidence_entry.
template <class From, class To, class Change>
IncidenceTable<From, To> chosen_rows(const IncidenceTable<From, To>& table, const std::vector<Index>& rows,
                                     bool sorted, const Change& change) {
  const auto view = table.view(MemorySpace::Host);
  std::vector<Index> starts(rows.size() + 1, 0);
  for (std::size_t i = 0; i < rows.size(); ++i) starts[i + 1] = starts[i] + view[Id<From>(rows[i])].size();
  std::vector<Index> entries(at(starts.back()));
  parallel_for(rows.size(), [&](std::size_t i) {
    const auto first = entries.begin() + starts[i], last = entries.begin() + starts[i + 1];
    auto entry = first;
    for (const auto [to, sign] : view[Id<From>(rows[i])]) *entry++ = change(to, sign);
    if (!sorted) return;
    std::sort(first, last, [](Index a, Index b) {
      return std::pair(incidence_entry::index(a), incidence_entry::sign(a)) <
             std::pair(incidence_entry::index(b), incidence_entry::sign(b));
    });
  });
  return IncidenceTable<From, To>(std::move(starts), std::move(entries));
}

/// Everything between a mesh and its periodic counterpart, step by step.
class Joiner {
 public:
  Joiner(const Mesh& mesh, std::span<const PeriodicPair> pairs)
      : mesh_(mesh),
        old_(mesh.topology()),
        sides_(find_sides(old_, pairs)),
        joined_(match_faces()),
        nodes_(join_nodes(), at(old_.nodes().size())),
        edges_(old_.dimension() == 2 ? nodes_ : Numbering(join_edges(), at(old_.edges().size()))),
        turned_(find_turned_edges()),
        old_face_(choose_faces()) {}

  PeriodicMesh join() {
    std::vector<Id<Node>> node_of_original;
    for (const Index n : nodes_.number) node_of_original.push_back(Id<Node>(n));
    Topology topology = join_topology();
    Geometry geometry = join_geometry(topology);
    Domain domain(topology);
    Mesh::Unfolded unfolded{std::make_shared<const Mesh>(mesh_), old_face_};
    for (const JoinedFaces& joined : joined_) unfolded.faces.push_back(joined.ahead.value());
    return {
        Mesh(std::move(topology), std::move(geometry), std::move(domain), mesh_.notes(), std::move(unfolded)),
        std::move(connections_), std::move(node_of_original)};
  }

 private:
  std::vector<JoinedFaces> match_faces() {
    const FaceMatcher matcher(mesh_);
    std::vector<JoinedFaces> joined;
    const Index interior = old_.interior_faces().last();
    for (const Sides& sides : sides_) {
      const auto first = interior + static_cast<Index>(joined.size());
      matcher.match(sides, joined);
      connections_.push_back(
          {matcher.translation(sides), Range<Face>(first, interior + static_cast<Index>(joined.size()))});
    }
    return joined;
  }

  DisjointSets join_nodes() const {
    DisjointSets sets(at(old_.nodes().size()));
    for (const JoinedFaces& joined : joined_) {
      const auto nodes = old_.nodes_of_face()[joined.behind];
      for (Index k = 0; k < nodes.size(); ++k) sets.join(nodes[k].id.value(), joined.image[at(k)].value());
    }
    return sets;
  }

  /// By the sides of the joined faces, since two edges between the same nodes need not be the same.
  DisjointSets join_edges() const {
    DisjointSets sets(at(old_.edges().size()));
    for (const JoinedFaces& joined : joined_) {
      const auto nodes = old_.nodes_of_face()[joined.behind];
      visit_sides(nodes.size(), [&](Index a, Index b) {
        const Id<Edge> e = edge_between(old_, joined.behind, nodes[a].id, nodes[b].id);
        sets.join(e.value(),
                  edge_between(old_, joined.ahead, joined.image[at(a)], joined.image[at(b)]).value());
      });
    }
    return sets;
  }

  bool is_joined(const Patch& patch) const {
    return std::ranges::any_of(
        sides_, [&](const Sides& sides) { return &patch == sides.first || &patch == sides.second; });
  }

  /// For each new face the old one whose normal and nodes it has.
  std::vector<Index> choose_faces() const {
    std::vector<Index> faces(at(old_.interior_faces().size()));
    std::iota(faces.begin(), faces.end(), 0);
    for (const JoinedFaces& joined : joined_) faces.push_back(joined.behind.value());
    for (const Patch& patch : old_.patches()) {
      if (is_joined(patch)) continue;
      for (const Id<Face> f : patch.faces) faces.push_back(f.value());
    }
    return faces;
  }

  Topology join_topology() const {
    TopologyParts parts;
    parts.dimension = old_.dimension();
    parts.nodes = static_cast<Index>(nodes_.lowest.size());
    parts.edges = static_cast<Index>(edges_.lowest.size());
    parts.cell_types = old_.cell_types();
    parts.region_names = old_.region_names();
    parts.region_of_cell = old_.region_of_cell();
    parts.periodic = true;
    parts.periodic_faces = static_cast<Index>(joined_.size());
    parts.interior_faces = old_.interior_faces().size() + parts.periodic_faces;
    Index next = parts.interior_faces;
    for (const Patch& patch : old_.patches()) {
      if (is_joined(patch)) continue;
      parts.patches.push_back({patch.name, Range<Face>(next, next + patch.faces.size())});
      next = parts.patches.back().faces.last();
    }

    parts.cells_of_face = join_cells();
    parts.faces_of_cell = transpose(parts.cells_of_face, old_.cells().size());
    const auto new_node = [&](Id<Node> n, Real) { return nodes_.number[at(n.value())]; };
    parts.nodes_of_face = chosen_rows(old_.nodes_of_face(), old_face_, false, new_node);
    std::vector<Index> all_cells(at(old_.cells().size()));
    std::iota(all_cells.begin(), all_cells.end(), 0);
    parts.nodes_of_cell = chosen_rows(old_.nodes_of_cell(), all_cells, false, new_node);
    parts.cells_of_node = transpose(parts.nodes_of_cell, parts.nodes);

    parts.edges_of_face = chosen_rows(old_.edges_of_face(), old_face_, true, [&](Id<Edge> e, Real sign) {
      return incidence_entry::make(edges_.number[at(e.value())], (sign < 0) != turned_[at(e.value())]);
    });
    parts.faces_of_edge = transpose(parts.edges_of_face, parts.edges);
    parts.nodes_of_edge = join_ends();
    parts.edges_of_node = transpose(parts.nodes_of_edge, parts.nodes);
    return Topology(std::move(parts));
  }

  /// The new numbers of the start and the end of an edge; none in two dimensions.
  std::optional<std::pair<Index, Index>> new_ends(Id<Edge> e) const {
    const auto ends = old_.nodes_of_edge()[e];
    if (ends.size() == 0) return std::nullopt;
    return std::pair(nodes_.number[at(ends[0].id.value())], nodes_.number[at(ends[1].id.value())]);
  }

  /// Edges run from their lower to their higher node, and where these are one node as the lowest of those
  /// that have become one.
  IncidenceTable<Edge, Node> join_ends() const {
    std::vector<Index> starts{0}, entries;
    for (const Index e : edges_.lowest) {
      if (const auto ends = new_ends(Id<Edge>(e))) {
        entries.push_back(incidence_entry::make(std::min(ends->first, ends->second), true));
        entries.push_back(std::max(ends->first, ends->second));
      }
      starts.push_back(static_cast<Index>(entries.size()));
    }
    return IncidenceTable<Edge, Node>(std::move(starts), std::move(entries));
  }

  /// For each old edge whether it runs against the new one.
  std::vector<char> find_turned_edges() const {
    std::vector<char> turned(edges_.number.size(), 0);
    if (old_.dimension() == 2) return turned;
    const auto along = [&](Id<Edge> e) { return mesh_.geometry().edge_vector(old_, e); };
    parallel_for(turned.size(), [&](std::size_t i) {
      const Id<Edge> e(static_cast<Index>(i)), lowest(edges_.lowest[at(edges_.number[i])]);
      const auto ends = new_ends(lowest);
      // Edges that have become one are parallel: they are moved, not turned.
      turned[i] = (dot(along(e), along(lowest)) < 0) != (ends->first > ends->second);
    });
    return turned;
  }

  IncidenceTable<Face, Cell> join_cells() const {
    const auto cells_of_face = old_.cells_of_face().view(MemorySpace::Host);
    std::vector<Index> starts{0}, entries;
    const Index interior = old_.interior_faces().size();
    for (std::size_t f = 0; f < old_face_.size(); ++f) {
      for (const auto [c, sign] : cells_of_face[Id<Face>(old_face_[f])]) {
        entries.push_back(incidence_entry::make(c.value(), sign < 0));
      }
      if (f >= at(interior) && f < at(interior) + joined_.size()) {
        const auto ahead = cells_of_face[joined_[f - at(interior)].ahead];
        entries.push_back(incidence_entry::make(ahead[0].id.value(), true));
      }
      starts.push_back(static_cast<Index>(entries.size()));
    }
    return IncidenceTable<Face, Cell>(std::move(starts), std::move(entries));
  }

  Geometry join_geometry(const Topology& topology) const {
    const Geometry& old = mesh_.geometry();
    std::vector<Vector3> areas, centroids;
    for (const Index f : old_face_) {
      areas.push_back(old.face_areas()[at(f)]);
      centroids.push_back(old.face_centroids()[at(f)]);
    }
    for (const JoinedFaces& joined : joined_) {
      centroids.push_back(old.face_centroids()[at(joined.ahead.value())]);
    }
    std::vector<Vector3> edges;
    if (old_.dimension() == 3) {
      for (const Index e : edges_.lowest)
        edges.push_back((turned_[at(e)] ? -1 : 1) * old.edge_vector(old_, Id<Edge>(e)));
    }
    std::vector<Real> node_volumes(nodes_.lowest.size(), 0);
    for (std::size_t n = 0; n < nodes_.number.size(); ++n) {
      node_volumes[at(nodes_.number[n])] += old.node_volumes()[n];
    }
    GeometryParts parts;
    parts.face_areas = ConstantArray<Vector3>(std::move(areas));
    parts.face_centroids = ConstantArray<Vector3>(std::move(centroids));
    parts.cell_centroids = old.cell_centroids();
    parts.cell_volumes = old.cell_volumes();
    parts.node_volumes = ConstantArray<Real>(std::move(node_volumes));
    parts.edge_vectors = ConstantArray<Vector3>(std::move(edges));
    parts.first_periodic_face = topology.periodic_faces().first();
    return Geometry(std::move(parts));
  }

  const Mesh& mesh_;
  const Topology& old_;
  std::vector<Sides> sides_;
  std::vector<PeriodicConnection> connections_;
  std::vector<JoinedFaces> joined_;
  Numbering nodes_, edges_;
  std::vector<char> turned_;
  std::vector<Index> old_face_;
};

}  // namespace

PeriodicMesh make_periodic(const Mesh& mesh, std::span<const PeriodicPair> pairs) {
  return Joiner(mesh, pairs).join();
}

}  // namespace curlew
