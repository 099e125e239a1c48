// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/strong_couplings.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "kernels/parallel.hpp"
#include "solvers/multigrid/rows_in_transit.hpp"

namespace curlew {

namespace {

/// Couplings of the wrong sign below this share of the diagonal, rounding among them, are let be.
constexpr Real least_wrong = 1e-3;

/// Of couplings over the diagonal: so fast, at least, smoothing alone takes an error away.
constexpr Real most_for_smoother = 0.9;

/// Calls `body(k)` for the entries of a row.
template <class Body>
void for_each_entry(const SparseRows& rows, Index i, const Body& body) {
  for (Index k = rows.starts[at(i)], last = rows.starts[at(i) + 1]; k < last; ++k) body(at(k));
}

bool has_wrong_sign(const SymmetricMatrix& matrix, std::size_t i, std::size_t entry) {
  return matrix.off_diagonal.values[entry] > least_wrong * matrix.diagonal[i];
}

bool any_has_wrong_sign(const Communicator& ranks, const SymmetricMatrix& matrix) {
  const SparseRows& rows = matrix.off_diagonal;
  bool any = false;
#pragma omp parallel for reduction(|| : any)
  for (Index i = 0; i < rows.rows(); ++i)
    for_each_entry(rows, i, [&](std::size_t k) { any = any || has_wrong_sign(matrix, at(i), k); });
  return ranks.maximum(any ? 1 : 0) > 0;
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
                                 const SymmetricMatrix& matrix) {
  const SparseRows& rows = matrix.off_diagonal;
  const SparseRows of_ghosts_too = ranks.ranks() > 1 ? with_ghosts(ranks, unknowns, rows) : SparseRows();
  const SparseRows& held = ranks.ranks() > 1 ? of_ghosts_too : rows;
  std::vector<Real> left = rows.values;
#pragma omp parallel
  {
    constexpr Index nowhere = -1;
    std::vector<Index> place(at(unknowns.all) + 1, nowhere);  // of a coupling that may take a share
#pragma omp for
    for (Index i = 0; i < rows.rows(); ++i) {
      for_each_entry(rows, i, [&](std::size_t k) {
        if (rows.values[k] < 0) place[at(rows.columns[k])] = static_cast<Index>(k);
      });
      for_each_entry(rows, i, [&](std::size_t k) {
        if (!has_wrong_sign(matrix, at(i), k)) return;
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
  return left;
}

}  // namespace

StrongCouplings::StrongCouplings(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                                 const SymmetricMatrix& matrix, Real threshold)
    : rows_(matrix.off_diagonal),
      strong_(matrix.off_diagonal.columns.size()),
      left_to_smoother_(at(matrix.off_diagonal.rows())) {
  std::vector<Real> left_of_couplings;
  const bool share_out = any_has_wrong_sign(ranks, matrix);
  if (share_out) left_of_couplings = couplings_left(ranks, unknowns, matrix);
  // A char may be part of anything: through the vectors all would be read anew after each that is written.
  char *const strong = strong_.data(), *const left_to_smoother = left_to_smoother_.data();
  const Index* const columns = rows_.columns.data();
  const Real *const given = rows_.values.data(), *const diagonal = matrix.diagonal.data(),
                    *const left = share_out ? left_of_couplings.data() : given;
  parallel_for(at(rows_.rows()), [=, this](std::size_t i) {
    const Real bar = threshold * threshold * diagonal[i];
    Real coupled = 0;
    bool any = false;
    for (Index k = rows_.starts[i], last = rows_.starts[i + 1]; k < last; ++k) {
      strong[k] = given[k] < 0 && left[k] < given[k] / 2 && left[k] * left[k] > bar * diagonal[columns[k]];
      any = any || strong[k] != 0;
      coupled += std::abs(given[k]);
    }
    left_to_smoother[i] = !any && coupled <= most_for_smoother * diagonal[i];
  });
}

}  // namespace curlew
