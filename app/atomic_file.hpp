// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <string_view>

namespace curlew {

/// The name under which a file is written until it is whole: next to `path`, so that a rename is atomic.
std::filesystem::path temporary_name(const std::filesystem::path& path);

/// Brings a whole file written under temporary_name(path) to disk and gives it its name. A kill or a power
/// failure at any moment leaves the old file or the new one. Throws Error naming the path and the cause.
void commit_file(const std::filesystem::path& path);

/// Replaces the file at `path` by `text`, atomically. Throws Error naming the path and the cause.
void write_file_atomically(const std::filesystem::path& path, std::string_view text);

/// Creates a directory and its parents where missing. Throws Error naming the path and the cause.
void make_directory(const std::filesystem::path& path);

}  // namespace curlew
