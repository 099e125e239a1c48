// Curlew: heat and incompressible flow on unstructured meshes. License: GPL-3.0-or-later.
#pragma once

#include <cstring>

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

}  // namespace detail
#endif

/// A vector of a face in precision T, with its part along the face's unit normal beside it, so that a kernel
/// which gathers velocities needs no normals: four numbers, one load. In forces `normal` is zero.
///
/// On a processor arithmetic is spelled in the compiler's vector type: from components GCC 12 makes code that
/// takes them through integer registers one by one (docs/performance.md).
template <class T>
class alignas(16) FaceVector {
 public:
  FaceVector() = default;
  CURLEW_HOST_DEVICE constexpr FaceVector(T x_, T y_, T z_, T normal_)
      : x(x_), y(y_), z(z_), normal(normal_) {}

  T x = 0, y = 0, z = 0;
  T normal = 0;

#if defined(__CUDA_ARCH__)
  friend CURLEW_HOST_DEVICE FaceVector operator+(const FaceVector& a, const FaceVector& b) {
    return {a.x + b.x, a.y + b.y, a.z + b.z, a.normal + b.normal};
  }
  friend CURLEW_HOST_DEVICE FaceVector operator-(const FaceVector& a, const FaceVector& b) {
    return {a.x - b.x, a.y - b.y, a.z - b.z, a.normal - b.normal};
  }
  /// The vector times one factor and its normal part times another.
  CURLEW_HOST_DEVICE FaceVector times(T factor, T of_normal) const {
    return {factor * x, factor * y, factor * z, of_normal * normal};
  }
  /// The vector with another normal part. To set the member instead would make a processor wait until all
  /// four numbers can be read again.
  CURLEW_HOST_DEVICE FaceVector with_normal(T part) const {
    return {x, y, z, part};
  }
  friend CURLEW_HOST_DEVICE Real dot(const FaceVector& a, const FaceVector& b) {
    return static_cast<Real>(a.x) * static_cast<Real>(b.x) + static_cast<Real>(a.y) * static_cast<Real>(b.y) +
           static_cast<Real>(a.z) * static_cast<Real>(b.z);
  }
  friend CURLEW_HOST_DEVICE T own_dot(const FaceVector& a, const FaceVector& b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
  }
#else
  friend CURLEW_HOST_DEVICE FaceVector operator+(const FaceVector& a, const FaceVector& b) {
    return FaceVector(a.lanes() + b.lanes());
  }
  friend CURLEW_HOST_DEVICE FaceVector operator-(const FaceVector& a, const FaceVector& b) {
    return FaceVector(a.lanes() - b.lanes());
  }
  CURLEW_HOST_DEVICE FaceVector times(T factor, T of_normal) const {
    return FaceVector(Lanes{factor, factor, factor, of_normal} * lanes());
  }
  CURLEW_HOST_DEVICE FaceVector with_normal(T part) const {
    Lanes changed = lanes();
    changed[3] = part;
    return FaceVector(changed);
  }
  /// Of the three components, in double precision: squares of small numbers do not underflow.
  friend CURLEW_HOST_DEVICE Real dot(const FaceVector& a, const FaceVector& b) {
    using Wide = detail::Lanes<Real>::type;
    const Wide product = __builtin_convertvector(a.lanes(), Wide) * __builtin_convertvector(b.lanes(), Wide);
    return product[0] + product[1] + product[2];
  }
  /// The same in precision T.
  friend CURLEW_HOST_DEVICE T own_dot(const FaceVector& a, const FaceVector& b) {
    const Lanes product = a.lanes() * b.lanes();
    return product[0] + product[1] + product[2];
  }
#endif
  CURLEW_HOST_DEVICE FaceVector& operator+=(const FaceVector& b) {
    return *this = *this + b;
  }
  CURLEW_HOST_DEVICE FaceVector& operator-=(const FaceVector& b) {
    return *this = *this - b;
  }
  /// s is rounded first.
  friend CURLEW_HOST_DEVICE FaceVector operator*(Real s, const FaceVector& a) {
    return a.times(static_cast<T>(s), static_cast<T>(s));
  }

#if !defined(__CUDA_ARCH__)
 private:
  using Lanes = typename detail::Lanes<T>::type;
  CURLEW_HOST_DEVICE explicit FaceVector(Lanes lanes) {
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
CURLEW_HOST_DEVICE inline Vector3 widened(const FaceVector<T>& a) {
  return {static_cast<Real>(a.x), static_cast<Real>(a.y), static_cast<Real>(a.z)};
}
template <class T>
CURLEW_HOST_DEVICE inline FaceVector<T> rounded(Vector3 a) {
  return {static_cast<T>(a.x), static_cast<T>(a.y), static_cast<T>(a.z), 0};
}

}  // namespace curlew
