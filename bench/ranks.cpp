// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// mpirun -n RANKS ranks hexahedron|tetrahedron BLOCKS
//
// What the halo costs on a cube divided among ranks, each with one thread: systems applied with the exchange
// of ghosts waited for and overlapped, without it, and the exchange alone; and an iteration of conjugate
// gradients against the model of docs/parallel-runs.md, with this machine's bandwidth and latency. Medians
// of rounds in which all take turns, of the slowest rank. A line of JSON on standard output.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/vector_kernels.hpp"
#include "mesh/box.hpp"
#include "mesh/cell_shapes.hpp"
#include "mesh/parallel/exchange.hpp"
#include "mesh/parallel/mesh_part.hpp"
#include "mesh/parallel/partition.hpp"
#include "operators/cell_laplacian.hpp"
#include "physics/momentum/momentum_systems.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/preconditioners.hpp"

namespace {

using namespace curlew;

using Pressure = DualCochain<Cell>;

constexpr int rounds = 15;
constexpr int applications = 20;  // in a round
constexpr Real microsecond = 1e-6;

Real now() {
  return std::chrono::duration<Real>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Things to be timed in turns.
class Contest {
 public:
  explicit Contest(const Communicator& ranks) : ranks_(ranks) {}
  void add(const std::string& name, std::function<void()> body) {
    entries_.push_back({name, std::move(body), {}});
  }
  /// Seconds of one application of each.
  std::map<std::string, Real> run() {
    std::map<std::string, Real> seconds;
    for (int round = -1; round < rounds; ++round) {  // the first warms up
      for (Entry& entry : entries_) {
        ranks_.maximum(0);
        const Real start = now();
        for (int k = 0; k < applications; ++k) entry.body();
        const Real slowest = ranks_.maximum(now() - start);
        if (round >= 0) entry.seconds.push_back(slowest / applications);
      }
    }
    for (Entry& entry : entries_) {
      std::ranges::sort(entry.seconds);
      seconds[entry.name] = entry.seconds[rounds / 2];
    }
    return seconds;
  }

 private:
  struct Entry {
    std::string name;
    std::function<void()> body;
    std::vector<Real> seconds;
  };
  const Communicator& ranks_;
  std::vector<Entry> entries_;
};

/// The Laplacian between cells, of a mesh in parts.
class DividedLaplacian : public Operator<Pressure, PrimalCochain<Cell>> {
 public:
  DividedLaplacian(const Executor& executor, const Mesh& mesh)
      : mesh_(mesh),
        laplacian_(executor, mesh.topology(), std::vector<Real>(at(mesh.topology().faces().size()), 1)) {}
  void apply(const Pressure& p, PrimalCochain<Cell>& outflow) const override {
    launch_with_ghosts(
        mesh_.domain(), p.owned(), [&](Range<Cell> cells) { laplacian_.apply_on(cells, p, outflow); }, p);
  }
  void apply_transpose(const Pressure& p, PrimalCochain<Cell>& outflow) const override { apply(p, outflow); }
  const CellLaplacian& alone() const { return laplacian_; }

 private:
  const Mesh& mesh_;
  CellLaplacian laplacian_;
};

/// Bytes a second that this rank reads and writes while all others do the same.
Real bandwidth(const Communicator& ranks) {
  constexpr std::size_t size = std::size_t{1} << 23;
  std::vector<Real> a(size, 0), b(size, 1), c(size, 2);
  std::vector<Real> seconds;
  for (int round = 0; round < rounds; ++round) {
    ranks.maximum(0);
    const Real start = now();
    for (std::size_t i = 0; i < size; ++i) a[i] = b[i] + 3 * c[i];
    seconds.push_back(ranks.maximum(now() - start));
    b[at(static_cast<Index>(round))] = a[0];
  }
  std::ranges::sort(seconds);
  return 24 * static_cast<Real>(size) / seconds[rounds / 2];
}

/// Seconds of a message of that size each way between two ranks, all pairs at once.
Real message(const Communicator& ranks, std::size_t bytes) {
  const int other = ranks.rank() ^ 1;
  std::vector<std::byte> out(bytes), in(bytes);
  Contest contest(ranks);
  contest.add("message", [&] {
    if (other >= ranks.ranks()) return;
    const Communicator::Outgoing outgoing{other, {out}};
    const Communicator::Incoming incoming{other, {std::span(in)}};
    ranks.start(std::span(&incoming, 1), std::span(&outgoing, 1))->finish();
  });
  return contest.run()["message"];
}

FlowSettings walls(const Mesh& mesh) {
  FlowSettings settings;
  settings.boundaries.assign(mesh.topology().patches().size(), Wall{});
  return settings;
}

int measure(CellType type, Index blocks) {
  const auto ranks = all_ranks();
  const bool first = ranks->rank() == 0;
  std::optional<Mesh> whole;
  std::optional<Partition> partition;
  if (first) {
    whole.emplace(make_box(type, {blocks, blocks, blocks}));
    partition = make_partition(whole->topology(), ranks->ranks());
  }
  const Mesh mesh =
      make_mesh(distribute(first ? &*whole : nullptr, first ? &*partition : nullptr, *ranks), ranks);
  whole.reset();
  const Domain& domain = mesh.domain();
  const Halo<Cell>& cells = domain.halo<Cell>();
  const Executor overlapping = Executor::serial().among(ranks), waiting = overlapping.without_overlap();
  Contest contest(*ranks);

  const DividedLaplacian laplacian(overlapping, mesh);
  Pressure p(overlapping, domain.extent<Cell>(), "p", "1"), waiting_p(waiting, p.extent(), "p", "1");
  PrimalCochain<Cell> outflow(overlapping, p.extent(), "outflow", "1");
  contest.add("laplacian, waiting", [&] { laplacian.apply(waiting_p, outflow); });
  contest.add("laplacian, overlapping", [&] { laplacian.apply(p, outflow); });
  contest.add("laplacian, no exchange", [&] { laplacian.alone().apply_on(cells.owned(), p, outflow); });
  contest.add("laplacian, exchange", [&] { exchange_ghosts(domain, p); });

  const FlowBoundaries boundaries(overlapping, mesh, walls(mesh));
  const FluxMass mass(overlapping, mesh, FaceStencil(mesh));
  const ViscousForm viscous_form(overlapping, mesh, mass.matrix().stencil());
  const MomentumMatrices matrices(overlapping, mesh, boundaries, mass, viscous_form);
  const MomentumSystem momentum(matrices, 1, 1);
  FaceVectors<float> v(overlapping, domain.extent<Face>(), "v", "1"),
      waiting_v(waiting, v.extent(), "v", "1"), image(overlapping, v.extent(), "image", "1");
  contest.add("momentum, waiting", [&] { momentum.apply(waiting_v, image); });
  contest.add("momentum, overlapping", [&] { momentum.apply(v, image); });
  contest.add("momentum, exchange", [&] { exchange_ghosts(domain, v); });

  // Conjugate gradients with Jacobi, which never end.
  ConjugateGradientIteration<Pressure> iteration(
      PrimalCochain<Cell>(overlapping, p.extent(), "residual", "1"),
      Pressure(overlapping, p.extent(), "direction", "1"));
  std::vector<Real> start(at(p.size()));
  for (std::size_t c = 0; c < start.size(); ++c) start[c] = std::sin(static_cast<Real>(c));
  iteration.residual().copy_from_host(start);
  const auto jacobi =
      make_preconditioner<Pressure>(Preconditioning::Jacobi, overlapping, domain, laplacian.alone().matrix());
  const ConjugateGradientState endless{1, 0, 0, 1 << 30};
  iteration.start(endless);
  contest.add("iteration", [&] { iteration.advance(laplacian, *jacobi, p); });
  contest.add("reduction", [&] { ranks->sum(BinnedSum()); });

  const std::map<std::string, Real> seconds = contest.run();
  const Real memory = bandwidth(*ranks);
  const bool several = ranks->ranks() > 1;
  const Real latency = several ? message(*ranks, 8) : 0;
  constexpr std::size_t long_message = std::size_t{1} << 20;
  const Real network =
      several ? static_cast<Real>(long_message) / (message(*ranks, long_message) - latency) : 1;

  const auto largest = [&](std::size_t value) { return ranks->maximum(static_cast<Real>(value)); };
  const Real own = largest(at(cells.owned().size())), ghosts = largest(at(cells.ghosts().size()));
  const Real neighbours = largest(cells.ghosts_by_owner().size());
  const Real rows = largest(laplacian.alone().matrix().off_diagonal.columns.size() / at(p.size()));
  // Entries with their columns, the diagonal's share, p and the outflow; vectors of the iteration.
  const Real compute = own * (rows * 12 + 24 + 128) / memory;
  const Real halo = ghosts * 8 / network + neighbours * latency;
  const Real reduce = 3 * latency * std::log2(static_cast<Real>(ranks->ranks()));
  if (!first) return EXIT_SUCCESS;
  std::string times;
  for (const auto& [name, value] : seconds)
    times += fmt::format(R"(, "{} [us]": {:.1f})", name, value / microsecond);
  fmt::print(
      R"({{"cells": {}, "ranks": {}, "largest part": {:.0f}, "interior": {}, "ghosts": {:.0f}, "neighbours": {:.0f}, )"
      R"("bandwidth [GB/s]": {:.2f}, "latency [us]": {:.2f}, "network [GB/s]": {:.2f}{}, )"
      R"("model: compute [us]": {:.1f}, "halo [us]": {:.1f}, "reduce [us]": {:.1f}, "sum [us]": {:.1f}}})"
      "\n",
      cells.total(), ranks->ranks(), own, cells.interior().size(), ghosts, neighbours, memory / 1e9,
      latency / microsecond, network / 1e9, times, compute / microsecond, halo / microsecond,
      reduce / microsecond, (compute + halo + reduce) / microsecond);
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string shape = argc == 3 ? argv[1] : "";
  const Index blocks = argc == 3 ? static_cast<Index>(std::atoi(argv[2])) : 0;
  if (blocks < 2 || (shape != "hexahedron" && shape != "tetrahedron")) {
    fmt::print(stderr, "usage: mpirun -n RANKS ranks hexahedron|tetrahedron BLOCKS\n");
    return EXIT_FAILURE;
  }
  return measure(shape == "hexahedron" ? CellType::Hexahedron : CellType::Tetrahedron, blocks);
}
