// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/gmsh_import.hpp"

#include <fmt/format.h>
#include <gmsh.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "kernels/error.hpp"
#include "mesh/msh_check.hpp"

namespace curlew {
namespace {

using GmshTag = std::size_t;
constexpr Index none = -1;

[[noreturn]] void fail(const std::filesystem::path& file, std::string_view message) {
  throw InputError(fmt::format("{}: {}", file.string(), message));
}

/// Takes what is written to the process's standard output: the geometry kernel below Gmsh prints there, past
/// Gmsh's own settings, and standard output belongs to Curlew's results.
class StandardOutputCapture {
 public:
  StandardOutputCapture() {
    std::fflush(stdout);
    std::cout.flush();
    if (sink_ == nullptr || saved_ < 0)
      throw Error("standard output could not be set aside: no temporary file");
    dup2(fileno(sink_), STDOUT_FILENO);
  }
  ~StandardOutputCapture() {
    std::fflush(stdout);
    std::cout.flush();
    dup2(saved_, STDOUT_FILENO);
    close(saved_);
    std::fclose(sink_);
  }
  StandardOutputCapture(const StandardOutputCapture&) = delete;
  StandardOutputCapture& operator=(const StandardOutputCapture&) = delete;

  /// The first lines written so far, without terminal colours, on one line.
  std::string text() const {
    std::fflush(stdout);
    std::cout.flush();
    std::array<char, 1000> start{};
    const auto length = pread(fileno(sink_), start.data(), start.size(), 0);
    std::string plain;
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max<ssize_t>(length, 0)); ++i) {
      if (start[i] == '\033') {
        while (i < start.size() && start[i] != 'm') ++i;
      } else if (start[i] != '\n') {
        plain += start[i];
      } else if (!plain.empty() && plain.back() != ' ') {
        plain += ' ';
      }
    }
    return plain.substr(0, plain.find_last_not_of(' ') + 1);
  }

 private:
  std::FILE* sink_ = std::tmpfile();
  int saved_ = dup(STDOUT_FILENO);
};

/// The Gmsh library between initialisation and finalisation: silent, deaf to the user's own Gmsh settings,
/// its messages collected. Gmsh is one per process, so is this.
class GmshSession {
 public:
  GmshSession() {
    gmsh::initialize(0, nullptr, false);
    gmsh::option::setNumber("General.Terminal", 0);
    gmsh::option::setNumber("General.Verbosity", 2);   // errors and warnings
    gmsh::option::setNumber("General.NumThreads", 1);  // parallel meshing differs from run to run
    gmsh::logger::start();
  }
  ~GmshSession() {
    gmsh::logger::stop();
    gmsh::finalize();
    omp_set_num_threads(threads_);
  }
  GmshSession(const GmshSession&) = delete;
  GmshSession& operator=(const GmshSession&) = delete;

  /// Gmsh's own messages of one kind, "Error" or "Warning", each once and at most five.
  std::vector<std::string> messages(std::string_view kind) const {
    std::vector<std::string> log, found;
    gmsh::logger::get(log);
    const std::string prefix = fmt::format("{}: ", kind);
    for (const std::string& line : log) {
      if (!line.starts_with(prefix)) continue;
      std::string text = line.substr(prefix.size());
      if (std::find(found.begin(), found.end(), text) == found.end()) found.push_back(std::move(text));
      if (found.size() == 5) break;
    }
    return found;
  }

  /// What the libraries below Gmsh had to say.
  std::string printed() const { return output_.text(); }

 private:
  StandardOutputCapture output_;
  int threads_ = omp_get_max_threads();  // Gmsh sets the number of threads of the whole process
};

/// Runs one stage of Gmsh's work and turns its errors, thrown or logged, into an InputError.
template <class Work>
void run_gmsh(const GmshSession& session, const std::filesystem::path& file, std::string_view remedy,
              const Work& work) {
  std::string thrown;
  try {
    work();
  } catch (const InputError&) {
    throw;
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (const std::string& error) {
    thrown = error;
  }
  std::vector<std::string> errors = session.messages("Error");
  if (errors.empty() && !thrown.empty()) errors.push_back(thrown);
  if (errors.empty()) return;
  std::string report = errors.front();
  for (std::size_t e = 1; e < errors.size(); ++e) report += "; " + errors[e];
  if (const std::string printed = session.printed(); !printed.empty()) report += " (" + printed + ")";
  fail(file, fmt::format("Gmsh reports: {}. {}", report, remedy));
}

enum class FileKind { Msh, OtherMesh, Script, Step, Brep, Stl };

std::string lower(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

FileKind kind_of(const std::filesystem::path& file) {
  static const std::map<std::string, FileKind> kinds = {
      {".msh", FileKind::Msh},        {".unv", FileKind::OtherMesh},  {".vtk", FileKind::OtherMesh},
      {".mesh", FileKind::OtherMesh}, {".bdf", FileKind::OtherMesh},  {".nas", FileKind::OtherMesh},
      {".med", FileKind::OtherMesh},  {".cgns", FileKind::OtherMesh}, {".geo", FileKind::Script},
      {".step", FileKind::Step},      {".stp", FileKind::Step},       {".brep", FileKind::Brep},
      {".stl", FileKind::Stl}};
  const auto found = kinds.find(lower(file.extension().string()));
  if (found == kinds.end())
    fail(file,
         fmt::format("the extension '{}' is none that a mesh is read from. Meshes: .msh (Gmsh 2.2 and 4.1), "
                     ".unv, .vtk, .mesh, .bdf, .nas, .cgns, .med; geometries: .geo, .step, .stp, "
                     ".brep, .stl. Convert the file to .msh, for example with Gmsh",
                     file.extension().string()));
  return found->second;
}

/// What a file must be before Gmsh sees it: there, a file, readable, not empty.
void require_readable(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::exists(file, status))
    fail(file, "no such file. Give the path of a mesh or geometry, relative to the case file");
  if (!std::filesystem::is_regular_file(file, status))
    fail(file, "this is not a regular file; a mesh is expected");
  if (!std::ifstream(file)) fail(file, "the file cannot be opened for reading. Check its permissions");
  if (std::filesystem::file_size(file, status) == 0)
    fail(file, "the file is empty. Write the mesh again, or check that its copy is complete");
}

/// The statement Exit in a Gmsh script ends the process that reads it.
void require_no_exit(const std::filesystem::path& file) {
  static const std::regex statement(R"((^|[\s;{}])Exit\s*\d*\s*;)");
  std::ifstream in(file);
  std::string line;
  for (int number = 1; std::getline(in, line); ++number)
    if (std::regex_search(line.substr(0, line.find("//")), statement))
      throw InputError(
          fmt::format("{}:{}: the statement Exit would end the whole program. Use Abort, or remove it",
                      file.string(), number));
}

using PhysicalNames = std::map<std::pair<int, int>, std::string>;

/// Names of physical groups by dimension and tag, as a .msh file lists them: of several groups of one name
/// Gmsh keeps the name of the first alone.
PhysicalNames physical_names(const std::filesystem::path& file) {
  PhysicalNames names;
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line) && !line.starts_with("$PhysicalNames"))
    if (line.starts_with("$Nodes") || line.starts_with("$Entities")) return names;
  int count = 0, dimension = 0, tag = 0;
  in >> count;
  for (int n = 0; n < count && in >> dimension >> tag && std::getline(in, line); ++n) {
    if (dimension < 0 || dimension > 3)
      fail(file,
           fmt::format("it names a physical group of dimension {}; 0 to 3 are possible. Write the mesh again",
                       dimension));
    const auto open = line.find('"'), close = line.rfind('"');
    if (open < close) names[{dimension, tag}] = line.substr(open + 1, close - open - 1);
  }
  return names;
}

/// The MSH version of a file, 2.2 as 2.2; fails where the file is no MSH file.
double msh_version(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  // Comment sections may stand before the header.
  while (std::getline(in, line) && line.starts_with("$Comments"))
    while (std::getline(in, line) && !line.starts_with("$EndComments")) continue;
  double version = 0;
  if (!line.starts_with("$MeshFormat") || !(in >> version))
    fail(file,
         "this is not a Gmsh mesh: a .msh file starts with $MeshFormat. (Other programs use .msh too.) "
         "Export the mesh in Gmsh's format 2.2 or 4.1");
  const bool known = version == 2 || version == 2.1 || version == 2.2 || version == 4 || version == 4.1;
  if (!known)
    fail(file,
         fmt::format("this is a Gmsh mesh of format {}; formats 2.2 and 4.1 are read. Save it again with "
                     "`gmsh -0 {} -format msh41 -o NEW.msh`",
                     version, file.filename().string()));
  return version;
}

int element_dimension_present() {
  for (int dimension = 3; dimension >= 1; --dimension) {
    std::vector<int> types;
    gmsh::model::mesh::getElementTypes(types, dimension);
    if (!types.empty()) return dimension;
  }
  return 0;
}

/// Turns the open surface model of an STL file into a closed volume.
void build_stl_volume(bool remesh_surface) {
  // Surfaces meet where triangles turn by more than 40 degrees.
  gmsh::model::mesh::classifySurfaces(40 * std::numbers::pi / 180, true, remesh_surface, std::numbers::pi);
  gmsh::model::mesh::createGeometry();
  gmsh::vectorpair surfaces;
  gmsh::model::getEntities(surfaces, 2);
  std::vector<int> tags;
  for (const auto& [dimension, tag] : surfaces) tags.push_back(tag);
  gmsh::model::geo::addVolume({gmsh::model::geo::addSurfaceLoop(tags)});
  gmsh::model::geo::synchronize();
}

/// Formats whose library a build of Gmsh may lack.
void require_format_built_in(const std::filesystem::path& file) {
  const std::string extension = lower(file.extension().string());
  const std::string format = extension == ".cgns" ? "Cgns" : extension == ".med" ? "Med" : "";
  std::string built_in;
  gmsh::option::getString("General.BuildOptions", built_in);
  if ((" " + built_in + " ").find(" " + format) == std::string::npos)
    fail(file, fmt::format(
                   "this build of Gmsh was made without {} files. Convert the mesh to .msh where it was made",
                   extension));
}

/// Opens the file and, where it is a geometry, meshes it. Afterwards the current Gmsh model holds the mesh.
void open_and_mesh(const GmshSession& session, const std::filesystem::path& file, FileKind kind,
                   const GmshImportOptions& options) {
  const bool is_mesh = kind == FileKind::Msh || kind == FileKind::OtherMesh;
  require_format_built_in(file);
  gmsh::option::setNumber("Mesh.PartitionConvertMsh2", 0);  // the partition of a file is none of ours
  // A reader of meshes that goes on after an error may crash, so it throws; the parser of scripts would be
  // left half way by an exception, so its errors are taken from the log.
  gmsh::option::setNumber("General.AbortOnError", is_mesh ? 2 : 0);
  if (kind == FileKind::Step) gmsh::option::setString("Geometry.OCCTargetUnit", "M");
  run_gmsh(session, file,
           is_mesh ? "Write the mesh again, or check that its copy is complete"
                   : "Correct the geometry so that Gmsh opens it",
           [&] {
             if (kind == FileKind::Msh) check_msh(file);
             gmsh::open(file.string());
           });
  if (is_mesh) return;

  if (kind == FileKind::Stl && element_dimension_present() != 2)
    fail(file, "it has no triangles, so it is no STL surface. Export it again");
  const std::string_view remedy =
      kind == FileKind::Stl
          ? "The triangles must form one closed surface; repair it, or mesh the part elsewhere"
          : "Correct the geometry, or change the mesh size, so that Gmsh can mesh it";
  if (kind == FileKind::Stl) run_gmsh(session, file, remedy, [&] { build_stl_volume(options.size > 0); });
  if (options.size > 0) {
    const double size = options.size / options.scale;
    gmsh::option::setNumber("Mesh.CharacteristicLengthMin", size);
    gmsh::option::setNumber("Mesh.CharacteristicLengthMax", size);
  }
  gmsh::vectorpair volumes;
  gmsh::model::getEntities(volumes, 3);
  const int dimension = volumes.empty() ? 2 : 3;
  // A script may have meshed already (Mesh 3;) and then transformed its mesh.
  if (element_dimension_present() == dimension) return;
  run_gmsh(session, file, remedy, [&] { gmsh::model::mesh::generate(dimension); });
}

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

/// `entities_are_groups`: the mesh was read so that each entity holds the elements of one physical group and
/// has its number (Gmsh's Mesh.SwitchElementTags).
Groups read_groups(int dimension, bool entities_are_groups, const PhysicalNames& names) {
  Groups groups;
  std::map<std::string, Index> number;
  const auto add = [&](int tag) {
    std::string name;
    if (const auto named = names.find({dimension, tag}); named != names.end())
      name = named->second;
    else
      gmsh::model::getPhysicalName(dimension, tag, name);
    if (name.empty()) name = fmt::format("group_{}", tag);
    const auto [position, inserted] = number.try_emplace(name, static_cast<Index>(groups.names.size()));
    if (inserted) groups.names.push_back(name);
    return position->second;
  };
  gmsh::vectorpair tags;
  if (entities_are_groups) {
    gmsh::model::getEntities(tags, dimension);
    for (const auto& [_, tag] : tags)
      if (tag != 0) groups.of[tag] = {add(std::abs(tag))};
    return groups;
  }
  gmsh::model::getPhysicalGroups(tags, dimension);
  for (const auto& [_, tag] : tags) {
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
  std::size_t second_order = 0;

  std::size_t size() const { return start.size() - 1; }
};

Elements read_elements(const std::filesystem::path& file, int dimension, const Groups& groups,
                       const NodePlaces& places, bool only_grouped) {
  Elements elements;
  gmsh::vectorpair entities;
  gmsh::model::getEntities(entities, dimension);
  for (const auto& [_, entity] : entities) {
    const auto found = groups.of.find(entity);
    if (only_grouped && found == groups.of.end()) continue;
    const Index group = found == groups.of.end() ? none : found->second.front();
    std::vector<int> types;
    std::vector<std::vector<GmshTag>> tags, nodes;
    gmsh::model::mesh::getElements(types, tags, nodes, dimension, entity);
    for (std::size_t t = 0; t < types.size(); ++t) {
      const ElementType type = element_type(types[t]);
      if (dimension > 1 && !type.cell)
        fail(file, fmt::format(
                       "it has elements of type \"{}\"; cells may be triangles, quadrilaterals, tetrahedra, "
                       "hexahedra, prisms and pyramids. Mesh without that type",
                       type.name));
      const std::size_t before = elements.size();
      const std::size_t count = nodes[t].size() / type.nodes;
      if (type.order > 1) elements.second_order += count;
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
    fail(file,
         "it has more than 2^31 corners of elements, more than one process can read. Use a coarser mesh");
  return elements;
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
  Reader(const std::filesystem::path& file, Real scale, bool entities_are_groups, PhysicalNames names)
      : file_(file), scale_(scale), entities_are_groups_(entities_are_groups), names_(std::move(names)) {}

  RawMesh read() {
    mesh_.dimension = element_dimension_present();
    if (mesh_.dimension < 2)
      fail(file_,
           "it has no cells: neither volume elements nor, for a two-dimensional mesh, surface elements. "
           "Check that the mesh was generated and saved with all its elements");
    const Groups regions = read_groups(mesh_.dimension, entities_are_groups_, names_);
    const Groups patches = read_groups(mesh_.dimension - 1, entities_are_groups_, names_);
    several_groups_ = regions.shared_entities || patches.shared_entities;
    std::vector<GmshTag> tags;
    std::vector<double> coordinates, parametric;
    gmsh::model::mesh::getNodes(tags, coordinates, parametric, -1, -1, false, false);
    const NodePlaces places(tags);
    Elements cells = read_elements(file_, mesh_.dimension, regions, places, false);
    Elements faces = read_elements(file_, mesh_.dimension - 1, patches, places, true);
    if (cells.second_order > 0)
      note(
          "{} cells are of second or higher order; only their corner nodes are used, so curved sides became "
          "straight",
          cells.second_order);
    number_nodes(cells, faces, tags, coordinates, places);
    if (mesh_.dimension == 2) flatten();
    take_cells(std::move(cells), regions.names);
    take_faces(std::move(faces), patches.names);
    if (several_groups_)
      note("Some elements are in several physical groups; the group with the lowest number counts");
    return std::move(mesh_);
  }

 private:
  template <class... Arguments>
  void note(fmt::format_string<Arguments...> text, Arguments&&... arguments) {
    mesh_.notes.push_back(fmt::format(text, std::forward<Arguments>(arguments)...) + ".");
  }

  /// Keeps the nodes that cells use, in the order of their tags, and gives the elements their numbers.
  void number_nodes(Elements& cells, Elements& faces, const std::vector<GmshTag>& tags,
                    const std::vector<double>& coordinates, const NodePlaces& places) {
    constexpr Index used = 0;
    std::vector<Index> number(tags.size(), none);
    for (const Index place : cells.nodes) {
      if (place == none) fail(file_, "a cell uses a node that the file does not have. Write the mesh again");
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
        fail(file_, fmt::format(
                        "node {} lies at ({}, {}, {}), which are no finite coordinates. Write the mesh again",
                        tags[p], point.x, point.y, point.z));
      mesh_.nodes.push_back(scale_ * point);
    });
    // The middle nodes of cells of higher order have their own note.
    if (dropped > 0 && cells.second_order == 0) note("{} nodes belong to no cell and were dropped", dropped);
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
      fail(file_,
           fmt::format(
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
      fail(file_,
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
  const bool entities_are_groups_;
  const PhysicalNames names_;
  bool several_groups_ = false;
  RawMesh mesh_;
};

/// True where a file of format 2.2 gives elements of one entity different groups: entities then do not tell
/// the group of an element.
bool groups_cut_entities() {
  const int dimension = element_dimension_present();
  return read_groups(dimension, false, {}).shared_entities ||
         (dimension > 0 && read_groups(dimension - 1, false, {}).shared_entities);
}

}  // namespace

RawMesh import_mesh(const std::filesystem::path& file, const GmshImportOptions& options) {
  if (!(options.scale > 0) || !std::isfinite(options.scale))
    fail(file, fmt::format("scale is {}; a positive number is expected", options.scale));
  if (!(options.size >= 0) || !std::isfinite(options.size))
    fail(file,
         fmt::format("size is {}; a length in metres, or 0 for the file's own, is expected", options.size));
  const FileKind kind = kind_of(file);
  require_readable(file);
  if (kind == FileKind::Script) require_no_exit(file);
  const double version = kind == FileKind::Msh ? msh_version(file) : 0;

  PhysicalNames names = kind == FileKind::Msh ? physical_names(file) : PhysicalNames();

  const GmshSession session;
  open_and_mesh(session, file, kind, options);
  bool entities_are_groups = false;
  if (kind == FileKind::Msh && version < 3 && groups_cut_entities()) {
    entities_are_groups = true;
    gmsh::option::setNumber("Mesh.SwitchElementTags", 1);
    gmsh::clear();
    open_and_mesh(session, file, kind, options);
  }
  RawMesh mesh = Reader(file, options.scale, entities_are_groups, std::move(names)).read();
  if (kind == FileKind::Step) mesh.notes.push_back("Lengths of the geometry were converted to metres.");
  for (const std::string& warning : session.messages("Warning"))
    mesh.notes.push_back(fmt::format("Gmsh warns: {}.", warning));
  return mesh;
}

}  // namespace curlew
