// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "tests/gpu/emulated/device_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <string>

namespace curlew::emulated {

namespace {

/// Addresses, whose memory is taken when it is first touched; all zero.
template <class T>
T* reserve(std::size_t count, int protection) {
  void* const data =
      mmap(nullptr, count * sizeof(T), protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(data);
}

std::string name(Toucher who) {
  if (who == Toucher::several(who.time())) return "other threads";
  return "thread " + std::to_string(who.thread());
}

/// Eight gigabytes, unless the environment says how many bytes.
std::size_t given_capacity() {
  const char* bytes = std::getenv("CURLEW_EMULATED_GPU_BYTES");
  return bytes == nullptr ? std::size_t{8} << 30 : std::strtoull(bytes, nullptr, 10);
}

/// One access stands for four bytes, or for all of a shorter datum.
constexpr std::size_t stride = 4;

}  // namespace

std::size_t note_read(std::span<Access> datum, Toucher who, std::uint64_t oldest) {
  std::size_t first = 0;
  for (std::size_t k = 0; k < datum.size(); k += stride) {
    auto& [writer, reader] = datum[k];
    if (writer.time() < oldest) throw Fault("reads what nothing has written");
    if (writer.time() == who.time() && writer != who) throw Fault("reads what " + name(writer) + " writes");
    if (reader.time() != who.time()) first += std::min(stride, datum.size());
    reader = reader.time() == who.time() && reader != who ? Toucher::several(who.time()) : who;
  }
  return first;
}

std::size_t note_write(std::span<Access> datum, Toucher who) {
  std::size_t first = 0;
  for (std::size_t k = 0; k < datum.size(); k += stride) {
    auto& [writer, reader] = datum[k];
    if (writer.time() == who.time() && writer != who) throw Fault("writes what " + name(writer) + " writes");
    if (reader.time() == who.time() && reader != who) throw Fault("writes what " + name(reader) + " reads");
    if (writer.time() != who.time()) first += std::min(stride, datum.size());
    writer = who;
  }
  return first;
}

DeviceMemory& DeviceMemory::get() {
  static auto* const memory = new DeviceMemory;  // never destroyed: fields may be released after it would be
  return *memory;
}

DeviceMemory::DeviceMemory()
    : capacity_(given_capacity()),
      begin_(reinterpret_cast<std::uintptr_t>(reserve<std::byte>(capacity_, PROT_NONE))),
      storage_(reserve<std::byte>(capacity_, PROT_READ | PROT_WRITE)),
      accesses_(reserve<Access>(capacity_, PROT_READ | PROT_WRITE)),
      is_allocated_(reserve<bool>(capacity_ / unit, PROT_READ | PROT_WRITE)) {}

void* DeviceMemory::allocate(std::size_t bytes) {
  const std::size_t size = (bytes + unit - 1) / unit * unit;
  std::uintptr_t address = begin_ + end_;
  if (const auto idle = idle_.find(size); idle != idle_.end()) {
    address = idle->second;
    idle_.erase(idle);
    std::ranges::fill(accesses(address, size), Access{});
  } else if (size + unit > capacity_ - end_) {
    return nullptr;
  } else {
    end_ += size + unit;
  }
  std::fill_n(is_allocated_ + (address - begin_) / unit, size / unit, true);
  blocks_[address] = size;
  used_ += size;
  return reinterpret_cast<void*>(address);
}

void DeviceMemory::release(void* data) {
  const auto block = blocks_.find(reinterpret_cast<std::uintptr_t>(data));
  if (block == blocks_.end()) throw Fault("is told to release memory that was not allocated");
  const auto [address, size] = *block;
  std::fill_n(is_allocated_ + (address - begin_) / unit, size / unit, false);
  idle_.emplace(size, address);
  used_ -= size;
  blocks_.erase(block);
}

void DeviceMemory::open_to_kernels(std::span<std::byte> memory) {
  open_[reinterpret_cast<std::uintptr_t>(memory.data()) + memory.size()] = {
      memory, std::vector<Access>(memory.size())};
}

DeviceMemory::OfHost DeviceMemory::of_host(std::uint64_t address, std::size_t bytes) const {
  const auto found = open_.upper_bound(address);
  if (found == open_.end()) refuse(bytes);
  auto& [memory, accesses] = found->second;
  const std::uint64_t offset = address - reinterpret_cast<std::uintptr_t>(memory.data());
  if (offset >= memory.size() || bytes > memory.size() - offset) refuse(bytes);
  return {memory.data() + offset, accesses.data() + offset};
}

void DeviceMemory::refuse(std::size_t bytes) {
  throw Fault("touches " + std::to_string(bytes) + " bytes that are not allocated");
}

}  // namespace curlew::emulated
