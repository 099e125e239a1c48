// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "kernels/field.hpp"
#include "mesh/disjoint_sets.hpp"
#include "mesh/domain.hpp"
#include "mesh/parallel/exchange.hpp"

namespace curlew {

/// Gives everything in a set the lowest of the labels in it. `sets`: what the rank has of each; sets of
/// several ranks are one where an entity is in all of them. Labels of ghosts need not be right before. In
/// memory of the host; by all ranks together.
template <class E>
void spread_lowest(const Domain& domain, DisjointSets sets, Field<E, GlobalIndex>& label) {
  const View<E, GlobalIndex> label_of = label.view();
  for (bool changed = true; changed;) {  // on a rank, then from rank to rank
    exchange_ghosts(domain, label);
    changed = false;
    const auto lower = [&](Id<E> i, GlobalIndex other) {
      if (label_of[i] <= other) return;
      label_of[i] = other;
      changed = true;
    };
    for (const Id<E> i : label.range()) lower(Id<E>(sets.root(i.value())), label_of[i]);
    for (const Id<E> i : label.range()) lower(i, label_of[Id<E>(sets.root(i.value()))]);
    changed = domain.communicator().maximum(changed ? 1 : 0) > 0;
  }
}

/// Numbers the sets without an open entity from 0, in the order of their lowest entities. `sets`: as above;
/// `is_open(i)`: of those that the rank owns. By all ranks together.
template <class E, class IsOpen>
NumberedSets number_closed_sets(const Domain& domain, DisjointSets sets, const IsOpen& is_open) {
  const Halo<E>& halo = domain.halo<E>();
  // The label of a set is its lowest entity, or lower than any where one is open.
  constexpr GlobalIndex open = -1;
  Field<E, GlobalIndex> label(Executor::serial(), domain.extent<E>(), "set", "1");
  const View<E, GlobalIndex> label_of = label.view();
  for (const Id<E> i : label.owned()) label_of[i] = is_open(i) ? open : halo.global(i);
  spread_lowest(domain, std::move(sets), label);
  std::set<GlobalIndex> labels;  // of sets whose lowest entity this rank owns
  for (const Id<E> i : label.owned()) {
    if (label_of[i] == halo.global(i)) labels.insert(label_of[i]);
  }
  std::vector<GlobalIndex> closed;  // of all ranks
  for (GlobalIndex last = open;;) {
    const auto own = labels.upper_bound(last);
    const GlobalIndex mine = own == labels.end() ? halo.total() : *own;
    last = halo.total() -
           static_cast<GlobalIndex>(domain.communicator().maximum(static_cast<Real>(halo.total() - mine)));
    if (last == halo.total()) break;
    closed.push_back(last);
  }
  NumberedSets numbered{{}, static_cast<Index>(closed.size())};
  for (const Id<E> i : label.range()) {
    const auto place = std::ranges::lower_bound(closed, label_of[i]) - closed.begin();
    numbered.number.push_back(label_of[i] == open ? -1 : static_cast<Index>(place));
  }
  return numbered;
}

}  // namespace curlew
