// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// Set-up of a mesh, stage by stage: seconds, and memory per cell beyond what was there before. Every stage
// runs in a process of its own, since memory once used by a process is not a reliable measure any more.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <string>

#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/import/face_matching.hpp"
#include "mesh/mesh.hpp"

namespace {

using namespace curlew;

/// Nodes and cells in random order: a mesh as bad generators write them.
RawMesh shuffled(const RawMesh& raw) {
  std::mt19937_64 generator(1);
  const auto permutation = [&](std::size_t size) {
    std::vector<Index> order(size);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), generator);
    return order;
  };
  RawMesh result = raw;
  const std::vector<Index> new_node = permutation(raw.nodes.size());
  for (std::size_t n = 0; n < new_node.size(); ++n) result.nodes[at(new_node[n])] = raw.nodes[n];
  for (Index& n : result.boundary_nodes) n = new_node[at(n)];
  const std::vector<Index> old_cell = permutation(raw.cell_types.size());
  const std::int64_t size = raw.cell_start[1];  // cells of one type
  auto place = result.cell_nodes.begin();
  for (const Index c : old_cell) {
    for (std::int64_t k = 0; k < size; ++k) *place++ = new_node[at(raw.cell_nodes[at(c * size + k)])];
  }
  return result;
}

/// Peak of this process's memory so far [B].
double peak_memory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return 1024.0 * static_cast<double>(usage.ru_maxrss);
}

/// Runs and reports one stage in a process of its own. The peak counts beyond the raw mesh that it starts
/// from.
void report(const std::string& mesh, const std::string& stage, const RawMesh& raw,
            const std::function<void(RawMesh)>& body) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    RawMesh own = raw;
    const double before = peak_memory();
    const auto start = std::chrono::steady_clock::now();
    body(std::move(own));
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    fmt::print("{:<28} {:<24} {:>8.2f} s {:>8.0f} B/cell\n", mesh, stage, seconds.count(),
               (peak_memory() - before) / static_cast<double>(raw.cell_types.size()));
    std::fflush(stdout);
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

void time_setup(const std::string& name, const RawMesh& raw) {
  report(name, "matching faces", raw, [](RawMesh own) { match_faces(own); });
  for (const auto& [order_name, order] :
       {std::pair{"none", CellOrder::AsRead}, std::pair{"hilbert", CellOrder::Hilbert},
        std::pair{"rcm", CellOrder::ReverseCuthillMcKee}}) {
    report(name, fmt::format("mesh, order {}", order_name), raw,
           [&, wanted = order](RawMesh own) { Mesh(std::move(own), wanted); });
  }
}

}  // namespace

/// Arguments: the sizes to run, in blocks along a side (default 55: a million tetrahedra).
int main(int argc, char** argv) {
  std::vector<int> sizes;
  for (int k = 1; k < argc; ++k) sizes.push_back(std::atoi(argv[k]));
  if (sizes.empty()) sizes = {55};
  for (const int n : sizes) {
    for (const CellType type : {CellType::Tetrahedron, CellType::Hexahedron}) {
      // As many hexahedra as tetrahedra: six of these make a block.
      const int blocks = type == CellType::Hexahedron ? static_cast<int>(1.817 * n) : n;
      const RawMesh raw = make_box(type, {blocks, blocks, blocks});
      const std::string name = fmt::format("{} {}s", raw.cell_types.size(), curlew::name(type));
      time_setup(name, raw);
      time_setup(name + ", random", shuffled(raw));
    }
  }
}
