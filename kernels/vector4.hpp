// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstring>
#include <type_traits>

#include "kernels/vector3.hpp"

namespace curlew {

#if !defined(__CUDA_ARCH__)
namespace detail {

/// Four numbers that a processor works on at once.
template <class T>
struct Lanes;
template <>
struct Lanes<float> {
  typedef float type __attribute__((vector_size(4 * sizeof(float))));
};
template <>
struct Lanes<Real> {
  typedef Real type __attribute__((vector_size(4 * sizeof(Real))));
};

/// In double precision. GCC 12 takes halves apart and together again where AVX has one instruction.
inline Lanes<Real>::type widened(Lanes<float>::type lanes) {
#if defined(__AVX__)
  return __builtin_ia32_cvtps2pd256(lanes);
#else
  return __builtin_convertvector(lanes, Lanes<Real>::type);
#endif
}
inline Lanes<Real>::type widened(Lanes<Real>::type lanes) {
  return lanes;
}
/// The reverse.
template <class T>
typename Lanes<T>::type narrowed(Lanes<Real>::type lanes) {
#if defined(__AVX__)
  if constexpr (std::is_same_v<T, float>) return __builtin_ia32_cvtpd2ps256(lanes);
#endif
  return __builtin_convertvector(lanes, typename Lanes<T>::type);
}

}  // namespace detail
#endif

/// A vector in precision T with a fourth number beside it, so that a kernel gathers all with one load.
///
/// On a processor arithmetic is spelled in the compiler's vector type: from components GCC 12 makes code that
/// takes them through integer registers one by one (docs/kernels.md).
template <class T>
class alignas(16) Vector4 {
 public:
  Vector4() = default;
  CURLEW_HOST_DEVICE constexpr Vector4(T x_, T y_, T z_, T fourth_) : x(x_), y(y_), z(z_), fourth(fourth_) {}

  T x = 0, y = 0, z = 0;
  T fourth = 0;

#if defined(__CUDA_ARCH__)
  friend CURLEW_HOST_DEVICE Vector4 operator+(const Vector4& a, const Vector4& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.fourth + b.fourth};
  }
  friend CURLEW_HOST_DEVICE Vector4 operator-(const Vector4& a, const Vector4& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z, a.fourth - b.fourth};
  }
  /// The vector times one factor and the fourth number times another.
  CURLEW_HOST_DEVICE Vector4 times(T factor, T of_fourth) const {
    return {factor * x, factor * y, factor * z, of_fourth * fourth};
  }
  /// The vector with another fourth number. To set the member instead would make a processor wait until all
  /// four numbers can be read again.
  CURLEW_HOST_DEVICE Vector4 with_fourth(T part) const {
    return {x, y, z, part};
  }
  friend CURLEW_HOST_DEVICE Real dot(const Vector4& a, const Vector4& b) {
    return static_cast<Real>(a.x) * static_cast<Real>(b.x) + static_cast<Real>(a.y) * static_cast<Real>(b.y) +
           static_cast<Real>(a.z) * static_cast<Real>(b.z);
  }
  friend CURLEW_HOST_DEVICE T own_dot(const Vector4& a, const Vector4& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
  }
#else
  friend CURLEW_HOST_DEVICE Vector4 operator+(const Vector4& a, const Vector4& b) {
    return Vector4(a.lanes() + b.lanes());
  }
  friend CURLEW_HOST_DEVICE Vector4 operator-(const Vector4& a, const Vector4& b) {
    return Vector4(a.lanes() - b.lanes());
  }
  CURLEW_HOST_DEVICE Vector4 times(T factor, T of_fourth) const {
    return Vector4(Lanes{factor, factor, factor, of_fourth} * lanes());
  }
  CURLEW_HOST_DEVICE Vector4 with_fourth(T part) const {
    Lanes changed = lanes();
    changed[3] = part;
    return Vector4(changed);
  }
  /// Of the three components, in double precision: squares of small numbers do not underflow.
  friend CURLEW_HOST_DEVICE Real dot(const Vector4& a, const Vector4& b) {
    const detail::Lanes<Real>::type product = detail::widened(a.lanes()) * detail::widened(b.lanes());
    return product[0] + product[1] + product[2];
  }
  /// The same in precision T.
  friend CURLEW_HOST_DEVICE T own_dot(const Vector4& a, const Vector4& b) {
    const Lanes product = a.lanes() * b.lanes();
    return product[0] + product[1] + product[2];
  }
#endif
  /// With a fourth number of zero.
  static CURLEW_HOST_DEVICE Vector4 rounded(Vector3 a) {
#if defined(__CUDA_ARCH__)
    return {static_cast<T>(a.x), static_cast<T>(a.y), static_cast<T>(a.z), 0};
#else
    return Vector4(detail::narrowed<T>(detail::Lanes<Real>::type{a.x, a.y, a.z, 0}));
#endif
  }
  CURLEW_HOST_DEVICE Vector4& operator+=(const Vector4& b) {
    return *this = *this + b;
  }
  CURLEW_HOST_DEVICE Vector4& operator-=(const Vector4& b) {
    return *this = *this - b;
  }
  /// s is rounded first.
  friend CURLEW_HOST_DEVICE Vector4 operator*(Real s, const Vector4& a) {
    return a.times(static_cast<T>(s), static_cast<T>(s));
  }

#if !defined(__CUDA_ARCH__)
 private:
  using Lanes = typename detail::Lanes<T>::type;
  CURLEW_HOST_DEVICE explicit Vector4(Lanes lanes) {
    std::memcpy(static_cast<void*>(this), &lanes, sizeof lanes);
  }
  CURLEW_HOST_DEVICE Lanes lanes() const {
    Lanes lanes;
    std::memcpy(&lanes, this, sizeof lanes);
    return lanes;
  }
#endif
};

template <class T>
CURLEW_HOST_DEVICE inline Vector3 widened(const Vector4<T>& a) {
  return {static_cast<Real>(a.x), static_cast<Real>(a.y), static_cast<Real>(a.z)};
}
template <class T>
CURLEW_HOST_DEVICE inline Vector4<T> rounded(Vector3 a) {
  return Vector4<T>::rounded(a);
}
/// The vector in another precision, or the same, with a fourth number of zero.
template <class To, class From>
CURLEW_HOST_DEVICE inline Vector4<To> in_precision(const Vector4<From>& a) {
  if constexpr (std::is_same_v<To, From>)
    return a.with_fourth(0);
  else
    return rounded<To>(widened(a));
}

}  // namespace curlew
