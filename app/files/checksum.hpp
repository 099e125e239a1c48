// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mesh/parallel/communicator.hpp"

namespace curlew {

/// The CRC-32 checksum of bytes that stand somewhere in a file.
struct PieceChecksum {
  std::uint64_t offset = 0, length = 0;
  std::uint32_t checksum = 0;
};

/// That of what `checksum` is of with `bytes` behind it.
std::uint32_t add_to_checksum(std::uint32_t checksum, std::span<const std::byte> bytes);
/// That of what `checksum` is of with the piece behind it.
std::uint32_t add_to_checksum(std::uint32_t checksum, const PieceChecksum& piece);

/// What all ranks have, on rank 0 and in the order of offsets; nothing on the others. By all ranks together.
std::vector<PieceChecksum> gathered_checksums(const Communicator& ranks, std::span<const PieceChecksum> mine);

}  // namespace curlew
