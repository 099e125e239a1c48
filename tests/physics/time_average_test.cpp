// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "physics/time_average.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/vector3.hpp"
#include "mesh/entities.hpp"
#include "tests/kernels/backends.hpp"

namespace curlew {
namespace {

using Vectors = Field<Face, Vector3>;
using Scalars = DualCochain<Cell>;

constexpr Index cells = 5000;  // more than one thread takes

Vectors vectors_at(const Executor& executor, Real time) {
  std::vector<Vector3> values(at(cells));
  for (std::size_t c = 0; c < values.size(); ++c) {
    const Real x = static_cast<Real>(c);
    values[c] = {std::sin(x + time), 3 + time, time * time};
  }
  Vectors field(executor, cells, "velocity", "m/s");
  field.copy_from_host(values);
  return field;
}

TEST(TimeAverage, weights_values_with_the_length_of_their_steps) {
  const Executor executor = Executor::serial();
  Scalars pressure(executor, 2, "pressure", "m2/s2");
  TimeAverage<Scalars> average(pressure);
  EXPECT_EQ(average.duration(), 0);
  EXPECT_EQ(average.mean().to_host(), (std::vector<Real>{0, 0}));
  const std::vector<Real> first{7, -1}, second{1, 3}, third{-2, 5};
  pressure.copy_from_host(first);
  average.add(pressure, 0.3);
  EXPECT_EQ(average.mean().to_host(), first);
  pressure.copy_from_host(second);
  average.add(pressure, 0.1);
  pressure.copy_from_host(third);
  average.add(pressure, 0.6);
  EXPECT_NEAR(average.duration(), 1, 1e-15);
  EXPECT_NEAR(average.mean().to_host()[0], 0.3 * 7 + 0.1 * 1 - 0.6 * 2, 1e-14);
  EXPECT_NEAR(average.mean().to_host()[1], -0.3 * 1 + 0.1 * 3 + 0.6 * 5, 1e-14);
  EXPECT_EQ(average.mean().name(), "mean pressure");
}

TEST(TimeAverage, of_a_constant_is_that_constant_to_the_bit) {
  const Vectors constant = vectors_at(Executor::serial(), 0.1);
  TimeAverage<Vectors> average(constant);
  for (int step = 1; step <= 20; ++step) average.add(constant, 0.01 * step);
  EXPECT_TRUE(average.mean().to_host() == constant.to_host());
}

TEST(TimeAverage, resumed_goes_on_to_the_same_bits_on_every_backend) {
  const auto run = [](const Executor& executor, int first, int last, TimeAverage<Vectors>& average) {
    for (int step = first; step < last; ++step)
      average.add(vectors_at(executor, 0.1 * step), 0.07 + 0.01 * (step % 3));
  };
  const Executor serial = Executor::serial();
  TimeAverage<Vectors> whole(vectors_at(serial, 0));
  run(serial, 0, 9, whole);
  for (const Executor& executor : backends_beside_serial()) {
    TimeAverage<Vectors> begun(vectors_at(executor, 0)), resumed(vectors_at(executor, 0));
    run(executor, 0, 4, begun);
    resumed.resume(begun.duration(), begun.mean());
    run(executor, 4, 9, resumed);
    EXPECT_EQ(resumed.duration(), whole.duration());
    EXPECT_TRUE(resumed.mean().to_host() == whole.mean().to_host()) << executor.name();
  }
}

TEST(TimeAverage, refuses_what_does_not_fit) {
  const Vectors field = vectors_at(Executor::serial(), 0);
  TimeAverage<Vectors> average(field);
  EXPECT_THROW(average.add(field, 0), Error);
  EXPECT_THROW(average.add(Vectors(Executor::serial(), 3, "velocity", "m/s"), 1), Error);
  EXPECT_THROW(average.resume(1, Vectors(Executor::serial(), cells - 1, "velocity", "m/s")), InputError);
  EXPECT_THROW(average.resume(-1, vectors_at(Executor::serial(), 0)), InputError);
}

}  // namespace
}  // namespace curlew
