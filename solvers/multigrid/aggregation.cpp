// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "solvers/multigrid/aggregation.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/parallel.hpp"

namespace curlew {

namespace {

/// When an unknown has its turn.
class Turns {
 public:
  explicit Turns(GlobalIndex run) : run_(run) {}
  std::pair<std::uint64_t, GlobalIndex> operator()(GlobalIndex name) const {
    return {shuffled(name / run_), name};
  }
  /// The first name of the next run.
  GlobalIndex end_of_run(GlobalIndex name) const { return (name / run_ + 1) * run_; }

 private:
  GlobalIndex run_;
};

enum class RootState : std::uint8_t { open, out, root };

/// Finds the roots.
class RootSearch {
 public:
  RootSearch(const Communicator& ranks, const HaloParts<Unknown>& unknowns, const StrongCouplings& strong,
             GlobalIndex run)
      : ranks_(ranks), unknowns_(unknowns), strong_(strong), turns_(run), state_(at(unknowns.all)) {
    find_turns();
    if (ranks.ranks() > 1) {
      first_waiting_.assign(at(unknowns.all), nobody);
      next_waiting_.assign(at(unknowns.owned), nobody);
    }
    parallel_for(at(unknowns.owned), [&](std::size_t i) {
      const auto unknown = static_cast<Index>(i);
      set(unknown, strong.is_left_to_smoother(unknown) ? RootState::out : RootState::open);
    });
  }

  /// The state of each unknown: out or root.
  std::vector<RootState> search() {
    const std::vector<Index> open = open_ones();
    open_ = open.size();
    hear_of_ghosts();
    for (const Index i : open) {
      decide(i);
      decide_ready_ones();
    }
    while (ranks_.maximum(open_ > 0 ? 1 : 0) > 0) {
      hear_of_ghosts();
      decide_ready_ones();
    }
    hear_of_ghosts();
    return std::move(state_);
  }

 private:
  static constexpr Index never = std::numeric_limits<Index>::max(), nobody = -1;

  /// What comes first of an unknown and its neighbours, of those that are not out.
  struct Front {
    GlobalIndex name;
    RootState state;  // out: nothing
    friend bool operator==(const Front&, const Front&) = default;
  };
  struct Met {
    RootState state;
    Index at;  // of an unknown that is open: what to wait for, or a ghost that has it as a neighbour
  };

  void find_turns() {
    struct Run {
      std::pair<std::uint64_t, GlobalIndex> turn;
      std::size_t first, last;
    };
    const std::vector<Index> order = in_order_of_names(unknowns_.all, unknowns_.global);
    std::vector<Run> runs;
    for (std::size_t k = 0; k < order.size();) {
      const std::size_t first = k;
      const GlobalIndex name = name_of(unknowns_, order[k]), end = turns_.end_of_run(name);
      while (k < order.size() && name_of(unknowns_, order[k]) < end) ++k;
      runs.push_back({turns_(name), first, k});
    }
    std::ranges::sort(runs, {}, &Run::turn);
    turn_.resize(order.size());
    for (const Run& run : runs) {
      for (std::size_t k = run.first; k < run.last; ++k) {
        turn_[at(order[k])] = static_cast<Index>(in_turn_.size());
        in_turn_.push_back(order[k]);
      }
    }
  }

  std::vector<Index> open_ones() const {
    std::vector<Index> open;
    for (const Index i : in_turn_) {
      if (i < unknowns_.owned && state_[at(i)] == RootState::open) open.push_back(i);
    }
    return open;
  }

  void hear_of_ghosts() {
    if (ranks_.ranks() == 1) return;
    const std::vector<RootState> states =
        values_of_ghosts(ranks_, unknowns_, [&](Index i) { return state_[at(i)]; });
    for (std::size_t k = 0; k < states.size(); ++k) {
      const Index i = unknowns_.owned + static_cast<Index>(k);
      if (states[k] != state_[at(i)]) wake(i);
      set(i, states[k]);
    }
    std::vector<Front> fronts = values_of_ghosts(ranks_, unknowns_, [&](Index i) { return front(i); });
    for (std::size_t k = 0; k < fronts_.size(); ++k) {
      if (fronts[k] != fronts_[k]) wake(unknowns_.owned + static_cast<Index>(k));
    }
    fronts_ = std::move(fronts);
  }

  /// Has those decided that wait for what is known of i now.
  void wake(Index i) {
    for (Index k = std::exchange(first_waiting_[at(i)], nobody); k != nobody; k = next_waiting_[at(k)])
      ready_.push_back(k);
  }

  void decide_ready_ones() {
    while (!ready_.empty()) {
      const Index i = ready_.back();
      ready_.pop_back();
      decide(i);
    }
  }

  void set(Index i, RootState state) {
    state_[at(i)] = state;
    if (state == RootState::out) turn_[at(i)] = never;
  }

  /// Leaves an unknown open while it waits for one before it.
  void decide(Index i) {
    Met met = before(i, i);
    if (met.state != RootState::root) {
      strong_.any(i, [&](Index j, Real) {
        const Met found = before(j, i);
        if (found.state != RootState::out) met = found;
        return found.state == RootState::root;
      });
    }
    if (met.state == RootState::open) {
      next_waiting_[at(i)] = std::exchange(first_waiting_[at(met.at)], i);
      return;
    }
    set(i, met.state == RootState::root ? RootState::out : RootState::root);
    --open_;
    if (ranks_.ranks() > 1) wake(i);  // one rank alone never waits
  }

  /// The first of `near` and its neighbours if it has its turn before i; else out.
  Met before(Index near, Index i) const {
    if (near >= unknowns_.owned) {
      const Front& front = fronts_[at(near - unknowns_.owned)];
      const bool first = front.state != RootState::out && turns_(front.name) < turns_(name_of(unknowns_, i));
      return {first ? front.state : RootState::out, near};
    }
    const Index first = first_turn(near);
    if (first >= turn_[at(i)]) return {RootState::out, near};
    const Index j = in_turn_[at(first)];
    return {state_[at(j)], j};
  }

  /// Of an unknown and its neighbours, of those that are not out; never: of none.
  Index first_turn(Index i) const {
    const SparseRows& rows = strong_.rows();
    Index first = turn_[at(i)];
    for (Index k = rows.starts[at(i)]; k < rows.starts[at(i) + 1]; ++k)
      first = std::min(first, strong_[k] ? turn_[at(rows.columns[at(k)])] : never);
    return first;
  }

  Front front(Index i) const {
    const Index first = first_turn(i);
    if (first == never) return {name_of(unknowns_, i), RootState::out};
    return {name_of(unknowns_, in_turn_[at(first)]), state_[at(in_turn_[at(first)])]};
  }

  const Communicator& ranks_;
  const HaloParts<Unknown>& unknowns_;
  const StrongCouplings& strong_;
  Turns turns_;
  std::vector<RootState> state_;
  std::vector<Index> turn_;     // among those that this rank has; never: it is out
  std::vector<Index> in_turn_;  // all of them
  std::vector<Front> fronts_;   // of ghosts
  std::size_t open_ = 0;        // so many of this rank's own
  // Lists of unknowns that wait, each begun at what it waits for, and those that wait no longer.
  std::vector<Index> first_waiting_, next_waiting_, ready_;
};

}  // namespace

Aggregates aggregate(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                     const StrongCouplings& strong, GlobalIndex run) {
  constexpr Index none = Aggregates::none;
  const std::vector<RootState> state = RootSearch(ranks, unknowns, strong, run).search();
  // Groups of those that are roots, then of their neighbours, then of what is left.
  std::vector<Index> of_root(at(unknowns.all), none), near(at(unknowns.all), none);
  std::vector<GlobalIndex> own;
  for (const Index i : in_order_of_names(unknowns.owned, unknowns.global)) {
    if (state[at(i)] != RootState::root) continue;
    of_root[at(i)] = static_cast<Index>(own.size());
    own.push_back(name_of(unknowns, i));
  }
  Aggregates result{UnknownNumbers(ranks.rank(), std::move(own)), {}};
  const std::vector<RemoteUnknown> ghosts = ghosts_of(unknowns);
  for (std::size_t k = 0; k < ghosts.size(); ++k) {
    const std::size_t i = at(unknowns.owned) + k;
    if (state[i] == RootState::root) of_root[i] = result.numbers.number(ghosts[k]);
  }
  const auto join = [&](const std::vector<Index>& before, std::vector<Index>& after) {
    parallel_for(at(unknowns.owned), [&](std::size_t i) {
      Index best = before[i];
      if (best == none) {
        const SparseRows& rows = strong.rows();
        Real strongest = 0;
        // Where groups lie follows no pattern: branches would be guessed wrong too often.
        for (Index k = rows.starts[i], last = rows.starts[i + 1]; k < last; ++k) {
          const Index group = before[at(rows.columns[at(k)])];
          const Real coupling = -rows.values[at(k)] * static_cast<Real>(strong[k] & (group != none));
          best ^= (best ^ group) & -static_cast<Index>(coupling > strongest);
          strongest = std::max(strongest, coupling);
        }
      }
      after[i] = best;
    });
    const std::vector<RemoteUnknown> groups = values_of_ghosts(ranks, unknowns, [&](Index i) {
      return after[at(i)] == none ? RemoteUnknown{none, none} : result.numbers.unknown(after[at(i)]);
    });
    for (std::size_t k = 0; k < groups.size(); ++k)
      after[at(unknowns.owned) + k] = groups[k].owner == none ? none : result.numbers.number(groups[k]);
  };
  join(of_root, near);
  result.number.resize(at(unknowns.all));
  join(near, result.number);
  return result;
}

}  // namespace curlew
