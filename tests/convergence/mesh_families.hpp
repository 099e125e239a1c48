// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "mesh/import/raw_mesh.hpp"

namespace curlew::test {

/// Meshes of the unit square or cube by the size of their cells, with make_box's patches.
struct MeshFamily {
  std::string name;
  int dimension;
  std::function<RawMesh(Real h)> mesh;
  friend void PrintTo(const MeshFamily& family, std::ostream* out) { *out << family.name; }
};

/// What Gmsh makes by default (triangles, tetrahedra), recombines and extrudes, boxes of every type of cell,
/// and the same with every interior node moved at random.
const std::vector<MeshFamily>& mesh_families();
/// Throws std::out_of_range where there is none of that name.
const MeshFamily& mesh_family(const std::string& name);

/// Gmsh's own triangles or tetrahedra of size `h`.
RawMesh gmsh_mesh(int dimension, Real h);

/// Blocks of size `h` along a side of length 1.
Index blocks(Real h);

}  // namespace curlew::test
