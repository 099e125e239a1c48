// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "app/benchmark.hpp"
#include "app/case/load_case.hpp"
#include "app/commands.hpp"
#include "app/files/read_mesh.hpp"

namespace curlew {

int bench_mesh(const BenchOptions& options) {
  const Mesh mesh = read_mesh(options.mesh);
  std::vector<Executor> executors{Executor::serial()};
  BenchmarkSettings settings = BenchmarkSettings::beyond_cache();
  if (options.backend) {
    executors.push_back(make_executor(*options.backend, options.threads));
    settings.times_first = false;
  } else {
    executors.push_back(make_executor("cpu", options.threads));
    if (cuda_problem().empty()) executors.push_back(Executor::cuda());
  }
  // Row by row: who ends the program has what was measured until then.
  std::ostream& table = options.json ? std::cerr : std::cout;
  const char* before = "[\n";
  settings.begin = [](const std::string& kernel) { std::cerr << "timing " << kernel << std::endl; };
  settings.done = [&](const BenchmarkRecord& record) {
    table << row_of_table(record) << std::flush;
    if (options.json) std::cout << std::exchange(before, ",\n") << to_json(record) << std::flush;
  };
  const Topology& t = mesh.topology();
  table << fmt::format("{}: {} cells, {} faces, {} edges, {} nodes\n\n", options.mesh.file.string(),
                       t.cells().size(), t.faces().size(), t.edges().size(), t.nodes().size())
        << head_of_table() << std::flush;
  Benchmark benchmark(std::move(executors), settings);
  time_kernels(benchmark, mesh);
  time_flow_kernels(benchmark, mesh);
  if (options.json) std::cout << "\n]\n";
  table << figures_below_table(benchmark.records());
  if (t.faces_of_edge().bytes() < 4 * last_level_cache())
    table << "\nThe tables of this mesh stay in cache: fractions say little about larger meshes.\n";
  return 0;
}

}  // namespace curlew
