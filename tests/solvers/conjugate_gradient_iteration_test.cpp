// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/memory_use.hpp"
#include "mesh/box.hpp"
#include "mesh/mesh.hpp"
#include "operators/cell_laplacian.hpp"
#include "solvers/conjugate_gradient.hpp"
#include "solvers/preconditioners.hpp"
#include "tests/kernels/alike_ranks.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

using Pressure = DualCochain<Cell>;
using Outflow = Paired<Pressure>;

/// The Laplacian of a box, and how often it was asked for.
class CountedLaplacian : public Operator<Pressure, Outflow> {
 public:
  /// `through_the_host`: takes a way that no device can record.
  CountedLaplacian(const Executor& executor, const Mesh& mesh, Real coefficient, bool through_the_host)
      : laplacian_(executor, mesh.topology(),
                   std::vector<Real>(at(mesh.topology().faces().size()), coefficient)),
        through_the_host_(through_the_host) {}
  void apply(const Pressure& x, Outflow& y) const override {
    ++asked;
    if (through_the_host_) y.copy_from_host(x.to_host());
    laplacian_.apply(x, y);
  }
  void apply_transpose(const Pressure& x, Outflow& y) const override { apply(x, y); }
  SymmetricMatrix matrix() const { return laplacian_.matrix(); }

  mutable int asked = 0;

 private:
  CellLaplacian laplacian_;
  bool through_the_host_;
};

struct Box {
  explicit Box(const Executor& on, Real coefficient = 1, bool through_the_host = false)
      : executor(on),
        mesh(make_box(CellType::Hexahedron, {17, 13, 11})),
        laplacian(executor, mesh, coefficient, through_the_host),
        b(executor, mesh.topology().cells().size(), "b", "1"),
        x(executor, b.size(), "x", "1") {
    set_right_hand_side(1);
  }
  void set_right_hand_side(Real size) {
    std::vector<Real> values(at(b.size()));
    for (std::size_t c = 0; c < values.size(); ++c)
      values[c] = size * std::sin(0.37 * static_cast<Real>(c * c % 1009));
    b.copy_from_host(values);
  }
  std::unique_ptr<Preconditioner<Pressure>> preconditioner(Preconditioning kind) const {
    return make_preconditioner<Pressure>(kind, executor, mesh.domain(), laplacian.matrix());
  }
  SolveReport solve(Preconditioning kind, SolverControl control) {
    ConjugateGradient<Pressure> solver(executor, b.size(), "pressure", control);
    return solver.solve(laplacian, *preconditioner(kind), b, x, {10});
  }

  Executor executor;
  Mesh mesh;
  CountedLaplacian laplacian;
  Outflow b;
  Pressure x;
};

TEST(ConjugateGradient, takes_the_same_iterations_and_bits_on_every_backend_without_the_host) {
  for (const Preconditioning kind :
       {Preconditioning::None, Preconditioning::Jacobi, Preconditioning::Multigrid}) {
    const auto solve_on = [&](const Executor& executor) {
      Box box(executor);
      SolveReport report = box.solve(kind, {1e-9, 0, 1000});
      // The second solve starts where the first ended, with another right-hand side.
      box.set_right_hand_side(-3);
      const SolveReport second = box.solve(kind, {1e-7, 0, 1000});
      EXPECT_GT(report.iterations, 5);
      return std::tuple(report.iterations, report.residual, second.iterations, box.x.to_host());
    };
    const auto expected = solve_on(Executor::serial());
    for (const Executor& executor : backends_beside_serial())
      EXPECT_TRUE(solve_on(executor) == expected) << executor.name();
  }
}

TEST(ConjugateGradient, is_asked_for_the_first_iterations_and_once_more_to_record_the_others) {
  for (const Preconditioning kind : {Preconditioning::Jacobi, Preconditioning::Multigrid}) {
    for (const Executor& executor : all_backends()) {
      Box box(executor);
      const int iterations = box.solve(kind, {1e-9, 0, 1000}).iterations;
      EXPECT_GT(iterations, 5);
      const bool recorded = executor.space() != MemorySpace::Host;
      EXPECT_EQ(box.laplacian.asked,
                2 + (recorded ? LaunchSequence::runs_before_recording + 1 : iterations))  // 2: true residuals
          << executor.name();
    }
  }
}

TEST(ConjugateGradient, launches_a_sixteenth_in_vain_at_most) {
  for (const Executor& executor : all_backends()) {
    Box box(executor, 1, true);
    const int iterations = box.solve(Preconditioning::None, {1e-9, 0, 1000}).iterations;
    // 2: true residuals; 1: what could not be recorded.
    const int launched = box.laplacian.asked - 2 - (executor.space() == MemorySpace::Host ? 0 : 1);
    EXPECT_GE(launched, iterations) << executor.name();
    const int in_vain = executor.space() == MemorySpace::Host ? 0 : iterations / 16;
    EXPECT_LE(launched, iterations + in_vain) << executor.name();
  }
}

TEST(ConjugateGradient, looks_when_the_end_is_to_be_expected_and_comes_to_the_same) {
  struct Solved {
    int iterations;
    std::vector<Real> x;
    std::size_t copied;  // to the host from the debug device [bytes]
  };
  const auto solve_on = [](const Executor& executor) {
    Box box(executor);
    const auto jacobi = box.preconditioner(Preconditioning::Jacobi);
    ConjugateGradient<Pressure> solver(executor, box.b.size(), "pressure", {1e-9, 0, 1000});
    std::vector<Solved> solved;
    // The last ones are shorter than those before, and longer.
    for (const Real size : {1., 1., 1., 1e-6, 1.}) {
      box.set_right_hand_side(size);
      set_to_zero(box.x);
      const std::size_t before = debug_device_copies().to_host;
      const int iterations = solver.solve(box.laplacian, *jacobi, box.b, box.x, {10}).iterations;
      const std::size_t after = debug_device_copies().to_host;
      solved.push_back({iterations, box.x.to_host(), after - before});
    }
    return solved;
  };
  const std::vector<Solved> expected = solve_on(Executor::serial());
  EXPECT_LT(expected[3].iterations, expected[0].iterations / 2);
  for (const Executor& executor : backends_beside_serial()) {
    const std::vector<Solved> solved = solve_on(executor);
    for (std::size_t k = 0; k < solved.size(); ++k) {
      EXPECT_EQ(solved[k].iterations, expected[k].iterations) << executor.name() << ' ' << k;
      EXPECT_EQ(solved[k].x, expected[k].x) << executor.name() << ' ' << k;
    }
    if (executor.space() != MemorySpace::DebugDevice) continue;
    // The first time after each of the first sixteen.
    EXPECT_GT(solved[0].iterations, 16);
    EXPECT_LT(solved[1].copied + 12 * sizeof(ConjugateGradientState), solved[0].copied);
    EXPECT_EQ(solved[2].copied, solved[1].copied);
  }

  // Ranks would not all look at the same time.
  const std::vector<Solved> among = solve_on(Executor::debug_device().among(std::make_shared<AlikeRanks>(2)));
  EXPECT_EQ(among[1].iterations, among[0].iterations);
  EXPECT_EQ(among[1].copied, among[0].copied);
}

TEST(ConjugateGradient, what_is_launched_after_the_end_changes_nothing_on_any_backend) {
  struct Case {
    Ending ending;
    Real coefficient, size, target;
    Index limit;
  };
  // A residual whose square is not a number any more; an operator that is none; a target that is reached; a
  // limit; a negative operator.
  for (const Case& c : {Case{Ending::NotFinite, 1e10, 1e151, 1, 1000},
                        Case{Ending::NotFinite, std::numeric_limits<Real>::quiet_NaN(), 1, 1, 1000},
                        Case{Ending::Converged, 1, 1, 0.1, 1000}, Case{Ending::AtTheLimit, 1, 1, 0, 7},
                        Case{Ending::NoCurvature, -1, 1, 0, 1000}}) {
    for (const Executor& executor : all_backends()) {
      Box box(executor, c.coefficient);
      box.set_right_hand_side(c.size);
      ConjugateGradientIteration<Pressure> iteration(alike(box.b), alike(box.x));
      const std::vector<Real> b = box.b.to_host();
      iteration.residual().copy_from_host(b);
      iteration.start({c.size, c.target, 0, c.limit});
      const bool is_positive = c.coefficient > 0;
      const auto jacobi = box.preconditioner(is_positive ? Preconditioning::Jacobi : Preconditioning::None);
      int launched = 0;
      for (; iteration.state().ending == Ending::None && launched < 100; ++launched)
        iteration.advance(box.laplacian, *jacobi, box.x);
      const ConjugateGradientState state = iteration.state();
      ASSERT_EQ(state.ending, c.ending) << executor.name();
      EXPECT_EQ(state.iterations, is_positive ? launched : 0);
      const std::vector<Real> x = box.x.to_host(), r = iteration.residual().to_host();
      for (int k = 0; k < 3; ++k) iteration.advance(box.laplacian, *jacobi, box.x);
      EXPECT_EQ(box.x.to_host(), x) << executor.name();
      EXPECT_EQ(iteration.residual().to_host(), r) << executor.name();
      EXPECT_EQ(iteration.state().iterations, state.iterations) << executor.name();
      EXPECT_EQ(iteration.state().ending, c.ending) << executor.name();
    }
  }
}

}  // namespace
}  // namespace curlew
