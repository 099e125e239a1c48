// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// edge_solvers hexahedron|bent|tetrahedron BLOCKS
// edge_solvers MESH_FILE [SIZE]
//
// Ways to find the divergence-free fluxes U = C s + Z q with R M U = R f, Zᵀ M U = Zᵀ f, the system of the
// exact fractional step without viscosity, on a cube or a mesh whose boundary is all wall; with the diagonal
// star h/A for M and with the consistent one. All methods start from zero and make as many iterations as they
// need for an error of 1e-8 of U in the norm of M, which belongs to none of them; the U to compare with is
// solved for to 1e-12 and must satisfy the equations. Fails where a method does not get there.
//
// OMP_NUM_THREADS threads; processor time of all, solves in turns, medians of three (of one where that takes
// long). "each to": tolerance of the solves within an iteration, tightened by ten until it does. Residual: of
// the equations above, relative to their right-hand side. Divergence: |D U| over the norm of the sums of |U|.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "edge_methods.hpp"
#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/import/gmsh_import.hpp"
#include "processor_time.hpp"
#include "solvers/multigrid/power_iteration.hpp"

namespace {

using namespace curlew;

constexpr Real wanted_error = 1e-8;
constexpr Index most_for_diagonal = 500'000;  // edges, beyond which its iterations would take all the time
constexpr int rounds = 3;
constexpr double long_time = 5;  // [s], of a solve that is timed once

/// What all methods are measured by.
class Judge {
 public:
  explicit Judge(const Problem& problem)
      : problem_(problem),
        divergence_(problem.executor, problem.mesh.topology()),
        reference_(problem.executor, problem.inverse_star.extent(), "reference", "m3/s"),
        difference_(alike(reference_)),
        circulation_(problem.executor, reference_.extent(), "circulation", "m2/s"),
        rotation_(stream_image(problem.executor, problem.mesh, problem.loops.size())),
        outflow_(problem.executor, problem.mesh.topology().cells().size(), "outflow", "m3/s") {
    solve_for_reference();
    norm_ = norm_of(reference_);
    problem.system.rotation_of(problem.force, rotation_);
    rotation_of_force_ = std::sqrt(inner_product(rotation_, rotation_));
    // The equations have one solution: fluxes that satisfy them are it, whatever found them.
    const Real residual = residual_of(reference_), divergence = divergence_of(reference_);
    if (!(residual < 1e-11 && divergence < 1e-12)) {
      throw Error(fmt::format("the fluxes to compare with are wrong: residual {:.3g}, divergence {:.3g}",
                              residual, divergence));
    }
  }
  Real error_of(const Flux& flux) const {
    copy(flux, difference_);
    linear_combination(-1, reference_, 1, difference_);
    return norm_of(difference_) / norm_;
  }
  Real residual_of(const Flux& flux) const {
    problem_.mass.apply(flux, circulation_);
    subtract_from(problem_.force, circulation_);
    problem_.system.rotation_of(circulation_, rotation_);
    return std::sqrt(inner_product(rotation_, rotation_)) / rotation_of_force_;
  }
  Real divergence_of(const Flux& flux) const {
    divergence_.apply(flux, outflow_);
    Real total = 0;
    const std::vector<Real> values = flux.to_host();
    for (const Id<Cell> c : problem_.mesh.topology().cells()) {
      Real sum = 0;
      for (const auto [f, sign] : problem_.mesh.topology().faces_of_cell()[c])
        sum += std::abs(values[at(f.value())]);
      total += sum * sum;
    }
    return std::sqrt(inner_product(outflow_, outflow_) / total);
  }

 private:
  Real norm_of(const Flux& flux) const {
    problem_.mass.apply(flux, circulation_);
    return std::sqrt(inner_product(circulation_, flux));
  }
  void solve_for_reference() {
    const StreamPreconditioner preconditioner(problem_, auxiliary_space(problem_));
    StreamVelocity x = stream_unknown(problem_.executor, problem_.mesh, problem_.loops.size());
    Paired<StreamVelocity> b = alike(rotation_);
    problem_.system.rotation_of(problem_.force, b);
    ConjugateGradient<StreamVelocity> solver("streamfunction", {.relative_tolerance = 1e-12}, alike(b),
                                             alike(x));
    solver.solve(problem_.system, preconditioner, b, x, {.reference = std::sqrt(inner_product(b, b))});
    problem_.system.curl_of(x, reference_);
  }

  const Problem& problem_;
  Divergence divergence_;
  Flux reference_;
  mutable Flux difference_;
  mutable Circulation circulation_;
  mutable Paired<StreamVelocity> rotation_;
  mutable Outflow outflow_;
  Real norm_ = 0, rotation_of_force_ = 0;
};

struct Contestant {
  std::string name;
  std::function<std::unique_ptr<Method>()> make;
};

struct Result {
  std::unique_ptr<Method> method;
  double setup = 0;
  std::vector<double> solve;
  int iterations = 0;
  Real error = 1, residual = 0, divergence = 0;
};

/// Iterates until the error is small enough; with a tighter tolerance within where it stays too large.
void count_iterations(const Judge& judge, const std::string& name, Flux& flux, Result& result) {
  constexpr Real tightest = 1e-12;
  Method& method = *result.method;
  Real halved = 1;
  int last_halved = 0;
  method.start();
  while (!(result.error <= wanted_error)) {
    if (result.iterations - last_halved == method.patience()) {
      const auto inner = method.inner();
      if (!inner || inner->tolerance < 2 * tightest) {
        throw Error(fmt::format("{}: the error is {:.3g} after {} iterations, and {} have not halved it",
                                name, result.error, result.iterations, method.patience()));
      }
      method.tighten();
      method.start();
      halved = 1;
      result.iterations = last_halved = 0;
    }
    ++result.iterations;
    method.advance();
    method.set_flux(flux);
    result.error = judge.error_of(flux);
    if (result.error <= halved / 2) {
      halved = result.error;
      last_halved = result.iterations;
    }
  }
}

void compare(const Problem& problem, const std::vector<Contestant>& contestants) {
  const Judge judge(problem);
  Flux flux(problem.executor, problem.inverse_star.extent(), "flux", "m3/s");
  std::vector<Result> results;
  for (const auto& [name, make] : contestants) {
    Result& result = results.emplace_back();
    const Seconds start = now();
    result.method = make();
    result.setup = now().cpu - start.cpu;
    count_iterations(judge, name, flux, result);
  }
  const auto solve = [&](Result& result) {
    if (!result.solve.empty() && result.solve.front() > long_time) return;
    const Seconds start = now();
    result.method->start();
    for (int k = 0; k < result.iterations; ++k) result.method->advance();
    result.method->set_flux(flux);
    result.solve.push_back(now().cpu - start.cpu);
    result.error = judge.error_of(flux);
    result.residual = judge.residual_of(flux);
    result.divergence = judge.divergence_of(flux);
  };
  for (int round = 0; round < rounds; ++round) {
    if (round % 2 == 0) {
      for (Result& result : results) solve(result);
    } else {
      for (auto result = results.rbegin(); result != results.rend(); ++result) solve(*result);
    }
  }
  fmt::print("{:<44} {:>8} {:>8} {:>10} {:>9} {:>6} {:>9} {:>9} {:>10}\n", "", "set-up s", "solve s",
             "iterations", "each to", "cycles", "error", "residual", "divergence");
  for (std::size_t m = 0; m < results.size(); ++m) {
    const Result& result = results[m];
    const auto inner = result.method->inner();
    fmt::print("{:<44} {:>8.3g} {:>8.3g} {:>10} {:>9} {:>6} {:>9.2g} {:>9.2g} {:>10.2g}\n",
               contestants[m].name, result.setup, median(result.solve), result.iterations,
               inner ? fmt::format("{:.0e}", inner->tolerance) : "",
               inner ? fmt::format("{}", inner->cycles) : "", result.error, result.residual,
               result.divergence);
    if (!(result.error <= wanted_error))
      throw Error(fmt::format("{}: the error is {:.3g}", contestants[m].name, result.error));
  }
}

void compare_on(const Mesh& mesh) {
  const Topology& topology = mesh.topology();
  if (topology.dimension() != 3 || topology.is_periodic())
    throw InputError("edge_solvers takes meshes of three dimensions that are not periodic");
  const Executor executor = Executor::openmp(omp_get_max_threads());
  const std::vector<std::uint8_t> edge_is_free = edges_off_walls(topology);
  std::vector<bool> is_wall(at(topology.faces().size()), false);
  for (const Id<Face> f : topology.boundary_faces()) is_wall[at(f.value())] = true;
  const GatheredDualTree tree(mesh, is_wall);
  const auto loops = tree.harmonic_fluxes();

  // Smooth and rough, lest the error of a method fall in with what the force lacks.
  std::vector<Real> values = smooth_force(mesh);
  for (const Id<Face> f : topology.faces())
    values[at(f.value())] += norm(mesh.geometry().dual_edge(topology, f)) * hashed_number(f.value());
  Circulation force(executor, topology.faces().size(), "force", "m2/s");
  force.copy_from_host(values);

  const FluxMass mass(executor, mesh, FaceStencil(mesh));
  const ViscousForm viscous(executor, mesh, mass.matrix().stencil());  // not in this system
  const FaceMatrix star_matrix = diagonal_star(mesh);
  const DiagonalStar star(executor, star_matrix.diagonal());

  const auto compare_with = [&](const std::string& name, const RotationMassCurl::Star& m,
                                const FaceMatrix& matrix, const auto& add) {
    fmt::print("\n{} star: {} cells, {} free edges, {} loops\n", name, topology.cells().size(),
               std::ranges::count(edge_is_free, 1), loops.size());
    const RotationMassCurl system(executor, mesh, m, edge_is_free, loops);
    std::vector<Real> inverse = matrix.diagonal();
    for (std::size_t f = 0; f < inverse.size(); ++f) inverse[f] = is_wall[f] ? 0 : 1 / inverse[f];
    const Field<Face> inverse_star = field_of<Face>(executor, inverse, "inverse star");
    const Problem problem{executor,         mesh,         edge_is_free, loops, tree, m, matrix,
                          viscous.matrix(), inverse_star, system,       force};
    const auto on_edges = [&](std::unique_ptr<EdgePreconditioner> (*preconditioner)(const Problem&)) {
      return [&problem, preconditioner] {
        return std::make_unique<StreamMethod>(problem, preconditioner(problem));
      };
    };
    std::vector<Contestant> contestants;
    if (topology.edges().size() < most_for_diagonal)
      contestants.push_back({"edges, diagonal", on_edges(jacobi)});
    contestants.push_back({"edges, auxiliary space", on_edges(auxiliary_space)});
    contestants.push_back({"edges, multigrid of the augmented operator", on_edges(augmented)});
    add(problem, contestants);
    compare(problem, contestants);
  };
  compare_with("diagonal", star, star_matrix,
               [&](const Problem& problem, std::vector<Contestant>& contestants) {
                 contestants.push_back(
                     {"one Poisson solve", [&] { return std::make_unique<PoissonMethod>(problem, false); }});
                 contestants.push_back({"the same, rest along the tree",
                                        [&] { return std::make_unique<PoissonMethod>(problem, true); }});
               });
  compare_with(
      "consistent", mass, mass.matrix(), [&](const Problem& problem, std::vector<Contestant>& contestants) {
        const auto projected = [&](ProjectedMethod::Options options) {
          return [&problem, options] { return std::make_unique<ProjectedMethod>(problem, options); };
        };
        contestants.push_back(
            {"projected, of each right-hand side", projected({.tolerance = 1e-10, .relative = true})});
        contestants.push_back({"projected, of the first right-hand side", projected({.tolerance = 1e-9})});
        contestants.push_back(
            {"the same, rest along the tree", projected({.tolerance = 1e-11, .balanced = true})});
        contestants.push_back(
            {"saddle point, one cycle each", [&] { return std::make_unique<SaddlePointMethod>(problem); }});
      });
}

/// Moves the inside of the unit cube, so that the cells are no longer rectangular.
void bend(Vector3& x) {
  const Real full = 2 * std::numbers::pi;
  const Real by = 0.1 * std::sin(full * x.x) * std::sin(full * x.y) * std::sin(full * x.z);
  x += {by, by, by};
}

Mesh mesh_of(const std::vector<std::string>& arguments) {
  const std::string& name = arguments[0];
  if (arguments.size() == 2 && (name == "hexahedron" || name == "bent" || name == "tetrahedron")) {
    const int blocks = std::atoi(arguments[1].c_str());
    if (blocks < 2) throw InputError("a box needs at least two blocks");
    RawMesh box = make_box(name == "tetrahedron" ? CellType::Tetrahedron : CellType::Hexahedron,
                           {blocks, blocks, blocks});
    if (name == "bent") std::ranges::for_each(box.nodes, bend);
    return Mesh(std::move(box));
  }
  return Mesh(
      import_mesh(arguments[0], {.size = arguments.size() > 1 ? std::atof(arguments[1].c_str()) : 0}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.size() > 2) {
    fmt::print(stderr, "usage: edge_solvers hexahedron|bent|tetrahedron BLOCKS | MESH_FILE [SIZE]\n");
    return 2;
  }
  try {
    compare_on(mesh_of(arguments));
  } catch (const std::exception& error) {
    fmt::print(stderr, "edge_solvers: {}\n", error.what());
    return 1;
  }
}
