// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/executor.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/chosen_values.hpp"
#include "kernels/field.hpp"
#include "kernels/memory_use.hpp"
#include "kernels/reduction.hpp"
#include "kernels/staging.hpp"
#include "kernels/vector_kernels.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

struct Cell;

struct SquareOnCell {
  View<Cell, const Real> x;
  View<Cell, Real> square;
  CURLEW_HOST_DEVICE void operator()(Id<Cell> c) const { square[c] = x[c] * x[c]; }
};

TEST(Executor, runs_a_kernel_once_for_each_entity_of_the_range) {
  for (const Executor& executor : all_backends()) {
    for (const Index size : {0, 1, 31, 32, 33, 257, 10000}) {
      Field<Cell> x(executor, size, "x", "m"), y(executor, size, "y", "m2");
      std::vector<Real> values(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<Real>(i));
      x.copy_from_host(values);
      const Range<Cell> inner(size / 3, size - size / 4);
      for_each(executor, inner, SquareOnCell{std::as_const(x).view(), y.view()});
      const std::vector<Real> result = y.to_host();
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool inside = inner.contains(Id<Cell>(static_cast<Index>(i)));
        EXPECT_EQ(result[i], inside ? values[i] * values[i] : 0.0) << executor.name() << " " << i;
      }
    }
  }
}

/// What a cell and the one after it have, times what the cell has.
struct InOnePart {
  View<Cell, const Real> x;
  View<Cell, Real> y;
  CURLEW_HOST_DEVICE Real operator()(Id<Cell> c) const {
    y[c] = x[c] * (x[c] + x[Id<Cell>(c.value() + 1)]);
    return y[c] - 1;
  }
};
struct InTwo {
  InOnePart both;
  CURLEW_HOST_DEVICE Real gather(Id<Cell> c) const { return both.x[c] + both.x[Id<Cell>(c.value() + 1)]; }
  CURLEW_HOST_DEVICE Real finish(Id<Cell> c, Real gathered) const {
    both.y[c] = both.x[c] * gathered;
    return both.y[c] - 1;
  }
};

TEST(TwoPartKernel, does_what_one_part_does_on_every_backend) {
  for (const Executor& executor : all_backends()) {
    for (const Index size : {0, 1, 63, 64, 65, 2048, 2113, 100000}) {
      const Range<Cell> range(size / 3, size);
      std::vector<Real> values(at(size) + 1), expected(at(size), 7);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<Real>(i));
      for (std::size_t i = at(range.first()); i < expected.size(); ++i)
        expected[i] = values[i] * (values[i] + values[i + 1]);
      Field<Cell> x(executor, size + 1, "x", "m"), y(executor, size, "y", "m2");
      x.copy_from_host(values);
      const InOnePart one{std::as_const(x).view(), y.view()};
      y.fill(7);
      for_each(executor, range, InTwo{one});
      EXPECT_EQ(y.to_host(), expected) << executor.name() << " " << size;
      const Real sum_in_one = sum(executor, range, one);
      y.fill(7);
      EXPECT_EQ(sum(executor, range, InTwo{one}), sum_in_one) << executor.name() << " " << size;
      EXPECT_EQ(y.to_host(), expected) << executor.name() << " " << size;
    }
  }
}

TEST(DebugDevice, memory_is_poisoned_until_written) {
  const Buffer<Real> buffer(MemorySpace::DebugDevice, 100);
  std::vector<Real> host(100);
  copy_bytes(host.data(), MemorySpace::Host, buffer.data(), MemorySpace::DebugDevice, 100 * sizeof(Real));
  for (const Real value : host) EXPECT_TRUE(std::isnan(value));
}

void read_by_kernels_then_by_the_host() {
  Field<Cell> x(Executor::debug_device(), 10, "x", "m");
  x.fill(2);
  if (x.to_host()[3] == 2) std::fputs("kernels can read it", stderr);
  volatile Real value = x.view()[Id<Cell>(3)];
  static_cast<void>(value);
}

TEST(DebugDeviceDeathTest, host_access_outside_a_kernel_is_a_crash) {
  EXPECT_DEATH(read_by_kernels_then_by_the_host(), "kernels can read it");
}

TEST(DebugDeviceDeathTest, host_access_is_a_crash_without_protection_keys_too) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // in a process that has no memory of the device yet
  EXPECT_DEATH(
      {
        while (pkey_alloc(0, 0) >= 0) {  // until there is none left
        }
        read_by_kernels_then_by_the_host();
      },
      "kernels can read it");
}

TEST(DebugDevice, memory_released_is_used_again) {
  const void* first = nullptr;
  {
    const Buffer<Real> buffer(MemorySpace::DebugDevice, 1000);
    first = buffer.data();
  }
  const Buffer<Real> again(MemorySpace::DebugDevice, 1000);
  EXPECT_EQ(again.data(), first);
}

/// Values go to the device and back by way of the host's memory, which is used again for others at once.
TEST(Staging, keeps_what_is_on_its_way_on_every_backend) {
  for (const Executor& executor : backends_beside_serial()) {
    const MemorySpace device = executor.space();
    constexpr Index count = 1000, rounds = 3;
    constexpr std::size_t bytes = at(count) * sizeof(Real);
    std::vector<Field<Cell>> x, y;
    for (Index round = 0; round < rounds; ++round) {
      x.emplace_back(executor, count, "x", "m");
      y.emplace_back(executor, count, "y", "m2");
    }
    for (Index round = 0; round < rounds; ++round) {
      const auto staging = make_staging(device, bytes);
      for (Index i = 0; i < count; ++i) {
        const Real value = i + round;
        std::memcpy(staging->data() + at(i) * sizeof value, &value, sizeof value);
      }
      staging->fetch(nullptr, 0);
      staging->put(x[at(round)].view().data(), 0, bytes);
      for_each(executor, x[at(round)].range(),
               SquareOnCell{std::as_const(x[at(round)]).view(), y[at(round)].view()});
    }
    for (Index round = 0; round < rounds; ++round) {
      const auto staging = make_staging(device, bytes);
      staging->fetch(y[at(round)].view().data(), bytes);
      staging->wait();
      for (Index i = 0; i < count; ++i) {
        Real value = 0;
        std::memcpy(&value, staging->data() + at(i) * sizeof value, sizeof value);
        EXPECT_EQ(value, (i + round) * (i + round)) << executor.name() << " " << round << " " << i;
      }
    }
  }
}

TEST(Cuda, refuses_a_gpu_that_is_not_there) {
  EXPECT_THROW(Executor::cuda(99), InputError);
}

/// For compute-sanitizer to find (tests/gpu/run): an error that nobody looks for proves that nothing is
/// looked at.
TEST(Cuda, DISABLED_writes_beyond_the_end) {
  if (const std::string problem = cuda_problem(); !problem.empty()) GTEST_SKIP() << problem;
  const Executor gpu = Executor::cuda();
  const Field<Cell> x(gpu, 129, "x", "m");
  Field<Cell> square(gpu, 128, "square", "m2");  // as much as is allocated
  for_each(gpu, x.range(), SquareOnCell{x.view(), square.view()});
  gpu.synchronise();
}

TEST(Cuda, memory_released_is_used_again) {
  if (!cuda_problem().empty()) GTEST_SKIP() << cuda_problem();
  const MemorySpace space = Executor::cuda().space();
  const void* first = nullptr;
  constexpr std::size_t size = 54321;  // of no other test's blocks
  {
    const Buffer<Real> buffer(space, size);
    first = buffer.data();
  }
  const Buffer<Real> again(space, size - 10);
  EXPECT_EQ(again.data(), first);
}

TEST(ConstantArray, is_mirrored_where_a_kernel_asks_for_it) {
  const ConstantArray<Real> constants(std::vector<Real>{1, 2, 3});
  const Executor device = Executor::debug_device();
  Field<Cell> y(device, 3, "y", "1");
  for_each(device, y.range(),
           SquareOnCell{View<Cell, const Real>(constants.data(device.space()), 3), y.view()});
  EXPECT_EQ(y.to_host(), (std::vector<Real>{1, 4, 9}));
  EXPECT_EQ(constants.data(device.space()), constants.data(device.space()));
}

TEST(Field, refuses_host_values_of_another_length) {
  Field<Cell> x(Executor::serial(), 3, "x", "m");
  EXPECT_THROW(x.copy_from_host(std::vector<Real>(4)), Error);
}

TEST(Field, gives_and_takes_a_range_or_a_list_of_its_values) {
  for (const Executor& executor : all_backends()) {
    Field<Cell> x(executor, 5, "x", "m");
    x.copy_from_host(std::vector<Real>{0, 1, 4, 9, 16});
    EXPECT_EQ(x.to_host({1, 4}), (std::vector<Real>{1, 4, 9})) << executor.name();
    EXPECT_EQ(x.to_host({5, 5}), std::vector<Real>()) << executor.name();
    EXPECT_THROW(x.to_host({3, 6}), Error);
    const ConstantArray<Index> list(std::vector<Index>{4, 0, 2, 4}), nothing;
    EXPECT_EQ(values_at(x, list), (std::vector<Real>{16, 0, 4, 16})) << executor.name();
    EXPECT_EQ(values_at(x, nothing), std::vector<Real>()) << executor.name();
    set_values_at(x, nothing, std::span<const Real>());
    const std::vector<Real> two{-1, -2};
    set_values_at(x, ConstantArray<Index>(std::vector<Index>{3, 0}), std::span<const Real>(two));
    EXPECT_EQ(x.to_host(), (std::vector<Real>{-2, 1, 4, -1, 16})) << executor.name();
    EXPECT_THROW(set_values_at(x, list, std::span<const Real>(two)), Error);
  }
}

TEST(DebugDevice, counts_what_is_copied) {
  Field<Cell> x(Executor::debug_device(), 1000, "x", "m");
  const ConstantArray<Index> list(std::vector<Index>{7, 3});
  CopiedBytes before = debug_device_copies();
  x.copy_from_host(std::vector<Real>(1000));
  EXPECT_EQ(debug_device_copies().to_device - before.to_device, 1000 * sizeof(Real));
  EXPECT_EQ(debug_device_copies().to_host, before.to_host);
  before = debug_device_copies();
  x.to_host({10, 15});
  values_at(x, list);
  values_at(x, list);
  EXPECT_EQ(debug_device_copies().to_host - before.to_host, (5 + 2 + 2) * sizeof(Real));
  EXPECT_EQ(debug_device_copies().to_device - before.to_device, 2 * sizeof(Index));  // the list, once
  before = debug_device_copies();
  set_values_at(x, list, std::span<const Real>(std::vector<Real>{1, 2}));
  EXPECT_EQ(debug_device_copies().to_device - before.to_device, 2 * sizeof(Real));
  EXPECT_EQ(debug_device_copies().to_host, before.to_host);
}

}  // namespace
}  // namespace curlew
