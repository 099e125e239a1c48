// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <typeinfo>

#include "kernels/staging.hpp"

struct CUgraphExec_st;
struct CUstream_st;

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

CUstream_st* stream();
/// Throws Error, naming the kernel, where the last launch was refused or something before it has failed.
void check_launch(const std::type_info& kernel);
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

/// Whether launches are being recorded: none of what is declared above but `stream` and `check_launch` may be
/// asked for then.
bool is_recording();

/// Launches that the GPU has in its keeping.
class Graph {
 public:
  Graph() = default;
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Keeps what `launches()` launches, which does not run yet, in place of what was recorded before.
  void record(const std::function<void()>& launches);
  /// Launches what was recorded.
  void launch();

 private:
  CUgraphExec_st* graph_ = nullptr;
};

}  // namespace curlew::cuda
