// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

namespace curlew {

/// A file in memory that takes memory only for what is written to it: the rest, room that is set aside for
/// large arrays, is for others to fill in.
class FileOutline {
 public:
  std::uint64_t size() const { return size_; }
  void set_size(std::uint64_t size) { size_ = size; }

  void write(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Zeros where nothing was written.
  void read(std::uint64_t offset, std::span<std::byte> bytes) const;

  /// Calls `visit(offset, bytes)` for all that was written, in the order of offsets, with zeros about it.
  template <class Visit>
  void visit_written(const Visit& visit) const {
    for (const auto& [number, page] : pages_) visit(number * page_size, std::span<const std::byte>(page));
  }

 private:
  static constexpr std::uint64_t page_size = 4096;
  using Page = std::array<std::byte, page_size>;

  std::uint64_t size_ = 0;
  std::map<std::uint64_t, Page> pages_;
};

/// Bytes that are to stand at some place in a file.
struct FilePiece {
  std::uint64_t offset = 0;
  std::span<const std::byte> bytes;
};

}  // namespace curlew
