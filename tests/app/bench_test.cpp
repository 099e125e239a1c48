// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "app/benchmark.hpp"
#include "mesh/box.hpp"

namespace curlew {
namespace {

const BenchmarkSettings quick{.rounds = 1, .working_set = 1 << 20};

std::map<std::string, Real> bytes_by_kernel(const Mesh& mesh) {
  Benchmark benchmark(Executor::serial(), quick);
  time_kernels(benchmark, mesh);
  std::map<std::string, Real> bytes;
  for (const BenchmarkRecord& record : benchmark.records()) bytes[record.kernel] = record.bytes;
  return bytes;
}

TEST(Bench, counts_the_least_bytes_of_a_grid_of_hexahedra) {
  constexpr int n = 6;
  constexpr int cells = n * n * n, interior = 3 * n * n * (n - 1), boundary = 6 * n * n,
                faces = interior + boundary, edges = 3 * n * (n + 1) * (n + 1),
                nodes = (n + 1) * (n + 1) * (n + 1),
                shape = 4 * (6 * cells + 2 * interior + boundary) + 48 * faces + 32 * cells,
                matrix = (4 + 8) * (11 * interior + 6 * boundary),  // between the faces of cells
      pairs = (3 * n + 1) * (3 * n + 1) * (3 * n + 1) - nodes;      // of nodes that share a cell
  const auto bytes = bytes_by_kernel(Mesh(make_box(CellType::Hexahedron, {n, n, n})));
  const std::map<std::string, Real> expected{
      {"gradient", 4 * (2 * interior + boundary) + 8 * (cells + faces)},
      {"divergence", 4 * 6 * cells + 8 * (cells + faces)},
      {"curl", 4 * 4 * faces + 8 * (edges + faces)},
      {"rotation", 4 * 4 * faces + 4 * (edges + 1) + 8 * (edges + faces)},
      {"node gradient", 4 * 2 * edges + 8 * (nodes + edges)},
      {"interpolation", 4 * 6 * cells + 8 * (4 * faces + 6 * cells)},
      {"integration", 4 * (2 * interior + boundary) + 8 * (4 * faces + 6 * cells)},
      {"mass of fluxes", matrix + 8 * 2 * faces},
      {"viscous form", matrix + 8 * 6 * faces},
      {"R M C", matrix + 8 * 2 * edges + 2 * 4 * 4 * faces + 4 * (edges + 1)},
      // Connectivity, areas and centroids of faces, centroids and volumes of cells; holds, fluxes, velocities
      // and circulations; and two viscous forms.
      {"convection", shape + 41 * faces + 2 * (matrix + 8 * 6 * faces)},
      {"cell Laplacian", 16 * interior + 12 * boundary + 16 * cells},
      {"CG iteration", 16 * interior + 12 * boundary + 96 * cells},
      {"diffusion", (4 + 8) * pairs + 4 * (nodes + 1) + 8 * 2 * nodes},
      {"Jacobi preconditioner", 24 * nodes},
      {"CG step", 48 * nodes},
      {"linear combination", 24 * cells},
      {"inner product", 16 * cells},
      {"sum", 8 * cells}};
  EXPECT_EQ(bytes, expected);
}

TEST(Bench, leaves_out_the_node_gradient_in_two_dimensions) {
  const auto bytes = bytes_by_kernel(Mesh(make_box(CellType::Triangle, {4, 4, 0})));
  EXPECT_EQ(bytes.count("node gradient"), 0u);
  EXPECT_EQ(bytes.count("rotation"), 1u);
}

TEST(Bench, counts_the_least_bytes_of_flow_operators_on_tetrahedra) {
  constexpr int n = 3, cells = 6 * n * n * n, boundary = 12 * n * n, interior = (4 * cells - boundary) / 2;
  constexpr int matrix = (4 + 8) * (7 * interior + 4 * boundary);
  const auto bytes = bytes_by_kernel(Mesh(make_box(CellType::Tetrahedron, {n, n, n})));
  EXPECT_EQ(bytes.at("mass of fluxes"), matrix + 16 * (interior + boundary));
  EXPECT_EQ(bytes.at("viscous form"), matrix + 48 * (interior + boundary));
}

TEST(Bench, runs_each_application_of_a_batch_on_fields_of_its_own) {
  Benchmark benchmark(Executor::serial(), quick);
  constexpr Index values = 1 << 14;  // 128 KiB, so that eight copies make a working set
  std::map<const Real*, int> applied;
  benchmark.time(
      "touch", 8 * values, [] { return std::tuple{Field<Cell>(Executor::serial(), values, "field", "1")}; },
      [&](Field<Cell>& field) { ++applied[field.view().data()]; });
  EXPECT_EQ(applied.size(), 8u);
  for (const auto& [field, times] : applied) EXPECT_EQ(times, 1 + quick.rounds);
}

TEST(Bench, json_has_one_consistent_record_per_kernel_and_backend) {
  Benchmark benchmark(Executor::openmp(2), quick);
  time_kernels(benchmark, Mesh(make_box(CellType::Tetrahedron, {4, 4, 4})));
  const auto json = nlohmann::json::parse(to_json(benchmark.records()));
  ASSERT_EQ(json.size(), benchmark.records().size());
  for (const auto& record : json) {
    EXPECT_EQ(record.at("backend"), "openmp");
    EXPECT_EQ(record.at("threads"), 2);
    const Real seconds = record.at("seconds"), bytes = record.at("bytes"),
               rate = record.at("gigabytes_per_second"), bandwidth = record.at("bandwidth");
    EXPECT_GT(seconds, 0);
    EXPECT_NEAR(rate, 1e-9 * bytes / seconds, 1e-12 * rate);
    EXPECT_NEAR(record.at("fraction").get<Real>(), rate / bandwidth, 1e-12);
  }
}

}  // namespace
}  // namespace curlew
