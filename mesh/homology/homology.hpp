// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/topology.hpp"

namespace curlew {

/// Betti numbers of the meshed domain, its boundary included: b0 connected parts (parts that share no more
/// than a node are connected), b1 independent loops (tunnels; holes of a plane domain; ways through the
/// patches of a periodic one), b2 enclosed voids, or more generally independent closed surfaces that bound no
/// part of the domain, in the plane the parts without a boundary.
struct BettiNumbers {
  Index b0 = 0, b1 = 0, b2 = 0;
  friend bool operator==(const BettiNumbers&, const BettiNumbers&) = default;
};

/// Linear in the mesh. b0 by joining nodes that share a cell. In the plane b1 follows from Euler's
/// characteristic, nodes - sides + cells = b0 - b1 + b2. In space the boundary of a part has one surface
/// outside and one for each void, so that b2 = surfaces - b0, and nodes - edges + faces - cells = b0 - b1 +
/// b2. That needs a boundary whose surfaces do not touch: two boundary faces at each of its edges, one fan of
/// them round each of its nodes. Elsewhere, and on periodic meshes, the answer is that of
/// betti_numbers_by_rank.
BettiNumbers betti_numbers(const Topology& topology);

/// The same numbers from the ranks of the boundary matrices over the integers modulo 2, for any complex of
/// dimension 3 (there is no torsion in space, nor in a box with opposite sides joined, so the field does not
/// matter).
///
/// The rank from faces to edges alone takes work. First the complex is collapsed: cell by cell from the
/// boundary, or in a part without one from any of its cells, each with the face it is entered through, then
/// face by face with an edge that no other face has (Whitehead, 1939: neither changes the homology; in
/// persistent homology these are clearing, Chen & Kerber 2011, and apparent pairs). What is left, usually
/// sheets across the voids and the periodic directions, is reduced column by column. Linear up to that last
/// step, whose cost may grow with the cube of what is left.
BettiNumbers betti_numbers_by_rank(const Topology& topology);

}  // namespace curlew
