// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/cases/flow_cases.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace curlew::test {

Recipe::Recipe(const std::string& name, const std::string& definitions) {
  write_text(directory_ / "mesh.geo",
             fmt::format("{}\nInclude \"{}/{}.geo\";\n", definitions, CURLEW_CASES_DIRECTORY, name));
}

std::string Recipe::change() const {
  return fmt::format("mesh.file=\"{}\"", (directory_ / "mesh.geo").string());
}

namespace {

std::vector<std::string> with_method(const std::string& method, std::vector<std::string> changes) {
  changes.push_back(fmt::format("model.type=\"{}-fractional-step\"", method));
  return changes;
}

}  // namespace

FlowRun::FlowRun(const std::string& method, const std::string& name, std::vector<std::string> changes,
                 int threads, std::optional<int> steps)
    : CaseRun(name, with_method(method, std::move(changes)), threads, steps) {
  EXPECT_EQ(summary().at("model"), method + "-fractional-step");
  if (method != "exact") return;
  const std::vector<double> divergence = read("residuals").at("divergence_max");
  EXPECT_EQ(divergence.size(), summary().at("steps").get<std::size_t>());
  EXPECT_EQ(*std::ranges::max_element(divergence), 0);
  EXPECT_EQ(summary().at("max_divergence"), 0);
}

Table final_line(const CaseRun& run, const std::string& monitor) {
  return run.read(fmt::format("{}_{}", monitor, run.summary().at("steps").get<int>()));
}

double interpolate(const std::vector<double>& x, const std::vector<double>& values, double at) {
  const auto after = std::clamp(std::ranges::upper_bound(x, at), x.begin() + 1, x.end() - 1);
  const auto k = static_cast<std::size_t>(after - x.begin());
  return values[k - 1] + (values[k] - values[k - 1]) * (at - x[k - 1]) / (x[k] - x[k - 1]);
}

double largest_deviation(const Table& line, const std::string& value, const Table& reference,
                         const std::string& expected, const std::string& place) {
  double largest = 0;
  for (std::size_t row = 0; row < reference.at(place).size(); ++row) {
    const double wanted = reference.at(expected)[row];
    if (std::isnan(wanted)) continue;
    const double got = interpolate(line.at(place), line.at(value), reference.at(place)[row]);
    largest = std::isnan(got) ? got : std::max(largest, std::abs(got - wanted));
    if (std::isnan(got)) break;
  }
  return largest;
}

Table reference(const std::string& name, const std::string& file) {
  return read_table(fmt::format("{}/{}/reference/{}.csv", CURLEW_CASES_DIRECTORY, name, file));
}

}  // namespace curlew::test
