// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <filesystem>

namespace curlew {

/// Checks that a .msh file of format 2.2 or 4.1 is as long as its own counts say and that its elements
/// use node numbers in the range of its nodes: where that fails Gmsh 4.8 may crash; and that no entity has
/// elements of one shape and two orders, of which it leaves some out. Returns true where in a
/// file of format 2.2 elements of one entity are in different physical groups, or some of them in none:
/// entities then do not tell the group of an element. Linear in the file. Needs an initialised Gmsh, for the
/// node counts of element types. Throws InputError.
bool check_msh(const std::filesystem::path& file);

}  // namespace curlew
