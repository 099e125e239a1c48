// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "tests/gpu/emulated/device_memory.hpp"

namespace curlew::emulated {

/// What launches of a kernel read and write in the memory of the GPU, each byte once a launch.
struct Traffic {
  std::uint64_t launches = 0, read_bytes = 0, written_bytes = 0;
};

/// A launch of a kernel. Threads and blocks have one dimension.
struct Launch {
  std::uint64_t time;
  Traffic* traffic;
  std::uint32_t blocks, lanes;  ///< the grid, and the threads of a block
  std::vector<std::byte> arguments;
};

/// A block of threads, its memory, and the times at which it began and is: its barriers lie between them.
struct Block {
  const Launch& launch;
  std::uint32_t number;
  std::span<std::byte> memory;
  std::span<Access> accesses;
  std::uint64_t begin, now;
  std::vector<std::uint32_t> offers{};  ///< the last two of each thread
};

/// A thread that runs a translated kernel.
class Thread {
 public:
  static constexpr int finished = -1;

  Thread(Block& of, std::uint32_t number)
      : lane(number), lanes(of.launch.lanes), block(of.number), blocks(of.launch.blocks), of_(of) {}

  const std::uint32_t lane, lanes, block, blocks;
  /// Where it waits: at which barrier or shuffle of the kernel, counted from 1; at its begin; at its end.
  int barrier = 0;
  bool shuffles = false;  ///< whether it waits for what other threads offer, and not for the block's memory

  template <class T>
  T load_param(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, of_.launch.arguments.data() + offset, sizeof value);
    return value;
  }

  template <class T>
  T load_global(std::uint64_t address) const {
    const DeviceMemory& memory = DeviceMemory::get();
    T value;
    std::memcpy(&value, memory.storage(address, sizeof value), sizeof value);
    of_.launch.traffic->read_bytes += note_read(memory.accesses(address, sizeof value), in_launch(), 1);
    return value;
  }
  template <class T>
  void store_global(std::uint64_t address, T value) const {
    const DeviceMemory& memory = DeviceMemory::get();
    std::memcpy(memory.storage(address, sizeof value), &value, sizeof value);
    of_.launch.traffic->written_bytes += note_write(memory.accesses(address, sizeof value), in_launch());
  }

  template <class T>
  T load_shared(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, &of_.memory[within_block(offset, sizeof value)], sizeof value);
    note_read(of_.accesses.subspan(offset, sizeof value), {of_.now, lane}, of_.begin);
    return value;
  }
  template <class T>
  void store_shared(std::uint64_t offset, T value) const {
    std::memcpy(&of_.memory[within_block(offset, sizeof value)], &value, sizeof value);
    note_write(of_.accesses.subspan(offset, sizeof value), {of_.now, lane});
  }

  /// The two halves of a shuffle, between which all threads of the block wait: one that goes on may offer the
  /// next number before others have taken this one.
  void offer(std::uint32_t value) {
    shuffles = true;
    of_.offers[2 * lane + ++shuffled_ % 2] = value;
  }
  /// What the thread offers whose number in the warp has other bits where `turned` has ones.
  std::uint32_t offered_by(std::uint32_t turned, std::uint32_t last) {
    shuffles = false;
    const std::uint32_t other = lane ^ turned;
    if (last != warp - 1 || turned >= warp || other >= lanes)
      throw Fault("takes what no thread of its warp offers");
    return of_.offers[2 * other + shuffled_ % 2];
  }

  /// `bytes` is a power of two.
  static void require_aligned(std::uint64_t address, std::size_t bytes) {
    if ((address & (bytes - 1)) != 0) refuse_place(bytes);
  }

 private:
  Toucher in_launch() const { return {of_.launch.time, std::uint64_t{block} * lanes + lane}; }
  std::uint64_t within_block(std::uint64_t offset, std::size_t bytes) const {
    if (offset >= of_.memory.size() || bytes > of_.memory.size() - offset)
      throw Fault("touches memory beyond that of its block");
    return offset;
  }

  [[noreturn]] static void refuse_place(std::size_t bytes) {
    throw Fault("touches " + std::to_string(bytes) + " bytes that do not begin at a multiple of that");
  }

  static constexpr std::uint32_t warp = 32;

  Block& of_;
  std::uint32_t shuffled_ = 0;
};

/// Runs all threads of a block from barrier to barrier, by turns from the first to the last and the other
/// way. Shuffles, which all threads of a block have to make, order nothing in its memory.
template <class Registers, void (*kernel)(Thread&, Registers&)>
void run_block(Block& block) {
  std::vector<Registers> registers(block.launch.lanes);
  std::vector<Thread> threads;
  for (std::uint32_t lane = 0; lane < block.launch.lanes; ++lane) threads.emplace_back(block, lane);
  block.offers.resize(2 * threads.size());
  for (bool forward = true; threads[0].barrier != Thread::finished; forward = !forward) {
    if (!threads[0].shuffles) ++block.now;
    for (std::size_t k = 0; k < threads.size(); ++k) {
      const std::size_t lane = forward ? k : threads.size() - 1 - k;
      try {
        kernel(threads[lane], registers[lane]);
      } catch (const Fault& fault) {
        throw Fault("in thread " + std::to_string(lane) + " of block " + std::to_string(block.number) + " " +
                    fault.what());
      }
    }
    for (const Thread& thread : threads) {
      if (thread.barrier != threads[0].barrier)
        throw Fault("in block " + std::to_string(block.number) + " has threads at different barriers");
    }
  }
}

/// A translated kernel.
struct Kernel {
  /// Where an argument is among all of them [bytes].
  struct Parameter {
    std::size_t begin, bytes;
  };

  const char* name;
  std::vector<Parameter> parameters;
  std::size_t shared_bytes;  ///< memory of a block
  void (*run)(Block&);
};

}  // namespace curlew::emulated
