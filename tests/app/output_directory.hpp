// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <string>

namespace curlew::test {

/// A directory for the files of one test, gone with it.
class OutputDirectory {
 public:
  OutputDirectory();
  ~OutputDirectory();
  OutputDirectory(const OutputDirectory&) = delete;
  OutputDirectory& operator=(const OutputDirectory&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }
  /// Names of the files in it, sorted, with a space between.
  std::string names() const;

 private:
  std::filesystem::path path_;
};

/// While it lives, no file of this process grows beyond `bytes`: a disk that fills up, without needing one.
class FullDisk {
 public:
  explicit FullDisk(std::size_t bytes);
  ~FullDisk();
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;
};

std::string read_text(const std::filesystem::path& path);
void write_text(const std::filesystem::path& path, const std::string& text);

/// The message of what `action` throws as E; empty if it throws nothing.
template <class E, class Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return "";
}

}  // namespace curlew::test
