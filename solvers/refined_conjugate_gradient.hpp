// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <memory>
#include <string>

#include "solvers/conjugate_gradient.hpp"
#include "solvers/face_velocity.hpp"

namespace curlew {

/// A x = b with a symmetric positive definite A on what is free of face velocities. As an operator it is A in
/// either precision.
class RefinedSystem : public FusedOperator<FaceVectors<float>>, public FusedOperator<FaceVectors<Real>> {
 public:
  using FusedOperator<FaceVectors<float>>::apply;
  using FusedOperator<FaceVectors<Real>>::apply;
  void apply_transpose(const FaceVectors<float>& x, FaceVectors<float>& y) const override { apply(x, y); }
  void apply_transpose(const FaceVectors<Real>& x, FaceVectors<Real>& y) const override { apply(x, y); }

  /// r = b - A x in double precision, zero where x is not free. Brings the ghosts of x up to date.
  virtual void set_residual(const FaceVelocity& x, FaceVelocity& r) const = 0;
  /// The same of the x that a solve starts from, of which a system may know A x already.
  virtual void set_first_residual(const FaceVelocity& x, FaceVelocity& r) const { set_residual(x, r); }
  /// x += factor times the free part of e.
  virtual void add(Real factor, const FaceVectors<float>& e, FaceVelocity& x) const = 0;
  virtual void add(Real factor, const FaceVectors<Real>& e, FaceVelocity& x) const = 0;
  /// Norm of b - A times what is not free in x: what the relative tolerance refers to. Single precision is
  /// enough. `given`, `image`: to work with.
  virtual Real norm_of_sources(const FaceVelocity& x, FaceVectors<float>& given,
                               FaceVectors<float>& image) const = 0;
};

/// A preconditioner in either precision.
class RefinedPreconditioner : public Preconditioner<FaceVectors<float>>,
                              public Preconditioner<FaceVectors<Real>> {
 public:
  using Preconditioner<FaceVectors<float>>::apply;
  using Preconditioner<FaceVectors<Real>>::apply;
};

/// Preconditioned conjugate gradients in single precision inside an iterative refinement in double precision:
/// residuals and sums of corrections are double, so that the result is; the iterations, which take nearly all
/// the time, move half the bytes. Göddeke, Strzodka & Turek (Int. J. Parallel Emergent Distrib. Syst. 22,
/// 2007), algorithm 1. One correction mostly is enough: from a good guess there is seldom more to gain than
/// single precision holds. Where a correction does not do what it should, as with slivers in the mesh, whose
/// matrices single precision cannot tell from singular ones, the iterations of that solve go on in double.
class RefinedConjugateGradient {
 public:
  RefinedConjugateGradient(const Executor& executor, Extent extent, SolverControl control);

  /// A vector of the iterations' kind.
  const FaceVectors<float>& like() const { return single_.correction; }

  /// Solves the system from the given x, as ConjugateGradient::solve does and with the same errors; `unknown`
  /// names what is solved for in messages, residuals below `noise` are rounding. The last residual that is
  /// asked of the system is that of the x which is found.
  SolveReport solve(const std::string& unknown, const RefinedSystem& system,
                    const RefinedPreconditioner& preconditioner, FaceVelocity& x, Real noise,
                    const Recall<FaceVectors<float>>& recall);

 private:
  /// What corrections are worked out in.
  template <class T>
  struct Precision {
    Precision(const Executor& executor, Extent extent);
    FaceVectors<T> correction;
    ConjugateGradientIteration<FaceVectors<T>> iteration;
    LaunchSequence launches;
  };

  /// The last residual times a factor.
  template <class T>
  void set_rounded(Real factor, FaceVectors<T>& residual) const;
  /// Starts a correction, from zero, of what has the residual times 1 / norm.
  template <class T>
  void start(Precision<T>& precision, Real norm);
  /// Improves a correction in single precision by what the history has of it. Returns the norm of what is
  /// left of its residual, which is 1 before.
  Real improve(Real norm, const Recall<FaceVectors<float>>& recall);

  SolverControl control_;
  FaceVelocity residual_;
  Precision<float> single_;
  std::unique_ptr<Precision<Real>> double_;  // where a solve needed it
};

}  // namespace curlew
