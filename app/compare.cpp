// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iostream>
#include <limits>

#include "app/commands.hpp"
#include "app/load_case.hpp"
#include "app/progress.hpp"

namespace curlew {

namespace {

struct BackendResult {
  std::string name;
  double seconds_per_step = 0;
  double operator_seconds = 0;  // one application of the diffusion operator
  std::int64_t iterations = 0;
  std::vector<Real> temperature;
};

/// How many doubles lie between two numbers.
std::uint64_t ulps_between(Real a, Real b) {
  const auto ordered = [](Real x) {
    const auto bits = std::bit_cast<std::int64_t>(x);
    return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
  };
  const std::int64_t i = ordered(a), j = ordered(b);
  return i > j ? static_cast<std::uint64_t>(i) - static_cast<std::uint64_t>(j)
               : static_cast<std::uint64_t>(j) - static_cast<std::uint64_t>(i);
}

BackendResult run_on(const Executor& executor, const LoadedCase& loaded, std::optional<std::int64_t> steps) {
  const HeatCase& settings = loaded.settings;
  HeatDiffusion heat(executor, *loaded.mesh, heat_settings(settings, *loaded.mesh));
  heat.start(settings.initial_temperature, settings.time.start);
  BackendResult result;
  result.name =
      executor.name() == "openmp" ? fmt::format("openmp ({} threads)", executor.threads()) : executor.name();
  const double began = Progress::wall_seconds();
  std::int64_t taken = 1;
  if (settings.time.steady) {
    result.iterations = heat.solve_steady().iterations;
  } else {
    const std::int64_t last = step_count(settings.time);
    taken = std::min(last, steps.value_or(last));
    for (std::int64_t k = 1; k <= taken; ++k) {
      result.iterations += heat.advance_to(time_of_step(settings.time, k)).iterations;
    }
  }
  result.seconds_per_step = (Progress::wall_seconds() - began) / static_cast<double>(taken);
  result.temperature = heat.temperature().to_host();

  const NodeDiffusion diffusion(executor, *loaded.mesh, heat.conductivity());
  DualCochain<Node> outflow(executor, heat.temperature().size(), "outflow", "W");
  constexpr int repetitions = 20;
  const double before = Progress::wall_seconds();
  for (int k = 0; k < repetitions; ++k) diffusion.apply(heat.temperature(), outflow);
  result.operator_seconds = (Progress::wall_seconds() - before) / repetitions;
  return result;
}

}  // namespace

int compare_case(const CompareOptions& options) {
  const LoadedCase loaded = load_case(options.case_file, options.overrides);
  std::vector<BackendResult> results;
  for (const Executor& executor :
       {Executor::serial(), make_executor("cpu", options.threads), Executor::debug_device()}) {
    results.push_back(run_on(executor, loaded, options.steps));
  }
  std::cout << fmt::format("{:<22} {:>12} {:>14} {:>11} {:>10} {:>12}\n", "backend", "s per step",
                           "s per diffusion", "iterations", "ulps", "relative");
  bool agree = true;
  for (const BackendResult& result : results) {
    std::uint64_t ulps = 0;
    Real largest = 0, relative = 0;
    std::size_t first = result.temperature.size();
    for (std::size_t n = 0; n < result.temperature.size(); ++n) {
      const Real a = results[0].temperature[n], b = result.temperature[n];
      ulps = std::max(ulps, ulps_between(a, b));
      largest = std::max(largest, std::abs(a));
      relative = std::max(relative, std::abs(a - b));
      if (std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b)) first = std::min(first, n);
    }
    if (largest > 0) relative /= largest;
    std::cout << fmt::format("{:<22} {:>12.4e} {:>14.4e} {:>11} {:>10} {:>12.2e}\n", result.name,
                             result.seconds_per_step, result.operator_seconds, result.iterations, ulps,
                             relative);
    if (first < result.temperature.size()) {
      agree = false;
      const Vector3 x = loaded.mesh->geometry().node_positions()[first];
      std::cout << fmt::format("  temperature differs first at node {} ({:.6g}, {:.6g}, {:.6g})\n", first,
                               x.x, x.y, x.z);
    }
  }
  std::cout << (agree ? "all backends agree to the last bit\n" : "the backends do not agree\n");
  return agree ? 0 : 1;
}

}  // namespace curlew
