// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "app/benchmark.hpp"
#include "mesh/box.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

const BenchmarkSettings quick{.rounds = 1, .working_set = 1 << 20};

std::vector<nlohmann::json> json_of(const std::vector<BenchmarkRecord>& records) {
  std::vector<nlohmann::json> json;
  for (const BenchmarkRecord& record : records) json.push_back(nlohmann::json::parse(to_json(record)));
  return json;
}

std::map<std::string, Real> bytes_by_kernel(const Mesh& mesh) {
  Benchmark benchmark({Executor::serial()}, quick);
  time_kernels(benchmark, mesh);
  time_flow_kernels(benchmark, mesh);
  std::map<std::string, Real> bytes;
  for (const BenchmarkRecord& record : benchmark.records()) bytes[record.kernel] = record.bytes;
  return bytes;
}

TEST(Bench, tells_of_each_kernel_before_it_is_timed) {
  BenchmarkSettings settings = quick;
  std::vector<std::string> told;
  std::vector<std::size_t> done;  // by then
  Benchmark* present = nullptr;
  settings.begin = [&](const std::string& kernel) {
    told.push_back(kernel);
    done.push_back(present->records().size());
  };
  Benchmark benchmark({Executor::serial()}, settings);
  present = &benchmark;
  time_kernels(benchmark, Mesh(make_box(CellType::Tetrahedron, {2, 2, 2})));
  const std::vector<BenchmarkRecord>& records = benchmark.records();
  ASSERT_EQ(told.size(), records.size());
  for (std::size_t k = 0; k < told.size(); ++k) {
    EXPECT_EQ(told[k], records[k].kernel);
    EXPECT_EQ(done[k], k);
  }
}

TEST(Bench, tells_of_each_record_when_it_is_there) {
  BenchmarkSettings settings = quick;
  std::vector<std::string> events;
  settings.begin = [&](const std::string& kernel) { events.push_back(kernel); };
  settings.done = [&](const BenchmarkRecord& record) { events.push_back(row_of_table(record)); };
  Benchmark benchmark({Executor::serial(), Executor::openmp(2)}, settings);
  time_kernels(benchmark, Mesh(make_box(CellType::Triangle, {2, 2, 0})));
  const std::vector<BenchmarkRecord>& records = benchmark.records();
  std::vector<std::string> expected;
  for (std::size_t k = 0; k < records.size(); ++k) {
    if (k % 2 == 0) expected.push_back(records[k].kernel);
    expected.push_back(row_of_table(records[k]));
  }
  EXPECT_EQ(events, expected);
}

TEST(Bench, counts_the_least_bytes_of_a_grid_of_hexahedra) {
  constexpr int n = 6;
  constexpr int cells = n * n * n, interior = 3 * n * n * (n - 1), boundary = 6 * n * n,
                faces = interior + boundary, edges = 3 * n * (n + 1) * (n + 1),
                nodes = (n + 1) * (n + 1) * (n + 1),
                shape = 4 * (6 * cells + 2 * interior + boundary) + 48 * faces + 32 * cells,
                matrix = (4 + 8) * (11 * interior + 6 * boundary),  // between the faces of cells
      pairs = (3 * n + 1) * (3 * n + 1) * (3 * n + 1) - nodes;      // of nodes that share a cell
  auto bytes = bytes_by_kernel(Mesh(make_box(CellType::Hexahedron, {n, n, n})));
  bytes.erase("multigrid cycle");  // below
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

TEST(Bench, counts_the_least_bytes_of_a_multigrid_cycle) {
  // One level of 125 unknowns, solved by a dense inverse, between three passes over what is given, in double
  // precision.
  constexpr int cells = 125;
  const auto bytes = bytes_by_kernel(Mesh(make_box(CellType::Hexahedron, {5, 5, 5})));
  EXPECT_EQ(bytes.at("multigrid cycle"), 8 * cells * cells + 8 * cells + cells * (7 * 8 + 3 * 4));
}

TEST(Bench, tells_how_large_the_multigrid_is) {
  Benchmark benchmark({Executor::serial()}, quick);
  time_flow_kernels(benchmark, Mesh(make_box(CellType::Hexahedron, {12, 12, 12})));
  const std::vector<nlohmann::json> json = json_of(benchmark.records());
  const auto cycle = std::ranges::find(json, "multigrid cycle", [](const auto& r) { return r["operator"]; });
  ASSERT_NE(cycle, json.end());
  EXPECT_GE((*cycle)["levels"], 2);
  EXPECT_GT((*cycle)["operator_complexity"], 1);
  EXPECT_LT((*cycle)["operator_complexity"], 3);
  EXPECT_NE(to_table(benchmark.records()).find("multigrid cycle: levels"), std::string::npos);
}

constexpr Index cells_of_field = 1 << 14;  // 128 KiB, so that eight copies make a working set

/// Applies `apply` to fresh fields on cells.
template <class Apply>
auto on_cells(const Apply& apply) {
  return [apply](const Executor& executor) {
    return TimedKernel{8 * cells_of_field,
                       [executor] { return std::tuple{Field<Cell>(executor, cells_of_field, "field", "1")}; },
                       apply};
  };
}

TEST(Bench, runs_each_application_of_a_batch_on_fields_of_its_own) {
  Benchmark benchmark({Executor::serial()}, quick);
  std::map<const Real*, int> applied;
  benchmark.time("touch", on_cells([&](Field<Cell>& field) { ++applied[field.view().data()]; }));
  EXPECT_EQ(applied.size(), 8u);
  for (const auto& [field, times] : applied) EXPECT_EQ(times, 1 + quick.rounds);
}

TEST(Bench, of_fields_of_a_few_values_takes_no_more_copies_than_there_is_time_for) {
  BenchmarkSettings settings = BenchmarkSettings::beyond_cache();
  settings.rounds = 1;
  settings.working_set = 1 << 20;
  Benchmark benchmark({Executor::serial()}, settings);
  int applied = 0;
  benchmark.time("touch", [&](const Executor& executor) {
    return TimedKernel{8, [executor] { return std::tuple{Field<Cell>(executor, 1, "field", "1")}; },
                       [&](Field<Cell>&) { ++applied; }};
  });
  EXPECT_EQ(applied, 2 * 10'000);
}

TEST(Bench, needs_no_more_copies_of_fields_than_make_a_batch_move_the_working_set) {
  Benchmark benchmark({Executor::serial()}, quick);
  std::set<const Real*> copies;
  benchmark.time("streams a table", [&](const Executor& executor) {
    auto kernel = on_cells([&](Field<Cell>& field) { copies.insert(field.view().data()); })(executor);
    kernel.bytes *= 4;
    return kernel;
  });
  EXPECT_EQ(copies.size(), 2u);
}

TEST(Bench, finds_no_difference_between_backends) {
  for (const CellType type : {CellType::Hexahedron, CellType::Tetrahedron, CellType::Triangle}) {
    Benchmark benchmark(all_backends(), {.rounds = 1, .working_set = 1 << 16, .most_copies = 1});
    const Mesh mesh(make_box(type, type == CellType::Triangle ? std::array{9, 9, 0} : std::array{5, 6, 7}));
    time_kernels(benchmark, mesh);
    time_flow_kernels(benchmark, mesh);
    for (const BenchmarkRecord& record : benchmark.records()) {
      EXPECT_EQ(record.ulps, 0u) << record.kernel << " " << record.backend;
      EXPECT_FALSE(record.first_difference) << record.kernel << " " << record.backend;
    }
  }
}

TEST(Bench, names_the_first_entity_where_a_backend_differs) {
  Benchmark benchmark({Executor::serial(), Executor::openmp(2)}, quick);
  benchmark.time("kernel", on_cells([](Field<Cell>& field) {
                   if (field.executor().threads() == 1) return;
                   std::vector<Real> changed(at(cells_of_field), 1);
                   field.copy_to_host(changed);
                   for (const std::size_t c : {1234u, 5678u}) changed[c] = std::nextafter(changed[c], 9.0);
                   field.copy_from_host(changed);
                 }));
  benchmark.time("reduction",
                 on_cells([](Field<Cell>& field) -> Real { return field.executor().threads(); }));
  const std::vector<BenchmarkRecord>& records = benchmark.records();
  ASSERT_EQ(records.size(), 4u);
  EXPECT_FALSE(records[0].first_difference);
  EXPECT_EQ(records[1].ulps, 2u);  // applied twice to the fields that are looked at
  EXPECT_EQ(records[1].first_difference, "cell 1234");
  EXPECT_EQ(records[3].first_difference, "value 0");
  const std::string table = to_table(records);
  EXPECT_NE(table.find("kernel on openmp differs first at cell 1234"), std::string::npos) << table;
  const std::vector<nlohmann::json> json = json_of(records);
  EXPECT_TRUE(json[0].at("first_difference").is_null());
  EXPECT_EQ(json[1].at("first_difference"), "cell 1234");
  EXPECT_EQ(json[1].at("ulps"), 2);
}

TEST(Bench, compares_with_a_first_backend_that_is_not_timed) {
  BenchmarkSettings settings = quick;
  settings.rounds = 3;
  settings.times_first = false;
  Benchmark benchmark({Executor::serial(), Executor::openmp(2)}, settings);
  std::map<std::string, int> applied;
  const auto kernel_that_adds = [&](Real of_others) {
    return on_cells([&applied, of_others](Field<Cell>& field) {
      const std::string backend = field.executor().name();
      ++applied[backend];
      field.view()[Id<Cell>(7)] += backend == "serial" ? 1 : of_others;
    });
  };
  benchmark.time("same", kernel_that_adds(1));
  // Once to begin with and once a round; the other one with eight copies each time.
  EXPECT_EQ(applied["serial"], 4);
  EXPECT_EQ(applied["openmp"], 32);
  benchmark.time("other", kernel_that_adds(2));
  const std::vector<BenchmarkRecord>& records = benchmark.records();
  ASSERT_EQ(records.size(), 2u);
  for (const BenchmarkRecord& record : records) EXPECT_EQ(record.backend, "openmp");
  EXPECT_FALSE(records[0].first_difference);
  EXPECT_EQ(records[1].first_difference, "cell 7");
}

TEST(Bench, json_has_one_consistent_record_per_kernel_and_backend) {
  Benchmark benchmark({Executor::serial(), Executor::openmp(2)}, quick);
  time_kernels(benchmark, Mesh(make_box(CellType::Tetrahedron, {4, 4, 4})));
  const std::vector<nlohmann::json> json = json_of(benchmark.records());
  ASSERT_EQ(json.size(), benchmark.records().size());
  for (std::size_t k = 0; k < json.size(); ++k) {
    const auto& record = json[k];
    EXPECT_EQ(record.at("backend"), k % 2 == 0 ? "serial" : "openmp");
    EXPECT_EQ(record.at("threads"), k % 2 == 0 ? 1 : 2);
    const Real seconds = record.at("seconds"), bytes = record.at("bytes"),
               rate = record.at("gigabytes_per_second"), bandwidth = record.at("bandwidth");
    EXPECT_GT(seconds, 0);
    EXPECT_NEAR(rate, 1e-9 * bytes / seconds, 1e-12 * rate);
    EXPECT_NEAR(record.at("fraction").get<Real>(), rate / bandwidth, 1e-12);
    const Real ratio = json[k - k % 2].at("seconds").get<Real>() / seconds;
    EXPECT_NEAR(record.at("ratio").get<Real>(), ratio, 1e-12 * ratio);
  }
}

}  // namespace
}  // namespace curlew
