// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/multigrid_hierarchy.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "kernels/bfloat16.hpp"
#include "kernels/parallel.hpp"
#include "mesh/entities.hpp"
#include "solvers/multigrid/smoothed_aggregation.hpp"
#include "solvers/multigrid/sparse_rows.hpp"

namespace curlew {

namespace {

/// 1 / sqrt(a_ii), 0 for an unknown that is held; those of ghosts too.
std::vector<Real> scale_to_unit_diagonal(const SymmetricMatrix& matrix) {
  std::vector<Real> scale(matrix.diagonal.size());
  for (std::size_t i = 0; i < scale.size(); ++i)
    scale[i] = matrix.diagonal[i] > 0 ? 1 / std::sqrt(matrix.diagonal[i]) : 0;
  return scale;
}

std::vector<Real> at_places(const std::vector<Real>& values, const std::vector<Index>& places) {
  std::vector<Real> result;
  for (const Index place : places) result.push_back(values[at(place)]);
  return result;
}

/// diag(left) rows diag(right).
void scale_rows(const std::vector<Real>& left, const std::vector<Real>& right, SparseRows& rows) {
  parallel_for(at(rows.rows()), [&](std::size_t i) {
    for (Index k = rows.starts[i]; k < rows.starts[i + 1]; ++k)
      rows.values[at(k)] *= left[i] * right[at(rows.columns[at(k)])];
  });
}

/// Scales rows on both sides, rounds them, and gives what rounding takes from each for a vector that is
/// constant before scaling, per number of that vector. With it on the diagonal the error is one of couplings,
/// whose energy sum_ij a_ij (x_i - x_j)² changes by 2⁻⁸ at most: smooth vectors, which on a fine mesh have
/// far less than 2⁻⁸ of the energy of the diagonal, keep theirs.
std::vector<float> scale_and_round_rows(const std::vector<Real>& scale, SparseRows& rows) {
  std::vector<float> rounding(at(rows.rows()));
  parallel_for(rounding.size(), [&](std::size_t i) {
    Real taken = 0;
    for (std::size_t k = at(rows.starts[i]); k < at(rows.starts[i + 1]); ++k) {
      const Real of_other = scale[at(rows.columns[k])], value = rows.values[k] * (scale[i] * of_other);
      const Real rounded = static_cast<float>(BFloat16(value));
      if (of_other > 0) taken += (value - rounded) / of_other;
      rows.values[k] = rounded;
    }
    rounding[i] = static_cast<float>(taken * scale[i]);
  });
  return rounding;
}

/// Gershgorin's upper bound of the eigenvalues: the largest row sum of magnitudes.
Real eigenvalue_bound(const Communicator& ranks, const SparseRows& off_diagonal,
                      const std::vector<float>& rounding) {
  Real bound = 0;
  const std::size_t rows = at(off_diagonal.rows());
#pragma omp parallel for reduction(max : bound)
  for (std::size_t i = 0; i < rows; ++i) {
    Real sum = std::abs(1 + (rounding.empty() ? Real(0) : static_cast<Real>(rounding[i])));
    for (std::size_t k = at(off_diagonal.starts[i]); k < at(off_diagonal.starts[i + 1]); ++k)
      sum += std::abs(off_diagonal.values[k]);
    bound = std::max(bound, sum);
  }
  return ranks.maximum(bound);
}

/// What stands on the diagonal of a vector unknown, the matrix's own entry being one.
Eigen::Matrix3d diagonal_with(const Tensor3& stiffness, Real scale) {
  const auto& [x, y, z] = stiffness;
  Eigen::Matrix3d diagonal;
  diagonal << x.x, x.y, x.z, y.x, y.y, y.z, z.x, z.y, z.z;
  diagonal *= scale * scale;
  diagonal += Eigen::Matrix3d::Identity();
  return diagonal;
}

/// The least or the stiffest direction keeps its eigenvalue, whichever differs from the middle one by the
/// larger factor, and the other two get their mean.
std::vector<Vector4<float>> inverse_diagonals(const std::vector<Tensor3>& stiffness,
                                              const std::vector<Real>& scale) {
  std::vector<Vector4<float>> inverse(stiffness.size(), {0, 0, 0, 1});
  parallel_for(inverse.size(), [&](std::size_t i) {
    const Eigen::Matrix3d diagonal = diagonal_with(stiffness[i], scale[i]);
    if (diagonal.isIdentity(0)) return;
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> modes(diagonal);
    const Eigen::Vector3d& values = modes.eigenvalues();
    const bool stiffest = values[2] * values[0] > values[1] * values[1];
    const Eigen::Index apart = stiffest ? 2 : 0;
    const Real across = 2 / (values[1] + values[2 - apart]);
    const Eigen::Vector3d along =
        std::sqrt(std::abs(1 / values[apart] - across)) * modes.eigenvectors().col(apart);
    inverse[i] = {static_cast<float>(along[0]), static_cast<float>(along[1]), static_cast<float>(along[2]),
                  static_cast<float>(stiffest ? -across : across)};
  });
  return inverse;
}

/// Relative to what has been added up and cancelled in a coarse matrix, a bound of its rounding.
constexpr Real rounding_of_products = 1e-13;

/// The pseudo-inverse, row by row, of vectors if there is a stiffness; eigenvalues up to `smallest` count as
/// zero.
std::vector<Real> dense_pseudo_inverse(const SparseRows& off_diagonal, const std::vector<Real>& scale,
                                       const std::vector<Tensor3>& stiffness, Real smallest) {
  const Eigen::Index unknowns = off_diagonal.rows(), components = stiffness.empty() ? 1 : 3;
  const Eigen::Index size = components * unknowns;
  if (size == 0) return {};
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(size, size);
  const auto block = [&](Index i, Index j) {
    return dense.block(components * i, components * j, components, components);
  };
  for (Index i = 0; i < off_diagonal.rows(); ++i) {
    if (!stiffness.empty())
      block(i, i) = diagonal_with(stiffness[at(i)], scale[at(i)]);
    else if (scale[at(i)] > 0)
      block(i, i).setIdentity();
    for (Index k = off_diagonal.starts[at(i)]; k < off_diagonal.starts[at(i) + 1]; ++k)
      block(i, off_diagonal.columns[at(k)]).diagonal().array() += off_diagonal.values[at(k)];
  }
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(dense);
  const Eigen::VectorXd inverse =
      modes.eigenvalues().unaryExpr([&](Real value) { return value > smallest ? 1 / value : 0; });
  const Eigen::MatrixXd result =
      modes.eigenvectors() * inverse.asDiagonal() * modes.eigenvectors().transpose();
  std::vector<Real> rows(at(size * size));
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) rows[at(i * size + j)] = result(i, j);
  }
  return rows;
}

/// The diagonal of Pᵀ D P on the next coarser level, D being diagonal. `fine`: of a level's unknowns, the
/// rows of those whose own restriction this rank has.
template <class T>
std::vector<T> restricted_diagonal(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                                   const SparseRows& restriction, std::vector<T> fine) {
  const std::vector<T> ghosts = values_of_ghosts(ranks, unknowns, [&](Index i) { return fine[at(i)]; });
  fine.insert(fine.end(), ghosts.begin(), ghosts.end());
  std::vector<T> coarse(at(restriction.rows()));
  parallel_for(coarse.size(), [&](std::size_t i) {
    for (Index k = restriction.starts[i]; k < restriction.starts[i + 1]; ++k)
      coarse[i] +=
          restriction.values[at(k)] * restriction.values[at(k)] * fine[at(restriction.columns[at(k)])];
  });
  return coarse;
}

/// Brings what each rank has of an array of `size` together on all.
template <class T>
std::vector<T> brought_together(const Communicator& ranks, const std::vector<Index>& places, Index size,
                                const std::vector<T>& mine) {
  constexpr std::size_t components = sizeof(T) / sizeof(Real);
  std::vector<Real> numbers(at(size) * components, 0);
  for (std::size_t k = 0; k < mine.size(); ++k)
    std::memcpy(&numbers[at(places[k]) * components], &mine[k], sizeof(T));
  ranks.share(numbers);
  std::vector<T> all(at(size));
  if (size > 0) std::memcpy(static_cast<void*>(all.data()), numbers.data(), at(size) * sizeof(T));
  return all;
}

/// Rows of the entities that a rank owns, with those as ghosts that they name. What an owner holds is held by
/// those who have it as a ghost, who need not know.
template <class E>
AggregationLevel finest_level(const Domain& domain, SymmetricMatrix matrix) {
  const Communicator& ranks = domain.communicator();
  if (ranks.ranks() == 1) {
    const Index rows = matrix.rows();
    return {undivided_unknowns(rows), std::move(matrix), {}, {}};
  }
  const Halo<E>& halo = domain.halo<E>();
  SparseRows& rows = matrix.off_diagonal;
  keep_rows(halo.owned().size(), rows);
  std::vector<Index> number(at(halo.all().size()), -1);
  for (const Index column : rows.columns) number[at(column)] = 0;
  std::vector<GlobalIndex> names;
  for (const Id<E> i : halo.owned()) {
    number[at(i.value())] = i.value();
    names.push_back(halo.global(i));
  }
  std::vector<RemoteUnknown> ghosts;
  for (const auto& [rank, entities] : halo.ghosts_by_owner()) {
    for (const Id<E> i : entities) {
      if (number[at(i.value())] < 0) continue;
      number[at(i.value())] = halo.owned().size() + static_cast<Index>(ghosts.size());
      ghosts.push_back({rank, halo.global(i)});
    }
  }
  renumber(rows, number);
  AggregationLevel level;
  level.unknowns = divided_unknowns(ranks, std::move(names), halo.interior().size(), halo.total(), ghosts);
  level.matrix = std::move(matrix);
  find_ghost_diagonal(ranks, level);
  SparseRows& couplings = level.matrix.off_diagonal;
  for (std::size_t k = 0; k < couplings.columns.size(); ++k) {
    if (!(level.matrix.diagonal[at(couplings.columns[k])] > 0)) couplings.values[k] = 0;
  }
  return level;
}

/// How many rows come before the first that names a ghost.
Index rows_without_ghosts(const SparseRows& rows) {
  const auto ghost = std::ranges::find_if(rows.columns, [&](Index column) { return column >= rows.rows(); });
  const auto entry = static_cast<Index>(ghost - rows.columns.begin());
  const auto next = std::ranges::upper_bound(rows.starts, entry);
  return static_cast<Index>(next - rows.starts.begin()) - 1;
}

}  // namespace

template <class E>
MultigridHierarchy make_multigrid_hierarchy(const Domain& domain, SymmetricMatrix matrix, Index whole,
                                            std::optional<std::vector<Tensor3>> given_stiffness) {
  const bool of_vectors = given_stiffness.has_value();  // also of a rank that has none
  std::vector<Tensor3> stiffness = std::move(given_stiffness).value_or(std::vector<Tensor3>());
  const Index coarsest_size = of_vectors ? 42 : 128;
  const Communicator& all = domain.communicator();
  SmoothedAggregation aggregation =
      smoothed_aggregation(all, finest_level<E>(domain, std::move(matrix)), coarsest_size, whole);
  std::vector<AggregationLevel>& levels = aggregation.levels;
  MultigridHierarchy hierarchy;
  hierarchy.divided = aggregation.divided;
  hierarchy.places = std::move(aggregation.places);
  std::vector<Real> scale = scale_to_unit_diagonal(levels[0].matrix);
  hierarchy.scale = hierarchy.divided > 0
                        ? std::vector<Real>(scale.begin(), scale.begin() + levels[0].unknowns.owned)
                        : at_places(scale, hierarchy.places);
  // What the diagonal would be if nothing in it cancelled: so large are the numbers that have left their
  // rounding there.
  std::vector<Real> size(levels[0].matrix.diagonal.begin(),
                         levels[0].matrix.diagonal.begin() + levels[0].unknowns.owned);
  if (of_vectors && hierarchy.divided == 0)
    stiffness = brought_together(all, hierarchy.places, levels[0].unknowns.owned, stiffness);
  Real entries = 0, finest = 0;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    AggregationLevel& level = levels[l];
    const Communicator& ranks = l < hierarchy.divided ? all : *one_rank();
    MultigridHierarchy::Level& scaled = hierarchy.levels.emplace_back();
    scaled.unknowns = std::move(level.unknowns);
    scaled.off_diagonal = std::move(level.matrix.off_diagonal);
    scaled.unknowns.interior = rows_without_ghosts(scaled.off_diagonal);
    entries += static_cast<Real>(total_over(ranks, static_cast<Index>(scaled.off_diagonal.columns.size())) +
                                 scaled.unknowns.total);
    if (l == 0) finest = entries;
    const bool by_inverse = l + 1 == levels.size() && scaled.unknowns.total <= coarsest_size;
    if (by_inverse) {
      scale_rows(scale, scale, scaled.off_diagonal);
    } else {
      scaled.rounding = scale_and_round_rows(scale, scaled.off_diagonal);
    }
    scaled.eigenvalue_bound = eigenvalue_bound(ranks, scaled.off_diagonal, scaled.rounding);
    if (of_vectors) scaled.inverse_diagonal = inverse_diagonals(stiffness, scale);
    if (by_inverse) {
      // On flat cells an eigenvalue that is zero comes out far above the rounding of the scaled matrix.
      Real smallest = rounding_of_products;
      for (std::size_t i = 0; i < size.size(); ++i)
        smallest = std::max(smallest, rounding_of_products * size[i] * scale[i] * scale[i]);
      hierarchy.coarsest_inverse = dense_pseudo_inverse(scaled.off_diagonal, scale, stiffness, smallest);
    }
    if (l + 1 == levels.size()) break;
    const auto restricted = [&]<class T>(std::vector<T> fine) {
      std::vector<T> coarse = restricted_diagonal(ranks, scaled.unknowns, level.restriction, std::move(fine));
      return l + 1 == hierarchy.divided
                 ? brought_together(all, hierarchy.places, levels[l + 1].unknowns.owned, coarse)
                 : coarse;
    };
    size = restricted(std::move(size));
    if (of_vectors) stiffness = restricted(std::move(stiffness));
    const std::vector<Real> coarse_scale = scale_to_unit_diagonal(levels[l + 1].matrix);
    std::vector<Real> unscale(scale.size());
    for (std::size_t i = 0; i < scale.size(); ++i) unscale[i] = scale[i] > 0 ? 1 / scale[i] : 0;
    scaled.prolongation = std::move(level.prolongation);
    scaled.restriction = std::move(level.restriction);
    scale_rows(unscale, coarse_scale, scaled.prolongation);
    scale_rows(l + 1 == hierarchy.divided ? at_places(coarse_scale, hierarchy.places) : coarse_scale, unscale,
               scaled.restriction);
    scale = coarse_scale;
  }
  hierarchy.operator_complexity = entries / finest;
  return hierarchy;
}

template MultigridHierarchy make_multigrid_hierarchy<Node>(const Domain&, SymmetricMatrix, Index,
                                                           std::optional<std::vector<Tensor3>>);
template MultigridHierarchy make_multigrid_hierarchy<Cell>(const Domain&, SymmetricMatrix, Index,
                                                           std::optional<std::vector<Tensor3>>);
template MultigridHierarchy make_multigrid_hierarchy<Edge>(const Domain&, SymmetricMatrix, Index,
                                                           std::optional<std::vector<Tensor3>>);

}  // namespace curlew
