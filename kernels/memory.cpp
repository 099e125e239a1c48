// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string>

#if defined(CURLEW_CUDA)
#include "kernels/cuda.hpp"
#endif
#include "kernels/error.hpp"
#include "kernels/memory_use.hpp"
#include "kernels/recording.hpp"

namespace curlew {

namespace {

constexpr std::size_t cache_line = 64;

std::atomic<std::size_t> copied_to_host{0}, copied_to_debug_device{0};  // [bytes]

[[noreturn]] void throw_out_of_memory(std::size_t bytes) {
  throw OutOfMemoryError("out of memory: " + std::to_string(bytes) +
                         " bytes could not be allocated; use a smaller mesh or more ranks");
}

/// One reserved stretch of addresses from which the debug device allocates, so that one call opens or closes
/// all of its memory: for the calling thread alone, by a protection key, where the processor has those
/// (pkeys(7)), else for all threads by the protection of its pages, which takes long where there are many.
class DebugDeviceArena {
 public:
  static DebugDeviceArena& instance() {
    static DebugDeviceArena arena;
    return arena;
  }

  void* allocate(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t rounded = (bytes + page - 1) / page * page + page;  // a page apart from the next
    std::size_t offset = 0;  // first fit between the blocks in use
    for (const auto& [start, block] : blocks_) {
      if (start - offset >= rounded) break;
      offset = start + block.length;
    }
    if (offset + rounded > reserved || in_use_ + bytes > capacity_) throw_out_of_memory(bytes);
    blocks_[offset] = {rounded, bytes};
    in_use_ += bytes;
    used_ = std::max(used_, offset + rounded);
    permit(true);
    std::memset(base_ + offset, 0xFF, rounded - page);
    if (open_ == 0) permit(false);
    return base_ + offset;
  }

  void release(void* data) {
    const std::lock_guard lock(mutex_);
    const auto block = blocks_.find(static_cast<std::size_t>(static_cast<char*>(data) - base_));
    madvise(base_ + block->first, block->second.length, MADV_DONTNEED);
    in_use_ -= block->second.asked_for;
    blocks_.erase(block);
  }

  DeviceMemory memory() {
    const std::lock_guard lock(mutex_);
    return {in_use_, capacity_ > in_use_ ? capacity_ - in_use_ : 0};
  }
  void set_capacity(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    capacity_ = bytes;
  }

  void open() {
    const std::lock_guard lock(mutex_);
    if (open_++ == 0) permit(true);
  }
  void close() {
    const std::lock_guard lock(mutex_);
    if (--open_ == 0) permit(false);
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t reserved = std::size_t{1} << 36;

  struct Block {
    std::size_t length, asked_for;  // [bytes]
  };

  DebugDeviceArena() {
    void* memory = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw_out_of_memory(reserved);
    base_ = static_cast<char*>(memory);
    key_ = pkey_alloc(0, PKEY_DISABLE_ACCESS);
    if (key_ >= 0 && pkey_mprotect(base_, reserved, PROT_READ | PROT_WRITE, key_) != 0) key_ = -1;
  }
  void permit(bool access) {
    if (key_ >= 0) {
      pkey_set(key_, access ? 0 : PKEY_DISABLE_ACCESS);
    } else if (used_ > 0 && mprotect(base_, used_, access ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
      throw_out_of_memory(used_);
    }
  }

  std::mutex mutex_;
  char* base_ = nullptr;
  std::size_t used_ = 0;
  int key_ = -1;  // none
  int open_ = 0;
  std::map<std::size_t, Block> blocks_;  // by offset
  std::size_t in_use_ = 0, capacity_ = reserved;
};

}  // namespace

void* allocate_bytes(MemorySpace space, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  require_no_recording(space, "allocating memory");
  if (space == MemorySpace::DebugDevice) return DebugDeviceArena::instance().allocate(bytes);
#if defined(CURLEW_CUDA)
  if (space == MemorySpace::Cuda) return cuda::allocate(bytes);
#endif
  void* data = std::aligned_alloc(cache_line, (bytes + cache_line - 1) / cache_line * cache_line);
  if (data == nullptr) throw_out_of_memory(bytes);
  return data;
}

void release_bytes(MemorySpace space, void* data) noexcept {
  if (data == nullptr) return;
#if defined(CURLEW_CUDA)
  if (space == MemorySpace::Cuda) return cuda::release(data);
#endif
  if (space == MemorySpace::DebugDevice) {
    DebugDeviceArena::instance().release(data);
  } else {
    std::free(data);
  }
}

void copy_bytes(void* to, MemorySpace to_space, const void* from, MemorySpace from_space, std::size_t bytes) {
  if (bytes == 0) return;
  require_no_recording(to_space, "a copy to a device");
  require_no_recording(from_space, "a copy from a device");
#if defined(CURLEW_CUDA)
  const bool to_gpu = to_space == MemorySpace::Cuda, from_gpu = from_space == MemorySpace::Cuda;
  if (to_gpu || from_gpu) {
    REQUIRE((to_gpu || to_space == MemorySpace::Host) && (from_gpu || from_space == MemorySpace::Host),
            "a GPU copies from and to the host alone");
    return cuda::copy(to, from, bytes,
                      !from_gpu ? cuda::Direction::ToDevice
                      : to_gpu  ? cuda::Direction::OnDevice
                                : cuda::Direction::ToHost);
  }
#endif
  if (to_space == MemorySpace::Host && from_space == MemorySpace::Host) {
    std::memcpy(to, from, bytes);
  } else {
    const DebugDeviceAccess access;
    std::memcpy(to, from, bytes);
    if (to_space == MemorySpace::Host) copied_to_host += bytes;
    if (from_space == MemorySpace::Host) copied_to_debug_device += bytes;
  }
}

void require_no_recording(MemorySpace space, const char* what) {
  bool recording = space == MemorySpace::DebugDevice && detail::recorded_launches != nullptr;
#if defined(CURLEW_CUDA)
  recording = recording || (space == MemorySpace::Cuda && cuda::is_recording());
#endif
  if (recording) throw NotRecordable(what);
}

DeviceMemory device_memory(MemorySpace space) {
#if defined(CURLEW_CUDA)
  if (space == MemorySpace::Cuda) return {cuda::used_memory(), cuda::free_memory()};
#endif
  REQUIRE(space == MemorySpace::DebugDevice, "the memory of the host is not counted");
  return DebugDeviceArena::instance().memory();
}

std::string device_name([[maybe_unused]] MemorySpace space) {
#if defined(CURLEW_CUDA)
  if (space == MemorySpace::Cuda) return cuda::unique_name();
#endif
  return "";
}

CopiedBytes debug_device_copies() {
  return {copied_to_host, copied_to_debug_device};
}

void set_debug_device_memory(std::size_t bytes) {
  DebugDeviceArena::instance().set_capacity(bytes);
}

DebugDeviceAccess::DebugDeviceAccess() {
  DebugDeviceArena::instance().open();
}
DebugDeviceAccess::~DebugDeviceAccess() {
  DebugDeviceArena::instance().close();
}

}  // namespace curlew
