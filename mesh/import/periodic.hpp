// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "mesh/mesh.hpp"

namespace curlew {

/// Two patches of which one is the other moved by a translation.
struct PeriodicPair {
  std::string first, second;
};

/// What became of a pair of patches.
struct PeriodicConnection {
  Vector3 translation;  ///< from the first patch to the second [m]
  Range<Face> faces;    ///< interior faces, in the order of those of the first patch
};

/// A mesh without the patches that were joined, and what it has to do with the mesh that it was made of.
/// Cells keep their numbers, shapes and centroids, so that the original mesh serves for everything that needs
/// node positions: output, point location, its quality.
struct PeriodicMesh {
  Mesh mesh;
  std::vector<PeriodicConnection> connections;  ///< one per pair
  std::vector<Id<Node>> node_of_original;       ///< one per node of the original mesh
};

/// Makes a mesh periodic by translation: each face of a pair's first patch becomes one with its image in the
/// second, an interior face between the two cells. The translation is the distance between the patches'
/// centroids; the patches need not be planar. Nodes and edges on joined faces become one as well, through
/// several pairs where patches meet.
///
/// Faces are numbered [interior as before | pair by pair | patches that are left]. Of all the places of a
/// joined face the mesh keeps two (FaceCentroidsOfCells); nodes have no position, their volumes are sums, and
/// edges keep their vectors (Geometry::edge_vector).
///
/// Throws InputError for patches that the mesh does not have or that are named twice, for a face that has no
/// image within 1e-4 of its size (with its coordinates), and where one cell would be its own neighbour.
/// Linear in the mesh but for sorting the faces of the patches.
PeriodicMesh make_periodic(const Mesh& mesh, std::span<const PeriodicPair> pairs);

}  // namespace curlew
