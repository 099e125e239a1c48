// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "kernels/factor.hpp"
#include "kernels/launch_sequence.hpp"
#include "kernels/memory.hpp"
#include "kernels/sum_in_parts.hpp"
#include "solvers/linear_solver.hpp"
#include "solvers/solution_history.hpp"

namespace curlew {

/// What the norm of a residual is compared with.
struct ResidualScale {
  Real reference = 0;  ///< what the relative tolerance refers to
  Real rounding =
      0;  ///< below this a residual is noise: about machine precision times the norm of |A||x| + |b|
  /// The same of the x that an iteration came to, asked for where it comes no closer; null: nothing more.
  std::function<Real()> rounding_at_the_end = {};
  bool from_zero = false;  ///< the given x is zero
  /// Whether a guess with a larger residual than that of zero gives way to zero, all of x being free: what
  /// rounding leaves of it could be more than the solution.
  bool zero_may_be_closer = false;
};

/// What ended an iteration.
enum class Ending : Index { None, Converged, NotFinite, NoCurvature, AtTheLimit };

/// What a residual's size is: its l2 norm, or that of the energy r . z, which is the error's where z = A⁻¹ r.
enum class ResidualNorm : Index { L2, Energy };

/// The numbers that conjugate gradients go by. Once there is an ending, nothing changes any more.
struct ConjugateGradientState {
  Real residual;     ///< its norm, by the recurrence
  Real target;       ///< converged where the residual is not larger
  Index iterations;  ///< steps made
  Index limit;       ///< of steps
  Ending ending = Ending::None;
  Index first = 1;           ///< 1: there is no direction yet
  Real residual_energy = 0;  ///< r . z
  Factor alpha = {}, beta = {};
  ResidualNorm norm = ResidualNorm::L2;
  Real share_of_first = 0;  ///< of the first residual's energy norm: the target is at least that
};

/// One iteration of preconditioned conjugate gradients; Hestenes & Stiefel (1952), in the form of Saad,
/// Iterative Methods (2003), algorithm 9.1. Its numbers stay where its vectors are, so that on a device
/// iterations follow each other without the host; those launched after the last one change nothing.
template <class X>
class ConjugateGradientIteration {
 public:
  /// Vectors of the right sizes to work with.
  ConjugateGradientIteration(Paired<X> residual, X direction)
      : residual_(std::move(residual)),
        image_(alike(residual_)),
        direction_(std::move(direction)),
        correction_(alike(direction_)),
        state_(executor().space(), 1),
        sum_(executor()) {}

  const Executor& executor() const { return residual_.executor(); }
  /// b - A x, to be set before `start`.
  Paired<X>& residual() { return residual_; }
  const Paired<X>& residual() const { return residual_; }
  // Of no meaning between solves: vectors to work with.
  Paired<X>& image() { return image_; }
  X& direction() { return direction_; }
  /// Begins anew from the residual with these numbers.
  void start(const ConjugateGradientState& state);
  /// Makes a step of x, but for one that has ended.
  void advance(const Operator<X, Paired<X>>& a, const Preconditioner<X>& preconditioner, X& x);
  void advance(const FusedOperator<X>& a, const Preconditioner<X>& preconditioner, X& x);
  /// On a device this waits for the iterations launched.
  ConjugateGradientState state() const;
  /// How many times `advance` is called with this preconditioner until there is an ending, at least, if it
  /// goes as it last went; 1 if that is not known. `learn` takes what it was.
  int expected(const Preconditioner<X>& preconditioner) const;
  void learn(const Preconditioner<X>& preconditioner, const ConjugateGradientState& end);

 private:
  /// `apply(p, A p, sum)` applies the matrix and adds p . A p to the sum.
  template <class Apply>
  void advance_by(const Apply& apply, const Preconditioner<X>& preconditioner, X& x);

  Paired<X> residual_, image_;  // r, A p
  X direction_, correction_;    // p, z
  Buffer<ConjugateGradientState> state_;
  SumInParts sum_;  // an inner product
  int iterations_before_ = 0;
  struct Lengths {
    int last, before;
  };
  std::map<const void*, Lengths> lengths_;  // of the last two solves with each preconditioner
};

/// Iterates until there is a reason to end, which is in the state returned. `launches`: of this iteration.
template <class A, class X>
ConjugateGradientState iterate(LaunchSequence& launches, ConjugateGradientIteration<X>& iteration, const A& a,
                               const Preconditioner<X>& preconditioner, X& x);

/// What a solve is to reach, and its failures: DivergedErrors that name the unknown. Converged when the true
/// residual's l2 norm is at most max(relative tolerance x reference, absolute tolerance, rounding).
class SolveGoal {
 public:
  SolveGoal(const std::string& unknown, const SolverControl& control, ResidualScale scale);
  Real target() const { return target_; }
  Real relative(Real residual) const { return reference_ > 0 ? residual / reference_ : residual; }
  /// Throws for the residual before an iteration.
  void require_finite(Real residual, int iterations) const;
  /// Throws for an ending other than convergence; the state's residual is in units of `unit`.
  void require_progress(const ConjugateGradientState& state, Real unit) const;
  /// Throws where the target is not reached and a second attempt came no closer: rounding stops all progress.
  /// One that began close to what rounding allows is worth another try.
  void require_closer(Real residual, Real before, int iterations) const;
  /// Whether require_closer() would throw.
  bool stuck(Real residual, Real before) const { return residual > target_ && residual > before / 2; }

 private:
  [[noreturn]] void fail(const std::string& what, int iterations, Real residual,
                         const std::string& remedy = "") const;

  const std::string& unknown_;
  Real relative_tolerance_, reference_, target_;
};

/// Preconditioned conjugate gradients for a symmetric positive (semi)definite operator from a space to its
/// dual. Keeps its vectors, so that a time loop allocates nothing.
///
/// Entries of x that the operator holds (its rows and those of b are zero there) stay as they are.
///
/// On several ranks the operator brings the ghosts of what it is applied to up to date; those of x then are
/// so in the end.
template <class X>
class ConjugateGradient {
 public:
  /// `unknown` names what is solved for in messages.
  ConjugateGradient(const Executor& executor, Extent extent, std::string unknown,
                    SolverControl control) requires
      std::constructible_from<X, const Executor&, Index, std::string, std::string>
      : ConjugateGradient(std::move(unknown), control, Paired<X>(executor, extent, "residual", "1"),
                          X(executor, extent, "search direction", "1")) {}
  /// The same for unknowns of several fields: vectors of the right sizes to work with.
  ConjugateGradient(std::string unknown, SolverControl control, Paired<X> residual, X direction)
      : unknown_(std::move(unknown)),
        control_(control),
        iteration_(std::move(residual), std::move(direction)),
        change_(alike(iteration_.direction())),
        launches_(iteration_.executor()) {}

  /// Solves A x = b from the given x, up to a SolveGoal. The residual is recomputed at the end and the
  /// iteration goes on from there where the recurrence has drifted away from it. Throws DivergedError, naming
  /// the unknown, at the iteration cap, when rounding stops all progress, or when the residual is not a
  /// number.
  ///
  /// With `recall`, the given x is improved by what earlier solves of this kind came to, and they remember
  /// this one.
  SolveReport solve(const Operator<X, Paired<X>>& a, const Preconditioner<X>& preconditioner,
                    const Paired<X>& b, X& x, ResidualScale scale, const NullSpace<X>* null_space = nullptr,
                    const Recall<X>& recall = {});
  SolveReport solve(const FusedOperator<X>& a, const Preconditioner<X>& preconditioner, const Paired<X>& b,
                    X& x, ResidualScale scale, const NullSpace<X>* null_space = nullptr,
                    const Recall<X>& recall = {});

 private:
  template <class A>
  SolveReport solve_by(const A& a, const Preconditioner<X>& preconditioner, const Paired<X>& b, X& x,
                       ResidualScale scale, const NullSpace<X>* null_space, const Recall<X>& recall);
  /// The norm of b - A x, which the iteration is left with.
  Real set_residual(const Operator<X, Paired<X>>& a, const Paired<X>& b, const X& x,
                    const NullSpace<X>* null_space);

  std::string unknown_;
  SolverControl control_;
  ConjugateGradientIteration<X> iteration_;
  X change_;                 // by a solve
  LaunchSequence launches_;  // of an iteration
};

}  // namespace curlew
