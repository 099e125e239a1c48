// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace curlew {

/// Points to join by a line, in the order of x; the numbers must outlive it.
struct Curve {
  std::string label;
  std::span<const double> x, y;
};

/// Curves in one pair of axes.
struct Plot {
  static constexpr std::size_t most_curves = 8;  ///< that colours tell apart

  std::string title;
  std::string x_label, y_label;  ///< with units
  bool logarithmic = false;      ///< the y axis; only what is positive is shown then
  std::vector<Curve> curves;     ///< at most most_curves
};

/// The plot as an SVG element to stand in a page. Numbers that are not finite are left out.
std::string svg(const Plot& plot);

/// The multiples of 1, 2 or 5 times a power of ten from low to high, at most about so many; low < high.
std::vector<double> round_ticks(double low, double high, int most);

/// Axis of a plot.
struct Axis {
  double low = 0, high = 1;  ///< low < high, both positive where it is logarithmic
  bool logarithmic = false;
  std::vector<double> ticks;

  /// That shows all these values, of which there may be none; nothing but the finite ones counts, and on a
  /// logarithmic axis, which has whole powers of ten, nothing but the positive ones. `margin`: room at the
  /// ends, as a share of the whole, on others.
  Axis(std::span<const std::span<const double>> values, bool its_logarithmic, double margin);

  bool shows(double value) const;
  /// From 0 at the low end to 1 at the high one.
  double fraction(double value) const;
};

struct PlotPoint {
  double x = 0, y = 0;
  bool operator==(const PlotPoint&) const = default;
};

/// What of a curve can be seen on so many columns of pixels: of the points in each the lowest and the highest
/// one, in their order; all where they are few.
std::vector<PlotPoint> thinned(const Curve& curve, const Axis& x, const Axis& y, std::size_t columns);

}  // namespace curlew
