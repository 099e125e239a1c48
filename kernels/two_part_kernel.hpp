// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <type_traits>

#include "kernels/id.hpp"

namespace curlew {

/// A kernel in two parts: `gather(i)`, most often the sum over a row of neighbours, and `finish(i,
/// gathered)`, what is made of it. A GPU's thread does one after the other. A processor gathers for some
/// entities first and then finishes them: each of the two loops has its numbers in registers, and the sums of
/// several rows are formed side by side (docs/kernels.md).
template <class Kernel, class E>
concept InTwoParts = requires(const Kernel& kernel, Id<E> i) {
  kernel.finish(i, kernel.gather(i));
};

/// A kernel's work on one entity, with what it returns.
template <class E, class Kernel>
CURLEW_HOST_DEVICE decltype(auto) run_on_entity(const Kernel& kernel, Id<E> i) {
  if constexpr (InTwoParts<Kernel, E>) {
    return kernel.finish(i, kernel.gather(i));
  } else {
    return kernel(i);
  }
}

namespace two_part_kernel {

constexpr Index block = 64;  ///< entities that a processor gathers for before it finishes them

/// One thread's work on `count` entities from `first` on, at most a block. What the kernel returns, if it
/// does, goes to `results`; null for nowhere. A call for each entity would send vectors through memory, and
/// what is written cannot change a kernel that is a copy.
template <class E, class Kernel>
[[gnu::flatten]] void run_on_block(Kernel kernel, Index first, Index count, Real* results = nullptr) {
  using Gathered = decltype(kernel.gather(Id<E>(first)));
  static_assert(std::is_trivially_copyable_v<Gathered>);
  union Room {  // which nobody fills with zeros first
    Room() {}
    Gathered values[block];
  } room;
  for (Index k = 0; k < count; ++k) room.values[k] = kernel.gather(Id<E>(first + k));
  for (Index k = 0; k < count; ++k) {
    const Id<E> i(first + k);
    if constexpr (std::is_void_v<decltype(kernel.finish(i, room.values[k]))>) {
      kernel.finish(i, room.values[k]);
    } else {
      const Real result = kernel.finish(i, room.values[k]);
      if (results != nullptr) results[k] = result;
    }
  }
}

}  // namespace two_part_kernel

}  // namespace curlew
