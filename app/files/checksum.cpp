// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/checksum.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "mesh/parallel/slabs.hpp"

namespace curlew {

std::uint32_t add_to_checksum(std::uint32_t checksum, std::span<const std::byte> bytes) {
  if (bytes.empty()) return checksum;  // zlib takes no bytes at no place for a wish to begin anew
  return static_cast<std::uint32_t>(
      crc32_z(checksum, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::uint32_t add_to_checksum(std::uint32_t checksum, const PieceChecksum& piece) {
  return static_cast<std::uint32_t>(
      crc32_combine(checksum, piece.checksum, static_cast<z_off_t>(piece.length)));
}

std::vector<PieceChecksum> gathered_checksums(const Communicator& ranks,
                                              std::span<const PieceChecksum> mine) {
  std::vector<std::vector<std::byte>> outgoing(static_cast<std::size_t>(ranks.ranks()));
  const auto bytes = std::as_bytes(mine);
  outgoing.front().assign(bytes.begin(), bytes.end());
  std::vector<PieceChecksum> all;
  for (const auto& message : all_to_all(ranks, std::move(outgoing))) {
    const std::size_t known = all.size(), count = message.size() / sizeof(PieceChecksum);
    all.resize(known + count);
    if (count > 0) std::memcpy(all.data() + known, message.data(), message.size());
  }
  std::ranges::sort(all, {}, &PieceChecksum::offset);
  return all;
}

}  // namespace curlew
