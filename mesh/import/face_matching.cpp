// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/face_matching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <tuple>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/incidence.hpp"
#include "kernels/parallel.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/where.hpp"

namespace curlew {

namespace {

/// One face as one cell (or one tagged boundary face) sees it. Its nodes in cyclic order, turned so that the
/// lowest comes first and the lower of its two neighbours next, are a key that does not depend on who looks.
/// A hash will do for the nodes of a large face that are not about its lowest one: two faces with the same
/// corner there overlap, or enclose a sliver, and even of such pairs one in 2^31 would be mistaken.
struct Sighting {
  Index second, last;  ///< neighbours of the lowest node in the cycle, the lower one first
  Index rest;          ///< what else distinguishes the cycle: the fourth node, or a hash of all the others
  std::int16_t size, slot;
  Index owner;   ///< cell, or number of cells + tagged face
  bool forward;  ///< the cycle was listed in this direction

  auto key() const { return std::tie(second, last, rest, size); }
  friend bool operator<(const Sighting& a, const Sighting& b) {
    return std::tuple(a.key(), a.owner, a.slot) < std::tuple(b.key(), b.owner, b.slot);
  }
};

struct Located {
  Index lowest;
  Sighting sighting;
};

Located locate(const Index* nodes, int size, int slot, Index owner) {
  int low = 0;
  for (int k = 1; k < size; ++k) {
    if (nodes[k] < nodes[low]) low = k;
  }
  const auto from_low = [&](int step) { return nodes[(low + step + size) % size]; };
  const bool forward = from_low(1) <= from_low(-1);
  Sighting s{};
  s.second = forward ? from_low(1) : from_low(-1);
  s.last = forward ? from_low(-1) : from_low(1);
  s.size = static_cast<std::int16_t>(size);
  s.slot = static_cast<std::int16_t>(slot);
  s.owner = owner;
  s.forward = size == 2 ? low == 0 : forward;
  if (size == 4) {
    s.rest = from_low(2);
  } else if (size > 4) {
    std::uint32_t hash = 2166136261u;
    for (int k = 2; k <= size - 2; ++k) {
      hash = (hash ^ static_cast<std::uint32_t>(from_low(forward ? k : -k))) * 16777619u;
    }
    s.rest = static_cast<Index>(hash & 0x7fffffffu);
  }
  return {nodes[low], s};
}

bool has_repeated_node(const Index* nodes, int size) {
  for (int i = 0; i < size; ++i) {
    for (int j = i + 1; j < size; ++j) {
      if (nodes[i] == nodes[j]) return true;
    }
  }
  return false;
}

/// Calls `visit(located)` for every face of cell c.
template <class Visit>
void visit_sightings(const RawMesh& raw, std::size_t c, const Visit& visit) {
  visit_cell_faces(raw.cell_types[c], raw.cell_nodes.data() + raw.cell_start[c],
                   raw.cell_start[c + 1] - raw.cell_start[c], [&](int slot, const Index* nodes, int size) {
                     visit(locate(nodes, size, slot, static_cast<Index>(c)));
                   });
}

/// Calls `visit(located)` for every tagged boundary face.
template <class Visit>
void visit_tagged(const RawMesh& raw, std::size_t b, const Visit& visit) {
  const auto first = raw.boundary_start[b];
  visit(locate(raw.boundary_nodes.data() + first, static_cast<int>(raw.boundary_start[b + 1] - first), 0,
               static_cast<Index>(raw.cell_types.size() + b)));
}

/// A Sighting and a MatchedFace count a cell's faces and a face's nodes up to here.
constexpr int most_of_one = std::numeric_limits<std::int16_t>::max();

void refuse_what_cannot_be_matched(const RawMesh& raw) {
  std::atomic<std::size_t> bad{raw.cell_types.size()}, large{bad.load()};
  parallel_for(raw.cell_types.size(), [&](std::size_t c) {
    visit_cell_faces(raw.cell_types[c], raw.cell_nodes.data() + raw.cell_start[c],
                     raw.cell_start[c + 1] - raw.cell_start[c], [&](int slot, const Index* nodes, int size) {
                       if (slot >= most_of_one || size > most_of_one) return record_lowest(large, c);
                       if (has_repeated_node(nodes, size)) record_lowest(bad, c);
                     });
  });
  if (large < raw.cell_types.size()) {
    throw InputError(fmt::format("the {} at {} has more than {} faces, or nodes on a face; divide it",
                                 name(raw.cell_types[large]), where(middle_of(raw, large)), most_of_one));
  }
  if (bad < raw.cell_types.size()) {
    throw InputError(fmt::format("the {} at {} uses a node twice; repair or remake the mesh",
                                 name(raw.cell_types[bad]), where(middle_of(raw, bad))));
  }
}

}  // namespace

FaceMatching match_faces(const RawMesh& raw) {
  refuse_what_cannot_be_matched(raw);
  const std::size_t cells = raw.cell_types.size();
  const std::size_t tagged = raw.boundary_start.empty() ? 0 : raw.boundary_start.size() - 1;

  offset_in_table(static_cast<std::int64_t>(cells + tagged));  // owners have numbers up to there
  std::vector<Index> sightings_of_node(raw.nodes.size(), 0);
  const auto count = [&](const Located& located) {
    std::atomic_ref(sightings_of_node[at(located.lowest)]).fetch_add(1, std::memory_order_relaxed);
  };
  parallel_for(cells, [&](std::size_t c) { visit_sightings(raw, c, count); });
  parallel_for(tagged, [&](std::size_t b) { visit_tagged(raw, b, count); });
  const std::vector<Index> bucket = offsets_of(std::move(sightings_of_node));

  // The order in which threads fill a bucket does not matter: it is sorted afterwards.
  std::vector<Sighting> sightings(at(bucket.back()));
  std::vector<Index> next(bucket.begin(), bucket.end() - 1);
  const auto fill = [&](const Located& located) {
    const Index place = std::atomic_ref(next[at(located.lowest)]).fetch_add(1, std::memory_order_relaxed);
    sightings[at(place)] = located.sighting;
  };
  parallel_for(cells, [&](std::size_t c) { visit_sightings(raw, c, fill); });
  parallel_for(tagged, [&](std::size_t b) { visit_tagged(raw, b, fill); });

  /// Calls visit(first, last) for every group of equal sightings in the bucket of node n.
  const auto visit_groups = [&](std::size_t n, const auto& visit) {
    const Index end = bucket[n + 1];
    for (Index first = bucket[n]; first < end;) {
      Index last = first + 1;
      while (last < end && sightings[at(last)].key() == sightings[at(first)].key()) ++last;
      visit(first, last);
      first = last;
    }
  };
  const auto is_cell = [&](Index place) { return at(sightings[at(place)].owner) < cells; };

  std::vector<Index> faces_of_node(raw.nodes.size(), 0);
  const auto none = static_cast<Index>(sightings.size());
  std::atomic<Index> crowded{none}, folded{none};
  std::atomic<std::int64_t> unused{0};
  parallel_for(raw.nodes.size(), [&](std::size_t n) {
    std::sort(sightings.begin() + bucket[n], sightings.begin() + bucket[n + 1]);
    visit_groups(n, [&](Index first, Index last) {
      if (is_cell(first)) {
        ++faces_of_node[n];
        if (last - first > 2 && is_cell(first + 2)) record_lowest(crowded, first);
        // Two cells on either side of a face list it in opposite directions, as each sees it from outside.
        if (last - first > 1 && is_cell(first + 1) &&
            sightings[at(first)].forward == sightings[at(first + 1)].forward)
          record_lowest(folded, first);
      } else {
        unused += last - first;
      }
    });
  });
  if (crowded < none) {
    const Sighting& s = sightings[at(crowded)];
    throw InputError(fmt::format(
        "a face of the {} at {} is shared by more than two cells; the mesh overlaps itself or holds "
        "cells twice, remake it",
        name(raw.cell_types[at(s.owner)]), where(middle_of(raw, at(s.owner)))));
  }
  if (folded < none) {
    const auto a = at(sightings[at(folded)].owner), b = at(sightings[at(folded + 1)].owner);
    throw InputError(fmt::format(
        "the {} at {} and the {} at {} lie on the same side of the face between them: the mesh is folded, "
        "repair or remake it",
        name(raw.cell_types[a]), where(middle_of(raw, a)), name(raw.cell_types[b]),
        where(middle_of(raw, b))));
  }
  const std::vector<Index> first_face = offsets_of(std::move(faces_of_node));

  FaceMatching matching;
  matching.tagged_faces_unused = unused;
  matching.faces.resize(at(first_face.back()));
  parallel_for(raw.nodes.size(), [&](std::size_t n) {
    Index face = first_face[n];
    visit_groups(n, [&](Index first, Index last) {
      if (!is_cell(first)) return;
      const Sighting& a = sightings[at(first)];
      const bool interior = last - first > 1 && is_cell(first + 1);
      const Index tag = first + (interior ? 2 : 1);
      matching.faces[at(face++)] = {{a.owner, interior ? sightings[at(first) + 1].owner : -1},
                                    {a.slot, interior ? sightings[at(first) + 1].slot : std::int16_t{0}},
                                    tag < last ? sightings[at(tag)].owner - static_cast<Index>(cells) : -1};
    });
  });
  return matching;
}

}  // namespace curlew
