// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// Each case is a kernel that would be slow or wrong on a GPU; its build must fail. With no case chosen the
// file must compile.
#include "kernels/for_each.hpp"
#include "kernels/view.hpp"

namespace curlew {

struct Cell;

Real on_the_host(Real x) {
  return 2 * x;
}

struct TestOnCell {
  View<Cell, const Real> x;
  View<Cell, Real> y;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
#if CASE == 1
    Real values[32];  // indexed by what is known at run time alone, hence in memory
    for (int k = 0; k < 32; ++k) values[k] = k * x[c];
    y[c] = values[static_cast<int>(x[c]) & 31] + values[static_cast<int>(x[c] * 3) & 31];
#elif CASE == 2
    y[c] = on_the_host(x[c]);  // a function that is not there on a GPU
#else
    y[c] = x[c];
#endif
  }
};

template void for_each(const Executor&, Range<Cell>, const TestOnCell&);

}  // namespace curlew
