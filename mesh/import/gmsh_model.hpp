// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "mesh/import/raw_mesh.hpp"

namespace curlew {

/// Names of physical groups by dimension and tag.
using PhysicalNames = std::map<std::pair<int, int>, std::string>;

/// Highest dimension of the elements in the current Gmsh model; 0 for none but points.
int element_dimension_present();

/// Reads the current Gmsh model. `file` is named in errors; coordinates are multiplied by `scale`;
/// `entities_are_groups`: each entity holds the elements of one group and has its number, 0 those of none
/// (.msh read with Mesh.SwitchElementTags; properties of .bdf, references of .mesh); `names`: as the file
/// lists them, since of several groups of one name Gmsh keeps the first alone; `only_grouped`: where some
/// cells are in groups those in none are left out. Throws InputError where the model holds no usable mesh.
RawMesh read_gmsh_model(const std::filesystem::path& file, Real scale, bool entities_are_groups,
                        PhysicalNames names, bool only_grouped);

}  // namespace curlew
