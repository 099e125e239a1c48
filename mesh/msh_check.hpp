// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>

namespace curlew {

/// Checks that a .msh file of format 2.2 or 4.1 is as long as its own counts say and that its elements
/// use node numbers in the range of its nodes: where that fails Gmsh 4.8 may crash. Linear in the file. Needs
/// an initialised Gmsh, for the node counts of element types. Throws InputError.
void check_msh(const std::filesystem::path& file);

}  // namespace curlew
