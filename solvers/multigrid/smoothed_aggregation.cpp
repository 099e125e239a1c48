// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/smoothed_aggregation.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

#include "solvers/multigrid/aggregation.hpp"
#include "solvers/multigrid/rows_in_transit.hpp"
#include "solvers/multigrid/sparse_rows.hpp"

namespace curlew {

namespace {

/// (I - omega D⁻¹A) P, A without its weak couplings (what they carry goes to the diagonal, so that constants
/// stay constant) and P constant on each group.
SparseRows smoothed_prolongation(const SymmetricMatrix& matrix, const StrongCouplings& strong,
                                 const Aggregates& groups) {
  const SparseRows& rows = matrix.off_diagonal;
  const std::vector<Index>& group = groups.number;
  // 4/3 of the inverse of the largest eigenvalue of D⁻¹A, which is at most 2 where couplings have one sign.
  constexpr Real omega = Real(2) / 3;
  return gather_rows(rows.rows(), groups.numbers.size(), [&](Index i, RowAccumulator& row) {
    if (group[at(i)] == Aggregates::none) return;
    Real diagonal = matrix.diagonal[at(i)], coupled = 0;
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      if (!strong[k]) {
        diagonal += rows.values[at(k)];
      } else {
        coupled -= rows.values[at(k)];
      }
    }
    if (coupled == 0) {  // a group by itself, between others that are coupled more strongly within
      row.add(group[at(i)], 1);
      return;
    }
    // Positive weak couplings may leave less on the diagonal than the strong ones take.
    diagonal = std::max(diagonal, coupled);
    row.add(group[at(i)], 1 - omega);
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      const Index j = rows.columns[at(k)];
      if (strong[k] && group[at(j)] != Aggregates::none)
        row.add(group[at(j)], -omega * rows.values[at(k)] / diagonal);
    }
  });
}

/// The rows of A and P that the rows of a coarse matrix are made of: first those of the unknowns that a rank
/// owns, then those of others that its groups reach.
struct FineRows {
  SparseRows prolongation, product;   // P and A P
  std::vector<RemoteUnknown> others;  // of which the rows after the rank's own are
};

/// Rows of A P, and each to all ranks that need it. Expects the prolongation's rows of ghosts too.
FineRows fine_rows(const Communicator& ranks, const AggregationLevel& level, SparseRows prolongation,
                   UnknownNumbers& numbers) {
  const SymmetricMatrix& a = level.matrix;
  const Index owned = level.unknowns.owned;
  FineRows fine;
  fine.product = gather_rows(owned, numbers.size(), [&](Index i, RowAccumulator& row) {
    if (a.diagonal[at(i)] > 0) row.add_row(prolongation, i, a.diagonal[at(i)]);
    for (Index k = a.off_diagonal.starts[at(i)]; k < a.off_diagonal.starts[at(i) + 1]; ++k) {
      if (a.off_diagonal.values[at(k)] != 0)
        row.add_row(prolongation, a.off_diagonal.columns[at(k)], a.off_diagonal.values[at(k)]);
    }
  });
  keep_rows(owned, prolongation);
  fine.prolongation = std::move(prolongation);
  if (ranks.ranks() == 1) return fine;

  const auto names = [&](Index column) { return numbers.unknown(column); };
  const auto number = [&](RemoteUnknown unknown) { return numbers.number(unknown); };
  struct Parcel {
    std::vector<GlobalIndex> names;
    RowsInTransit prolongation, product;
  };
  std::map<int, Parcel> parcels;
  for (Index i = 0; i < owned; ++i) {
    for (Index k = fine.prolongation.starts[at(i)]; k < fine.prolongation.starts[at(i) + 1]; ++k) {
      const Index column = fine.prolongation.columns[at(k)];
      if (column < numbers.own()) continue;
      Parcel& parcel = parcels[numbers.unknown(column).owner];
      const GlobalIndex name = name_of(level.unknowns, i);
      if (!parcel.names.empty() && parcel.names.back() == name) continue;
      parcel.names.push_back(name);
      parcel.prolongation.add(fine.prolongation, i, names);
      parcel.product.add(fine.product, i, names);
    }
  }
  std::vector<Communicator::Letter> letters;
  for (const auto& [rank, parcel] : parcels) {
    Packer packer;
    packer << parcel.names << parcel.prolongation << parcel.product;
    letters.push_back({rank, std::move(packer.bytes)});
  }
  for (const Communicator::Letter& letter : ranks.deliver(std::move(letters))) {
    Parcel parcel;
    Unpacker unpacker(letter.bytes);
    unpacker >> parcel.names >> parcel.prolongation >> parcel.product;
    for (const GlobalIndex name : parcel.names) fine.others.push_back({letter.rank, name});
    parcel.prolongation.append_to(fine.prolongation, number);
    parcel.product.append_to(fine.product, number);
  }
  return fine;
}

/// Rows of the coarse matrix, the diagonal among the other entries.
SparseRows coarse_rows(const SparseRows& restriction, const FineRows& fine, const UnknownNumbers& numbers) {
  const SparseRows& product = fine.product;
  const auto last_entry = static_cast<Index>(restriction.columns.size()) - 1;
  // Rows of the product lie apart in memory: they are called for before their turn.
  const auto call_for = [&](Index entry) {
    constexpr Index ahead = 6;
    const Index i = restriction.columns[at(std::min(entry + ahead, last_entry))];
    const Index first = product.starts[at(i)];
    __builtin_prefetch(product.columns.data() + first);
    __builtin_prefetch(product.values.data() + first);
    __builtin_prefetch(product.values.data() + product.starts[at(i) + 1]);
  };
  return gather_rows(restriction.rows(), numbers.size(), [&](Index i, RowAccumulator& row) {
    for (Index k = restriction.starts[at(i)]; k < restriction.starts[at(i) + 1]; ++k) {
      call_for(k);
      row.add_row(product, restriction.columns[at(k)], restriction.values[at(k)]);
    }
  });
}

Index place_of(const std::vector<GlobalIndex>& names, GlobalIndex name) {
  return static_cast<Index>(std::ranges::lower_bound(names, name) - names.begin());
}

/// Adds to the ghosts of the last level, and gives the columns of `rows` their numbers: of unknowns that the
/// rank owns they are right, and those after them are counted through `others`.
void add_ghosts(const Communicator& ranks, std::vector<AggregationLevel>& levels,
                const std::vector<RemoteUnknown>& others, SparseRows& rows) {
  if (ranks.ranks() == 1) return;
  AggregationLevel& level = levels.back();
  const std::vector<RemoteUnknown> before = ghosts_of(level.unknowns);
  std::vector<RemoteUnknown> after = before;
  after.insert(after.end(), others.begin(), others.end());
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  const Index owned = level.unknowns.owned;
  const auto numbers = [&](const std::vector<RemoteUnknown>& ghosts) {
    std::vector<Index> number(at(owned));
    std::iota(number.begin(), number.end(), 0);
    for (const RemoteUnknown& ghost : ghosts)
      number.push_back(owned + static_cast<Index>(std::ranges::lower_bound(after, ghost) - after.begin()));
    return number;
  };
  renumber(rows, numbers(others));
  renumber(level.matrix.off_diagonal, numbers(before));
  if (levels.size() > 1) renumber(levels[levels.size() - 2].prolongation, numbers(before));
  std::vector<GlobalIndex> names = std::move(level.unknowns.global);
  names.resize(at(owned));
  level.unknowns =
      divided_unknowns(ranks, std::move(names), level.unknowns.interior, level.unknowns.total, after);
  find_ghost_diagonal(ranks, level);
}

/// How the unknowns of a coarse level are numbered in the end.
struct CoarseNumbers {
  std::vector<Index> own_order;  ///< of those that the rank owns: interior ones first
  Index interior;
  std::vector<RemoteUnknown> ghosts;  ///< that the given rows name
  std::vector<Index> number;          ///< of each unknown that was met
};

CoarseNumbers final_numbers(const UnknownNumbers& numbers, const SparseRows& matrix,
                            const SparseRows& prolongation) {
  CoarseNumbers result;
  if (numbers.size() == numbers.own()) {  // no others: all numbers stay
    result.own_order.resize(at(numbers.own()));
    std::iota(result.own_order.begin(), result.own_order.end(), 0);
    result.interior = numbers.own();
    result.number = result.own_order;
    return result;
  }
  std::vector<Index> boundary;
  std::vector<char> is_named(at(numbers.size()), 0);
  for (Index i = 0; i < numbers.own(); ++i) {
    bool interior = true;
    for (Index k = matrix.starts[at(i)]; k < matrix.starts[at(i) + 1]; ++k) {
      const Index column = matrix.columns[at(k)];
      is_named[at(column)] = 1;
      interior = interior && column < numbers.own();
    }
    (interior ? result.own_order : boundary).push_back(i);
  }
  for (const Index column : prolongation.columns) is_named[at(column)] = 1;
  result.interior = static_cast<Index>(result.own_order.size());
  result.own_order.insert(result.own_order.end(), boundary.begin(), boundary.end());
  for (Index g = numbers.own(); g < numbers.size(); ++g) {
    if (is_named[at(g)] != 0) result.ghosts.push_back(numbers.unknown(g));
  }
  std::ranges::sort(result.ghosts);
  result.number.assign(at(numbers.size()), Aggregates::none);
  for (std::size_t k = 0; k < result.own_order.size(); ++k)
    result.number[at(result.own_order[k])] = static_cast<Index>(k);
  for (Index g = numbers.own(); g < numbers.size(); ++g) {
    if (is_named[at(g)] == 0) continue;
    const auto place = std::ranges::lower_bound(result.ghosts, numbers.unknown(g));
    result.number[at(g)] = numbers.own() + static_cast<Index>(place - result.ghosts.begin());
  }
  return result;
}

SymmetricMatrix in_order(const SymmetricMatrix& matrix, const std::vector<Index>& order) {
  SymmetricMatrix result{rows_in_order(matrix.off_diagonal, order), {}};
  for (const Index i : order) result.diagonal.push_back(matrix.diagonal[at(i)]);
  return result;
}

/// The next level after the last, with the way to it; none if it would hardly be smaller. `run`: see
/// aggregate().
std::optional<AggregationLevel> coarsen(const Communicator& ranks, std::vector<AggregationLevel>& levels,
                                        Real threshold, GlobalIndex run) {
  AggregationLevel& level = levels.back();
  const StrongCouplings strong(ranks, level.unknowns, level.matrix, threshold);
  Aggregates groups = aggregate(ranks, level.unknowns, strong, run);
  UnknownNumbers& numbers = groups.numbers;
  const GlobalIndex total = total_over(ranks, numbers.own());
  if (total == 0 || total > level.unknowns.total / 10 * 9) return std::nullopt;

  SparseRows prolongation = smoothed_prolongation(level.matrix, strong, groups);
  append_ghost_rows(
      ranks, level.unknowns, prolongation, [&](Index column) { return numbers.unknown(column); },
      [&](RemoteUnknown unknown) { return numbers.number(unknown); });
  FineRows fine = fine_rows(ranks, level, std::move(prolongation), numbers);
  std::vector<GlobalIndex> names;  // of the fine rows; none: their numbers
  if (!level.unknowns.global.empty()) {
    names.assign(level.unknowns.global.begin(), level.unknowns.global.begin() + level.unknowns.owned);
    for (const RemoteUnknown& other : fine.others) names.push_back(other.name);
  }
  SparseRows restriction =
      transpose(fine.prolongation, numbers.own(), in_order_of_names(fine.prolongation.rows(), names));
  SparseRows product = coarse_rows(restriction, fine, numbers);
  fine.product = {};
  keep_rows(level.unknowns.owned, fine.prolongation);

  const CoarseNumbers coarse_numbers = final_numbers(numbers, product, fine.prolongation);
  const auto& [own_order, interior, ghosts, number] = coarse_numbers;
  AggregationLevel coarse;
  std::vector<GlobalIndex> coarse_names;
  for (const Index g : own_order) coarse_names.push_back(numbers.unknown(g).name);
  coarse.unknowns = divided_unknowns(ranks, std::move(coarse_names), interior, total, ghosts);
  coarse.matrix = split(std::move(product));
  if (interior < numbers.size()) {
    coarse.matrix = in_order(coarse.matrix, own_order);
    renumber(coarse.matrix.off_diagonal, number);
    renumber(fine.prolongation, number);
  }
  find_ghost_diagonal(ranks, coarse);

  level.prolongation = std::move(fine.prolongation);
  if (interior < coarse.unknowns.owned) restriction = rows_in_order(restriction, own_order);
  add_ghosts(ranks, levels, fine.others, restriction);
  level.restriction = std::move(restriction);
  return coarse;
}

/// A level that is whole, on every rank, in the order of names.
AggregationLevel brought_together(const Communicator& ranks, const AggregationLevel& level) {
  const SparseRows& rows = level.matrix.off_diagonal;
  const auto owned = static_cast<std::ptrdiff_t>(level.unknowns.owned);
  std::vector<GlobalIndex> names(level.unknowns.global.begin(), level.unknowns.global.begin() + owned);
  std::vector<GlobalIndex> columns;
  for (const Index column : rows.columns) columns.push_back(level.unknowns.global[at(column)]);
  std::vector<Real> diagonal(level.matrix.diagonal.begin(), level.matrix.diagonal.begin() + owned);
  Packer packer;
  packer << names << rows.starts << columns << rows.values << diagonal;
  std::vector<std::byte> bytes = std::move(packer.bytes);
  if (ranks.rank() == 0) {
    for (int r = 1; r < ranks.ranks(); ++r) {
      const std::vector<std::byte> theirs = ranks.receive(r);
      bytes.insert(bytes.end(), theirs.begin(), theirs.end());
    }
  } else {
    ranks.send(0, bytes);
  }
  ranks.broadcast(0, bytes);

  std::vector<GlobalIndex> all_names, all_columns;
  SymmetricMatrix all;
  for (Unpacker unpacker(bytes); !unpacker.empty();) {
    SparseRows part;
    unpacker >> names >> part.starts >> columns >> part.values >> diagonal;
    for (std::size_t i = 0; i < names.size(); ++i)
      all.off_diagonal.starts.push_back(all.off_diagonal.starts.back() + part.starts[i + 1] - part.starts[i]);
    all_names.insert(all_names.end(), names.begin(), names.end());
    all_columns.insert(all_columns.end(), columns.begin(), columns.end());
    all.off_diagonal.values.insert(all.off_diagonal.values.end(), part.values.begin(), part.values.end());
    all.diagonal.insert(all.diagonal.end(), diagonal.begin(), diagonal.end());
  }
  AggregationLevel whole;
  const auto size = static_cast<Index>(all_names.size());
  whole.unknowns = undivided_unknowns(size);
  const std::vector<Index> order = in_order_of_names(size, all_names);
  for (const Index i : order) {
    whole.unknowns.global.push_back(all_names[at(i)]);
    whole.matrix.diagonal.push_back(all.diagonal[at(i)]);
  }
  for (const GlobalIndex name : all_columns)
    all.off_diagonal.columns.push_back(place_of(whole.unknowns.global, name));
  whole.matrix.off_diagonal = rows_in_order(all.off_diagonal, order);
  return whole;
}

}  // namespace

void find_ghost_diagonal(const Communicator& ranks, AggregationLevel& level) {
  std::vector<Real>& diagonal = level.matrix.diagonal;
  diagonal.resize(at(level.unknowns.owned));
  const std::vector<Real> ghosts =
      values_of_ghosts(ranks, level.unknowns, [&](Index i) { return diagonal[at(i)]; });
  diagonal.insert(diagonal.end(), ghosts.begin(), ghosts.end());
}

SmoothedAggregation smoothed_aggregation(const Communicator& ranks, AggregationLevel finest, Index coarsest,
                                         Index whole) {
  SmoothedAggregation result;
  std::vector<AggregationLevel>& levels = result.levels;
  // So long that neighbours seldom are in different ones, and too short for a chain through the whole of a
  // large mesh. Coarser levels have fewer names among as many numbers.
  constexpr GlobalIndex run = 1 << 20;
  const GlobalIndex numbers = finest.unknowns.total;
  levels.push_back(std::move(finest));
  const Communicator* workers = &ranks;
  // On cubes all couplings of a node of finite elements are a twentieth of its diagonal. Smoothed
  // prolongations spread the couplings of coarse levels thin: the bar is lowered with them.
  constexpr Real twentieth_and_less = 0.04;
  for (Real threshold = 0.08;; threshold /= 2) {
    const GlobalIndex total = levels.back().unknowns.total;
    if (workers->ranks() > 1 && total <= std::max(whole, coarsest)) {
      AggregationLevel divided = std::move(levels.back());
      levels.back() = brought_together(ranks, divided);
      std::vector<Index> places;
      for (const GlobalIndex name : divided.unknowns.global)
        places.push_back(place_of(levels.back().unknowns.global, name));
      if (levels.size() > 1) renumber(levels[levels.size() - 2].prolongation, places);
      places.resize(at(divided.unknowns.owned));
      result.places = std::move(places);
      result.divided = levels.size() - 1;
      workers = one_rank().get();
    }
    if (total <= coarsest) break;
    std::optional<AggregationLevel> coarse =
        coarsen(*workers, levels, std::min(threshold, twentieth_and_less), run * (numbers / total));
    if (!coarse) break;
    levels.push_back(std::move(*coarse));
  }
  if (workers == &ranks) result.divided = levels.size();
  return result;
}

}  // namespace curlew
