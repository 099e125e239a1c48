// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/case/mesh_settings.hpp"

namespace curlew {

/// More threads than that are a slip of the finger.
constexpr int most_threads = 1024;

/// curlew run CASE
struct RunOptions {
  std::filesystem::path case_file;
  std::vector<std::string> overrides;  ///< "table.key=value", after the case file
  std::string backend = "cpu";         ///< one that is built in
  std::optional<int> threads;          ///< at least 1; nothing: all cores
  std::optional<std::filesystem::path>
      output;  ///< instead of [output] directory; relative to the current folder
  std::optional<std::filesystem::path> restart;  ///< checkpoint to go on from, or a directory with some
  std::optional<std::int64_t> steps;             ///< stop after this many, at least 1
  bool overlap = true;                           ///< of messages between ranks with work
  bool quiet = false;                            ///< no progress
};

/// curlew check CASE
struct CheckOptions {
  std::filesystem::path case_file;
  std::vector<std::string> overrides;
};

/// curlew mesh info MESH
struct MeshInfoOptions {
  MeshSettings mesh;
  bool json = false;
};

/// curlew mesh convert IN OUT
struct MeshConvertOptions {
  MeshSettings mesh;
  std::filesystem::path output;
  std::optional<int> parts;  ///< at least 1: divide the mesh for runs on that many ranks
};

/// curlew bench MESH
struct BenchOptions {
  MeshSettings mesh;
  std::optional<std::string> backend;  ///< to time; nothing: all
  std::optional<int> threads;          ///< at least 1; nothing: all cores
  bool json = false;
};

/// curlew compare CASE
struct CompareOptions {
  std::filesystem::path case_file;
  std::vector<std::string> overrides;
  std::optional<int> threads;         ///< at least 1; nothing: all cores
  std::optional<std::int64_t> steps;  ///< stop after this many, at least 1
};

/// A question about the program itself: the answer is printed, and that was all.
struct Answer {
  std::string text;
};

using Command = std::variant<Answer, RunOptions, CheckOptions, MeshInfoOptions, MeshConvertOptions,
                             BenchOptions, CompareOptions>;

/// Reads the arguments after the program's name. Throws InputError when they make no command.
Command parse_command_line(const std::vector<std::string>& arguments);

}  // namespace curlew
