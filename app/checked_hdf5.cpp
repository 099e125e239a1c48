// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/checked_hdf5.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <span>
#include <vector>

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

std::uint32_t add_to_checksum(std::uint32_t checksum, std::span<const char> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(checksum, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
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
  const std::span<char> bytes = file.close();
  const std::span<const char> content = bytes.subspan(checked_user_block);
  std::ranges::copy(user_block_of(format, content.size(), add_to_checksum(0, content)), bytes.begin());
  file.commit();
}

std::optional<std::string> damage_of(const std::filesystem::path& path, const CheckedFormat& format) {
  std::ifstream file(path, std::ios::binary);
  std::string stored;
  if (auto damage = damage_of_head(file, format, stored)) return damage;
  std::uint64_t length = 0;
  std::uint32_t checksum = 0;
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), std::ssize(buffer));
    const std::span<const char> bytes(buffer.data(), static_cast<std::size_t>(file.gcount()));
    length += bytes.size();
    checksum = add_to_checksum(checksum, bytes);
  }
  if (stored != user_block_of(format, length, checksum)) {
    std::string lines = stored.substr(0, stored.find('\0'));
    std::ranges::replace(lines, '\n', ';');
    return fmt::format("it is damaged: it should hold '{}' but has length {} and checksum {:08x}", lines,
                       length, checksum);
  }
  return std::nullopt;
}

}  // namespace curlew
