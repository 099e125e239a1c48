// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/gmsh_import.hpp"

#include <fmt/format.h>
#include <gmsh.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <numbers>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/error.hpp"
#include "mesh/import/gmsh_model.hpp"
#include "mesh/import/gmsh_session.hpp"
#include "mesh/import/msh_check.hpp"

namespace curlew {
namespace {

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
    fail_to_import(
        file,
        fmt::format("the extension '{}' is none that a mesh is read from. Meshes: .msh (Gmsh 2.2 and 4.1), "
                    ".unv, .vtk, .mesh, .bdf, .nas, .cgns, .med, and Curlew's own .h5; geometries: .geo, "
                    ".step, .stp, "
                    ".brep, .stl. Convert the file to .msh, for example with Gmsh",
                    file.extension().string()));
  return found->second;
}

/// What a file must be before Gmsh sees it: there, a file, readable, not empty.
void require_readable(const std::filesystem::path& file) {
  std::error_code status;
  if (!std::filesystem::exists(file, status))
    fail_to_import(file, "no such file. Give the path of a mesh or geometry");
  if (!std::filesystem::is_regular_file(file, status))
    fail_to_import(file, "this is not a regular file; a mesh is expected");
  if (!std::ifstream(file))
    fail_to_import(file, "the file cannot be opened for reading. Check its permissions");
  if (std::filesystem::file_size(file, status) == 0)
    fail_to_import(file, "the file is empty. Write the mesh again, or check that its copy is complete");
}

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
      fail_to_import(
          file,
          fmt::format("it names a physical group of dimension {}; 0 to 3 are possible. Write the mesh again",
                      dimension));
    const auto open = line.find('"'), close = line.rfind('"');
    if (open < close) names[{dimension, tag}] = line.substr(open + 1, close - open - 1);
  }
  return names;
}

/// Fails where the file is no MSH file or of a version that is not read.
void require_known_msh_version(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  // Comment sections may stand before the header.
  while (std::getline(in, line) && line.starts_with("$Comments"))
    while (std::getline(in, line) && !line.starts_with("$EndComments")) continue;
  double version = 0;
  if (!line.starts_with("$MeshFormat") || !(in >> version))
    fail_to_import(
        file,
        "this is not a Gmsh mesh: a .msh file starts with $MeshFormat. (Other programs use .msh too.) "
        "Export the mesh in Gmsh's format 2.2 or 4.1");
  const bool known = version == 2 || version == 2.1 || version == 2.2 || version == 4 || version == 4.1;
  if (!known)
    fail_to_import(
        file,
        fmt::format("this is a Gmsh mesh of format {}; formats 2.2 and 4.1 are read. Save it again with "
                    "`gmsh -0 {} -format msh41 -o NEW.msh`",
                    version, file.filename().string()));
}

/// Fails for a VTK file of a version that Gmsh takes for an older one: it reads past the end of its memory.
void require_known_vtk_version(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string hash, vtk, data_file, word;
  double version = 0;
  in >> hash >> vtk >> data_file >> word >> version;  // "# vtk DataFile Version 5.1"
  if (version > 4.2)
    fail_to_import(file, fmt::format("this is a VTK file of version {}; versions up to 4.2 are read. Save it "
                                     "as legacy VTK of version 4.2, or as .msh",
                                     version));
}

/// Fails for a file of a format whose last line is always the same where it is another: Gmsh reads as much as
/// is there of one that is cut off.
void require_last_line(const std::filesystem::path& file) {
  static const std::map<std::string, std::string> last_lines = {
      {".bdf", "ENDDATA"}, {".nas", "ENDDATA"}, {".mesh", "End"}, {".unv", "-1"}};
  const auto found = last_lines.find(lower(file.extension().string()));
  if (found == last_lines.end()) return;
  constexpr std::uintmax_t enough = 4096;
  const std::uintmax_t size = std::filesystem::file_size(file);
  std::ifstream in(file);
  in.seekg(static_cast<std::streamoff>(size - std::min(size, enough)));
  std::string last;
  for (std::string line, word; std::getline(in, line);) {
    const bool is_comment = line.starts_with('$') || line.starts_with('#');
    if (std::istringstream(line) >> word && !is_comment) last = word;
  }
  if (lower(last) != lower(found->second))
    fail_to_import(
        file, fmt::format("its last line is not {}, as in every whole file of this format: it is cut off. "
                          "Write the mesh again, or check that its copy is complete",
                          found->second));
}

/// Fails for a file with cells or faces of kinds that Gmsh passes over in its format without a word.
void require_known_elements(const std::filesystem::path& file) {
  using Kinds = std::vector<std::string>;
  static const Kinds of_nastran = {"CPYRA", "CQUADR", "CTRIAR"};
  static const std::map<std::string, Kinds> passed_over = {
      {".bdf", of_nastran}, {".nas", of_nastran}, {".mesh", {"Prisms", "Pyramids"}}};
  const auto found = passed_over.find(lower(file.extension().string()));
  if (found == passed_over.end()) return;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string kind = line.substr(begin, line.find_first_of(" \t\r,*", begin) - begin);
    if (std::ranges::find(found->second, kind) == found->second.end()) continue;
    fail_to_import(file,
                   fmt::format("it has {}, which Gmsh does not read from files of this format: they would be "
                               "missing. Write the mesh as .msh",
                               kind));
  }
}

/// Fails for a .mesh file with a section of more or fewer lines than it says: Gmsh takes lines of the next
/// one for elements, or leaves some out.
void require_counts_of_medit(const std::filesystem::path& file) {
  if (lower(file.extension().string()) != ".mesh") return;
  std::string section;
  std::optional<std::int64_t> listed;  // nothing: the number is yet to come
  std::int64_t lines = 0;
  const auto finish = [&] {
    constexpr std::array sections{"Vertices",       "Edges",      "Triangles",
                                  "Quadrilaterals", "Tetrahedra", "Hexahedra"};
    if (std::ranges::count(sections, section) > 0 && listed && *listed != lines)
      fail_to_import(file,
                     fmt::format("it says that it has {} {} and lists {}. Write the mesh again, or check "
                                 "that its copy is complete",
                                 *listed, section, lines));
  };
  std::ifstream in(file);
  for (std::string line, word; std::getline(in, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    if (!(words >> word)) continue;
    if (std::isalpha(static_cast<unsigned char>(word.front())) != 0) {
      finish();
      section = word;
      lines = 0;
      listed.reset();
      if (std::int64_t number = 0; words >> number) listed = number;
    } else if (!listed) {
      if (std::int64_t number = 0; std::istringstream(word) >> number) listed = number;
    } else {
      ++lines;
    }
  }
  finish();
}

/// Fails for what Nastran knows and Gmsh passes over or takes for something else: files that are included,
/// cards in small letters, and coordinates of grid points in systems of their own.
void require_plain_nastran(const std::filesystem::path& file) {
  const std::string extension = lower(file.extension().string());
  if (extension != ".bdf" && extension != ".nas") return;
  const auto refuse = [&](const std::string& what) {
    fail_to_import(
        file,
        what + ", which Gmsh does not read: the mesh would be another one. Write it without, or as .msh");
  };
  const auto is_begin = [](const std::string& line) { return lower(line.substr(0, 5)) == "begin"; };
  bool in_bulk = true;  // what comes before is no card
  {
    std::ifstream in(file);
    for (std::string line; in_bulk && std::getline(in, line);) in_bulk = !is_begin(line);
  }
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!in_bulk) {
      in_bulk = is_begin(line);
      continue;
    }
    line.resize(std::min(line.size(), line.find('$')));
    const std::size_t begin_of_card = std::min(line.find_first_not_of(" \t"), line.size());
    const std::string card =
        line.substr(begin_of_card, line.find_first_of(" \t\r,*'\"", begin_of_card) - begin_of_card);
    if (lower(card) == "include") refuse("it includes another file");
    if (card != "GRID" && card != "GRDSET") {
      const std::string name = lower(card);
      const bool has_nodes =
          std::ranges::any_of(std::array{"grid", "grdset", "ctria", "cquad", "ctetra", "chexa", "cpenta"},
                              [&](const char* kind) { return name.starts_with(kind); });
      const bool is_small = std::ranges::any_of(card, [](char c) { return c >= 'a' && c <= 'z'; });
      if (has_nodes && is_small) refuse(fmt::format("it has cards in small letters (\"{}\")", card));
      continue;
    }
    // The field behind the number of the point, 8 characters or, with an asterisk, 16 wide.
    const bool free = line.find(',') != std::string::npos, wide = line.find('*') < 8;
    std::string system;
    if (free) {
      std::istringstream fields(line);
      for (int k = 0; k < 3; ++k)
        if (!std::getline(fields, system, ',')) system.clear();
    } else {
      const std::size_t begin = wide ? 24 : 16;
      if (line.size() > begin) system = line.substr(begin, wide ? 16 : 8);
    }
    int number = 0;
    if (std::istringstream(system) >> number && number != 0)
      refuse(fmt::format("it has points in the coordinate system {}", number));
  }
}

/// What there is to say of groups that Gmsh passes over; empty: nothing.
std::string note_on_groups(const std::filesystem::path& file) {
  if (lower(file.extension().string()) != ".unv") return "";
  std::ifstream in(file);
  std::string before;
  for (std::string line, word; std::getline(in, line); before = word) {
    word.clear();
    std::istringstream(line) >> word;
    if (before == "-1" && word == "2467")
      return "Its groups are in a dataset 2467, as Salome writes them, which Gmsh does not read: regions and "
             "patches "
             "are those of other numbers, if any. Write the mesh as .msh for their names.";
  }
  return "";
}

/// Whether elements have no other group than a number each, a property's (.bdf) or a reference (.mesh).
bool numbers_elements(const std::filesystem::path& file) {
  const std::string extension = lower(file.extension().string());
  return extension == ".bdf" || extension == ".nas" || extension == ".mesh";
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

/// Of a last line without a line break Gmsh leaves out statements behind the first one, silently.
void require_whole_last_line(const std::filesystem::path& file) {
  std::ostringstream contents;
  contents << std::ifstream(file).rdbuf();
  const std::string text = std::move(contents).str();
  enum class Inside { Nothing, String, Line, Block } inside = Inside::Nothing;  // the last two are comments
  int depth = 0;                                       // in braces, which may hold statements
  bool has_statement = false, goes_on_behind = false;  // of the line
  for (std::size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    const std::string_view pair = std::string_view(text).substr(k, 2);
    if (c == '\n') {
      has_statement = goes_on_behind = false;
      if (inside == Inside::Line) inside = Inside::Nothing;
    } else if (inside == Inside::String) {
      if (c == '"') inside = Inside::Nothing;
    } else if (inside == Inside::Block) {
      if (pair == "*/") inside = Inside::Nothing, ++k;
    } else if (inside == Inside::Nothing && (pair == "//" || pair == "/*")) {
      inside = pair == "//" ? Inside::Line : Inside::Block;
      ++k;
    } else if (inside == Inside::Nothing) {
      goes_on_behind = goes_on_behind || (has_statement && c != ';' && c != ' ' && c != '\t' && c != '\r');
      has_statement = has_statement || (c == ';' && depth <= 0);
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      if (c == '"') inside = Inside::String;
    }
  }
  if (goes_on_behind)
    fail_to_import(file,
                   "its last line has no line break, and Gmsh leaves out what follows the first statement "
                   "there. End the line");
}

/// Whether a script names a STEP file and leaves it to Gmsh which unit that comes in.
bool merges_step(const std::filesystem::path& file) {
  std::string unit;
  gmsh::option::getString("Geometry.OCCTargetUnit", unit);
  if (!unit.empty()) return false;
  static const std::regex step("\\.(step|stp)\"", std::regex::icase);
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (std::regex_search(line.substr(0, line.find("//")), step)) return true;
  return false;
}

/// Formats whose library a build of Gmsh may lack.
void require_format_built_in(const std::filesystem::path& file) {
  const std::string extension = lower(file.extension().string());
  const std::string format = extension == ".cgns" ? "Cgns" : extension == ".med" ? "Med" : "";
  std::string built_in;
  gmsh::option::getString("General.BuildOptions", built_in);
  if ((" " + built_in + " ").find(" " + format) == std::string::npos)
    fail_to_import(
        file, fmt::format(
                  "this build of Gmsh was made without {} files. Convert the mesh to .msh where it was made",
                  extension));
}

/// Fails for a size at which the geometry has more cells than can be meshed. From some size on Gmsh can no
/// longer count the points of a curve, and makes none.
void require_possible_size(const std::filesystem::path& file, const GmshImportOptions& options) {
  gmsh::vectorpair entities;
  gmsh::model::getEntities(entities);
  if (entities.empty()) return;
  Vector3 low, high;
  gmsh::model::getBoundingBox(-1, -1, low.x, low.y, low.z, high.x, high.y, high.z);
  constexpr double most = 1e8;  // side by side
  const double extent = options.scale * norm(high - low);
  if (extent > most * options.size)
    fail_to_import(file,
                   fmt::format("size is {} m, and the geometry reaches over {:.3g} m: more cells than can be "
                               "made; a target size of cells in metres is expected",
                               options.size, extent));
}

/// Gmsh scales what it saves, and nothing before: the mesh would be of another size than its file.
void require_no_scaling(const std::filesystem::path& file) {
  double factor = 1;
  gmsh::option::getNumber("Mesh.ScalingFactor", factor);
  if (factor == 1) return;
  fail_to_import(file, fmt::format("Mesh.ScalingFactor is {:g}, which Gmsh applies to files that it saves "
                                   "only. Remove it, and give scale = {:g} in [mesh] (--scale) instead",
                                   factor, factor));
}

/// Opens the file and, where it is a geometry, meshes it. Afterwards the current Gmsh model holds the mesh.
/// Returns whether each entity of the model holds the elements of one group and has its number.
bool open_and_mesh(const GmshSession& session, const std::filesystem::path& file, FileKind kind,
                   const GmshImportOptions& options) {
  const bool is_mesh = kind == FileKind::Msh || kind == FileKind::OtherMesh;
  require_format_built_in(file);
  gmsh::option::setNumber("Mesh.PartitionConvertMsh2", 0);  // the partition of a file is none of ours
  // A reader of meshes that goes on after an error may crash, so it throws; the parser of scripts would be
  // left half way by an exception, so its errors are taken from the log.
  gmsh::option::setNumber("General.AbortOnError", is_mesh ? 2 : 0);
  if (kind == FileKind::Step) gmsh::option::setString("Geometry.OCCTargetUnit", "M");
  bool entities_are_groups = numbers_elements(file);
  session.run(file,
              is_mesh
                  ? "Write the mesh again, in another format where this one has what Gmsh does not read, or "
                    "check that its copy is complete"
                  : "Correct the geometry so that Gmsh opens it",
              [&] {
                if (kind == FileKind::Msh) {
                  entities_are_groups = check_msh(file);
                  gmsh::option::setNumber("Mesh.SwitchElementTags", entities_are_groups);
                }
                gmsh::open(file.string());
              });
  if (is_mesh) return entities_are_groups;
  require_no_scaling(file);

  if (kind == FileKind::Stl && element_dimension_present() != 2)
    fail_to_import(file, "it has no triangles, so it is no STL surface. Export it again");
  const std::string_view remedy =
      kind == FileKind::Stl
          ? "The triangles must form one closed surface; repair it, or mesh the part elsewhere"
          : "Correct the geometry, or change the mesh size, so that Gmsh can mesh it";
  if (kind == FileKind::Stl) session.run(file, remedy, [&] { build_stl_volume(options.size > 0); });
  if (options.size > 0) {
    require_possible_size(file, options);
    const double size = options.size / options.scale;
    gmsh::option::setNumber("Mesh.CharacteristicLengthMin", size);
    gmsh::option::setNumber("Mesh.CharacteristicLengthMax", size);
  }
  gmsh::vectorpair volumes;
  gmsh::model::getEntities(volumes, 3);
  const int dimension = volumes.empty() ? 2 : 3;
  // A script may have meshed already (Mesh 3;) and then transformed its mesh.
  if (element_dimension_present() != dimension)
    session.run(file, remedy, [&] { gmsh::model::mesh::generate(dimension); });
  return false;
}

}  // namespace

RawMesh import_mesh(const std::filesystem::path& file, const GmshImportOptions& options) {
  if (!(options.scale > 0) || !std::isfinite(options.scale))
    fail_to_import(file, fmt::format("scale is {}; a positive number is expected", options.scale));
  if (!(options.size >= 0) || !std::isfinite(options.size))
    fail_to_import(file, fmt::format("size is {}; a length in metres, or 0 for the file's own, is expected",
                                     options.size));
  require_readable(file);
  const FileKind kind = kind_of(file);
  if (options.size > 0 && (kind == FileKind::Msh || kind == FileKind::OtherMesh))
    fail_to_import(file, "size is for geometries, and this is a mesh; drop size");
  if (kind == FileKind::Msh) require_known_msh_version(file);
  if (kind == FileKind::Script) require_whole_last_line(file);
  if (lower(file.extension().string()) == ".vtk") require_known_vtk_version(file);
  if (kind == FileKind::OtherMesh) {
    require_last_line(file);
    require_known_elements(file);
    require_counts_of_medit(file);
    require_plain_nastran(file);
  }

  PhysicalNames names = kind == FileKind::Msh ? physical_names(file) : PhysicalNames();

  const GmshSession session;
  const bool entities_are_groups = open_and_mesh(session, file, kind, options);
  double save_all = 0;
  gmsh::option::getNumber("Mesh.SaveAll", save_all);
  const bool only_grouped = kind == FileKind::Script && save_all == 0;
  RawMesh mesh = read_gmsh_model(file, options.scale, entities_are_groups, std::move(names), only_grouped);
  if (kind == FileKind::Script && merges_step(file))
    mesh.notes.push_back(
        "What a script merges from a STEP file is in millimetres, unless it says Geometry.OCCTargetUnit = "
        "\"M\" before or scales it; if the mesh is too large by a thousand, give scale = 0.001.");
  if (kind == FileKind::Step) mesh.notes.push_back("Lengths of the geometry were converted to metres.");
  if (const std::string note = note_on_groups(file); !note.empty()) mesh.notes.push_back(note);
  for (const std::string& warning : session.messages("Warning"))
    mesh.notes.push_back(fmt::format("Gmsh warns: {}.", warning));
  return mesh;
}

}  // namespace curlew
