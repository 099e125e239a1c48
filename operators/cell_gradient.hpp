// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <vector>

#include "mesh/mesh.hpp"

namespace curlew {

/// The mean gradient of node values over a cell as weights: grad_c = sum_k weights[k] T_k over
/// nodes_of_cell()[c], in its order [1/m]. By Gauss' theorem: on each triangle of a face's fan the value is
/// linear between the two nodes and the mean of all nodes of the face (two dimensions: linear along a side).
/// Exact for linear fields on any cell, curved faces included; on simplices the gradient of the linear
/// finite element. `weights` has one entry per node of the cell.
void gradient_weights(const Mesh& mesh, Id<Cell> c, std::span<Vector3> weights);

/// Mean gradient in every cell [unit of the values / m]. Throws Error unless there is one value per node, and
/// on a periodic mesh, which has no node positions.
std::vector<Vector3> cell_gradients(const Mesh& mesh, std::span<const Real> node_values);

/// The same in some cells, from the values at the nodes of each, cell by cell in the order of nodes_of_cell.
std::vector<Vector3> cell_gradients(const Mesh& mesh, std::span<const Index> cells,
                                    std::span<const Real> corner_values);

}  // namespace curlew
