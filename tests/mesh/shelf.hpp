// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "mesh/mesh.hpp"

namespace curlew {

/// A test's parameter, of which GoogleTest makes several copies for every test that a program has.
struct ShelfMesh {
  ShelfMesh(std::string its_name, RawMesh mesh)
      : name(std::move(its_name)), kept(std::make_shared<const RawMesh>(std::move(mesh))), raw(*kept) {}
  std::string name;
  std::shared_ptr<const RawMesh> kept;
  const RawMesh& raw;
  friend void PrintTo(const ShelfMesh& mesh, std::ostream* out) { *out << mesh.name; }
};

/// Meshes of every cell type, whole and distorted, on which whatever holds "on any mesh" is tested.
const std::vector<ShelfMesh>& shelf();

/// Moves every interior node by up to `amount` in each direction, always in the same way.
void distort(RawMesh& raw, Real amount);

/// Drops the cells whose centre is inside of something. What that leaves bare has no name.
RawMesh without(const RawMesh& raw, const std::function<bool(Vector3)>& is_inside);

/// Leaves nothing of the boundary a name.
void forget_patches(RawMesh& raw);

/// A cube of tetrahedra around a cubic void, so many cells apart: narrow gaps that turn at edges and corners.
RawMesh narrow_gaps(Index blocks, Index apart);

}  // namespace curlew
