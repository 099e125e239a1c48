// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "mesh/domain.hpp"
#include "solvers/multigrid_hierarchy.hpp"

namespace curlew {

/// Entity tag: an unknown of any level.
struct Unknown;

/// What one rank has of a multigrid hierarchy. The finer levels are divided: of these it has the rows of the
/// unknowns that it owns, with columns numbered [interior | boundary | ghosts]: rows of the matrix that name
/// no ghosts come first. The coarser ones are whole on every rank.
/// Rows keep the order of their entries, so that what is gathered over one has the bits of the whole
/// hierarchy.
struct MultigridPart {
  MultigridHierarchy hierarchy;
  std::vector<HaloParts<Unknown>> halos;  ///< of the divided levels
  /// Numbers of the unknowns of the first whole level that fall to this rank: those whose restriction it has,
  /// or, where the finest is whole already, its entities.
  std::vector<Index> places;
};

/// The hierarchy of the system of all entities of a kind in a mesh, made by the first rank and dealt out by
/// it; of a rank alone all levels are divided into one. By all ranks together.
///
/// `matrix`: a row for each entity that this rank has; those of ghosts do not matter. `whole`: levels of at
/// most so many unknowns are whole on every rank, and so is one that is solved by its inverse.
template <class E>
MultigridPart make_multigrid_part(const Domain& domain, SymmetricMatrix matrix, Index whole);

}  // namespace curlew
