// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/platform.hpp"
#include "kernels/vector3.hpp"

namespace curlew {

/// Shape of a cell; nodes within a cell come in Gmsh's first-order order (VTK's, but for prisms).
enum class CellType : std::uint8_t {
  Triangle,
  Quadrilateral,
  Polygon,
  Tetrahedron,
  Hexahedron,
  Prism,
  Pyramid,
  Polyhedron
};

/// A mesh as a reader delivers it: cells and tagged boundary faces by node number, no connectivity yet.
///
/// Cells of standard type list their nodes in `cell_nodes`. A `Polygon` lists its nodes in cyclic order. A
/// `Polyhedron` lists a stream of faces, `[n, node_1 … node_n]` one after the other, each seen from outside
/// in counter-clockwise order or not (orientation is recomputed).
struct RawMesh {
  int dimension = 3;                     ///< 2 (all cells in a plane z = constant) or 3
  std::vector<Vector3> nodes;            ///< coordinates [m]
  std::vector<CellType> cell_types;      ///< one per cell
  std::vector<std::int64_t> cell_start;  ///< cells + 1 offsets into cell_nodes
  std::vector<Index> cell_nodes;         ///< node numbers, or the face stream of a polyhedron
  std::vector<Index> cell_region;        ///< one per cell: index into region_names

  std::vector<std::int64_t> boundary_start;  ///< tagged faces + 1 offsets into boundary_nodes
  std::vector<Index> boundary_nodes;         ///< nodes of each tagged face (2 in two dimensions)
  std::vector<Index> boundary_patch;         ///< one per tagged face: index into patch_names

  std::vector<std::string> region_names;  ///< at least one; "domain" where the file names none
  std::vector<std::string> patch_names;   ///< names of the tagged boundary faces
  std::vector<std::string> notes;         ///< what the reader did that a user should know, a sentence each
};

}  // namespace curlew
