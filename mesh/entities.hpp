// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

namespace curlew {

/// Entity tags of the cell complex. Operators are written for codimension, once for two and three dimensions:
/// a face separates two cells (in two dimensions a side of a polygon), an edge bounds faces (in two
/// dimensions an edge of unit length normal to the plane, one at every node and with the node's index).
struct Node;
struct Edge;
struct Face;
struct Cell;

/// A node and one of its neighbours, each pair in both directions (node_graph.hpp).
struct NodePair;

}  // namespace curlew
