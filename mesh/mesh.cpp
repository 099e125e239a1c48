// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/mesh.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>
#include <utility>

#include "kernels/counted.hpp"
#include "kernels/error.hpp"
#include "kernels/parallel.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/contacts.hpp"
#include "mesh/import/face_matching.hpp"
#include "mesh/where.hpp"

namespace curlew {

namespace {

std::span<const Index> nodes_of(const RawMesh& raw, std::size_t c) {
  return {raw.cell_nodes.data() + raw.cell_start[c], at(raw.cell_start[c + 1] - raw.cell_start[c])};
}

template <class Visit>
void visit_faces(const RawMesh& raw, std::size_t c, const Visit& visit) {
  const auto nodes = nodes_of(raw, c);
  visit_cell_faces(raw.cell_types[c], nodes.data(), static_cast<std::int64_t>(nodes.size()), visit);
}

/// Volume enclosed by a cell's faces as listed; negative where they are listed clockwise.
Real signed_volume(const RawMesh& raw, std::size_t c) {
  const Vector3 middle = middle_of(raw, c);
  Real volume = 0;
  visit_faces(raw, c, [&](int, const Index* nodes, int size) {
    const auto x = [&](int k) { return raw.nodes[at(nodes[k % size])] - middle; };
    if (size == 2) {
      volume += cross(x(0), x(1)).z / 2;
      return;
    }
    Vector3 apex{};
    for (int k = 0; k < size; ++k) apex += x(k);
    apex *= Real(1) / static_cast<Real>(size);
    for (int k = 0; k < size; ++k) volume += dot(cross(x(k), x(k + 1)), apex) / 6;
  });
  return volume;
}

/// Turns a cell inside out by listing its nodes the other way round.
void turn_over(CellType type, Index* nodes, std::int64_t count) {
  switch (type) {
    case CellType::Triangle:
    case CellType::Quadrilateral:
    case CellType::Polygon:
      std::reverse(nodes + 1, nodes + count);
      break;
    case CellType::Tetrahedron:
      std::swap(nodes[2], nodes[3]);
      break;
    case CellType::Pyramid:
      std::swap(nodes[1], nodes[3]);
      break;
    case CellType::Prism:
      for (int k = 0; k < 3; ++k) std::swap(nodes[k], nodes[k + 3]);
      break;
    case CellType::Hexahedron:
      for (int k = 0; k < 4; ++k) std::swap(nodes[k], nodes[k + 4]);
      break;
    case CellType::Polyhedron:
      for (std::int64_t k = 0; k < count; k += 1 + nodes[k])
        std::reverse(nodes + k + 1, nodes + k + 1 + nodes[k]);
      break;
  }
}

/// Lists the faces of a polyhedron so that neighbours run through their common edge in opposite directions.
/// Returns false where that cannot be done or an edge is not shared by two faces.
bool make_faces_agree(Index* stream, std::int64_t count) {
  struct Side {
    Index low, high;
    int face;
    bool rising;
  };
  std::vector<std::int64_t> faces;
  std::vector<Side> sides;
  for (std::int64_t k = 0; k < count; k += 1 + stream[k]) {
    const Index size = stream[k];
    for (Index i = 0; i < size; ++i) {
      const Index a = stream[k + 1 + i], b = stream[k + 1 + (i + 1) % size];
      sides.push_back({std::min(a, b), std::max(a, b), static_cast<int>(faces.size()), a < b});
    }
    faces.push_back(k);
  }
  std::sort(sides.begin(), sides.end(),
            [](const Side& a, const Side& b) { return std::pair(a.low, a.high) < std::pair(b.low, b.high); });
  struct Neighbour {
    int face;
    bool turned;
  };
  std::vector<std::vector<Neighbour>> neighbours(faces.size());
  if (sides.size() % 2 != 0) return false;
  for (std::size_t i = 0; i < sides.size(); i += 2) {
    const Side &a = sides[i], &b = sides[i + 1];
    if (a.low != b.low || a.high != b.high) return false;
    neighbours[at(a.face)].push_back({b.face, a.rising == b.rising});
    neighbours[at(b.face)].push_back({a.face, a.rising == b.rising});
  }
  enum : signed char { Unknown, Kept, Turned };
  std::vector<signed char> state(faces.size(), Unknown);
  std::vector<int> queue{0};
  state[0] = Kept;
  for (std::size_t next = 0; next < queue.size(); ++next) {
    for (const auto [face, turned] : neighbours[at(queue[next])]) {
      const signed char wanted = (state[at(queue[next])] == Turned) != turned ? Turned : Kept;
      if (state[at(face)] == Unknown) {
        state[at(face)] = wanted;
        queue.push_back(face);
      } else if (state[at(face)] != wanted) {
        return false;
      }
    }
  }
  if (queue.size() != faces.size()) return false;
  for (std::size_t f = 0; f < faces.size(); ++f) {
    Index* face = stream + faces[f];
    if (state[f] == Turned) std::reverse(face + 1, face + 1 + face[0]);
  }
  return true;
}

/// Turns every cell to positive volume; throws for cells without volume. Returns how many were turned.
std::int64_t orient_cells(RawMesh& raw) {
  std::atomic<std::int64_t> turned{0};
  const auto none = static_cast<Index>(raw.cell_types.size());
  std::atomic<Index> open{none}, flat{none};
  parallel_for(raw.cell_types.size(), [&](std::size_t c) {
    Index* nodes = raw.cell_nodes.data() + raw.cell_start[c];
    const std::int64_t count = raw.cell_start[c + 1] - raw.cell_start[c];
    if (raw.cell_types[c] == CellType::Polyhedron && !make_faces_agree(nodes, count)) {
      record_lowest(open, static_cast<Index>(c));
      return;
    }
    const Real volume = signed_volume(raw, c);
    if (volume < 0) {
      turn_over(raw.cell_types[c], nodes, count);
      if (raw.cell_types[c] != CellType::Polyhedron) ++turned;
    } else if (!(volume > 0)) {
      record_lowest(flat, static_cast<Index>(c));
    }
  });
  const auto complain = [&](Index c, const char* what) {
    throw InputError(fmt::format("the {} at {} {}; repair or remake the mesh", name(raw.cell_types[at(c)]),
                                 where(middle_of(raw, at(c))), what));
  };
  if (open < none) complain(open, "is not closed: each of its edges must be shared by two of its faces");
  if (flat < none) complain(flat, "has no volume");
  return turned;
}

void check_shapes(const RawMesh& raw) {
  if (raw.cell_types.empty()) throw InputError("the mesh holds no cells");
  for (std::size_t c = 0; c < raw.cell_types.size(); ++c) {
    const int expected = node_count(raw.cell_types[c]);
    REQUIRE(
        is_planar(raw.cell_types[c]) == (raw.dimension == 2),
        fmt::format("cell {} is a {} in a mesh of {} dimensions", c, name(raw.cell_types[c]), raw.dimension));
    REQUIRE(expected == 0 || static_cast<int>(nodes_of(raw, c).size()) == expected,
            fmt::format("cell {}, a {}, has {} nodes", c, name(raw.cell_types[c]), nodes_of(raw, c).size()));
  }
}

/// Graph of cells that share a face, by rows.
std::pair<std::vector<Index>, std::vector<Index>> cell_graph(const std::vector<MatchedFace>& faces,
                                                             std::size_t cells) {
  std::vector<Index> lengths(cells, 0);
  for (const MatchedFace& face : faces) {
    if (face.cell[1] < 0) continue;
    ++lengths[at(face.cell[0])];
    ++lengths[at(face.cell[1])];
  }
  std::vector<Index> starts = offsets_of(std::move(lengths));
  std::vector<Index> next(starts.begin(), starts.end() - 1), neighbours(at(starts.back()));
  for (const MatchedFace& face : faces) {
    if (face.cell[1] < 0) continue;
    neighbours[at(next[at(face.cell[0])]++)] = face.cell[1];
    neighbours[at(next[at(face.cell[1])]++)] = face.cell[0];
  }
  return {std::move(starts), std::move(neighbours)};
}

/// Old number of each new cell.
std::vector<Index> order_cells(const RawMesh& raw, const std::vector<MatchedFace>& faces, CellOrder order) {
  const std::size_t cells = raw.cell_types.size();
  if (order == CellOrder::ReverseCuthillMcKee) {
    const auto [starts, neighbours] = cell_graph(faces, cells);
    return reverse_cuthill_mckee(starts, neighbours);
  }
  if (order == CellOrder::Hilbert) {
    std::vector<Vector3> middles(cells);
    parallel_for(cells, [&](std::size_t c) { middles[c] = middle_of(raw, c); });
    return hilbert_order(middles, raw.dimension);
  }
  std::vector<Index> identity(cells);
  std::iota(identity.begin(), identity.end(), 0);
  return identity;
}

/// Everything between a RawMesh and a Topology, step by step.
class Builder {
 public:
  Builder(RawMesh raw, CellOrder order) : raw_(std::move(raw)) {
    check_shapes(raw_);
    const std::int64_t turned = orient_cells(raw_);
    if (turned > 0) note(fmt::format("{} cells were listed inside out and have been turned", turned));
    FaceMatching matching = match_faces(raw_);
    if (matching.tagged_faces_unused > 0) {
      note(fmt::format("{} tagged faces lie on no cell and are ignored", matching.tagged_faces_unused));
    }
    const std::vector<Index> old_of_new = order_cells(raw_, matching.faces, order);
    number_cells_and_nodes(old_of_new);
    number_faces(matching.faces);
    matching = {};
    build_faces();
    raw_ = RawMesh{};
    parts_.faces_of_cell = transpose(parts_.cells_of_face, static_cast<Index>(parts_.cell_types.size()));
    parts_.cells_of_node = transpose(parts_.nodes_of_cell, parts_.nodes);
    if (parts_.dimension == 2) {
      use_nodes_as_edges();
    } else {
      build_edges();
    }
    parts_.faces_of_edge = transpose(parts_.edges_of_face, parts_.edges);
    parts_.edges_of_node = transpose(parts_.nodes_of_edge, parts_.nodes);
  }

  TopologyParts take_parts() { return std::move(parts_); }
  std::vector<Vector3> take_positions() { return std::move(positions_); }
  std::vector<std::string> take_notes() { return std::move(notes_); }

 private:
  /// A face in its final place: whose normal side it shows, and where its nodes are found.
  struct NumberedFace {
    Index low, high;    ///< new cells; high is -1 on the boundary
    Index owner;        ///< raw number of the low cell
    std::int16_t slot;  ///< the face's place among the faces of the low cell
  };

  void note(std::string sentence) { notes_.push_back(std::move(sentence)); }

  /// Nodes are numbered by the first cell that touches them, which also drops those that no cell uses.
  void number_cells_and_nodes(const std::vector<Index>& old_of_new) {
    notes_.insert(notes_.begin(), raw_.notes.begin(), raw_.notes.end());
    const std::size_t cells = old_of_new.size();
    parts_.dimension = raw_.dimension;
    parts_.region_names = raw_.region_names;
    parts_.cell_types.resize(cells);
    new_cell_.resize(cells);
    new_node_.assign(raw_.nodes.size(), -1);
    std::vector<Index> regions(cells), lengths(cells), entries;
    entries.reserve(raw_.cell_nodes.size());
    std::vector<Index> corners;
    for (std::size_t c = 0; c < cells; ++c) {
      const std::size_t old = at(old_of_new[c]);
      new_cell_[old] = static_cast<Index>(c);
      parts_.cell_types[c] = raw_.cell_types[old];
      regions[c] = raw_.cell_region[old];
      const auto nodes = nodes_of(raw_, old);
      corners.assign(nodes.begin(), nodes.end());
      const bool polyhedron = raw_.cell_types[old] == CellType::Polyhedron;
      if (polyhedron) {
        corners.clear();
        visit_faces(raw_, old, [&](int, const Index* face, int size) {
          corners.insert(corners.end(), face, face + size);
        });
      }
      for (Index& corner : corners) {
        Index& number = new_node_[at(corner)];
        if (number < 0) {
          number = static_cast<Index>(positions_.size());
          positions_.push_back(raw_.nodes[at(corner)]);
        }
        corner = number;
      }
      if (polyhedron) {
        std::sort(corners.begin(), corners.end());
        corners.erase(std::unique(corners.begin(), corners.end()), corners.end());
      }
      lengths[c] = static_cast<Index>(corners.size());
      entries.insert(entries.end(), corners.begin(), corners.end());
    }
    parts_.nodes = static_cast<Index>(positions_.size());
    parts_.nodes_of_cell = IncidenceTable<Cell, Node>(offsets_of(std::move(lengths)), std::move(entries));
    parts_.region_of_cell = ConstantArray<Index>(std::move(regions));
  }

  /// Interior faces by their lower cell, then the boundary patch by patch.
  void number_faces(const std::vector<MatchedFace>& matched) {
    const std::size_t cells = parts_.cell_types.size();
    std::vector<std::string> names = raw_.patch_names;
    const auto position = std::find(names.begin(), names.end(), unnamed_patch);
    const auto none = static_cast<Index>(position - names.begin());
    if (position == names.end()) names.push_back(unnamed_patch);
    std::int64_t inner_tagged = 0;
    std::set<std::size_t> inner_patches;

    // Group 0 is the interior, group 1 + p is patch p; within a group faces are sorted by their lower cell.
    const auto group_of = [&](const MatchedFace& face) {
      if (face.cell[1] >= 0) return Index{0};
      return 1 + (face.tagged_face < 0 ? none : raw_.boundary_patch[at(face.tagged_face)]);
    };
    std::vector<std::vector<Index>> boundary(names.size());
    std::vector<Index> lengths(cells, 0);
    const auto lower = [&](const MatchedFace& face) {
      return face.cell[1] < 0 ? new_cell_[at(face.cell[0])]
                              : std::min(new_cell_[at(face.cell[0])], new_cell_[at(face.cell[1])]);
    };
    for (std::size_t f = 0; f < matched.size(); ++f) {
      const Index group = group_of(matched[f]);
      if (group == 0) {
        ++lengths[at(lower(matched[f]))];
        if (matched[f].tagged_face >= 0) {
          ++inner_tagged;
          inner_patches.insert(at(raw_.boundary_patch[at(matched[f].tagged_face)]));
        }
      } else {
        boundary[at(group) - 1].push_back(static_cast<Index>(f));
      }
    }
    if (inner_tagged > 0) {
      std::string of;
      for (const std::size_t patch : inner_patches)
        of += fmt::format("{}\"{}\"", of.empty() ? "" : ", ", raw_.patch_names[patch]);
      note(fmt::format(
          "{} tagged faces, of {}, lie between two cells; they are no boundary and carry no patch",
          inner_tagged, of));
    }
    const auto numbered = [&](const MatchedFace& face) {
      const Index a = new_cell_[at(face.cell[0])], b = face.cell[1] < 0 ? -1 : new_cell_[at(face.cell[1])];
      if (b < 0 || a < b) return NumberedFace{a, b, face.cell[0], face.slot[0]};
      return NumberedFace{b, a, face.cell[1], face.slot[1]};
    };
    const auto before = [](const NumberedFace& a, const NumberedFace& b) {
      return std::tie(a.low, a.high, a.slot) < std::tie(b.low, b.high, b.slot);
    };
    faces_.resize(matched.size());
    const std::vector<Index> starts = offsets_of(std::move(lengths));
    std::vector<Index> next(starts.begin(), starts.end() - 1);
    for (const MatchedFace& face : matched) {
      if (group_of(face) == 0) faces_[at(next[at(lower(face))]++)] = numbered(face);
    }
    parallel_for(cells, [&](std::size_t c) {
      std::sort(faces_.begin() + starts[c], faces_.begin() + starts[c + 1], before);
    });
    parts_.interior_faces = starts.back();
    Index first = parts_.interior_faces;
    for (std::size_t p = 0; p < boundary.size(); ++p) {
      if (boundary[p].empty()) continue;
      Index last = first;
      for (const Index f : boundary[p]) faces_[at(last++)] = numbered(matched[at(f)]);
      std::sort(faces_.begin() + first, faces_.begin() + last, before);
      parts_.patches.push_back({names[p], Range<Face>(first, last)});
      first = last;
    }
  }

  void build_faces() {
    const std::size_t faces = faces_.size(), interior = at(parts_.interior_faces);
    std::vector<Index> starts(faces + 1), cells(faces + interior);
    for (std::size_t f = 0; f <= faces; ++f) starts[f] = static_cast<Index>(f + std::min(f, interior));
    std::vector<Index> lengths(faces);
    parallel_for(faces, [&](std::size_t f) {
      cells[at(starts[f])] = incidence_entry::make(faces_[f].low, false);
      if (f < interior) cells[at(starts[f]) + 1] = incidence_entry::make(faces_[f].high, true);
      visit_faces(raw_, at(faces_[f].owner), [&](int slot, const Index*, int size) {
        if (slot == faces_[f].slot) lengths[f] = size;
      });
    });
    parts_.cells_of_face = IncidenceTable<Face, Cell>(std::move(starts), std::move(cells));

    std::vector<Index> node_starts = offsets_of(std::move(lengths)), nodes(at(node_starts.back()));
    parallel_for(faces, [&](std::size_t f) {
      visit_faces(raw_, at(faces_[f].owner), [&](int slot, const Index* face, int size) {
        if (slot != faces_[f].slot) return;
        for (int k = 0; k < size; ++k) nodes[at(node_starts[f] + k)] = new_node_[at(face[k])];
      });
    });
    parts_.nodes_of_face = IncidenceTable<Face, Node>(std::move(node_starts), std::move(nodes));
    faces_ = {};
    new_cell_ = {};
    new_node_ = {};
  }

  /// Two dimensions: the unit edge at a node runs along +z, so that it runs counter-clockwise about the
  /// normal at the end of a side and clockwise at its start.
  void use_nodes_as_edges() {
    parts_.edges = parts_.nodes;
    const Index faces = parts_.nodes_of_face.rows();
    std::vector<Index> starts(at(faces) + 1), entries(2 * at(faces));
    for (Index f = 0; f <= faces; ++f) starts[at(f)] = 2 * f;
    parallel_for(at(faces), [&](std::size_t f) {
      const auto side = parts_.nodes_of_face[Id<Face>(static_cast<Index>(f))];
      const Index start = side[0].id.value(), end = side[1].id.value();
      entries[2 * f] = incidence_entry::make(std::min(start, end), start < end);
      entries[2 * f + 1] = incidence_entry::make(std::max(start, end), start > end);
    });
    parts_.edges_of_face = IncidenceTable<Face, Edge>(std::move(starts), std::move(entries));
    parts_.nodes_of_edge = IncidenceTable<Edge, Node>(std::vector<Index>(at(parts_.edges) + 1, 0), {});
  }

  /// Edges are numbered by their lower node, then their higher one; nodes follow the cells, so edges do too.
  void build_edges() {
    const auto nodes_of_face = parts_.nodes_of_face.view(MemorySpace::Host);
    const std::size_t faces = at(parts_.nodes_of_face.rows()), nodes = at(parts_.nodes);
    const auto visit_sides = [&](std::size_t f, const auto& visit) {
      const auto row = nodes_of_face[Id<Face>(static_cast<Index>(f))];
      for (Index k = 0; k < row.size(); ++k) {
        visit(k, row[k].id.value(), row[k + 1 < row.size() ? k + 1 : 0].id.value());
      }
    };
    std::vector<Index> bucket(nodes + 1, 0);
    parallel_for(faces, [&](std::size_t f) {
      visit_sides(f, [&](Index, Index a, Index b) {
        std::atomic_ref(bucket[at(std::min(a, b)) + 1]).fetch_add(1, std::memory_order_relaxed);
      });
    });
    for (std::size_t n = 0; n < nodes; ++n) bucket[n + 1] += bucket[n];
    std::vector<Index> ends(at(bucket.back())), next(bucket.begin(), bucket.end() - 1);
    parallel_for(faces, [&](std::size_t f) {
      visit_sides(f, [&](Index, Index a, Index b) {
        const Index place = std::atomic_ref(next[at(std::min(a, b))]).fetch_add(1, std::memory_order_relaxed);
        ends[at(place)] = std::max(a, b);
      });
    });
    std::vector<Index> lengths(nodes);
    parallel_for(nodes, [&](std::size_t n) {
      const auto first = ends.begin() + bucket[n], last = ends.begin() + bucket[n + 1];
      std::sort(first, last);
      lengths[n] = static_cast<Index>(std::unique(first, last) - first);
    });
    const std::vector<Index> first_edge = offsets_of(std::move(lengths));
    parts_.edges = first_edge.back();

    std::vector<Index> edge_starts(at(parts_.edges) + 1), edge_nodes(2 * at(parts_.edges));
    parallel_for(nodes, [&](std::size_t n) {
      for (Index e = first_edge[n]; e < first_edge[n + 1]; ++e) {
        edge_starts[at(e)] = 2 * e;
        edge_nodes[2 * at(e)] = incidence_entry::make(static_cast<Index>(n), true);
        edge_nodes[2 * at(e) + 1] = ends[at(bucket[n] + e - first_edge[n])];
      }
    });
    edge_starts.back() = 2 * parts_.edges;

    std::vector<Index> face_starts(faces + 1);
    for (std::size_t f = 0; f <= faces; ++f) {
      face_starts[f] = nodes_of_face.start(Id<Face>(static_cast<Index>(f)));
    }
    std::vector<Index> face_edges(at(face_starts.back()));
    parallel_for(faces, [&](std::size_t f) {
      Index* row = face_edges.data() + face_starts[f];
      visit_sides(f, [&](Index k, Index a, Index b) {
        const std::size_t low = at(std::min(a, b));
        const auto first = ends.begin() + bucket[low];
        const auto last = first + (first_edge[low + 1] - first_edge[low]);
        const auto place = std::lower_bound(first, last, std::max(a, b)) - first;
        row[k] = incidence_entry::make(first_edge[low] + static_cast<Index>(place), a > b);
      });
      std::sort(row, face_edges.data() + face_starts[f + 1],
                [](Index a, Index b) { return incidence_entry::index(a) < incidence_entry::index(b); });
    });
    parts_.nodes_of_edge = IncidenceTable<Edge, Node>(std::move(edge_starts), std::move(edge_nodes));
    parts_.edges_of_face = IncidenceTable<Face, Edge>(std::move(face_starts), std::move(face_edges));
  }

  RawMesh raw_;
  TopologyParts parts_;
  std::vector<Vector3> positions_;
  std::vector<std::string> notes_;
  std::vector<Index> new_cell_, new_node_;
  std::vector<NumberedFace> faces_;
};

}  // namespace

struct Mesh::Built {
  Builder builder;
};

Mesh::Mesh(RawMesh raw, CellOrder order) : Mesh(Built{Builder(std::move(raw), order)}) {}

Mesh::Mesh(Built built)
    : topology_(built.builder.take_parts()),
      geometry_(topology_, built.builder.take_positions()),
      domain_(std::make_shared<const Domain>(topology_)),
      notes_(built.builder.take_notes()) {
  if (const std::vector<Id<Cell>> overlapping = overlapping_cells(*this); !overlapping.empty())
    notes_.push_back(fmt::format(
        "Bodies overlap: {} at the boundary of one, the first of them at {}, {} within cells of another that "
        "they are not connected to, and both count there. Join them in the geometry, or take one out of the "
        "other (in Gmsh BooleanFragments or BooleanDifference); where they touch along a curve it may be "
        "their facets alone.",
        counted(std::ssize(overlapping), "cell"),
        where(geometry_.cell_centroids()[at(overlapping.front().value())]),
        overlapping.size() == 1 ? "lies" : "lie"));
  const std::vector<Id<Face>> touching = faces_in_contact(*this);
  if (touching.empty()) return;
  const Id<Face> first = touching.front();
  const auto patch =
      std::ranges::find_if(topology_.patches(), [&](const Patch& p) { return p.faces.contains(first); });
  notes_.push_back(fmt::format(
      "Behind {}, the first one of patch \"{}\" at {}, there are cells that they are not "
      "connected to: nothing passes there. If bodies ought to be one, join them in the geometry (in Gmsh "
      "BooleanFragments or Coherence), or nodes that coincide (Coherence Mesh); if they share nodes, let "
      "their faces fit: no quadrilateral on triangles, no node within a side.",
      counted(std::ssize(touching), "boundary face"), patch->name,
      where(geometry_.face_centroids()[at(first.value())])));
}

}  // namespace curlew
