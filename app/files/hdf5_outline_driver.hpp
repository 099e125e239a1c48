// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <hdf5.h>

#include "app/files/file_outline.hpp"

namespace curlew {

/// Makes files that are created with these properties write to `outline` instead of a disk, under any name.
/// The outline must outlive the open file.
void write_to_outline(hid_t file_access, FileOutline& outline);

}  // namespace curlew
