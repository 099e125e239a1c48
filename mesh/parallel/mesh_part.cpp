// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/parallel/mesh_part.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <type_traits>

#include "kernels/error.hpp"

namespace curlew {

namespace {

constexpr Index absent = -1;

template <class T>
std::vector<T> chosen_values(const ConstantArray<T>& values, const std::vector<Index>& global) {
  std::vector<T> result;
  result.reserve(global.size());
  for (const Index g : global) result.push_back(values[at(g)]);
  return result;
}

/// The rows of a rank's entities, in the order of the whole mesh, without what the rank does not have.
template <class From, class To>
TablePart chosen_rows(const IncidenceTable<From, To>& table, const std::vector<Index>& rows,
                      const std::vector<Index>& local) {
  TablePart part;
  part.starts.push_back(0);
  const auto view = table.view(MemorySpace::Host);
  for (const Index g : rows) {
    for (const auto [to, sign] : view[Id<From>(g)]) {
      const Index number = local[at(to.value())];
      if (number != absent) part.entries.push_back(incidence_entry::make(number, sign < 0));
    }
    part.starts.push_back(static_cast<Index>(part.entries.size()));
  }
  return part;
}

/// Local numbers in the order of the whole mesh.
template <class Global>
std::vector<Index> sorted_order(const std::vector<Global>& global) {
  std::vector<Index> order(global.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return global[at(a)] < global[at(b)]; });
  return order;
}

template <class From, class To>
IncidenceTable<From, To> table_of(TablePart part) {
  return IncidenceTable<From, To>(std::move(part.starts), std::move(part.entries));
}

template <class E>
Halo<E> halo_of(EntityPart part) {
  HaloParts<E> halo;
  halo.interior = static_cast<Index>(part.interior);
  halo.owned = static_cast<Index>(part.owned);
  halo.all = static_cast<Index>(part.global.size());
  halo.total = part.total;
  halo.global = std::move(part.global);
  for (std::size_t k = 0; k < part.ghost_ranks.size(); ++k) {
    halo.ghosts.push_back({part.ghost_ranks[k], Range<E>(part.ghost_starts[k], part.ghost_starts[k + 1])});
  }
  for (std::size_t k = 0; k < part.sent_ranks.size(); ++k) {
    halo.sent_to.push_back({part.sent_ranks[k], Range<Sent>(part.sent_starts[k], part.sent_starts[k + 1])});
  }
  halo.sent = std::move(part.sent);
  return Halo<E>(std::move(halo));
}

}  // namespace

MeshDivider::MeshDivider(const Mesh& mesh, const Partition& partition)
    : mesh_(mesh),
      partition_(partition),
      // The mesh that a periodic one was made of has more of all but cells.
      local_node_(at(mesh.unfolded().topology().nodes().size()), absent),
      local_edge_(at(mesh.unfolded().topology().edges().size()), absent),
      local_face_(at(mesh.unfolded().topology().faces().size()), absent),
      local_cell_(at(mesh.topology().cells().size()), absent) {
  part_starts_.assign(at(partition.parts) + 1, 0);
  for (const Index part : partition.part_of_cell) ++part_starts_[at(part) + 1];
  for (std::size_t p = 0; p < at(partition.parts); ++p) part_starts_[p + 1] += part_starts_[p];
  cells_of_part_.resize(partition.part_of_cell.size());
  std::vector<Index> next(part_starts_.begin(), part_starts_.end() - 1);
  for (std::size_t c = 0; c < cells_of_part_.size(); ++c) {
    cells_of_part_[at(next[at(partition.part_of_cell[c])]++)] = static_cast<Index>(c);
  }
}

namespace {

template <class E, class Visit>
void visit_cells_about(const Topology& t, Id<E> i, const Visit& visit) {
  if constexpr (std::is_same_v<E, Cell>) {
    visit(i);
  } else if constexpr (std::is_same_v<E, Face>) {
    for (const auto [c, sign] : t.cells_of_face()[i]) visit(c);
  } else if constexpr (std::is_same_v<E, Edge>) {
    if (t.dimension() == 2) return visit_cells_about(t, Id<Node>(i.value()), visit);
    for (const auto [f, sign] : t.faces_of_edge()[i]) {
      for (const auto [c, outward] : t.cells_of_face()[f]) visit(c);
    }
  } else {
    for (const auto [c, sign] : t.cells_of_node()[i]) visit(c);
  }
}

}  // namespace

MeshPart MeshDivider::part(Index rank) {
  const Cells cells = cells_of(rank);
  MeshPart part = cut(mesh_, cells, rank);
  if (part.periodic) {
    part.periodic->unfolded = cut(mesh_.unfolded(), cells, rank);
    part.periodic->unfolded_faces = unfolded_faces(part, part.periodic->unfolded);
  }
  return part;
}

MeshDivider::Cells MeshDivider::cells_of(Index rank) {
  const Topology& t = mesh_.topology();
  // The rank's own, and those about their nodes.
  Cells found{
      {cells_of_part_.begin() + part_starts_[at(rank)], cells_of_part_.begin() + part_starts_[at(rank) + 1]},
      {}};
  std::vector<Index>& cells = found.list;
  const std::vector<Index> own = cells;
  for (const Index c : own) local_cell_[at(c)] = 0;
  for (const Index c : own) {
    for (const auto [n, sign] : t.nodes_of_cell()[Id<Cell>(c)]) {
      for (const auto [other, outward] : t.cells_of_node()[n]) {
        if (local_cell_[at(other.value())] != absent) continue;
        local_cell_[at(other.value())] = 0;
        cells.push_back(other.value());
      }
    }
  }
  std::sort(cells.begin(), cells.end());
  for (const Index c : cells) {
    local_cell_[at(c)] = absent;
    std::vector<Index>& holders = found.holders.emplace_back();
    for (const auto [n, sign] : t.nodes_of_cell()[Id<Cell>(c)]) {
      for (const auto [other, outward] : t.cells_of_node()[n]) {
        const Index owner = owner_of(other);
        if (std::ranges::find(holders, owner) == holders.end()) holders.push_back(owner);
      }
    }
  }
  return found;
}

std::vector<Index> MeshDivider::unfolded_faces(const MeshPart& part, const MeshPart& unfolded) {
  for (std::size_t k = 0; k < unfolded.faces.global.size(); ++k)
    local_face_[at(unfolded.faces.global[k])] = static_cast<Index>(k);
  const auto first = part.faces.global.begin() + part.interior_faces - part.periodic->faces;
  std::vector<Index> faces(part.faces.global.size(), absent),
      images(at(part.faces.global.end() - first), absent);
  for (std::size_t k = 0; k < faces.size(); ++k) {
    mesh_.visit_unfolded(Id<Face>(static_cast<Index>(part.faces.global[k])), [&](Id<Face> f, Real sign) {
      (sign > 0 ? faces[k] : images[k - (faces.size() - images.size())]) = local_face_[at(f.value())];
    });
  }
  faces.insert(faces.end(), images.begin(), images.end());
  for (const std::int64_t f : unfolded.faces.global) local_face_[at(f)] = absent;
  return faces;
}

MeshPart MeshDivider::cut(const Mesh& mesh, const Cells& of_part, Index rank) {
  const Topology& t = mesh.topology();
  const Geometry& g = mesh.geometry();
  std::vector<Index> cells = of_part.list;
  // Everything of these cells.
  std::vector<Index> nodes, edges, faces;
  const auto take = [](std::vector<Index>& list, std::vector<Index>& mark, Index i) {
    if (mark[at(i)] != absent) return;
    mark[at(i)] = 0;
    list.push_back(i);
  };
  for (const Index c : cells) {
    for (const auto [n, sign] : t.nodes_of_cell()[Id<Cell>(c)]) take(nodes, local_node_, n.value());
    for (const auto [f, sign] : t.faces_of_cell()[Id<Cell>(c)]) {
      take(faces, local_face_, f.value());
      for (const auto [e, circulation] : t.edges_of_face()[f]) take(edges, local_edge_, e.value());
    }
  }
  for (auto* list : {&nodes, &edges, &faces}) std::sort(list->begin(), list->end());
  for (std::size_t k = 0; k < cells.size(); ++k)
    local_cell_[at(cells[k])] = static_cast<Index>(k);  // in the list, until they have their numbers

  MeshPart part;
  part.rank = rank;
  part.ranks = partition_.parts;
  part.dimension = t.dimension();
  number<Node>(t, nodes, of_part, rank, part.nodes);
  number<Edge>(t, edges, of_part, rank, part.edges);
  number<Face>(t, faces, of_part, rank, part.faces);
  number<Cell>(t, cells, of_part, rank, part.cells);
  const auto settle = [](const std::vector<Index>& list, std::vector<Index>& local) {
    for (std::size_t k = 0; k < list.size(); ++k) local[at(list[k])] = static_cast<Index>(k);
  };
  settle(nodes, local_node_);
  settle(edges, local_edge_);
  settle(faces, local_face_);
  settle(cells, local_cell_);

  part.faces_of_cell = chosen_rows(t.faces_of_cell(), cells, local_face_);
  part.cells_of_face = chosen_rows(t.cells_of_face(), faces, local_cell_);
  part.edges_of_face = chosen_rows(t.edges_of_face(), faces, local_edge_);
  part.faces_of_edge = chosen_rows(t.faces_of_edge(), edges, local_face_);
  part.nodes_of_edge = chosen_rows(t.nodes_of_edge(), edges, local_node_);
  part.edges_of_node = chosen_rows(t.edges_of_node(), nodes, local_edge_);
  part.nodes_of_face = chosen_rows(t.nodes_of_face(), faces, local_node_);
  part.nodes_of_cell = chosen_rows(t.nodes_of_cell(), cells, local_node_);
  part.cells_of_node = chosen_rows(t.cells_of_node(), nodes, local_cell_);
  for (const Index c : cells) {
    part.cell_types.push_back(static_cast<std::uint8_t>(t.cell_type(Id<Cell>(c))));
  }
  part.region_of_cell = chosen_values(t.region_of_cell(), cells);
  part.region_names = t.region_names();

  // Patches are consecutive in the whole mesh, and so are what is owned of them here.
  const auto owned_end = faces.begin() + part.faces.owned;
  const auto first_on_patch =
      std::find_if(faces.begin(), owned_end, [&](Index f) { return f >= t.interior_faces().last(); });
  part.interior_faces = first_on_patch - faces.begin();
  part.patch_starts.push_back(static_cast<Index>(part.interior_faces));
  for (const Patch& patch : t.patches()) {
    part.patch_names.push_back(patch.name);
    const auto end = std::lower_bound(first_on_patch, owned_end, patch.faces.last());
    part.patch_starts.push_back(static_cast<Index>(end - faces.begin()));
  }
  for (auto f = owned_end; f != faces.end(); ++f) {
    const auto on = std::ranges::find_if(
        t.patches(), [&](const Patch& patch) { return patch.faces.contains(Id<Face>(*f)); });
    part.patch_of_ghost_face.push_back(
        on == t.patches().end() ? absent : static_cast<Index>(on - t.patches().begin()));
  }

  if (!t.is_periodic()) part.node_positions = chosen_values(g.node_positions(), nodes);
  part.node_volumes = chosen_values(g.node_volumes(), nodes);
  part.face_areas = chosen_values(g.face_areas(), faces);
  part.face_centroids = chosen_values(g.face_centroids(), faces);
  if (t.is_periodic()) {
    const Range<Face> periodic = t.periodic_faces();
    const auto is_periodic = [&](Index f) { return periodic.contains(Id<Face>(f)); };
    part.periodic = std::make_unique<PeriodicPart>();
    part.periodic->faces = std::count_if(faces.begin(), faces.begin() + part.interior_faces, is_periodic);
    const auto seen = g.face_centroids_of_cells(MemorySpace::Host);
    for (auto f = faces.begin() + part.interior_faces - part.periodic->faces; f != faces.end(); ++f)
      part.face_centroids.push_back(seen(Id<Face>(*f), is_periodic(*f) ? -1 : 1));
    if (t.dimension() == 3) {
      for (const Index e : edges) part.periodic->edge_vectors.push_back(g.edge_vector(t, Id<Edge>(e)));
    }
  }
  part.cell_centroids = chosen_values(g.cell_centroids(), cells);
  part.cell_volumes = chosen_values(g.cell_volumes(), cells);

  for (const Index n : nodes) local_node_[at(n)] = absent;
  for (const Index e : edges) local_edge_[at(e)] = absent;
  for (const Index f : faces) local_face_[at(f)] = absent;
  for (const Index c : cells) local_cell_[at(c)] = absent;
  return part;
}

template <class E>
void MeshDivider::number(const Topology& t, std::vector<Index>& list, const Cells& cells, Index rank,
                         EntityPart& part) const {
  const std::vector<std::vector<Index>>& holders = cells.holders;
  // The order of local numbers: interior, boundary, periodic, on patches, then ghosts by owner.
  enum : Index { Interior, Boundary, Periodic, OnPatch, FirstGhost };
  std::vector<Index> group;
  for (const Index i : list) {
    Index lowest = absent;
    bool inside = true;
    visit_cells_about(t, Id<E>(i), [&](Id<Cell> c) {
      if (lowest == absent || c.value() < lowest) lowest = c.value();
      const Index place = local_cell_[at(c.value())];
      inside = inside && place != absent && holders[at(place)].size() == 1;
    });
    const Index owner = owner_of(Id<Cell>(lowest));
    if (owner != rank) {
      group.push_back(FirstGhost + owner);
    } else if (std::is_same_v<E, Face> && i >= t.interior_faces().last()) {
      group.push_back(OnPatch);
    } else if (std::is_same_v<E, Face> && i >= t.periodic_faces().first()) {
      group.push_back(Periodic);
    } else {
      group.push_back(inside ? Interior : Boundary);
    }
  }
  std::vector<Index> order(list.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return group[at(a)] < group[at(b)]; });

  std::map<Index, std::vector<Index>> sent;
  std::vector<Index> numbered, takers;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const Index i = list[at(order[k])], of = group[at(order[k])];
    numbered.push_back(i);
    part.global.push_back(i);
    if (of == Interior) ++part.interior;
    if (of < FirstGhost) ++part.owned;
    if (of >= FirstGhost && (part.ghost_ranks.empty() || part.ghost_ranks.back() != of - FirstGhost)) {
      part.ghost_ranks.push_back(of - FirstGhost);
      part.ghost_starts.push_back(static_cast<Index>(k));
    }
  }
  part.ghost_starts.push_back(static_cast<Index>(list.size()));
  // Neighbours have their ghosts in the order of the whole mesh.
  for (const Index k : sorted_order(numbered)) {
    if (k >= part.owned || k < part.interior) continue;
    takers.clear();
    visit_cells_about(t, Id<E>(numbered[at(k)]), [&](Id<Cell> c) {
      const auto& have_it = holders[at(local_cell_[at(c.value())])];
      takers.insert(takers.end(), have_it.begin(), have_it.end());
    });
    std::sort(takers.begin(), takers.end());
    takers.erase(std::unique(takers.begin(), takers.end()), takers.end());
    for (const Index taker : takers) {
      if (taker != rank) sent[taker].push_back(k);
    }
  }
  part.sent_starts.push_back(0);
  for (const auto& [taker, entities] : sent) {
    part.sent_ranks.push_back(taker);
    part.sent.insert(part.sent.end(), entities.begin(), entities.end());
    part.sent_starts.push_back(static_cast<Index>(part.sent.size()));
  }
  const auto all = std::is_same_v<E, Node>   ? t.nodes().size()
                   : std::is_same_v<E, Edge> ? t.edges().size()
                   : std::is_same_v<E, Face> ? t.faces().size()
                                             : t.cells().size();
  part.total = all;
  list = std::move(numbered);
}

Mesh make_mesh(MeshPart part, std::shared_ptr<const Communicator> communicator,
               std::vector<std::string> notes) {
  TopologyParts t;
  t.dimension = static_cast<int>(part.dimension);
  t.nodes = static_cast<Index>(part.nodes.global.size());
  t.edges = static_cast<Index>(part.edges.global.size());
  for (const std::uint8_t type : part.cell_types) t.cell_types.push_back(static_cast<CellType>(type));
  t.faces_of_cell = table_of<Cell, Face>(std::move(part.faces_of_cell));
  t.cells_of_face = table_of<Face, Cell>(std::move(part.cells_of_face));
  t.edges_of_face = table_of<Face, Edge>(std::move(part.edges_of_face));
  t.faces_of_edge = table_of<Edge, Face>(std::move(part.faces_of_edge));
  t.nodes_of_edge = table_of<Edge, Node>(std::move(part.nodes_of_edge));
  t.edges_of_node = table_of<Node, Edge>(std::move(part.edges_of_node));
  t.nodes_of_face = table_of<Face, Node>(std::move(part.nodes_of_face));
  t.nodes_of_cell = table_of<Cell, Node>(std::move(part.nodes_of_cell));
  t.cells_of_node = table_of<Node, Cell>(std::move(part.cells_of_node));
  t.interior_faces = static_cast<Index>(part.interior_faces);
  if (part.periodic) {
    t.periodic = true;
    t.periodic_faces = static_cast<Index>(part.periodic->faces);
  }
  for (std::size_t p = 0; p < part.patch_names.size(); ++p) {
    t.patches.push_back({part.patch_names[p], Range<Face>(part.patch_starts[p], part.patch_starts[p + 1])});
  }
  t.faces_of_patches.resize(part.patch_names.size());
  for (const Index f : sorted_order(part.faces.global)) {
    const Index ghost = f - static_cast<Index>(part.faces.owned);
    if (ghost >= 0) {
      const Index patch = part.patch_of_ghost_face[at(ghost)];
      if (patch != absent) t.faces_of_patches[at(patch)].push_back(f);
    } else if (f >= t.interior_faces) {
      const auto after = std::upper_bound(part.patch_starts.begin(), part.patch_starts.end(), f);
      t.faces_of_patches[at(after - part.patch_starts.begin()) - 1].push_back(f);
    }
  }
  t.region_names = std::move(part.region_names);
  t.region_of_cell = ConstantArray<Index>(std::move(part.region_of_cell));
  t.cells_in_order = sorted_order(part.cells.global);
  const std::vector<Index> nodes_in_order = sorted_order(part.nodes.global);
  std::vector<Index> place_of_node(nodes_in_order.size());
  for (std::size_t k = 0; k < place_of_node.size(); ++k) {
    place_of_node[at(nodes_in_order[k])] = static_cast<Index>(k);
  }
  t.place_of_node = ConstantArray<Index>(std::move(place_of_node));

  GeometryParts g;
  g.node_positions = ConstantArray<Vector3>(std::move(part.node_positions));
  g.node_volumes = ConstantArray<Real>(std::move(part.node_volumes));
  g.face_areas = ConstantArray<Vector3>(std::move(part.face_areas));
  g.face_centroids = ConstantArray<Vector3>(std::move(part.face_centroids));
  g.cell_centroids = ConstantArray<Vector3>(std::move(part.cell_centroids));
  g.cell_volumes = ConstantArray<Real>(std::move(part.cell_volumes));
  Mesh::Unfolded unfolded;
  if (part.periodic) {
    g.first_periodic_face = static_cast<Index>(part.interior_faces - part.periodic->faces);
    g.edge_vectors = ConstantArray<Vector3>(std::move(part.periodic->edge_vectors));
    unfolded.mesh =
        std::make_shared<const Mesh>(make_mesh(std::move(part.periodic->unfolded), communicator, notes));
    unfolded.faces = std::move(part.periodic->unfolded_faces);
  }
  return Mesh(Topology(std::move(t)), Geometry(std::move(g)),
              Domain(std::move(communicator), halo_of<Node>(std::move(part.nodes)),
                     halo_of<Edge>(std::move(part.edges)), halo_of<Face>(std::move(part.faces)),
                     halo_of<Cell>(std::move(part.cells))),
              std::move(notes), std::move(unfolded));
}

namespace {

template <class T>
void append(std::vector<std::byte>& bytes, const T* values, std::size_t count) {
  const std::size_t old = bytes.size();
  bytes.resize(old + count * sizeof(T));
  if (count > 0) std::memcpy(bytes.data() + old, values, count * sizeof(T));
}

struct Packer {
  std::vector<std::byte>& bytes;
  void operator()(const std::string&, const std::int64_t& value) const { append(bytes, &value, 1); }
  template <class T>
  void operator()(const std::string& name, const std::vector<T>& values) const {
    (*this)(name, static_cast<std::int64_t>(values.size()));
    append(bytes, values.data(), values.size());
  }
  void operator()(const std::string& name, const std::vector<std::string>& names) const {
    (*this)(name, static_cast<std::int64_t>(names.size()));
    for (const std::string& text : names) (*this)(name, std::vector<char>(text.begin(), text.end()));
  }
};

struct Unpacker {
  const std::byte*& next;
  void operator()(const std::string&, std::int64_t& value) const {
    std::memcpy(&value, next, sizeof value);
    next += sizeof value;
  }
  template <class T>
  void operator()(const std::string& name, std::vector<T>& values) const {
    std::int64_t size = 0;
    (*this)(name, size);
    values.resize(at(size));
    if (size > 0) std::memcpy(values.data(), next, at(size) * sizeof(T));
    next += at(size) * sizeof(T);
  }
  void operator()(const std::string& name, std::vector<std::string>& names) const {
    std::int64_t size = 0;
    (*this)(name, size);
    names.resize(at(size));
    for (std::string& text : names) {
      std::vector<char> letters;
      (*this)(name, letters);
      text.assign(letters.begin(), letters.end());
    }
  }
};

}  // namespace

std::vector<std::byte> bytes_of(const MeshPart& part) {
  std::vector<std::byte> bytes;
  const Packer pack{bytes};
  visit_members(part, pack);
  if (part.periodic) {
    pack("faces", part.periodic->faces);
    pack("unfolded_faces", part.periodic->unfolded_faces);
    pack("edge_vectors", part.periodic->edge_vectors);
    visit_members(part.periodic->unfolded, pack);
  }
  return bytes;
}

MeshPart part_from(std::span<const std::byte> bytes) {
  MeshPart part;
  const std::byte* next = bytes.data();
  const Unpacker unpack{next};
  visit_members(part, unpack);
  if (next != bytes.data() + bytes.size()) {
    part.periodic = std::make_unique<PeriodicPart>();
    unpack("faces", part.periodic->faces);
    unpack("unfolded_faces", part.periodic->unfolded_faces);
    unpack("edge_vectors", part.periodic->edge_vectors);
    visit_members(part.periodic->unfolded, unpack);
  }
  return part;
}

MeshPart distribute(const Mesh* whole, const Partition* partition, const Communicator& communicator) {
  if (communicator.rank() != 0) return part_from(communicator.receive(0));
  REQUIRE(whole != nullptr && partition != nullptr, "rank 0 divides the mesh, and must have it");
  MeshDivider divider(*whole, *partition);
  for (int r = 1; r < communicator.ranks(); ++r) communicator.send(r, bytes_of(divider.part(r)));
  return divider.part(0);
}

}  // namespace curlew
