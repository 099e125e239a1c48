// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <fmt/format.h>
#include <omp.h>

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "app/benchmark.hpp"
#include "app/commands.hpp"
#include "app/files/read_mesh.hpp"

namespace curlew {

int bench_mesh(const BenchOptions& options) {
  const Mesh mesh = read_mesh(options.mesh);
  std::vector<Executor> executors{Executor::serial(),
                                  Executor::openmp(options.threads.value_or(omp_get_max_threads()))};
  if (cuda_problem().empty()) executors.push_back(Executor::cuda());
  BenchmarkSettings settings = BenchmarkSettings::beyond_cache();
  settings.begin = [](const std::string& kernel) { std::cerr << "timing " << kernel << std::endl; };
  const Topology& t = mesh.topology();
  if (!options.json) {  // row by row: who ends the program has what was measured until then
    settings.done = [](const BenchmarkRecord& record) { std::cout << row_of_table(record) << std::flush; };
    std::cout << fmt::format("{}: {} cells, {} faces, {} edges, {} nodes\n\n", options.mesh.file.string(),
                             t.cells().size(), t.faces().size(), t.edges().size(), t.nodes().size())
              << head_of_table() << std::flush;
  }
  Benchmark benchmark(std::move(executors), settings);
  time_kernels(benchmark, mesh);
  time_flow_kernels(benchmark, mesh);
  if (options.json) {
    std::cout << to_json(benchmark.records()) << '\n';
    return 0;
  }
  std::cout << figures_below_table(benchmark.records());
  if (t.faces_of_edge().bytes() < 4 * last_level_cache()) {
    std::cout << "\nThe tables of this mesh stay in cache: fractions say little about larger meshes.\n";
  }
  return 0;
}

}  // namespace curlew
