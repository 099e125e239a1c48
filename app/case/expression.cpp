// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/case/expression.hpp"

#include <fmt/format.h>
#include <muParser.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cmath>
#include <mutex>
#include <numbers>
#include <numeric>
#include <regex>
#include <utility>
#include <vector>

#include "kernels/parallel.hpp"

namespace curlew {

namespace {

/// Not a number where one of the values is none.
double minimum_of(const double* values, int count) {
  return std::accumulate(values + 1, values + count, values[0],
                         [](double a, double b) { return a < b || std::isnan(a) ? a : b; });
}
double maximum_of(const double* values, int count) {
  return std::accumulate(values + 1, values + count, values[0],
                         [](double a, double b) { return a > b || std::isnan(a) ? a : b; });
}

/// Functions and constants, in place of muparser's own (whose names and meaning vary between versions).
void define_names(mu::Parser& parser) {
  parser.ClearFun();
  parser.ClearConst();
  parser.DefineConst("pi", std::numbers::pi);
  parser.DefineConst("e", std::numbers::e);
  parser.DefineFun(
      "sin", +[](double v) { return std::sin(v); });
  parser.DefineFun(
      "cos", +[](double v) { return std::cos(v); });
  parser.DefineFun(
      "tan", +[](double v) { return std::tan(v); });
  parser.DefineFun(
      "asin", +[](double v) { return std::asin(v); });
  parser.DefineFun(
      "acos", +[](double v) { return std::acos(v); });
  parser.DefineFun(
      "atan", +[](double v) { return std::atan(v); });
  parser.DefineFun(
      "atan2", +[](double v, double w) { return std::atan2(v, w); });
  parser.DefineFun(
      "sinh", +[](double v) { return std::sinh(v); });
  parser.DefineFun(
      "cosh", +[](double v) { return std::cosh(v); });
  parser.DefineFun(
      "tanh", +[](double v) { return std::tanh(v); });
  parser.DefineFun(
      "exp", +[](double v) { return std::exp(v); });
  parser.DefineFun(
      "log", +[](double v) { return std::log(v); });
  parser.DefineFun(
      "log10", +[](double v) { return std::log10(v); });
  parser.DefineFun(
      "sqrt", +[](double v) { return std::sqrt(v); });
  parser.DefineFun(
      "abs", +[](double v) { return std::abs(v); });
  parser.DefineFun(
      "floor", +[](double v) { return std::floor(v); });
  parser.DefineFun(
      "mod", +[](double v, double w) {
        const double rest = std::fmod(v, w);
        return rest != 0 && std::signbit(rest) != std::signbit(w) ? rest + w : rest;
      });
  parser.DefineFun(
      "pow", +[](double v, double w) { return std::pow(v, w); });
  parser.DefineFun(
      "erf", +[](double v) { return std::erf(v); });
  parser.DefineFun(
      "erfc", +[](double v) { return std::erfc(v); });
  parser.DefineFun("min", minimum_of);
  parser.DefineFun("max", maximum_of);
}

std::vector<std::string> known_names(const mu::Parser& parser, Variables variables) {
  std::vector<std::string> names = names_of(variables);
  for (const auto& [name, value] : parser.GetConst()) names.push_back(name);
  for (const auto& [name, callback] : parser.GetFunDef()) names.push_back(name);
  return names;
}

/// muparser would take "x = 1" for an assignment to x.
bool has_assignment(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '=') continue;
    if (i + 1 < text.size() && text[i + 1] == '=') {
      ++i;
    } else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

/// A compiled expression with its variables. muparser works on these and on a stack of its own.
class CompiledExpression {
 public:
  /// Throws mu::ParserError where `text` is no expression.
  explicit CompiledExpression(const std::string& text) {
    define_names(parser_);
    parser_.DefineVar("x", &point_.x);
    parser_.DefineVar("y", &point_.y);
    parser_.DefineVar("z", &point_.z);
    parser_.DefineVar("t", &time_);
    parser_.SetExpr(text);
  }

  Real value(Vector3 point, Real time) {
    point_ = point, time_ = time;
    return parser_.Eval();
  }
  mu::Parser& parser() { return parser_; }

 private:
  Vector3 point_;
  Real time_ = 0;
  mu::Parser parser_;
};

/// To be told to the user who wrote it.
std::string shown(const std::string& text) {
  return in_quotes(text, 200);
}

}  // namespace

std::vector<std::string> names_of(Variables variables) {
  if (variables == Variables::Time) return {"t"};
  return {"x", "y", "z", "t"};
}

struct Expression::Program {
  std::string text;
  Location location;
  std::mutex mutex;
  std::vector<std::unique_ptr<CompiledExpression>> idle;  // one for each thread that has evaluated at a time

  [[noreturn]] void fail(std::string message) const { throw InputErrors(location, std::move(message)); }

  std::unique_ptr<CompiledExpression> take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        std::unique_ptr<CompiledExpression> last = std::move(idle.back());
        idle.pop_back();
        return last;
      }
    }
    return std::make_unique<CompiledExpression>(text);
  }
  void give_back(std::unique_ptr<CompiledExpression> compiled) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(compiled));
  }
};

Expression::Expression(const std::string& text, Location location, Variables variables)
    : program_(std::make_shared<Program>()) {
  Program& program = *program_;
  program.text = text;
  program.location = std::move(location);
  if (has_assignment(text)) {
    program.fail(fmt::format("the expression {} has an assignment \"=\"; write == to compare", shown(text)));
  }
  try {
    program.give_back(std::make_unique<CompiledExpression>(text));
    mu::Parser& parser = program.idle.front()->parser();
    parser.Eval();
    if (parser.GetNumResults() != 1) {
      program.fail(fmt::format("the expression {} has {} values; one is needed (decimals take a point)",
                               shown(text), parser.GetNumResults()));
    }
    for (const auto& [name, address] : parser.GetUsedVar()) {
      (name == "t" ? depends_on_time_ : depends_on_space_) = true;
    }
    // Finding the used variables undid the compilation.
    const Real first = parser.Eval();
    if (!is_constant()) return;
    constant_ = first;
  } catch (const mu::ParserError& error) {
    // muparser counts positions from 0, past the end for what is missing, and says them only sometimes.
    static const std::regex place("( found)? at (expression )?position -?[0-9]+|[.!]$");
    const std::string problem = std::regex_replace(error.GetMsg(), place, "");
    const int character = error.GetPos() + 1;
    const bool inside = character > 0 && character <= static_cast<int>(text.size());
    std::string hint = fmt::format("; expected an expression of {}, such as \"300 + 20*sin(2*pi*t)\"",
                                   join(names_of(variables)));
    if (error.GetCode() == mu::ecUNASSIGNABLE_TOKEN) {
      const std::string token = error.GetToken();
      const std::string name(token.begin(), std::find_if(token.begin(), token.end(), [](char c) {
                               return !std::isalnum(static_cast<unsigned char>(c)) && c != '_';
                             }));
      mu::Parser known;
      define_names(known);
      hint = known.GetFunDef().contains(name) ? "; a function takes its arguments in parentheses"
                                              : suggestion(name, known_names(known, variables), "names");
    }
    program.fail(fmt::format("bad expression {}{}: {}{}", shown(text),
                             inside ? fmt::format(", character {}", character) : "", shortened(problem, 200),
                             hint));
  }
  if (!std::isfinite(constant_)) {
    program.fail(fmt::format("the expression {} is {}; a finite number is needed", shown(text), constant_));
  }
  program_.reset();
}

void Expression::refuse(const std::string& why) const {
  if (program_ == nullptr) throw InputError(why);
  program_->fail(why);
}

void Expression::evaluate(std::span<const Vector3> points, Real time, std::span<Real> values) const {
  REQUIRE(points.size() == values.size(),
          fmt::format("an expression was asked for {} values at {} points", values.size(), points.size()));
  if (is_constant()) {
    std::fill(values.begin(), values.end(), constant_);
    return;
  }
  // Without place in it one value serves all points.
  const std::size_t different = depends_on_space_ ? points.size() : std::min<std::size_t>(points.size(), 1);
  std::atomic<std::size_t> first_bad = different;
  constexpr std::size_t piece = 512;  // where starting threads costs less than evaluating
  parallel_for_pieces(different, piece, [&](std::size_t first, std::size_t last) {
    std::unique_ptr<CompiledExpression> compiled = program_->take();
    for (std::size_t i = first; i < last; ++i) {
      values[i] = compiled->value(points[i], time);
      if (!std::isfinite(values[i])) record_lowest(first_bad, i);
    }
    program_->give_back(std::move(compiled));
  });
  if (first_bad < different) {
    const Vector3 x = points[first_bad];
    program_->fail(
        fmt::format("the expression {} is {} at x = {}, y = {}, z = {}, t = {}; a finite number is needed",
                    shown(program_->text), values[first_bad], x.x, x.y, x.z, time));
  }
  if (different < points.size()) std::fill(values.begin(), values.end(), values[0]);
}

}  // namespace curlew
