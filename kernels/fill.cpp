// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/fill.hpp"

#include "kernels/face_vector.hpp"
#include "kernels/tensor3.hpp"

namespace curlew {

template void fill_values(const Executor&, std::uint8_t*, Index, std::uint8_t);
template void fill_values(const Executor&, Index*, Index, Index);
template void fill_values(const Executor&, GlobalIndex*, Index, GlobalIndex);
template void fill_values(const Executor&, float*, Index, float);
template void fill_values(const Executor&, Real*, Index, Real);
template void fill_values(const Executor&, Vector3*, Index, Vector3);
template void fill_values(const Executor&, Tensor3*, Index, Tensor3);
template void fill_values(const Executor&, FaceVector<float>*, Index, FaceVector<float>);
template void fill_values(const Executor&, FaceVector<Real>*, Index, FaceVector<Real>);

}  // namespace curlew
