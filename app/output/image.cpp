// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/image.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "kernels/error.hpp"

namespace curlew {

namespace {

constexpr Real nothing = -std::numeric_limits<Real>::infinity();

/// Twice the area of a triangle of two corners and a point; its sign tells on which side of the line through
/// them the point is. That of a and b has exactly the opposite sign of that of b and a, so that what lies on
/// the common side of two triangles, or next to it, is in one of them at least.
Real side(const Corner& a, const Corner& b, Real x, Real y) {
  const auto area = [x, y](const Corner& from, const Corner& to) {
    return (to.x - from.x) * (y - from.y) - (to.y - from.y) * (x - from.x);
  };
  return std::tie(a.x, a.y) < std::tie(b.x, b.y) ? area(a, b) : -area(b, a);
}

/// The pixels along one axis whose middles, at halves, are between two coordinates: first and past the last.
std::pair<int, int> pixels_between(Real low, Real high, int count) {
  return {static_cast<int>(std::ceil(std::clamp<Real>(low - 0.5, 0, count))),
          static_cast<int>(std::floor(std::clamp<Real>(high + 0.5, 0, count)))};
}

}  // namespace

ValueImage::ValueImage(int width, int height)
    : width_(width),
      height_(height),
      depths_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), nothing),
      values_(depths_),
      lights_(depths_) {
  REQUIRE(width > 0 && height > 0, "an image has at least one pixel each way");
}

std::size_t ValueImage::pixel(int column, int row) const {
  return static_cast<std::size_t>(row) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(column);
}

void ValueImage::draw(const std::array<Corner, 3>& triangle, Real light) {
  const auto& [a, b, c] = triangle;
  const auto [left, right] = std::minmax({a.x, b.x, c.x});
  const auto [top, bottom] = std::minmax({a.y, b.y, c.y});
  const auto [first_column, end_column] = pixels_between(left, right, width_);
  const auto [first_row, end_row] = pixels_between(top, bottom, height_);
  // Most triangles of a fine mesh have no pixel's middle.
  if (first_column >= end_column || first_row >= end_row) return;
  const Real turn = side(a, b, c.x, c.y) > 0 ? 1 : -1;
  for (int row = first_row; row < end_row; ++row) {
    for (int column = first_column; column < end_column; ++column) {
      const Real x = column + 0.5, y = row + 0.5;
      const Real of_a = turn * side(b, c, x, y), of_b = turn * side(c, a, x, y),
                 of_c = turn * side(a, b, x, y);
      if (of_a < 0 || of_b < 0 || of_c < 0) continue;
      const Real area = of_a + of_b + of_c;
      if (area == 0) continue;
      // From the differences to a: exact where all corners have the same.
      const auto there = [&](Real at_a, Real at_b, Real at_c) {
        return at_a + of_b / area * (at_b - at_a) + of_c / area * (at_c - at_a);
      };
      const std::size_t k = pixel(column, row);
      const Real depth = there(a.depth, b.depth, c.depth);
      if (depth < depths_[k]) continue;
      Real value = there(a.value, b.value, c.value);
      if (!std::isfinite(value)) value = nothing;
      if (std::tie(depth, value, light) <= std::tie(depths_[k], values_[k], lights_[k])) continue;
      std::tie(depths_[k], values_[k], lights_[k]) = std::tie(depth, value, light);
    }
  }
}

void ValueImage::merge(const Communicator& ranks) {
  if (ranks.ranks() == 1) return;
  // What is not the largest of all no longer counts for the next.
  std::vector<Real> most = depths_;
  ranks.maxima(most);
  for (std::size_t k = 0; k < most.size(); ++k) {
    if (depths_[k] < most[k]) values_[k] = lights_[k] = nothing;
  }
  depths_ = most;
  most = values_;
  ranks.maxima(most);
  for (std::size_t k = 0; k < most.size(); ++k) {
    if (values_[k] < most[k]) lights_[k] = nothing;
  }
  values_ = std::move(most);
  ranks.maxima(lights_);
}

bool ValueImage::covered(int column, int row) const {
  return depths_[pixel(column, row)] > nothing;
}

Real ValueImage::value(int column, int row) const {
  const Real value = values_[pixel(column, row)];
  return value > nothing ? value : std::numeric_limits<Real>::quiet_NaN();
}

Real ValueImage::light(int column, int row) const {
  return lights_[pixel(column, row)];
}

std::span<const Colour> colour_map() {
  static constexpr std::array<Colour, 10> viridis{{{0x44, 0x01, 0x54},
                                                   {0x48, 0x28, 0x78},
                                                   {0x3e, 0x4a, 0x89},
                                                   {0x31, 0x68, 0x8e},
                                                   {0x26, 0x82, 0x8e},
                                                   {0x1f, 0x9e, 0x89},
                                                   {0x35, 0xb7, 0x79},
                                                   {0x6d, 0xcd, 0x59},
                                                   {0xb4, 0xde, 0x2c},
                                                   {0xfd, 0xe7, 0x25}}};
  return viridis;
}

Real ValueRange::fraction(Real value) const {
  constexpr Real round_off = 1e-12;
  const Real half = high / 2 - low / 2;  // the whole may be more than a number holds
  if (!(half > round_off * std::max(std::abs(low), std::abs(high)))) return 0.5;
  return std::clamp<Real>((value / 2 - low / 2) / half, 0, 1);
}

namespace {

/// Between the colours of the map.
Colour colour_at(Real fraction) {
  const std::span<const Colour> map = colour_map();
  const Real place = fraction * static_cast<Real>(map.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), map.size() - 2);
  const Real share = place - static_cast<Real>(below);
  const auto mixed = [&](std::uint8_t Colour::*part) {
    return static_cast<std::uint8_t>(
        std::lround((1 - share) * map[below].*part + share * map[below + 1].*part));
  };
  return {mixed(&Colour::red), mixed(&Colour::green), mixed(&Colour::blue)};
}

Colour lit(Colour colour, Real light) {
  const auto dimmed = [light](std::uint8_t part) {
    return static_cast<std::uint8_t>(std::lround(light * part));
  };
  return {dimmed(colour.red), dimmed(colour.green), dimmed(colour.blue)};
}

}  // namespace

std::vector<Colour> coloured(const ValueImage& image, const ValueRange& range) {
  constexpr Colour white{255, 255, 255}, grey{150, 150, 150};
  std::vector<Colour> pixels;
  pixels.reserve(static_cast<std::size_t>(image.width()) * static_cast<std::size_t>(image.height()));
  for (int row = 0; row < image.height(); ++row) {
    for (int column = 0; column < image.width(); ++column) {
      if (!image.covered(column, row)) {
        pixels.push_back(white);
        continue;
      }
      const Real value = image.value(column, row);
      pixels.push_back(
          lit(std::isnan(value) ? grey : colour_at(range.fraction(value)), image.light(column, row)));
    }
  }
  return pixels;
}

namespace {

void append_number(std::string& bytes, std::uint32_t number) {
  for (const int shift : {24, 16, 8, 0}) bytes += static_cast<char>(number >> shift & 255);
}

void append_chunk(std::string& file, const std::string& type, const std::string& data) {
  append_number(file, static_cast<std::uint32_t>(data.size()));
  const std::string checked = type + data;
  file += checked;
  append_number(file, static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(checked.data()),
                                                       static_cast<uInt>(checked.size()))));
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  std::string result(size, '\0');
  const int status =
      compress2(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                static_cast<uLong>(bytes.size()), Z_DEFAULT_COMPRESSION);
  REQUIRE(status == Z_OK, "zlib cannot compress an image");
  result.resize(size);
  return result;
}

}  // namespace

std::string png(int width, int height, std::span<const Colour> pixels) {
  const auto columns = static_cast<std::size_t>(width);
  REQUIRE(pixels.size() == columns * static_cast<std::size_t>(height),
          "an image has width times height pixels");
  std::string header;
  append_number(header, static_cast<std::uint32_t>(width));
  append_number(header, static_cast<std::uint32_t>(height));
  header += {8, 2, 0, 0, 0};  // bits; red, green, blue; the one compression, the one set of filters, in order
  std::string rows;
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    if (k % columns == 0) rows += '\0';  // no filter
    for (const std::uint8_t part : {pixels[k].red, pixels[k].green, pixels[k].blue})
      rows += static_cast<char>(part);
  }
  std::string file = "\x89PNG\r\n\x1a\n";
  append_chunk(file, "IHDR", header);
  append_chunk(file, "IDAT", deflated(rows));
  append_chunk(file, "IEND", "");
  return file;
}

}  // namespace curlew
