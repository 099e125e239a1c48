// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/platform.hpp"

namespace curlew {

/// Where values live. `DebugDevice` is host memory that behaves like a device's: fresh memory is poisoned
/// with not-a-number and the host's access outside a kernel or a copy is a segmentation fault, so that a
/// mix-up of host and device pointers shows on a machine without a GPU. `Cuda` is the memory of the GPU that
/// the process uses.
enum class MemorySpace { Host, DebugDevice, Cuda };

/// Uninitialised memory in `space` (poisoned on the debug device); throws `Error` with the byte count where
/// there is not enough.
void* allocate_bytes(MemorySpace space, std::size_t bytes);
void release_bytes(MemorySpace space, void* data) noexcept;
/// Copies between any two spaces.
void copy_bytes(void* to, MemorySpace to_space, const void* from, MemorySpace from_space, std::size_t bytes);
/// Throws NotRecordable while launches on the device with this memory are being recorded.
void require_no_recording(MemorySpace space, const char* what);

/// While one exists, the debug device's memory may be touched: kernels and copies hold one.
class DebugDeviceAccess {
 public:
  DebugDeviceAccess();
  ~DebugDeviceAccess();
  DebugDeviceAccess(const DebugDeviceAccess&) = delete;
  DebugDeviceAccess& operator=(const DebugDeviceAccess&) = delete;
};

/// Owning, uninitialised array in one memory space.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  Buffer(MemorySpace space, std::size_t size)
      : space_(space), size_(size), data_(static_cast<T*>(allocate_bytes(space, size * sizeof(T)))) {}
  Buffer(Buffer&& other) noexcept
      : space_(other.space_),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(space_, other.space_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Buffer() { release_bytes(space_, data_); }

  MemorySpace space() const { return space_; }
  std::size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }

 private:
  MemorySpace space_ = MemorySpace::Host;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

/// Values that never change after construction. The host holds them; another memory space gets its copy when
/// a kernel there first asks for it, and keeps it.
template <class T>
class ConstantArray {
 public:
  ConstantArray() : ConstantArray(std::vector<T>{}) {}
  /// `for_gpu`: puts the values into the order in which a GPU is to have them; none for that of the host.
  using Arrangement = std::function<std::vector<T>(std::span<const T>)>;
  explicit ConstantArray(std::vector<T> values, Arrangement for_gpu = {})
      : storage_(std::make_shared<Storage>(std::move(values), std::move(for_gpu))) {}

  std::size_t size() const { return storage_->host.size(); }
  std::span<const T> host() const { return storage_->host; }
  const T& operator[](std::size_t i) const { return storage_->host[i]; }
  /// Pointer valid in `space` for the lifetime of this array.
  const T* data(MemorySpace space) const {
    return space == MemorySpace::Host ? storage_->host.data() : mirror(space).data();
  }
  /// How many values are there: more than size() where an arrangement leaves gaps.
  std::size_t size(MemorySpace space) const {
    return space == MemorySpace::Host ? size() : mirror(space).size();
  }

 private:
  struct Storage {
    Storage(std::vector<T> values, Arrangement arrangement)
        : host(std::move(values)), for_gpu(std::move(arrangement)) {}
    std::vector<T> host;
    Arrangement for_gpu;
    std::map<MemorySpace, Buffer<T>> mirrors;
    std::mutex mutex;
  };
  const Buffer<T>& mirror(MemorySpace space) const {
    const std::lock_guard lock(storage_->mutex);
    auto mirror = storage_->mirrors.find(space);
    if (mirror == storage_->mirrors.end()) {
      std::vector<T> arranged;
      std::span<const T> values = storage_->host;
      if (space == MemorySpace::Cuda && storage_->for_gpu) values = arranged = storage_->for_gpu(values);
      Buffer<T> copy(space, values.size());
      copy_bytes(copy.data(), space, values.data(), MemorySpace::Host, values.size_bytes());
      mirror = storage_->mirrors.emplace(space, std::move(copy)).first;
    }
    return mirror->second;
  }

  std::shared_ptr<Storage> storage_;
};

}  // namespace curlew
