// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/field.hpp"
#include "kernels/vector4.hpp"
#include "mesh/entities.hpp"

namespace curlew {

/// One velocity per face, or the force on it.
using FaceVelocity = Field<Face, Vector3>;
/// The same as solvers iterate on it, in precision T: the fourth number of a velocity is its part along the
/// face's unit normal, so that kernels which gather velocities need no normals; that of a force is zero.
template <class T>
using FaceVectors = Field<Face, Vector4<T>>;

}  // namespace curlew
