// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/case_file.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "app/case/case_node.hpp"

namespace curlew {

std::string read_case_text(const std::filesystem::path& path) {
  const auto fail = [&](const std::string& message) { throw InputErrors({path.string(), 0}, message); };
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) fail("no such case file");
  if (std::filesystem::is_directory(path, ignored)) fail("this is a directory; expected a case file (TOML)");
  if (std::filesystem::is_character_file(path, ignored))  // which may have no end
    fail("this is a device; expected a case file (TOML)");
  std::ifstream stream(path, std::ios::binary);
  std::string text;
  if (stream) text.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream || stream.bad()) fail("cannot read the case file; check its permissions");
  return text;
}

namespace {

constexpr const char* command_line = "command line";

/// Where a string of TOML that begins at `first` ends: at its last quote, or before the line's end without
/// one.
std::size_t end_of_string(std::string_view text, std::size_t first) {
  const char quote = text[first];
  const bool has_lines = text.substr(first).starts_with(std::string(3, quote));
  const std::string_view mark = text.substr(first, has_lines ? 3 : 1);
  std::size_t at = first + mark.size();
  for (; at < text.size() && (has_lines || text[at] != '\n'); ++at) {
    if (text.substr(at).starts_with(mark)) return at + mark.size() - 1;
    if (quote == '"' && text[at] == '\\') ++at;
  }
  return std::min(at, text.size()) - 1;
}

/// toml++ recurses into the parts of a name, however many there are. The line of the first name that has too
/// many; 0: none.
int line_of_deep_name(std::string_view text) {
  constexpr int most_parts = 20;
  int line = 1, points = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.' && ++points == most_parts) return line;
    if (std::string_view("\n,=[]{}").find(c) != std::string_view::npos) points = 0;  // no name goes on there
    if (c == '\n') ++line;
    if (c == '#') i = std::min(text.find('\n', i), text.size()) - 1;
    if (c == '"' || c == '\'') {
      const std::string_view string = text.substr(i, end_of_string(text, i) - i + 1);
      line += static_cast<int>(std::ranges::count(string, '\n'));
      i += string.size() - 1;
    }
  }
  return 0;
}

int line_of(const toml::source_region& source) {
  return static_cast<int>(source.begin.line);
}

/// In TOML "\u0000" stands for one. No name or expression has it, and a file's name would end there.
void refuse_null_character(std::string_view text, const Location& location) {
  if (text.find('\0') == std::string_view::npos) return;
  throw InputErrors(location, fmt::format("a null character follows {} in a string or name; leave it out",
                                          in_quotes(text.substr(0, text.find('\0')))));
}

CaseNode converted(const toml::node& source, const Location& location) {
  CaseNode result;
  result.location = location;
  if (const auto* table = source.as_table()) {
    CaseNode::Table entries;
    for (const auto& [key, value] : *table) {
      // A table stands at its header; a value at its key. An implied table ([a.b] implies a) has no header.
      const int line =
          line_of(value.is_table() && value.source().begin.line > 0 ? value.source() : key.source());
      const Location place{location.file, location.line > 0 ? line : 0};
      refuse_null_character(key.str(), place);
      entries.entries.push_back({std::string(key.str()), converted(value, place)});
    }
    result.value = std::move(entries);
  } else if (const auto* array = source.as_array()) {
    CaseNode::List list;
    for (const toml::node& element : *array) {
      list.push_back(converted(element, {location.file, location.line > 0 ? line_of(element.source()) : 0}));
    }
    result.value = std::move(list);
  } else if (const auto* truth = source.as_boolean()) {
    result.value = truth->get();
  } else if (const auto* integer = source.as_integer()) {
    result.value = integer->get();
  } else if (const auto* real = source.as_floating_point()) {
    result.value = real->get();
  } else if (const auto* text = source.as_string()) {
    refuse_null_character(text->get(), location);
    result.value = text->get();
  } else {
    result.value = CaseNode::Moment{};
  }
  return result;
}

/// Puts what a dotted name is given in `from` into `into`, in the place of what has that name there. `from`
/// is tables of one entry each, down to the value; `name` is the same with no table for a value, which tells
/// where that is.
void put(CaseNode::Table& into, CaseNode::Table&& from, const CaseNode::Table& name) {
  CaseNode::Entry& entry = from.entries.front();
  CaseNode* old = into.find(entry.key);
  auto* old_table = old ? std::get_if<CaseNode::Table>(&old->value) : nullptr;
  const auto* rest = std::get_if<CaseNode::Table>(&name.entries.front().node.value);
  if (old_table && rest) {
    put(*old_table, std::move(std::get<CaseNode::Table>(entry.node.value)), *rest);
  } else if (old) {
    *old = std::move(entry.node);
  } else {
    into.entries.insert(into.position(entry.key), std::move(entry));
  }
}

}  // namespace

CaseFile::CaseFile(const std::filesystem::path& path, std::span<const std::string> overrides,
                   Diagnostics& diagnostics)
    : CaseFile(read_case_text(path), path.string(), overrides, diagnostics) {}

CaseFile::CaseFile(std::string_view text, const std::string& name, std::span<const std::string> overrides,
                   Diagnostics& diagnostics)
    : diagnostics_(diagnostics), root_(std::make_unique<CaseNode>()) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw InputErrors({name, 1}, "the case file is empty; expected tables such as [case], [mesh], [model]");
  }
  if (const int line = line_of_deep_name(text); line > 0) {
    throw InputErrors({name, line}, "a name of more than twenty parts; no table of a case is that deep");
  }
  try {
    *root_ = converted(toml::parse(text, name), {name, 1});
  } catch (const toml::parse_error& error) {
    throw InputErrors({name, line_of(error.source())}, fmt::format("not TOML: {}", error.description()));
  }
  for (const std::string& override_text : overrides) {
    try {
      apply_override(override_text);
    } catch (const InputErrors& errors) {
      diagnostics_.add(errors);
    }
  }
}

CaseFile::~CaseFile() = default;

void CaseFile::apply_override(const std::string& text) {
  const auto fail = [&](std::string_view problem) {
    diagnostics_.error({command_line, 0},
                       fmt::format("--set {}: {}; expected table.key=value, such as time.end=2.5",
                                   shortened(text), problem));
  };
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return fail("no = in it");
  if (text.find_first_of("\r\n") != std::string::npos) return fail("more than one line");
  const std::string key = text.substr(0, equals);
  std::string value = text.substr(equals + 1);
  if (value.find_first_not_of(" \t") == std::string::npos) return fail("no value after =");
  const auto parsed = [&](std::string_view right) -> std::optional<CaseNode> {
    try {
      // The value must not be able to end the line and go on: only what follows '=' is its own.
      return converted(toml::parse(fmt::format("{} = {}", key, right)), {command_line, 0});
    } catch (const toml::parse_error&) {
      return std::nullopt;
    }
  };
  std::optional<CaseNode> name;
  if (line_of_deep_name(key) == 0) name = parsed("0");
  if (!name) return fail("the name is no dotted TOML key");
  std::optional<CaseNode> tree;
  if (line_of_deep_name(value) == 0) tree = parsed(value);
  if (!tree) {
    std::string escaped;
    for (const char c : value) {
      if (c == '"' || c == '\\') escaped += '\\';
      escaped += c;
    }
    tree = parsed(fmt::format("\"{}\"", escaped));
  }
  if (!tree) return fail("the value cannot be read");
  put(std::get<CaseNode::Table>(root_->value), std::move(std::get<CaseNode::Table>(tree->value)),
      std::get<CaseNode::Table>(name->value));
}

Section CaseFile::root() const {
  return Section(root_.get(), "", &diagnostics_);
}

void CaseFile::finish() const {
  root().report_unread();
}

}  // namespace curlew
