// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "mesh/mesh.hpp"

namespace curlew {

/// A quality figure over all entities that have one; zero throughout where a mesh has none of them.
struct Statistic {
  Real min = 0, mean = 0, max = 0;
  Vector3 where{};  ///< centroid of the face or cell with the largest value, the worst [m]
};

/// How far the faces and cells of a mesh are from the shapes on which every scheme is at its best.
struct MeshQuality {
  /// Angle between the dual edge and the normal of each interior face [degrees]; 0 is best.
  Statistic non_orthogonality;
  /// Distance of the point where the dual edge meets the plane of an interior face from the face's centroid,
  /// relative to the length of the dual edge; 0 is best. Jasak, PhD thesis, Imperial College (1996), mesh
  /// skewness.
  Statistic skewness;
  /// Larger over smaller volume of the two cells of each interior face; 1 is best.
  Statistic volume_ratio;
  /// Longest over shortest semi-axis of the ellipsoid (ellipse) with the cell's second moments: 1 for a cube,
  /// a regular tetrahedron and any regular polygon, √2 for a prism and √(8/3) for a pyramid of equal edges, L
  /// for a box of 1 x 1 x L. On a simplex this is the condition number of the map from the regular one
  /// (Knupp, SIAM J. Sci. Comput. 23, 2001), which is large for slivers, needles and caps alike.
  Statistic aspect_ratio;
  /// Largest distance of a face's nodes from the plane through its centroid, relative to the square root of
  /// its area; 0 is best, and throughout in two dimensions.
  Statistic non_planarity;
};

/// Linear in the mesh, parallel, and the same at any number of threads. Throws Error on a periodic mesh,
/// which has no node positions: measure the mesh that it was made of.
MeshQuality measure_quality(const Mesh& mesh);

}  // namespace curlew
