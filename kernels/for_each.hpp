// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <type_traits>

#include "kernels/executor.hpp"

#if defined(CURLEW_CUDA)
#if !defined(__CUDACC__)
#error \
    "this file launches kernels: name it in curlew_launches() of its CMakeLists.txt, so that nvcc compiles it"
#endif
#include <span>
#include <typeinfo>

#include "kernels/cuda.hpp"
#endif

namespace curlew {

inline constexpr Index threads_per_warp = 32;  ///< of a GPU: those that run in step

#if defined(CURLEW_CUDA)
namespace detail {

inline constexpr Index threads_per_block = 256;

/// How many entities a thread works on.
template <class Kernel>
inline constexpr Index entities_a_thread = 1;
template <class Kernel>
requires requires {
  Kernel::entities_a_thread;
}
inline constexpr Index entities_a_thread<Kernel> = Kernel::entities_a_thread;

template <class E, class Kernel>
__global__ void __launch_bounds__(threads_per_block) run_on_entities(Range<E> range, Kernel kernel) {
  constexpr Index count = entities_a_thread<Kernel>;
  const std::int64_t first = range.first() +
                             static_cast<std::int64_t>(blockIdx.x) * count * threads_per_block +
                             static_cast<std::int64_t>(threadIdx.x);
  const auto entity = [&](Index k) { return Id<E>(static_cast<Index>(first + k * threads_per_block)); };
  if constexpr (count > 1) {
    // What is gathered for all of them is on its way at the same time.
    if (first + (count - 1) * threads_per_block < range.last()) {
      decltype(kernel.gathered(entity(0))) values[count];
#pragma unroll
      for (Index k = 0; k < count; ++k) values[k] = kernel.gathered(entity(k));
#pragma unroll
      for (Index k = 0; k < count; ++k) kernel.finish_with(entity(k), values[k]);
      return;
    }
  }
  for (Index k = 0; k < count; ++k) {
    if (first + k * threads_per_block < range.last()) run_on_entity(kernel, entity(k));
  }
}

/// For kernels in which a block of threads works on one entity together.
template <class E, class Kernel>
__global__ void __launch_bounds__(Kernel::lanes) run_together(Range<E> range, Kernel kernel) {
  kernel.together(Id<E>(range.first() + static_cast<Index>(blockIdx.x)), static_cast<Index>(threadIdx.x));
}

}  // namespace detail

template <class E, class Kernel>
void Cuda::for_each(Range<E> range, const Kernel& given) const {
  if (range.empty()) return;
  // What lies between the members of a kernel is zero, so that launches of equal kernels are equal bytes.
  Kernel kernel = given;
  __builtin_clear_padding(&kernel);
  const auto launch = [&](void (*function)(Range<E>, Kernel), Index blocks, Index threads) {
    cuda::launch(reinterpret_cast<const void*>(function), static_cast<unsigned>(blocks),
                 static_cast<unsigned>(threads), std::as_bytes(std::span(&range, 1)),
                 std::as_bytes(std::span(&kernel, 1)), typeid(Kernel));
  };
  if constexpr (requires { Kernel::lanes; }) {
    launch(detail::run_together<E, Kernel>, range.size(), Kernel::lanes);
  } else {
    const Index in_a_block = detail::entities_a_thread<Kernel> * detail::threads_per_block;
    launch(detail::run_on_entities<E, Kernel>, (range.size() - 1) / in_a_block + 1,
           detail::threads_per_block);
  }
}
#endif

/// Runs `kernel(id)` for every entity of `range`. A kernel gathers and writes its own entity only, so that
/// the order of execution cannot matter. It may come in two parts (kernels/two_part_kernel.hpp). One with a
/// constant `lanes` has a second body for GPUs, `together(id, lane)`, in which that many threads work on one
/// entity. One with a constant `entities_a_thread` has its body in two parts for them, `gathered(id)` and
/// `finish_with(id, gathered)`, of which a thread does first the one and then the other for so many entities.
template <class E, class Kernel>
void for_each(const Executor& executor, Range<E> range, const Kernel& kernel) {
  static_assert(std::is_trivially_copyable_v<Kernel>, "a kernel is a flat struct of views");
  std::visit([&](const auto& backend) { backend.for_each(range, kernel); }, executor.backend());
}

}  // namespace curlew
