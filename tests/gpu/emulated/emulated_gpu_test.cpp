// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
// The emulated GPU finds what no kernel may do. Each of these tests leaves it broken and is a process of its
// own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>

#include "kernels/error.hpp"
#include "kernels/field.hpp"
#include "kernels/for_each.hpp"
#include "kernels/launch_sequence.hpp"
#include "kernels/staging.hpp"

namespace curlew {
namespace {

using testing::HasSubstr;

struct Cell;
constexpr Index cells = 600;

/// A value of each cell, which the kernels below read and write as none may.
struct Values {
  View<Cell, Real> values;
  CURLEW_HOST_DEVICE Real& of(Index cell) const { return values[Id<Cell>(cell)]; }
  CURLEW_HOST_DEVICE Real* place_of(Index cell) const { return &of(0) + cell; }
};

struct ReadBeyondTheEndOnCell : Values {
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { of(c.value()) = *place_of(c.value() + 2 * cells); }
};
struct ReadAtAnOddPlaceOnCell : Values {
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const {
    const auto place = reinterpret_cast<std::uintptr_t>(place_of(c.value() / 2)) + 4;
    of(c.value()) = *reinterpret_cast<const Real*>(place);
  }
};
struct DoubleOnCell : Values {
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { of(c.value()) *= 2; }
};
struct ReadNextOnCell : Values {
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { of(c.value()) = of((c.value() + 1) % cells); }
};
struct AddNextOnCell : Values {
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { of(c.value()) += of(c.value() + 1); }
};
struct AddToFirstOnCell : Values {
  CURLEW_HOST_DEVICE void operator()(Id<Cell>) const { of(0) = 1; }
};

/// Every thread of a block reads what another one left in their memory, and puts it there.
template <bool leaves, bool waits>
struct TurnOnCell : Values {
  static constexpr Index lanes = 64;
  void operator()(Id<Cell>) const {}
#if defined(__CUDACC__)
  __device__ void together(Id<Cell> c, Index lane) const {
    __shared__ Real left[lanes];
    if (leaves) left[lane] = lane;
    __syncthreads();
    const Real value = left[lanes - 1 - lane];
    if (waits) __syncthreads();
    left[lane] = value;
    if (c.value() == 0) of(lane) = left[lane];
  }
#endif
};

/// Half of the threads of a block wait for the others.
struct WaitInHalfOnCell : Values {
  static constexpr Index lanes = 64;
  void operator()(Id<Cell>) const {}
#if defined(__CUDACC__)
  __device__ void together(Id<Cell> c, Index lane) const {
    if (lane < lanes / 2) __syncthreads();
    if (lane == 0) of(c.value()) = 1;
  }
#endif
};

enum class Shuffle { ByAll, ByHalf, InsteadOfABarrier };

/// Threads of a warp get the numbers of each other.
template <Shuffle shuffle>
struct ShuffleOnCell : Values {
  static constexpr Index lanes = 64;
  void operator()(Id<Cell>) const {}
#if defined(__CUDACC__)
  __device__ void together(Id<Cell> c, Index lane) const {
    __shared__ Real left[lanes];
    left[lane] = lane;
    Index number = lane;
    if (shuffle != Shuffle::ByHalf || lane < lanes / 2) {
      // Twice, so that those of the second are not taken for those of the first.
      number = __shfl_xor_sync(0xffffffffu, number, 3);
      number = 100 * number + __shfl_xor_sync(0xffffffffu, 5000 + lane, 16);
    }
    const Real other = shuffle == Shuffle::InsteadOfABarrier ? left[lanes - 1 - lane] : 0;
    if (c.value() == 0) of(lane) = number + other;
  }
#endif
};

enum class Given { All, Nothing };
enum class AskedFor { End, Number };

/// What the GPU says of a kernel, asked for its end or for a number that it has made.
template <class Kernel>
std::string said_of(Given given = Given::All, AskedFor asked = AskedFor::End) {
  const Executor gpu = Executor::cuda();
  Buffer<Real> values(gpu.space(), at(cells));
  const std::vector<Real> ones(at(cells), 1);
  if (given == Given::All)
    copy_bytes(values.data(), gpu.space(), ones.data(), MemorySpace::Host, ones.size() * sizeof(Real));
  try {
    for_each(gpu, Range<Cell>(0, cells), Kernel{{View<Cell, Real>(values.data(), cells)}});
    Real first = 0;
    if (asked == AskedFor::End)
      gpu.synchronise();
    else
      copy_bytes(&first, MemorySpace::Host, values.data(), gpu.space(), sizeof first);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(EmulatedGpu, says_nothing_of_a_kernel_as_it_should_be) {
  EXPECT_EQ(said_of<DoubleOnCell>(), "nothing");
  EXPECT_EQ((said_of<TurnOnCell<true, true>>()), "nothing");
}
TEST(EmulatedGpu, finds_a_read_beyond_the_end) {
  EXPECT_THAT(said_of<ReadBeyondTheEndOnCell>(), HasSubstr("touches 8 bytes that are not allocated"));
}
TEST(EmulatedGpu, who_waits_for_a_number_hears_of_a_kernel_that_failed) {
  EXPECT_THAT(said_of<ReadBeyondTheEndOnCell>(Given::All, AskedFor::Number),
              HasSubstr("touches 8 bytes that are not allocated"));
}
TEST(EmulatedGpu, finds_a_read_at_an_odd_place) {
  EXPECT_THAT(said_of<ReadAtAnOddPlaceOnCell>(), HasSubstr("do not begin at a multiple of that"));
}
TEST(EmulatedGpu, finds_a_read_of_what_nothing_has_written) {
  EXPECT_THAT(said_of<DoubleOnCell>(Given::Nothing), HasSubstr("reads what nothing has written"));
}
TEST(EmulatedGpu, finds_a_thread_that_reads_what_another_writes) {
  EXPECT_THAT(said_of<ReadNextOnCell>(),
              testing::AnyOf(HasSubstr("writes what thread"), HasSubstr("reads what thread")));
}
TEST(EmulatedGpu, finds_two_threads_that_write_the_same) {
  EXPECT_THAT(said_of<AddToFirstOnCell>(), HasSubstr("writes what thread"));
}
TEST(EmulatedGpu, finds_a_barrier_that_is_missing) {
  EXPECT_THAT((said_of<TurnOnCell<true, false>>()), HasSubstr("writes"));
}
TEST(EmulatedGpu, finds_memory_of_a_block_that_nothing_has_written) {
  EXPECT_THAT((said_of<TurnOnCell<false, true>>()), HasSubstr("reads what nothing has written"));
}
TEST(EmulatedGpu, finds_a_barrier_that_not_all_threads_come_to) {
  EXPECT_THAT(said_of<WaitInHalfOnCell>(), HasSubstr("has threads at different barriers"));
}

TEST(EmulatedGpu, has_warps_that_shuffle) {
  const Executor gpu = Executor::cuda();
  Field<Cell> x(gpu, cells, "x", "1");
  for_each(gpu, x.range(), ShuffleOnCell<Shuffle::ByAll>{{x.view()}});
  const std::vector<Real> made = x.to_host();
  for (Index lane = 0; lane < 64; ++lane)
    EXPECT_EQ(made[at(lane)], 100 * (lane ^ 3) + 5000 + (lane ^ 16)) << lane;
}
TEST(EmulatedGpu, finds_a_shuffle_that_not_all_threads_come_to) {
  EXPECT_THAT(said_of<ShuffleOnCell<Shuffle::ByHalf>>(), HasSubstr("has threads at different barriers"));
}
TEST(EmulatedGpu, finds_a_shuffle_in_place_of_a_barrier) {
  EXPECT_THAT(said_of<ShuffleOnCell<Shuffle::InsteadOfABarrier>>(), HasSubstr("reads what thread"));
}

TEST(EmulatedGpu, finds_a_copy_to_the_host_of_what_nothing_has_written) {
  ::setenv("CURLEW_GPU_POOL", "0", 1);  // which keeps what was written before
  const Executor gpu = Executor::cuda();
  std::vector<Real> copy(at(cells));
  const auto said = [&](std::size_t written) -> std::string {
    Buffer<Real> values(gpu.space(), copy.size());
    try {
      copy_bytes(values.data(), gpu.space(), copy.data(), MemorySpace::Host, written * sizeof(Real));
      copy_bytes(copy.data(), MemorySpace::Host, values.data(), gpu.space(), copy.size() * sizeof(Real));
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_EQ(said(copy.size()), "nothing");
  EXPECT_THAT(said(copy.size() - 1), HasSubstr("a copy to the host reads what nothing has written"));
}

/// What a kernel made of ones that are overwritten by zeros from the host without a fetch before.
Real made_while_overwritten() {
  const Executor gpu = Executor::cuda();
  const std::unique_ptr<Staging> zeros = make_staging(gpu.space(), sizeof(Real));
  std::memset(zeros->data(), 0, sizeof(Real));
  Buffer<Real> values(gpu.space(), 2);
  const Real ones[] = {1, 1};
  Real made = 0;
  copy_bytes(values.data(), gpu.space(), ones, MemorySpace::Host, sizeof ones);
  gpu.synchronise();
  for_each(gpu, Range<Cell>(0, 1), AddNextOnCell{{View<Cell, Real>(values.data(), 2)}});
  zeros->put(values.data() + 1, 0, sizeof(Real));
  copy_bytes(&made, MemorySpace::Host, values.data(), gpu.space(), sizeof made);
  return made;
}
TEST(EmulatedGpu, copies_after_what_was_launched_before) {
  EXPECT_EQ(made_while_overwritten(), 2);
}
TEST(EmulatedGpu, copies_before_that_where_it_is_eager) {
  ::setenv("CURLEW_EMULATED_GPU_EAGER", "1", 1);
  EXPECT_EQ(made_while_overwritten(), 1);
}

/// What the GPU says of a kernel that reads memory which was released.
std::string said_of_a_read_too_late() {
  const Executor gpu = Executor::cuda();
  const Real one = 1;
  Real* released = nullptr;
  {
    Buffer<Real> values(gpu.space(), 1);
    copy_bytes(values.data(), gpu.space(), &one, MemorySpace::Host, sizeof one);
    released = values.data();
  }
  try {
    for_each(gpu, Range<Cell>(0, 1), DoubleOnCell{{View<Cell, Real>(released, 1)}});
    gpu.synchronise();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}
TEST(EmulatedGpu, finds_a_read_of_released_memory_where_no_pool_keeps_it) {
  ::setenv("CURLEW_GPU_POOL", "0", 1);
  EXPECT_THAT(said_of_a_read_too_late(), HasSubstr("touches 8 bytes that are not allocated"));
}
TEST(EmulatedGpu, finds_none_where_the_pool_keeps_it) {
  EXPECT_EQ(said_of_a_read_too_late(), "nothing");
}

TEST(EmulatedGpu, a_kernel_that_failed_is_not_taken_for_a_lack_of_memory) {
  said_of<ReadBeyondTheEndOnCell>();
  try {
    const Buffer<Real> more(Executor::cuda().space(), at(100 * cells));
    FAIL() << "memory was allocated";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("touches 8 bytes that are not allocated"));
  }
}

TEST(EmulatedGpu, is_none_to_use_where_it_is_older_than_the_kernels_allow) {
  ::setenv("CURLEW_EMULATED_GPU_CAPABILITY", "70", 1);
  EXPECT_THAT(cuda_problem(), HasSubstr("compute capability 7.0, and 7.5 (Turing) or more is needed"));
  EXPECT_THROW(Executor::cuda(), InputError);
  ::setenv("CURLEW_EMULATED_GPU_CAPABILITY", "75", 1);
  EXPECT_EQ(cuda_problem(), "");
}

TEST(EmulatedGpu, is_none_to_use_where_its_driver_is_older_than_the_kernels_allow) {
  ::setenv("CURLEW_EMULATED_GPU_OLD_DRIVER", "1", 1);
  try {
    Executor::cuda();
    FAIL() << "it was used";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("GPU 0 cannot load the kernels"));
    EXPECT_THAT(error.what(), HasSubstr("update its driver"));
  }
  ::unsetenv("CURLEW_EMULATED_GPU_OLD_DRIVER");
  EXPECT_EQ(Executor::cuda().name(), "cuda");
}

TEST(EmulatedGpu, a_failure_is_laid_to_no_later_kernel) {
  const Executor gpu = Executor::cuda();
  Buffer<Real> values(gpu.space(), at(cells));
  said_of<ReadBeyondTheEndOnCell>();
  try {
    for_each(gpu, Range<Cell>(0, cells), DoubleOnCell{{View<Cell, Real>(values.data(), cells)}});
    FAIL() << "it was launched";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the GPU failed in a kernel or copy before "));
  }
}

/// What it has counted when it ends after `work`.
std::string counted_of(const std::function<void()>& work) {
  const std::string path = testing::TempDir() + "emulated_gpu_traffic.csv";
  const auto run = [&] {
    ::setenv("CURLEW_EMULATED_GPU_TRAFFIC", path.c_str(), 1);
    work();
    std::exit(0);
  };
  EXPECT_EXIT(run(), testing::ExitedWithCode(0), "");
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EmulatedGpuDeathTest, counts_what_kernels_read_and_write_once_a_launch) {
  const std::string text = counted_of([] {
    said_of<DoubleOnCell>();
    said_of<DoubleOnCell>();
    said_of<TurnOnCell<true, true>>();  // writes the values of a block's threads, and reads none
  });
  EXPECT_THAT(text, HasSubstr("launches,read_bytes,written_bytes,kernel\n"));
  EXPECT_THAT(text, testing::ContainsRegex("\n2,9600,9600,\"[^\n]*DoubleOnCell"));
  EXPECT_THAT(text, testing::ContainsRegex("\n1,0,512,\"[^\n]*TurnOnCell"));
}

TEST(EmulatedGpuDeathTest, counts_what_the_host_asks_for) {
  // Two kinds of launches in turns make a graph each, which is left as it is in the second turn and changed
  // in the third, that of another field; small copies to the GPU are not waited for, and those to the host
  // are brought by a kernel.
  constexpr int turns = 3, runs = LaunchSequence::runs_before_recording + 2;
  const std::string text = counted_of([] {
    const Executor gpu = Executor::cuda();
    Field<Cell> x(gpu, 100, "x", "1"), y(gpu, 100, "y", "1");
    for (Field<Cell>* field : {&x, &y}) field->copy_from_host(std::vector<Real>(100, 1));
    LaunchSequence sequence(gpu);
    const int kinds[2] = {};
    for (int turn = 0; turn < turns; ++turn) {
      Field<Cell>& field = turn < turns - 1 ? x : y;
      for (const int& kind : kinds) {
        sequence.restart(&kind);
        for (int k = 0; k < runs; ++k) {
          sequence.run([&] {
            for (const int* launch = kinds; launch <= &kind; ++launch)
              for_each(gpu, field.range(), DoubleOnCell{{field.view()}});
          });
        }
      }
    }
    constexpr int doubled = runs * (1 + 2);  // in a turn
    if (x.to_host().front() != std::pow(2.0, (turns - 1) * doubled) ||
        y.to_host().front() != std::pow(2.0, doubled))
      std::exit(1);
  });
  // Of a kind that was recorded once all are, without a launch by itself. 2: zeros of new fields, copies.
  constexpr int one_by_one = 2 + LaunchSequence::runs_before_recording * (1 + 2) + 2;
  EXPECT_THAT(text, HasSubstr("\n2,0,0,\"(waits of the host)\""));
  EXPECT_THAT(text, HasSubstr("\n" + std::to_string(one_by_one) + ",0,0,\"(launches one by one)\""));
  EXPECT_THAT(text, HasSubstr("\n16,0,0,\"(repetitions of graphs)\""));
  EXPECT_THAT(text, HasSubstr("\n2,0,0,\"(graphs made)\""));
  EXPECT_THAT(text, HasSubstr("\n2,0,0,\"(graphs changed)\""));
}

/// With a hole between its members.
struct WithAHoleOnCell {
  std::int32_t factor;
  View<Cell, Real> values;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { values[c] *= factor; }
};

TEST(EmulatedGpuDeathTest, kernels_are_equal_whatever_lies_between_their_members) {
  const std::string text = counted_of([] {
    const Executor gpu = Executor::cuda();
    Field<Cell> x(gpu, 100, "x", "1");
    LaunchSequence sequence(gpu);
    for (const int garbage : {0x00, 0x55, 0xff}) {
      alignas(WithAHoleOnCell) std::byte place[sizeof(WithAHoleOnCell)];
      std::memset(place, garbage, sizeof place);
      auto* const kernel = new (place) WithAHoleOnCell;
      kernel->factor = 2;
      kernel->values = x.view();
      sequence.restart();
      for (int k = 0; k <= LaunchSequence::runs_before_recording; ++k)
        sequence.run([&] { for_each(gpu, x.range(), *kernel); });
    }
  });
  EXPECT_THAT(text, HasSubstr("\n1,0,0,\"(graphs made)\""));
  EXPECT_THAT(text, HasSubstr("\n0,0,0,\"(graphs changed)\""));
}

TEST(EmulatedGpu, brings_a_few_bytes_to_the_host_that_are_no_words) {
  const Executor gpu = Executor::cuda();
  const std::string sent = "brings";
  Buffer<char> there(gpu.space(), sent.size());
  copy_bytes(there.data(), gpu.space(), sent.data(), MemorySpace::Host, sent.size());
  std::string brought(3, ' ');
  copy_bytes(brought.data(), MemorySpace::Host, there.data() + 1, gpu.space(), brought.size());
  EXPECT_EQ(brought, "rin");
}

TEST(EmulatedGpuDeathTest, the_host_cannot_touch_its_memory) {
  Buffer<Real> values(Executor::cuda().space(), at(cells));
  EXPECT_DEATH(*const_cast<volatile Real*>(values.data()) = 1, "");
}

}  // namespace
}  // namespace curlew
