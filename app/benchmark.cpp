// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/vector_kernels.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/flux_mass.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/interpolation.hpp"
#include "operators/node_diffusion.hpp"
#include "operators/viscous_form.hpp"
#include "physics/momentum.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/preconditioners.hpp"

namespace curlew {

namespace {

/// a = b + s c.
template <class E>
struct TriadOnElement {
  Real s;
  View<E, const Real> b, c;
  View<E, Real> a;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const { a[i] = b[i] + s * c[i]; }
};

/// x_i, the term of a sum over a field.
template <class E>
struct ValueOfEntity {
  View<E, const Real> x;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return x[i]; }
};

/// Number of entities of one type.
template <class E>
Index count(const Topology& topology) {
  if constexpr (std::is_same_v<E, Node>) return topology.nodes().size();
  if constexpr (std::is_same_v<E, Edge>) return topology.edges().size();
  if constexpr (std::is_same_v<E, Face>) return topology.faces().size();
  if constexpr (std::is_same_v<E, Cell>) return topology.cells().size();
}

template <class F>
F field_on(const Executor& executor, const Topology& topology) {
  return F(executor, count<typename F::Entity>(topology), "benchmark", "1");
}

template <class X, class Y>
void time_operator(Benchmark& benchmark, const Mesh& mesh, const std::string& kernel, std::size_t bytes,
                   const Operator<X, Y>& op) {
  const auto make_fields = [&] {
    return std::tuple{field_on<X>(benchmark.executor(), mesh.topology()),
                      field_on<Y>(benchmark.executor(), mesh.topology())};
  };
  benchmark.time(kernel, bytes, make_fields, [&](const X& x, Y& y) { op.apply(x, y); });
}

/// The operators that a step of a flow applies, and what its solvers add to them in an iteration.
void time_flow_kernels(Benchmark& benchmark, const Mesh& mesh) {
  const Executor& executor = benchmark.executor();
  const Topology& t = mesh.topology();
  const std::size_t edges = at(t.edges().size()), faces = at(t.faces().size()), cells = at(t.cells().size()),
                    boundary = at(t.boundary_faces().size()), interior = faces - boundary;
  constexpr std::size_t value = sizeof(Real), index = sizeof(Index), vector = sizeof(Vector3);
  // Faces of cells and cells of faces, with areas and centroids of faces, centroids and volumes of cells.
  const std::size_t tables = t.faces_of_cell().bytes() + t.cells_of_face().bytes(),
                    shape = tables + 2 * vector * faces + (vector + value) * cells;
  const FluxMass mass(executor, mesh);
  const std::size_t mass_bytes = mass.matrix().bytes() + 2 * value * faces;
  time_operator(benchmark, mesh, "mass of fluxes", mass_bytes, mass);

  const ViscousForm viscous_form(executor, mesh, mass.matrix().stencil());
  const std::size_t viscous_bytes = viscous_form.matrix().bytes() + 2 * vector * faces;
  time_operator(benchmark, mesh, "viscous form", viscous_bytes, viscous_form);

  const Curl curl(executor, t);
  const Rotation rotation(executor, t);
  benchmark.time(
      "R M C",
      t.edges_of_face().bytes() + t.faces_of_edge().bytes() + mass_bytes + value * 2 * (edges - faces),
      [&] {
        return std::tuple{field_on<PrimalCochain<Edge>>(executor, t),
                          field_on<PrimalCochain<Face>>(executor, t),
                          field_on<DualCochain<Face>>(executor, t), field_on<DualCochain<Edge>>(executor, t)};
      },
      [&](const auto& s, auto& flux, auto& circulation, auto& r) {
        curl.apply(s, flux);
        mass.apply(flux, circulation);
        rotation.apply(circulation, r);
      });

  // Of a fluid at rest, where the tangential solve ends at once: its residual and what the solution takes are
  // a viscous form each.
  FlowSettings settings;
  settings.boundaries.assign(t.patches().size(), Wall{});
  const FlowBoundaries boundaries(executor, mesh, settings);
  Momentum momentum(executor, mesh, settings, boundaries, 1);
  benchmark.time(
      "convection", shape + (1 + value + vector + value) * faces + 2 * viscous_bytes,
      [&] {
        return std::tuple{field_on<PrimalCochain<Face>>(executor, t), field_on<FaceVelocity>(executor, t),
                          field_on<DualCochain<Face>>(executor, t)};
      },
      [&](const auto& flux, const auto& velocity, auto& circulation) {
        momentum.convection(flux, velocity, circulation);
      });

  const std::size_t laplacian_bytes =
      (2 * index + value) * interior + (index + value) * boundary + 2 * value * cells;
  const CellLaplacian laplacian(executor, t, std::vector<Real>(faces, 1));
  time_operator(benchmark, mesh, "cell Laplacian", laplacian_bytes, laplacian);
  using Pressure = DualCochain<Cell>;
  JacobiPreconditioner<Pressure> jacobi(executor, t.cells().size());
  benchmark.time(
      "CG iteration", laplacian_bytes + 10 * value * cells,
      [&] {
        ConjugateGradientIteration<Pressure> iteration(field_on<Paired<Pressure>>(executor, t),
                                                       field_on<Pressure>(executor, t));
        iteration.residual().fill(1);
        iteration.start({1, 0, 0, std::numeric_limits<Index>::max()});
        return std::tuple{field_on<Pressure>(executor, t), std::move(iteration)};
      },
      [&](Pressure& x, auto& iteration) { iteration.advance(laplacian, jacobi, x); });
}

}  // namespace

std::size_t last_level_cache() {
  // The C library's sysconf reports the caches of a whole socket on some virtual machines; the kernel knows
  // what these cores share.
  std::size_t largest = 0;
  for (int level = 0; level < 8; ++level) {
    std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", level));
    std::size_t kibibytes = 0;
    if (file >> kibibytes) largest = std::max(largest, kibibytes * 1024);
  }
  return largest > 0 ? largest : std::size_t{32} << 20;
}

BenchmarkSettings BenchmarkSettings::beyond_cache() {
  return {.working_set = 20 * last_level_cache()};
}

Benchmark::Benchmark(const Executor& executor, const BenchmarkSettings& settings)
    : executor_(executor),
      settings_(settings),
      a_(executor, static_cast<Index>(settings.working_set / (3 * sizeof(Real))), "a", "1"),
      b_(executor, a_.size(), "b", "1"),
      c_(executor, a_.size(), "c", "1") {}

Real Benchmark::median(std::vector<Real> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Benchmark::triad() {
  for_each(executor_, a_.range(),
           TriadOnElement<Element>{3, std::as_const(b_).view(), std::as_const(c_).view(), a_.view()});
}

void time_kernels(Benchmark& benchmark, const Mesh& mesh) {
  const Executor& executor = benchmark.executor();
  const Topology& t = mesh.topology();
  const std::size_t nodes = at(t.nodes().size()), edges = at(t.edges().size()), faces = at(t.faces().size()),
                    cells = at(t.cells().size());
  constexpr std::size_t value = sizeof(Real);

  time_operator(benchmark, mesh, "gradient", t.cells_of_face().bytes() + value * (cells + faces),
                Gradient(executor, t));
  time_operator(benchmark, mesh, "divergence", t.faces_of_cell().bytes() + value * (faces + cells),
                Divergence(executor, t));
  time_operator(benchmark, mesh, "curl", t.edges_of_face().bytes() + value * (edges + faces),
                Curl(executor, t));
  time_operator(benchmark, mesh, "rotation", t.faces_of_edge().bytes() + value * (faces + edges),
                Rotation(executor, t));
  if (t.dimension() == 3) {  // identically zero in two
    time_operator(benchmark, mesh, "node gradient", t.nodes_of_edge().bytes() + value * (nodes + edges),
                  NodeGradient(executor, t));
  }
  // A flux or circulation and a centroid a face; a vector and a centroid a cell.
  time_operator(benchmark, mesh, "interpolation", t.faces_of_cell().bytes() + value * (4 * faces + 6 * cells),
                Interpolation(executor, mesh));
  time_operator(benchmark, mesh, "integration", t.cells_of_face().bytes() + value * (4 * faces + 6 * cells),
                Integration(executor, mesh));

  const NodeDiffusion diffusion(executor, mesh, std::vector<Real>(cells, 1));
  const std::size_t pairs = diffusion.conductances().size();
  time_operator(benchmark, mesh, "diffusion",
                diffusion.graph().neighbours_of_node().bytes() + value * (pairs + 2 * nodes), diffusion);
  JacobiPreconditioner<PrimalCochain<Node>> jacobi(executor, t.nodes().size());
  benchmark.time(
      "Jacobi preconditioner", 3 * value * nodes,
      [&] {
        return std::tuple{field_on<DualCochain<Node>>(executor, t),
                          field_on<PrimalCochain<Node>>(executor, t)};
      },
      [&](const DualCochain<Node>& r, PrimalCochain<Node>& z) { jacobi.apply(r, z); });
  const auto node_field = [&] { return std::tuple{field_on<Field<Node>>(executor, t)}; };
  benchmark.time(
      "CG step", 6 * value * nodes,
      [&] { return std::tuple_cat(node_field(), node_field(), node_field(), node_field()); },
      [&](const auto& p, const auto& ap, auto& x, auto& r) {
        for_each(executor, x.range(),
                 ConjugateGradientStepOnEntity<Node>{0.5, p.view(), ap.view(), x.view(), r.view()});
      });

  time_flow_kernels(benchmark, mesh);

  const auto one_field = [&] { return std::tuple{field_on<Field<Cell>>(executor, t)}; };
  const auto two_fields = [&] { return std::tuple_cat(one_field(), one_field()); };
  benchmark.time("linear combination", 3 * value * cells, two_fields, [&](const auto& x, auto& y) {
    for_each(executor, y.range(), LinearCombinationOnEntity<Cell>{2, x.view(), 3, y.view()});
  });
  benchmark.time("inner product", 2 * value * cells, two_fields,
                 [](const auto& x, const auto& y) { inner_product(x, y); });
  benchmark.time("sum", value * cells, one_field,
                 [&](const auto& x) { sum(executor, x.range(), ValueOfEntity<Cell>{x.view()}); });
}

std::string to_json(const std::vector<BenchmarkRecord>& records) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const BenchmarkRecord& record : records) {
    json.push_back({{"operator", record.kernel},
                    {"backend", record.backend},
                    {"threads", record.threads},
                    {"seconds", record.seconds},
                    {"bytes", record.bytes},
                    {"gigabytes_per_second", 1e-9 * record.bytes_per_second()},
                    {"fraction", record.fraction()},
                    {"bandwidth", 1e-9 * record.bandwidth}});
  }
  return json.dump(2);
}

std::string to_table(const std::vector<BenchmarkRecord>& records) {
  std::string table =
      fmt::format("{:<20} {:<8} {:>7} {:>12} {:>10} {:>8} {:>10} {:>9}\n", "operator", "backend", "threads",
                  "seconds", "megabytes", "GB/s", "triad GB/s", "fraction");
  for (const BenchmarkRecord& record : records) {
    table += fmt::format("{:<20} {:<8} {:>7} {:>12.3e} {:>10.2f} {:>8.2f} {:>10.2f} {:>9.2f}\n",
                         record.kernel, record.backend, record.threads, record.seconds, 1e-6 * record.bytes,
                         1e-9 * record.bytes_per_second(), 1e-9 * record.bandwidth, record.fraction());
  }
  return table;
}

}  // namespace curlew
