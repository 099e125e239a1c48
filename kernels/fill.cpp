// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/fill.hpp"

#include "kernels/tensor3.hpp"
#include "kernels/vector4.hpp"

namespace curlew {

template void fill_values(const Executor&, std::uint8_t*, Index, std::uint8_t);
template void fill_values(const Executor&, Index*, Index, Index);
template void fill_values(const Executor&, GlobalIndex*, Index, GlobalIndex);
template void fill_values(const Executor&, float*, Index, float);
template void fill_values(const Executor&, Real*, Index, Real);
template void fill_values(const Executor&, Vector3*, Index, Vector3);
template void fill_values(const Executor&, Tensor3*, Index, Tensor3);
template void fill_values(const Executor&, Vector4<float>*, Index, Vector4<float>);
template void fill_values(const Executor&, Vector4<Real>*, Index, Vector4<Real>);

}  // namespace curlew
