// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "app/output/markup.hpp"

namespace curlew {

namespace {

// Within the element [pixels].
constexpr double width = 620, line_height = 17;
constexpr double left = 74, right = 30, top = 26, bottom = 44, plot_height = 220;
constexpr double plot_width = width - left - right;

/// Okabe and Ito's, which the colour-blind tell apart.
constexpr std::array<const char*, Plot::most_curves> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                             "#e69f00", "#56b4e9", "#000000", "#b8a900"};

/// What is larger has no place on an axis, whose length must be a number.
constexpr double largest_shown = 1e300;
/// A smaller range, relative to the values, is round-off: they are shown as one.
constexpr double round_off = 1e-9;

double power_of_ten(double exponent) {
  return std::pow(10, exponent);
}

std::string tick_text(double value) {
  return fmt::format("{:.12g}", value);
}

}  // namespace

std::vector<double> round_ticks(double low, double high, int most) {
  constexpr double slack = 1e-9;  // for round-off
  const double least_step = (1 - slack) * (high - low) / most;
  const double power = power_of_ten(std::floor(std::log10(least_step)));
  double step = 10 * power;
  for (const double factor : {5, 2, 1}) {
    if (factor * power >= least_step) step = factor * power;
  }
  std::vector<double> ticks;
  if (!(step > 0)) return ticks;  // less than the smallest number lies between them
  for (double k = std::ceil(low / step - slack); k <= high / step + slack; ++k)
    ticks.push_back(k == 0 ? 0 : k * step);
  return ticks;
}

bool Axis::shows(double value) const {
  return std::abs(value) <= largest_shown && (!logarithmic || value >= std::numeric_limits<double>::min());
}

Axis::Axis(std::span<const std::span<const double>> values, bool its_logarithmic, double margin)
    : logarithmic(its_logarithmic) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  double least = infinity, largest = -infinity;
  for (const auto& series : values) {
    for (const double value : series) {
      if (!shows(value)) continue;
      least = std::min(least, value);
      largest = std::max(largest, value);
    }
  }
  if (least > largest) least = largest = 1;
  if (logarithmic) {
    const double first = std::floor(std::log10(least));
    const double last = std::max(std::ceil(std::log10(largest)), first + 1);
    low = power_of_ten(first);
    high = power_of_ten(last);
    // Whole powers, or few would be there.
    for (const double exponent : round_ticks(first, last, static_cast<int>(std::min(last - first, 8.0))))
      ticks.push_back(power_of_ten(exponent));
    return;
  }
  const double size = std::max(std::abs(least), std::abs(largest));
  double room = margin * (largest - least);
  if (!(largest - least > round_off * size)) room = size > 0 ? 0.05 * size : 1;
  low = least - room;
  high = largest + room;
  ticks = round_ticks(low, high, 6);
}

double Axis::fraction(double value) const {
  if (!logarithmic) return (value - low) / (high - low);
  return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
}

std::vector<PlotPoint> thinned(const Curve& curve, const Axis& x, const Axis& y, std::size_t columns) {
  std::vector<PlotPoint> all;
  for (std::size_t k = 0; k < std::min(curve.x.size(), curve.y.size()); ++k) {
    if (x.shows(curve.x[k]) && y.shows(curve.y[k])) all.push_back({curve.x[k], curve.y[k]});
  }
  if (all.size() <= 2 * columns) return all;
  const auto column = [&](const PlotPoint& point) {
    return std::floor(x.fraction(point.x) * static_cast<double>(columns));
  };
  std::vector<PlotPoint> points;
  for (auto first = all.begin(); first != all.end();) {
    const auto end = std::find_if(first, all.end(),
                                  [&](const PlotPoint& point) { return column(point) != column(*first); });
    const auto [lowest, highest] =
        std::minmax_element(first, end, [](const PlotPoint& a, const PlotPoint& b) { return a.y < b.y; });
    points.push_back(*std::min(lowest, highest));
    if (lowest != highest) points.push_back(*std::max(lowest, highest));
    first = end;
  }
  return points;
}

namespace {

/// Puts a plot together piece by piece.
class PlotDrawing {
 public:
  explicit PlotDrawing(const Plot& plot)
      : plot_(plot), x_(values(&Curve::x), false, 0), y_(values(&Curve::y), plot.logarithmic, 0.04) {}

  std::string operator()() {
    const double height = top + plot_height + bottom + line_height * static_cast<double>(plot_.curves.size());
    add("<svg class=\"plot\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n", width,
        height);
    text(left, 16, "start", "title", plot_.title);
    for (const double tick : x_.ticks) {
      line(at_x(tick), top, at_x(tick), top + plot_height);
      text(at_x(tick), top + plot_height + 16, "middle", "tick", tick_text(tick));
    }
    for (const double tick : y_.ticks) {
      line(left, at_y(tick), left + plot_width, at_y(tick));
      text(left - 6, at_y(tick) + 4, "end", "tick", tick_text(tick));
    }
    add("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", left, top, plot_width,
        plot_height);
    text(left + plot_width / 2, top + plot_height + 34, "middle", "label", plot_.x_label);
    add("<g transform=\"translate(14 {}) rotate(-90)\">", top + plot_height / 2);
    text(0, 0, "middle", "label", plot_.y_label);
    add("</g>\n");
    for (std::size_t k = 0; k < plot_.curves.size(); ++k) curve(k);
    add("</svg>\n");
    return std::move(svg_);
  }

 private:
  std::vector<std::span<const double>> values(std::span<const double> Curve::*of) const {
    std::vector<std::span<const double>> all;
    for (const Curve& curve : plot_.curves) all.push_back(curve.*of);
    return all;
  }

  template <class... Arguments>
  void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Arguments>(arguments)...);
  }
  void text(double x, double y, const char* anchor, const char* kind, const std::string& words) {
    add("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", kind, x, y, anchor,
        escaped(words));
  }
  void line(double x1, double y1, double x2, double y2) {
    add("<path class=\"grid\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", x1, y1, x2, y2);
  }
  double at_x(double x) const { return left + plot_width * x_.fraction(x); }
  double at_y(double y) const { return top + plot_height * (1 - y_.fraction(y)); }

  /// The line, or a dot for one point alone, and what the legend says of it.
  void curve(std::size_t k) {
    const Curve& curve = plot_.curves[k];
    const auto points = thinned(curve, x_, y_, static_cast<std::size_t>(plot_width));
    const double y = top + plot_height + bottom + line_height * (static_cast<double>(k) + 0.5);
    add("<g stroke=\"{}\"><path class=\"curve\" d=\"M{} {}h18", colours[k], left, y - 4);
    for (std::size_t p = 0; p < points.size(); ++p)
      add("{}{:.1f} {:.1f}", p == 0 ? 'M' : 'L', at_x(points[p].x), at_y(points[p].y));
    add("{}\"/></g>\n", points.size() == 1 ? "h0" : "");
    const char* none = plot_.logarithmic ? " (nothing positive)" : " (no numbers)";
    text(left + 26, y, "start", "label", curve.label + (points.empty() ? none : ""));
  }

  const Plot& plot_;
  Axis x_, y_;
  std::string svg_;
};

}  // namespace

std::string svg(const Plot& plot) {
  return PlotDrawing(plot)();
}

}  // namespace curlew
