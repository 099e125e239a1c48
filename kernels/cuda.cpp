// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/cuda.hpp"

#include <cuda_runtime_api.h>
#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/memory_use.hpp"

namespace curlew::cuda {

namespace {

std::string text(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw Error(std::string("the GPU failed ") + what + ": " + text(status));
}

bool is_set_to_zero(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && std::strcmp(value, "0") == 0;
}

/// Copies a few words to memory of the host, and then, for it to see that they are there, a number. By one
/// block.
__global__ void deliver(const unsigned* from, unsigned words, unsigned* to, volatile unsigned* delivery,
                        unsigned number) {
  for (unsigned k = threadIdx.x; k < words; k += blockDim.x) to[k] = from[k];
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence_system();
    *delivery = number;
  }
}

/// What launches are noted down in instead of made; else null.
Launches* recorded_launches = nullptr;

/// The GPU in use and what belongs to it. Never destroyed: the driver takes everything back at the end of the
/// process, perhaps before the last field is released.
class Device {
 public:
  static Device*& in_use() {
    static Device* device = nullptr;
    return device;
  }
  static Device& get() {
    if (in_use() == nullptr) select(0);
    return *in_use();
  }

  explicit Device(int number) : number_(number) {
    check(cudaSetDevice(number), "to start");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "to make a stream");
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "to tell what its streams may be");
    check(cudaStreamCreateWithPriority(&copy_stream_, cudaStreamNonBlocking, greatest), "to make a stream");
    void* data = nullptr;
    check(cudaMallocHost(&data, (slots_.size() + 2) * staging_bytes), "to allocate memory for copies");
    landing_ = static_cast<std::byte*>(data);
    delivery_ = new (landing_ + staging_bytes) unsigned(0);
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      slots_[k].data = landing_ + (k + 2) * staging_bytes;
      check(cudaEventCreateWithFlags(&slots_[k].copied, cudaEventDisableTiming), "to make an event");
    }
  }

  int number() const { return number_; }
  cudaStream_t stream() const { return stream_; }
  cudaStream_t copy_stream() const { return copy_stream_; }

  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t wanted = rounded(bytes);
    // The smallest block that is large enough, unless a quarter of it would lie idle.
    const auto kept = kept_.lower_bound(wanted);
    if (kept != kept_.end() && kept->first - wanted <= wanted / 4) {
      void* data = kept->second;
      sizes_[data] = kept->first;
      kept_bytes_ -= kept->first;
      used_bytes_ += kept->first;
      kept_.erase(kept);
      return data;
    }
    void* data = nullptr;
    cudaError_t status = cudaMalloc(&data, wanted);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // forget the error
      give_back();
      status = cudaMalloc(&data, wanted);
    }
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      std::size_t free = 0, total = 0;
      cudaMemGetInfo(&free, &total);
      throw OutOfMemoryError("out of GPU memory: " + std::to_string(bytes) +
                             " bytes could not be allocated, " + std::to_string(free) + " of " +
                             std::to_string(total) + " are free; use a smaller mesh or more GPUs");
    }
    check(status, "to allocate memory");  // a kernel before may have failed
    sizes_[data] = wanted;
    used_bytes_ += wanted;
    return data;
  }

  void release(void* data) {
    const std::lock_guard lock(mutex_);
    const auto block = sizes_.find(data);
    kept_.emplace(block->second, data);
    kept_bytes_ += block->second;
    used_bytes_ -= block->second;
    sizes_.erase(block);
    // What launches that are noted down know of stays where it is.
    if (!keeps_ && recorded_launches == nullptr) give_back();
  }

  std::size_t used_memory() {
    const std::lock_guard lock(mutex_);
    return used_bytes_;
  }

  std::size_t free_memory() {
    const std::lock_guard lock(mutex_);
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "to tell how much memory it has");
    return free + kept_bytes_;
  }

  void copy(void* to, const void* from, std::size_t bytes, Direction direction) {
    const std::lock_guard lock(copy_mutex_);
    switch (direction) {
      case Direction::OnDevice:
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream_), "a copy");
        return;
      case Direction::ToDevice:
        if (bytes <= staging_bytes) {  // for which the host need not wait
          const Slot& slot = slots_[next_slot_++ % slots_.size()];
          check(cudaEventSynchronize(slot.copied), "in a copy");
          std::memcpy(slot.data, from, bytes);
          check(cudaMemcpyAsync(to, slot.data, bytes, cudaMemcpyHostToDevice, stream_),
                "a copy from the host");
          check(cudaEventRecord(slot.copied, stream_), "to note a moment");
          return;
        }
        // The driver copies pageable memory through buffers of its own.
        check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "a copy from the host");
        synchronise();
        return;
      case Direction::ToHost:
        // The result of a reduction comes through pinned memory, which needs no buffer of the driver's.
        void* landing = bytes <= staging_bytes ? landing_ : to;
        if (bytes <= staging_bytes && is_in_words(from, bytes)) {
          take_delivery(from, bytes);
        } else {
          check(cudaMemcpyAsync(landing, from, bytes, cudaMemcpyDeviceToHost, stream_), "a copy to the host");
          synchronise();
        }
        if (landing != to) std::memcpy(to, landing, bytes);
        return;
    }
  }

  void synchronise() { check(cudaStreamSynchronize(stream_), "in a kernel or copy"); }

  /// Pinned memory of the host and two moments: of launches before its last copy, and of that copy.
  struct Pinned {
    std::byte* data = nullptr;
    std::size_t size = 0;
    cudaEvent_t launched = nullptr, copied = nullptr;
  };
  Pinned take_pinned(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto kept =
        std::ranges::find_if(pinned_, [&](const Pinned& pinned) { return pinned.size >= bytes; });
    if (kept != pinned_.end()) {
      const Pinned taken = *kept;
      check(cudaEventSynchronize(taken.copied), "in a copy");  // the last one of who had it before
      pinned_.erase(kept);
      return taken;
    }
    pinned_.reserve(++pinned_made_);  // for all at once, so that giving back asks for no memory
    Pinned made;
    made.size = std::max(std::bit_ceil(bytes), staging_bytes);
    void* data = nullptr;
    check(cudaMallocHost(&data, made.size), "to allocate memory for copies");
    made.data = static_cast<std::byte*>(data);
    for (cudaEvent_t* event : {&made.launched, &made.copied})
      check(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "to make an event");
    return made;
  }
  void give_back_pinned(const Pinned& pinned) noexcept {
    const std::lock_guard lock(mutex_);
    const auto larger = [&](const Pinned& other) { return other.size >= pinned.size; };
    pinned_.insert(std::ranges::find_if(pinned_, larger), pinned);
  }

 private:
  static constexpr std::size_t staging_bytes = 4096;

  std::size_t rounded(std::size_t bytes) const {
    const std::size_t unit = keeps_ ? 512 : 1;
    return (bytes + unit - 1) / unit * unit;
  }
  static bool is_in_words(const void* data, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(data) % sizeof(unsigned) == 0 && bytes % sizeof(unsigned) == 0;
  }
  /// Brings a few words to `landing_`, sooner than a copy would: a kernel writes them there while the host
  /// looks for the number that comes last (docs/trials.md).
  void take_delivery(const void* from, std::size_t bytes) {
    constexpr unsigned threads = 32;
    auto words = static_cast<const unsigned*>(from);
    auto to = reinterpret_cast<unsigned*>(landing_);
    auto count = static_cast<unsigned>(bytes / sizeof(unsigned));
    unsigned number = ++deliveries_;
    void* arguments[] = {&words, &count, &to, &delivery_, &number};
    // By <<<>>> the status might be that of an earlier call.
    check(cudaLaunchKernel(reinterpret_cast<const void*>(deliver), dim3(1), dim3(threads), arguments, 0,
                           stream_),
          "in a kernel or copy");
    const std::atomic_ref<unsigned> delivered(*delivery_);
    constexpr unsigned looks_before_asking = 256;  // whether something has failed
    for (unsigned looks = 1; delivered.load(std::memory_order_acquire) != number; ++looks) {
      if (looks % looks_before_asking != 0) continue;
      const cudaError_t status = cudaStreamQuery(stream_);
      if (status == cudaErrorNotReady) {
        cudaGetLastError();  // forget it
        std::this_thread::yield();
        continue;
      }
      check(status, "in a kernel or copy");
      if (delivered.load(std::memory_order_acquire) == number) break;
      throw Error("the GPU is done, but what it wrote to the memory of the host is not there");
    }
  }
  /// Hands all blocks that lie idle back to the driver.
  void give_back() {
    cudaStreamSynchronize(stream_);
    for (const auto& [size, data] : kept_) cudaFree(data);
    cudaGetLastError();  // what had failed before shows again
    kept_.clear();
    kept_bytes_ = 0;
  }

  int number_;
  bool keeps_ = !is_set_to_zero("CURLEW_GPU_POOL");  // what is released, for what is allocated later
  cudaStream_t stream_ = nullptr, copy_stream_ = nullptr;
  /// Pinned memory of the host, and when what was in it last is on the GPU.
  struct Slot {
    std::byte* data = nullptr;
    cudaEvent_t copied = nullptr;
  };
  std::byte* landing_ = nullptr;  // pinned
  unsigned* delivery_ = nullptr;  // pinned: the number of the last one that has landed
  unsigned deliveries_ = 0;       // asked for
  std::array<Slot, 16> slots_;
  std::size_t next_slot_ = 0;
  std::mutex mutex_, copy_mutex_;
  std::multimap<std::size_t, void*> kept_;        // blocks that lie idle, by size
  std::unordered_map<void*, std::size_t> sizes_;  // blocks in use
  std::size_t kept_bytes_ = 0, used_bytes_ = 0;
  std::vector<Pinned> pinned_;   // that lies idle, by size
  std::size_t pinned_made_ = 0;  // idle or in use
};

class PinnedStaging final : public Staging {
 public:
  explicit PinnedStaging(const Device::Pinned& pinned) : Staging(pinned.data), pinned_(pinned) {}
  ~PinnedStaging() override { Device::get().give_back_pinned(pinned_); }

  void fetch(const void* from, std::size_t bytes) override {
    const cudaStream_t stream = Device::get().copy_stream();
    check(cudaEventRecord(pinned_.launched, Device::get().stream()), "to note a moment");
    check(cudaStreamWaitEvent(stream, pinned_.launched, 0), "to wait for a moment");
    if (bytes > 0)
      check(cudaMemcpyAsync(data(), from, bytes, cudaMemcpyDeviceToHost, stream), "a copy to the host");
    check(cudaEventRecord(pinned_.copied, stream), "to note a moment");
  }
  void wait() override { check(cudaEventSynchronize(pinned_.copied), "in a kernel or copy"); }
  void put(void* to, std::size_t offset, std::size_t bytes) override {
    if (bytes == 0) return;
    const cudaStream_t stream = Device::get().copy_stream();
    check(cudaMemcpyAsync(to, data() + offset, bytes, cudaMemcpyHostToDevice, stream),
          "a copy from the host");
    check(cudaEventRecord(pinned_.copied, stream), "to note a moment");
    check(cudaStreamWaitEvent(Device::get().stream(), pinned_.copied, 0), "to wait for a moment");
  }

 private:
  Device::Pinned pinned_;
};

/// Why a GPU of this machine cannot run the kernels; empty where it can.
std::string problem_of(int device) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "to tell what it can do");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "to tell what it can do");
  if (std::pair(major, minor) >= std::pair(7, 5)) return "";  // for which they are compiled
  return "GPU " + std::to_string(device) + " cannot be used: it has compute capability " +
         std::to_string(major) + "." + std::to_string(minor) +
         ", and 7.5 (Turing) or more is needed; use --backend cpu";
}

cudaError_t start(const void* function, unsigned blocks, unsigned threads, const std::byte* range,
                  const std::byte* kernel, cudaStream_t stream) {
  // The driver copies arguments and has no const for them.
  void* arguments[] = {const_cast<std::byte*>(range), const_cast<std::byte*>(kernel)};
  return cudaLaunchKernel(function, dim3(blocks), dim3(threads), arguments, 0, stream);
}

/// Makes a graph that has these launches, of the one that there is if it can be changed. The stream is as
/// before in any case.
void set_graph(cudaGraphExec_t& graph, const Launches& launches) {
  const cudaStream_t stream = Device::get().stream();
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "to record launches");
  cudaError_t status = cudaSuccess;
  launches.visit([&](auto... of_launch) {
    if (status == cudaSuccess) status = start(of_launch..., stream);
  });
  cudaGraph_t recorded = nullptr;
  const cudaError_t end = cudaStreamEndCapture(stream, &recorded);
  if (status == cudaSuccess) status = end;
  if (status != cudaSuccess && recorded != nullptr) cudaGraphDestroy(recorded);
  check(status, "to record launches");
  // Mostly the same kernels with other arguments, which is quickly changed.
  cudaGraphExecUpdateResultInfo result{};
  if (graph != nullptr && cudaGraphExecUpdate(graph, recorded, &result) != cudaSuccess) {
    cudaGetLastError();
    cudaGraphExecDestroy(graph);
    graph = nullptr;
  }
  if (graph == nullptr) status = cudaGraphInstantiate(&graph, recorded, 0);
  cudaGraphDestroy(recorded);
  check(status, "to make a graph of launches");
}

}  // namespace

std::string problem() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) {
    std::string why = problem_of(0);
    for (int device = 1; device < count && !why.empty(); ++device) why = problem_of(device);
    return why;
  }
  cudaGetLastError();
  const std::string why = status == cudaSuccess ? "the driver finds none" : cudaGetErrorString(status);
  return "no NVIDIA GPU can be used here (" + why + "); use --backend cpu";
}

int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

void select(int device) {
  Device*& in_use = Device::in_use();
  if (in_use != nullptr && in_use->number() == device) return;
  if (in_use != nullptr) {
    throw InputError("GPU " + std::to_string(device) + " was asked for while GPU " +
                     std::to_string(in_use->number()) + " is in use; a process uses one");
  }
  if (const std::string why = problem(); !why.empty()) throw InputError(why);
  int count = 0;
  check(cudaGetDeviceCount(&count), "to be counted");
  if (device < 0 || device >= count) {
    throw InputError("there is no GPU " + std::to_string(device) + "; this machine has " +
                     std::to_string(count) + ", numbered from 0");
  }
  if (const std::string why = problem_of(device); !why.empty()) throw InputError(why);
  auto selected = std::make_unique<Device>(device);
  cudaFuncAttributes attributes;
  // A driver that cannot load this kernel cannot load the others.
  if (const cudaError_t status = cudaFuncGetAttributes(&attributes, deliver); status != cudaSuccess) {
    cudaGetLastError();  // forget the error
    throw InputError("GPU " + std::to_string(device) + " cannot load the kernels: " + text(status) +
                     "; update its driver, or use --backend cpu");
  }
  in_use = selected.release();
}

void launch(const void* function, unsigned blocks, unsigned threads, std::span<const std::byte> range,
            std::span<const std::byte> kernel, const std::type_info& name) {
  if (recorded_launches != nullptr) return recorded_launches->add(function, blocks, threads, range, kernel);
  const cudaStream_t stream = Device::get().stream();
  const cudaError_t status = start(function, blocks, threads, range.data(), kernel.data(), stream);
  if (status == cudaSuccess) return;
  cudaGetLastError();  // forget the error
  int demangled = 0;
  const std::unique_ptr<char, void (*)(void*)> text_of_name(
      abi::__cxa_demangle(name.name(), nullptr, nullptr, &demangled), std::free);
  // What fails on the GPU shows at whatever is asked of it next, and remains.
  const cudaError_t remaining = cudaStreamQuery(stream);
  cudaGetLastError();
  const bool refused = remaining == cudaSuccess || remaining == cudaErrorNotReady;
  throw Error((refused ? "the GPU did not run the kernel " : "the GPU failed in a kernel or copy before ") +
              std::string(demangled == 0 ? text_of_name.get() : name.name()) + ": " + text(status));
}

void synchronise() {
  Device::get().synchronise();
}

void* allocate(std::size_t bytes) {
  return Device::get().allocate(bytes);
}

void release(void* data) noexcept {
  Device::get().release(data);
}

std::size_t used_memory() {
  return Device::get().used_memory();
}

std::size_t free_memory() {
  return Device::get().free_memory();
}

std::string unique_name() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, Device::get().number()), "to tell its name");
  return {std::begin(properties.uuid.bytes), std::end(properties.uuid.bytes)};
}

void copy(void* to, const void* from, std::size_t bytes, Direction direction) {
  Device::get().copy(to, from, bytes, direction);
}

std::unique_ptr<Staging> make_staging(std::size_t bytes) {
  return std::make_unique<PinnedStaging>(Device::get().take_pinned(bytes));
}

bool is_recording() {
  return recorded_launches != nullptr;
}

void Launches::clear() {
  launches_.clear();
  arguments_.clear();
}

std::size_t Launches::keep(std::span<const std::byte> argument) {
  constexpr std::size_t alignment = 16;  // of any argument
  const std::size_t begin = (arguments_.size() + alignment - 1) / alignment * alignment;
  arguments_.resize(begin + argument.size());
  std::ranges::copy(argument, arguments_.begin() + static_cast<std::ptrdiff_t>(begin));
  return begin;
}

void Launches::add(const void* function, unsigned blocks, unsigned threads, std::span<const std::byte> range,
                   std::span<const std::byte> kernel) {
  const std::size_t range_begin = keep(range);
  launches_.push_back({function, blocks, threads, range_begin, keep(kernel)});
}

Graph::~Graph() {
  if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
}

void Graph::record(const std::function<void()>& launches) {
  noted_.clear();
  recorded_launches = &noted_;
  try {
    launches();
  } catch (...) {
    recorded_launches = nullptr;
    throw;
  }
  recorded_launches = nullptr;
  if (graph_ != nullptr && noted_ == recorded_) return;
  set_graph(graph_, noted_);
  std::swap(noted_, recorded_);
}

void Graph::launch() {
  check(cudaGraphLaunch(graph_, Device::get().stream()), "to repeat recorded launches");
}

}  // namespace curlew::cuda
