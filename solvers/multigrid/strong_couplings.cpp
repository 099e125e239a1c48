// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/strong_couplings.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "kernels/region_failure.hpp"
#include "solvers/multigrid/rows_in_transit.hpp"

namespace curlew {

namespace {

/// Couplings of the wrong sign below this share of the diagonal for each of the threshold, rounding among
/// them, are let be: they are too small to take back much of a coupling that counts.
constexpr Real least_wrong = 0.25;

/// Of couplings over the diagonal: so fast, at least, smoothing alone takes an error away.
constexpr Real most_for_smoother = 0.9;

/// Calls `body(k)` for the entries of a row.
template <class Body>
void for_each_entry(const SparseRows& rows, Index i, const Body& body) {
  for (Index k = rows.starts[at(i)], last = rows.starts[at(i) + 1]; k < last; ++k) body(at(k));
}

/// The rows of a rank's own unknowns and of its ghosts; columns that are neither have the number after all.
SparseRows with_ghosts(const Communicator& ranks, const HaloParts<Unknown>& unknowns, SparseRows rows) {
  const std::vector<RemoteUnknown> ghosts = ghosts_of(unknowns);
  std::unordered_map<GlobalIndex, Index> number;
  for (Index i = 0; i < unknowns.all; ++i) number[name_of(unknowns, i)] = i;
  append_ghost_rows(
      ranks, unknowns, rows,
      [&](Index i) {
        return i < unknowns.owned ? RemoteUnknown{ranks.rank(), name_of(unknowns, i)}
                                  : ghosts[at(i - unknowns.owned)];
      },
      [&](RemoteUnknown unknown) {
        const auto found = number.find(unknown.name);
        return found == number.end() ? unknowns.all : found->second;
      });
  return rows;
}

/// What is left of the couplings if those of the wrong sign are shared out. By all ranks together.
std::vector<Real> couplings_left(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                                 const SymmetricMatrix& matrix, Real threshold) {
  const SparseRows& rows = matrix.off_diagonal;
  const SparseRows of_ghosts_too = ranks.ranks() > 1 ? with_ghosts(ranks, unknowns, rows) : SparseRows();
  const SparseRows& held = ranks.ranks() > 1 ? of_ghosts_too : rows;
  std::vector<Real> left = rows.values;
  RegionFailure failure;  // memory may run short
#pragma omp parallel
  {
    constexpr Index nowhere = -1;
    std::vector<Index> place;  // of a coupling that may take a share
    failure.unless_failed([&] { place.assign(at(unknowns.all) + 1, nowhere); });
#pragma omp for
    for (Index i = 0; i < rows.rows(); ++i) {
      if (place.empty()) continue;
      for_each_entry(rows, i, [&](std::size_t k) {
        if (rows.values[k] < 0) place[at(rows.columns[k])] = static_cast<Index>(k);
      });
      for_each_entry(rows, i, [&](std::size_t k) {
        if (rows.values[k] <= least_wrong * threshold * matrix.diagonal[at(i)]) return;
        const auto share = [&](std::size_t e) {
          return place[at(held.columns[e])] == nowhere ? 0 : std::min(held.values[e], Real(0));
        };
        Real sum = 0;
        for_each_entry(held, rows.columns[k], [&](std::size_t e) { sum += share(e); });
        if (sum == 0) return;
        for_each_entry(held, rows.columns[k], [&](std::size_t e) {
          if (share(e) < 0) left[at(place[at(held.columns[e])])] += rows.values[k] * (share(e) / sum);
        });
      });
      for_each_entry(rows, i, [&](std::size_t k) { place[at(rows.columns[k])] = nowhere; });
    }
  }
  failure.rethrow();
  return left;
}

}  // namespace

StrongCouplings::StrongCouplings(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                                 const SymmetricMatrix& matrix, Real threshold)
    : rows_(matrix.off_diagonal),
      strong_(matrix.off_diagonal.columns.size()),
      left_to_smoother_(at(matrix.off_diagonal.rows())) {
  if (ranks.maximum(mark(matrix, rows_.values, threshold) ? 1 : 0) > 0)
    mark(matrix, couplings_left(ranks, unknowns, matrix, threshold), threshold);
}

bool StrongCouplings::mark(const SymmetricMatrix& matrix, const std::vector<Real>& left_of_couplings,
                           Real threshold) {
  // A char may be part of anything: through the vectors all would be read anew after each that is written.
  char *const strong = strong_.data(), *const left_to_smoother = left_to_smoother_.data();
  const Index *const starts = rows_.starts.data(), *const columns = rows_.columns.data();
  const Real *const given = rows_.values.data(), *const diagonal = matrix.diagonal.data(),
                    *const left = left_of_couplings.data();
  const Index rows = rows_.rows();
  bool any_wrong = false;
#pragma omp parallel for reduction(|| : any_wrong)
  for (Index i = 0; i < rows; ++i) {
    const Index first = starts[i], last = starts[i + 1];
    const Real bar = threshold * threshold * diagonal[i];
    Real largest = 0;
    char any_strong = 0;
    for (Index k = first; k < last; ++k) {
      largest = std::max(largest, given[k]);
      strong[k] = given[k] < 0 && left[k] < given[k] / 2 && left[k] * left[k] > bar * diagonal[columns[k]];
      any_strong |= strong[k];
    }
    any_wrong = any_wrong || largest > least_wrong * threshold * diagonal[i];
    left_to_smoother[i] = 0;
    if (any_strong != 0) continue;
    Real coupled = 0;
    for (Index k = first; k < last; ++k) coupled += std::abs(given[k]);
    left_to_smoother[i] = coupled <= most_for_smoother * diagonal[i];
  }
  return any_wrong;
}

}  // namespace curlew
