// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include "kernels/view.hpp"

namespace curlew {

/// Terms of reductions over a field.
template <class E>
struct ValueOfEntity {
  View<E, const Real> value;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return value[i]; }
};
template <class E>
struct MagnitudeOfEntity {
  View<E, const Real> value;
  CURLEW_HOST_DEVICE Real operator()(Id<E> i) const { return value[i] < 0 ? -value[i] : value[i]; }
};

}  // namespace curlew
