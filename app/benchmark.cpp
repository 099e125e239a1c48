// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "app/benchmark.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "kernels/entity_terms.hpp"
#include "kernels/vector_kernels.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/flux_mass.hpp"
#include "operators/incidence_operator.hpp"
#include "operators/interpolation.hpp"
#include "operators/node_diffusion.hpp"
#include "operators/viscous_form.hpp"
#include "physics/momentum/momentum.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/multigrid/multigrid.hpp"
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

/// What makes `count` fields of one kind.
template <class F, std::size_t count>
auto make_fields_on(const Executor& executor, const Topology& topology) {
  return [executor, &topology] {
    const auto field = [&](std::size_t) { return field_on<F>(executor, topology); };
    return [&]<std::size_t... k>(std::index_sequence<k...>) {
      return std::tuple{field(k)...};
    }
    (std::make_index_sequence<count>());
  };
}

/// An operator and fresh fields for it. `owner` keeps it alive.
template <class X, class Y>
auto timed(const Executor& executor, const Mesh& mesh, std::size_t bytes, std::shared_ptr<const void> owner,
           const Operator<X, Y>& op) {
  return TimedKernel{
      bytes,
      [executor, &mesh] {
        return std::tuple{field_on<X>(executor, mesh.topology()), field_on<Y>(executor, mesh.topology())};
      },
      [owner, &op](const X& x, Y& y) { op.apply(x, y); }};
}

template <class Op, class... Arguments>
void time_operator(Benchmark& benchmark, const Mesh& mesh, const std::string& name, std::size_t bytes,
                   const Arguments&... arguments) {
  benchmark.time(name, [&](const Executor& executor) {
    const auto op = std::make_shared<const Op>(executor, arguments...);
    return timed(executor, mesh, bytes, op, *op);
  });
}

}  // namespace

void time_flow_kernels(Benchmark& benchmark, const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const std::size_t edges = at(t.edges().size()), faces = at(t.faces().size()), cells = at(t.cells().size()),
                    boundary = at(t.boundary_faces().size()), interior = faces - boundary;
  constexpr std::size_t value = sizeof(Real), index = sizeof(Index), vector = sizeof(Vector3);
  // Faces of cells and cells of faces, with areas and centroids of faces, centroids and volumes of cells.
  const std::size_t tables = t.faces_of_cell().bytes() + t.cells_of_face().bytes(),
                    shape = tables + 2 * vector * faces + (vector + value) * cells;
  const auto mass_on = [&](const Executor& executor) {
    return std::make_shared<const FluxMass>(executor, mesh);
  };
  const auto viscous_form_on = [&](const Executor& executor) {
    return std::make_shared<const ViscousForm>(executor, mesh);
  };
  const auto mass_bytes = [&](const FluxMass& mass) { return mass.matrix().bytes() + 2 * value * faces; };
  const auto viscous_bytes = [&](const ViscousForm& form) {
    return form.matrix().bytes() + 2 * vector * faces;
  };
  benchmark.time("mass of fluxes", [&](const Executor& executor) {
    const auto mass = mass_on(executor);
    return timed(executor, mesh, mass_bytes(*mass), mass, *mass);
  });
  benchmark.time("viscous form", [&](const Executor& executor) {
    const auto form = viscous_form_on(executor);
    return timed(executor, mesh, viscous_bytes(*form), form, *form);
  });

  benchmark.time("R M C", [&](const Executor& executor) {
    const auto mass = mass_on(executor);
    const auto curl = std::make_shared<const Curl>(executor, t);
    const auto rotation = std::make_shared<const Rotation>(executor, t);
    return TimedKernel{t.edges_of_face().bytes() + t.faces_of_edge().bytes() + mass_bytes(*mass) +
                           value * 2 * (edges - faces),
                       [executor, &t] {
                         return std::tuple{field_on<PrimalCochain<Edge>>(executor, t),
                                           field_on<PrimalCochain<Face>>(executor, t),
                                           field_on<DualCochain<Face>>(executor, t),
                                           field_on<DualCochain<Edge>>(executor, t)};
                       },
                       [curl, mass, rotation](const auto& s, auto& flux, auto& circulation, auto& r) {
                         curl->apply(s, flux);
                         mass->apply(flux, circulation);
                         rotation->apply(circulation, r);
                       }};
  });

  // Of a fluid at rest, where the tangential solve ends at once: its residual and what the solution takes are
  // a viscous form each.
  struct FluidAtRest {
    FluidAtRest(const Executor& executor, const Mesh& mesh)
        : settings(walls(mesh)),
          boundaries(executor, mesh, settings),
          momentum(executor, mesh, settings, boundaries, 1) {}
    static FlowSettings walls(const Mesh& mesh) {
      FlowSettings settings;
      settings.boundaries.assign(mesh.topology().patches().size(), Wall{});
      return settings;
    }
    FlowSettings settings;
    FlowBoundaries boundaries;
    Momentum momentum;
  };
  benchmark.time(
      "convection",
      [&](const Executor& executor) {
        const auto fluid = std::make_shared<FluidAtRest>(executor, mesh);
        return TimedKernel{
            shape + (1 + value + vector + value) * faces + 2 * viscous_bytes(fluid->momentum.viscous_form()),
            [executor, &t] {
              return std::tuple{field_on<PrimalCochain<Face>>(executor, t),
                                field_on<FaceVelocity>(executor, t), field_on<FaceVelocity>(executor, t)};
            },
            [fluid](const auto& flux, const auto& velocity, auto& force) {
              fluid->momentum.convection(flux, velocity, force);
              fluid->momentum.condense(flux, velocity, force, true);
            }};
      },
      Contents::Zero);

  const std::size_t laplacian_bytes =
      (2 * index + value) * interior + (index + value) * boundary + 2 * value * cells;
  const std::vector<Real> ones(faces, 1);
  time_operator<CellLaplacian>(benchmark, mesh, "cell Laplacian", laplacian_bytes, t, ones);
  using Pressure = DualCochain<Cell>;
  benchmark.time("CG iteration", [&](const Executor& executor) {
    const auto laplacian = std::make_shared<const CellLaplacian>(executor, t, ones);
    const std::shared_ptr<const Preconditioner<Pressure>> jacobi =
        make_preconditioner<Pressure>(Preconditioning::Jacobi, executor, mesh.domain(), laplacian->matrix());
    return TimedKernel{
        laplacian_bytes + 10 * value * cells,
        [executor, &t] {
          ConjugateGradientIteration<Pressure> iteration(field_on<Paired<Pressure>>(executor, t),
                                                         field_on<Pressure>(executor, t));
          iteration.start({1, 0, 0, std::numeric_limits<Index>::max()});
          return std::tuple{field_on<Pressure>(executor, t), std::move(iteration)};
        },
        [laplacian, jacobi](Pressure& x, auto& iteration) { iteration.advance(*laplacian, *jacobi, x); }};
  });
  benchmark.time("multigrid cycle", [&](const Executor& executor) {
    const auto multigrid = std::make_shared<const Multigrid<Pressure>>(
        executor, mesh.domain(), CellLaplacian(executor, t, ones).matrix());
    return TimedKernel{
        multigrid->bytes(),
        [executor, &t] {
          return std::tuple{field_on<Paired<Pressure>>(executor, t), field_on<Pressure>(executor, t)};
        },
        [multigrid](const Paired<Pressure>& r, Pressure& z) { multigrid->apply(r, z); },
        {{"levels", static_cast<Real>(multigrid->levels())},
         {"operator_complexity", multigrid->operator_complexity()}}};
  });
}

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
  const auto memory =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return {.working_set = std::min(20 * last_level_cache(), memory / 16), .most_copies = 10'000};
}

BenchmarkSettings BenchmarkSettings::brief() {
  return {.rounds = 3, .working_set = std::size_t{4} << 20, .most_copies = 2};
}

Benchmark::Benchmark(std::vector<Executor> executors, const BenchmarkSettings& settings)
    : executors_(std::move(executors)), settings_(settings) {
  const auto size = static_cast<Index>(settings.working_set / (3 * sizeof(Real)));
  for (std::size_t k = 0; k < executors_.size(); ++k) {
    const auto field = [&] { return Field<Element>(executors_[k], times(k) ? size : 0, "triad", "1"); };
    triads_.push_back({field(), field(), field()});
  }
}

std::span<const Real> Benchmark::varied(std::size_t size) {
  if (size > varied_.size()) {
    varied_.resize(size);
    std::uint64_t state = 1;
    for (Real& number : varied_) {
      state = 6364136223846793005u * state + 1442695040888963407u;  // Knuth's linear congruences
      number = 0.5 + 0x1p-53 * static_cast<Real>(state >> 11);
    }
  }
  return std::span<const Real>(varied_).first(size);
}

void Benchmark::add(BenchmarkRecord record, const std::vector<Result>& wanted,
                    const std::vector<Result>& results) {
  for (std::size_t k = 0; k < results.size(); ++k) {
    const FieldDifference difference = difference_from(wanted[k].numbers, results[k].numbers);
    record.ulps = std::max(record.ulps, difference.ulps);
    if (difference.first && !record.first_difference) {
      record.first_difference =
          fmt::format("{} {}", results[k].entity, *difference.first / results[k].components);
    }
  }
  for (const BenchmarkRecord& first : records_) {
    if (first.kernel == record.kernel) {
      record.ratio = first.seconds / record.seconds;
      break;
    }
  }
  records_.push_back(std::move(record));
  if (settings_.done) settings_.done(records_.back());
}

Real Benchmark::median(std::vector<Real> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void Benchmark::run_triads(std::size_t executor) {
  Triad& fields = triads_[executor];
  for (int k = 0; k < triads_in_a_row(executor); ++k) {
    for_each(executors_[executor], fields.a.range(),
             TriadOnElement<Element>{3, std::as_const(fields.b).view(), std::as_const(fields.c).view(),
                                     fields.a.view()});
  }
}

void time_kernels(Benchmark& benchmark, const Mesh& mesh) {
  const Topology& t = mesh.topology();
  const std::size_t nodes = at(t.nodes().size()), edges = at(t.edges().size()), faces = at(t.faces().size()),
                    cells = at(t.cells().size());
  constexpr std::size_t value = sizeof(Real);

  time_operator<Gradient>(benchmark, mesh, "gradient", t.cells_of_face().bytes() + value * (cells + faces),
                          t);
  time_operator<Divergence>(benchmark, mesh, "divergence",
                            t.faces_of_cell().bytes() + value * (faces + cells), t);
  time_operator<Curl>(benchmark, mesh, "curl", t.edges_of_face().bytes() + value * (edges + faces), t);
  time_operator<Rotation>(benchmark, mesh, "rotation", t.faces_of_edge().bytes() + value * (faces + edges),
                          t);
  if (t.dimension() == 3) {  // identically zero in two
    time_operator<NodeGradient>(benchmark, mesh, "node gradient",
                                t.nodes_of_edge().bytes() + value * (nodes + edges), t);
  }
  // A flux or circulation and a centroid a face; a vector and a centroid a cell.
  time_operator<Interpolation>(benchmark, mesh, "interpolation",
                               t.faces_of_cell().bytes() + value * (4 * faces + 6 * cells), mesh);
  time_operator<Integration>(benchmark, mesh, "integration",
                             t.cells_of_face().bytes() + value * (4 * faces + 6 * cells), mesh);

  benchmark.time("diffusion", [&](const Executor& executor) {
    const auto diffusion = std::make_shared<const NodeDiffusion>(executor, mesh, std::vector<Real>(cells, 1));
    const std::size_t pairs = diffusion->conductances().size();
    return timed(executor, mesh,
                 diffusion->graph().neighbours_of_node().bytes() + value * (pairs + 2 * nodes), diffusion,
                 *diffusion);
  });

  benchmark.time("Jacobi preconditioner", [&](const Executor& executor) {
    const auto jacobi =
        std::make_shared<JacobiPreconditioner<PrimalCochain<Node>>>(executor, t.nodes().size());
    DualCochain<Node> diagonal(executor, t.nodes().size(), "diagonal", "1");
    diagonal.fill(3);
    jacobi->set_diagonal(diagonal);
    return TimedKernel{3 * value * nodes,
                       [executor, &t] {
                         return std::tuple{field_on<DualCochain<Node>>(executor, t),
                                           field_on<PrimalCochain<Node>>(executor, t)};
                       },
                       [jacobi](const DualCochain<Node>& r, PrimalCochain<Node>& z) { jacobi->apply(r, z); }};
  });
  benchmark.time("CG step", [&](const Executor& executor) {
    return TimedKernel{
        6 * value * nodes, make_fields_on<Field<Node>, 4>(executor, t),
        [executor](const auto& p, const auto& ap, auto& x, auto& r) {
          for_each(executor, x.range(),
                   ConjugateGradientStepOnEntity<Node>{0.5, p.view(), ap.view(), x.view(), r.view()});
        }};
  });
  benchmark.time("linear combination", [&](const Executor& executor) {
    return TimedKernel{
        3 * value * cells, make_fields_on<Field<Cell>, 2>(executor, t), [executor](const auto& x, auto& y) {
          for_each(executor, y.range(), LinearCombinationOnEntity<Cell>{2, x.view(), 3, y.view()});
        }};
  });
  benchmark.time("inner product", [&](const Executor& executor) {
    return TimedKernel{2 * value * cells, make_fields_on<Field<Cell>, 2>(executor, t),
                       [](const auto& x, const auto& y) { return inner_product(x, y); }};
  });
  benchmark.time("sum", [&](const Executor& executor) {
    return TimedKernel{value * cells, make_fields_on<Field<Cell>, 1>(executor, t), [executor](const auto& x) {
                         return sum(executor, x.range(), ValueOfEntity<Cell>{x.view()});
                       }};
  });
}

std::string to_json(const BenchmarkRecord& record) {
  nlohmann::ordered_json json = {
      {"operator", record.kernel},     {"backend", record.backend},
      {"threads", record.threads},     {"seconds", record.seconds},
      {"bytes", record.bytes},         {"gigabytes_per_second", 1e-9 * record.bytes_per_second()},
      {"fraction", record.fraction()}, {"bandwidth", 1e-9 * record.bandwidth},
      {"ratio", record.ratio},         {"ulps", record.ulps},
      {"first_difference", nullptr}};
  if (record.first_difference) json["first_difference"] = *record.first_difference;
  for (const auto& [name, figure] : record.figures) json[name] = figure;
  return json.dump();
}

std::string to_table(const std::vector<BenchmarkRecord>& records) {
  std::string table = head_of_table();
  for (const BenchmarkRecord& record : records) table += row_of_table(record);
  return table + figures_below_table(records);
}

std::string head_of_table() {
  return fmt::format("{:<21} {:<12} {:>7} {:>10} {:>9} {:>8} {:>10} {:>8} {:>7} {:>5}\n", "operator",
                     "backend", "threads", "seconds", "megabytes", "GB/s", "triad GB/s", "fraction", "ratio",
                     "ulps");
}

std::string row_of_table(const BenchmarkRecord& record) {
  std::string row = fmt::format(
      "{:<21} {:<12} {:>7} {:>10.3e} {:>9.2f} {:>8.2f} {:>10.2f} {:>8.2f} {:>7.2f} {:>5}\n", record.kernel,
      record.backend, record.threads, record.seconds, 1e-6 * record.bytes, 1e-9 * record.bytes_per_second(),
      1e-9 * record.bandwidth, record.fraction(), record.ratio, record.ulps);
  if (record.first_difference) {
    row += fmt::format("  {} on {} differs first at {}\n", record.kernel, record.backend,
                       *record.first_difference);
  }
  return row;
}

std::string figures_below_table(const std::vector<BenchmarkRecord>& records) {
  std::string lines;
  for (const BenchmarkRecord& record : records) {
    if (record.backend != records.front().backend || record.threads != records.front().threads) continue;
    for (const auto& [name, figure] : record.figures)
      lines += fmt::format("{}: {} {:.3g}\n", record.kernel, name, figure);
  }
  return lines;
}

}  // namespace curlew
