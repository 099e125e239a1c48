// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/face_vector.hpp"
#include "kernels/field.hpp"
#include "mesh/entities.hpp"

namespace curlew {

/// One velocity per face, or the force on it.
using FaceVelocity = Field<Face, Vector3>;
/// The same as solvers iterate on it, in precision T.
template <class T>
using FaceVectors = Field<Face, FaceVector<T>>;

}  // namespace curlew
