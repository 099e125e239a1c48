// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "kernels/error.hpp"

namespace curlew {

namespace {

[[noreturn]] void fail(const std::filesystem::path& path, const char* cause) {
  throw Error(fmt::format("cannot write '{}': {}", path.string(), cause));
}

void synchronise(const std::filesystem::path& path, const std::filesystem::path& reported, int flags) {
  const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC);
  if (descriptor < 0) fail(reported, std::strerror(errno));
  const int status = ::fsync(descriptor);
  const int cause = errno;
  ::close(descriptor);
  // Some file systems cannot synchronise a directory; the file itself is then safe all the same.
  if (status != 0 && !((flags & O_DIRECTORY) && cause == EINVAL)) fail(reported, std::strerror(cause));
}

}  // namespace

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return path.string() + ".tmp";
}

void commit_file(const std::filesystem::path& path) {
  const std::filesystem::path temporary = temporary_name(path);
  synchronise(temporary, path, O_RDONLY);
  if (std::rename(temporary.c_str(), path.c_str()) != 0) fail(path, std::strerror(errno));
  const std::filesystem::path parent = path.has_parent_path() ? path.parent_path() : ".";
  synchronise(parent, path, O_RDONLY | O_DIRECTORY);
}

void write_file_atomically(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path temporary = temporary_name(path);
  std::FILE* file = std::fopen(temporary.c_str(), "wbe");
  if (file == nullptr) fail(path, std::strerror(errno));
  const bool whole = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  const int cause = errno;
  std::fclose(file);
  if (!whole) {
    std::remove(temporary.c_str());
    fail(path, std::strerror(cause));
  }
  commit_file(path);
}

void make_directory(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) {
    throw Error(fmt::format("cannot create the directory '{}': {}", path.string(), failure.message()));
  }
}

}  // namespace curlew
