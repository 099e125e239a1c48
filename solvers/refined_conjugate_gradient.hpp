// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <concepts>
#include <limits>
#include <memory>
#include <string>

#include "solvers/conjugate_gradient.hpp"
#include "solvers/face_velocity.hpp"
#include "solvers/stream_velocity.hpp"

namespace curlew {

/// What solvers iterate on, in precision T, where an X is solved for.
template <class X, class T>
struct VectorsFor;
template <class T>
struct VectorsFor<FaceVelocity, T> {
  using type = FaceVectors<T>;
};
template <class T>
struct VectorsFor<StreamVelocity, T> {
  using type = StreamVectors<T>;
};
template <class X, class T>
using Vectors = typename VectorsFor<X, T>::type;

/// A x = b with a symmetric positive definite A on what is free of x. As an operator it is A in either
/// precision.
template <class X>
class RefinedSystem : public FusedOperator<Vectors<X, float>>, public FusedOperator<Vectors<X, Real>> {
 public:
  using Single = Vectors<X, float>;
  using Double = Vectors<X, Real>;
  using FusedOperator<Single>::apply;
  using FusedOperator<Double>::apply;
  void apply_transpose(const Single& x, Paired<Single>& y) const override { apply(x, y); }
  void apply_transpose(const Double& x, Paired<Double>& y) const override { apply(x, y); }

  /// r = b - A x in double precision, zero where x is not free. Brings the ghosts of x up to date.
  virtual void set_residual(const X& x, Paired<X>& r) const = 0;
  /// The same of the x that a solve starts from, of which a system may know A x already. Adds to `squared`
  /// the square of the norm of b - A times what is not free in x: what the relative tolerance refers to.
  /// Single precision is enough for it. `given`, `image`: to work with.
  virtual void set_first_residual(const X& x, Paired<X>& r, Single& given, Paired<Single>& image,
                                  SumInParts& squared) const = 0;
  /// What a correction in single precision leaves of the residual at least: well above rounding, to which
  /// more would be lost.
  virtual Real left_in_single_precision() const {
    return 10 * static_cast<Real>(std::numeric_limits<float>::epsilon());
  }
  /// About how much, in the l2 norm, products in single precision with what e is a sum of are wrong by;
  /// infinite where a solve is to end with a residual in double precision.
  virtual Real rounding_of(const Single&) const { return std::numeric_limits<Real>::infinity(); }
  /// x += factor times the free part of e.
  virtual void add(Real factor, const Single& e, X& x) const = 0;
  virtual void add(Real factor, const Double& e, X& x) const = 0;
};

/// A preconditioner in either precision, for residuals of order one.
template <class X>
class RefinedPreconditioner : public Preconditioner<Vectors<X, float>>,
                              public Preconditioner<Vectors<X, Real>> {
 public:
  using Preconditioner<Vectors<X, float>>::apply;
  using Preconditioner<Vectors<X, Real>>::apply;
};

/// Preconditioned conjugate gradients in single precision inside an iterative refinement in double precision:
/// residuals and sums of corrections are double, so that the result is; the iterations, which take nearly all
/// the time, move half the bytes. Göddeke, Strzodka & Turek (Int. J. Parallel Emergent Distrib. Syst. 22,
/// 2007), algorithm 1. One correction mostly is enough: from a good guess there is seldom more to gain than
/// single precision holds. What it has left, by the recurrence, then stands for the true residual where
/// rounding could not make the difference between one that reaches the target and one that does not. Where a
/// correction does not do what it should, as with slivers in the mesh, whose matrices single precision cannot
/// tell from singular ones, the iterations of that solve go on in double.
template <class X>
class RefinedConjugateGradient {
 public:
  RefinedConjugateGradient(const Executor& executor, Extent extent, SolverControl control) requires
      std::constructible_from<X, const Executor&, Extent, std::string, std::string>
      : RefinedConjugateGradient(Paired<X>(executor, extent, "residual", "1"), control) {}
  /// The same for unknowns of several fields: a vector of the right sizes to work with.
  RefinedConjugateGradient(Paired<X> residual, SolverControl control);

  /// A vector of the iterations' kind.
  const Vectors<X, float>& like() const { return single_.correction; }

  /// Solves the system from the given x, as ConjugateGradient::solve does and with the same errors; `unknown`
  /// names what is solved for in messages, residuals below `noise` are rounding. Where the system knows of
  /// no rounding_of corrections, the last residual that is asked of it is that of the x which is found.
  SolveReport solve(const std::string& unknown, const RefinedSystem<X>& system,
                    const RefinedPreconditioner<X>& preconditioner, X& x, Real noise,
                    const Recall<Vectors<X, float>>& recall);

 private:
  /// What corrections are worked out in.
  template <class T>
  struct Precision {
    explicit Precision(const Paired<X>& like);
    Vectors<X, T> correction;
    ConjugateGradientIteration<Vectors<X, T>> iteration;
    LaunchSequence launches;
  };

  /// Sets the residual of a correction to 1 / norm times what is left.
  template <class T>
  void set_residual(Precision<T>& precision, Real norm);
  /// residual -= image; returns its norm then.
  Real subtract(const Paired<Vectors<X, float>>& image, Paired<Vectors<X, float>>& residual);
  /// Starts a correction in single precision, from what the history has of it or from zero. Returns the norm
  /// of what is left of its residual, which is 1 before.
  Real improve(Real norm, const RefinedSystem<X>& system, const Recall<Vectors<X, float>>& recall);

  SolverControl control_;
  Paired<X> residual_;
  Precision<float> single_;
  std::unique_ptr<Precision<Real>> double_;  // where a solve needed it
  Vectors<X, float> change_;                 // by a solve of several corrections, in the history's precision
  SumInParts sum_;
  Buffer<BinnedSum> squares_;  // of a reference and of the first residual
};

}  // namespace curlew
