// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/gmsh_model.hpp"

#include <fmt/format.h>
#include <gmsh.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "kernels/error.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/import/gmsh_session.hpp"

namespace curlew {

namespace {

using GmshTag = std::size_t;
constexpr Index none = -1;

/// What this reader needs to know of a Gmsh element type.
struct ElementType {
  std::string name;
  int order = 1;
  std::size_t nodes = 0, corners = 0;
  std::optional<CellType> cell;  ///< none for lines, points and types that cannot be a cell
};

ElementType element_type(int gmsh_type) {
  static const std::map<std::string_view, CellType> families = {{"Triangle", CellType::Triangle},
                                                                {"Quadrilateral", CellType::Quadrilateral},
                                                                {"Tetrahedron", CellType::Tetrahedron},
                                                                {"Hexahedron", CellType::Hexahedron},
                                                                {"Prism", CellType::Prism},
                                                                {"Pyramid", CellType::Pyramid}};
  ElementType type;
  int dimension = 0, nodes = 0, corners = 0;
  std::vector<double> coordinates;
  gmsh::model::mesh::getElementProperties(gmsh_type, type.name, dimension, type.order, nodes, coordinates,
                                          corners);
  type.nodes = static_cast<std::size_t>(nodes);
  type.corners = static_cast<std::size_t>(corners);
  // Names are a family and a node count, such as "Prism 15".
  const auto family = families.find(std::string_view(type.name).substr(0, type.name.find(' ')));
  if (family != families.end()) type.cell = family->second;
  return type;
}

/// Groups of the entities of one dimension.
struct Groups {
  std::vector<std::string> names;        ///< by group number, each name once
  std::map<int, std::vector<Index>> of;  ///< group numbers of an entity, by its Gmsh tag
  bool shared_entities = false;          ///< some entity is in several groups
};

/// Whether each byte that begins a character is followed by as many as it announces.
bool is_utf8(std::string_view text) {
  std::size_t follow = 0;
  for (const char c : text) {
    const int ones = std::countl_one(static_cast<unsigned char>(c));
    if ((ones == 1) != (follow > 0) || ones > 4) return false;
    if (ones == 1)
      --follow;
    else if (ones > 1)
      follow = static_cast<std::size_t>(ones) - 1;
  }
  return follow == 0;
}

/// With what is not ASCII as \xE4.
std::string in_ascii(std::string_view text) {
  std::string ascii;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    ascii += byte < 0x80 ? std::string(1, c) : fmt::format("\\x{:02X}", byte);
  }
  return ascii;
}

/// `entities_are_groups`: as of read_gmsh_model().
Groups read_groups(const std::filesystem::path& file, int dimension, bool entities_are_groups,
                   const PhysicalNames& names) {
  Groups groups;
  std::map<std::string, Index> number;
  const auto add = [&](int tag) {
    std::string name;
    if (const auto named = names.find({dimension, tag}); named != names.end())
      name = named->second;
    else
      gmsh::model::getPhysicalName(dimension, tag, name);
    if (name.empty()) name = fmt::format("group_{}", tag);
    if (!is_utf8(name))
      fail_to_import(file,
                     fmt::format("the name of the physical group {}, \"{}\", is not in UTF-8, as case files "
                                 "are, which have to name it. Convert the file, as iconv does",
                                 tag, in_ascii(name)));
    const auto [position, inserted] = number.try_emplace(name, static_cast<Index>(groups.names.size()));
    if (inserted) groups.names.push_back(name);
    return position->second;
  };
  gmsh::vectorpair tags;
  if (entities_are_groups) {
    gmsh::model::getEntities(tags, dimension);
    for (const auto& [_, tag] : tags) {
      // Gmsh gives the elements of a positive entity alone.
      if (tag < 0)
        fail_to_import(
            file,
            fmt::format("elements of group {} are listed with the number {}, which Gmsh does not tell apart "
                        "from others. Write the numbers of groups without signs",
                        -tag, tag));
      if (tag > 0) groups.of[tag] = {add(tag)};
    }
    return groups;
  }
  gmsh::model::getPhysicalGroups(tags, dimension);
  for (const auto& [_, tag] : tags) {
    if (tag == 0) continue;  // so .unv files say that an element is in none
    const Index group = add(tag);
    std::vector<int> entities;
    gmsh::model::getEntitiesForPhysicalGroup(dimension, tag, entities);
    for (const int entity : entities) {
      std::vector<Index>& of_entity = groups.of[std::abs(entity)];
      if (std::find(of_entity.begin(), of_entity.end(), group) == of_entity.end()) of_entity.push_back(group);
      groups.shared_entities |= of_entity.size() > 1;
    }
  }
  return groups;
}

/// Node tags to places in Gmsh's node list, without a hash for the dense numbering that files usually have.
class NodePlaces {
 public:
  explicit NodePlaces(const std::vector<GmshTag>& tags) : tags_(tags) {
    const GmshTag largest = tags.empty() ? 0 : *std::max_element(tags.begin(), tags.end());
    if (largest <= 10 * tags.size() + 1000) {
      dense_.assign(largest + 1, none);
      for (std::size_t place = 0; place < tags.size(); ++place)
        dense_[tags[place]] = static_cast<Index>(place);
    } else {
      sorted_.resize(tags.size());
      std::iota(sorted_.begin(), sorted_.end(), Index{0});
      std::sort(sorted_.begin(), sorted_.end(), [&](Index a, Index b) { return tag(a) < tag(b); });
    }
  }

  /// -1 where there is no such node.
  Index operator[](GmshTag wanted) const {
    if (!dense_.empty()) return wanted < dense_.size() ? dense_[wanted] : none;
    const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), wanted,
                                        [&](Index place, GmshTag value) { return tag(place) < value; });
    return found != sorted_.end() && tag(*found) == wanted ? *found : none;
  }

  /// Calls `visit(place)` in the order of tags, which does not depend on how a format lists nodes.
  template <class Visit>
  void in_order_of_tags(const Visit& visit) const {
    for (const Index place : dense_.empty() ? sorted_ : dense_)
      if (place != none) visit(place);
  }

 private:
  GmshTag tag(Index place) const { return tags_[static_cast<std::size_t>(place)]; }

  const std::vector<GmshTag>& tags_;
  std::vector<Index> dense_, sorted_;
};

/// Elements of one dimension, corner nodes only.
struct Elements {
  std::vector<CellType> types;
  std::vector<std::int64_t> start = {0};
  std::vector<Index> nodes;  ///< places in Gmsh's node list, then node numbers of the mesh; -1: no such node
  std::vector<Index> group;
  bool has_second_order = false;

  std::size_t size() const { return start.size() - 1; }
};

Elements read_elements(const std::filesystem::path& file, int dimension, const Groups& groups,
                       const NodePlaces& places, bool only_grouped) {
  Elements elements;
  gmsh::vectorpair entities;
  gmsh::model::getEntities(entities, dimension);
  for (const auto& [_, entity] : entities) {
    std::string kind;
    gmsh::model::getType(dimension, entity, kind);
    if (kind.starts_with("Ghost")) continue;  // a partition's copies of cells
    const auto found = groups.of.find(entity);
    if (only_grouped && found == groups.of.end()) continue;
    const Index group = found == groups.of.end() ? none : found->second.front();
    std::vector<int> types;
    std::vector<std::vector<GmshTag>> tags, nodes;
    gmsh::model::mesh::getElements(types, tags, nodes, dimension, entity);
    for (std::size_t t = 0; t < types.size(); ++t) {
      const ElementType type = element_type(types[t]);
      if (dimension > 1 && !type.cell)
        fail_to_import(
            file,
            fmt::format("it has elements of type \"{}\"; cells may be triangles, quadrilaterals, tetrahedra, "
                        "hexahedra, prisms and pyramids. Mesh without that type",
                        type.name));
      const std::size_t before = elements.size();
      const std::size_t count = nodes[t].size() / type.nodes;
      elements.has_second_order |= type.order > 1 && count > 0;
      elements.types.resize(before + count, type.cell.value_or(CellType::Polygon));
      elements.group.resize(before + count, group);
      elements.start.resize(before + count + 1);
      std::size_t next = elements.nodes.size();
      elements.nodes.resize(next + count * type.corners);
      for (std::size_t e = 0; e < count; ++e) {
        for (std::size_t k = 0; k < type.corners; ++k)
          elements.nodes[next++] = places[nodes[t][e * type.nodes + k]];
        elements.start[before + e + 1] = static_cast<std::int64_t>(next);
      }
    }
  }
  if (elements.nodes.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
    fail_to_import(
        file,
        "it has more than 2^31 corners of elements, more than one process can read. Use a coarser mesh");
  return elements;
}

/// Where an entity has elements of one shape and two orders Gmsh 4.8 gives those of one order alone.
void require_all_cells(const std::filesystem::path& file, const std::vector<CellType>& read) {
  for (const auto& [type, option] : {std::pair(CellType::Triangle, "Mesh.NbTriangles"),
                                     {CellType::Quadrilateral, "Mesh.NbQuadrangles"},
                                     {CellType::Tetrahedron, "Mesh.NbTetrahedra"},
                                     {CellType::Hexahedron, "Mesh.NbHexahedra"},
                                     {CellType::Prism, "Mesh.NbPrisms"},
                                     {CellType::Pyramid, "Mesh.NbPyramids"}}) {
    const auto count = std::ranges::count(read, type);
    if (count == 0) continue;
    double all = 0;
    gmsh::option::getNumber(option, all);
    if (static_cast<double>(count) < all)
      fail_to_import(file,
                     fmt::format("of its {:.0f} cells of type \"{}\" Gmsh reads {} alone, as they are of "
                                 "several orders. Mesh it with elements of one order",
                                 all, name(type), count));
  }
}

/// For each element the first element with the same nodes, itself where it is the first. Elements are put
/// into buckets by lowest node, so that the time is linear for meshes of bounded valence.
std::vector<Index> first_with_same_nodes(const std::vector<std::int64_t>& start,
                                         const std::vector<Index>& nodes, std::size_t node_count) {
  const std::size_t count = start.size() - 1;
  using Key = std::array<Index, 8>;  // sorted nodes of at most a hexahedron
  const auto key = [&](Index element) {
    Key sorted;
    sorted.fill(std::numeric_limits<Index>::max());
    for (auto k = start[static_cast<std::size_t>(element)]; k < start[static_cast<std::size_t>(element) + 1];
         ++k) {
      Index carried = nodes[static_cast<std::size_t>(k)];
      for (Index& place : sorted)
        if (carried < place) std::swap(carried, place);
    }
    return sorted;
  };
  const auto lowest = [&](std::size_t e) {
    return static_cast<std::size_t>(
        *std::min_element(nodes.begin() + start[e], nodes.begin() + start[e + 1]));
  };
  std::vector<Index> bucket_start(node_count + 1, 0), bucketed(count), first(count);
  for (std::size_t e = 0; e < count; ++e) ++bucket_start[lowest(e) + 1];
  std::partial_sum(bucket_start.begin(), bucket_start.end(), bucket_start.begin());
  std::vector<Index> next = bucket_start;
  for (std::size_t e = 0; e < count; ++e)
    bucketed[static_cast<std::size_t>(next[lowest(e)]++)] = static_cast<Index>(e);
  std::vector<std::pair<Key, Index>> bucket;
  for (std::size_t n = 0; n < node_count; ++n) {
    bucket.clear();
    for (Index b = bucket_start[n]; b < bucket_start[n + 1]; ++b) {
      const Index element = bucketed[static_cast<std::size_t>(b)];
      bucket.emplace_back(key(element), element);
    }
    std::sort(bucket.begin(), bucket.end());
    for (std::size_t b = 0; b < bucket.size(); ++b) {
      const bool repeated = b > 0 && bucket[b].first == bucket[b - 1].first;
      first[static_cast<std::size_t>(bucket[b].second)] =
          repeated ? first[static_cast<std::size_t>(bucket[b - 1].second)] : bucket[b].second;
    }
  }
  return first;
}

/// Reads the current Gmsh model into a RawMesh.
class Reader {
 public:
  Reader(const std::filesystem::path& file, Real scale, bool entities_are_groups, PhysicalNames names,
         bool only_grouped)
      : file_(file),
        scale_(scale),
        entities_are_groups_(entities_are_groups),
        only_grouped_(only_grouped),
        names_(std::move(names)) {}

  RawMesh read() {
    mesh_.dimension = element_dimension_present();
    if (mesh_.dimension < 2)
      fail_to_import(
          file_,
          "it has no cells: neither volume elements nor, for a two-dimensional mesh, surface elements. "
          "Check that the mesh was generated and saved with all its elements");
    const Groups regions = read_groups(file_, mesh_.dimension, entities_are_groups_, names_);
    const Groups patches = read_groups(file_, mesh_.dimension - 1, entities_are_groups_, names_);
    several_groups_ = regions.shared_entities || patches.shared_entities;
    std::vector<GmshTag> tags;
    std::vector<double> coordinates, parametric;
    gmsh::model::mesh::getNodes(tags, coordinates, parametric, -1, -1, false, false);
    const NodePlaces places(tags);
    Elements cells = read_elements(file_, mesh_.dimension, regions, places, false);
    Elements faces = read_elements(file_, mesh_.dimension - 1, patches, places, true);
    if (file_.extension() != ".msh") require_all_cells(file_, cells.types);  // check_msh() has seen to those
    if (only_grouped_) leave_out_ungrouped(cells);
    if (cells.has_second_order)
      note(
          "There are cells of second or higher order; only their corner nodes are used, so curved sides have "
          "become straight");
    number_nodes(cells, faces, tags, coordinates, places);
    if (mesh_.dimension == 2) flatten();
    take_cells(std::move(cells), regions.names);
    take_faces(std::move(faces), patches.names);
    if (several_groups_)
      note("Some elements are in several physical groups; the group with the lowest number counts");
    tell_of_unused(regions.names, mesh_.region_names, "region");
    tell_of_unused(patches.names, mesh_.patch_names, "patch");
    return std::move(mesh_);
  }

 private:
  template <class... Arguments>
  void note(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    mesh_.notes.push_back(fmt::format(text, std::forward<Arguments>(arguments)...) + ".");
  }

  /// As Gmsh does when it saves the mesh of a geometry.
  void leave_out_ungrouped(Elements& cells) {
    const auto grouped = [&](std::size_t c) { return cells.group[c] != none; };
    const std::size_t all = cells.size();
    bool any = false;
    for (std::size_t c = 0; c < all && !any; ++c) any = grouped(c);
    if (!any) return;
    keep_elements(cells, grouped);
    if (cells.size() < all)
      note("{} cells are in no physical group and left out, as Gmsh leaves them out of a mesh that it saves",
           all - cells.size());
  }

  void tell_of_unused(const std::vector<std::string>& groups, const std::vector<std::string>& used,
                      std::string_view what) {
    for (const std::string& group : groups) {
      if (std::ranges::count(used, group) == 0)
        note(
            "The physical group \"{}\" makes no {}: its elements are in groups with lower numbers, too, or "
            "belong to no cell",
            group, what);
    }
  }

  /// Keeps the nodes that cells use, in the order of their tags, and gives the elements their numbers.
  void number_nodes(Elements& cells, Elements& faces, const std::vector<GmshTag>& tags,
                    const std::vector<double>& coordinates, const NodePlaces& places) {
    constexpr Index used = 0;
    std::vector<Index> number(tags.size(), none);
    for (const Index place : cells.nodes) {
      if (place == none)
        fail_to_import(file_, "a cell uses a node that the file does not have. Write the mesh again");
      number[static_cast<std::size_t>(place)] = used;
    }
    std::size_t dropped = 0;
    places.in_order_of_tags([&](Index place) {
      const auto p = static_cast<std::size_t>(place);
      if (number[p] == none) {
        ++dropped;
        return;
      }
      number[p] = static_cast<Index>(mesh_.nodes.size());
      const Vector3 point{coordinates[3 * p], coordinates[3 * p + 1], coordinates[3 * p + 2]};
      if (!std::isfinite(point.x) || !std::isfinite(point.y) || !std::isfinite(point.z))
        fail_to_import(
            file_,
            fmt::format("node {} lies at ({}, {}, {}), which are no finite coordinates. Write the mesh again",
                        tags[p], point.x, point.y, point.z));
      mesh_.nodes.push_back(scale_ * point);
    });
    // The middle nodes of cells of higher order have their own note.
    if (dropped > 0 && !cells.has_second_order) note("{} nodes belong to no cell and were dropped", dropped);
    for (Elements* elements : {&cells, &faces})
      for (Index& node : elements->nodes)
        if (node != none) node = number[static_cast<std::size_t>(node)];
  }

  /// A two-dimensional mesh lies in a plane z = constant, up to the noise of a geometry kernel, which goes
  /// here.
  void flatten() {
    Vector3 low = mesh_.nodes.front(), high = low;
    for (const Vector3& p : mesh_.nodes) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
    if (high.z - low.z > 1e-9 * norm(high - low))
      fail_to_import(
          file_, fmt::format(
                     "its cells are surface elements that do not lie in a plane z = constant (z from {:g} to "
                     "{:g} m). A two-dimensional mesh must lie in such a plane: turn it into one; for a "
                     "solid, mesh the volume too and save it",
                     low.z, high.z));
    for (Vector3& p : mesh_.nodes) p.z = low.z;
  }

  void take_cells(Elements cells, std::vector<std::string> names) {
    const std::vector<Index> first = first_with_same_nodes(cells.start, cells.nodes, mesh_.nodes.size());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const auto original = static_cast<std::size_t>(first[c]);
      if (original == c) continue;
      // Into a file of format 2.2 Gmsh writes an element of two groups twice.
      if (entities_are_groups_ && cells.group[c] != cells.group[original]) {
        several_groups_ = true;
        continue;
      }
      const Vector3 at =
          mesh_.nodes[static_cast<std::size_t>(cells.nodes[static_cast<std::size_t>(cells.start[c])])];
      fail_to_import(
          file_,
          fmt::format("two cells have the same nodes, one of them ({:g}, {:g}, {:g}). Remove the copy, for "
                      "example with `Coherence Mesh;` in Gmsh",
                      at.x, at.y, at.z));
    }
    keep_elements(cells, [&](std::size_t c) { return first[c] == static_cast<Index>(c); });

    const auto ungrouped = std::count(cells.group.begin(), cells.group.end(), none);
    if (ungrouped > 0) {
      const bool grouped_too = !names.empty();
      const std::string rest = grouped_too ? "unnamed" : "domain";
      const auto position = std::find(names.begin(), names.end(), rest);
      const auto region = static_cast<Index>(position - names.begin());
      if (position == names.end()) names.push_back(rest);
      std::replace(cells.group.begin(), cells.group.end(), none, region);
      if (grouped_too) note("{} cells are in no physical group; they form the region \"unnamed\"", ungrouped);
    }
    mesh_.region_names = used_names(std::move(names), cells.group);
    mesh_.cell_types = std::move(cells.types);
    mesh_.cell_start = std::move(cells.start);
    mesh_.cell_nodes = std::move(cells.nodes);
    mesh_.cell_region = std::move(cells.group);
  }

  void take_faces(Elements faces, std::vector<std::string> names) {
    const std::size_t listed = faces.size();
    keep_elements(faces, [&](std::size_t f) {
      const auto end = faces.nodes.begin() + faces.start[f + 1];
      return std::find(faces.nodes.begin() + faces.start[f], end, none) == end;
    });
    if (faces.size() < listed)
      note("{} boundary elements touch no cell and were dropped", listed - faces.size());

    const std::vector<Index> first = first_with_same_nodes(faces.start, faces.nodes, mesh_.nodes.size());
    for (std::size_t f = 0; f < faces.size(); ++f)
      several_groups_ |= faces.group[f] != faces.group[static_cast<std::size_t>(first[f])];
    keep_elements(faces, [&](std::size_t f) { return first[f] == static_cast<Index>(f); });

    mesh_.patch_names = used_names(std::move(names), faces.group);
    mesh_.boundary_start = std::move(faces.start);
    mesh_.boundary_nodes = std::move(faces.nodes);
    mesh_.boundary_patch = std::move(faces.group);
  }

  /// Removes the elements for which `keep(element)` is false.
  template <class Keep>
  static void keep_elements(Elements& elements, const Keep& keep) {
    std::vector<std::size_t> kept;
    for (std::size_t e = 0; e < elements.size(); ++e)
      if (keep(e)) kept.push_back(e);
    if (kept.size() == elements.size()) return;
    Elements compact;
    compact.has_second_order = elements.has_second_order;
    for (const std::size_t e : kept) {
      compact.types.push_back(elements.types[e]);
      compact.group.push_back(elements.group[e]);
      compact.nodes.insert(compact.nodes.end(), elements.nodes.begin() + elements.start[e],
                           elements.nodes.begin() + elements.start[e + 1]);
      compact.start.push_back(static_cast<std::int64_t>(compact.nodes.size()));
    }
    elements = std::move(compact);
  }

  /// The names that some element uses; renumbers `groups` accordingly.
  static std::vector<std::string> used_names(std::vector<std::string> names, std::vector<Index>& groups) {
    std::vector<Index> number(names.size(), none);
    for (const Index group : groups) number[static_cast<std::size_t>(group)] = 0;
    std::vector<std::string> used;
    for (std::size_t g = 0; g < names.size(); ++g) {
      if (number[g] == none) continue;
      number[g] = static_cast<Index>(used.size());
      used.push_back(std::move(names[g]));
    }
    for (Index& group : groups) group = number[static_cast<std::size_t>(group)];
    return used;
  }

  const std::filesystem::path& file_;
  const Real scale_;
  const bool entities_are_groups_, only_grouped_;
  const PhysicalNames names_;
  bool several_groups_ = false;
  RawMesh mesh_;
};

}  // namespace

int element_dimension_present() {
  for (int dimension = 3; dimension >= 1; --dimension) {
    std::vector<int> types;
    gmsh::model::mesh::getElementTypes(types, dimension);
    if (!types.empty()) return dimension;
  }
  return 0;
}

RawMesh read_gmsh_model(const std::filesystem::path& file, Real scale, bool entities_are_groups,
                        PhysicalNames names, bool only_grouped) {
  return Reader(file, scale, entities_are_groups, std::move(names), only_grouped).read();
}

}  // namespace curlew
