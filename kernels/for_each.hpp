// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <type_traits>

#include "kernels/executor.hpp"

#if defined(CURLEW_CUDA)
#if !defined(__CUDACC__)
#error \
    "this file launches kernels: name it in curlew_launches() of its CMakeLists.txt, so that nvcc compiles it"
#endif
#include <typeinfo>

#include "kernels/cuda.hpp"
#endif

namespace curlew {

inline constexpr Index threads_per_warp = 32;  ///< of a GPU: those that run in step

#if defined(CURLEW_CUDA)
namespace detail {

inline constexpr Index threads_per_block = 256;

template <class E, class Kernel>
__global__ void __launch_bounds__(threads_per_block) run_on_entities(Range<E> range, Kernel kernel) {
  const std::int64_t i = range.first() + static_cast<std::int64_t>(blockIdx.x) * threads_per_block +
                         static_cast<std::int64_t>(threadIdx.x);
  if (i < range.last()) run_on_entity(kernel, Id<E>(static_cast<Index>(i)));
}

/// For kernels in which a block of threads works on one entity together.
template <class E, class Kernel>
__global__ void __launch_bounds__(Kernel::lanes) run_together(Range<E> range, Kernel kernel) {
  kernel.together(Id<E>(range.first() + static_cast<Index>(blockIdx.x)), static_cast<Index>(threadIdx.x));
}

}  // namespace detail

template <class E, class Kernel>
void Cuda::for_each(Range<E> range, const Kernel& kernel) const {
  if (range.empty()) return;
  if constexpr (requires { Kernel::lanes; }) {
    detail::run_together<<<static_cast<unsigned>(range.size()), Kernel::lanes, 0, cuda::stream()>>>(range,
                                                                                                    kernel);
  } else {
    const Index blocks = (range.size() - 1) / detail::threads_per_block + 1;
    detail::run_on_entities<<<static_cast<unsigned>(blocks), detail::threads_per_block, 0, cuda::stream()>>>(
        range, kernel);
  }
  cuda::check_launch(typeid(Kernel));
}
#endif

/// Runs `kernel(id)` for every entity of `range`. A kernel gathers and writes its own entity only, so that
/// the order of execution cannot matter. It may come in two parts (kernels/two_part_kernel.hpp). One with a
/// constant `lanes` has a second body for GPUs, `together(id, lane)`, in which that many threads work on one
/// entity.
template <class E, class Kernel>
void for_each(const Executor& executor, Range<E> range, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel is a flat struct of views");
  std::visit([&](const auto& backend) { backend.for_each(range, kernel); }, executor.backend());
}

}  // namespace curlew
