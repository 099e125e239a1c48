// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "mesh/import/msh_check.hpp"

#include <fmt/format.h>
#include <gmsh.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/error.hpp"

namespace curlew {
namespace {

class MshCheck {
 public:
  explicit MshCheck(const std::filesystem::path& file)
      : file_(file), text_(std::filesystem::file_size(file), '\0') {
    std::ifstream(file, std::ios::binary).read(text_.data(), static_cast<std::streamsize>(text_.size()));
  }

  /// As check_msh.
  bool run() {
    if (!enter("$MeshFormat")) return false;  // not for this check to say
    const double version = word<double>();
    binary_ = word<int>() == 1;
    if (binary_) {
      word<int>();
      end_line();
      if (take<std::int32_t>() != 1)
        fail("it is binary with the byte order of another machine. Save it as ASCII");
    }
    if (version < 3) {
      if (enter("$Nodes")) binary_ ? nodes_of_22_binary() : nodes_of_22_ascii();
      if (enter("$Elements")) binary_ ? elements_of_22_binary() : elements_of_22_ascii();
    } else if (version > 4.05) {
      if (binary_ && enter("$Entities")) entities_of_41_binary();
      if (enter("$Nodes")) nodes_of_41();
      if (enter("$Elements")) elements_of_41();
    }
    return groups_cut_entities_;
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("{}: {}", file_.string(), message));
  }
  [[noreturn]] void fail_short() const {
    fail(
        "it is damaged: its counts and its content disagree, or it ends early. Write the mesh again, or "
        "check that "
        "its copy is complete");
  }

  /// Moves behind the line that opens a section; false where there is none.
  bool enter(std::string_view section) {
    at_ = text_.find(section, 0);
    while (at_ != std::string::npos && at_ > 0 && text_[at_ - 1] != '\n') at_ = text_.find(section, at_ + 1);
    if (at_ == std::string::npos) return false;
    end_line();
    return true;
  }
  void end_line() {
    at_ = text_.find('\n', at_);
    if (at_ == std::string::npos) fail_short();
    ++at_;
  }

  /// The next number in text.
  template <class Number>
  Number word() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t'))
      ++at_;
    Number number = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc()) fail_short();
    at_ = static_cast<std::size_t>(end - text_.data());
    return number;
  }

  /// The next binary number.
  template <class Number>
  Number take() {
    Number number;
    require_bytes(1, sizeof number);
    std::memcpy(&number, text_.data() + at_, sizeof number);
    at_ += sizeof number;
    return number;
  }
  /// The next number, in text or binary as the file is.
  template <class Number>
  Number next() {
    return binary_ ? take<Number>() : word<Number>();
  }
  void require_bytes(std::uint64_t count, std::uint64_t bytes_each) const {
    if (bytes_each > 0 && count > (text_.size() - at_) / bytes_each) fail_short();
  }
  void skip(std::uint64_t bytes) {
    require_bytes(1, bytes);
    at_ += bytes;
  }

  void require_positive(std::int64_t tag) const {
    if (tag < 1)
      fail(fmt::format("it has a node with the number {}; nodes are numbered from 1 on. Write the mesh again",
                       tag));
  }
  void see_node(std::int64_t tag) {
    require_positive(tag);
    lowest_ = std::min(lowest_, tag);
    highest_ = std::max(highest_, tag);
  }
  void require_node(std::int64_t tag) const {
    if (tag < lowest_ || tag > highest_)
      fail(fmt::format("an element uses node {}; the nodes are numbered from {} to {}. Write the mesh again",
                       tag, lowest_, highest_));
  }

  struct ElementType {
    std::string name;
    int dimension = 0, nodes = 0, corners = 0;
  };
  const ElementType& element_type(int type) {
    const auto [entry, fresh] = element_types_.try_emplace(type);
    if (fresh) {
      int order = 0;
      std::vector<double> coordinates;
      gmsh::model::mesh::getElementProperties(type, entry->second.name, entry->second.dimension, order,
                                              entry->second.nodes, coordinates, entry->second.corners);
      if (entry->second.nodes <= 0)
        fail(fmt::format("it has elements of type {}, which Gmsh does not know", type));
    }
    return entry->second;
  }
  std::uint64_t nodes_of_type(int type) { return static_cast<std::uint64_t>(element_type(type).nodes); }
  void see_type(int type, std::int32_t entity) {
    const ElementType& properties = element_type(type);
    const auto [entry, fresh] =
        type_of_shape_.try_emplace({properties.dimension, entity, properties.corners}, type);
    if (entry->second != type)
      fail(
          fmt::format("entity {} of dimension {} has elements of the types \"{}\" and \"{}\", of which Gmsh "
                      "reads the first alone. Mesh it with elements of one order",
                      entity, properties.dimension, element_type(entry->second).name, properties.name));
  }

  /// The tags of an element of format 2.2: its physical group, its entity, and others.
  void tags_of_22(int type, int count) {
    const std::int64_t group = count > 0 ? std::abs(std::int64_t{next<std::int32_t>()}) : 0;
    const std::int32_t entity = count > 1 ? next<std::int32_t>() : 0;
    for (int tag = 2; tag < count; ++tag) next<std::int32_t>();
    see_type(type, entity);
    const auto [entry, fresh] = group_of_entity_.try_emplace({element_type(type).dimension, entity}, group);
    groups_cut_entities_ |= entry->second != group;
  }

  void nodes_of_22_ascii() {
    const auto count = word<std::uint64_t>();
    for (std::uint64_t n = 0; n < count; ++n) {
      end_line();
      see_node(word<std::int64_t>());
    }
  }
  /// What follows must be the end of the section or of the file: Gmsh leaves out what is not counted.
  void require_end_of_elements() {
    at_ = text_.find_first_not_of(" \t\r\n", at_);
    constexpr std::string_view end = "$EndElements";
    if (at_ != std::string::npos && text_.compare(at_, end.size(), end) != 0) fail_short();
  }
  void elements_of_22_ascii() {
    const auto count = word<std::uint64_t>();
    for (std::uint64_t e = 0; e < count; ++e) {
      end_line();
      word<std::int64_t>();
      const int type = word<int>();
      tags_of_22(type, word<int>());
      for (auto nodes = nodes_of_type(type); nodes > 0; --nodes) require_node(word<std::int64_t>());
    }
    at_ = std::min(text_.find('\n', at_), text_.size());
    require_end_of_elements();
  }

  void nodes_of_22_binary() {
    const auto count = word<std::uint64_t>();
    end_line();
    require_bytes(count, sizeof(std::int32_t) + 3 * sizeof(double));
    for (std::uint64_t n = 0; n < count; ++n) {
      see_node(take<std::int32_t>());
      skip(3 * sizeof(double));
    }
  }
  void elements_of_22_binary() {
    const auto count = word<std::uint64_t>();
    end_line();
    for (std::uint64_t seen = 0; seen < count;) {
      const auto type = take<std::int32_t>(), elements = take<std::int32_t>(), tags = take<std::int32_t>();
      if (elements <= 0 || tags < 0) fail_short();
      const std::uint64_t nodes = nodes_of_type(type);
      for (std::int32_t e = 0; e < elements; ++e) {
        skip(sizeof(std::int32_t));
        tags_of_22(type, tags);
        for (std::uint64_t n = 0; n < nodes; ++n) require_node(take<std::int32_t>());
      }
      seen += static_cast<std::uint64_t>(elements);
    }
    require_end_of_elements();
  }

  void entities_of_41_binary() {
    std::array<std::uint64_t, 4> counts{};
    for (std::uint64_t& count : counts) count = take<std::uint64_t>();
    for (std::size_t dimension = 0; dimension < counts.size(); ++dimension) {
      for (std::uint64_t n = 0; n < counts[dimension]; ++n) {
        skip(sizeof(std::int32_t) + (dimension == 0 ? 3 : 6) * sizeof(double));
        // Its physical groups, and the entities on its boundary.
        for (int list = 0; list < (dimension == 0 ? 1 : 2); ++list) {
          const auto tags = take<std::uint64_t>();
          require_bytes(tags, sizeof(std::int32_t));
          skip(tags * sizeof(std::int32_t));
        }
      }
    }
  }

  void nodes_of_41() {
    const auto blocks = next<std::uint64_t>(), count = next<std::uint64_t>();
    lowest_ = next<std::int64_t>();
    highest_ = next<std::int64_t>();
    std::uint64_t seen = 0;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      const auto dimension = next<std::int32_t>();
      next<std::int32_t>();
      const auto parametric = next<std::int32_t>();
      const auto nodes = next<std::uint64_t>();
      if (dimension < 0 || dimension > 3) fail_short();
      require_bytes(nodes, 1);
      for (std::uint64_t n = 0; n < nodes; ++n) {
        const auto tag = next<std::int64_t>();
        require_positive(tag);
        require_node(tag);
      }
      if (binary_) {
        const auto reals = static_cast<std::uint64_t>(3 + (parametric != 0 ? dimension : 0));
        require_bytes(nodes, reals * sizeof(double));
        skip(nodes * reals * sizeof(double));
      } else {
        for (std::uint64_t line = 0; line <= nodes; ++line) end_line();
      }
      seen += nodes;
    }
    if (seen != count) fail_short();
  }
  void elements_of_41() {
    const auto blocks = next<std::uint64_t>(), count = next<std::uint64_t>();
    const auto lowest = next<std::int64_t>(), highest = next<std::int64_t>();
    std::uint64_t seen = 0;
    for (std::uint64_t b = 0; b < blocks; ++b) {
      next<std::int32_t>();
      const auto entity = next<std::int32_t>(), type = next<std::int32_t>();
      see_type(type, entity);
      const std::uint64_t nodes = nodes_of_type(type);
      const auto elements = next<std::uint64_t>();
      for (std::uint64_t e = 0; e < elements; ++e) {
        const auto tag = next<std::int64_t>();
        if (tag < lowest || tag > highest) fail_short();
        for (std::uint64_t n = 0; n < nodes; ++n) require_node(next<std::int64_t>());
      }
      seen += elements;
    }
    if (seen != count) fail_short();
  }

  const std::filesystem::path& file_;
  std::string text_;
  std::size_t at_ = 0;
  bool binary_ = false;
  std::int64_t lowest_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t highest_ = std::numeric_limits<std::int64_t>::min();
  std::map<int, ElementType> element_types_;
  std::map<std::tuple<int, std::int32_t, int>, int> type_of_shape_;  ///< by dimension, entity and corners
  std::map<std::pair<int, std::int32_t>, std::int64_t> group_of_entity_;  ///< by dimension and tag
  bool groups_cut_entities_ = false;
};

}  // namespace

bool check_msh(const std::filesystem::path& file) {
  return MshCheck(file).run();
}

}  // namespace curlew
