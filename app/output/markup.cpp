// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/markup.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace curlew {

namespace {

/// How many bytes the character takes that `text` begins with (RFC 3629); 0 where it is none that XML may
/// hold.
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  if (byte(0) < 0x80) return 1;
  if (byte(0) < 0xC0 || byte(0) >= 0xF8) return 0;
  const std::size_t length = byte(0) < 0xE0 ? 2 : byte(0) < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  std::uint32_t code = byte(0) & (0x7Fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(k) & 0xC0) != 0x80) return 0;
    code = code << 6 | (byte(k) & 0x3Fu);
  }
  constexpr std::array<std::uint32_t, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xD800 && code < 0xE000, is_none = code == 0xFFFE || code == 0xFFFF;
  return code < least[length] || code > 0x10FFFF || is_surrogate || is_none ? 0 : length;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (; !text.empty(); text.remove_prefix(1)) {
    const std::size_t length = length_of_character(text);
    if (length != 1) {
      result += length == 0 ? "\xEF\xBF\xBD" : text.substr(0, length);
      text.remove_prefix(length == 0 ? 0 : length - 1);
      continue;
    }
    const char c = text.front();
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t') result += c;
    }
  }
  return result;
}

std::string base64(std::string_view bytes) {
  constexpr const char* digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 3 ? bytes.size() : 3)) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (k < bytes.size() ? static_cast<unsigned char>(bytes[k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) text += k <= bytes.size() ? digits[three >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace curlew
