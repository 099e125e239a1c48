// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mesh/parallel/communicator.hpp"

namespace curlew {

/// A corner of a triangle in an image.
struct Corner {
  Real x = 0, y = 0;  ///< from the upper left corner of the image to the right and down [pixels]
  Real depth = 0;     ///< larger where it is nearer to the viewer
  Real value = 0;
};

/// What is seen in each pixel: a value, and how much light falls on it.
class ValueImage {
 public:
  /// Where nothing is to be seen yet. At least one pixel each way.
  ValueImage(int width, int height);

  int width() const { return width_; }
  int height() const { return height_; }

  /// Draws what of a triangle is not hidden. A pixel is in it where its middle is, the triangle's sides
  /// included, and has the value there that is linear between the corners: none where one of theirs is not
  /// finite. Of what lies in one depth the largest value is seen, so that the order does not matter.
  void draw(const std::array<Corner, 3>& triangle, Real light = 1);
  /// By all ranks together: all get the image of all that they have drawn, the same bits however it was
  /// divided among them.
  void merge(const Communicator& ranks);

  /// Whether something is seen there; rows count from the top.
  bool covered(int column, int row) const;
  Real value(int column, int row) const;  ///< not-a-number where nothing or no value is seen
  Real light(int column, int row) const;  ///< from 0 to 1, of what is covered

 private:
  std::size_t pixel(int column, int row) const;

  int width_, height_;
  // Row by row; minus infinity where there is nothing, and for values that are not finite.
  std::vector<Real> depths_, values_, lights_;
};

struct Colour {
  std::uint8_t red = 0, green = 0, blue = 0;
  bool operator==(const Colour&) const = default;
};

/// The colours of values from low to high, to be interpolated: viridis, in which equal differences look
/// equal, in grey and to the colour-blind too.
std::span<const Colour> colour_map();

/// Of the values of a field; both finite.
struct ValueRange {
  Real low = 0, high = 0;
  /// The place of a value, from 0 to 1. A range that is round-off alone has all in the middle.
  Real fraction(Real value) const;
};

/// The pixels of an image row by row: grey where there is no value, white where there is nothing.
std::vector<Colour> coloured(const ValueImage& image, const ValueRange& range);

/// A PNG file; `pixels` row by row.
std::string png(int width, int height, std::span<const Colour> pixels);

}  // namespace curlew
