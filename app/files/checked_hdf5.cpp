// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/files/checked_hdf5.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <span>
#include <vector>

#include "app/files/checksum.hpp"
#include "mesh/parallel/slabs.hpp"

namespace curlew {

namespace {

std::string magic_of(const CheckedFormat& format) {
  return fmt::format("Curlew {}, version ", format.name);
}

/// The user block before `content`: lines for people and for verification, then zeros.
std::string user_block_of(const CheckedFormat& format, std::uint64_t length, std::uint32_t checksum) {
  std::string text =
      fmt::format("{}{}\nlength {}\ncrc32 {:08x}\n", magic_of(format), format.version, length, checksum);
  text.resize(checked_user_block, '\0');
  return text;
}

/// Reads the user block into `stored`.
std::optional<std::string> damage_of_head(std::ifstream& file, const CheckedFormat& format,
                                          std::string& stored) {
  if (!file) return "it does not exist or cannot be read";
  stored.assign(checked_user_block, '\0');
  file.read(stored.data(), std::ssize(stored));
  if (file.bad()) return "it cannot be read";
  const std::string magic = magic_of(format);
  if (!stored.starts_with(magic)) {
    return fmt::format("it is not a {} of Curlew, or its first bytes are damaged", format.name);
  }
  if (file.gcount() < std::ssize(stored)) return fmt::format("it is cut off after {} bytes", file.gcount());
  int version = 0;
  std::from_chars(stored.data() + magic.size(), stored.data() + stored.size(), version);
  if (version != format.version) {
    return fmt::format("its format has version {}, this program reads version {}", version, format.version);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> damage_of_head(const std::filesystem::path& path, const CheckedFormat& format) {
  std::ifstream file(path, std::ios::binary);
  std::string stored;
  return damage_of_head(file, format, stored);
}

void commit_checked(Hdf5Writer& file, const CheckedFormat& format) {
  file.commit(
      [&](std::uint64_t length, std::uint32_t checksum) { return user_block_of(format, length, checksum); });
}

namespace {

/// The checksum of what there is in a file of a range of bytes.
PieceChecksum checksum_of(const std::filesystem::path& path, std::uint64_t first, std::uint64_t end) {
  PieceChecksum piece{first, 0, 0};
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(first));
  std::vector<char> buffer(1 << 20);
  while (file && first + piece.length < end) {
    file.read(buffer.data(), static_cast<std::streamsize>(
                                 std::min<std::uint64_t>(buffer.size(), end - first - piece.length)));
    const auto count = static_cast<std::size_t>(file.gcount());
    piece.checksum = add_to_checksum(piece.checksum, std::as_bytes(std::span(buffer.data(), count)));
    piece.length += count;
  }
  return piece;
}

}  // namespace

std::optional<std::string> damage_of(const std::filesystem::path& path, const CheckedFormat& format,
                                     const Communicator& ranks) {
  const bool first = ranks.rank() == 0;
  std::string stored, damage;
  std::uint64_t size = 0;
  if (first) {
    std::ifstream file(path, std::ios::binary);
    damage = damage_of_head(file, format, stored).value_or("");
    std::error_code failure;
    if (damage.empty()) size = std::filesystem::file_size(path, failure);
    if (failure) damage = "it cannot be read";
  }
  const auto content = static_cast<std::uint64_t>(
      stretches_of(
          ranks,
          std::array{damage.empty() && first ? static_cast<std::int64_t>(size - checked_user_block) : 0})[0]
          .total);
  const auto share = [&](int rank) {
    return checked_user_block +
           content / static_cast<std::uint64_t>(ranks.ranks()) * static_cast<std::uint64_t>(rank);
  };
  const bool last = ranks.rank() + 1 == ranks.ranks();
  // A rank that does not see the file would take it for one that was cut off.
  const bool missing = !first && content > 0 && !std::ifstream(path, std::ios::binary);
  const int blind =
      ranks.ranks() - static_cast<int>(ranks.maximum(missing ? ranks.ranks() - ranks.rank() : 0));
  if (blind < ranks.ranks())
    return fmt::format("rank {} finds no such file; all ranks must see the same directory", blind);
  const PieceChecksum mine =
      checksum_of(path, share(ranks.rank()), last ? checked_user_block + content : share(ranks.rank() + 1));
  std::uint64_t length = 0;
  std::uint32_t checksum = 0;
  for (const PieceChecksum& piece : gathered_checksums(ranks, {&mine, 1})) {
    length += piece.length;
    checksum = add_to_checksum(checksum, piece);
  }
  if (first && damage.empty()) {
    const std::string expected = user_block_of(format, length, checksum);
    const auto text_of = [](const std::string& block) { return block.substr(0, block.find('\0')); };
    std::string lines = text_of(stored);
    if (stored != expected && lines == text_of(expected)) {
      damage = fmt::format("it is damaged: of its first {} bytes some are not as they were written",
                           stored.size());
    } else if (stored != expected) {
      std::ranges::replace(lines, '\n', ';');
      damage = fmt::format("it is damaged: it should hold '{}' but has length {} and checksum {:08x}", lines,
                           length, checksum);
    }
  }
  std::vector<char> told(damage.begin(), damage.end());
  broadcast(ranks, told);
  if (told.empty()) return std::nullopt;
  return std::string(told.begin(), told.end());
}

}  // namespace curlew
