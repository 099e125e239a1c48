// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/view.hpp"

namespace curlew {

struct One;  // entity tag: a value of which there is one

/// A factor in an update that a kernel works out, and whether the update is to be made at all.
struct Factor {
  Real value = 0;
  Index applies = 1;  ///< 0: everything stays as it is
};
/// A factor where kernels find it.
using FactorInMemory = View<One, const Factor>;

CURLEW_HOST_DEVICE inline bool applies(Real) {
  return true;
}
CURLEW_HOST_DEVICE inline bool applies(FactorInMemory factor) {
  return factor[Id<One>(0)].applies != 0;
}
CURLEW_HOST_DEVICE inline Real value_of(Real factor) {
  return factor;
}
CURLEW_HOST_DEVICE inline Real value_of(FactorInMemory factor) {
  return factor[Id<One>(0)].value;
}

}  // namespace curlew
