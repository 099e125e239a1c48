// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
//
// CUDA's runtime, as far as Curlew uses it, for a GPU whose kernels run on the host: linked in place of
// NVIDIA's. What a stream is asked for happens as late as it may, when somebody waits for it; or, where the
// environment has CURLEW_EMULATED_GPU_EAGER, as early as it may if the stream is of high priority. All else
// is as in NVIDIA, CUDA Runtime API.

#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernel_list.hpp"

namespace curlew::emulated {

/// What the host asked for, and how often.
struct Counts {
  int waits = 0;        ///< for something that was not done yet
  int launches = 0;     ///< of kernels one by one
  int repetitions = 0;  ///< of graphs
  int graphs_made = 0, graphs_changed = 0;
};
Counts counts;

namespace {

/// A launch or a copy.
struct Operation {
  const Kernel* kernel;  ///< null for a copy
  std::function<void()> run;
};
using Operations = std::vector<Operation>;

/// What was asked for in turn and has not been done yet, of how much in all.
struct Stream {
  bool is_eager;  ///< does at once what it is asked for, and before that what this waits for
  std::deque<Operation> waiting = {};
  std::uint64_t asked = 0;
};

/// As much as a stream was asked for when the event was recorded last.
struct Event {
  Stream* stream = nullptr;
  std::uint64_t asked = 0;
};

std::string demangled(const char* name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(name, nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 ? text.get() : name;
}

class Gpu {
 public:
  static Gpu& get() {
    static auto* const gpu = new Gpu;  // never destroyed: fields may be released after it would be
    return *gpu;
  }

  /// `function` is what a program names when it launches the kernel of that name.
  void add_kernel(const void* function, const char* name) {
    const auto kernel = by_name_.find(name);
    if (kernel != by_name_.end()) by_function_[function] = kernel->second;
  }

  cudaError_t launch(Stream& stream, const void* function, dim3 grid, dim3 block, void** arguments) {
    const auto found = by_function_.find(function);
    if (found == by_function_.end()) return cudaErrorInvalidDeviceFunction;
    const Kernel& kernel = *found->second;
    constexpr unsigned most_lanes = 1024, most_blocks = 0x7fffffff, most_shared_bytes = 48 << 10;
    if (grid.x == 0 || grid.x > most_blocks || block.x == 0 || block.x > most_lanes ||
        kernel.shared_bytes > most_shared_bytes || std::max({grid.y, grid.z, block.y, block.z}) > 1)
      return cudaErrorInvalidConfiguration;
    Launch asked{0, &traffic_[&kernel], grid.x, block.x, {}};
    for (std::size_t k = 0; k < kernel.parameters.size(); ++k) {
      const auto [begin, bytes] = kernel.parameters[k];
      asked.arguments.resize(begin + bytes);
      std::memcpy(asked.arguments.data() + begin, arguments[k], bytes);
    }
    return add(stream, {&kernel, [this, &kernel, asked] { run(kernel, asked); }});
  }

  cudaError_t copy(Stream& stream, void* to, const void* from, std::size_t bytes, cudaMemcpyKind direction) {
    const DeviceMemory& memory = DeviceMemory::get();
    if (memory.contains(from) != (direction != cudaMemcpyHostToDevice) ||
        memory.contains(to) != (direction != cudaMemcpyDeviceToHost))
      return cudaErrorInvalidValue;
    if (recorded_ && direction != cudaMemcpyDeviceToDevice) return spoil_recording();
    if (bytes == 0) return cudaSuccess;
    return add(stream, {nullptr, [this, to, from, bytes] { run_copy(to, from, bytes); }});
  }
  /// Lets a stream wait for an event.
  cudaError_t wait(Stream& stream, const Event& event) {
    return add(stream, {nullptr, [this, event] { run_until(event); }});
  }
  cudaError_t launch(Stream& stream, const Operations& operations) {
    for (const Operation& operation : operations) {
      if (const cudaError_t status = add(stream, operation); status != cudaSuccess) return status;
    }
    return cudaSuccess;
  }

  /// Whether something that was asked of a stream before an event is not done yet.
  static bool is_pending(const Event& event) {
    const Stream* stream = event.stream;
    return stream != nullptr && !stream->waiting.empty() &&
           stream->asked - stream->waiting.size() < event.asked;
  }
  /// Does what was asked of a stream before an event, and of others as far as that waits for them.
  cudaError_t synchronise(const Event& event) {
    if (recorded_) return spoil_recording();
    if (is_pending(event)) ++counts.waits;
    try {
      run_until(event);
    } catch (const Fault& fault) {
      fault_ = fault.what();
    }
    return is_broken() ? cudaErrorLaunchFailure : cudaSuccess;
  }
  cudaError_t synchronise_all() {
    cudaError_t status = cudaSuccess;
    for (const std::unique_ptr<Stream>& stream : streams_)
      status = synchronise({stream.get(), stream->asked});
    return status;
  }

  Stream* make_stream(bool is_eager) {
    return streams_.emplace_back(std::make_unique<Stream>(Stream{is_eager})).get();
  }

  bool is_recording() const { return recorded_ != nullptr; }
  cudaError_t begin_recording() {
    if (recorded_) return cudaErrorIllegalState;
    recorded_ = std::make_unique<Operations>();
    is_spoilt_ = false;
    return cudaSuccess;
  }
  /// What may not be asked for while launches are recorded.
  cudaError_t spoil_recording() {
    is_spoilt_ = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  cudaError_t end_recording(cudaGraph_t* graph) {
    if (!recorded_) return cudaErrorIllegalState;
    std::unique_ptr<Operations> operations = std::exchange(recorded_, nullptr);
    if (is_spoilt_) return cudaErrorStreamCaptureInvalidated;
    *graph = reinterpret_cast<cudaGraph_t>(operations.release());
    return cudaSuccess;
  }

  /// Once a kernel did what none may do, for good.
  bool is_broken() const { return !fault_.empty(); }
  const std::string& fault() const { return fault_; }

  std::mutex mutex;
  cudaError_t last_error = cudaSuccess;

 private:
  Gpu() {
    for (const std::vector<Kernel>& kernels : kernels_) {
      for (const Kernel& kernel : kernels) by_name_[kernel.name] = &kernel;
    }
    std::atexit([] {
      if (const char* path = std::getenv(traffic_file)) get().write_traffic(path);
    });
  }

  /// The environment names a file for it.
  static constexpr const char* traffic_file = "CURLEW_EMULATED_GPU_TRAFFIC";
  void write_traffic(const char* path) const {
    std::ofstream file(path);
    file << "launches,read_bytes,written_bytes,kernel\n";
    for (const auto& [kernel, traffic] : traffic_) {
      file << traffic.launches << ',' << traffic.read_bytes << ',' << traffic.written_bytes << ",\""
           << demangled(kernel->name) << "\"\n";
    }
    for (const auto& [what, count] : {std::pair("waits of the host", counts.waits),
                                      {"launches one by one", counts.launches},
                                      {"repetitions of graphs", counts.repetitions},
                                      {"graphs made", counts.graphs_made},
                                      {"graphs changed", counts.graphs_changed}})
      file << count << ",0,0,\"(" << what << ")\"\n";
  }

  cudaError_t add(Stream& stream, Operation operation) {
    if (is_broken()) return cudaErrorLaunchFailure;
    if (recorded_) {
      recorded_->push_back(std::move(operation));
      return cudaSuccess;
    }
    stream.waiting.push_back(std::move(operation));
    ++stream.asked;
    return stream.is_eager ? synchronise({&stream, stream.asked}) : cudaSuccess;
  }

  void run_until(const Event& event) {
    while (!is_broken() && is_pending(event)) {
      std::deque<Operation>& waiting = event.stream->waiting;
      const Operation operation = std::move(waiting.front());
      waiting.pop_front();
      operation.run();
    }
  }

  /// Blocks come from the first to the last and the other way, by turns.
  void run(const Kernel& kernel, Launch launch) {
    launch.time = ++time_;
    ++launch.traffic->launches;
    try {
      run_blocks(kernel, launch);
    } catch (const Fault& fault) {
      throw Fault(demangled(kernel.name) + " " + fault.what());
    }
  }
  void run_blocks(const Kernel& kernel, const Launch& launch) {
    if (shared_accesses_.size() < kernel.shared_bytes) shared_accesses_.resize(kernel.shared_bytes);
    for (std::uint32_t k = 0; k < launch.blocks; ++k) {
      std::vector<std::byte> memory(kernel.shared_bytes);
      const std::uint32_t number = time_ % 2 == 0 ? k : launch.blocks - 1 - k;
      Block block{launch, number, memory, shared_accesses_, block_time_ + 1, block_time_};
      kernel.run(block);
      block_time_ = block.now;
    }
  }

  void run_copy(void* to, const void* from, std::size_t bytes) {
    const DeviceMemory& memory = DeviceMemory::get();
    const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
    std::memmove(memory.contains(to) ? memory.storage(target, bytes) : to,
                 memory.contains(from) ? memory.storage(source, bytes) : from, bytes);
    ++time_;
    if (!memory.contains(to)) {
      try {
        note_read(memory.accesses(source, bytes), {time_, 0}, 1);
      } catch (const Fault& fault) {
        throw Fault(std::string("a copy to the host ") + fault.what());
      }
      return;
    }
    const Access written{{time_, 0}, {}};
    if (memory.contains(from)) {  // what nothing was written to stays so
      std::ranges::transform(
          memory.accesses(source, bytes), memory.accesses(target, bytes).begin(),
          [&](const Access& access) { return access.writer == Toucher{} ? Access{} : written; });
    } else {
      std::ranges::fill(memory.accesses(target, bytes), written);
    }
  }

  const std::vector<std::vector<Kernel>> kernels_ = all_kernels();
  std::unordered_map<std::string, const Kernel*> by_name_;
  std::unordered_map<const void*, const Kernel*> by_function_;
  std::map<const Kernel*, Traffic> traffic_;
  std::vector<std::unique_ptr<Stream>> streams_;
  std::unique_ptr<Operations> recorded_;  // null when none are
  bool is_spoilt_ = false;
  std::string fault_;
  std::uint64_t time_ = 0, block_time_ = 0;
  std::vector<Access> shared_accesses_;
};

/// What is asked of the GPU, an error being noted for cudaGetLastError.
template <class Body>
cudaError_t ask(const Body& body) {
  Gpu& gpu = Gpu::get();
  const std::lock_guard lock(gpu.mutex);
  const cudaError_t status = body(gpu);
  if (status != cudaSuccess) gpu.last_error = status;
  return status;
}

struct Configuration {
  dim3 grid, block;
  cudaStream_t stream;
};
thread_local Configuration configuration;

Operations& operations_of(void* graph) {
  return *static_cast<Operations*>(graph);
}
Stream& of(cudaStream_t stream) {
  return *reinterpret_cast<Stream*>(stream);
}
Event& of(cudaEvent_t event) {
  return *reinterpret_cast<Event*>(event);
}

}  // namespace

extern "C" {

// What the code calls that nvcc makes of a launch.

void** __cudaRegisterFatBinary(void* binary) {
  return static_cast<void**>(binary);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction(void**, const char* function, char*, const char* name, int, uint3*, uint3*, dim3*,
                            dim3*, int*) {
  Gpu::get().add_kernel(function, name);
}
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t, cudaStream_t stream) {
  configuration = {grid, block, stream};
  return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes, void* stream) {
  *grid = configuration.grid;
  *block = configuration.block;
  *shared_bytes = 0;
  *static_cast<cudaStream_t*>(stream) = configuration.stream;
  return cudaSuccess;
}
cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t,
                             cudaStream_t stream) {
  return ask([&](Gpu& gpu) {
    if (!gpu.is_recording()) ++counts.launches;
    return gpu.launch(of(stream), function, grid, block, arguments);
  });
}
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = static_cast<cudaKernel_t>(const_cast<void*>(function));
  return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t bytes, cudaStream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, bytes, stream);
}

// What Curlew calls.

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const char* given = std::getenv("CURLEW_EMULATED_GPU_CAPABILITY");  // ten times what it is
  const int capability = given == nullptr ? 90 : std::atoi(given);
  *value = attribute == cudaDevAttrComputeCapabilityMajor ? capability / 10 : capability % 10;
  return cudaSuccess;
}
/// Processes have one GPU together, unless the environment numbers it.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  const char* number = std::getenv("CURLEW_EMULATED_GPU_NUMBER");
  *properties = {};
  properties->uuid.bytes[0] = static_cast<char>(number == nullptr ? 0 : std::atoi(number));
  return cudaSuccess;
}
/// An old driver, by the environment, does not know the PTX.
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  *attributes = {};
  return std::getenv("CURLEW_EMULATED_GPU_OLD_DRIVER") == nullptr ? cudaSuccess
                                                                  : cudaErrorUnsupportedPtxVersion;
}
cudaError_t cudaSetDevice(int) {
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  return std::exchange(Gpu::get().last_error, cudaSuccess);
}
const char* cudaGetErrorString(cudaError_t) {
  return Gpu::get().is_broken() ? Gpu::get().fault().c_str() : "the emulated GPU refuses this";
}
const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDeviceFunction:
      return "cudaErrorInvalidDeviceFunction";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorLaunchFailure:
      return "cudaErrorLaunchFailure";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    default:
      return "another error";
  }
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  return ask([&](Gpu& gpu) {
    if (gpu.is_recording()) return gpu.spoil_recording();
    if (gpu.is_broken()) return cudaErrorLaunchFailure;
    *data = DeviceMemory::get().allocate(bytes);
    return *data == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
  });
}
cudaError_t cudaFree(void* data) {
  return ask([&](Gpu& gpu) {
    const cudaError_t status = gpu.synchronise_all();
    if (status == cudaSuccess) DeviceMemory::get().release(data);
    return status;
  });
}
cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  *data = std::malloc(bytes);
  if (*data == nullptr) return cudaErrorMemoryAllocation;
  return ask([&](const Gpu&) {
    DeviceMemory::get().open_to_kernels({static_cast<std::byte*>(*data), bytes});
    return cudaSuccess;
  });
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = DeviceMemory::get().free_bytes();
  *total = DeviceMemory::get().capacity();
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind direction,
                            cudaStream_t stream) {
  return ask([&](Gpu& gpu) { return gpu.copy(of(stream), to, from, bytes, direction); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int priority) {
  return ask([&](Gpu& gpu) {
    const bool is_eager = priority < 0 && std::getenv("CURLEW_EMULATED_GPU_EAGER") != nullptr;
    *stream = reinterpret_cast<cudaStream_t>(gpu.make_stream(is_eager));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return ask([&](Gpu& gpu) { return gpu.synchronise({&of(stream), of(stream).asked}); });
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = reinterpret_cast<cudaEvent_t>(new Event);
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return ask([&](const Gpu&) {
    of(event) = {&of(stream), of(stream).asked};
    return cudaSuccess;
  });
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return ask([&](Gpu& gpu) { return gpu.synchronise(of(event)); });
}
/// Who asks again and again waits, too, but has to ask thrice.
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  static int asked = 0;
  return ask([&](Gpu& gpu) {
    const Event all{&of(stream), of(stream).asked};
    return ++asked % 3 != 0 && Gpu::is_pending(all) && !gpu.is_recording() && !gpu.is_broken()
               ? cudaErrorNotReady
               : gpu.synchronise(all);
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return ask([&](Gpu& gpu) { return gpu.wait(of(stream), of(event)); });
}
cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus* status) {
  return ask([&](const Gpu& gpu) {
    *status = gpu.is_recording() ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return ask([](Gpu& gpu) { return gpu.begin_recording(); });
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  *graph = nullptr;
  return ask([&](Gpu& gpu) { return gpu.end_recording(graph); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete &operations_of(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  ++counts.graphs_made;
  *executable = reinterpret_cast<cudaGraphExec_t>(new Operations(operations_of(graph)));
  return cudaSuccess;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo*) {
  return ask([&](const Gpu&) {
    if (!std::ranges::equal(operations_of(executable), operations_of(graph), {}, &Operation::kernel,
                            &Operation::kernel))
      return cudaErrorGraphExecUpdateFailure;
    ++counts.graphs_changed;
    operations_of(executable) = operations_of(graph);
    return cudaSuccess;
  });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete &operations_of(executable);
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  return ask([&](Gpu& gpu) {
    ++counts.repetitions;
    return gpu.launch(of(stream), operations_of(executable));
  });
}

}  // extern "C"

}  // namespace curlew::emulated
