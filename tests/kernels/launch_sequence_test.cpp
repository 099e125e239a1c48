// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/launch_sequence.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "kernels/recording.hpp"
#include "kernels/vector_kernels.hpp"
#include "tests/kernels/alike_ranks.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

struct Cell;

constexpr int not_recorded = LaunchSequence::runs_before_recording;

/// Two fields, x = 1, 2, ... and y = 0, and the launches y = factor x + y, x = y + x / 2.
struct Pair {
  explicit Pair(const Executor& executor) : x(executor, 3000, "x", "1"), y(executor, 3000, "y", "1") {
    std::vector<Real> values(3000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<Real>(i + 1);
    x.copy_from_host(values);
  }
  void launch(Real factor) {
    ++asked;
    linear_combination(factor, x, 1, y);
    linear_combination(1, y, 0.5, x);
  }
  Field<Cell> x, y;
  int asked = 0;
};

TEST(LaunchSequence, gives_the_same_bits_recorded_or_not) {
  Pair expected(Executor::serial());
  for (int k = 0; k < 6; ++k) expected.launch(0.3);
  for (const Executor& executor : all_backends()) {
    const bool on_device = executor.space() != MemorySpace::Host;
    Pair pair(executor);
    LaunchSequence sequence(executor);
    for (int k = 0; k < 6; ++k) {
      sequence.run([&] { pair.launch(0.3); });
      EXPECT_EQ(sequence.repeats(), on_device && k >= not_recorded);
    }
    EXPECT_EQ(pair.asked, on_device ? not_recorded + 1 : 6) << executor.name();
    EXPECT_EQ(pair.x.to_host(), expected.x.to_host()) << executor.name();
    EXPECT_EQ(pair.y.to_host(), expected.y.to_host()) << executor.name();
  }
}

TEST(LaunchSequence, takes_other_launches_on_every_backend_after_a_restart) {
  Pair expected(Executor::serial());
  for (const Real factor : {0.3, 0.7}) {
    for (int k = 0; k < not_recorded + 2; ++k) expected.launch(factor);
  }
  for (const Executor& executor : all_backends()) {
    Pair pair(executor);
    LaunchSequence sequence(executor);
    for (const Real factor : {0.3, 0.7}) {
      sequence.restart();
      for (int k = 0; k < not_recorded + 2; ++k) sequence.run([&] { pair.launch(factor); });
    }
    // What was recorded once is recorded at once.
    EXPECT_EQ(pair.asked, executor.space() != MemorySpace::Host ? not_recorded + 2 : 2 * (not_recorded + 2))
        << executor.name();
    EXPECT_EQ(pair.x.to_host(), expected.x.to_host()) << executor.name();
  }
}

TEST(LaunchSequence, goes_on_one_by_one_on_every_backend_where_the_host_takes_part) {
  for (const int step : {0, 1, 2}) {
    Pair expected(Executor::serial());
    for (int k = 0; k < not_recorded + 2; ++k) expected.launch(0.3);
    for (const Executor& executor : all_backends()) {
      Pair pair(executor);
      LaunchSequence sequence(executor);
      for (int k = 0; k < not_recorded + 2; ++k) {
        sequence.run([&] {
          if (step == 0) pair.x.copy_from_host(pair.x.to_host());
          if (step == 1) Field<Cell>(executor, 10, "z", "1").fill(1);
          if (step == 2) inner_product(pair.x, pair.y);
          pair.launch(0.3);
        });
        EXPECT_FALSE(sequence.repeats() && executor.space() == MemorySpace::DebugDevice) << step;
      }
      EXPECT_EQ(pair.x.to_host(), expected.x.to_host()) << executor.name() << " " << step;
    }
  }
}

TEST(LaunchSequence, an_error_among_the_launches_ends_the_recording_on_every_backend) {
  for (const Executor& executor : all_backends()) {
    Pair pair(executor);
    LaunchSequence sequence(executor);
    for (int k = 0; k < not_recorded; ++k) sequence.run([&] { pair.launch(1); });
    EXPECT_THROW(sequence.run([] { throw std::runtime_error("an error"); }), std::runtime_error);
    const std::vector<Real> before = pair.x.to_host();
    linear_combination(1, pair.x, 1, pair.x);
    EXPECT_EQ(pair.x.to_host().back(), 2 * before.back()) << executor.name();
  }
}

TEST(LaunchSequence, is_made_launch_by_launch_among_several_ranks) {
  const Executor executor = Executor::debug_device().among(std::make_shared<AlikeRanks>(2));
  Pair pair(executor);
  LaunchSequence sequence(executor);
  for (int k = 0; k < not_recorded + 2; ++k) sequence.run([&] { pair.launch(0.3); });
  EXPECT_EQ(pair.asked, not_recorded + 2);
  // A sum that stays on the device is that over the ranks as well.
  SumInParts there(executor);
  add_inner_product(pair.x, pair.y, there);
  EXPECT_EQ(there.value(), inner_product(pair.x, pair.y));
}

}  // namespace
}  // namespace curlew
