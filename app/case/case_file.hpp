// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "app/case/section.hpp"

namespace curlew {

/// What is in a case file, in full: one that is no file but a pipe can be read only once. Throws InputErrors
/// when it cannot be read.
std::string read_case_text(const std::filesystem::path& path);

/// A TOML file, read key by key; what nobody reads is an error.
class CaseFile {
 public:
  /// Reads `path` and then `overrides`, each "table.key=value" (the value as in TOML; a bare word that is no
  /// TOML value is a string). Throws InputErrors when the file cannot be read or is not TOML; anything wrong
  /// with an override goes to `diagnostics`, which must outlive this object.
  CaseFile(const std::filesystem::path& path, std::span<const std::string> overrides,
           Diagnostics& diagnostics);

  /// The same from text already in memory; `name` stands for the file in messages.
  CaseFile(std::string_view text, const std::string& name, std::span<const std::string> overrides,
           Diagnostics& diagnostics);
  ~CaseFile();
  CaseFile(const CaseFile&) = delete;
  CaseFile& operator=(const CaseFile&) = delete;

  /// The whole file as a table.
  Section root() const;

  /// Reports every key and table that nobody asked for.
  void finish() const;

 private:
  void apply_override(const std::string& text);

  Diagnostics& diagnostics_;
  std::unique_ptr<CaseNode> root_;
};

}  // namespace curlew
