// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "kernels/error.hpp"
#include "kernels/id.hpp"
#include "kernels/memory.hpp"
#include "kernels/ranks.hpp"
#include "kernels/recording.hpp"
#include "kernels/two_part_kernel.hpp"

namespace curlew {

/// How much work a kernel does for one entity, relative to a mesh entity: what decides whether threads pay.
template <class E>
inline constexpr Index work_per_entity = 1;

namespace detail {

/// One thread's work: that of a kernel on each entity of a range. In a function of its own it is compiled
/// once for all backends on the host, and what the kernel writes cannot change the kernel, a copy that nobody
/// else has.
template <class E, class Kernel>
[[gnu::noinline]] void run_on_range(Range<E> range, Kernel kernel) {
  if constexpr (InTwoParts<Kernel, E>) {
    constexpr Index block = two_part_kernel::block;
    for (Index first = range.first(); first < range.last(); first += block)
      two_part_kernel::run_on_block<E>(kernel, first, std::min(block, range.last() - first));
  } else {
    for (const Id<E> i : range) kernel(i);
  }
}

}  // namespace detail

/// One core: the plain reference every other backend is compared with.
struct Serial {
  static constexpr MemorySpace space = MemorySpace::Host;

  template <class E, class Kernel>
  void for_each(Range<E> range, const Kernel& kernel) const {
    detail::run_on_range(range, kernel);
  }
};

/// The cores of one shared-memory machine, to each of which goes a part of the range.
struct OpenMP {
  static constexpr MemorySpace space = MemorySpace::Host;
  int threads = 1;

  template <class E, class Kernel>
  void for_each(Range<E> range, const Kernel& kernel) const {
    if (threads == 1 || range.size() <= smallest_parallel_range / work_per_entity<E>)
      return detail::run_on_range(range, kernel);
#pragma omp parallel num_threads(threads)
    detail::run_on_range(part_of_this_thread(range), kernel);
  }

  /// Below this many entities starting the threads costs more than the loop.
  static constexpr Index smallest_parallel_range = 4096;

 private:
  template <class E>
  static Range<E> part_of_this_thread(Range<E> range) {
    const std::int64_t number = omp_get_thread_num(), count = omp_get_num_threads();
    const auto start = [&](std::int64_t thread) {
      return range.first() + static_cast<Index>(range.size() * thread / count);
    };
    return Range<E>(start(number), start(number + 1));
  }
};

/// Stands for a GPU where there is none: separate, poisoned memory that only kernels and copies may touch.
struct DebugDevice {
  static constexpr MemorySpace space = MemorySpace::DebugDevice;

  template <class E, class Kernel>
  void for_each(Range<E> range, const Kernel& kernel) const {
    const auto launch = [range, kernel] {
      const DebugDeviceAccess access;
      detail::run_on_range(range, kernel);
    };
    if (detail::recorded_launches != nullptr) {
      detail::recorded_launches->push_back(launch);
    } else {
      launch();
    }
  }
};

#if defined(CURLEW_CUDA)
/// One GPU: kernels run one after the other on a stream while the host goes on; a copy to the host waits for
/// them.
struct Cuda {
  static constexpr MemorySpace space = MemorySpace::Cuda;

  /// Only where the compiler is CUDA's (kernels/for_each.hpp).
  template <class E, class Kernel>
  void for_each(Range<E> range, const Kernel& kernel) const;
};
#endif

/// Why `Executor::cuda()` cannot be had, as a sentence that says what would be right; empty where it can.
std::string cuda_problem();
/// How many GPUs this process sees.
int cuda_device_count();

/// The run-time backend; visited once per launch, never per entity. Cheap to copy.
class Executor {
 public:
#if defined(CURLEW_CUDA)
  using Backend = std::variant<Serial, OpenMP, DebugDevice, Cuda>;
#else
  using Backend = std::variant<Serial, OpenMP, DebugDevice>;
#endif

  static Executor serial() {
    return Executor(Serial{});
  }
  static Executor openmp(int threads) {
    return Executor(OpenMP{threads});
  }
  static Executor debug_device() {
    return Executor(DebugDevice{});
  }
  /// The GPU of this number; a process uses one, the first it asks for. Throws InputError with
  /// cuda_problem(), or where there is no GPU of that number.
  static Executor cuda(int device = 0);

  MemorySpace space() const {
    return std::visit([](const auto& backend) { return backend.space; }, backend_);
  }
  /// Threads that run a kernel; 1 where the notion does not apply.
  int threads() const {
    const auto* openmp = std::get_if<OpenMP>(&backend_);
    return openmp ? openmp->threads : 1;
  }
  std::string name() const;
  /// Waits for the kernels launched so far; throws Error where one failed.
  void synchronise() const;
  const Backend& backend() const {
    return backend_;
  }

  /// The same, of one of several ranks that reduce together: sums and maxima over what all of them have.
  Executor among(std::shared_ptr<const Ranks> ranks) const {
    Executor executor = *this;
    executor.ranks_ = std::move(ranks);
    return executor;
  }
  /// The same, but where it would work on what needs no values of other ranks while these are on their way,
  /// it waits for them first.
  Executor without_overlap() const {
    Executor executor = *this;
    executor.overlaps_ = false;
    return executor;
  }
  /// Null: of a rank alone.
  const Ranks* ranks() const {
    return ranks_.get();
  }
  bool overlaps() const {
    return overlaps_;
  }
  /// Whether reductions need no other rank.
  bool is_alone() const {
    return ranks_ == nullptr || ranks_->ranks() == 1;
  }

  /// Memory of at least `size` reals for the partial sums of a reduction; grows once and is kept.
  Real* reduction_scratch(std::size_t size) const;

 private:
  explicit Executor(Backend backend) : backend_(backend), scratch_(std::make_shared<Buffer<Real>>()) {}

  Backend backend_;
  std::shared_ptr<Buffer<Real>> scratch_;
  std::shared_ptr<const Ranks> ranks_;
  bool overlaps_ = true;
};

/// Calls `body(id)` for every id of a range, of a body that reads a layout for processors; throws Error where
/// the executor is another device.
template <class E, class Body>
void for_each_on_host(const Executor& executor, Range<E> range, const Body& body) {
  std::visit(
      [&]<class Backend>(const Backend& backend) {
        if constexpr (Backend::space == MemorySpace::Host) {
          backend.for_each(range, body);
        } else {
          throw Error("this layout is for processors, not for executor " + executor.name());
        }
      },
      executor.backend());
}

}  // namespace curlew
