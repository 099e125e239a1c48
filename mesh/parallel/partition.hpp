// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mesh/topology.hpp"

namespace curlew {

/// Which part of a mesh each cell belongs to. A part may be empty.
struct Partition {
  Index parts = 1;
  std::vector<Index> part_of_cell;
};

/// Divides the cells into parts of equal cost with few faces between them: METIS, k-way, on the graph of
/// cells that share a face; parts are connected where the mesh is. The same mesh always gives the same parts.
/// With more parts than cells, some parts are empty. `cost`: of each cell, not negative; empty: the number of
/// its faces.
Partition make_partition(const Topology& topology, Index parts, std::span<const Index> cost = {});

/// How good a partition is.
struct PartitionQuality {
  Index parts = 0, empty_parts = 0;
  Index least_cells = 0, most_cells = 0;  ///< of a part
  Real imbalance = 1;                     ///< cells of the largest part over the mean; 1 is perfect
  Index cut_faces = 0;                    ///< between cells of different parts
  Real cut = 0;                           ///< the same over all interior faces
  Index most_neighbours = 0;              ///< of a part: parts that it shares a node with
  Real mean_neighbours = 0;
  Index most_ghosts = 0;  ///< cells of other parts that share a node with a part
  Index most_pieces = 0;  ///< of a part: how many sets of cells connected through faces it has
};

PartitionQuality assess(const Topology& topology, const Partition& partition);

/// The same in one line for people.
std::string description(const PartitionQuality& quality);

}  // namespace curlew
