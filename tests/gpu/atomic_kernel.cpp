// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// A kernel as none may be: it scatters.
#include "kernels/for_each.hpp"
#include "kernels/view.hpp"

namespace curlew {

struct Cell;

struct ScatterOnCell {
  View<Cell, Real> total;
  CURLEW_HOST_DEVICE void operator()([[maybe_unused]] Id<Cell> c) const {
#if defined(__CUDA_ARCH__)
    atomicAdd(&total[Id<Cell>(0)], Real(c.value()));
#endif
  }
};

template void for_each(const Executor&, Range<Cell>, const ScatterOnCell&);

}  // namespace curlew
