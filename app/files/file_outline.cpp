// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/file_outline.hpp"

#include <algorithm>

namespace curlew {

void FileOutline::write(std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::uint64_t within = offset % page_size;
    const std::size_t count = std::min<std::uint64_t>(page_size - within, bytes.size());
    Page& page = pages_[offset / page_size];  // of zeros where it is new
    std::ranges::copy(bytes.first(count), page.begin() + static_cast<std::ptrdiff_t>(within));
    bytes = bytes.subspan(count);
    offset += count;
  }
}

void FileOutline::read(std::uint64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const std::uint64_t within = offset % page_size;
    const std::size_t count = std::min<std::uint64_t>(page_size - within, bytes.size());
    const auto page = pages_.find(offset / page_size);
    if (page == pages_.end()) {
      std::ranges::fill(bytes.first(count), std::byte{0});
    } else {
      std::copy_n(page->second.begin() + static_cast<std::ptrdiff_t>(within), count, bytes.begin());
    }
    bytes = bytes.subspan(count);
    offset += count;
  }
}

}  // namespace curlew
