// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/smoothed_aggregation.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "kernels/parallel.hpp"

namespace curlew {

namespace {

/// Gathers the entries of one row; a column seen again is added to. Columns stay in the order of first sight.
class RowAccumulator {
 public:
  explicit RowAccumulator(Index columns) : place_(at(columns), -1) {}

  void add(Index column, Real value) {
    Index& place = place_[at(column)];
    if (place < 0) {
      place = static_cast<Index>(columns_.size());
      columns_.push_back(column);
      values_.push_back(value);
    } else {
      values_[at(place)] += value;
    }
  }
  /// Appends the row to `rows` and forgets it.
  void finish(SparseRows& rows) {
    rows.columns.insert(rows.columns.end(), columns_.begin(), columns_.end());
    rows.values.insert(rows.values.end(), values_.begin(), values_.end());
    rows.starts.push_back(static_cast<Index>(rows.columns.size()));
    for (const Index column : columns_) place_[at(column)] = -1;
    columns_.clear();
    values_.clear();
  }

 private:
  std::vector<Index> place_;  // of a column in the row, or -1
  std::vector<Index> columns_;
  std::vector<Real> values_;
};

/// `rows` rows, row i gathered by `work(i, accumulator)`; blocks of them side by side on all cores.
template <class Work>
SparseRows gather_rows(Index rows, Index columns, const Work& work) {
  constexpr Index block = 1024;
  const Index blocks = (rows + block - 1) / block;
  std::vector<SparseRows> part(at(blocks));
#pragma omp parallel if (blocks > 1)
  {
    RowAccumulator accumulator(columns);
#pragma omp for schedule(dynamic)
    for (Index b = 0; b < blocks; ++b) {
      for (Index i = b * block; i < std::min(rows, (b + 1) * block); ++i) {
        work(i, accumulator);
        accumulator.finish(part[at(b)]);
      }
    }
  }
  std::vector<std::size_t> first(at(blocks) + 1, 0);
  for (std::size_t b = 0; b < part.size(); ++b) first[b + 1] = first[b] + part[b].columns.size();
  SparseRows result;
  result.starts.resize(at(rows) + 1, 0);
  result.columns.resize(first.back());
  result.values.resize(first.back());
#pragma omp parallel for schedule(static) if (blocks > 1)
  for (Index b = 0; b < blocks; ++b) {
    SparseRows& own = part[at(b)];
    const auto shift = static_cast<std::ptrdiff_t>(first[at(b)]);
    std::copy(own.columns.begin(), own.columns.end(), result.columns.begin() + shift);
    std::copy(own.values.begin(), own.values.end(), result.values.begin() + shift);
    for (Index k = 0; k < own.rows(); ++k) {
      result.starts[at(b * block + k) + 1] = own.starts[at(k) + 1] + static_cast<Index>(shift);
    }
    own = {};
  }
  return result;
}

SparseRows transpose(const SparseRows& a, Index columns) {
  SparseRows result;
  result.starts.assign(at(columns) + 1, 0);
  for (const Index c : a.columns) ++result.starts[at(c) + 1];
  for (std::size_t c = 0; c < at(columns); ++c) result.starts[c + 1] += result.starts[c];
  result.columns.resize(a.columns.size());
  result.values.resize(a.values.size());
  std::vector<Index> next(result.starts.begin(), result.starts.end() - 1);
  for (Index i = 0; i < a.rows(); ++i) {
    for (Index k = a.starts[at(i)]; k < a.starts[at(i) + 1]; ++k) {
      const Index place = next[at(a.columns[at(k)])]++;
      result.columns[at(place)] = i;
      result.values[at(place)] = a.values[at(k)];
    }
  }
  return result;
}

/// Which couplings of a matrix count: |a_ij| > threshold sqrt(a_ii a_jj), with a_ij of the sign that drives
/// neighbours together.
class StrongCouplings {
 public:
  StrongCouplings(const SymmetricMatrix& matrix, Real threshold)
      : strong_(matrix.off_diagonal.columns.size()) {
    const SparseRows& rows = matrix.off_diagonal;
    parallel_for(matrix.diagonal.size(), [&](std::size_t i) {
      for (Index k = rows.starts[i]; k < rows.starts[i + 1]; ++k) {
        const Real value = rows.values[at(k)];
        strong_[at(k)] = value < 0 && value * value > threshold * threshold * matrix.diagonal[i] *
                                                          matrix.diagonal[at(rows.columns[at(k)])];
      }
    });
  }
  bool operator[](Index entry) const { return strong_[at(entry)] != 0; }

 private:
  std::vector<char> strong_;
};

constexpr Index none = -1;

/// Groups unknowns with their strongly coupled neighbours; `none` for one that has no such neighbour. Returns
/// the number of groups.
Index aggregate(const SymmetricMatrix& matrix, const StrongCouplings& strong, std::vector<Index>& group) {
  constexpr Index free = -2;
  const SparseRows& rows = matrix.off_diagonal;
  group.assign(at(matrix.rows()), free);
  Index groups = 0;
  const auto for_strong = [&](Index i, const auto& visit) {
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      if (strong[k]) visit(rows.columns[at(k)], rows.values[at(k)]);
    }
  };
  // Whole neighbourhoods first.
  for (Index i = 0; i < matrix.rows(); ++i) {
    bool lonely = true, open = group[at(i)] == free;
    if (!open) continue;
    for_strong(i, [&](Index j, Real) {
      lonely = false;
      open = open && group[at(j)] == free;
    });
    if (lonely) group[at(i)] = none;
    if (lonely || !open) continue;
    group[at(i)] = groups;
    for_strong(i, [&](Index j, Real) { group[at(j)] = groups; });
    ++groups;
  }
  // What is left joins the neighbourhood that it is most strongly coupled to.
  std::vector<std::pair<Index, Index>> joins;
  for (Index i = 0; i < matrix.rows(); ++i) {
    if (group[at(i)] != free) continue;
    Index best = free;
    Real strongest = 0;
    for_strong(i, [&](Index j, Real value) {
      if (group[at(j)] >= 0 && -value > strongest) {
        strongest = -value;
        best = group[at(j)];
      }
    });
    if (best >= 0) joins.emplace_back(i, best);
  }
  for (const auto& [i, best] : joins) group[at(i)] = best;
  // And the rest makes groups of its own.
  for (Index i = 0; i < matrix.rows(); ++i) {
    if (group[at(i)] != free) continue;
    group[at(i)] = groups;
    for_strong(i, [&](Index j, Real) {
      if (group[at(j)] == free) group[at(j)] = groups;
    });
    ++groups;
  }
  return groups;
}

/// (I - omega D⁻¹A) P, A without its weak couplings (what they carry goes to the diagonal, so that constants
/// stay constant) and P constant on each group.
SparseRows smoothed_prolongation(const SymmetricMatrix& matrix, const StrongCouplings& strong,
                                 const std::vector<Index>& group, Index groups) {
  const SparseRows& rows = matrix.off_diagonal;
  // 4/3 of the inverse of the largest eigenvalue of D⁻¹A, which is at most 2 where couplings have one sign.
  constexpr Real omega = Real(2) / 3;
  return gather_rows(matrix.rows(), groups, [&](Index i, RowAccumulator& row) {
    if (group[at(i)] == none) return;
    Real diagonal = matrix.diagonal[at(i)], coupled = 0;
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      if (!strong[k]) {
        diagonal += rows.values[at(k)];
      } else {
        coupled -= rows.values[at(k)];
      }
    }
    // Positive weak couplings may leave less on the diagonal than the strong ones take.
    diagonal = std::max(diagonal, coupled);
    row.add(group[at(i)], 1 - omega);
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      const Index j = rows.columns[at(k)];
      if (strong[k] && group[at(j)] != none) row.add(group[at(j)], -omega * rows.values[at(k)] / diagonal);
    }
  });
}

SymmetricMatrix galerkin_product(const AggregationLevel& level, Index groups) {
  const SymmetricMatrix& a = level.matrix;
  const SparseRows& p = level.prolongation;
  const auto add_row = [&](const SparseRows& rows, Index i, Real factor, RowAccumulator& row) {
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      row.add(rows.columns[at(k)], factor * rows.values[at(k)]);
    }
  };
  const SparseRows ap = gather_rows(a.rows(), groups, [&](Index i, RowAccumulator& row) {
    if (a.diagonal[at(i)] > 0) add_row(p, i, a.diagonal[at(i)], row);
    for (Index k = a.off_diagonal.starts[at(i)]; k < a.off_diagonal.starts[at(i) + 1]; ++k) {
      if (a.off_diagonal.values[at(k)] != 0) {
        add_row(p, a.off_diagonal.columns[at(k)], a.off_diagonal.values[at(k)], row);
      }
    }
  });
  const SparseRows product = gather_rows(groups, groups, [&](Index i, RowAccumulator& row) {
    for (Index k = level.restriction.starts[at(i)]; k < level.restriction.starts[at(i) + 1]; ++k) {
      add_row(ap, level.restriction.columns[at(k)], level.restriction.values[at(k)], row);
    }
  });
  SymmetricMatrix coarse;
  coarse.diagonal.assign(at(groups), 0);
  coarse.off_diagonal = gather_rows(groups, groups, [&](Index i, RowAccumulator& row) {
    for (Index k = product.starts[at(i)]; k < product.starts[at(i) + 1]; ++k) {
      if (product.columns[at(k)] == i) {
        coarse.diagonal[at(i)] = product.values[at(k)];
      } else {
        row.add(product.columns[at(k)], product.values[at(k)]);
      }
    }
  });
  return coarse;
}

}  // namespace

std::vector<AggregationLevel> smoothed_aggregation(SymmetricMatrix matrix, Index coarsest) {
  std::vector<AggregationLevel> levels(1);
  levels[0].matrix = std::move(matrix);
  // On cubes all couplings of a node of finite elements are a twentieth of its diagonal. Smoothed
  // prolongations spread the couplings of coarse levels thin: the bar is lowered with them.
  constexpr Real twentieth_and_less = 0.04;
  for (Real threshold = 0.08; levels.back().matrix.rows() > coarsest; threshold /= 2) {
    AggregationLevel& fine = levels.back();
    const StrongCouplings strong(fine.matrix, std::min(threshold, twentieth_and_less));
    std::vector<Index> group;
    const Index groups = aggregate(fine.matrix, strong, group);
    if (groups == 0 || groups > fine.matrix.rows() / 10 * 9) break;
    fine.prolongation = smoothed_prolongation(fine.matrix, strong, group, groups);
    fine.restriction = transpose(fine.prolongation, groups);
    AggregationLevel coarse;
    coarse.matrix = galerkin_product(fine, groups);
    levels.push_back(std::move(coarse));
  }
  return levels;
}

}  // namespace curlew
