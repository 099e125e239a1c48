// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

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

}  // namespace curlew
