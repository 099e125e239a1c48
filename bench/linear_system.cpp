// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// linear_system poisson|edges hexahedron|tetrahedron BLOCKS [FILE]
//
// Times Curlew's solve of one system on a cube, and writes the system to FILE for other solvers:
//   poisson: the two-point Laplacian between cells, 0 given on the boundary, a source of 1;
//   edges:   rotation, mass, curl between edges, 0 given on the boundary, a force that varies on faces.
// OMP_NUM_THREADS threads, from zero to a residual of 1e-8 of the right-hand side; medians of three in one
// process, processor time and wall time. A line of JSON on standard output.
#include <fmt/format.h>
#include <omp.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "cell_system.hpp"
#include "edge_system.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/mesh.hpp"
#include "operators/cell_laplacian.hpp"
#include "operators/flux_mass.hpp"
#include "operators/viscous_form.hpp"
#include "processor_time.hpp"
#include "solvers/auxiliary_space/auxiliary_space.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/multigrid/multigrid.hpp"

namespace {

using namespace curlew;

constexpr Real tolerance = 1e-8;
constexpr int repeats = 3;

/// Medians of what `body` takes.
template <class Body>
Seconds timed(const Body& body) {
  std::vector<double> cpu, wall;
  for (int k = 0; k < repeats; ++k) {
    const Seconds start = now();
    body();
    const Seconds end = now();
    cpu.push_back(end.cpu - start.cpu);
    wall.push_back(end.wall - start.wall);
  }
  return {median(cpu), median(wall)};
}

/// What a peer needs of a system: rows, the right-hand side, and for edges the gradient of node values and
/// the edges themselves, from which it makes constant fields.
class SystemFile {
 public:
  explicit SystemFile(const std::string& path) : out_(path, std::ios::binary) {}
  void write(const SparseRows& rows, Index columns) {
    write_number(rows.rows());
    write_number(columns);
    write_number(static_cast<std::int64_t>(rows.columns.size()));
    write_array(rows.starts);
    write_array(rows.columns);
    write_array(rows.values);
  }
  template <class T>
  void write_array(const std::vector<T>& values) {
    out_.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(T)));
  }
  void write_number(std::int64_t number) {
    out_.write(reinterpret_cast<const char*>(&number), sizeof number);
  }

 private:
  std::ofstream out_;
};

void report(Index unknowns, std::size_t entries, const std::string& preconditioner, Seconds setup,
            Seconds product, Seconds solve, SolveReport result) {
  const auto pair = [](Seconds s) {
    return fmt::format(R"({{"cpu": {:.6g}, "wall": {:.6g}}})", s.cpu, s.wall);
  };
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(
      R"({{"solver": "Curlew, {}", "unknowns": {}, "entries": {}, "setup": {}, "product": {}, "solve": {}, )"
      R"("iterations": {}, "residual": {:.3g}, "peak_memory_bytes": {}}})"
      "\n",
      preconditioner, unknowns, entries, pair(setup), pair(product), pair(solve), result.iterations,
      result.residual, 1024 * usage.ru_maxrss);
}

void poisson(const Mesh& mesh, const std::string& path) {
  const Executor executor = Executor::openmp(omp_get_max_threads());
  const CellLaplacian laplacian(executor, mesh.topology(), two_point_coefficients(mesh));
  const SymmetricMatrix matrix = laplacian.matrix();
  const Index n = matrix.rows();

  PrimalCochain<Cell> b(executor, n, "source", "m3/s");
  const auto volumes = mesh.geometry().cell_volumes().host();
  const std::vector<Real> source(volumes.begin(), volumes.end());
  b.copy_from_host(source);
  DualCochain<Cell> x(executor, n, "solution", "m2/s");

  const SparseRows rows = with_diagonal(matrix);
  if (!path.empty()) {
    SystemFile file(path);
    file.write(rows, n);
    file.write_array(source);
    file.write_number(0);
  }

  std::unique_ptr<Multigrid<DualCochain<Cell>>> multigrid;
  const Seconds setup = timed(
      [&] { multigrid = std::make_unique<Multigrid<DualCochain<Cell>>>(executor, mesh.domain(), matrix); });
  PrimalCochain<Cell> image = alike(b);
  const Seconds product = timed([&] {
    for (int k = 0; k < 10; ++k) laplacian.apply(x, image);
  });
  ConjugateGradient<DualCochain<Cell>> solver(executor, n, "solution", {.relative_tolerance = tolerance});
  SolveReport result;
  const Seconds solve = timed([&] {
    x.fill(0);
    result = solver.solve(laplacian, *multigrid, b, x, {.reference = std::sqrt(inner_product(b, b))});
  });
  report(n, rows.columns.size(), "multigrid", setup, {product.cpu / 10, product.wall / 10}, solve, result);
}

/// The exact step's preconditioner for this system.
class EdgePreconditioner : public Preconditioner<StreamVelocity> {
 public:
  EdgePreconditioner(const Executor& executor, const Mesh& mesh, const FaceMatrix& mass,
                     const FaceMatrix& viscous, const std::vector<std::uint8_t>& edge_is_free)
      : space_(executor, mesh, mass, viscous, edge_is_free) {
    space_.set(1, 0);
  }
  void apply(const Paired<StreamVelocity>& r, StreamVelocity& z) const override {
    space_.apply(r.stream, z.stream);
  }

 private:
  AuxiliarySpace space_;
};

void edges(const Mesh& mesh, const std::string& path) {
  const Executor executor = Executor::openmp(omp_get_max_threads());
  const Topology& topology = mesh.topology();
  const std::size_t edge_count = at(topology.edges().size());

  const std::vector<std::uint8_t> edge_is_free = edges_off_walls(topology),
                                  node_is_free = nodes_off_walls(topology);
  const auto numbers = [](const std::vector<std::uint8_t>& is_free) {
    std::vector<Index> number;
    Index count = 0;
    for (const std::uint8_t free : is_free) number.push_back(free ? count++ : -1);
    return std::pair(number, count);
  };
  const auto [edge_number, free_edges] = numbers(edge_is_free);
  const auto [node_number, free_nodes] = numbers(node_is_free);

  const FluxMass mass(executor, mesh, FaceStencil(mesh));
  const RotationMassCurl system(executor, mesh, mass, edge_is_free);
  const StreamVelocity like = stream_unknown(executor, mesh, 0);
  const Paired<StreamVelocity> image_like = stream_image(executor, mesh, 0);

  // The matrix, row by row, of edges that are free; entries of rounding are left out.
  SparseRows rows, gradient;
  std::vector<Real> sum(edge_count, 0), along[3];
  for (const Id<Edge> e : topology.edges()) {
    if (edge_number[at(e.value())] < 0) continue;
    std::vector<Index> touched;
    visit_row_of_rotation_mass_curl(topology, mass.matrix(), e, [&](Id<Edge> other, Real value) {
      touched.push_back(other.value());
      sum[at(other.value())] += value;
    });
    std::ranges::sort(touched);
    touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
    const Real diagonal = sum[at(e.value())];
    rows.columns.push_back(edge_number[at(e.value())]);
    rows.values.push_back(diagonal);
    for (const Index other : touched) {
      const Real value = std::exchange(sum[at(other)], 0);
      if (other == e.value() || edge_number[at(other)] < 0 || std::abs(value) < 1e-13 * diagonal) continue;
      rows.columns.push_back(edge_number[at(other)]);
      rows.values.push_back(value);
    }
    rows.starts.push_back(static_cast<Index>(rows.columns.size()));

    Vector3 edge{};
    for (const auto [n, sign] : topology.nodes_of_edge()[e]) {
      edge += sign * mesh.geometry().node_positions()[at(n.value())];
      if (node_number[at(n.value())] < 0) continue;
      gradient.columns.push_back(node_number[at(n.value())]);
      gradient.values.push_back(sign);
    }
    gradient.starts.push_back(static_cast<Index>(gradient.columns.size()));
    along[0].push_back(edge.x);
    along[1].push_back(edge.y);
    along[2].push_back(edge.z);
  }

  DualCochain<Face> force(executor, topology.faces().size(), "force", "m2/s");
  force.copy_from_host(smooth_force(mesh));
  Paired<StreamVelocity> b = alike(image_like), image = alike(image_like);
  system.rotation_of(force, b);
  if (!path.empty()) {
    SystemFile file(path);
    file.write(rows, free_edges);
    const std::vector<Real> all = b.stream.to_host();
    std::vector<Real> of_free;
    for (std::size_t e = 0; e < edge_count; ++e) {
      if (edge_number[e] >= 0) of_free.push_back(all[e]);
    }
    file.write_array(of_free);
    file.write_number(1);
    file.write(gradient, free_nodes);
    for (const auto& component : along) file.write_array(component);
  }

  std::unique_ptr<EdgePreconditioner> preconditioner;
  const ViscousForm viscous(executor, mesh, mass.matrix().stencil());  // not in this system
  const Seconds setup = timed([&] {
    preconditioner =
        std::make_unique<EdgePreconditioner>(executor, mesh, mass.matrix(), viscous.matrix(), edge_is_free);
  });
  StreamVelocity x = alike(like);
  const Seconds product = timed([&] {
    for (int k = 0; k < 10; ++k) system.apply(x, image);
  });
  ConjugateGradient<StreamVelocity> solver("solution", {.relative_tolerance = tolerance}, alike(image_like),
                                           alike(like));
  SolveReport result;
  const Seconds solve = timed([&] {
    x.stream.fill(0);
    result = solver.solve(system, *preconditioner, b, x,
                          {.reference = std::sqrt(inner_product(b.stream, b.stream))});
  });
  report(free_edges, rows.columns.size(), "auxiliary space", setup, {product.cpu / 10, product.wall / 10},
         solve, result);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string system = argc > 1 ? argv[1] : "", type = argc > 2 ? argv[2] : "";
  const int blocks = argc > 3 ? std::atoi(argv[3]) : 0;
  if ((system != "poisson" && system != "edges") || (type != "hexahedron" && type != "tetrahedron") ||
      blocks < 2) {
    fmt::print(stderr, "usage: linear_system poisson|edges hexahedron|tetrahedron BLOCKS [FILE]\n");
    return 2;
  }
  const CellType cell_type = type == "hexahedron" ? CellType::Hexahedron : CellType::Tetrahedron;
  const Mesh mesh(make_box(cell_type, {blocks, blocks, blocks}));
  (system == "poisson" ? poisson : edges)(mesh, argc > 4 ? argv[4] : "");
}
