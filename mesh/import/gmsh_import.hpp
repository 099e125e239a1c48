// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>

#include "kernels/platform.hpp"
#include "mesh/import/raw_mesh.hpp"

namespace curlew {

struct GmshImportOptions {
  Real scale = 1;  ///< multiplies every coordinate of the file
  Real size = 0;  ///< target size of geometries meshed on the fly [m, after scaling]; 0: the file's own sizes
};

/// Reads a mesh, or reads a geometry and meshes it, through the Gmsh SDK.
///
/// Meshes: `.msh` 2.2, 4.0 and 4.1 (ASCII and binary), `.unv`, `.vtk`, `.mesh`, `.bdf`/`.nas`, and
/// `.cgns`/`.med` where the SDK was built with them. Geometries meshed here, the same in each run: `.geo`,
/// `.step`/`.stp` (lengths converted to metres), `.brep`, and a closed surface in `.stl`,
/// whose interior is meshed.
///
/// Cells are the elements of the highest dimension present, 3 or 2; elements one dimension lower are boundary
/// faces where they belong to a physical group, and anything else is dropped, as are nodes that no cell uses.
/// Physical groups become regions and patches by name, "group_<tag>" where unnamed. Cells in no group are in
/// region "domain" where the file has no volume groups, "unnamed" where it has. Coordinates are in metres
/// after `scale`.
///
/// Throws InputError, which names the file and the remedy, where the file cannot be used.
RawMesh import_mesh(const std::filesystem::path& file, const GmshImportOptions& options = {});

}  // namespace curlew
