// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "mesh/homology/dual_tree.hpp"

namespace curlew {

/// Harmonic fluxes: with the curls of edge values that vanish on all edges of given faces (in two dimensions:
/// of values at nodes) they make up all fluxes without divergence that vanish on given faces, and none is
/// such a curl or a sum of the others and one. Each is a unit flux round a cycle of the tree: a list of faces
/// with their fluxes, +1 or -1, each face at most once. Shortest first, and no other cycles of this tree are
/// shorter in sum.
///
/// Their number is that of the loops, and ways from opening to opening, that no motion shrinks to a point,
/// moves into one another or slides off through an opening. In a closed domain that is BettiNumbers::b1, less
/// where a part touches itself in no more than a node or an edge, since no flow goes through there. Each
/// opening of a part after its first adds one, unless it goes round a tunnel itself. Open all round there are
/// b2, in the plane b1.
///
/// Generators, the free faces that are not in the tree, are coordinates of the fluxes without divergence;
/// each edge on no given face is a relation between generators, the sum of its curl. First relations with one
/// generator remove it, and so on from edge to edge. That leaves sheets across the ways through the domain
/// (about 2 % of the generators), on which relations with two generators make them one. The rest, where
/// sheets meet, is eliminated modulo a prime, the longest cycle of a relation first; what is no pivot is the
/// basis. Linear in the mesh up to that last step, whose cost may grow with the cube of the number of sheets.
std::vector<std::vector<SignedId<Face>>> harmonic_fluxes(const Topology& topology, const DualTree& tree);

}  // namespace curlew
