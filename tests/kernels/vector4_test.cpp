// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#include "kernels/vector4.hpp"

#include <gtest/gtest.h>

namespace curlew {
namespace {

template <class T>
class Vector4Of : public testing::Test {};
using Precisions = testing::Types<float, Real>;
TYPED_TEST_SUITE(Vector4Of, Precisions);

template <class T>
void expect_components(const Vector4<T>& v, T x, T y, T z, T fourth) {
  EXPECT_EQ(v.x, x);
  EXPECT_EQ(v.y, y);
  EXPECT_EQ(v.z, z);
  EXPECT_EQ(v.fourth, fourth);
}

/// In the order of a device's components: backends must agree to the bit.
TYPED_TEST(Vector4Of, has_the_arithmetic_of_its_components) {
  using T = TypeParam;
  const Vector4<T> a(T(0.1), T(-2.3), T(1e-3), T(7)), b(T(1) / 3, T(1e5), T(-0.7), T(0.01));
  const T s = T(1) / 7;
  expect_components(a + b, a.x + b.x, a.y + b.y, a.z + b.z, a.fourth + b.fourth);
  expect_components(a - b, a.x - b.x, a.y - b.y, a.z - b.z, a.fourth - b.fourth);
  expect_components(a.times(s, T(3)), s * a.x, s * a.y, s * a.z, 3 * a.fourth);
  const Real third = Real(1) / 3;
  const T rounded_third = static_cast<T>(third);
  expect_components(third * a, rounded_third * a.x, rounded_third * a.y, rounded_third * a.z,
                    rounded_third * a.fourth);
  Vector4<T> sum = a;
  sum += b;
  expect_components(sum, a.x + b.x, a.y + b.y, a.z + b.z, a.fourth + b.fourth);
  sum -= b;
  expect_components(sum, a.x + b.x - b.x, a.y + b.y - b.y, a.z + b.z - b.z, a.fourth + b.fourth - b.fourth);
}

TYPED_TEST(Vector4Of, multiplies_vectors_without_their_fourth_numbers) {
  using T = TypeParam;
  const Vector4<T> a(T(0.1), T(-2.3), T(1e-3), T(7)), b(T(1) / 3, T(1e5), T(-0.7), T(0.01));
  EXPECT_EQ(own_dot(a, b), a.x * b.x + a.y * b.y + a.z * b.z);
  EXPECT_EQ(dot(a, b), dot(widened(a), widened(b)));
  const Vector4<T> small(T(1e-30), 0, 0, 1);
  EXPECT_NEAR(dot(small, small), 1e-60, 1e-66);
}

TYPED_TEST(Vector4Of, comes_from_and_goes_to_a_vector) {
  const Vector3 v{0.25, -1.5, 3};
  expect_components<TypeParam>(rounded<TypeParam>(v), TypeParam(0.25), TypeParam(-1.5), 3, 0);
  EXPECT_EQ(widened(rounded<TypeParam>(v)), v);
}

}  // namespace
}  // namespace curlew
