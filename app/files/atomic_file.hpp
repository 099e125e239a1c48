// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "app/files/file_outline.hpp"
#include "kernels/error.hpp"
#include "mesh/parallel/communicator.hpp"

namespace curlew {

/// A file or directory that cannot be written, for want of rights or space or because of its name (exit
/// status 2).
class FileError : public Error {
 public:
  using Error::Error;
};

/// Writes a file under a temporary name, `path` with .tmp behind, brings it to disk and renames it: a kill or
/// a power failure at any moment leaves the old file or the new one. Throws FileError naming the path and the
/// cause; the old file is then untouched.
void write_file_atomically(const std::filesystem::path& path, std::string_view bytes);

/// Puts a piece into a file; what goes wrong is told later.
using WritePiece = std::function<void(const FilePiece&)>;

/// The same by all ranks together: rank 0 begins the file with what its outline holds, each rank has
/// `write_pieces` put its pieces where they belong, which may need all ranks together, and what `head` gives
/// rank 0 after that is put at the beginning. They must all see one file system. Throws on all ranks; on
/// several ranks a SharedFailure.
void write_file_atomically(const std::filesystem::path& path, const Communicator& ranks,
                           const FileOutline& outline,
                           const std::function<void(const WritePiece&)>& write_pieces,
                           const std::function<std::string()>& head);

/// Creates a directory and its parents where missing. Throws FileError naming the path and the cause.
void make_directory(const std::filesystem::path& path);

}  // namespace curlew
