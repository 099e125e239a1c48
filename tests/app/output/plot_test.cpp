// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/output/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/app/output/nan.hpp"

namespace curlew::test {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr double infinity = std::numeric_limits<double>::infinity();

Axis axis(const std::vector<double>& values, bool logarithmic = false, double margin = 0) {
  const std::span<const double> all(values);
  return Axis({&all, 1}, logarithmic, margin);
}

TEST(Ticks, are_multiples_of_1_2_or_5) {
  EXPECT_THAT(round_ticks(0, 1, 5),
              ElementsAre(0, DoubleEq(0.2), DoubleEq(0.4), DoubleEq(0.6), DoubleEq(0.8), 1));
  EXPECT_THAT(round_ticks(-7, 12, 5), ElementsAre(-5, 0, 5, 10));
  EXPECT_THAT(round_ticks(0.013, 0.021, 4),
              ElementsAre(DoubleEq(0.014), DoubleEq(0.016), DoubleEq(0.018), DoubleEq(0.02)));
  EXPECT_THAT(round_ticks(0, 1e6, 4), ElementsAre(0, 5e5, 1e6));
  EXPECT_THAT(round_ticks(293, 303, 10), ElementsAre(293, 294, 295, 296, 297, 298, 299, 300, 301, 302, 303));
}

TEST(Ticks, are_none_between_numbers_that_no_others_lie_between) {
  constexpr double least = std::numeric_limits<double>::denorm_min();
  EXPECT_THAT(round_ticks(-least, least, 6), ElementsAre());
  EXPECT_LT(axis({least, 20 * least}, false, 0.1).ticks.size(), 30u);
}

TEST(Axis, reaches_over_the_numbers_alone) {
  const Axis linear = axis({nan, 3, infinity, -1, 1e301, 2});
  EXPECT_EQ(linear.low, -1);
  EXPECT_EQ(linear.high, 3);
  EXPECT_DOUBLE_EQ(linear.fraction(0), 0.25);
  EXPECT_FALSE(linear.shows(nan));
  EXPECT_FALSE(linear.shows(infinity));
  EXPECT_TRUE(linear.shows(-4));
  const Axis with_margin = axis({0, 10}, false, 0.1);
  EXPECT_EQ(with_margin.low, -1);
  EXPECT_EQ(with_margin.high, 11);
}

TEST(Axis, has_room_where_all_are_one_or_none) {
  for (const auto& values : std::vector<std::vector<double>>{{5, 5}, {300, 300 + 1e-10}, {0}, {}, {nan}}) {
    const Axis it = axis(values);
    EXPECT_LT(it.low, it.high);
    EXPECT_GE(it.ticks.size(), 2u);
    if (!values.empty() && !std::isnan(values[0])) {
      EXPECT_NEAR(it.fraction(values[0]), 0.5, 1e-6);
    }
  }
}

TEST(Axis, has_whole_powers_of_ten_where_it_is_logarithmic) {
  const Axis it = axis({3e-9, 0, -2, nan, 4e-3}, true);
  EXPECT_DOUBLE_EQ(it.low, 1e-9);
  EXPECT_DOUBLE_EQ(it.high, 1e-2);
  EXPECT_NEAR(it.fraction(1e-9), 0, 1e-12);
  EXPECT_NEAR(it.fraction(std::pow(10, -5.5)), 0.5, 1e-12);
  EXPECT_EQ(it.ticks.size(), 8u);
  for (std::size_t k = 0; k < it.ticks.size(); ++k)
    EXPECT_NEAR(std::log10(it.ticks[k]), -9. + static_cast<double>(k), 1e-12);
  EXPECT_FALSE(it.shows(0));
  EXPECT_FALSE(it.shows(-1));
  // Powers of powers of ten, few, where there are many; two where all is in one.
  EXPECT_LE(axis({1e-200, 1e90}, true).ticks.size(), 9u);
  EXPECT_THAT(axis({1}, true).ticks, ElementsAre(DoubleEq(1), DoubleEq(10)));
  EXPECT_GE(axis({}, true).ticks.size(), 2u);
}

TEST(Thinning, keeps_the_extremes_of_every_column_in_their_order) {
  std::vector<double> x, y;
  for (int k = 0; k <= 100000; ++k) {
    x.push_back(k * 1e-3);
    y.push_back(std::sin(1e-2 * k));
  }
  y[40000] = 17;
  y[70001] = -23;
  y[70002] = nan;
  const auto points = thinned({"", x, y}, axis(x), axis(y), 50);
  EXPECT_LE(points.size(), 2 * 51u);
  EXPECT_GE(points.size(), 100u);
  EXPECT_THAT(points, testing::Contains(PlotPoint{x[40000], 17}));
  EXPECT_THAT(points, testing::Contains(PlotPoint{x[70001], -23}));
  for (std::size_t k = 1; k < points.size(); ++k) EXPECT_GT(points[k].x, points[k - 1].x);
}

TEST(Thinning, leaves_few_points_as_they_are_and_out_what_is_no_number) {
  const std::vector<double> x{0, 1, 2, 3}, y{nan, 5, infinity, -1};
  EXPECT_THAT(thinned({"", x, y}, axis(x), axis(y), 50), ElementsAre(PlotPoint{1, 5}, PlotPoint{3, -1}));
  EXPECT_THAT(thinned({"", x, y}, axis(x), axis(y, true), 50), ElementsAre(PlotPoint{1, 5}));
}

TEST(Plot, has_labels_a_legend_and_the_points_of_its_curves) {
  const std::vector<double> x{0, 1, 2}, a{0, 10, 5}, b{nan, nan, nan};
  Plot plot{"heat & <more>", "time [s]", "[W]", false, {{"left", x, a}, {"right \"b\"", x, b}}};
  const std::string linear = svg(plot);
  for (const char* text : {"heat &amp; &lt;more&gt;", ">time [s]<", ">[W]<", ">left<",
                           ">right &quot;b&quot; (no numbers)<", ">0.5<", ">10<"})
    EXPECT_THAT(linear, HasSubstr(text));
  EXPECT_THAT(linear, Not(HasSubstr("nan")));
  // From corner to corner but for the margin: 74 + 516 in x, 26 + 220 in y.
  EXPECT_THAT(linear, HasSubstr("M74.0 237.9L332.0 34.1L590.0 136.0\""));
  plot.logarithmic = true;
  const std::string logarithmic = svg(plot);
  EXPECT_THAT(logarithmic, HasSubstr("M332.0 26.0L590.0 92.2\""));
  EXPECT_THAT(logarithmic, HasSubstr("(nothing positive)"));
}

TEST(Plot, shows_a_single_point_as_a_dot) {
  const std::vector<double> x{2}, y{3};
  EXPECT_THAT(svg({"", "", "", false, {{"only", x, y}}}), HasSubstr("M332.0 136.0h0\""));
}

}  // namespace
}  // namespace curlew::test
