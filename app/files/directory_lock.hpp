// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>

namespace curlew {

/// Keeps a directory for this process, until it ends, however it does. It takes no file. A file system
/// without such locks keeps nobody out, and one that machines share may keep out processes of the same
/// machine only.
class DirectoryLock {
 public:
  /// Throws InputError where another process has the directory.
  explicit DirectoryLock(const std::filesystem::path& directory);
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

 private:
  int descriptor_;
};

}  // namespace curlew
