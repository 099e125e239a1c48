// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <iostream>
#include <limits>

#include "app/commands.hpp"
#include "app/flow_simulation.hpp"
#include "app/heat_simulation.hpp"
#include "app/load_case.hpp"
#include "app/memory_estimate.hpp"
#include "app/progress.hpp"

namespace curlew {

namespace {

/// A field at the end of a run.
struct EndField {
  std::string name, entity;
  std::vector<Real> values;
  std::span<const Vector3> positions;  // of the entities [m]
};

struct BackendResult {
  std::string name;
  double seconds_per_step = 0;
  std::optional<double> operator_seconds;  // one application of the diffusion operator
  std::int64_t iterations = 0;
  std::vector<EndField> fields;
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

double time_diffusion(const Executor& executor, const HeatDiffusion& heat, const Mesh& mesh) {
  const NodeDiffusion diffusion(executor, mesh, heat.conductivity());
  DualCochain<Node> outflow(executor, heat.temperature().size(), "outflow", "W");
  constexpr int repetitions = 20;
  diffusion.apply(heat.temperature(), outflow);  // a GPU is sent the tables with the first
  executor.synchronise();
  const double before = Progress::wall_seconds();
  for (int k = 0; k < repetitions; ++k) diffusion.apply(heat.temperature(), outflow);
  executor.synchronise();
  return (Progress::wall_seconds() - before) / repetitions;
}

BackendResult run_on(const Executor& executor, const LoadedCase& loaded, std::optional<std::int64_t> steps) {
  const Geometry& geometry = loaded.mesh->geometry();
  require_device_memory(executor, loaded);
  const std::unique_ptr<Simulation> simulation = make_simulation(executor, loaded);
  simulation->start();
  BackendResult result;
  result.name =
      executor.name() == "openmp" ? fmt::format("openmp ({} threads)", executor.threads()) : executor.name();
  const double began = Progress::wall_seconds();
  std::int64_t taken = 0;
  for (; !simulation->finished() && (!steps || taken < *steps); ++taken) {
    simulation->advance();
    for (const auto& [name, report] : simulation->solves()) result.iterations += report.iterations;
  }
  executor.synchronise();
  result.seconds_per_step = (Progress::wall_seconds() - began) / static_cast<double>(taken);
  if (const auto* heat = dynamic_cast<const HeatSimulation*>(simulation.get())) {
    result.operator_seconds = time_diffusion(executor, heat->heat(), *loaded.mesh);
    result.fields.push_back(
        {"temperature", "node", heat->heat().temperature().to_host(), geometry.node_positions().host()});
  } else {
    const IncompressibleFlow& flow = dynamic_cast<const FlowSimulation&>(*simulation).flow();
    result.fields.push_back({"flux", "face", flow.flux().to_host(), geometry.face_centroids().host()});
    result.fields.push_back(
        {"pressure", "cell", flow.pressure().to_host(), geometry.cell_centroids().host()});
  }
  return result;
}

/// Prints how a field differs from that of the first backend; returns whether it has the same bits.
bool print_difference(const EndField& reference, const EndField& field) {
  std::uint64_t ulps = 0;
  Real largest = 0, difference = 0;
  std::size_t first = field.values.size();
  for (std::size_t n = 0; n < field.values.size(); ++n) {
    const Real a = reference.values[n], b = field.values[n];
    ulps = std::max(ulps, ulps_between(a, b));
    largest = std::max(largest, std::abs(a));
    difference = std::max(difference, std::abs(a - b));
    if (std::bit_cast<std::uint64_t>(a) != std::bit_cast<std::uint64_t>(b)) first = std::min(first, n);
  }
  std::cout << fmt::format("  {:<20} {:>10} ulps {:>12.2e} relative\n", field.name, ulps,
                           largest > 0 ? difference / largest : difference);
  if (first == field.values.size()) return true;
  const Vector3 x = field.positions[first];
  std::cout << fmt::format("  {} differs first at {} {} ({:.6g}, {:.6g}, {:.6g})\n", field.name, field.entity,
                           first, x.x, x.y, x.z);
  return false;
}

}  // namespace

int compare_case(const CompareOptions& options) {
  const LoadedCase loaded = load_case(options.case_file, options.overrides);
  std::vector<BackendResult> results;
  std::vector<Executor> executors{Executor::serial(), make_executor("cpu", options.threads),
                                  Executor::debug_device()};
  if (cuda_problem().empty()) executors.push_back(Executor::cuda());
  for (const Executor& executor : executors) {
    results.push_back(run_on(executor, loaded, options.steps));
  }
  std::cout << fmt::format("{:<22} {:>12} {:>14} {:>11}\n", "backend", "s per step", "s per diffusion",
                           "iterations");
  bool agree = true;
  for (const BackendResult& result : results) {
    std::cout << fmt::format("{:<22} {:>12.4e} {:>14} {:>11}\n", result.name, result.seconds_per_step,
                             result.operator_seconds ? fmt::format("{:.4e}", *result.operator_seconds) : "-",
                             result.iterations);
    for (std::size_t k = 0; k < result.fields.size(); ++k)
      agree = print_difference(results[0].fields[k], result.fields[k]) && agree;
  }
  std::cout << (agree ? "all backends agree to the last bit\n" : "the backends do not agree\n");
  return agree ? 0 : 1;
}

}  // namespace curlew
