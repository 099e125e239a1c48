// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
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
  explicit ConstantArray(std::vector<T> values) : storage_(std::make_shared<Storage>(std::move(values))) {}

  std::size_t size() const { return storage_->host.size(); }
  std::span<const T> host() const { return storage_->host; }
  const T& operator[](std::size_t i) const { return storage_->host[i]; }
  /// Pointer valid in `space` for the lifetime of this array.
  const T* data(MemorySpace space) const {
    if (space == MemorySpace::Host) return storage_->host.data();
    const std::lock_guard lock(storage_->mutex);
    auto mirror = storage_->mirrors.find(space);
    if (mirror == storage_->mirrors.end()) {
      Buffer<T> copy(space, size());
      copy_bytes(copy.data(), space, storage_->host.data(), MemorySpace::Host, size() * sizeof(T));
      mirror = storage_->mirrors.emplace(space, std::move(copy)).first;
    }
    return mirror->second.data();
  }

 private:
  struct Storage {
    explicit Storage(std::vector<T> values) : host(std::move(values)) {}
    std::vector<T> host;
    std::map<MemorySpace, Buffer<T>> mirrors;
    std::mutex mutex;
  };
  std::shared_ptr<Storage> storage_;
};

}  // namespace curlew
