// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "tests/cases/case_run.hpp"

namespace curlew::test {

/// A mesh recipe of the shipped cases with other numbers in it, as long as it lives.
class Recipe {
 public:
  /// `Recipe("cavity/quads", "n = 16;")` is cases/cavity/quads.geo with these definitions before its own.
  Recipe(const std::string& name, const std::string& definitions);
  /// What `--set` takes for it.
  std::string change() const;

 private:
  OutputDirectory directory_;
};

/// The flow methods by the words that name them in a case file, `classical` and `exact` before
/// `-fractional-step`.
inline auto flow_methods() {
  return testing::Values(std::string("classical"), std::string("exact"));
}

/// A run of a flow case by a method. Expects that the exact one leaves no divergence at all in any step.
class FlowRun : public CaseRun {
 public:
  FlowRun(const std::string& method, const std::string& name, std::vector<std::string> changes = {},
          int threads = 1, std::optional<int> steps = {});
};

/// What a steady run wrote along a line at its end.
Table final_line(const CaseRun& run, const std::string& monitor);

/// Linear between the rows; x ascends.
double interpolate(const std::vector<double>& x, const std::vector<double>& values, double at);

/// Largest difference of the column `value` of `line` from `expected`, a column of `reference`, at the places
/// in its column `place`; rows without a number are left out.
double largest_deviation(const Table& line, const std::string& value, const Table& reference,
                         const std::string& expected, const std::string& place);

/// A file of cases/NAME/reference.
Table reference(const std::string& name, const std::string& file);

/// Root of the mean squared error of the velocity on a line, over that of the exact velocity
/// `{u, v} = exact(x, y)`.
template <class Function>
double velocity_error(const Table& line, Function exact) {
  double error = 0, size = 0;
  for (std::size_t k = 0; k < line.at("x").size(); ++k) {
    const auto [u, v] = exact(line.at("x")[k], line.at("y")[k]);
    const double du = line.at("velocity_x")[k] - u, dv = line.at("velocity_y")[k] - v;
    error += du * du + dv * dv;
    size += u * u + v * v;
  }
  return std::sqrt(error / size);
}

}  // namespace curlew::test
