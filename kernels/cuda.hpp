// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "kernels/staging.hpp"

struct CUgraphExec_st;

/// What the CUDA backend asks of the GPU, without CUDA's headers; there in builds with CUDA alone. One GPU
/// and one stream a process: what is launched, copied and released happens in that order, but for the copies
/// of a Staging.
namespace curlew::cuda {

/// Why there is no GPU to use, empty where there is one: of compute capability 7.5 or newer.
std::string problem();
int device_count();
/// Makes `device` the process's GPU. Throws InputError where there is none of that number, where it or its
/// driver is too old, or where another one is in use.
void select(int device);

/// Launches a function of the GPU's that takes a range and a kernel, or notes that down where launches are
/// recorded. Throws Error, naming the kernel, where it is refused or something before it has failed.
void launch(const void* function, unsigned blocks, unsigned threads, std::span<const std::byte> range,
            std::span<const std::byte> kernel, const std::type_info& name);
/// Waits for all that was launched; throws Error where something of it failed.
void synchronise();

/// Memory of the GPU, from a pool that keeps what is released: a time loop that allocates what it released in
/// the step before asks nothing of the driver. Where the environment has CURLEW_GPU_POOL=0 it keeps nothing
/// and allocates no more than is asked for, so that tools find whoever touches what is not his. Throws Error
/// with the byte counts where there is not enough.
void* allocate(std::size_t bytes);
void release(void* data) noexcept;
/// Memory that is in use [bytes].
std::size_t used_memory();
/// The name that the GPU in use has among all GPUs there are (its UUID).
std::string unique_name();
/// Memory that could still be allocated: what the driver has free and what the pool keeps [bytes].
std::size_t free_memory();

enum class Direction { ToDevice, ToHost, OnDevice };
/// Copies; when it returns, `from` may be overwritten and, on the host, `to` be read.
void copy(void* to, const void* from, std::size_t bytes, Direction direction);

std::unique_ptr<Staging> make_staging(std::size_t bytes);

/// Whether launches are being recorded: of what is declared above, `launch` alone may be asked for then.
bool is_recording();

/// Launches and their arguments, in order.
class Launches {
 public:
  void clear();
  void add(const void* function, unsigned blocks, unsigned threads, std::span<const std::byte> range,
           std::span<const std::byte> kernel);
  /// Calls `launch(function, blocks, threads, range, kernel)` for each.
  void visit(const auto& launch) const {
    for (const Launch& l : launches_)
      launch(l.function, l.blocks, l.threads, arguments_.data() + l.range, arguments_.data() + l.kernel);
  }
  bool operator==(const Launches&) const = default;

 private:
  struct Launch {
    const void* function;
    unsigned blocks, threads;
    std::size_t range, kernel;  // where they begin among the arguments
    bool operator==(const Launch&) const = default;
  };
  std::size_t keep(std::span<const std::byte> argument);

  std::vector<Launch> launches_;
  std::vector<std::byte> arguments_;
};

/// Launches that the GPU has in its keeping.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Keeps what `launches()` launches, which does not run yet, in place of what was recorded before. The GPU
  /// hears of it only where that was something else.
  void record(const std::function<void()>& launches);
  /// Launches what was recorded.
  void launch();

 private:
  Launches recorded_, noted_;
  CUgraphExec_st* graph_ = nullptr;
};

}  // namespace curlew::cuda
