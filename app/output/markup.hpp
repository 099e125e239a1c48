// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <string>
#include <string_view>

namespace curlew {

/// The text as HTML and SVG have it, between tags and within quotes; controls are left out, and what is
/// no character of UTF-8 that XML may hold is replaced by U+FFFD.
std::string escaped(std::string_view text);

/// Bytes as letters and digits, for the address of an image that is in the page itself (RFC 4648).
std::string base64(std::string_view bytes);

}  // namespace curlew
