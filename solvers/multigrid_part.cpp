// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid_part.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "mesh/gather.hpp"

namespace curlew {

namespace {

using Level = MultigridHierarchy::Level;

/// Whose an unknown is, and which of those it owns.
struct Home {
  Index rank, number;
};

/// The homes of all entities, on rank 0.
template <class E>
std::vector<Home> gathered_homes(const Domain& domain) {
  std::vector<Home> homes;
  for (const Id<E> i : domain.halo<E>().all()) homes.push_back({domain.communicator().rank(), i.value()});
  return gathered<E>(domain, std::span<const Home>(homes));
}

/// The matrix of all entities on rank 0, as a rank that had them all would have made it.
template <class E>
SymmetricMatrix gathered_matrix(const Domain& domain, SymmetricMatrix matrix) {
  const Halo<E>& halo = domain.halo<E>();
  const std::size_t rows = at(halo.owned().size()), entries = at(matrix.off_diagonal.starts[rows]);
  SymmetricMatrix whole;
  whole.diagonal = gathered<E>(domain, std::span<const Real>(matrix.diagonal));

  Lists<Real> values;
  values.starts.assign(matrix.off_diagonal.starts.begin(),
                       matrix.off_diagonal.starts.begin() + static_cast<std::ptrdiff_t>(rows) + 1);
  values.entries = std::move(matrix.off_diagonal.values);
  values.entries.resize(entries);
  Lists<Index> columns{values.starts, std::move(matrix.off_diagonal.columns)};
  columns.entries.resize(entries);
  for (Index& column : columns.entries) column = static_cast<Index>(halo.global(Id<E>(column)));
  whole.off_diagonal.values = gathered_lists<E>(domain, values).entries;
  columns = gathered_lists<E>(domain, columns);
  REQUIRE(columns.starts.back() <= std::numeric_limits<Index>::max(),
          "the matrix of the whole mesh has " + std::to_string(columns.starts.back()) +
              " entries, too many for one rank to make a multigrid hierarchy of; use the preconditioner "
              "'jacobi'");
  whole.off_diagonal.columns = std::move(columns.entries);
  whole.off_diagonal.starts.clear();
  for (const std::int64_t start : columns.starts)
    whole.off_diagonal.starts.push_back(static_cast<Index>(start));
  // A rank need not know which unknowns of the others are held.
  if (domain.communicator().rank() == 0) hold(whole, [&](std::size_t i) { return !(whole.diagonal[i] > 0); });
  return whole;
}

/// Rows of a table, with other numbers for their columns; none: the same.
SparseRows cut(const SparseRows& rows, const std::vector<Index>& which, const std::vector<Index>* number) {
  SparseRows part;
  for (const Index i : which) {
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
      const Index column = rows.columns[at(k)];
      part.columns.push_back(number != nullptr ? (*number)[at(column)] : column);
      part.values.push_back(rows.values[at(k)]);
    }
    part.starts.push_back(static_cast<Index>(part.columns.size()));
  }
  return part;
}

/// Cuts a hierarchy into what the ranks have of it, but for the whole levels, which it leaves.
class HierarchyDivider {
 public:
  /// `homes`: of the finest unknowns.
  HierarchyDivider(const MultigridHierarchy& hierarchy, std::vector<Home> homes, int ranks, Index whole)
      : hierarchy_(hierarchy), ranks_(at(ranks)) {
    const std::vector<Level>& levels = hierarchy.levels;
    const bool has_inverse = !hierarchy.coarsest_inverse.empty();
    while (divided_ < levels.size() && levels[divided_].off_diagonal.rows() > whole &&
           !(has_inverse && divided_ + 1 == levels.size()))
      ++divided_;
    division_.push_back(divide(std::move(homes)));
    for (std::size_t l = 0; l < divided_ && l + 1 < levels.size(); ++l)
      division_.push_back(
          divide(coarse_homes(levels[l].restriction, division_[l].homes, levels[l + 1].off_diagonal)));
    for (std::size_t l = 0; l < divided_; ++l) find_ghosts(l);
  }

  std::size_t divided() const { return divided_; }

  MultigridPart part(std::size_t rank) {
    MultigridPart part;
    for (std::size_t l = 0; l < divided_; ++l)
      part.halos.push_back(number(division_[l], rank, hierarchy_.levels[l].off_diagonal));
    for (std::size_t l = 0; l < divided_; ++l) {
      const Level& level = hierarchy_.levels[l];
      const Division& division = division_[l];
      Level& mine = part.hierarchy.levels.emplace_back();
      mine.largest_eigenvalue = level.largest_eigenvalue;
      mine.off_diagonal = cut(level.off_diagonal, division.owned[rank], &division.local);
      if (l + 1 == hierarchy_.levels.size()) break;
      const Division& coarse = division_[l + 1];
      mine.prolongation =
          cut(level.prolongation, division.owned[rank], l + 1 < divided_ ? &coarse.local : nullptr);
      mine.restriction = cut(level.restriction, coarse.owned[rank], &division.local);
    }
    for (const Index i : division_[0].owned[rank]) part.hierarchy.scale.push_back(hierarchy_.scale[at(i)]);
    if (divided_ < hierarchy_.levels.size()) part.places = division_[divided_].owned[rank];
    return part;
  }

 private:
  struct Division {
    std::vector<Home> homes;
    std::vector<std::vector<Index>> owned;   // by each rank
    std::vector<std::vector<Index>> ghosts;  // that each rank needs, by owner
    /// Of each rank, which ones of its unknowns others need.
    struct Need {
      int rank;
      std::vector<Index> numbers;
    };
    std::vector<std::vector<Need>> needs;
    std::vector<Index> local;  // of what the rank at hand has, its numbers for them
  };

  Division divide(std::vector<Home> homes) const {
    Division division;
    division.owned.resize(ranks_);
    for (const Home& home : homes) {
      std::vector<Index>& owned = division.owned[at(home.rank)];
      owned.resize(std::max(owned.size(), at(home.number) + 1));
    }
    for (std::size_t i = 0; i < homes.size(); ++i)
      division.owned[at(homes[i].rank)][at(homes[i].number)] = static_cast<Index>(i);
    division.homes = std::move(homes);
    division.ghosts.resize(ranks_);
    division.needs.resize(ranks_);
    return division;
  }

  /// A coarse unknown goes to the owner of the finer one that counts most for it. Those whose rows need no
  /// ghosts come first on each rank.
  std::vector<Home> coarse_homes(const SparseRows& restriction, const std::vector<Home>& fine,
                                 const SparseRows& matrix) const {
    std::vector<Home> homes;
    for (Index i = 0; i < restriction.rows(); ++i) {
      const auto first = restriction.values.begin() + restriction.starts[at(i)];
      const auto last = restriction.values.begin() + restriction.starts[at(i) + 1];
      const auto most =
          std::max_element(first, last, [](Real a, Real b) { return std::abs(a) < std::abs(b); });
      const Index column = restriction.columns[at(most - restriction.values.begin())];
      homes.push_back({fine[at(column)].rank, 0});
    }
    std::vector<Index> next(ranks_, 0);
    for (const bool interior : {true, false}) {
      for (Index i = 0; i < restriction.rows(); ++i) {
        Home& home = homes[at(i)];
        if (needs_no_ghosts(matrix, i, homes) == interior) home.number = next[at(home.rank)]++;
      }
    }
    return homes;
  }

  static bool needs_no_ghosts(const SparseRows& matrix, Index row, const std::vector<Home>& homes) {
    const auto first = matrix.columns.begin() + matrix.starts[at(row)];
    const auto last = matrix.columns.begin() + matrix.starts[at(row) + 1];
    const Index rank = homes[at(row)].rank;
    return std::all_of(first, last, [&](Index column) { return homes[at(column)].rank == rank; });
  }

  void find_ghosts(std::size_t l) {
    Division& division = division_[l];
    std::vector<Index> seen_for(division.homes.size(), -1);
    for (std::size_t r = 0; r < ranks_; ++r) {
      const auto rank = static_cast<Index>(r);
      std::vector<Index>& ghosts = division.ghosts[r];
      const auto find_in = [&](const SparseRows& rows, const std::vector<Index>& which) {
        for (const Index i : which) {
          for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k) {
            const std::size_t j = at(rows.columns[at(k)]);
            if (division.homes[j].rank == rank || seen_for[j] == rank) continue;
            seen_for[j] = rank;
            ghosts.push_back(static_cast<Index>(j));
          }
        }
      };
      find_in(hierarchy_.levels[l].off_diagonal, division.owned[r]);
      if (l + 1 < division_.size()) find_in(hierarchy_.levels[l].restriction, division_[l + 1].owned[r]);
      if (l > 0) find_in(hierarchy_.levels[l - 1].prolongation, division_[l - 1].owned[r]);
      std::ranges::sort(ghosts, {}, [&](Index j) { return std::pair(division.homes[at(j)].rank, j); });
      for (const Index j : ghosts) {
        const Home home = division.homes[at(j)];
        auto& needs = division.needs[at(home.rank)];
        if (needs.empty() || needs.back().rank != rank) needs.push_back({rank, {}});
        needs.back().numbers.push_back(home.number);
      }
    }
  }

  /// Numbers what a rank has of a level.
  HaloParts<Unknown> number(Division& division, std::size_t rank, const SparseRows& matrix) const {
    const std::vector<Index>& owned = division.owned[rank];
    division.local.resize(division.homes.size());
    Index next = 0;
    for (const Index i : owned) division.local[at(i)] = next++;
    HaloParts<Unknown> halo;
    halo.interior = static_cast<Index>(
        std::ranges::find_if_not(owned, [&](Index i) { return needs_no_ghosts(matrix, i, division.homes); }) -
        owned.begin());
    halo.owned = next;
    halo.total = static_cast<GlobalIndex>(division.homes.size());
    for (const Index j : division.ghosts[rank]) {
      const Index owner = division.homes[at(j)].rank;
      if (halo.ghosts.empty() || halo.ghosts.back().rank != owner)
        halo.ghosts.push_back({owner, Range<Unknown>(next, next)});
      division.local[at(j)] = next++;
      halo.ghosts.back().entities = Range<Unknown>(halo.ghosts.back().entities.first(), next);
    }
    halo.all = next;
    for (const auto& need : division.needs[rank]) {
      const auto first = static_cast<Index>(halo.sent.size());
      halo.sent.insert(halo.sent.end(), need.numbers.begin(), need.numbers.end());
      halo.sent_to.push_back({need.rank, Range<Sent>(first, static_cast<Index>(halo.sent.size()))});
    }
    return halo;
  }

  const MultigridHierarchy& hierarchy_;
  std::size_t ranks_, divided_ = 0;
  std::vector<Division> division_;  // of the divided levels and, if there is one, the first whole one
};

struct Packer {
  std::vector<std::byte> bytes;
  template <class T>
  void operator()(const T& value) {
    append(&value, sizeof value);
  }
  template <class T>
  void operator()(const std::vector<T>& values) {
    size_of(values);
    append(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void size_of(const std::vector<T>& values) {
    (*this)(values.size());
  }

 private:
  void append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes.insert(bytes.end(), first, first + size);
  }
};

struct Unpacker {
  std::span<const std::byte> bytes;
  template <class T>
  void operator()(T& value) {
    take(&value, sizeof value);
  }
  template <class T>
  void operator()(std::vector<T>& values) {
    size_of(values);
    take(values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void size_of(std::vector<T>& values) {
    std::size_t size = 0;
    (*this)(size);
    values.resize(size);
  }

 private:
  void take(void* data, std::size_t size) {
    if (size > 0) std::memcpy(data, bytes.data(), size);
    bytes = bytes.subspan(size);
  }
};

template <class Pass>
void pass_levels(Pass& pass, std::vector<Level>& levels) {
  pass.size_of(levels);
  for (Level& level : levels) {
    for (SparseRows* rows : {&level.off_diagonal, &level.prolongation, &level.restriction}) {
      pass(rows->starts);
      pass(rows->columns);
      pass(rows->values);
    }
    pass(level.largest_eigenvalue);
  }
}

/// What is each rank's own.
template <class Pass>
void pass_own(Pass& pass, MultigridPart& part) {
  pass_levels(pass, part.hierarchy.levels);
  pass.size_of(part.halos);
  for (HaloParts<Unknown>& halo : part.halos) {
    pass(halo.interior);
    pass(halo.owned);
    pass(halo.all);
    pass(halo.total);
    pass(halo.ghosts);
    pass(halo.sent_to);
    pass(halo.sent);
  }
  pass(part.hierarchy.scale);
  pass(part.places);
}

/// What all ranks have.
template <class Pass>
void pass_common(Pass& pass, MultigridHierarchy& hierarchy) {
  pass_levels(pass, hierarchy.levels);
  pass(hierarchy.coarsest_inverse);
  pass(hierarchy.operator_complexity);
}

}  // namespace

template <class E>
MultigridPart make_multigrid_part(const Domain& domain, SymmetricMatrix matrix, Index whole) {
  const Communicator& ranks = domain.communicator();
  MultigridPart part;
  if (ranks.ranks() == 1) {
    part.hierarchy = make_multigrid_hierarchy(std::move(matrix));
    for (const Level& level : part.hierarchy.levels) {
      const Index rows = level.off_diagonal.rows();
      HaloParts<Unknown>& halo = part.halos.emplace_back();
      halo.interior = halo.owned = halo.all = rows;
      halo.total = rows;
    }
    return part;
  }
  std::vector<Home> homes = gathered_homes<E>(domain);
  SymmetricMatrix of_all = gathered_matrix<E>(domain, std::move(matrix));
  MultigridHierarchy common;
  std::vector<std::byte> bytes;
  if (ranks.rank() == 0) {
    common = make_multigrid_hierarchy(std::move(of_all));
    HierarchyDivider divider(common, std::move(homes), ranks.ranks(), whole);
    for (int r = 1; r < ranks.ranks(); ++r) {
      MultigridPart theirs = divider.part(at(r));
      Packer packer;
      pass_own(packer, theirs);
      ranks.send(r, packer.bytes);
    }
    part = divider.part(0);
    common.levels.erase(common.levels.begin(),
                        common.levels.begin() + static_cast<std::ptrdiff_t>(divider.divided()));
    Packer packer;
    pass_common(packer, common);
    bytes = std::move(packer.bytes);
  } else {
    bytes = ranks.receive(0);
    Unpacker unpacker{bytes};
    pass_own(unpacker, part);
  }
  ranks.broadcast(0, bytes);
  Unpacker unpacker{bytes};
  pass_common(unpacker, common);
  std::ranges::move(common.levels, std::back_inserter(part.hierarchy.levels));
  part.hierarchy.coarsest_inverse = std::move(common.coarsest_inverse);
  part.hierarchy.operator_complexity = common.operator_complexity;
  return part;
}

template MultigridPart make_multigrid_part<Node>(const Domain&, SymmetricMatrix, Index);
template MultigridPart make_multigrid_part<Cell>(const Domain&, SymmetricMatrix, Index);

}  // namespace curlew
