// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "app/failure.hpp"
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

/// False with errno on failure.
bool write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return true;
}

/// The name of a file until it is whole.
std::filesystem::path temporary_of(const std::filesystem::path& path) {
  return path.string() + ".tmp";
}

[[noreturn]] void fail_to_write(const std::filesystem::path& path) {
  throw FileError(fmt::format("cannot write '{}': {}", path.string(), std::strerror(errno)));
}

/// A new file of that size with these pieces, on disk once pieces have been added.
void begin_file(const std::filesystem::path& path, std::uint64_t size, std::span<const FilePiece> pieces) {
  const Descriptor file(temporary_of(path), O_WRONLY | O_CREAT | O_TRUNC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(size)) != 0) fail_to_write(path);
  for (const FilePiece& piece : pieces)
    if (!write_all(file, piece.bytes, piece.offset)) fail_to_write(path);
}

/// Pieces that may lie over those of the beginning. All of them are asked for even where one cannot be
/// written: other ranks may have a part in making them. The file systems that tell of a failed write late do
/// so at the fsync.
void add_to_file(const std::filesystem::path& path,
                 const std::function<void(const WritePiece&)>& write_pieces) {
  const Descriptor file(temporary_of(path), O_WRONLY);
  int failure = file < 0 ? errno : 0;
  write_pieces([&](const FilePiece& piece) {
    if (failure == 0 && !write_all(file, piece.bytes, piece.offset)) failure = errno;
  });
  if (failure == 0 && ::fsync(file) != 0) failure = errno;
  errno = failure;
  if (failure != 0) fail_to_write(path);
}

void add_to_file(const std::filesystem::path& path, const FilePiece& piece) {
  add_to_file(path, [&](const WritePiece& write) { write(piece); });
}

void give_name(const std::filesystem::path& path) {
  if (std::rename(temporary_of(path).c_str(), path.c_str()) != 0) fail_to_write(path);
  // The rename itself is on disk once the directory is; not every file system can be asked for that.
  const Descriptor directory(path.has_parent_path() ? path.parent_path() : ".", O_RDONLY | O_DIRECTORY);
  if (directory >= 0) ::fsync(directory);
}

}  // namespace

void write_file_atomically(const std::filesystem::path& path, std::string_view bytes) {
  const FilePiece all{0, std::as_bytes(std::span(bytes))};
  try {
    begin_file(path, bytes.size(), {});
    add_to_file(path, all);
    give_name(path);
  } catch (const FileError&) {
    std::remove(temporary_of(path).c_str());
    throw;
  }
}

void write_file_atomically(const std::filesystem::path& path, const Communicator& ranks,
                           const FileOutline& outline,
                           const std::function<void(const WritePiece&)>& write_pieces,
                           const std::function<std::string()>& head) {
  const bool first = ranks.rank() == 0;
  std::vector<FilePiece> written;
  outline.visit_written([&](std::uint64_t offset, std::span<const std::byte> bytes) {
    written.push_back({offset, bytes.first(std::min<std::uint64_t>(bytes.size(), outline.size() - offset))});
  });
  const auto on_all = [&](const auto& action) {
    together(ranks, [&] {
      try {
        action();
      } catch (const FileError& error) {
        if (ranks.ranks() == 1 || !first) throw;
        throw FileError(fmt::format("rank 0: {}", error.what()));  // together() names the others
      }
    });
  };
  try {
    on_all([&] {
      if (first) begin_file(path, outline.size(), written);
    });
    on_all([&] { add_to_file(path, write_pieces); });
    const std::string text = head();
    on_all([&] {
      if (!first) return;
      if (!text.empty()) add_to_file(path, {0, std::as_bytes(std::span(text))});
      give_name(path);
    });
  } catch (...) {
    if (first) std::remove(temporary_of(path).c_str());
    throw;
  }
}

void make_directory(const std::filesystem::path& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) {
    throw FileError(fmt::format("cannot create the directory '{}': {}", path.string(), failure.message()));
  }
}

}  // namespace curlew
