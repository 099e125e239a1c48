// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid.hpp"

#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/factor.hpp"
#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "kernels/incidence.hpp"
#include "kernels/reduction.hpp"
#include "mesh/entities.hpp"
#include "mesh/exchange.hpp"
#include "solvers/multigrid_hierarchy.hpp"

namespace curlew {

namespace {

struct Entry;  // entity tag: an entry of a table

using UnknownTable = IncidenceTable<Unknown, Unknown>;
using Unknowns = Incidence<Unknown, Unknown>;

/// sum_k c_k x_k over row i of a table with one coefficient per entry.
template <class Rows>
CURLEW_HOST_DEVICE float row_product(const Rows& rows, View<Entry, const float> coefficient,
                                     View<Unknown, const float> x, Id<Unknown> i) {
  Id<Entry> entry(rows.start(i));
  float sum = 0;
  for (const auto [j, sign] : rows[i]) {
    sum += coefficient[entry] * x[j];
    ++entry;
  }
  return sum;
}

/// A Chebyshev step: d = momentum d + gain (b - A x), next = x + d; A has a diagonal of one.
template <class Rows>
struct ChebyshevStepOnUnknown {
  Rows neighbours_of;
  View<Entry, const float> coefficient;
  float momentum, gain;
  View<Unknown, const float> right_hand_side, x;
  View<Unknown, float> step, next;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    const float image = x[i] + row_product(neighbours_of, coefficient, x, i);
    const float d = momentum * step[i] + gain * (right_hand_side[i] - image);
    step[i] = d;
    next[i] = x[i] + d;
  }
};

template <class Rows>
struct ResidualOnUnknown {
  Rows neighbours_of;
  View<Entry, const float> coefficient;
  View<Unknown, const float> right_hand_side, x;
  View<Unknown, float> residual;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    residual[i] = right_hand_side[i] - (x[i] + row_product(neighbours_of, coefficient, x, i));
  }
};

/// The residual of the finer level, gathered, and the first Chebyshev step with it from zero.
struct RestrictedOnUnknown {
  Unknowns fine_of;
  View<Entry, const float> weight;
  float gain;
  View<Unknown, const float> fine_residual;
  View<Unknown, float> right_hand_side, step, x;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    const float b = row_product(fine_of, weight, fine_residual, i);
    right_hand_side[i] = b;
    step[i] = gain * b;
    x[i] = gain * b;
  }
};

struct ProlongedOnUnknown {
  Unknowns coarse_of;
  View<Entry, const float> weight;
  View<Unknown, const float> coarse;
  View<Unknown, float> x;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    x[i] += row_product(coarse_of, weight, coarse, i);
  }
};

/// The first Chebyshev step from zero.
struct StartedOnUnknown {
  float gain;
  View<Unknown, const float> right_hand_side;
  View<Unknown, float> step, x;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    step[i] = gain * right_hand_side[i];
    x[i] = gain * right_hand_side[i];
  }
};

struct TakenOnUnknown {
  View<Unknown, const Index> place;
  View<Unknown, const float> from;
  View<Unknown, float> to;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const { to[i] = from[Id<Unknown>(place[i])]; }
};

struct DenseProductOnUnknown {
  Index size;
  View<Entry, const float> matrix;
  View<Unknown, const float> right_hand_side;
  View<Unknown, float> x;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    Id<Entry> entry(i.value() * size);
    float sum = 0;
    for (const Id<Unknown> j : Range<Unknown>(0, size)) {
      sum += matrix[entry] * right_hand_side[j];
      ++entry;
    }
    x[i] = sum;
  }
};

/// What takes a residual to order one and back: a power of two, so that scaling rounds nothing.
struct Scaling {
  Real largest;      ///< of the residual
  Real there, back;  ///< both 0 where the residual is
};

struct ScalingFromLargest {
  View<One, Scaling> scaling;
  CURLEW_HOST_DEVICE void operator()(Id<One> one) const {
    Scaling& s = scaling[one];
    s.there = s.largest > 0 ? std::ldexp(Real(1), -std::ilogb(s.largest)) : Real(0);
    s.back = s.there > 0 ? 1 / s.there : Real(0);
  }
};

/// The residual rounded to single precision in the scaling of the finest level, and the first Chebyshev step
/// with it from zero.
template <class E>
struct RoundedOnUnknown {
  View<Unknown, const Real> scale;
  View<One, const Scaling> scaling;
  View<E, const Real> residual;
  float gain;
  View<Unknown, float> right_hand_side, step, x;
  CURLEW_HOST_DEVICE void operator()(Id<Unknown> i) const {
    const auto b = static_cast<float>(scaling[Id<One>(0)].there * scale[i] * residual[Id<E>(i.value())]);
    right_hand_side[i] = b;
    step[i] = gain * b;
    x[i] = gain * b;
  }
};

template <class E>
struct WidenedOnEntity {
  View<Unknown, const Real> scale;
  View<One, const Scaling> scaling;
  View<Unknown, const float> x;
  View<E, Real> z;
  CURLEW_HOST_DEVICE void operator()(Id<E> i) const {
    const Id<Unknown> unknown(i.value());
    z[i] = scaling[Id<One>(0)].back * scale[unknown] * static_cast<Real>(x[unknown]);
  }
};

template <class E>
struct ScaledMagnitudeOfEntity {
  View<Unknown, const Real> scale;
  View<E, const Real> residual;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const {
    const Real value = scale[Id<Unknown>(i.value())] * residual[i];
    return value < 0 ? -value : value;
  }
};

/// A sparse matrix in single precision where kernels find it.
class SparseOperator {
 public:
  explicit SparseOperator(SparseRows rows) {
    coefficient_ = ConstantArray<float>(std::vector<float>(rows.values.begin(), rows.values.end()));
    table_ = UnknownTable(std::move(rows.starts), std::move(rows.columns));
  }
  const UnknownTable& table() const { return table_; }
  std::size_t bytes() const { return table_.bytes() + coefficient_.size() * sizeof(float); }
  Unknowns rows(MemorySpace space) const { return table_.view(space); }
  View<Entry, const float> coefficient(MemorySpace space) const {
    return View<Entry, const float>(coefficient_.data(space), static_cast<Index>(coefficient_.size()));
  }

 private:
  UnknownTable table_;
  ConstantArray<float> coefficient_;
};

/// The unknowns of a level as Exchange takes them.
class LevelDomain {
 public:
  LevelDomain(std::shared_ptr<const Communicator> communicator, Halo<Unknown> halo)
      : communicator_(std::move(communicator)), halo_(std::move(halo)) {}
  const Communicator& communicator() const { return *communicator_; }
  template <class E>
  const Halo<E>& halo() const {
    return halo_;
  }
  Extent extent() const { return {halo_.all().size(), halo_.owned().size()}; }

 private:
  std::shared_ptr<const Communicator> communicator_;
  Halo<Unknown> halo_;
};

/// What is asked of a level and what it answers.
struct LevelVectors {
  LevelVectors(const Executor& executor, Extent extent)
      : right_hand_side(executor, extent, "right-hand side", "1"),
        x(executor, extent, "correction", "1"),
        step(alike(x)) {}
  Field<Unknown, float> right_hand_side, x, step;
};

struct ChebyshevCoefficients {
  float momentum, gain;
};

/// Steps of the polynomial that is smallest on [largest / width, largest]: Saad, Iterative Methods (2003),
/// algorithm 12.1.
std::vector<ChebyshevCoefficients> chebyshev(Real largest, Real width, int degree) {
  const Real middle = largest * (1 + 1 / width) / 2, half = largest * (1 - 1 / width) / 2;
  const Real sigma = middle / half;
  std::vector<ChebyshevCoefficients> steps{{0, static_cast<float>(1 / middle)}};
  Real rho = 1 / sigma;
  for (int k = 1; k < degree; ++k) {
    const Real next = 1 / (2 * sigma - rho);
    steps.push_back({static_cast<float>(next * rho), static_cast<float>(2 * next / half)});
    rho = next;
  }
  return steps;
}

}  // namespace

class MultigridCycle {
 public:
  /// `entities`: how many values residuals and corrections have.
  MultigridCycle(const Executor& executor, const Domain& domain, Index entities, MultigridHierarchy hierarchy)
      : executor_(executor.among(domain.shared_communicator())),
        communicator_(domain.shared_communicator()),
        entities_(entities),
        scaling_(executor.space(), 1),
        scale_(std::move(hierarchy.scale)),
        inverse_(std::move(hierarchy.coarsest_inverse)),
        complexity_(hierarchy.operator_complexity),
        divided_(hierarchy.divided) {
    for (MultigridHierarchy::Level& level : hierarchy.levels) {
      level.unknowns.global = {};  // names are for the set-up alone
      LevelDomain unknowns(levels_.size() < divided_ ? communicator_ : one_rank(),
                           Halo<Unknown>(std::move(level.unknowns)));
      std::vector<ChebyshevCoefficients> steps = chebyshev(level.largest_eigenvalue, width, degree);
      levels_.emplace_back(executor, std::move(unknowns), std::move(level), std::move(steps));
    }
    if (divided_ < levels_.size()) share_.emplace(executor, std::move(hierarchy.places));
  }

  template <class E>
  void apply(View<E, const Real> r, View<E, Real> z) {
    LevelVectors& finest = own_vectors(0);
    const Range<Unknown> unknowns = finest.x.owned();
    const Range<E> range(0, unknowns.size());
    const View<Unknown, const Real> scale(scale_.data(executor_.space()), range.size());
    const View<One, Scaling> scaling(scaling_.data(), 1);
    maximum(executor_, range, ScaledMagnitudeOfEntity<E>{scale, r}, &scaling_.data()->largest);
    for_each(executor_, Range<One>(0, 1), ScalingFromLargest{scaling});
    for_each(executor_, unknowns,
             RoundedOnUnknown<E>{scale, scaling, r, levels_[0].smoother[0].gain,
                                 finest.right_hand_side.view(), finest.step.view(), finest.x.view()});
    run(0);
    if (divided_ == 0) {
      for_each(
          executor_, unknowns,
          TakenOnUnknown{View<Unknown, const Index>(share_->place.data(executor_.space()), unknowns.size()),
                         std::as_const(levels_[0].x).view(), finest.x.view()});
    }
    for_each(executor_, range, WidenedOnEntity<E>{scale, scaling, std::as_const(finest.x).view(), z});
  }

  int levels() const { return static_cast<int>(levels_.size()); }
  Real operator_complexity() const { return complexity_; }
  std::size_t bytes() const {
    constexpr std::size_t number = sizeof(float), given = sizeof(Real);
    // Largest residual, rounding, widening; residual, scale and correction are given in Real.
    std::size_t total = scale_.size() * (7 * given + 4 * number);
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const Level& level = levels_[l];
      const std::size_t unknowns = at(level.x.owned().size());
      if (l + 1 == levels_.size() && inverse_.size() > 0) {
        total += (inverse_.size() + 2 * unknowns) * number;
        continue;
      }
      // Steps of smoothing, the first of which comes with the right-hand side.
      total += (2 * level.smoother.size() - 1) * (level.matrix.bytes() + 5 * unknowns * number);
      if (l + 1 == levels_.size()) continue;
      total += level.matrix.bytes() + 3 * unknowns * number;  // residual
      total += level.restriction.bytes() + level.prolongation.bytes() +
               (3 * unknowns + 4 * at(levels_[l + 1].x.owned().size())) * number;
    }
    return total;
  }
  Index size() const { return entities_; }
  const Executor& executor() const { return executor_; }

 private:
  static constexpr Real width = 6;
  static constexpr int degree = 2;

  struct Level : LevelVectors {
    Level(const Executor& executor, LevelDomain unknowns, MultigridHierarchy::Level level,
          std::vector<ChebyshevCoefficients> steps)
        : LevelVectors(executor, unknowns.extent()),
          domain(std::move(unknowns)),
          smoother(std::move(steps)),
          spare(alike(x)),
          matrix(std::move(level.off_diagonal)),
          prolongation(std::move(level.prolongation)),
          restriction(std::move(level.restriction)) {}
    LevelDomain domain;
    std::vector<ChebyshevCoefficients> smoother;
    Field<Unknown, float> spare;
    SparseOperator matrix, prolongation, restriction;
  };

  /// What this rank finds of the right-hand side of the first level that all ranks have whole.
  struct Share : LevelVectors {
    Share(const Executor& executor, std::vector<Index> places)
        : LevelVectors(executor, static_cast<Index>(places.size())), place(std::move(places)) {}
    ConstantArray<Index> place;
  };

  /// Where this rank's part of a level's right-hand side goes.
  LevelVectors& own_vectors(std::size_t depth) {
    if (depth == divided_ && share_) return *share_;
    return levels_[depth];
  }

  /// Gives all ranks the right-hand side of the first level that they have whole, and starts there.
  void bring_together(Level& level) {
    const std::vector<float> mine = share_->right_hand_side.to_host();
    std::vector<Real> all(at(level.x.size()), 0);
    for (std::size_t k = 0; k < mine.size(); ++k) all[at(share_->place[k])] = mine[k];
    communicator_->share(all);
    level.right_hand_side.copy_from_host(std::vector<float>(all.begin(), all.end()));
    for_each(executor_, level.x.range(),
             StartedOnUnknown{level.smoother[0].gain, std::as_const(level.right_hand_side).view(),
                              level.step.view(), level.x.view()});
  }

  /// Brings the ghosts of x up to date, and calls `launch(range, rows)` for parts of the level's matrix.
  template <class Launch>
  void visit_matrix(Level& level, const Launch& launch) {
    const auto launch_on = [&](Range<Unknown> unknowns) {
      level.matrix.table().visit_parts(executor_.space(), unknowns, launch);
    };
    launch_with_ghosts(level.domain, level.x.owned(), launch_on, level.x);
  }

  void chebyshev_step(Level& level, ChebyshevCoefficients coefficients) {
    const MemorySpace space = executor_.space();
    visit_matrix(level, [&](Range<Unknown> range, auto rows) {
      for_each(executor_, range,
               ChebyshevStepOnUnknown<decltype(rows)>{
                   rows, level.matrix.coefficient(space), coefficients.momentum, coefficients.gain,
                   std::as_const(level.right_hand_side).view(), std::as_const(level.x).view(),
                   level.step.view(), level.spare.view()});
    });
    std::swap(level.x, level.spare);
  }

  /// Expects the right-hand side and the first step from zero; leaves the correction in x.
  void run(std::size_t depth) {
    Level& level = levels_[depth];
    const MemorySpace space = executor_.space();
    if (depth == divided_) bring_together(level);
    if (depth + 1 == levels_.size() && inverse_.size() > 0) {
      for_each(executor_, level.x.range(),
               DenseProductOnUnknown{
                   level.x.size(),
                   View<Entry, const float>(inverse_.data(space), static_cast<Index>(inverse_.size())),
                   std::as_const(level.right_hand_side).view(), level.x.view()});
      return;
    }
    for (std::size_t k = 1; k < level.smoother.size(); ++k) chebyshev_step(level, level.smoother[k]);
    if (depth + 1 < levels_.size()) {
      visit_matrix(level, [&](Range<Unknown> range, auto rows) {
        for_each(executor_, range,
                 ResidualOnUnknown<decltype(rows)>{rows, level.matrix.coefficient(space),
                                                   std::as_const(level.right_hand_side).view(),
                                                   std::as_const(level.x).view(), level.spare.view()});
      });
      exchange_ghosts(level.domain, level.spare);
      Level& coarse = levels_[depth + 1];
      LevelVectors& restricted = own_vectors(depth + 1);
      for_each(executor_, restricted.x.owned(),
               RestrictedOnUnknown{level.restriction.rows(space), level.restriction.coefficient(space),
                                   coarse.smoother[0].gain, std::as_const(level.spare).view(),
                                   restricted.right_hand_side.view(), restricted.step.view(),
                                   restricted.x.view()});
      run(depth + 1);
      exchange_ghosts(coarse.domain, coarse.x);
      for_each(executor_, level.x.owned(),
               ProlongedOnUnknown{level.prolongation.rows(space), level.prolongation.coefficient(space),
                                  std::as_const(coarse.x).view(), level.x.view()});
    }
    for (const ChebyshevCoefficients& coefficients : level.smoother) chebyshev_step(level, coefficients);
  }

  Executor executor_;
  std::shared_ptr<const Communicator> communicator_;
  Index entities_;
  Buffer<Scaling> scaling_;
  ConstantArray<Real> scale_;     // 1 / sqrt of the finest diagonal
  ConstantArray<float> inverse_;  // of the coarsest level, dense
  Real complexity_;
  std::size_t divided_;  // levels of which this rank has only a part; those after them are whole on all
  std::vector<Level> levels_;
  std::optional<Share> share_;
};

template <class X>
Multigrid<X>::Multigrid(const Executor& executor, const Domain& domain, SymmetricMatrix matrix, Index whole) {
  const Index entities = matrix.rows();
  cycle_ = std::make_unique<MultigridCycle>(
      executor, domain, entities,
      make_multigrid_hierarchy<typename X::Entity>(domain, std::move(matrix), whole));
}

template <class X>
Multigrid<X>::~Multigrid() = default;

template <class X>
void Multigrid<X>::apply(const Paired<X>& r, X& z) const {
  require_fits(r, cycle_->size(), cycle_->executor());
  require_fits(z, cycle_->size(), cycle_->executor());
  cycle_->apply(r.view(), z.view());
}

template <class X>
int Multigrid<X>::levels() const {
  return cycle_->levels();
}

template <class X>
Real Multigrid<X>::operator_complexity() const {
  return cycle_->operator_complexity();
}

template <class X>
std::size_t Multigrid<X>::bytes() const {
  return cycle_->bytes();
}

template class Multigrid<PrimalCochain<Node>>;
template class Multigrid<DualCochain<Cell>>;

}  // namespace curlew
