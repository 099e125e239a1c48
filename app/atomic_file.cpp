// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "kernels/error.hpp"

namespace curlew {

namespace {

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags)
      : value_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  operator int() const { return value_; }

 private:
  int value_;
};

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// False with errno on failure. The file systems that tell of a failed write late do so at the fsync.
bool write_durably(const std::filesystem::path& path, std::string_view bytes) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  return file >= 0 && write_all(file, bytes) && ::fsync(file) == 0;
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const std::filesystem::path temporary = path.string() + ".tmp";
  if (!write_durably(temporary, bytes) || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string cause = std::strerror(errno);
    std::remove(temporary.c_str());
    throw FileError(fmt::format("cannot write '{}': {}", path.string(), cause));
  }
  // The rename itself is on disk once the directory is; not every file system can be asked for that.
  const Descriptor directory(path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  if (directory >= 0) ::fsync(directory);
}

void make_directory(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) {
    throw FileError(fmt::format("cannot create the directory '{}': {}", path.string(), failure.message()));
  }
}

}  // namespace curlew
