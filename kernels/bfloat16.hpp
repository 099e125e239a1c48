// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/id.hpp"
#include "kernels/platform.hpp"

namespace curlew {

/// A number stored in two bytes: the upper half of its bits in single precision, whose range it keeps, with
/// relative errors of up to 2⁻⁸. Reading one takes a shift of bits, on every backend.
class BFloat16 {
 public:
  BFloat16() = default;
  /// The nearest, of two as near the even one. For numbers that are finite.
  explicit BFloat16(Real value) {
    const auto single = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &single, sizeof bits);
    upper_half_ = static_cast<std::uint16_t>((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16);
  }
  CURLEW_HOST_DEVICE operator float() const {
    const std::uint32_t bits = static_cast<std::uint32_t>(upper_half_) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }

 private:
  std::uint16_t upper_half_ = 0;
};

}  // namespace curlew
