// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <locale>
#include <numbers>
#include <thread>
#include <vector>

namespace curlew {
namespace {

using testing::HasSubstr;

Real value_at(const Expression& expression, Vector3 point, Real time = 0) {
  Real value = 0;
  expression.evaluate({&point, 1}, time, {&value, 1});
  return value;
}

std::string refusal_of(const std::string& text) {
  try {
    const Expression expression(text, {"case.toml", 7});
    return "";
  } catch (const InputErrors& errors) {
    return errors.what();
  }
}

TEST(Expression, EvaluatesEveryFunctionAsTheStandardLibrary) {
  const Real x = 0.3, y = 0.7;
  const std::vector<std::pair<std::string, Real>> table = {
      {"sin(x)", std::sin(x)},
      {"cos(x)", std::cos(x)},
      {"tan(x)", std::tan(x)},
      {"asin(x)", std::asin(x)},
      {"acos(x)", std::acos(x)},
      {"atan(x)", std::atan(x)},
      {"atan2(y, x)", std::atan2(y, x)},
      {"sinh(x)", std::sinh(x)},
      {"cosh(x)", std::cosh(x)},
      {"tanh(x)", std::tanh(x)},
      {"exp(x)", std::exp(x)},
      {"log(x)", std::log(x)},
      {"log10(x)", std::log10(x)},
      {"sqrt(x)", std::sqrt(x)},
      {"abs(-x)", x},
      {"pow(x, y)", std::pow(x, y)},
      {"x^y", std::pow(x, y)},
      {"erf(x)", std::erf(x)},
      {"erfc(x)", std::erfc(x)},
      {"floor(-x)", std::floor(-x)},
      {"mod(5.5, 2)", 1.5},
      {"mod(-0.5, 2)", 1.5},
      {"mod(0.5, -2)", -1.5},
      {"mod(-4, 2)", 0},
      {"min(y, x, 2)", x},
      {"max(x, y, -2)", y},
      {"x + 0*e", x},
      {"x*pi", x * std::numbers::pi},
      {"x + e", x + std::numbers::e},
  };
  for (const auto& [text, expected] : table) {
    EXPECT_DOUBLE_EQ(value_at(Expression(text), {x, y, 0}), expected) << text;
  }
}

TEST(Expression, FollowsThePrecedenceOfMathematics) {
  EXPECT_EQ(Expression("1 + 2*3^2").constant(), 19);
  EXPECT_EQ(Expression("-2^2").constant(), -4);
  EXPECT_EQ(Expression("2^3^2").constant(), 512);
  EXPECT_EQ(Expression("8/4/2").constant(), 1);
  EXPECT_EQ(value_at(Expression("x < 1 && y >= 2 ? 10 : 20"), {0.5, 2, 0}), 10);
  EXPECT_EQ(value_at(Expression("x == 1 || y != 2 ? 10 : 20"), {0.5, 2, 0}), 20);
}

TEST(Expression, OfWhichAPartIsNotANumberIsNotOne) {
  for (const char* text :
       {"min(300, sqrt(x))", "min(sqrt(x), 300)", "max(300, sqrt(x), 2)", "max(sqrt(x), 300)"})
    EXPECT_THROW(value_at(Expression(text), {-1, 0, 0}), InputError) << text;
}

TEST(Expression, KnowsWhatItDependsOn) {
  const auto depends = [](const Expression& e) {
    return std::pair(e.depends_on_space(), e.depends_on_time());
  };
  EXPECT_EQ(depends(Expression("2*pi")), std::pair(false, false));
  EXPECT_EQ(depends(Expression(3.5)), std::pair(false, false));
  EXPECT_EQ(depends(Expression("t")), std::pair(false, true));
  EXPECT_EQ(depends(Expression("y")), std::pair(true, false));
  EXPECT_EQ(depends(Expression("z*sin(t)")), std::pair(true, true));
  EXPECT_EQ(depends(Expression("tan(1) + exp(1)")), std::pair(false, false));
}

TEST(Expression, EvaluatesManyPoints) {
  const std::vector<Vector3> points = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  std::vector<Real> values(3);
  Expression("x + 10*y + 100*z + 1000*t").evaluate(points, 2, values);
  EXPECT_EQ(values, (std::vector<Real>{2321, 2654, 2987}));
  Expression("t^2").evaluate(points, 3, values);
  EXPECT_EQ(values, (std::vector<Real>{9, 9, 9}));
  Expression(5).evaluate(points, 3, values);
  EXPECT_EQ(values, (std::vector<Real>{5, 5, 5}));
  EXPECT_THROW(Expression("x").evaluate(points, 0, std::span(values).first(2)), Error);
}

TEST(Expression, CopiesLiveOn) {
  Expression copy;
  {
    const Expression original("2*x");
    copy = original;
  }
  EXPECT_EQ(value_at(copy, {21, 0, 0}), 42);
}

TEST(Expression, IsSafeFromSeveralThreads) {
  const Expression expression("x + t");
  const auto work = [&](Real time, bool& right) {
    right = true;
    std::vector<Vector3> points(1000, Vector3{1, 0, 0});
    std::vector<Real> values(1000);
    for (int repeat = 0; repeat < 50; ++repeat) {
      expression.evaluate(points, time, values);
      for (const Real value : values) right = right && value == 1 + time;
    }
  };
  bool first = false, second = false;
  std::thread other(work, 7, std::ref(second));
  work(3, first);
  other.join();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
}

TEST(Expression, NamesPlaceAndTimeOfValuesThatAreNotFinite) {
  const Expression expression("1/(x - t)", {"case.toml", 7});
  EXPECT_EQ(value_at(expression, {3, 0, 0}, 2), 1);
  try {
    value_at(expression, {2, 5, 6}, 2);
    FAIL() << "nothing thrown";
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "case.toml:7: the expression \"1/(x - t)\" is inf at x = 2, y = 5, z = 6, t = 2; a finite number "
        "is needed");
  }
}

TEST(Expression, NamesTheFirstOfManyPointsWhereItIsNotFinite) {
  std::vector<Vector3> points(20'000, Vector3{1, 0, 0});
  std::vector<Real> values(points.size());
  for (const std::size_t bad :
       {std::size_t(19'999), std::size_t(12'345), std::size_t(700), std::size_t(699)}) {
    points[bad] = {0, static_cast<Real>(bad), 0};
    try {
      Expression("y + 1/x").evaluate(points, 2, values);
      FAIL() << "nothing thrown";
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("at x = 0, y = " + std::to_string(bad) + ", z = 0, t = 2;"));
    }
  }
}

TEST(Expression, EvaluatesEachOfManyPoints) {
  std::vector<Vector3> points;
  for (int i = 0; i < 20'001; ++i) points.push_back({0.001 * i, 1 - 0.5 * i, 3});
  std::vector<Real> values(points.size());
  const Expression expression("sin(x) + y*t - exp(-z)");
  for (const Real time : {0.5, 2.}) {
    expression.evaluate(points, time, values);
    for (std::size_t i = 0; i < points.size(); ++i) {
      EXPECT_DOUBLE_EQ(values[i], std::sin(points[i].x) + points[i].y * time - std::exp(-points[i].z));
    }
  }
}

TEST(Expression, SaysWhereTextIsNoExpression) {
  EXPECT_THAT(refusal_of("1 + sni(x)"), HasSubstr("case.toml:7: bad expression \"1 + sni(x)\", character 5"));
  EXPECT_THAT(refusal_of("1 + sni(x)"), HasSubstr("did you mean \"sin\"?"));
  EXPECT_THAT(refusal_of("sin x"), HasSubstr("a function takes its arguments in parentheses"));
  EXPECT_THAT(refusal_of("pow(2)"), HasSubstr("Too few parameters for function \"pow\";"));
  EXPECT_THAT(refusal_of("atan2(1, 2, 3)"), HasSubstr("Too many parameters"));
  EXPECT_THAT(refusal_of("1e400"), HasSubstr("bad expression"));
  EXPECT_THAT(refusal_of("x = 2"), HasSubstr("write == to compare"));
  EXPECT_THAT(refusal_of("\"x\""), HasSubstr("bad expression"));
  EXPECT_EQ(refusal_of("x <= 2 ? x != 1 : x >= 3"), "");
  // Only the documented names exist, not those muparser would bring along.
  EXPECT_THAT(refusal_of("rint(x)"), HasSubstr("Unexpected token \"rint\""));
  EXPECT_THAT(refusal_of("_pi"), HasSubstr("did you mean \"pi\"?"));
}

TEST(Expression, TakesDecimalPointsWhateverTheLocale) {
  struct DecimalComma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::locale before = std::locale::global(std::locale(std::locale(), new DecimalComma));
  const Real value = Expression("1234.5 + 0.25").constant();
  std::locale::global(before);
  EXPECT_EQ(value, 1234.75);
}

}  // namespace
}  // namespace curlew
