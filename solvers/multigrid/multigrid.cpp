// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/multigrid.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "kernels/parallel.hpp"
#include "kernels/reduction.hpp"
#include "kernels/sliced_matrix.hpp"
#include "kernels/vector_kernels.hpp"
#include "mesh/entities.hpp"
#include "mesh/parallel/exchange.hpp"
#include "solvers/multigrid/chebyshev.hpp"
#include "solvers/multigrid/multigrid_hierarchy.hpp"
#include "solvers/multigrid/multigrid_kernels.hpp"
#include "solvers/multigrid/power_iteration.hpp"

namespace curlew {

namespace {

using namespace multigrid;

/// Block (i, j) out of `size` rows of numbers or of blocks.
Block<float> block(const std::vector<Real>& rows, Index size, Index i, Index j, Block<float>) {
  return {rows[at(i * size + j)]};
}
Block<Vector> block(const std::vector<Real>& rows, Index size, Index i, Index j, Block<Vector>) {
  const auto column = [&](Index c) {
    const auto entry = [&](Index r) {
      return static_cast<float>(rows[at((3 * i + r) * 3 * size + 3 * j + c)]);
    };
    return Vector(entry(0), entry(1), entry(2), 0);
  };
  return {{column(0), column(1), column(2)}};
}
/// Those of a dense matrix of that size, row by row.
template <class T>
std::vector<Block<T>> blocks(const std::vector<Real>& rows, Index size) {
  std::vector<Block<T>> result;
  if (rows.empty()) return result;
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) result.push_back(block(rows, size, i, j, Block<T>()));
  }
  return result;
}

/// A sparse matrix: slices for processors, a table for what has threads enough to read its rows side by side
/// as they are.
template <class Coefficient>
class SparseOperator {
 public:
  /// No call works on rows of both sides of row `border` unless on all.
  SparseOperator(const Executor& executor, SparseRows rows, Index border = 0) : executor_(executor) {
    if (executor.space() == MemorySpace::Host) {
      sliced_ = SlicedMatrix<Unknown, Unknown, Coefficient>(rows.starts, rows.columns,
                                                            std::span<const Real>(rows.values), border);
    } else {
      std::vector<Coefficient> coefficients;
      coefficients.reserve(rows.values.size());
      for (const Real value : rows.values) coefficients.push_back(static_cast<Coefficient>(value));
      table_ = UnknownTable(std::move(rows.starts), std::move(rows.columns));
      coefficient_ = table_.values(std::move(coefficients));
    }
  }
  /// What is read to know it.
  std::size_t bytes() const {
    return executor_.space() == MemorySpace::Host
               ? sliced_.bytes()
               : table_.bytes() + coefficient_.size() * sizeof(Coefficient);
  }
  /// Calls `body(i, (A x)_i)` for all i of the range.
  template <class T, class Body>
  void multiply(Range<Unknown> range, View<Unknown, const T> x, const Body& body) const {
    const MemorySpace space = executor_.space();
    if (space == MemorySpace::Host) {
      sliced_.multiply(executor_, range, x, body);
      return;
    }
    const View<Entry, const Coefficient> coefficient(coefficient_.data(space),
                                                     static_cast<Index>(coefficient_.size(space)));
    if (range.size() <= few_rows) {
      using Rows = Incidence<Unknown, Unknown>;
      for_each(
          executor_, range,
          ProductOfWarpOnUnknown<T, Rows, Coefficient, Body>{{table_.view(space), coefficient, x, body}});
      return;
    }
    table_.visit_parts(space, range, [&]<class Rows>(Range<Unknown> part, const Rows& rows) {
      for_each(executor_, part, ProductOnUnknown<T, Rows, Coefficient, Body>{rows, coefficient, x, body});
    });
  }

 private:
  /// So few do not keep a GPU busy by a thread each (docs/trials.md).
  static constexpr Index few_rows = 16384;

  Executor executor_;
  SlicedMatrix<Unknown, Unknown, Coefficient> sliced_;
  UnknownTable table_;
  ConstantArray<Coefficient> coefficient_;
};

/// The matrix of a level without its diagonal.
class Couplings {
 public:
  /// `rounding`: MultigridHierarchy::Level::rounding. No call works on rows of both sides of row `border`
  /// unless on all.
  Couplings(const Executor& executor, SparseRows off_diagonal, std::vector<float> rounding, Index border)
      : space_(executor.space()),
        rounded_(executor, std::move(off_diagonal), border),
        rounding_(std::move(rounding)) {}
  std::size_t bytes() const { return rounded_.bytes() + rounding_.size() * sizeof(float); }
  template <class T, class Body>
  void multiply(Range<Unknown> range, View<Unknown, const T> x, const Body& body) const {
    const View<Unknown, const float> rounding(rounding_.data(space_), static_cast<Index>(rounding_.size()));
    rounded_.multiply(range, x, WithRounding<T, Body>{rounding, x, body});
  }

 private:
  MemorySpace space_;
  SparseOperator<BFloat16> rounded_;
  ConstantArray<float> rounding_;
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
template <class T>
struct LevelVectors {
  LevelVectors(const Executor& executor, Extent extent, std::vector<Vector> inverse)
      : right_hand_side(executor, extent, "right-hand side", "1"),
        x(executor, extent, "correction", "1"),
        inverse_diagonal(std::move(inverse)) {}
  Diagonal<T> diagonal(MemorySpace space) const {
    if constexpr (std::is_same_v<T, float>)
      return {};
    else
      return {
          View<Unknown, const T>(inverse_diagonal.data(space), static_cast<Index>(inverse_diagonal.size()))};
  }
  Start<T> start(MemorySpace space, float gain) {
    return {diagonal(space), gain, right_hand_side.view(), x.view()};
  }
  Field<Unknown, T> right_hand_side, x;
  ConstantArray<Vector> inverse_diagonal;  // none for numbers
};

}  // namespace

Real ratio_of_hierarchy(Real ratio) {
  int exponent = 0;
  std::frexp(ratio, &exponent);
  return std::ldexp(Real(1), exponent & ~1);
}

template <class T>
class MultigridCycle {
 public:
  /// `entities`: how many values residuals and corrections have.
  MultigridCycle(const Executor& executor, const Domain& domain, Index entities, MultigridHierarchy hierarchy)
      : executor_(executor.among(domain.shared_communicator())),
        communicator_(domain.shared_communicator()),
        entities_(entities),
        scaling_(executor.space(), 1),
        scale_(std::move(hierarchy.scale)),
        inverse_(blocks<T>(hierarchy.coarsest_inverse, hierarchy.levels.back().unknowns.owned)),
        complexity_(hierarchy.operator_complexity),
        divided_(hierarchy.divided) {
    for (MultigridHierarchy::Level& level : hierarchy.levels) {
      const bool by_inverse = levels_.size() + 1 == hierarchy.levels.size() && inverse_.size() > 0;
      const std::vector<float> start = by_inverse ? std::vector<float>() : start_of_powers(level.unknowns);
      level.unknowns.global = {};  // names are for the set-up alone
      const Real bound = level.eigenvalue_bound;
      const auto ranks = levels_.size() < divided_ ? communicator_ : one_rank();
      LevelDomain unknowns(ranks, Halo<Unknown>(std::move(level.unknowns)));
      Level& made = levels_.emplace_back(executor, std::move(unknowns), std::move(level));
      const Real largest = by_inverse ? bound : largest_eigenvalue(executor.among(ranks), made, start, bound);
      made.smoother = chebyshev(largest, width, degree);
    }
    if (divided_ < levels_.size())
      share_.emplace(executor, std::move(hierarchy.places), levels_[divided_].inverse_diagonal);
  }

  /// z = B r for a residual of any size; `product`, where there is one, gets r . z.
  template <class E>
  void apply_to_any(View<E, const Real> r, View<E, Real> z, SumInParts* product) {
    const Range<E> range(0, own_vectors(0).x.owned().size());
    const View<Unknown, const Real> scale = scale_of(range.size());
    const View<One, Scaling> scaling(scaling_.data(), 1);
    maximum(executor_, range, ScaledMagnitudeOfEntity<E>{scale, r}, &scaling_.data()->largest);
    for_each(executor_, Range<One>(0, 1), ScalingFromLargest{scaling});
    const Vectors& correction = run_from([&](const Start<T>& start) {
      return RoundedOnUnknown<E>{scale, scaling, r, start};
    });
    const WidenedOnEntity<E> widened{scale, scaling, correction.view(), z};
    if (product == nullptr) {
      for_each(executor_, range, widened);
    } else {
      product->add(range, WidenedProductOfEntity<E>{r, widened});
    }
  }
  /// For one of order one.
  template <class E>
  void apply(View<E, const T> r, View<E, T> z) {
    const Range<E> range(0, own_vectors(0).x.owned().size());
    const View<Unknown, const Real> scale = scale_of(range.size());
    const Vectors& correction = run_from([&](const Start<T>& start) {
      return ScaledOnUnknown<E, T>{scale, r, start};
    });
    for_each(executor_, range, UnscaledOnEntity<E, T>{scale, correction.view(), z});
  }

  int levels() const { return static_cast<int>(levels_.size()); }
  Real operator_complexity() const { return complexity_; }
  std::size_t bytes() const requires std::is_same_v<T, float> {
    constexpr std::size_t number = sizeof(float), given = sizeof(Real);
    // Largest residual, rounding, widening; residual, scale and correction are given in Real.
    std::size_t total = scale_.size() * (7 * given + 3 * number);
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      const Level& level = levels_[l];
      const std::size_t unknowns = at(level.x.owned().size());
      if (l + 1 == levels_.size() && inverse_.size() > 0) {
        total += inverse_.size() * sizeof(Block<T>) + 2 * unknowns * number;
        continue;
      }
      // Steps of smoothing, the first of which comes with the right-hand side; the first ones need no step
      // before them, the last ones leave none.
      const std::size_t before = level.smoother.size() - 1, after = level.smoother.size();
      total += (before + after) * (level.couplings.bytes() + 3 * unknowns * number);
      total += 2 * (before + after - 2) * unknowns * number;
      if (l + 1 == levels_.size()) continue;
      total += level.couplings.bytes() + 3 * unknowns * number;  // residual
      total += level.restriction.bytes() + level.prolongation.bytes() +
               (3 * unknowns + 3 * at(levels_[l + 1].x.owned().size())) * number;
    }
    return total;
  }
  Index entities() const { return entities_; }
  const Executor& executor() const { return executor_; }

 private:
  static constexpr Real width = 6;
  static constexpr int degree = 2;
  using Vectors = Field<Unknown, T>;

  struct Level : LevelVectors<T> {
    Level(const Executor& executor, LevelDomain unknowns, MultigridHierarchy::Level level)
        : LevelVectors<T>(executor, unknowns.extent(), std::move(level.inverse_diagonal)),
          domain(std::move(unknowns)),
          spare(alike(this->x)),
          step(alike(this->x)),
          couplings(executor, std::move(level.off_diagonal), std::move(level.rounding),
                    domain.halo<Unknown>().interior().last()),
          prolongation(executor, std::move(level.prolongation)),
          restriction(executor, std::move(level.restriction)) {}
    LevelDomain domain;
    std::vector<ChebyshevCoefficients> smoother;
    Field<Unknown, T> spare, step;
    Couplings couplings;
    SparseOperator<float> prolongation, restriction;
  };

  /// What this rank finds of the right-hand side of the first level that all ranks have whole.
  struct Share : LevelVectors<T> {
    Share(const Executor& executor, std::vector<Index> places, const ConstantArray<Vector>& inverse)
        : LevelVectors<T>(executor, static_cast<Index>(places.size()), at_places(inverse, places)),
          place(std::move(places)) {}
    static std::vector<Vector> at_places(const ConstantArray<Vector>& inverse,
                                         const std::vector<Index>& places) {
      std::vector<Vector> result;
      if (inverse.size() == 0) return result;
      for (const Index place : places) result.push_back(inverse[at(place)]);
      return result;
    }
    ConstantArray<Index> place;
  };

  static std::vector<float> start_of_powers(const HaloParts<Unknown>& unknowns) {
    std::vector<float> start(at(unknowns.all), 0);
    parallel_for(at(unknowns.owned), [&](std::size_t i) {
      start[i] = static_cast<float>(hashed_number(name_of(unknowns, static_cast<Index>(i))));
    });
    return start;
  }
  /// An upper bound of the eigenvalues of a level's matrix of numbers, but for what power iterations from
  /// `start` miss.
  static Real largest_eigenvalue(const Executor& executor, const Level& level,
                                 const std::vector<float>& start, Real bound) {
    Field<Unknown, float> x(executor, level.domain.extent(), "iterate", "1"), image = alike(x);
    x.copy_from_host(start);
    const auto energy = [&] {
      return ProductOfEntity<Unknown, float>{std::as_const(x).view(), std::as_const(x).view()};
    };
    const auto multiply = [&](Real factor) {
      multiply_with_ghosts(level, x,
                           ScaledProduct{static_cast<float>(factor), std::as_const(x).view(), image.view()});
      std::swap(x, image);
    };
    return largest_eigenvalue_by_powers(executor, x, energy, multiply, bound);
  }

  View<Unknown, const Real> scale_of(Index size) const {
    return View<Unknown, const Real>(scale_.data(executor_.space()), size);
  }

  /// Where this rank's part of a level's right-hand side goes.
  LevelVectors<T>& own_vectors(std::size_t depth) {
    if (depth == divided_ && share_) return *share_;
    return levels_[depth];
  }

  /// `first(start)`: the kernel that starts on the finest level. Gives the correction.
  template <class First>
  const Vectors& run_from(const First& first) {
    const MemorySpace space = executor_.space();
    LevelVectors<T>& finest = own_vectors(0);
    const Range<Unknown> unknowns = finest.x.owned();
    for_each(executor_, unknowns, first(finest.start(space, levels_[0].smoother[0].gain)));
    const Vectors& correction = run(0);
    if (divided_ > 0) return correction;
    for_each(executor_, unknowns,
             TakenOnUnknown<T>{View<Unknown, const Index>(share_->place.data(space), unknowns.size()),
                               correction.view(), finest.x.view()});
    return finest.x;
  }

  /// Gives all ranks the right-hand side of the first level that they have whole, and starts there.
  void bring_together(Level& level) {
    constexpr std::size_t components = sizeof(T) / sizeof(float);
    const std::vector<T> mine = share_->right_hand_side.to_host();
    std::vector<Real> all(at(level.x.size()) * components, 0);
    for (std::size_t k = 0; k < mine.size(); ++k) {
      const auto numbers = std::bit_cast<std::array<float, components>>(mine[k]);
      std::ranges::copy(numbers, &all[at(share_->place[k]) * components]);
    }
    communicator_->share(all);
    std::vector<T> values(at(level.x.size()));
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::array<float, components> numbers;
      for (std::size_t c = 0; c < components; ++c) numbers[c] = static_cast<float>(all[k * components + c]);
      values[k] = std::bit_cast<T>(numbers);
    }
    level.right_hand_side.copy_from_host(values);
    for_each(executor_, level.x.range(),
             StartedOnUnknown<T>{std::as_const(level.right_hand_side).view(),
                                 level.start(executor_.space(), level.smoother[0].gain)});
  }

  /// Brings the ghosts of x up to date, and calls `body(i, product)` with what the level's matrix without its
  /// diagonal gives.
  template <class Value, class Body>
  static void multiply_with_ghosts(const Level& level, const Field<Unknown, Value>& x, const Body& body) {
    const auto launch = [&](Range<Unknown> unknowns) { level.couplings.multiply(unknowns, x.view(), body); };
    launch_with_ghosts(level.domain, x.owned(), launch, x);
  }

  /// Two fields that take turns within a cycle. Each cycle begins with the same one, so that launches that
  /// are noted down again are those of before.
  struct Turns {
    explicit Turns(Level& level) : x(&level.x), spare(&level.spare) {}
    Vectors* x;
    Vectors* spare;
  };

  /// Steps from number `first` on. Before the second, x is the first one where it began from zero; the first
  /// takes nothing from a step before it.
  void smooth(Level& level, std::size_t first, Turns& turns) {
    const std::size_t last = level.smoother.size() - 1;
    for (std::size_t k = first; k <= last; ++k) {
      const Vectors& before = k == first ? *turns.x : level.step;
      if (k < last) {
        smooth_once<false>(level, level.smoother[k], before, turns);
      } else {
        smooth_once<true>(level, level.smoother[k], before, turns);
      }
      std::swap(turns.x, turns.spare);
    }
  }
  template <bool last>
  void smooth_once(Level& level, ChebyshevCoefficients coefficients, const Vectors& before,
                   const Turns& turns) {
    const Vectors& x = *turns.x;
    multiply_with_ghosts(level, x,
                         ChebyshevStep<T, last>{level.diagonal(executor_.space()), coefficients,
                                                std::as_const(level.right_hand_side).view(), x.view(),
                                                before.view(), level.step.view(), turns.spare->view()});
  }

  /// Expects the right-hand side and the first step from zero; gives the correction.
  const Vectors& run(std::size_t depth) {
    Level& level = levels_[depth];
    const MemorySpace space = executor_.space();
    if (depth == divided_) bring_together(level);
    if (depth + 1 == levels_.size() && inverse_.size() > 0) {
      const Index size = level.x.size();
      for_each(
          executor_, level.x.range(),
          DenseProductOnUnknown<T>{
              size, View<Entry, const Block<T>>(inverse_.data(space), static_cast<Index>(inverse_.size())),
              std::as_const(level.right_hand_side).view(), level.x.view()});
      return level.x;
    }
    Turns turns(level);
    smooth(level, 1, turns);
    if (depth + 1 < levels_.size()) {
      const Vectors& x = *turns.x;
      multiply_with_ghosts(level, x,
                           Residual<T>{level.diagonal(space), std::as_const(level.right_hand_side).view(),
                                       x.view(), turns.spare->view()});
      exchange_ghosts(level.domain, *turns.spare);
      Level& coarse = levels_[depth + 1];
      LevelVectors<T>& restricted = own_vectors(depth + 1);
      level.restriction.multiply(restricted.x.owned(), std::as_const(*turns.spare).view(),
                                 restricted.start(space, coarse.smoother[0].gain));
      const Vectors& correction = run(depth + 1);
      exchange_ghosts(coarse.domain, correction);
      level.prolongation.multiply(x.owned(), correction.view(), Correction<T>{turns.x->view()});
    }
    smooth(level, 0, turns);
    return *turns.x;
  }

  Executor executor_;
  std::shared_ptr<const Communicator> communicator_;
  Index entities_;
  Buffer<Scaling> scaling_;
  ConstantArray<Real> scale_;        // 1 / sqrt of the finest diagonal
  ConstantArray<Block<T>> inverse_;  // of the coarsest level, dense
  Real complexity_;
  std::size_t divided_;  // levels of which this rank has only a part; those after them are whole on all
  std::vector<Level> levels_;
  std::optional<Share> share_;
};

template <class X>
Multigrid<X>::Multigrid(const Executor& executor, const Domain& domain, SymmetricMatrix matrix, Index whole) {
  const Index entities = matrix.rows();
  cycle_ = std::make_unique<MultigridCycle<float>>(
      executor, domain, entities,
      make_multigrid_hierarchy<typename X::Entity>(domain, std::move(matrix), whole));
}

template <class X>
Multigrid<X>::~Multigrid() = default;

template <class X>
void Multigrid<X>::apply(const Paired<X>& r, X& z) const {
  require_fits(r, cycle_->entities(), cycle_->executor());
  require_fits(z, cycle_->entities(), cycle_->executor());
  cycle_->apply_to_any(r.view(), z.view(), nullptr);
}

template <class X>
void Multigrid<X>::apply_with_product(const Paired<X>& r, X& z, SumInParts& product) const {
  require_fits(r, cycle_->entities(), cycle_->executor());
  require_fits(z, cycle_->entities(), cycle_->executor());
  cycle_->apply_to_any(r.view(), z.view(), &product);
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

template <class T>
MultigridInSingle<T>::MultigridInSingle(const Executor& executor, const Domain& domain,
                                        SymmetricMatrix matrix, std::optional<std::vector<Tensor3>> stiffness,
                                        Index whole) {
  const Index entities = matrix.rows();
  cycle_ = std::make_unique<MultigridCycle<T>>(
      executor, domain, entities,
      make_multigrid_hierarchy<Node>(domain, std::move(matrix), whole, std::move(stiffness)));
}

template <class T>
MultigridInSingle<T>::~MultigridInSingle() = default;

template <class T>
void MultigridInSingle<T>::apply(const Field<Node, T>& r, Field<Node, T>& z) const {
  require_fits(r, cycle_->entities(), cycle_->executor());
  require_fits(z, cycle_->entities(), cycle_->executor());
  cycle_->apply(r.view(), z.view());
}

template class Multigrid<PrimalCochain<Node>>;
template class Multigrid<DualCochain<Cell>>;
template class Multigrid<PrimalCochain<Edge>>;
template class MultigridInSingle<float>;
template class MultigridInSingle<Vector4<float>>;

}  // namespace curlew
