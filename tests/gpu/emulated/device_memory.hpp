// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <vector>

namespace curlew::emulated {

/// Something that no kernel may do.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A thread within all that ever happened on the GPU: times are numbered, launch by launch (in the memory of
/// a block, barrier by barrier), and threads in each of them, from one on. Zero is nobody.
class Toucher {
 public:
  constexpr Toucher() = default;
  constexpr Toucher(std::uint64_t time, std::uint64_t thread) : bits_(time << 32 | (thread + 1)) {}
  static constexpr Toucher several(std::uint64_t time) { return {time, 0xfffffffe}; }

  constexpr std::uint64_t time() const { return bits_ >> 32; }
  constexpr std::uint64_t thread() const { return (bits_ & 0xffffffff) - 1; }
  bool operator==(const Toucher&) const = default;

 private:
  std::uint64_t bits_ = 0;
};

/// Who touched a datum last.
struct Access {
  Toucher writer, reader;
};

/// Notes that somebody reads or writes a datum, whose accesses are those of its bytes. Throws a Fault where
/// nothing was written there since the time `oldest`, and where another thread touches it at the same time,
/// one of the two writing. Returns how many of the bytes nobody had read, or written, at that time.
std::size_t note_read(std::span<Access> datum, Toucher who, std::uint64_t oldest);
std::size_t note_write(std::span<Access> datum, Toucher who);

/// The memory of the emulated GPU. The host cannot read or write at its addresses: what is there, kernels and
/// copies find elsewhere.
class DeviceMemory {
 public:
  static DeviceMemory& get();

  std::size_t capacity() const { return capacity_; }
  /// Null where none is left.
  void* allocate(std::size_t bytes);
  void release(void* data);
  std::size_t free_bytes() const { return capacity_ - used_; }

  bool contains(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - begin_ < capacity_;
  }
  /// What is at an address, and who touched it. Throws a Fault where not all of it is allocated.
  std::byte* storage(std::uint64_t address, std::size_t bytes) const {
    const std::uint64_t offset = address - begin_;
    if (offset >= capacity_) return of_host(address, bytes).data;
    if (bytes > capacity_ - offset || !is_allocated(offset, bytes)) refuse(bytes);
    return storage_ + offset;
  }
  std::span<Access> accesses(std::uint64_t address, std::size_t bytes) const {
    const std::uint64_t offset = address - begin_;
    return {offset < capacity_ ? accesses_ + offset : of_host(address, bytes).accesses, bytes};
  }
  /// Lets kernels touch memory of the host, for good.
  void open_to_kernels(std::span<std::byte> memory);

 private:
  /// Blocks begin at multiples of this, and between them lies as much that belongs to none.
  static constexpr std::size_t unit = 512;

  DeviceMemory();
  bool is_allocated(std::uint64_t offset, std::size_t bytes) const {
    const std::span units(is_allocated_ + offset / unit, is_allocated_ + (offset + bytes - 1) / unit + 1);
    return std::ranges::all_of(units, [](bool is) { return is; });
  }
  [[noreturn]] static void refuse(std::size_t bytes);

  struct OfHost {
    std::byte* data;
    Access* accesses;
  };
  /// Throws a Fault where kernels may not touch it.
  OfHost of_host(std::uint64_t address, std::size_t bytes) const;

  std::size_t capacity_;
  std::uintptr_t begin_;
  std::byte* storage_;
  Access* accesses_;    // of each byte
  bool* is_allocated_;  // of each unit
  std::size_t end_ = 0, used_ = 0;
  std::map<std::uintptr_t, std::size_t> blocks_;     // in use, with their sizes
  std::multimap<std::size_t, std::uintptr_t> idle_;  // released, by their sizes
  struct Open {
    std::span<std::byte> memory;
    std::vector<Access> accesses;
  };
  mutable std::map<std::uintptr_t, Open> open_;  // memory of the host, by its end
};

}  // namespace curlew::emulated
