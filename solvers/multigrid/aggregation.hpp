// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "solvers/multigrid/divided_unknowns.hpp"
#include "solvers/multigrid/strong_couplings.hpp"

namespace curlew {

/// Groups of strongly coupled unknowns. A group belongs to the owner of the unknown that it has grown from,
/// its root, and has that one's name.
struct Aggregates {
  static constexpr Index none = -1;
  UnknownNumbers numbers;     ///< of groups
  std::vector<Index> number;  ///< of each unknown's group, ghosts included; none: it is left to the smoother
};

/// Unknowns have their turns in an order that depends on their names alone. One becomes a root unless one
/// before it has that it is coupled to directly or by way of a common neighbour: a maximal independent set of
/// distance two, the first in that order. A root's neighbours join it, and those that are left join the
/// neighbour that they are most strongly coupled to. Every division among ranks gives the same groups.
///
/// Unknowns that follow one another make neat groups: layers of cells, for one, are joined alike all over a
/// mesh. So turns follow the names, but for runs of `run` names, which are shuffled, so that no chain of
/// unknowns that wait for one another goes through the whole of a large mesh (Blelloch, Fineman & Shun,
/// Greedy sequential maximal independent set and matching are parallel on average, SPAA 2012).
///
/// By all ranks together.
Aggregates aggregate(const Communicator& ranks, const HaloParts<Unknown>& unknowns,
                     const StrongCouplings& strong, GlobalIndex run);

}  // namespace curlew
