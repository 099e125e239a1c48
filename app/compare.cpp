// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <iostream>
#include <optional>

#include "app/benchmark.hpp"
#include "app/case/load_case.hpp"
#include "app/case/memory_estimate.hpp"
#include "app/commands.hpp"
#include "app/field_difference.hpp"
#include "app/output/monitor_files.hpp"
#include "app/simulation/flow_simulation.hpp"
#include "app/simulation/heat_simulation.hpp"
#include "app/step_timer.hpp"

namespace curlew {

namespace {

struct BackendResult {
  std::string name;
  double seconds_per_step = 0;
  std::int64_t iterations = 0;
  std::vector<ComparedField> fields;  // at the end
};

BackendResult run_on(const Executor& executor, const LoadedCase& loaded, std::optional<std::int64_t> steps) {
  const Geometry& geometry = loaded.mesh->geometry();
  require_device_memory(executor, loaded);
  const std::unique_ptr<Simulation> simulation = make_simulation(executor, loaded);
  const CaseSettings& settings = simulation->settings();
  const MonitorFiles monitors(simulation->mesh(), settings.monitors, simulation->start_time(),
                              settings.output.directory);
  simulation->start();
  BackendResult result;
  result.name =
      executor.name() == "openmp" ? fmt::format("openmp ({} threads)", executor.threads()) : executor.name();
  StepTimer timer;
  for (std::int64_t taken = 0; !simulation->finished() && (!steps || taken < *steps); ++taken) {
    timer.time([&] {
      simulation->advance();
      executor.synchronise();
    });
    for (const auto& [name, report] : simulation->solves()) result.iterations += report.iterations;
    if (const auto watched = simulation->watched())
      simulation->observe(monitors.value(watched->name, *simulation->snapshot()));
  }
  result.seconds_per_step = timer.per_step();
  if (const auto* heat = dynamic_cast<const HeatSimulation*>(simulation.get())) {
    result.fields.push_back(
        {"temperature", "node", numbers_of(heat->heat().temperature()), geometry.node_positions().host()});
  } else {
    const IncompressibleFlow& flow = dynamic_cast<const FlowSimulation&>(*simulation).flow();
    result.fields = compared_fields(flow);
  }
  return result;
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
  std::cout << fmt::format("{:<22} {:>12} {:>7} {:>11}\n", "backend", "s per step", "ratio", "iterations");
  bool agree = true;
  for (const BackendResult& result : results) {
    std::cout << fmt::format("{:<22} {:>12.4e} {:>7.2f} {:>11}\n", result.name, result.seconds_per_step,
                             results[0].seconds_per_step / result.seconds_per_step, result.iterations);
    for (std::size_t k = 0; k < result.fields.size(); ++k) {
      const ComparedField &wanted = results[0].fields[k], &field = result.fields[k];
      std::cout << describe_difference(wanted, field);
      agree = agree && !difference_from(wanted.numbers, field.numbers).first;
    }
  }
  std::cout << "\nThe operators on this mesh:\n";
  Benchmark benchmark(executors, BenchmarkSettings::brief());
  time_kernels(benchmark, *loaded.mesh);
  if (std::holds_alternative<FlowCase>(loaded.settings)) time_flow_kernels(benchmark, *loaded.mesh);
  std::cout << to_table(benchmark.records()) << '\n';
  for (const BenchmarkRecord& record : benchmark.records()) agree = agree && !record.first_difference;
  std::cout << (agree ? "all backends agree to the last bit\n" : "the backends do not agree\n");
  return agree ? 0 : 1;
}

}  // namespace curlew
