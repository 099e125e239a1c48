// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <vector>

#include "kernels/tensor3.hpp"
#include "mesh/mesh.hpp"

namespace curlew {

/// What ViscousForm takes for jumps of the velocity's gradient between two flat cells a and b:
///   sum_f P_f (g_a - g_b) : (g_a - g_b),  P_f = T_a + T_b,
///   T = 0.3 (V / n) sum_i clamp(l_i / l_1 - 9, 0, 20) e_i e_iᵀ,
/// n being how many faces a cell has, e_i and l_i, l_1 the least, the principal directions of sum_f w_f r_f
/// r_fᵀ: the squares of a cell's extents. In the manner of Burman & Hansbo (CMAME 193, 2004), but for flat
/// cells alone and along their long sides. Bounded, since smooth velocities have jumps too where they change
/// along the cells or follow a curved wall: those would be held the more the thinner cells are.
///
/// Without it the velocities of a flat cell's faces may change along its long sides from one cell to the next
/// at no more cost than a change along them has, though the layers beside resist: a flow along triangles,
/// prisms, tetrahedra or pyramids that are L long and by far thinner is too large by some (L/H)², H being the
/// distance over which it changes (docs/incompressible-flow.md).
///
/// A face ties its cells where all faces of both have a node in common with it: those of simplices and
/// pyramids, the quadrilaterals of prisms. What else there is, boxes above all, needs no ties. And both have
/// to lie among flat cells, with no other neighbours that they might be tied to: slivers, as there are in any
/// mesh of tetrahedra, would gain nothing, lengthen rows and cost iterations.
class GradientJumps {
 public:
  /// By all ranks together; ghosts are like their owner's.
  explicit GradientJumps(const Mesh& mesh);

  /// Whether no rank has a face that ties cells.
  bool empty() const { return weight_.empty(); }
  bool is_tied(Id<Face> f) const;
  /// P_f [m3], symmetric; zero where f ties nothing.
  Tensor3 weight(Id<Face> f) const { return empty() ? Tensor3{} : weight_[at(f.value())]; }

 private:
  std::vector<Tensor3> weight_;  // one per face, or none
};

}  // namespace curlew
